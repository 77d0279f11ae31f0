"""`epivote demo`: the small quiz that is installed with the command."""

import io
import sys
from pathlib import Path

from epivote.cli.demo import _write_quiz, demo
from said import run, said


def test_the_demo_writes_a_quiz_its_sets_and_a_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = said("demo", "quiz")
    assert text.startswith("Wrote a simulated quiz to quiz/birds.csv, and its true sets to quiz/birds-gold.csv.\n")
    assert "\n$ epivote aggregate quiz/birds.csv --size 1..2 --gold quiz/birds-gold.csv --out quiz/result" in text
    assert "23 of 24 sets are exactly right" in text
    assert f"\nOpen {tmp_path / 'quiz' / 'report.html'} in a browser to see the report.\n" in text
    assert sorted(file.name for file in (tmp_path / "quiz").iterdir()) == [
        "birds-gold.csv", "birds.csv", "report.html", "result",
    ]  # fmt: skip


def test_the_demo_may_be_run_again(tmp_path):
    made = tmp_path / "quiz"
    (made / "result").mkdir(parents=True)
    for name in ("birds-gold.csv", "birds.csv", "report.html"):
        (made / name).write_text("of an earlier run")
    _write_quiz(made)
    names = ("birds-gold.csv", "birds.csv")
    assert all((made / name).read_text() != "of an earlier run" for name in names)


def test_the_demo_leaves_other_files_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("dear")
    refused = run("demo", "mine")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == "epivote: mine already exists and holds other files (thesis.txt); name another folder\n"
    assert run("demo", "mine/thesis.txt").stderr == "epivote: mine/thesis.txt is not a directory; name another one\n"


def test_the_command_is_shown_before_it_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written, seen = io.BytesIO(), []
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="utf-8"))

    def app(words, *, standalone_mode):
        seen.append((words, standalone_mode, written.getvalue().decode()))

    monkeypatch.setattr("epivote.cli.main.app", app)
    demo(Path("my quiz"))
    sys.stdout.flush()
    files = {"gold": "my quiz/birds-gold.csv", "out": "my quiz/result", "report": "my quiz/report.html"}
    words = ["aggregate", "my quiz/birds.csv", "--size", "1..2"]
    words += [word for name, file in files.items() for word in (f"--{name}", file)]
    before = (
        "Wrote a simulated quiz to my quiz/birds.csv, and its true sets to my quiz/birds-gold.csv.\n\n"
        "$ epivote aggregate 'my quiz/birds.csv' --size 1..2 --gold 'my quiz/birds-gold.csv' --out 'my quiz/result' "
        "--report 'my quiz/report.html'\n"
    )
    assert seen == [(words, False, before)]
    assert written.getvalue().decode() == before + (
        f"\nOpen {tmp_path / 'my quiz' / 'report.html'} in a browser to see the report.\n"
        "The quiz is easy; on real ballots fewer sets are right. Try your own file, with the columns\n"
        "voter,instance,alternatives (1..2 says that one or two alternatives are right):\n"
        "  epivote aggregate YOUR.csv --size 1..2 --out result\n"
    )


def test_of_several_other_files_the_first_by_name_is_told(tmp_path):
    made = tmp_path / "mine"
    made.mkdir()
    for name in ("c.txt", "a.txt", "d.txt", "b.txt", "birds.csv", "result"):
        (made / name).write_text("dear")
    refused = run("demo", made)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == f"epivote: {made} already exists and holds other files (a.txt); name another folder\n"
    assert (made / "birds.csv").read_text() == "dear"
