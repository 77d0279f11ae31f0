"""`epivote demo`: the small quiz that is installed with the command."""

from epivote.cli.demo import _write_quiz
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
