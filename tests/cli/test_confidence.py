"""What the command says about confidence: with gold, without, and which instances to answer."""

import csv
import json
from dataclasses import asdict

import numpy as np
import pytest
from typer.testing import CliRunner

from epivote import (
    EM,
    Auto,
    Calibrated,
    Majority,
    read_ballots,
    read_truths,
    reproducibility,
    simulate,
    write_ballots,
    write_truths,
)
from epivote.cli.main import app
from said import percent, said


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("together")
    crowd = simulate(
        instances=90,
        voters=12,
        alternatives=5,
        bounds=(1, 2),
        priors=0.3,
        ballots_per_instance=7,
        shared_mistakes=0.6,
        seed=4,
    )
    write_ballots(crowd.ballots, place / "ballots.csv")
    names = list(crowd.gold)[::4]
    write_truths(crowd.gold, place / "all.csv")
    rows = [(name, "|".join(sorted(crowd.gold[name]))) for name in names]
    with (place / "gold.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("instance", "alternatives"), *rows])
    return place


def test_the_default_is_auto(folder):
    told = json.loads(run("aggregate", folder / "ballots.csv", "--size", "1..2", "--json").output)
    found = Auto("1..2").fit(read_ballots(folder / "ballots.csv"))
    assert {row["instance"]: frozenset(row["alternatives"]) for row in told["truth"]} == dict(found.truth_)
    assert [row["confidence"] for row in told["truth"]] == found.confidence_.tolist()
    assert [row["model_confidence"] for row in told["truth"]] == found.model_confidence_.tolist()
    assert (told["method"], told["reasons"]) == ("em", list(found.choices_))
    assert told["confidence"]["source"] == "halves"
    assert told["confidence"]["calibration"]["scale"] == found.reproducibility_.scale
    assert told["confidence"]["reproducibility"]["agreement"] == found.reproducibility_.agreement
    assert told["confidence"]["reproducibility"]["is_too_sure"] is True
    assert told["confidence"]["gold_effect"] is None


def test_without_gold_the_first_screen_says_what_confidence_means(folder):
    first = run("aggregate", folder / "ballots.csv", "--size", "1..2").output.splitlines()[:3]
    assert "should be exactly right; confidence was lowered for shared mistakes." in " ".join(first)
    said = " ".join(run("aggregate", folder / "ballots.csv", "--size", "1..2", "--all").output.split())
    assert "Confidence was lowered, because voters make the same mistakes more often than chance explains" in said
    assert "only gold sets can make it right (epivote gold picks some to answer)" in said
    assert "Two halves of this crowd agree on" in said
    quick = " ".join(run("aggregate", folder / "ballots.csv", "--size", "1..2", "--quick", "--all").output.split())
    assert "Confidence is the probability under the model, and too high if voters make the same mistakes." in quick
    assert "Two halves" not in quick


@pytest.mark.parametrize("method", ["auto", "em", "amle", "majority"])
def test_gold_calibrates_every_method(folder, method):
    arguments = ("aggregate", folder / "ballots.csv", "--size", "1..2", "--gold", folder / "gold.csv", "--quick")
    told = json.loads(run(*arguments, "--method", method, "--json").output)["confidence"]
    assert told["source"] == "gold"
    assert told["meaning"] == "Confidence is calibrated with 23 gold sets."
    effect = told["gold_effect"]
    assert effect["n_instances"] == 23
    said = " ".join(run(*arguments, "--method", method, "--all").output.split())
    after = effect["after"]
    assert "On 23 gold sets left out in turn, calibration changed the share of sets exactly right from" in said
    assert (
        f"to {percent(after['exact']['mean'])} (95 % CI {percent(after['exact']['low'])} to "
        f"{percent(after['exact']['high'])})" in said
    )
    if method == "majority":
        gold = read_truths(folder / "gold.csv")
        by_hand = Calibrated(Majority("1..2")).fit(read_ballots(folder / "ballots.csv"), gold=gold)
        right = np.mean(by_hand.gold_trial_.right_after)
        assert after["exact"]["mean"] == pytest.approx(right)


def test_gold_that_only_scores_calibrates_nothing(folder):
    told = json.loads(
        run(
            "aggregate", folder / "ballots.csv", "--size", "1..2", "--gold", folder / "all.csv", "--quick", "--json"
        ).output
    )
    assert told["confidence"]["source"] == "model"
    assert told["accuracy"] is not None


def test_instances_to_answer_are_written_and_read_back(folder, tmp_path):
    target = tmp_path / "to-answer.csv"
    arguments = ("gold", folder / "ballots.csv", "--size", "1..2", "--count", "8", "-o", target)
    done = run(*arguments)
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "Wrote 8 instances to" in said
    assert f"epivote aggregate {folder / 'ballots.csv'} --size 1..2 --gold {target}" in said.replace("\n", "")
    rows = list(csv.reader(target.read_text().splitlines()))
    assert rows[0] == ["instance", "alternatives"]
    assert [row[1] for row in rows[1:]] == ["?"] * 8
    plain = Auto("1..2", quick=True).fit(read_ballots(folder / "ballots.csv"))
    assert [row[0] for row in rows[1:]] == plain.pick_gold(8)
    refused = run(*arguments)
    assert refused.exit_code != 0
    assert "already exists and may hold gold sets" in " ".join(refused.output.split())
    empty = run("aggregate", folder / "ballots.csv", "--size", "1..2", "--gold", target)
    assert empty.exit_code != 0
    assert "is filled in; replace ?" in " ".join(empty.output.split())
    right = read_truths(folder / "all.csv")
    filled = [(name, "|".join(sorted(right[name]))) for name, _ in rows[1:6]]
    with target.open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *filled, *rows[6:]])
    told = json.loads(
        run("aggregate", folder / "ballots.csv", "--size", "1..2", "--gold", target, "--quick", "--json").output
    )
    assert told["gold"] == sorted(name for name, _ in filled)
    assert any("3 sets in" in note and "are not filled in" in note for note in told["notes"])
    other = tmp_path / "other.csv"
    told = json.loads(run(*arguments[:-1], other, "--seed", "1", "--json").output)
    assert told == {"file": str(other), "instances": plain.pick_gold(8, seed=1)}


