"""Every number that `aggregate` shows, worked out anew from the ballots and from what the library finds."""

import csv
import json
from dataclasses import asdict
from math import sqrt
from statistics import fmean

import numpy as np
import pytest

from epivote import EM, Truths, read_ballots, read_truths, simulate, write_ballots, write_truths
from said import block, percent, run, said, table, tables, told


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


@pytest.fixture(scope="module")
def everything(folder, file):
    return said("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "gold.csv", "--all")


def wilson(kept):
    n, share, z = len(kept), fmean(kept), 1.959963984540054
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


# At a terminal


def test_the_first_lines_say_what_was_found_and_how_sure(text, cast, fitted, gold):
    empty = sum(not ticks for ticks in cast.values())
    sure, right = sum(fitted.confidence_ >= 0.95), [fitted.truth_[name] == gold[name] for name in gold]
    low, high = wilson(right)
    lines = text.splitlines()
    assert lines[:6] == [
        f"Found 36 sets of size 1..2: {sure} with a confidence of 95 % or more, {36 - sure} doubtful.",
        f"Scored against gold (not used for fitting): {sum(right)} of 36 sets are exactly right, "
        f"{fmean(right):.2f} (95 % CI {low:.2f}-{high:.2f}).",
        f"About {sum(fitted.confidence_):.0f} should be exactly right, if voters err independently.",
        f"ballots.csv: 9 voters, 36 instances, 4 alternatives, {len(cast)} ballots ({empty} empty).",
        "Method em.",
        "",
    ]


def test_a_sample_of_sets_from_the_most_to_the_least_confident(text, fitted):
    title, *rows = block(text, "A sample of the sets")
    assert title == ["A sample of the sets (5 of 36, most to least confident; --all shows the rest)"]
    order = sorted(range(36), key=lambda z: -fitted.confidence_[z])
    expected = []
    for place in (3, 10, 18, 25, 32):  # the middles of five equal parts
        name = fitted.truth_.instances[order[place]]
        expected.append([name, ", ".join(fitted.truth_.listed(name)), percent(fitted.confidence_[order[place]])])
    assert rows == expected


def test_all_sets_on_request_in_the_order_of_the_file(everything, fitted):
    heads, *rows = block(everything, "instance")
    assert heads == ["instance", "set", "confidence"]
    assert rows == [
        [name, ", ".join(fitted.truth_.listed(name)), percent(fitted.confidence_[z])]
        for z, name in enumerate(fitted.truth_.instances)
    ]


def test_suspicious_voters_apart_from_those_with_few_ballots(text, everything, cast, fitted):
    reports = fitted.reliability()
    flagged = sorted((each for each in reports if each.flags), key=lambda each: -each.ballots)
    suspicious = [each for each in flagged if any("too few" not in flag for flag in each.flags)]
    assert len(suspicious) > 1
    few = len(flagged) - len(suspicious)
    also = f"; {few} cast too few ballots to say" if few else ""
    for shown in (text, everything):
        title, heads, *rows = block(shown, f"{len(suspicious)} of 9 voters are suspicious")
        assert title == [f"{len(suspicious)} of 9 voters are suspicious{also}."]
        assert heads == ["voter", "hit rate", "false-alarm rate", "ballots", "why"]
        assert rows[: len(suspicious)] == [
            [
                each.voter,
                percent(each.hit_rate),
                percent(each.false_alarm_rate),
                str(sum(voter == each.voter for voter, _ in cast)),
                "; ".join(each.flags),
            ]
            for each in suspicious
        ]
    best = sorted(reports, key=lambda each: -each.weight_interval[0])[:3]
    named = ", ".join(
        f"{each.voter} (hit rate {percent(each.hit_rate)}, false-alarm rate {percent(each.false_alarm_rate)})"
        for each in best
    )
    assert f"\nMost informative: {named}.\n" in everything


def test_the_ten_most_doubtful_instances(text, everything, fitted):
    for shown, limit in ((text, 10), (everything, None)):
        heads, *rows = block(shown, "most doubtful")
        assert heads == ["most doubtful", "set", "or perhaps", "confidence", "more ballots"]
        doubts = fitted.review(0.95, limit=limit)
        assert [(row[0], row[1], row[3], row[4]) for row in rows] == [
            (
                each.instance,
                ", ".join(each.answer),
                percent(each.confidence),
                "many" if each.more_ballots is None else f"about {each.more_ballots}",
            )
            for each in doubts
        ]
        for each, row in zip(doubts, rows, strict=True):
            assert set(named(row[2], each)) == set(each.rival)


def named(words, doubt):
    """The alternatives of the rival set that `with a`, `without b` or `a, not b` stands for."""
    if not set(doubt.answer) & set(doubt.rival):
        return words.split(", ")
    if words.startswith("without "):
        return set(doubt.answer) - set(words.removeprefix("without ").split(", "))
    if words.startswith("with "):
        return set(doubt.answer) | set(words.removeprefix("with ").split(", "))
    more, less = words.split(", not ")
    return set(doubt.answer) - set(less.split(", ")) | set(more.split(", "))


def expected_bins(confidence, kept):
    for k in range(10):
        here = [(sure, right) for sure, right in zip(confidence, kept, strict=True) if min(int(sure * 10), 9) == k]
        if here:
            low, high = wilson([right for _, right in here])
            yield [
                f"{10 * k} to {10 * k + 10} %",
                str(len(here)),
                percent(fmean(sure for sure, _ in here)),
                percent(fmean(right for _, right in here)),
                f"{100 * low:.0f} to {100 * high:.0f} %",
            ]


def test_gold_that_is_only_compared_with(everything, gold, fitted):
    kept = [fitted.truth_[name] == gold[name] for name in fitted.truth_]
    scores, promises = tables(everything)
    assert scores.heads == ["accuracy", "mean", "95 % CI", "meaning"]
    low, high = wilson(kept)
    assert scores.rows[0] == ["0/1", f"{fmean(kept):.3f}", f"{low:.3f}-{high:.3f}", "sets exactly right"]
    hamming = [1 - len(fitted.truth_[name] ^ gold[name]) / 4 for name in gold]
    assert scores.rows[1][:2] == ["Hamming", f"{fmean(hamming):.3f}"]
    assert [row[0] for row in scores.rows[2:]] == ["harmonic", "Jaccard", "micro F1", "macro F1"]
    assert promises.title == "Was the stated confidence right?"
    assert promises.heads == ["stated confidence", "sets", "mean stated", "were right", "95 % CI"]
    assert promises.rows == list(expected_bins(fitted.confidence_, kept))


def test_gold_that_taught(folder, file, gold):
    some = dict(list(read_truths(folder / "few.csv").items())[:2])
    two = folder / "two.csv"
    write_truths(Truths.from_mapping(some), two)
    learnt = EM((1, 2)).fit(read_ballots(file), gold=some)
    found, sure = learnt.gold_check()
    kept = [found[name] == some[name] for name in found]
    text = said("aggregate", file, "--size", "1..2", "--method", "em", "--gold", two, "--all")
    assert (
        f"\n2 instances had gold sets, kept as given. From the ballots alone {sum(kept)} of them would be exactly right; "
        "this is optimistic, because the rates were learnt from these sets.\n"
    ) in text
    assert table(text, "Was the stated confidence right?").rows == list(expected_bins(sure, kept))
    text = said("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "few.csv", "--all")
    assert "Was the stated confidence right?" not in text, "gold left out in turn says it better"
    assert [row[2] for row in block(text, "instance")[1:8]] == ["gold"] * 7


def test_gold_left_out_in_turn_is_one_line(folder, file):
    options = ("aggregate", file, "--size", "1..2", "--method", "em", "--gold", folder / "few.csv")
    after = told(*options)["confidence"]["gold_effect"]["after"]
    right = after["exact"]
    assert (
        f"\nGold sets left out in turn: {right['mean']:.2f} (95 % CI {right['low']:.2f}-{right['high']:.2f}) exactly right, "
        f"stated {after['confidence']:.2f}.\n"
    ) in said(*options)


def test_rules_that_count_show_sets_only(file):
    text = said("aggregate", file, "--size", "1..2", "--method", "modal")
    assert text.startswith("Found 36 sets of size 1..2.\nballots.csv: 9 voters")
    title, *rows = block(text, "A sample")
    assert title == ["A sample of the sets (5 of 36; --all shows the rest)"]
    assert all(len(row) == 2 for row in rows), "there is no confidence to show"
    assert "\nMethod modal.\n" in text
    assert "voters are suspicious" not in text
    assert "doubtful" not in text


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
    assert (
        f"\nWrote r.html to {tmp_path}.\nWrote truth.csv, voters.csv, alternatives.csv, inclusion.csv to "
        f"{tmp_path / 'out'}.\nNext, pick instances to answer yourself, to calibrate the confidence:\n"
        f"  epivote gold {file} --size 1..2 --method em -o to-answer.csv\n"
    ) in text

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
    assert "\nWrote r.html to this folder.\n" in text
    text = said("aggregate", file, "--size", "1..2", "--method", "modal")
    assert text.endswith(
        "\nNext, write all sets, voters and probabilities as CSV:\n"
        f"  epivote aggregate {file} --size 1..2 --method modal --out result\n"
    )


def test_json_and_files_at_once(file, tmp_path):
    found = told("aggregate", file, "--size", "1..2", "--method", "modal", "--out", tmp_path / "out", "--timings")
    assert (tmp_path / "out" / "truth.csv").exists()
    assert list(found["seconds"]) == ["read", "encode", "fit", "write"]
    both = run("aggregate", file, "--size", "1..2", "--json", "--out", "-")
    assert (both.exit_code, both.stdout) == (1, "")
    assert both.stderr == "epivote: --json and --out - both write to standard output; choose one\n"


def test_without_a_method_one_is_chosen_and_explained(file, fitted):
    found = told("aggregate", file, "--size", "1..2")
    assert found["method"] == "em"
    assert found["reasons"][0].startswith("voters voted on 73 % of the instances, ")
    key = "confidence" if found["confidence"]["source"] == "model" else "model_confidence"
    assert [row[key] for row in found["truth"]] == fitted.confidence_.tolist()
    text = said("aggregate", file, "--size", "1..2", "--all")
    assert f"\nMethod em: {'; '.join(found['reasons'])}; converged after {found['iterations']} iterations.\n" in text
    assert "likelihood" not in text, "a constant that means nothing to people is in --json only"
    assert f"\nMethod em: {found['reasons'][0]}" in said("aggregate", file, "--size", "1..2")


def test_how_empty_and_missing_ballots_count(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("voter,instance,alternatives\nann,q1,a\nbo,q1,a|b\n")
    missing = "\nNote: voters without a ballot on an instance count as not asked.\n"
    text = said("aggregate", path, "--size", "1", "--all")
    assert missing in text
    assert "empty ballot" not in text
    path.write_text("voter,instance,alternatives\nann,q1,a\nbo,q1,\n")
    text = said("aggregate", path, "--size", "1", "--all")
    assert f"\nNote: 1 empty ballot speaks against every alternative.{missing}" in text


def test_confidence_of_exactly_the_threshold_is_enough(file, monkeypatch):
    below = np.nextafter(0.95, 0)
    for edge, doubtful in ((0.95, 0), (below, 1)):
        monkeypatch.setattr(EM, "confidence_", np.array([edge] + [0.99] * 35))
        monkeypatch.setattr(EM, "review", lambda self, threshold, *, limit: [])
        text = said("aggregate", file, "--size", "1..2", "--method", "em")
        assert text.startswith("Found 36 sets of size 1..2, all with a confidence of 95 % or more.\n") == (
            doubtful == 0
        )
        assert ("\nmost doubtful" in text) == (doubtful == 1)


def test_what_inspect_finds_is_one_sentence_that_names_it(tmp_path):
    path = tmp_path / "odd.csv"
    rows = "".join(f"v{n},q{n % 3},{'Owl' if n % 2 else 'owl'}|caf\u00e9\n" for n in range(9))
    path.write_text(f"voter,instance,alternatives\n{rows}w,q0,cafe\u0301|NA\n", encoding="utf-8")
    odd = told("inspect", path)["odd"]
    assert any("'Owl', 'owl' differ only" in each for each in odd)
    assert any("caf" in each and "differ only" in each for each in odd)
    assert any("--missing 'NA'" in each for each in odd)
    text = said("aggregate", path, "--size", "1..2")
    assert f"\nepivote inspect shows {len(odd)} remarks on this file: {odd[0]}; {odd[1]}" in text
    text = " ".join(said("aggregate", path, "--size", "1..2", "--all").split())
    for each in odd:
        assert f"Odd: {each}." in text
    assert told("aggregate", path, "--size", "1..2")["odd"] == odd
    path.write_text('voter,instance,alternatives\nann,q1,"Paris, France"\nbo,q1,owl\n')
    found = " ".join(said("aggregate", path, "--size", "1..2").split())
    assert "epivote inspect shows 1 remark on this file: " in found
    assert "not split; --separator ',' splits them" in found
