"""Trouble with the database: it is said at once and once, a ballot is acknowledged only if an export finds it, and whoever
sends one keeps the ticks.
"""

import logging
import os
import re
import sqlite3
import threading
import time
from contextlib import closing, contextmanager

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from starlette.testclient import TestClient
from typer.testing import CliRunner

from epivote.cli import app as command
from epivote.web.estimation import worker
from epivote.web.health import Health
from epivote.web.store import Store, TroubleError, open_database
from epivote.web.store.trouble import WORDS, kind_of
from examples.crowd.pages import parse
from in_process import at, filled_in, joined, organiser, say, store_of, visitor
from one_moment import program, still_app
from small_quiz import write_quiz

NOT_KEPT = "The server could not save your answer."


@pytest.fixture
def app(tmp_path):
    """An app whose patience is short."""
    with still_app(tmp_path) as made:
        site = made.state.site
        site.store.database.patience = site.health.patience = 0.05
        site.health.fresh = 0.0
        yield made


@contextmanager
def failing(store, statements, code):
    """Statements that begin like this fail as SQLite fails with this code."""

    def fail(_cursor, statement, _given, _context):
        if statement.startswith(statements):
            error = sqlite3.OperationalError("as it fails")
            error.sqlite_errorcode = code
            raise error

    event.listen(store.database.engine, "do_execute", fail)
    yield
    event.remove(store.database.engine, "do_execute", fail)


def full_disk(store):
    return failing(store, ("INSERT", "UPDATE"), sqlite3.SQLITE_FULL)


