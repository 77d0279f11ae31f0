"""Trouble around the server: its database goes away or is busy, the process that estimates dies, copies are taken meanwhile."""

import csv
import itertools
import multiprocessing
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from asking import Visitor, organiser
from epivote.cli import app
from epivote.web.security.limits import Limits
from epivote.web.site import Settings
from small_quiz import QUIZ

SOON = 60
A_MOMENT = 0.3
OFTEN = Settings(estimate_every=0.05)


def eventually(what, seconds=SOON):
    """What is true before long."""
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)
    return found


def ballots_shown(boss) -> int:
    """How many ballots the live sets rest on."""
    board = boss.get("/organiser/live").json()
    assert board["problem"] == "" or board["problem"].startswith("The estimation has a problem")
    return sum(row["ballots"] for row in board["sets"]) if board["problem"] == "" else -1


@pytest.mark.slow
def test_a_database_that_drops_all_connections_is_found_again(postgresql_database, serve_here):
    running = serve_here(QUIZ, postgresql_database, OFTEN)
    with Visitor(running).joined() as visitor, organiser(running) as boss:
        assert visitor.answer(1, [0]).status_code == 303
        eventually(lambda: ballots_shown(boss) == 1)
        with psycopg.connect(postgresql_database, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert visitor.answer(2, [1]).status_code == 303
        assert visitor.ballots()[:2] == [(0,), (1,)]
        eventually(lambda: ballots_shown(boss) == 2)
    lost = ("administrator command", "closed the connection")  # the estimation may have been reading just then
    running.failures[:] = [each for each in running.failures if not any(words in each for words in lost)]


def test_while_somebody_else_writes_answers_wait_and_pages_do_not(serve_here, tmp_path):
    running = serve_here(QUIZ, f"sqlite:///{tmp_path / 'busy.db'}")
    with Visitor(running).joined() as visitor, Visitor(running) as reader:
        fields = visitor.filled_in(1, [0])
        with (
            closing(sqlite3.connect(tmp_path / "busy.db", isolation_level=None)) as other,
            ThreadPoolExecutor() as pool,
        ):
            other.execute("BEGIN IMMEDIATE")
            assert reader.get("/").status_code == 200
            sent = pool.submit(visitor.post, "/question/1", fields)
            with pytest.raises(TimeoutError):
                sent.result(timeout=A_MOMENT)
            assert reader.get("/").status_code == 200
            other.rollback()
            assert sent.result(timeout=SOON).status_code == 303
        assert visitor.ballots()[0] == (0,)


def children_of(process: int) -> list[int]:
    """The processes that a process has started, oldest first."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(status.parent.name))
    return sorted(found)


@pytest.mark.slow
def test_the_estimation_survives_the_death_of_its_process(serve_here):
    others = multiprocessing.active_children()
    running = serve_here(QUIZ, None, OFTEN)
    with Visitor(running).joined() as visitor, organiser(running) as boss:
        assert visitor.answer(1, [0]).status_code == 303
        eventually(lambda: ballots_shown(boss) == 1)
        (estimating,) = set(multiprocessing.active_children()) - set(others)
        estimating.kill()
        assert visitor.answer(2, [1]).status_code == 303
        eventually(lambda: ballots_shown(boss) == 2)
        assert boss.get("/organiser/report").status_code == 200


@pytest.mark.slow
def test_a_killed_server_leaves_no_process_behind(serve):
    running = serve(QUIZ)
    with Visitor(running).joined() as visitor, organiser(running) as boss:
        assert visitor.answer(1, [0]).status_code == 303
        eventually(lambda: ballots_shown(boss) == 1)
    left = children_of(running.process.pid)
    assert left
    running.kill()
    eventually(lambda: not any(Path(f"/proc/{child}").exists() for child in left))


def test_a_copy_taken_while_people_answer_is_whole(serve_here, tmp_path):
    running = serve_here(QUIZ)
    quiz, copy, out = tmp_path / "quiz" / "quiz.toml", tmp_path / "copy.db", tmp_path / "copy.csv"
    enough, began = threading.Event(), threading.Barrier(5)

    def keep_answering(name):
        """Over and over, as often as one person may."""
        with Visitor(running).joined(name) as visitor:
            for number, position in enumerate(itertools.cycle(range(1, 5))):
                assert visitor.answer(position, [position % 3]).status_code == 303
                if number == 0:
                    began.wait(SOON)
                if enough.wait(1 / Limits().answering.per_second):
                    return

    with ThreadPoolExecutor() as pool:
        people = [pool.submit(keep_answering, f"person {k}") for k in range(4)]
        began.wait(SOON)
        try:
            collect("backup", quiz, "-o", copy)
        finally:
            enough.set()
        for each in people:
            each.result(SOON)
    collect("export", quiz, "--database", f"sqlite:///{copy}", "-o", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    places = [(row["voter"], row["instance"]) for row in rows]
    assert len(set(places)) == len(places) >= 4
    assert {row["alternatives"] for row in rows} <= {"cat", "dog", "owl"}


def collect(*arguments):
    done = CliRunner().invoke(app, ["collect", *map(str, arguments)])
    assert done.exit_code == 0, done.stderr
