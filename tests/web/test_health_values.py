"""Whether ballots can be stored: when that is tried, what is said of it, and what every error of a driver means."""

import asyncio
import logging
import sqlite3
import threading
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import DBAPIError

from epivote.web import health as health_module
from epivote.web.health import Health
from epivote.web.store.trouble import WORDS, TroubleError, kind_of
from patience import apart


class Tried:
    """A store that notes how it was tried, and fails as it should."""

    database = "quiz.db"

    def __init__(self):
        self.patience, self.fails = [], None

    def try_writing(self, patience):
        self.patience.append(patience)
        if self.fails is not None:
            raise self.fails


@pytest.fixture
def clock():
    return [5.0]


@pytest.fixture
def store():
    return Tried()


@pytest.fixture
def health(store, clock):
    return Health(store, lambda: clock[0])


def test_it_is_tried_at_most_once_a_second_and_for_two(health, store, clock):
    assert health.check() is None
    for moment, times in ((5.9, 1), (5.99, 1), (6.0, 2), (6.5, 2), (7.0, 3), (20.0, 4)):
        clock[0] = moment
        health.check()
        assert store.patience == [2.0] * times


def test_it_is_tried_at_once_when_first_asked(store):
    Health(store, lambda: 0.0).check()
    assert len(store.patience) == 1


def test_while_one_looks_others_are_told_what_is_known(health, store, clock):
    looking, go_on = threading.Event(), threading.Event()

    def slow(_patience):
        looking.set()
        assert go_on.wait(30)

    trouble = TroubleError("locked", "quiz.db")
    health.note(trouble)
    store.try_writing = slow
    thread = threading.Thread(target=health.check)
    thread.start()
    assert looking.wait(30)
    assert health.check() is trouble
    go_on.set()
    thread.join(30)
    assert health.check() is None


def test_trouble_is_known_from_one_look_to_the_next(health, store, clock):
    store.fails = TroubleError("full", "quiz.db")
    assert health.check() is store.fails
    store.fails = DBAPIError("INSERT", {}, Exception("no"))
    clock[0] += 0.5
    assert health.check().kind == "full"
    clock[0] += 0.5
    refusing = health.check()
    assert refusing.kind == "refusing"
    assert str(refusing) == f"the database quiz.db cannot be used: {WORDS['refusing']}"
    assert refusing.reason == f"the database cannot be used: {WORDS['refusing']}"
    store.fails = None
    clock[0] += 1
    assert health.check() is None


def test_every_change_is_logged_once(health, caplog):
    full, locked = TroubleError("full", "quiz.db"), TroubleError("locked", "quiz.db")
    for noticed in (None, full, full, TroubleError("full", "quiz.db"), locked, None, None, locked):
        health.note(noticed)
    told = [(each.levelno, each.name, each.getMessage()) for each in caplog.records]
    assert told == [
        (logging.ERROR, "epivote.collect", f"ballots are refused: {full}"),
        (logging.ERROR, "epivote.collect", f"ballots are refused: {locked}"),
        (logging.WARNING, "epivote.collect", "ballots are stored again"),
        (logging.ERROR, "epivote.collect", f"ballots are refused: {locked}"),
    ]


def test_it_is_tried_every_five_seconds_although_nobody_asks(health, store, clock, monkeypatch):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        clock[0] += seconds
        if len(pauses) == 3:
            raise asyncio.CancelledError

    here_only = SimpleNamespace(**{**vars(asyncio), "sleep": sleep})  # servers in other threads go on sleeping
    monkeypatch.setattr(health_module, "asyncio", here_only)
    with pytest.raises(asyncio.CancelledError):
        apart(asyncio.run, health.watch())
    assert (pauses, len(store.patience)) == ([5.0, 5.0, 5.0], 3)


class DriverError(Exception):
    """What a driver says."""

    def __init__(self, **told):
        super().__init__("no")
        self.__dict__ |= told


def wrapped(error, *, lost=False):
    """As SQLAlchemy hands it on."""
    return DBAPIError("SELECT", {}, error, connection_invalidated=lost)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("53100", "full"),
        ("53000", "unreachable"),
        ("53300", "unreachable"),
        ("55P03", "locked"),
        ("40P01", "locked"),
        ("40001", None),
        ("XX001", "damaged"),
        ("XX002", "damaged"),
        ("XX000", None),
        ("58030", "failing"),
        ("25006", "read-only"),
        ("08000", "unreachable"),
        ("57P01", "unreachable"),
        ("57P03", "unreachable"),
        ("57014", None),
        ("23505", None),
        ("10800", None),
    ],
)
def test_what_postgresql_says(state, kind):
    assert kind_of(wrapped(DriverError(sqlstate=state))) == kind
    assert kind_of(wrapped(DriverError(sqlstate=state), lost=True)) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("FULL", "full"),
        ("BUSY", "locked"),
        ("LOCKED", "locked"),
        ("CANTOPEN", "lost"),
        ("CORRUPT", "damaged"),
        ("NOTADB", "damaged"),
        ("IOERR", "failing"),
        ("READONLY", "read-only"),
        ("CONSTRAINT", None),
        ("ERROR", None),
    ],
)
def test_what_sqlite_says(name, kind):
    code = getattr(sqlite3, f"SQLITE_{name}")
    for details in (0, 1 << 8, 7 << 8, 255 << 8):
        assert kind_of(wrapped(DriverError(sqlite_errorcode=code | details))) == kind
    bare = sqlite3.OperationalError("no")
    bare.sqlite_errorcode = code
    assert kind_of(bare) == kind


def test_errors_without_a_number():
    unreadable = sqlite3.OperationalError("Could not decode to UTF-8 column")
    assert kind_of(unreadable) == kind_of(wrapped(unreadable)) == "damaged"
    assert kind_of(sqlite3.OperationalError("no such table")) is None
    assert kind_of(wrapped(DriverError())) is None
    assert kind_of(wrapped(ValueError("cannot decode"))) is None
    assert kind_of(wrapped(DriverError(), lost=True)) == "unreachable"
    assert kind_of(sqlite3.ProgrammingError("cannot decode")) is None