@contextmanager
def foreign_lock(store):
    with closing(sqlite3.connect(store.database.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.rollback()


@contextmanager
def removed(store):
    path = store.database.file
    aside = path.with_name("aside.db")
    path.rename(aside)
    yield
    aside.rename(path)


@contextmanager
def replaced(store):
    """A copy in its place, as an editor or a restore leaves it."""
    path = store.database.file
    aside = path.with_name("aside.db")
    path.rename(aside)
    path.write_bytes(aside.read_bytes())
    yield
    aside.rename(path)


@contextmanager
def without_newest_pages(store):
    path = store.database.file
    log, aside = path.with_name(f"{path.name}-wal"), path.with_name("aside.wal")
    log.rename(aside)
    yield
    aside.rename(log)


TROUBLES = {
    full_disk: "full",
    foreign_lock: "locked",
    removed: "lost",
    replaced: "lost",
    without_newest_pages: "lost",
}


def ticked(page):
    return parse("/", page.text).forms[0].ticked


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda each: each.__name__)
def test_trouble_is_said_everywhere_once_and_keeps_the_ticks(app, caplog, trouble):
    ann, boss, store = joined(app, "ann"), organiser(app), app.state.site.store
    first = at(ann)
    say(ann, first, ticks=[0])
    address = at(ann)
    fields = filled_in(ann.get(address), "answer", [0, 2])
    before, seen = store.snapshot(), boss.get("/organiser/live").headers["etag"]
    caplog.clear()
    with trouble(store):
        for _ in range(3):
            sent = ann.post(address, data=fields)
            assert (sent.status_code, NOT_KEPT in sent.text) == (503, True)
            assert ticked(sent) == {0, 2}
        words = WORDS[TROUBLES[trouble]]
        health = visitor(app).get("/health")
        assert (health.status_code, health.text) == (503, f"the database cannot be used: {words}")
        board = boss.get("/organiser/live", headers={"If-None-Match": seen})
        assert board.status_code == 200, "it is new"
        assert board.json()["problem"] == f"Ballots cannot be stored: the database cannot be used: {words}."
        assert board.json()["gate_words"] == "Open, but ballots cannot be stored at the moment."
        assert program(app).put("/api/v1/voters/x/ballots/yard", json={"ticks": []}).status_code == 503
        told = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
        assert told == [f"ballots are refused: the database {store.database} cannot be used: {words}"]
    assert visitor(app).get("/health").text == "ok"
    assert caplog.records[-1].getMessage() == "ballots are stored again"
    assert store.snapshot() == before
    assert ann.post(address, data=fields).status_code == 303
    assert boss.get("/organiser/live").json()["gate_words"] == "Open: ballots are accepted."


def test_a_database_that_cannot_be_read_keeps_what_was_sent(app):
    """A damaged page, or a PostgreSQL that is away: not even the question can be shown again."""
    ann, boss = joined(app, "ann"), organiser(app)
    address = at(ann)
    fields = filled_in(ann.get(address), "answer", [0, 2])
    with failing(app.state.site.store, "SELECT", sqlite3.SQLITE_CORRUPT):
        sent = ann.post(address, data=fields)
        assert (sent.status_code, "Send again" in sent.text) == (503, True)
        live = boss.get("/organiser/live")
        assert live.status_code == 503
        assert live.json()["error"].startswith("Ballots cannot be stored: the database cannot be used: its file is dam")
        assert ann.get("/question/1").status_code == boss.get("/organiser").status_code == 503
    again = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', sent.text):
        again.setdefault(name, []).append(value)
    assert ann.post(address, data=again).status_code == 303
    (ballot,) = app.state.site.store.snapshot()[1]
    assert len(ballot.ticks) == 2


def test_a_lock_keeps_nobody_waiting_for_long_and_others_less(tmp_path):
    with store_of(tmp_path) as store:
        store.database.patience = 0.4
        ann, waited = store.join("ann", "").id, []

        def answer():
            began = time.monotonic()
            with pytest.raises(TroubleError, match="another program keeps it locked"):
                store.answer(ann, "yard", ["cat"])
            waited.append(time.monotonic() - began)

        with foreign_lock(store):
            threads = [threading.Thread(target=answer) for _ in range(6)]
            for each in threads:
                each.start()
            for each in threads:
                each.join(20)
            assert len(waited) == 6, "each waits at most its own patience, not that of those before"
            store.database.patience = 60.0
            with store.database._turn:
                answer()
        store.answer(ann, "yard", ["cat"])


def test_health_looks_once_a_second_and_trouble_of_requests_counts_at_once():
    class Tried:
        count, fails = 0, None

        def try_writing(self, _patience):
            self.count += 1
            if self.fails:
                raise self.fails

    clock, store = [100.0], Tried()
    health = Health(store, lambda: clock[0])
    assert [health.check() for _ in range(3)] == [None] * 3
    assert store.count == 1
    trouble = TroubleError("full", "here")
    health.note(trouble)
    assert (health.check(), store.count) == (trouble, 1)
    clock[0] += 1.0
    assert (health.check(), store.count) == (None, 2)
    store.fails, clock[0] = trouble, clock[0] + 1.0
    assert (health.check(), store.count) == (trouble, 3)


def test_trouble_is_noticed_although_nobody_asks(tmp_path, monkeypatch):
    with still_app(tmp_path) as app:
        looked = threading.Event()
        monkeypatch.setattr(app.state.site.health, "check", looked.set)
        with TestClient(app):
            assert looked.wait(20)


def test_what_a_driver_says_is_understood():
    class Error(Exception):
        def __init__(self, **told):
            super().__init__()
            self.__dict__ |= told

    def kind(lost=False, **told):
        return kind_of(DBAPIError("SELECT", {}, Error(**told), connection_invalidated=lost))

    assert kind(sqlite_errorcode=sqlite3.SQLITE_IOERR | 3 << 8) == "failing"
    assert kind(sqlite_errorcode=sqlite3.SQLITE_ERROR) is None, "our own mistake"
    states = {"53100": "full", "55P03": "locked", "XX001": "damaged", "57P01": "unreachable", "08006": "unreachable"}
    assert {state: kind(sqlstate=state) for state in states} == states
    assert (kind(sqlstate="42P01"), kind(), kind(lost=True)) == (None, None, "unreachable")


def damaged(path):
    """A database in which the pages of ballots hold something else."""
    with closing(sqlite3.connect(path)) as whole:
        whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = whole.execute("PRAGMA page_size").fetchone()[0]
        (root,) = whole.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ballots'").fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(os.urandom(size))


def test_a_damaged_file_is_told_in_a_sentence(tmp_path):
    quiz = write_quiz(tmp_path)
    with store_of(tmp_path) as store:
        store.answer(store.join("ann", "").id, "yard", ["cat"])
    damaged(tmp_path / "quiz.db")
    told = CliRunner().invoke(command, ["collect", "export", str(quiz), "-o", str(tmp_path / "ballots.csv")])
    assert told.exit_code == 1
    assert "its file is damaged; stop the server, and go on from a copy" in told.stderr
    assert "Traceback" not in told.stderr
    assert not (tmp_path / "ballots.csv").exists()
    with still_app(tmp_path) as app:
        estimation = app.state.site.estimation
        with pytest.raises(TroubleError, match="its file is damaged"):
            worker.estimate(estimation._store, app.state.site.task)


@pytest.mark.slow
def test_a_lock_in_postgresql_keeps_nobody_waiting_for_long(postgresql_database):
    store = Store(open_database(postgresql_database))
    ann = store.join("ann", "").id
    with psycopg.connect(postgresql_database) as other:
        other.execute("LOCK TABLE settings, ballots IN EXCLUSIVE MODE")
        with pytest.raises(TroubleError, match="another program keeps it locked"):
            store.try_writing(0.1)
        with pytest.raises(TroubleError, match="another program keeps it locked"):
            store.answer(ann, "yard", ["cat"])
    store.answer(ann, "yard", ["cat"])
    store.database.close()
