"""When every ballot was cast, and how long it took."""

import csv
import io

import pytest
from typer.testing import CliRunner

from epivote.cli import app as command
from epivote.web import timing
from epivote.web.store import Store, open_database, store
from epivote.web.timing import times_table
from in_process import organiser, visitor
from one_moment import still_app
from small_quiz import QUIZ, write_quiz

START = 1_800_000_000_000_000  # a moment in 2027, in microseconds


@pytest.fixture
def clock(monkeypatch):
    """Sets the moment of what is stored next, in seconds after the start."""
    return lambda seconds: monkeypatch.setattr(store, "now", lambda: START + int(seconds * 1e6))


def fill(kept, clock):
    clock(0)
    ann, bo = kept.join("ann", "a"), kept.join("bo", "b")
    for seconds, voter, instance, ticks in (
        (4.25, ann, "yard", ["cat"]),
        (5, bo, "barn", []),
        (6, ann, "barn", ["dog"]),
        (9, ann, "yard", ["owl"]),
    ):
        clock(seconds)
        kept.answer(voter.id, instance, ticks)


ROWS = [
    ("ann", "yard", "04.250", "09.000", "4.2"),
    ("ann", "barn", "06.000", "06.000", "1.8"),
    ("bo", "barn", "05.000", "05.000", "5.0"),
]


def read(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    assert all(row["cast"].startswith("2027-01-15T08:00:") for row in rows)
    return [(row["voter"], row["instance"], row["cast"][17:23], row["changed"][17:23], row["seconds"]) for row in rows]


@pytest.mark.parametrize("at_once", [1, 2, 2_000])
def test_times_of_all_ballots(database, clock, monkeypatch, at_once):
    monkeypatch.setattr(timing, "AT_ONCE", at_once)
    opened = open_database(database)
    fill(Store(opened), clock)
    pieces = list(times_table(opened))
    assert read("".join(pieces)) == ROWS
    assert len(pieces) == 1 + -(-len(ROWS) // at_once), "never all rows at once"
    opened.close()


def test_the_organiser_takes_them_away(tmp_path, clock):
    with still_app(tmp_path) as app:
        fill(app.state.site.store, clock)
        boss = organiser(app)
        assert 'href="/organiser/export/times.csv"' in boss.get("/organiser").text
        sent = boss.get("/organiser/export/times.csv")
        assert read(sent.text) == ROWS
        assert sent.headers["content-disposition"] == 'attachment; filename="times.csv"'
        assert visitor(app).get("/organiser/export/times.csv").status_code == 403


def test_the_command_writes_them_on_request(tmp_path, clock):
    quiz = write_quiz(tmp_path, f'completion_code = "C1"\n{QUIZ}')
    opened = open_database(f"sqlite:///{quiz.with_suffix('.db')}")
    fill(Store(opened), clock)
    opened.close()
    export = ["collect", "export", str(quiz), "-o", str(tmp_path / "out" / "ballots.csv")]
    assert CliRunner().invoke(command, export).exit_code == 0
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["ballots.csv"]
    told = CliRunner().invoke(command, [*export, "--times", "--participants"])
    assert "Wrote ballots.csv, times.csv, participants.csv in the folder" in told.stdout
    assert read((tmp_path / "out" / "times.csv").read_text(encoding="utf-8")) == ROWS
    people = (tmp_path / "out" / "participants.csv").read_text(encoding="utf-8").splitlines()
    assert people[0] == "voter,kind,joined,finished,ballots,completion_code"
    assert people[1].endswith(",2,C1")
