"""What runs beside the requests: the loop that estimates and the other process, both without a real one."""

import asyncio
import logging
import os
import signal
import warnings
from dataclasses import replace

import pytest

from epivote import EM, CrowdWarning, InputError
from epivote.web.app import collect_app
from epivote.web.estimation import worker
from epivote.web.estimation.runner import Estimation, EstimationError, OtherProcess
from epivote.web.site import Settings
from epivote.web.task import read_task
from epivote.web.views.board import board_of
from in_process import store_of
from one_moment import NO_LIMITS, still_app
from patience import PATIENCE, apart
from small_quiz import QUIZ, write_quiz


@pytest.fixture
def task(tmp_path):
    return read_task(write_quiz(tmp_path, QUIZ))


@pytest.fixture
def store(tmp_path):
    with store_of(tmp_path) as opened:
        yield opened


class Here:
    """Does in this process what the other one would do, or fails as told."""

    def __init__(self, store, task):
        self.given, self.asked, self.failing, self.stopped, self.seconds = (store, task), [], None, False, 0.0

    async def do(self, wanted):
        self.asked.append(wanted)
        if self.failing is not None:
            raise self.failing
        return replace(wanted(*self.given), seconds=self.seconds)

    def stop(self):
        self.stopped = True


def looped(estimation, monkeypatch, *acts):
    """Run the loop, doing one act while it sleeps each time; how long it slept."""
    slept, left, others_sleep = [], list(acts), asyncio.sleep

    async def sleep(seconds):
        if asyncio.current_task().get_name() != "looped":  # servers of other tests go on in their threads
            return await others_sleep(seconds)
        slept.append(seconds)
        if not left:
            raise asyncio.CancelledError
        return left.pop(0)()

    async def run():
        asyncio.current_task().set_name("looped")
        with pytest.raises(asyncio.CancelledError):
            await estimation.run()

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "sleep", sleep)
        apart(asyncio.run, run())
    return slept


def test_it_estimates_when_ballots_change_and_rests_twice_as_long_as_that_took(store, task, monkeypatch):
    estimation = Estimation(store, task, every=1.5)
    here = estimation.process = Here(store, task)
    ann = store.join("ann", "")

    def answer(name, seconds):
        here.seconds = seconds
        store.answer(ann.id, name, ["cat"])

    slept = looped(
        estimation,
        monkeypatch,
        lambda: None,
        lambda: answer("yard", 0.5),
        lambda: None,
        lambda: answer("barn", 4.0),
        lambda: store.close_task(),
        lambda: None,
    )
    assert here.asked == [worker.estimate] * 3
    assert slept == [1.5, 1.5, 1.5, 1.5, 8.0, 8.0, 1.5]
    assert (estimation.live.stamp, estimation.live.counts_gold) == (store.stamp(), True)
    assert here.stopped


def test_what_fails_is_told_tried_again_less_often_and_keeps_what_was_found(store, task, monkeypatch, caplog):
    estimation = Estimation(store, task, every=2.0)
    here = estimation.process = Here(store, task)
    ann = store.join("ann", "")
    store.answer(ann.id, "yard", ["cat"])
    seen = []

    def then(failing, answer=None):
        def act():
            seen.append((estimation.live.problem, list(estimation.live.sets)))
            here.failing = failing
            if answer:
                store.answer(ann.id, answer, ["cat"])

        return act

    slept = looped(
        estimation,
        monkeypatch,
        then(EstimationError("it went away"), "barn"),
        then(ValueError("very secret")),
        then(None),
        then(None),
    )
    assert seen == [
        ("", ["yard"]),
        ("it went away", ["yard"]),
        ("ValueError; see the server's log", ["yard"]),
        ("", ["yard", "barn"]),
    ]
    assert slept == [2.0, 20.0, 20.0, 2.0, 2.0]
    assert len(here.asked) == 4
    assert [each.getMessage() for each in caplog.records] == ["the estimation failed"]


def test_the_app_looks_as_often_as_its_settings_say(store, task, monkeypatch):
    estimation = collect_app(task, store, Settings(estimate_every=7.0)).state.site.estimation
    assert looped(estimation, monkeypatch) == [7.0]
    assert looped(collect_app(task, store).state.site.estimation, monkeypatch) == [1.0]
    assert looped(Estimation(store, task), monkeypatch) == [1.0]


def test_the_app_estimates_as_long_as_it_runs(tmp_path):
    seen = []

    class Spy:
        async def run(self):
            seen.append("began")
            try:
                await asyncio.sleep(PATIENCE)
            finally:
                seen.append("ended")

    async def live_through(app):
        async with app.router.lifespan_context(app):
            await asyncio.sleep(0)
            assert seen == ["began"]
        assert seen == ["began", "ended"]

    with still_app(tmp_path, QUIZ, NO_LIMITS) as app:
        object.__setattr__(app.state.site, "estimation", Spy())
        apart(asyncio.run, live_through(app))


