"""inspect, convert, simulate, and files that come through pipes."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from epivote import Ballots, inspect_ballots, read_ballots, read_truths
from epivote.cli import app

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests" / "cases"
BIRDS = ROOT / "examples" / "birds.csv"


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def shell(*arguments, **options):
    command = [sys.executable, "-m", "epivote", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **options)


def test_inspect_says_what_is_there_and_how_it_was_understood():
    result = run("inspect", BIRDS)
    assert result.exit_code == 0
    for expected in (
        "detected format ballots (override with --format)",
        "24 voters, 24 instances, 5 alternatives, 521 ballots (44 empty)",
        "Per instance 20-23 (median 22) ballots",
        "starling",
        "Odd: 2 of 24 voters tick everything, always: 'everything-1', 'everything-2'.",
    ):
        assert expected in result.stdout, expected
    found = json.loads(run("inspect", BIRDS, "--json").stdout)
    assert (found["format"], found["voters"], found["sizes"]["0"]) == ("ballots", 24, 44)
    assert sum(found["sizes"].values()) == found["ballots"] == 521


@pytest.mark.parametrize(
    ("ballots", "odd"),
    [
        ({("v", "q"): {"Owl"}, ("w", "q"): {"owl "}}, "alternatives 'Owl', 'owl ' differ only in blanks"),
        ({("Zoé", "q"): {"a"}, ("zoe", "q"): {"a"}}, "voters 'Zoé', 'zoe' differ only in blanks, accents or capitals"),
        ({("v", "q"): {"a"}, ("w", "q"): {"b"}, ("x", "q"): {"a, b"}}, "alternative 'a, b' looks like several in one"),
        ({("v", "q"): {"['a']"}}, "looks like a list; try --format crowd-kit"),
        ({("v", "q"): {"a"}, ("v", "p"): {"b"}, ("w", "q"): {"b"}}, "1 of 2 instances have a single ballot"),
        ({("v", "q"): set(), ("v", "p"): set(), ("w", "q"): {"b"}}, "1 of 2 voters never tick anything: 'v'"),
        ({("v", "q"): {"a"}, ("v", "p"): {"a"}, ("w", "p"): {"a"}}, "1 of 2 voters cast one ballot only"),
    ],
)
def test_inspect_sees_what_is_odd(ballots, odd):
    assert any(odd in found for found in inspect_ballots(Ballots.from_mapping(ballots)).odd)


def test_inspect_counts_only_where_an_alternative_was_offered():
    built = Ballots.from_mapping(
        {("v", "q"): {"a"}, ("w", "q"): set(), ("v", "p"): {"b"}}, menu={"q": ["a", "b"], "p": ["b", "c"]}
    )
    found = inspect_ballots(built)
    assert found.ticked == {"a": 1 / 2, "b": 1 / 3, "c": 0.0}
    assert any("never ticked: 'c'" in odd for odd in found.odd)
    assert (found.per_instance.least, found.per_instance.most, found.per_voter.median) == (1, 2, 1.5)


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.parquet", "b.jsonl"])
def test_convert_there_and_back(tmp_path, name):
    assert run("convert", BIRDS, tmp_path / name).exit_code == 0
    assert run("convert", tmp_path / name, tmp_path / "again.csv").exit_code == 0
    assert read_ballots(tmp_path / "again.csv") == read_ballots(BIRDS)


def test_convert_keeps_gold_and_menus_only_when_told_and_says_so(tmp_path):
    plain = run("convert", CASES / "label-studio.json", tmp_path / "b.csv")
    assert "with --gold-out FILE" in plain.stdout
    assert "Note: a cancelled annotation counts as a missing ballot." in plain.stdout
    kept = run("convert", CASES / "label-studio.json", tmp_path / "b.csv", "--gold-out", tmp_path / "gold.csv")
    assert "--gold-out" not in kept.stdout
    assert dict(read_truths(tmp_path / "gold.csv")) == {"1": {"robin"}}
    assert "with --menu-out FILE" in run("convert", CASES / "prodigy.jsonl", tmp_path / "c.csv").stdout
    told = json.loads(run("convert", BIRDS, tmp_path / "d.csv", "--to", "crowd-kit", "--json").stdout)
    assert told["files"] == [str(tmp_path / "d.csv")]
    refused = run("convert", BIRDS, tmp_path / "e.csv", "--gold-out", tmp_path / "g.csv")
    assert refused.exit_code == 1
    assert "has no gold sets; leave out --gold-out" in refused.stderr
    assert not (tmp_path / "e.csv").exists(), "nothing is written when something is wrong"


def test_simulate_writes_ballots_gold_and_rates_that_can_be_found_again(tmp_path):
    made = run("simulate", "--instances", 80, "--voters", 12, "--seed", 3, "--out", tmp_path)
    assert made.exit_code == 0
    assert (
        f"Next: epivote aggregate {tmp_path / 'ballots.csv'} --size 1..2 --gold {tmp_path / 'gold.csv'}" in made.stdout
    )
    found = run("aggregate", tmp_path / "ballots.csv", "--size", "1..2", "--gold", tmp_path / "gold.csv")
    assert "not used for fitting" in found.stdout
    assert (tmp_path / "voters.csv").read_text().startswith("voter,hit_rate,false_alarm_rate\nv1,")
    again = tmp_path / "again"
    run("simulate", "--instances", 80, "--voters", 12, "--seed", 3, "--out", again)
    assert (again / "ballots.csv").read_bytes() == (tmp_path / "ballots.csv").read_bytes()
    other = run("simulate", "--instances", 80, "--voters", 12, "--seed", 4, "--out", "-")
    assert other.stdout != (tmp_path / "ballots.csv").read_text()
    assert len(read_ballots(tmp_path / "ballots.csv").instances) == 80


def test_simulate_with_rates_and_reference_crowds(tmp_path):
    run("simulate", "--hit-rate", 0.9, "--false-alarm-rate", 0.1, "--size", "2", "--out", tmp_path)
    assert set((tmp_path / "voters.csv").read_text().split("\n")[1:-1]) == {f"v{i},0.9,0.1" for i in range(1, 21)}
    assert {len(names) for names in read_truths(tmp_path / "gold.csv").values()} == {2}
    told = json.loads(run("simulate", "--crowd", "S", "--out", tmp_path, "--json").stdout)
    assert told["ballots"] == 10_000
    assert "must lie between 1 and the 20 voters" in run("simulate", "--ballots-each", 99, "--out", tmp_path).stderr


def test_standard_input_and_output():
    found = shell("aggregate", "-", "--size", "1..2", "--out", "-", input=BIRDS.read_bytes())
    assert found.returncode == 0, found.stderr
    lines = found.stdout.decode().splitlines()
    assert lines[0] == "instance,alternatives,confidence"
    assert lines[4].startswith("picture 4,blackbird|robin,0.99")
    assert len(lines) == 25
    converted = run("convert", "-", "-", input=(CASES / "mturk.csv").read_bytes())
    assert converted.stdout == "voter,instance,alternatives\nann,q1,robin|wren\nbo,q1,\nann,q2,owl\n"
    nothing = run("aggregate", "-", "--size", "1", input=b"")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr.startswith("epivote: standard input is empty")


def test_a_pipe_can_be_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(BIRDS.read_bytes(),))
    writer.start()
    found = run("inspect", pipe)
    writer.join(timeout=10)
    assert "521 ballots" in found.stdout


def test_predictions_for_label_studio(tmp_path):
    target = tmp_path / "predictions.json"
    result = run("aggregate", CASES / "label-studio.json", "--size", "1", "--predictions", target)
    assert result.exit_code == 0, result.stderr
    assert {task["id"] for task in json.loads(target.read_text())} == {1, 2}
    refused = run("aggregate", BIRDS, "--size", "1", "--predictions", target)
    assert "--predictions needs a Label Studio JSON file; " in refused.stderr


def test_timings_are_said_when_asked(tmp_path):
    result = run("aggregate", BIRDS, "--size", "1..2", "--out", tmp_path, "--timings")
    assert "Seconds: read 0." in result.stdout
    told = json.loads(run("aggregate", BIRDS, "--size", "1..2", "--timings", "--json").stdout)
    assert list(told["seconds"]) == ["read", "encode", "fit", "write"]
    assert all(seconds >= 0 for seconds in told["seconds"].values())
    assert "Seconds" not in run("aggregate", BIRDS, "--size", "1..2").stdout


@pytest.mark.parametrize(
    "name", ["aggregate", "inspect", "report", "explain", "evaluate", "plan", "convert", "simulate"]
)
def test_every_command_has_an_example_and_speaks_json(name):
    told = run(name, "--help").stdout
    assert f"Example: epivote {name} " in told
    assert "--json" in told


def test_gold_can_teach_or_only_be_compared_with(tmp_path):
    gold = ROOT / "examples" / "birds-gold.csv"
    told = {
        use: json.loads(run("aggregate", BIRDS, "--size", "1..2", "--gold", gold, "--gold-use", use, "--json").stdout)
        for use in ("auto", "learn", "score")
    }
    assert (told["learn"]["accuracy"], len(told["learn"]["gold"])) == (None, 24)
    assert told["score"]["accuracy"]["zero_one"]["mean"] == 23 / 24
    assert told["auto"] == told["score"], "all sets are known, so they are only compared with"
    few = tmp_path / "few.csv"
    few.write_text("".join(gold.read_text().splitlines(keepends=True)[:5]))
    assert len(json.loads(run("aggregate", BIRDS, "--size", "1..2", "--gold", few, "--json").stdout)["gold"]) == 4


def test_the_report_and_where_it_is(tmp_path):
    page = tmp_path / "report.html"
    result = run("report", BIRDS, "--size", "1..2", "-o", page, "--title", "Birds <now>")
    assert result.stdout == f"Wrote {page}. Open it in a browser; it needs no network and can be sent to others.\n"
    text = page.read_text()
    assert "Birds &lt;now&gt;" in text
    assert "guesser-9" in text
    hidden = tmp_path / "hidden.html"
    told = json.loads(run("report", BIRDS, "--size", "1..2", "-o", hidden, "--anonymize", "--json").stdout)
    assert told["files"] == [str(hidden)]
    assert "guesser-9" not in hidden.read_text()
    assert str(BIRDS.parent) not in hidden.read_text()
    both = run("aggregate", BIRDS, "--size", "1..2", "--out", tmp_path / "out", "--report", tmp_path / "out" / "r.html")
    assert "Wrote r.html, truth.csv" in both.stdout
    assert (tmp_path / "out" / "r.html").read_text().startswith("<!doctype html>")


def test_the_report_compares_with_gold_that_was_kept_aside(tmp_path):
    gold = ROOT / "examples" / "birds-gold.csv"
    run("report", BIRDS, "--size", "1..2", "--gold", gold, "-o", tmp_path / "r.html")
    assert "23 of 24 sets with gold are exactly right" in (tmp_path / "r.html").read_text()


def test_predictions_say_how_they_get_into_the_same_project(tmp_path):
    export, written = CASES / "label-studio.json", tmp_path / "p.json"
    text = run("aggregate", export, "--size", "1..2", "--quick", "--predictions", written).stdout
    words = " ".join(text.split())
    assert "p.json adds predictions to the tasks of the same Label Studio project, if sent as below; importing" in words
    assert f"--data @{written}\n" in text
