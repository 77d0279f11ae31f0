"""What a person at a terminal sees: progress while it works, tables that fit."""

import os
import pty
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from epivote import simulate, write_ballots
from epivote.cli import console
from patience import in_time

BIRDS = Path(__file__).parent.parent.parent / "examples" / "birds.csv"


def at_a_terminal(*arguments, columns=80, run=("-m", "epivote")):
    """All that the command writes to a terminal of this width, without the codes that move the cursor."""
    leader, follower = pty.openpty()
    command = [sys.executable, *run, *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    pipes = {"stdin": follower, "stdout": follower, "stderr": follower}
    written = b""
    with in_time(subprocess.Popen(command, env=environment, **pipes)) as process:
        os.close(follower)
        while True:
            try:
                chunk = os.read(leader, 1 << 16)
            except OSError:
                break
            if not chunk:
                break
            written += chunk
    os.close(leader)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())


@pytest.fixture
def crowd(tmp_path):
    path = tmp_path / "crowd.csv"
    drawn = simulate(instances=3000, voters=200, alternatives=8, bounds=(1, 3), ballots_per_instance=5, seed=1)
    write_ballots(drawn.ballots, path)
    return path


def test_progress_shows_what_is_done_and_the_objective(crowd):
    told = at_a_terminal("aggregate", crowd, "--size", "1..3", "--quick", columns=200)
    assert f"Reading {crowd}" in told
    assert re.search(r"Iteration \d+, objective -[\d,.]+; Ctrl-C keeps the best so far", told)


def test_nothing_of_it_where_nobody_watches():
    command = [sys.executable, "-m", "epivote", "aggregate", str(BIRDS), "--size", "1..2"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert done.stderr == b""
    assert b"Reading" not in done.stdout
    assert b"\x1b" not in done.stdout


AT_WIDTHS = """
import os, sys
from epivote.cli import app
for columns in (60, 80, 120):
    os.environ["COLUMNS"] = str(columns)
    print("columns", columns)
    app(sys.argv[1:], standalone_mode=False)
"""


def test_tables_fit_the_terminal():
    told = at_a_terminal("aggregate", BIRDS, "--size", "1..2", run=("-c", AT_WIDTHS))
    _, *parts = re.split(r"^columns (\d+)\s", told, flags=re.MULTILINE)
    assert parts[::2] == ["60", "80", "120"]
    for columns, text in zip(map(int, parts[::2]), parts[1::2], strict=True):
        rows = [line for line in text.splitlines() if line.startswith(("picture", "guesser", "everything", "voter"))]
        assert len(rows) > 8
        assert max(map(len, rows)) <= columns
        sentences = [line for line in text.partition("Found")[2].splitlines()[1:] if not line.startswith("  ")]
        assert columns - 20 < max(map(len, sentences)) <= columns, "no wider than the terminal, but not much narrower"


def test_what_is_done_is_shown_in_place_of_what_was_done_before(monkeypatch):
    shown = []

    class Terminal:
        is_terminal = True

        def __init__(self, *, stderr):
            assert stderr

        @contextmanager
        def status(self, text, **_):
            shown.append(text.plain)
            yield SimpleNamespace(update=lambda text: shown.append(text.plain))

    monkeypatch.setattr(console, "Console", Terminal)
    for is_watched, expected in ((True, ["Reading", "Iteration 1"]), (False, [])):
        monkeypatch.setattr(sys.stdout, "isatty", lambda is_watched=is_watched: is_watched)
        with console.working("Reading") as line:
            line.say("Iteration 1")
        assert shown == expected
        shown.clear()