class Line:
    """One end of a pipe to a process that answers at once, or is dead."""

    def __init__(self, given):
        self.given, self.is_dead, self.is_closed, self.wanted = given, False, False, None

    def send(self, wanted):
        self.wanted = wanted

    def recv(self):
        if self.is_dead:
            raise EOFError
        return worker._done(self.wanted, *self.given)

    def close(self):
        self.is_closed = True


class Child:
    def __init__(self):
        self.done = []

    def kill(self):
        self.done.append("kill")

    def join(self):
        self.done.append("join")


def name_of(_store, task):
    return task.title


def refuses(_store, _task):
    raise InputError("there is nothing")


def breaks(_store, _task):
    raise ZeroDivisionError


@pytest.fixture
def other(store, task, monkeypatch):
    """A process whose starts are noted."""
    started = []

    def start(_self):
        started.append((Child(), Line((store, task))))
        return started[-1]

    monkeypatch.setattr(OtherProcess, "_start", start)
    return OtherProcess("address", task), started


def test_one_process_does_everything_until_it_dies(other):
    process, started = other
    process.stop()
    assert started == [], "what never ran need not be stopped"
    assert [apart(asyncio.run, process.do(name_of)) for _ in range(3)] == ["Which animals?"] * 3
    assert len(started) == 1
    started[0][1].is_dead = True
    with pytest.raises(EstimationError, match="^the estimation process ended unexpectedly; it is being restarted$"):
        apart(asyncio.run, process.do(name_of))
    assert started[0][0].done == ["join"]
    assert len(started) == 1
    assert apart(asyncio.run, process.do(name_of)) == "Which animals?"
    assert len(started) == 2
    process.stop()
    assert (started[1][0].done, started[1][1].is_closed) == (["kill", "join"], True)


def test_what_the_other_process_cannot_do_is_an_error_and_only_surprises_are_logged(other, caplog):
    process, _ = other
    with pytest.raises(EstimationError, match="^there is nothing$"):
        apart(asyncio.run, process.do(refuses))
    assert caplog.records == []
    with pytest.raises(EstimationError, match="^ZeroDivisionError; see the server's log$"):
        apart(asyncio.run, process.do(breaks))
    ((level, told),) = [(each.levelno, each.getMessage()) for each in caplog.records]
    assert level == logging.ERROR
    assert "Traceback" in told
    assert "in breaks" in told


def test_the_report_is_asked_of_the_other_process(store, task):
    estimation = Estimation(store, task)
    asked = []

    async def do(wanted):
        asked.append(wanted)
        return b"report"

    estimation.process.do = do
    assert apart(asyncio.run, estimation.report()) == b"report"
    assert asked == [worker.report]


def test_the_process_works_until_the_server_hangs_up(store, task, monkeypatch):
    handled, stepped_back, sent, left = [], [], [], [name_of, refuses, name_of]

    class Pipe:
        def recv(self):
            if not left:
                raise EOFError
            return left.pop(0)

        def send(self, found):
            sent.append(found)

    monkeypatch.setattr(signal, "signal", lambda *given: handled.append(given))
    monkeypatch.setattr(os, "nice", stepped_back.append)
    worker.work(Pipe(), f"sqlite:///{store.database.file}", task)
    assert handled == [(signal.SIGINT, signal.SIG_IGN)], "Ctrl-C is meant for the server"
    assert stepped_back == [10], "whoever waits for a page comes first"
    assert sent == ["Which animals?", worker.Failure("there is nothing", ""), "Which animals?"]


def test_the_report_says_how_it_was_made(store, task, monkeypatch):
    with pytest.raises(
        InputError, match="^there are no ballots to report on yet; come back when somebody has answered$"
    ):
        worker.report(store, task)
    store.answer(store.join("ann", "").id, "gone", ["cat"])
    with pytest.raises(InputError, match="there are no ballots"):
        worker.report(store, task)
    for number in range(3):
        store.answer(store.join(f"p{number}", "").id, "yard", ["cat"])
    given = {}

    def write_report(estimator, path, **options):
        given.update(options, ballots=estimator.estimate_.ballots.n_ballots)
        path.write_bytes(b"page")
        return path

    monkeypatch.setattr(worker, "write_report", write_report)
    assert worker.report(store, task) == b"page"
    assert given["title"] == "Which animals?"
    assert given["settings"] == {"Method": "em", "Collected by": "epivote collect"}
    assert given["ballots"] == 3
    assert isinstance(given["notes"], tuple)


def test_what_an_estimate_warns_of_is_told_every_time(store, task, monkeypatch):
    class Warns(EM):
        def fit(self, *given, **options):
            for kind in (CrowdWarning, UserWarning):
                warnings.warn(f"a {kind.__name__}", kind, stacklevel=1)
            return super().fit(*given, **options)

    monkeypatch.setattr("epivote.web.estimation.estimate.EM", Warns)
    store.answer(store.join("ann", "").id, "yard", ["cat"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            found = worker.estimate(store, task)
            assert found.warnings == ("a CrowdWarning",)
    board = board_of(task, found, [], (), "open")
    assert board["warnings"] == ["a CrowdWarning"]
