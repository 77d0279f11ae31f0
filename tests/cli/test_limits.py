"""Tables that are cut: just below, at and above their number of rows; and packed folders, of which little is shown."""

import csv
from collections import Counter

import numpy as np
import pytest

from epivote import EM, Ballots, open_packed, read_ballots, simulate, write_ballots
from epivote.cli import fitting, show_packed
from epivote.data import packing
from epivote.estimate.review import Doubt
from said import block, percent, run, said, table, told


def written(path, cast):
    lines = [f"{voter},{instance},{ticks}" for (voter, instance), ticks in cast.items()]
    path.write_text("\n".join(["voter,instance,alternatives", *lines, ""]))
    return path


@pytest.mark.parametrize("count", [23, 24, 25])
def test_up_to_24_sets_are_shown_else_a_sample_of_five(count, tmp_path):
    path = written(tmp_path / "b.csv", {("v", f"z{k}"): "a" for k in range(count)})
    text = said("aggregate", path, "--size", "0..1", "--method", "majority")
    all_names = [f"z{k}" for k in range(count)]
    shown = [row[0] for row in (block(text, "Sets") or block(text, "A sample of the sets (5 of 25"))[1:]]
    assert shown == (all_names if count < 25 else ["z2", "z7", "z12", "z17", "z22"])
    shown = [
        row[0] for row in block(said("aggregate", path, "--size", "0..1", "--method", "majority", "--all"), "inst")
    ]
    assert shown == ["instance", *all_names]


def test_voters_with_too_few_ballots_are_counted_only(tmp_path):
    cast = {(f"v{k}", "z"): "a" for k in range(31)} | {("v3", "y"): "a"}
    text = said(
        "aggregate", written(tmp_path / "b.csv", cast), "--size", "1", "--method", "em", "--alternatives", "a|b"
    )
    assert "\nNo voter is suspicious; 31 cast too few ballots to say.\n" in text


@pytest.mark.parametrize("count", [10, 11])
def test_ten_suspicious_voters_are_shown(count, tmp_path):
    """Good voters, and some who tick everything."""
    cast = {(f"v{v}", f"z{k}"): ("a", "b")[k % 2] for k in range(20) for v in range(5)}
    cast |= {(f"w{v}", f"z{k}"): "a|b" for k in range(20) for v in range(count)}
    path = written(tmp_path / "b.csv", cast)
    text = said("aggregate", path, "--size", "1", "--method", "em")
    title, _, *rows = block(text, f"{count} of {count + 5} voters are suspicious")
    assert title == [f"{count} of {count + 5} voters are suspicious{' (10 shown)' if count > 10 else ''}."]
    assert [row[0] for row in rows] == [f"w{v}" for v in range(10)]
    text = said("aggregate", path, "--size", "1", "--method", "em", "--all")
    assert [row[0] for row in block(text, f"{count} of")[2 : count + 2]] == [f"w{v}" for v in range(count)]


@pytest.mark.parametrize("doubtful", [9, 10, 11])
def test_ten_doubtful_instances_are_shown(doubtful, tmp_path, monkeypatch):
    path = written(tmp_path / "b.csv", {(f"v{v}", f"z{k}"): "a" for k in range(20) for v in range(6)})
    doubts = [Doubt(f"z{k}", 0.5, ("a",), (), 0.4, 6, None if k == 1 else k + 2) for k in range(doubtful)]
    asked = []

    def review(_self, threshold, *, limit=None):
        asked.append((threshold, limit))
        return doubts[:limit]

    monkeypatch.setattr(EM, "confidence_", np.array([0.5] * doubtful + [0.99] * (20 - doubtful)))
    monkeypatch.setattr(EM, "review", review)
    text = said("aggregate", path, "--size", "0..1", "--method", "em", "--alternatives", "a|b")
    assert asked == [(0.95, 10)]
    assert block(text, "most doubtful")[1:] == [
        [f"z{k}", "a", "(none)", "50 %", "many" if k == 1 else f"about {k + 2}"] for k in range(min(doubtful, 10))
    ]
    assert f"{20 - doubtful} with a confidence of 95 % or more, {doubtful} doubtful.\n" in text


@pytest.mark.parametrize(("count", "caption"), [(19, ""), (20, ""), (21, "and 1 more; --json gives all")])
def test_twenty_alternatives_are_shown(count, caption, tmp_path):
    cast = {(f"v{k}", "z"): f"a{k}" for k in range(count)} | {(f"w{k}", "z"): "a5" for k in range(2)}
    shown = table(said("inspect", written(tmp_path / "b.csv", cast)), "Alternatives")
    rest = [f"a{k}" for k in sorted(range(count), key=str) if k != 5]
    assert [row[0] for row in shown.rows] == ["a5", *rest][:20]
    assert shown.rows[0][1] == percent(3 / (count + 2))
    assert shown.caption == caption


