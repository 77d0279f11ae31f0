"""Whole screens, whole JSON objects and whole files of every command, as last accepted: no word changes unnoticed."""

import pytest

from accepted import check_accepted
from epivote.cli import show_aggregate, show_packed
from transcripts import ACCEPTED, transcript, write_small_files

SMALL, MIDDLE = "small.csv --size 1..2", "middle.csv --size 1..2"
RULES = ("majority", "modal", "approval", "size-approval")
QUICK = {
    "aggregate-amle": [f"aggregate {SMALL} --method amle --timings --out ."],
    "aggregate-sizes": [f"aggregate {SMALL} --sizes sizes.csv --method em --alternatives 'cat|dog|owl|fox|elk'"],
    "aggregate-menus": [f"aggregate {SMALL} --menu menu.csv --method em --all"],
    "aggregate-input": ["aggregate - --size 1..2 --quick < small.csv"],
    "aggregate-gold": [f"aggregate {MIDDLE} --gold middle-gold.csv --method em --out result"],
    "aggregate-refused": [
        f"aggregate {SMALL} --out - --json",
        "aggregate small.csv",
        "aggregate nowhere.csv --size 1",
        f"aggregate {SMALL} --scheduler tcp://x:1",
        f"aggregate {SMALL} --predictions p.json",
        "aggregate - --size 1 --predictions p.json < small.csv",
        f"aggregate {SMALL} --gold-use learn",
    ],
    **{f"rule-{method}": [f"aggregate {SMALL} --method {method} --gold small-gold.csv --out result"] for method in RULES},
    "ties": ["aggregate ties.csv --size 1 --method em", "review ties.csv --size 1 --method em --threshold .45"],
    "ties-all": ["aggregate ties.csv --size 1 --method em --all"],
    "ties-inspected": ["inspect ties.csv"],
    "explain": [
        "explain small.csv q2 --size 1..2 --method em",
        "explain small.csv q2 --size 2 --method amle",
        "explain small.csv q99 --size 1..2 --quick",
        "explain small.csv q2 --size 1..2 --method modal",
    ],
    "explain-json": ["explain small.csv q3 --size 1..2 --quick --json"],
    "review": [
        f"review {SMALL} --method em",
        f"review {SMALL} --method em --threshold 0.7 --json",
    ],
    "review-written": [
        f"review {SMALL} --method em --threshold 0.75 -o review.csv",
        f"review {SMALL} --method em --threshold 0.65 -o -",
    ],
    "review-refused": [
        f"review {SMALL} --method em --threshold 0",
        f"review {SMALL} --method majority",
        f"review {SMALL} --method em --threshold 0.1",
    ],
    "gold": [
        f"gold {SMALL} --count 4",
        f"gold {SMALL} --count 4",
        f"gold {SMALL} --count 4 -o other.csv --seed 3 --json",
        f"gold {SMALL} --method modal -o none.csv",
        f"aggregate {SMALL} --gold to-answer.csv",
    ],
    "gold-all": [f"gold {SMALL} -o all.csv", f"gold {SMALL} --count 0 -o none.csv"],
    "evaluate": [
        "evaluate truth.csv small-gold.csv",
        "evaluate truth.csv small-some.csv --json",
        "evaluate truth.csv small-some.csv --alternatives 'cat|dog|owl|fox|elk'",
        "evaluate truth.csv small-some.csv --menu menu.csv",
        "evaluate truth.csv small-some.csv --menu menu.csv --alternatives 'cat|dog'",
        "evaluate small-some.csv small-gold.csv",
        "evaluate small-gold.csv small-some.csv --alternatives 'cat||dog'",
    ],
    "plan-refused": ["plan --size 1..2 --gold small-gold.csv", "plan --size 1..2 --target 1"],
    "inspect": ["inspect small.csv", "inspect small.csv --json"],
    "inspect-offered": ["inspect form.csv --instances 'Q*' --gold-row key", "inspect small.csv --menu menu.csv"],
    "convert": [
        "convert small.csv copy.parquet --menu-out m.csv",
        "convert small.csv copy.csv --alternatives 'cat|dog|owl|fox|elk|emu|gnu|yak'",
        "convert small.csv copy.csv --menu menu.csv --json",
        "convert form.csv ballots.csv --instances 'Q*' --gold-row key --gold-out g.csv",
        "convert form.csv - --instances 'Q*' --gold-row key",
        "convert form.csv election.cat --instances 'Q*' --gold-row key",
        "convert form.csv - --to abcvoting --instances 'Q*'",
        "convert small.csv copy.csv --gold-out g.csv",
        "convert small.csv menus.abc.yaml --menu menu.csv",
    ],
    "simulate": [
        "simulate --out drawn --instances 3 --voters 2 --alternatives 3",
        "simulate --out drawn --instances 3 --voters 2 --alternatives 3 --json",
    ],
    "packed": [
        "pack small.csv -o small.packed",
        "pack middle.csv -o middle.packed --json",
        "pack middle.csv -o middle.packed",
        "aggregate middle.packed --size 1..2 --quick",
        "aggregate small.packed --size 1..2 --method approval --out result",
        "aggregate small.packed --size 1..2 --method approval --out -",
    ],
    "packed-json": ["pack small.csv -o small.packed", "aggregate small.packed --size 1..2 --quick --json"],
    "packed-gold": [
        "pack middle.csv -o middle.packed",
        "aggregate middle.packed --size 1..2 --method em --gold middle-gold.csv",
    ],
}  # fmt: skip
LONG = {
    "aggregate": [f"aggregate {SMALL}", f"aggregate {SMALL} --all", f"aggregate {SMALL} --out -"],
    "aggregate-json": [
        f"aggregate {SMALL} --json",
        f"aggregate {SMALL} --json --timings --quick --gold small-some.csv --out result",
    ],
    "aggregate-halves": [f"aggregate {MIDDLE}", f"aggregate {MIDDLE} --all"],
    "aggregate-some-gold": [
        f"aggregate {MIDDLE} --quick --gold middle-some.csv --out result",
        f"aggregate {MIDDLE} --quick --gold middle-some.csv --all",
    ],
    "aggregate-gold-all": [f"aggregate {MIDDLE} --gold middle-gold.csv --method em --all"],
    "rules-with-gold": [f"aggregate {SMALL} --method {method} --gold small-some.csv --all" for method in RULES],
    "explain-gold": [
        "explain small.csv q3 --size 1..2 --gold small-some.csv --method em",
        "explain small.csv q2 --size 1..2 --plot why.txt",
    ],
    "review-middle": [
        f"review {MIDDLE} --method em",
        f"review {MIDDLE} --gold middle-some.csv --quick --threshold .3",
    ],
    "plan": [
        "plan --size 1..2 --target 0.6 --n-alternatives 3",
        "plan --size 1 --n-alternatives 2 --hit-rate 0.51 --false-alarm-rate 0.49 --target 0.9",
    ],
    "plan-checked": [
        f"plan --ballots {MIDDLE} --target 0.6",
        f"plan --ballots {SMALL} --gold small-gold.csv --target 0.5 --json",
    ],
    "inspect-halves": ["inspect middle.csv --size 1..2"],
    "packed-some-gold": [
        "pack middle.csv -o middle.packed",
        "aggregate middle.packed --size 1..2 --quick --gold middle-some.csv --out result",
    ],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_small_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", QUICK)
def test_everything_said_is_what_was_accepted(folder, name):
    check_accepted(ACCEPTED / f"{name}.txt", transcript(QUICK[name], folder))


@pytest.mark.parametrize("name", LONG)
def test_everything_said_in_longer_runs_is_what_was_accepted(folder, name):
    check_accepted(ACCEPTED / f"{name}.txt", transcript(LONG[name], folder))


@pytest.mark.parametrize("columns", [40, 200])
def test_screens_of_other_widths(folder, columns):
    lines = [f"aggregate {SMALL} --method em", f"review {SMALL} --method em", "inspect small.csv"]
    check_accepted(ACCEPTED / f"columns-{columns}.txt", transcript(lines, folder, columns))


@pytest.mark.parametrize("columns", [32, 80])
def test_screens_with_more_warnings_than_fit(folder, columns, monkeypatch):
    many = [f"Warning: number {k}." for k in range(1, 41)]
    monkeypatch.setattr(show_aggregate, "warnings_of", lambda _fitted: many)
    monkeypatch.setattr(show_packed, "warnings_of_fit", lambda _fitted: many)
    said = transcript(["pack middle.csv -o middle.packed"], folder)
    assert "Packed " in said
    lines = [
        f"aggregate {SMALL} --method em",
        f"aggregate {SMALL} --method modal",
        f"aggregate {MIDDLE} --method em",
        "aggregate middle.packed --size 1..2 --method em",
        "aggregate middle.packed --size 1..2 --method modal",
    ]
    found = transcript(lines, folder, columns)
    check_accepted(ACCEPTED / f"crowded-{columns}.txt", found)


def test_every_accepted_text_belongs_to_a_test():
    names = {*QUICK, *LONG, "columns-40", "columns-200", "crowded-32", "crowded-80"}
    assert {path.stem for path in ACCEPTED.glob("*.txt") if not path.stem.startswith("collect-")} == names
