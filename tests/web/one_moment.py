"""The app of a quiz at a moment of one's choice: no server, no other process, and a clock that a test sets."""

import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime

from epivote.web.app import collect_app
from epivote.web.estimation import worker
from epivote.web.security.limits import Limits, Rate
from epivote.web.site import Settings
from epivote.web.task import read_task
from in_process import store_of, visitor
from small_quiz import QUIZ, write_quiz

ENDLESS = Rate(1e9, 1e9)
NO_LIMITS = Settings(limits=Limits(ENDLESS, ENDLESS, ENDLESS, ENDLESS, ENDLESS))


@contextmanager
def still_app(folder, text=QUIZ, settings=NO_LIMITS):
    """The app of a quiz; it estimates when `estimate_now` says so."""
    task = read_task(write_quiz(folder, text))
    with store_of(folder) as store:
        yield collect_app(task, store, settings)


def estimate_now(app):
    """What the ballots of this moment say, as the app shows it from now on."""
    site = app.state.site
    site.estimation.live = worker.estimate(site.store, site.task)
    return site.estimation.live


def program(app):
    """A program that votes through the JSON interface."""
    return visitor(app, authorization=f"Bearer {app.state.site.secrets.interface}")


class _AlsoOthers(type(datetime)):
    def __instancecheck__(cls, value):
        return isinstance(value, datetime)


class Clock:
    """The time for all that the app does: `clock.at("2027-03-01T09:00:00+01:00")`."""

    def __init__(self, monkeypatch, moment="2027-01-01T00:00:00+00:00"):
        self.at(moment)
        clock = self

        class Now(datetime, metaclass=_AlsoOthers):
            @classmethod
            def now(cls, tz=None):
                return clock.moment.astimezone(tz)

        for name, module in list(sys.modules.items()):
            if name.startswith("epivote.web") and getattr(module, "datetime", None) is datetime:
                monkeypatch.setattr(module, "datetime", Now)
        monkeypatch.setattr(time, "time_ns", lambda: self.microseconds * 1000)

    def at(self, moment):
        self.moment = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        return self

    @property
    def microseconds(self):
        since = self.moment - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