def test_good_voters_are_not_looked_at(tmp_path):
    cast = {(f"v{v}", f"z{k}"): ("a", "b")[k % 2] for k in range(60) for v in range(5)}
    text = said("aggregate", written(tmp_path / "b.csv", cast), "--size", "1", "--method", "em")
    assert text.startswith("Found 60 sets of size 1, all with a confidence of 95 % or more.\n")
    assert "\nNo voter is suspicious.\n" in text
    assert "most doubtful" not in text


@pytest.mark.parametrize(("count", "listed"), [(5, ""), (6, " and 1 more")])
def test_ties_are_named(count, listed, tmp_path):
    cast = {("v", f"z{k}"): "a|b" for k in range(count)} | {("v", "one"): "a", ("v", "other"): "b"}
    text = said("aggregate", written(tmp_path / "b.csv", cast), "--size", "1", "--method", "em", "--all")
    names = ", ".join(repr(f"z{k}") for k in range(5))
    assert f"\nWarning: {count} ties, decided by the order of the alternatives: {names}{listed}.\n" in text
    text = said("aggregate", tmp_path / "b.csv", "--size", "1", "--method", "em")
    assert f"\nWarning: {count} ties, decided by the order of the alternatives: 'z0' and {count - 1} more.\n" in text
    assert told("aggregate", tmp_path / "b.csv", "--size", "1", "--method", "em")["ties"] == [
        f"z{k}" for k in range(count)
    ]


# Packed folders


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """25 instances in several blocks."""
    folder = tmp_path_factory.mktemp("packed")
    drawn = simulate(instances=25, voters=6, alternatives=4, bounds=(1, 2), coverage=0.8, spammers=0.4, seed=7)
    write_ballots(drawn.ballots, folder / "ballots.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BALLOTS_PER_BLOCK", 40)
        said("pack", folder / "ballots.csv", "-o", folder / "packed")
    return folder


@pytest.fixture(scope="module")
def sets(crowd):
    """Instance, set and confidence, most doubtful first."""
    said("aggregate", crowd / "packed", "--size", "1..2", "--method", "em", "--out", crowd / "out")
    with (crowd / "out" / "truth.csv").open() as lines:
        rows = [
            (float(row["confidence"]), row["instance"], row["alternatives"].split("|")) for row in csv.DictReader(lines)
        ]
    return sorted(rows)


def test_sets_of_a_packed_folder(crowd, sets):
    text = said(
        "aggregate", crowd / "packed", "--size", "1..2", "--method", "em", "--out", crowd / "again", "--timings"
    )
    packed, fitted = open_packed(crowd / "packed"), EM((1, 2)).fit(open_packed(crowd / "packed"))
    assert len(packed.blocks) > 2
    doubtful = sum(sure < 0.95 for sure, _, _ in sets)
    assert 10 < doubtful < 25
    assert text.startswith(
        f"Found 25 sets of size 1..2: {25 - doubtful} with a confidence of 95 % or more, {doubtful} doubtful.\n"
        f"{crowd / 'packed'} (packed): {packed.in_words()}.\nMethod em.\n"
    )
    title, heads, *rows = block(text, "Least confident sets")
    assert title == [f"Least confident sets (10; {doubtful} have a confidence below 95 %)"]
    assert heads == ["instance", "set", "confidence"]
    assert rows == [[name, ", ".join(names), percent(sure)] for sure, name, names in sets[:10]]
    flagged = [each for each in fitted.reliability() if any("too few" not in flag for flag in each.flags)]
    assert f"\n{len(flagged)} of 6 voters {'is' if len(flagged) == 1 else 'are'} suspicious" in text
    assert f"\nWrote truth.csv, voters.csv, alternatives.csv to {crowd / 'again'}.\nSeconds: fit " in text
    assert text.endswith(f"\n  epivote explain {crowd / 'packed'} {sets[0][1]} --size 1..2 --method em\n")