def test_rules_that_count_choose_no_instances(folder, tmp_path):
    target = tmp_path / "to-answer.csv"
    done = run("gold", folder / "ballots.csv", "--size", "1", "--method", "majority", "-o", target)
    assert done.exit_code != 0
    assert "method majority states no confidence to choose by" in " ".join(done.output.split())
    assert not target.exists()


def test_inspect_says_whether_two_halves_agree_when_it_knows_the_size(tmp_path):
    crowd = simulate(instances=60, voters=10, alternatives=4, bounds=(1, 2), priors=0.3, shared_mistakes=0.6, seed=3)
    path = tmp_path / "b.csv"
    write_ballots(crowd.ballots, path)
    expected = reproducibility(EM("1..2"), read_ballots(path))
    text = " ".join(said("inspect", path, "--size", "1..2").split())
    assert f"With size bounds 1..2: {expected}" in text
    assert json.loads(said("inspect", path, "--size", "1..2", "--json"))["reproducibility"] == asdict(expected)
    assert "halves" not in said("inspect", path)
    assert json.loads(said("inspect", path, "--json"))["reproducibility"] is None
    few = crowd.ballots.select(instances=crowd.ballots.instances[:5])
    write_ballots(few, path)
    assert "too few ballots to check whether two halves" in " ".join(said("inspect", path, "--size", "1..2").split())


def test_gold_sets_that_are_not_filled_in_or_have_no_ballots_are_counted(tmp_path):
    cast = "".join(f"{voter},q{z},a\n" for voter in "uvw" for z in range(4))
    (tmp_path / "ballots.csv").write_text(f"voter,instance,alternatives\n{cast}u,q9,b\n")
    gold, arguments = tmp_path / "gold.csv", ("aggregate", tmp_path / "ballots.csv", "--size", "1", "--method", "em")
    for still_open, strangers, notes in (
        (
            ["q1", "q2"],
            ["x"],
            [f"2 sets in {gold} are not filled in", "1 instance with a gold set has no ballots: 'x'"],
        ),
        ([], ["x", "y"], ["2 instances with a gold set have no ballots: 'x', 'y'"]),
    ):
        rows = [f"{name},a" for name in ("q0", *strangers)] + [f"{name},?" for name in still_open]
        gold.write_text("instance,alternatives\n" + "".join(f"{row}\n" for row in rows))
        told = json.loads(run(*arguments, "--gold", gold, "--quick", "--json").output)
        assert [note for note in told["notes"] if "filled in" in note or "no ballots" in note] == notes
