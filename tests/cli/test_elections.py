"""Elections of millions on the command line: read, inspected and aggregated at once."""

import json
import os
import resource
import subprocess
import sys

import pytest

from said import run as in_process
from said import said, told

COUNTS = [1_700_000, 1_300_000, 1_100_000, 340_000, 280_000, 90_000, 45_000, 20_000, 12_000, 8_000, 3_000, 1_500, 500]
MOST_MEGABYTES, MOST_SECONDS = 300, 10  # of processor time; about 1.5 on an idle machine


@pytest.fixture
def parliament(tmp_path, monkeypatch):
    """A file of 1 kB for 4.9 million voters, as PrefLib's data set 57 has them."""
    monkeypatch.chdir(tmp_path)
    lines = ["# NUMBER ALTERNATIVES: 13", "# NUMBER VOTERS: 4900000", "# NUMBER CATEGORIES: 2"]
    lines += ["# CATEGORY NAME 0: Vote", "# CATEGORY NAME 1: Not Selected"]
    lines += [f"# ALTERNATIVE NAME {j}: party {j}" for j in range(1, 14)]
    for j, count in enumerate(COUNTS, start=1):
        others = ",".join(str(k) for k in range(1, 14) if k != j)
        lines.append(f"{count}: {j},{{{others}}}")
    (tmp_path / "big.cat").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*words):
    """What a command prints, within the limits of time and memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "epivote", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert after.ru_utime - before.ru_utime < MOST_SECONDS
    return done.stdout


def test_millions_are_inspected_and_aggregated_at_once(parliament):
    found = json.loads(run("inspect", "big.cat", "--json"))
    counts = {name: found[name] for name in ("voters", "different_voters", "ballots", "approvals", "instances")}
    assert counts == {
        "voters": 4_900_000, "different_voters": 13, "ballots": 4_900_000, "approvals": 4_900_000, "instances": 1
    }  # fmt: skip
    assert found["sizes"] == {"1": 4_900_000}
    assert found["remarks"][0].startswith("category 'Vote' counts as approved; 'Not Selected' does not")
    shown = run("aggregate", "big.cat", "--size", "1", "--out", "result", "--report", "page.html")
    assert "4,900,000 voters (13 different)" in shown
    assert "Note: category 'Vote' counts as approved" in shown
    assert "line-1 (x 1,700,000)" in run("aggregate", "big.cat", "--size", "1", "--all")
    assert (parliament / "result" / "truth.csv").read_text().splitlines()[1].startswith("big,party 1,")
    header, first, *_ = (parliament / "result" / "voters.csv").read_text().splitlines()
    assert header == "voter,hit_rate,false_alarm_rate,weight,ballots,multiplicity"
    assert first.endswith(",1,1700000")
    assert "4,900,000 ballots" in (parliament / "page.html").read_text()
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1024 * MOST_MEGABYTES:  # else a fork may count as ours
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1024 * MOST_MEGABYTES


def test_conversion_keeps_all_voters(parliament):
    said("convert", "big.cat", "big.csv")
    said("convert", "big.csv", "again.cat")
    found = told("inspect", "again.cat")
    assert (found["voters"], found["approvals"]) == (4_900_000, 4_900_000)
    lines = [line for line in (parliament / "again.cat").read_text().splitlines() if not line.startswith("#")]
    assert [int(line.split(":")[0]) for line in lines] == COUNTS
    said("pack", "big.cat", "-o", "big.packed")
    shown = said("aggregate", "big.packed", "--size", "1")
    assert "4,900,000 voters (13 different)" in shown


def test_grades_need_a_word_from_the_user(parliament):
    text = (parliament / "big.cat").read_text().replace("Vote", "20/20").replace("Not Selected", "0/20")
    (parliament / "grades.cat").write_text(text)
    done = in_process("inspect", "grades.cat")
    assert done.exit_code != 0
    assert "name them with --approved 'NAME'" in done.stderr
    assert "'20/20' counts as approved" in said("inspect", "grades.cat", "--approved", "20/20")
