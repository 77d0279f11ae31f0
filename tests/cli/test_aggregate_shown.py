"""Every number that `aggregate` shows, worked out anew from the ballots and from what the library finds."""

import csv
import json
from dataclasses import asdict
from math import sqrt
from statistics import fmean

import numpy as np
import pytest

from epivote import EM, Truths, read_ballots, read_truths, simulate, write_ballots, write_truths
from said import percent, run, said, table, tables, told


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ballots and gold sets of 36 instances, more than a table shows."""
    crowd = simulate(
        instances=36,
        voters=9,
        alternatives=4,
        bounds=(1, 2),
        hit_rates=0.75,
        false_alarm_rates=0.13,
        coverage=0.7,
        spammers=0.35,
        seed=5,
    )
    folder = tmp_path_factory.mktemp("crowd")
    write_ballots(crowd.ballots, folder / "ballots.csv")
    write_truths(crowd.gold, folder / "gold.csv")
    few = (folder / "gold.csv").read_text().splitlines(keepends=True)[:8]
    (folder / "few.csv").write_text("".join(few))
    return folder


@pytest.fixture(scope="module")
def file(folder):
    return folder / "ballots.csv"


@pytest.fixture(scope="module")
def cast(file):
    with file.open() as rows:
        return {
            (row["voter"], row["instance"]): set(filter(None, row["alternatives"].split("|")))
            for row in csv.DictReader(rows)
        }


@pytest.fixture(scope="module")
def gold(folder):
    return read_truths(folder / "gold.csv")


@pytest.fixture(scope="module")
def fitted(file):
    return EM((1, 2)).fit(read_ballots(file))


@pytest.fixture(scope="module")
def text(folder, file):
    return said("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "gold.csv")


def wilson(kept):
    n, share, z = len(kept), fmean(kept), 1.959963984540054
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


# At a terminal


def test_the_first_lines_say_what_was_read_and_how(text, file, cast, fitted):
    empty = sum(not ticks for ticks in cast.values())
    lines = text.splitlines()
    assert lines[:7] == [
        f"{file}: 9 voters, 36 instances, 4 alternatives, {len(cast)} ballots ({empty} empty), "
        f"{sum(map(len, cast.values()))} approvals, {100 * len(cast) / 9 / 36:.0f}% answered.",
        f"Read as ballots; {empty} ballots without a tick count as answers; who has no ballot on an instance was not "
        "asked.",
        "Alternatives are those that appear in the file; if more were offered, --alternatives names all.",
        f"Method em, sets of 1..2: converged after {fitted.n_iter_} iterations, log-likelihood "
        f"{fitted.log_likelihood_:.3f}.",
        "Confidence is the probability under the model, and too high if voters make the same mistakes.",
        f"Note: counted {empty} rows without a value as empty (--blank missing leaves them out).",
        "",
    ]


def test_sets_with_their_confidence(text, fitted):
    shown = table(text, "Sets")
    assert shown.heads == ["instance", "right answers", "confidence"]
    assert shown.rows == [
        [name, ", ".join(fitted.truth_.listed(name)), percent(fitted.confidence_[z])]
        for z, name in enumerate(fitted.truth_.instances[:30])
    ]
    assert shown.caption == "and 6 more; --json gives all"


def test_voters_worth_a_look_and_the_best(text, cast, fitted):
    reports = fitted.reliability()
    flagged = sorted((each for each in reports if each.flags), key=lambda each: -each.ballots)
    assert len(flagged) > 1
    shown = table(text, "Voters worth a look")
    assert shown.heads == ["voter", "hits", "false alarms", "ballots", "why"]
    assert shown.rows == [
        [
            each.voter,
            percent(each.hit_rate),
            percent(each.false_alarm_rate),
            str(sum(voter == each.voter for voter, _ in cast)),
            "; ".join(each.flags),
        ]
        for each in flagged
    ]
    assert shown.caption == ""
    best = sorted(reports, key=lambda each: -each.weight_interval[0])[:3]
    named = ", ".join(
        f"{each.voter} ({100 * each.hit_rate:.0f}% hits, {100 * each.false_alarm_rate:.0f}% false alarms)"
        for each in best
    )
    assert f"\n{len(flagged)} of 9 voters are worth a look. Most informative: {named}.\n" in text


def test_items_to_review(text, fitted):
    shown = table(text, "Items to review, most doubtful first")
    assert shown.heads == ["instance", "found", "or perhaps", "confidence", "more ballots"]
    doubts = fitted.review(0.95, limit=10)
    assert [row[:4] for row in shown.rows] == [
        [each.instance, ", ".join(each.answer), ", ".join(each.rival), percent(each.confidence)] for each in doubts
    ]
    assert [row[4] for row in shown.rows] == [
        "many" if each.more_ballots is None else f"about {each.more_ballots}" for each in doubts
    ]
    doubtful = sum(sure < 0.95 for sure in fitted.confidence_)
    assert 10 < doubtful < 36
    assert shown.caption == f"and {doubtful - 10} more; --json gives all"
    assert f"\n{doubtful} of 36 sets have a confidence below 95%.\n" in text


def expected_bins(confidence, kept):
    for k in range(10):
        here = [(sure, right) for sure, right in zip(confidence, kept, strict=True) if min(int(sure * 10), 9) == k]
        if here:
            low, high = wilson([right for _, right in here])
            yield [
                f"{10 * k}% to {10 * k + 10}%",
                str(len(here)),
                percent(fmean(sure for sure, _ in here)),
                percent(fmean(right for _, right in here)),
                f"{100 * low:.0f}% to {100 * high:.0f}%",
            ]


def test_gold_that_is_only_compared_with(text, gold, fitted):
    kept = [fitted.truth_[name] == gold[name] for name in fitted.truth_]
    sentence = f"Gold sets are known and were only compared with: {sum(kept)} of 36 sets are exactly right."
    scores = table(text, sentence)
    assert scores.heads == ["accuracy", "mean", "95 % interval", "meaning"]
    low, high = wilson(kept)
    assert scores.rows[0] == ["0/1", f"{fmean(kept):.3f}", f"{low:.3f} to {high:.3f}", "sets exactly right"]
    hamming = [1 - len(fitted.truth_[name] ^ gold[name]) / 4 for name in gold]
    assert scores.rows[1][:2] == ["Hamming", f"{fmean(hamming):.3f}"]
    assert [row[0] for row in scores.rows[2:]] == ["harmonic", "Jaccard", "micro F1", "macro F1"]
    promises = table(text, "Was the stated confidence right?")
    assert promises.heads == ["stated confidence", "sets", "mean stated", "were right", "95 % interval"]
    assert promises.rows == list(expected_bins(fitted.confidence_, kept))


def test_gold_that_taught(folder, file, gold):
    some = dict(list(read_truths(folder / "few.csv").items())[:2])
    two = folder / "two.csv"
    write_truths(Truths.from_mapping(some), two)
    learnt = EM((1, 2)).fit(read_ballots(file), gold=some)
    found, sure = learnt.gold_check()
    kept = [found[name] == some[name] for name in found]
    text = said("aggregate", file, "--size", "1..2", "--method", "em", "--gold", two)
    assert (
        f"\n2 instances had gold sets, kept as given. From the ballots alone {sum(kept)} of them would be exactly right "
        "(their sets taught the rates, so this flatters a little):\n"
    ) in text
    assert table(text, "Was the stated confidence right?").rows == list(expected_bins(sure, kept))
    assert len(tables(text)) == 4
    text = said("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "few.csv")
    assert "Was the stated confidence right?" not in text, "gold left out in turn says it better"
    assert [row[2] for row in table(text, "Sets").rows[:7]] == ["100.0%"] * 7


def test_rules_that_count_show_sets_only(file):
    text = said("aggregate", file, "--size", "1..2", "--method", "modal")
    assert [each.title for each in tables(text)] == ["Sets"]
    assert all(len(row) == 2 for row in table(text, "Sets").rows), "there is no confidence to show"
    assert "\nMethod modal, sets of 1..2.\n" in text
    assert "informative" not in text


# As JSON and as files


def test_json_holds_everything(folder, file, gold, fitted):
    found = told("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "gold.csv")
    truth, names, voters = fitted.truth_, fitted.estimate_.ballots.alternatives, fitted.estimate_.ballots.voters
    confidence = fitted.confidence_.tolist()
    assert found["truth"] == [
        {"instance": name, "alternatives": truth.listed(name), "confidence": confidence[z]}
        for z, name in enumerate(truth)
    ]
    known = fitted.parameters_
    assert [row["voter"] for row in found["voters"]] == list(voters)
    assert [row["hit_rate"] for row in found["voters"]] == known.hit_rates.tolist()
    assert [row["false_alarm_rate"] for row in found["voters"]] == known.false_alarm_rates.tolist()
    assert found["alternatives"] == [
        {"alternative": name, "prior": prior} for name, prior in zip(names, known.priors.tolist(), strict=True)
    ]
    assert len(found["inclusion"]) == 36 * 4
    for name, sure in zip(truth, confidence, strict=True):
        rows = [row for row in found["inclusion"] if row["instance"] == name]
        assert [row["alternative"] for row in rows] == list(names)
        assert min(row["probability"] for row in rows if row["alternative"] in truth[name]) >= sure - 1e-9
    assert found["reliability"] == json.loads(json.dumps([asdict(each) for each in fitted.reliability()]))
    assert found["review"] == json.loads(json.dumps([asdict(each) for each in fitted.review(0.95)]))
    kept = [truth[name] == gold[name] for name in truth]
    assert found["accuracy"]["n_instances"] == 36
    assert found["accuracy"]["zero_one"]["mean"] == fmean(kept)
    assert [each["count"] for each in found["calibration"]] == [int(row[1]) for row in expected_bins(confidence, kept)]
    assert (found["log_likelihood"], found["objective"]) == (fitted.log_likelihood_, fitted.log_likelihoods_[-1])
    plain = ("format", "method", "reasons", "odd", "notes", "size", "status", "iterations", "ties", "own_sizes")
    assert [found[name] for name in plain] == [
        "ballots",
        "em",
        [],
        [],
        [],
        "1..2",
        "converged",
        fitted.n_iter_,
        [],
        {},
    ]
    assert (found["gold"], found["seconds"]) == ([], None)


def test_json_of_gold_that_taught(folder, file):
    found = told("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "few.csv")
    assert found["accuracy"] is None
    assert found["gold"] == sorted(read_truths(folder / "few.csv"))
    assert found["confidence"]["gold_effect"]["n_instances"] == 7
    rule = told("aggregate", file, "--size", "1..2", "--method", "majority", "--gold", folder / "few.csv")
    assert (rule["log_likelihood"], rule["calibration"], rule["iterations"]) == (None, [], 0)


def test_files_hold_what_json_holds(file, tmp_path):
    text = said(
        "aggregate",
        file,
        "--size",
        "1..2",
        "--method",
        "em",
        "--out",
        tmp_path / "out",
        "--report",
        tmp_path / "r.html",
    )
    found = told("aggregate", file, "--size", "1..2", "--method", "em")
    assert text.endswith(
        f"\nWrote r.html to {tmp_path}.\nWrote truth.csv, voters.csv, alternatives.csv, inclusion.csv to {tmp_path / 'out'}.\n"
    )
    assert "Nothing was written" not in text

    def rows(name):
        with (tmp_path / "out" / name).open() as lines:
            return list(csv.DictReader(lines))

    assert [
        {**row, "alternatives": row["alternatives"].split("|"), "confidence": float(row["confidence"])}
        for row in rows("truth.csv")
    ] == found["truth"]
    assert [float(row["probability"]) for row in rows("inclusion.csv")] == [
        row["probability"] for row in found["inclusion"]
    ]
    assert [float(row["weight"]) for row in rows("voters.csv")] == [row["weight"] for row in found["voters"]]
    assert [float(row["prior"]) for row in rows("alternatives.csv")] == [row["prior"] for row in found["alternatives"]]
    printed = said("aggregate", file, "--size", "1..2", "--method", "em", "--out", "-")
    assert printed == (tmp_path / "out" / "truth.csv").read_text()


def test_files_of_this_folder(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = said("aggregate", file, "--size", "1..2", "--method", "modal", "--report", "r.html")
    assert text.endswith("\nWrote r.html to this folder.\n")
    assert "Nothing was written; add --out DIR" in said("aggregate", file, "--size", "1..2", "--method", "modal")


def test_json_and_files_at_once(file, tmp_path):
    found = told("aggregate", file, "--size", "1..2", "--method", "modal", "--out", tmp_path / "out", "--timings")
    assert (tmp_path / "out" / "truth.csv").exists()
    assert list(found["seconds"]) == ["read", "encode", "fit", "write"]
    both = run("aggregate", file, "--size", "1..2", "--json", "--out", "-")
    assert (both.exit_code, both.stdout) == (1, "")
    assert both.stderr == "epivote: --json and --out - both want standard output; choose one\n"


def test_without_a_method_one_is_chosen_and_explained(file, fitted):
    found = told("aggregate", file, "--size", "1..2")
    assert found["method"] == "em"
    assert found["reasons"][0].startswith("voters voted on 73% of the instances")
    key = "confidence" if found["confidence"]["source"] == "model" else "model_confidence"
    assert [row[key] for row in found["truth"]] == fitted.confidence_.tolist()
    assert f"\nMethod em ({'; '.join(found['reasons'])}), sets of 1..2: conv" in said(
        "aggregate", file, "--size", "1..2"
    )


def test_no_ballot_without_a_tick(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("voter,instance,alternatives\nann,q1,a\nbo,q1,a|b\n")
    assert "Read as ballots; no ballot is without a tick; who" in said("aggregate", path, "--size", "1")
    path.write_text("voter,instance,alternatives\nann,q1,a\nbo,q1,\n")
    assert "Read as ballots; 1 ballot without a tick counts as an answer; who" in said("aggregate", path, "--size", "1")


def test_confidence_of_exactly_the_threshold_is_enough(file, monkeypatch):
    below = np.nextafter(0.95, 0)
    for edge, doubtful in ((0.95, 0), (below, 1)):
        monkeypatch.setattr(EM, "confidence_", np.array([edge] + [0.99] * 35))
        monkeypatch.setattr(EM, "review", lambda self, threshold, *, limit: [])
        text = said("aggregate", file, "--size", "1..2", "--method", "em")
        assert ("\nEvery set has a confidence of 95% or more.\n" in text) == (doubtful == 0)
        assert ("\n1 of 36 sets has a confidence below 95%.\n" in text) == (doubtful == 1)


def test_every_oddity_that_inspect_finds_is_shown_in_a_line(tmp_path):
    path = tmp_path / "odd.csv"
    rows = "".join(f"v{n},q{n % 3},{'Owl' if n % 2 else 'owl'}|caf\u00e9\n" for n in range(9))
    path.write_text(f"voter,instance,alternatives\n{rows}w,q0,cafe\u0301|NA\n", encoding="utf-8")
    odd = told("inspect", path)["odd"]
    assert any("'Owl', 'owl' differ only" in each for each in odd)
    assert any("caf" in each and "differ only" in each for each in odd)
    assert any("--missing 'NA'" in each for each in odd)
    text = " ".join(said("aggregate", path, "--size", "1..2").split())
    for each in odd:
        assert f"Odd: {each}." in text
    assert told("aggregate", path, "--size", "1..2")["odd"] == odd
    path.write_text('voter,instance,alternatives\nann,q1,"Paris, France"\nbo,q1,owl\n')
    assert "not split; --separator ',' splits them" in " ".join(said("aggregate", path, "--size", "1..2").split())