def test_a_packed_folder_as_json(crowd, sets):
    found = told("aggregate", crowd / "packed", "--size", "1..2", "--method", "em")
    cast = {key: set(ticks) for key, ticks in read_ballots(crowd / "ballots.csv").items()}
    assert found["sets_at_least_this_sure"] == {
        str(step): sum(sure >= step for sure, _, _ in sets) for step in (0.5, 0.8, 0.95, 0.99)
    }
    assert found["most_doubtful"] == [
        {"instance": name, "alternatives": names, "confidence": sure} for sure, name, names in sets[:10]
    ]
    assert (found["instances"], found["ballots"], found["approvals"]) == (25, len(cast), sum(map(len, cast.values())))
    by_voter = Counter(voter for voter, _ in cast)
    assert {row["voter"]: row["ballots"] for row in found["voters"]} == by_voter
    assert [row["alternative"] for row in found["alternatives"]] == ["a1", "a2", "a3", "a4"]
    assert (found["files"], found["seconds"], found["notes"], found["reasons"]) == ([], None, [], [])
    assert (found["format"], found["method"], found["size"], found["status"]) == ("packed", "em", "1..2", "converged")
    fitted = EM((1, 2)).fit(open_packed(crowd / "packed"))
    assert (found["iterations"], found["log_likelihood"]) == (fitted.n_iter_, fitted.log_likelihood_)
    assert found["blocks"] == len(open_packed(crowd / "packed").blocks)
    kept = told("aggregate", crowd / "packed", "--size", "1..2", "--out", crowd / "third", "--timings")
    assert kept["files"] == [str(crowd / "third" / name) for name in ("truth.csv", "voters.csv", "alternatives.csv")]
    assert list(kept["seconds"]) == ["fit", "write"]


def test_rules_that_count_say_nothing_about_confidence(crowd, tmp_path):
    options = ("aggregate", crowd / "packed", "--size", "1..2", "--method", "modal")
    text = said(*options)
    assert "onfidence" not in text
    assert text.endswith(
        "\nNext, write all sets and voters as CSV:\n"
        f"  epivote aggregate {crowd / 'packed'} --size 1..2 --method modal --out result\n"
    )
    found = told(*options)
    assert (found["sets_at_least_this_sure"], found["most_doubtful"], found["log_likelihood"]) == (None, [], None)
    assert "Seconds" not in text


def test_other_outputs_of_a_packed_folder_are_those_of_its_ballots(crowd, tmp_path):
    options = ("aggregate", crowd / "packed", "--size", "1..2", "--method", "modal")
    page = said(*options, "--report", tmp_path / "r.html")
    assert page.startswith("Found 25 sets of size 1..2.\n")
    assert (tmp_path / "r.html").exists()
    refused = run(*options, "--predictions", tmp_path / "p.json")
    assert "--predictions needs a Label Studio JSON file" in refused.stderr
    stream = run(
        "aggregate",
        "-",
        "--size",
        "1",
        "--predictions",
        tmp_path / "p.json",
        input="voter,instance,alternatives\na,q,x\n",
    )
    assert "give a file instead of standard input" in stream.stderr


@pytest.mark.parametrize("sure", [0.95, np.nextafter(0.95, 0), 0.5, np.nextafter(0.5, 0), 0.8, 0.99])
def test_steps_of_confidence_begin_at_their_number(sure):
    """Two blocks go by, each with one set of this confidence and one that is certain."""
    estimate = EM(1).fit(Ballots.from_mapping({("v", "y"): {"a"}, ("v", "z"): {"b"}})).estimate_
    estimate.__dict__["posterior"] = type("P", (), {"set_probabilities": np.array([sure, 1.0])})
    seen = show_packed.Seen()
    for _ in range(2):
        seen.watch(estimate)
    assert seen.sets == 4
    assert seen.above == {step: 2 + 2 * (sure >= step) for step in (0.5, 0.8, 0.95, 0.99)}
    assert [row[:2] for row in seen.doubtful] == [(sure, "y")] * 2 + [(1.0, "z")] * 2


def test_a_scheduler_that_cannot_be(crowd, monkeypatch):
    pytest.importorskip("distributed")
    options = ("aggregate", crowd / "packed", "--size", "1", "--scheduler")
    result = run(*options, "nonsense://x")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "cannot connect to a Dask scheduler at 'nonsense://x'" in result.stderr
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    result = run(*options, "tcp://x:1")
    assert result.stderr == "epivote: --scheduler needs Dask; install it with: pip install 'epivote[cluster]'\n"


@pytest.mark.parametrize(
    ("approvals", "reason", "noted"), [(36, "no loops here", True), (37, "no loops here", False), (36, None, False)]
)
def test_large_fits_without_loops_are_told_why_and_how_to_be_faster(approvals, reason, noted, tmp_path, monkeypatch):
    """The limit is set to what a small file holds, or one more."""
    path = written(tmp_path / "b.csv", {(f"v{v}", f"z{k}"): "a" for k in range(12) for v in range(3)})
    monkeypatch.setattr(fitting, "LARGE", approvals)
    monkeypatch.setattr(fitting, "why_no_loops", lambda: reason)
    notes = told("aggregate", path, "--size", "0..1", "--method", "majority")["notes"]
    assert any(note.startswith("no loops here, so large fits take longer; ") for note in notes) == noted
