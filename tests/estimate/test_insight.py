"""How sure, and why: explanations, reliability, review, gold, histories."""

import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import (
    AMLE,
    EM,
    Ballots,
    BoundsError,
    CrowdWarning,
    InputError,
    Majority,
    MaximumLikelihood,
    Record,
    calibration,
    log_likelihood,
    simulate,
    suggest_method,
)
from epivote.estimate.workload import InMemoryWorkload
from strategies import elections

# Explanations


@given(elections(), st.sampled_from([AMLE, EM]))
def test_explanations_add_up_to_the_margin(election, kind):
    ballots = election.as_ballots()
    fitted = kind(election.size_bounds, priors=0.3).fit(ballots)
    task = InMemoryWorkload(ballots, election.size_bounds)
    for shard, rows in zip(task.shards, task.margins(fitted.parameters_), strict=True):
        for z, row in zip(shard.instances, rows, strict=True):
            name = ballots.instances[z]
            told = fitted.explain(name)
            margins = dict(zip(ballots.offered(name), row, strict=True))
            for account in told.accounts:
                assert account.margin == math.fsum([account.prior, *account.pushes.values()])
                assert account.margin == pytest.approx(margins[account.alternative], abs=1e-9)
                present = {v for (v, where) in election.ballots if where == name}
                assert set(account.pushes) == present, "who did not answer does not push"
            assert {a.alternative for a in told.accounts if a.chosen} == fitted.truth_[name]
            assert told.answer == tuple(fitted.truth_.listed(name))


def test_explanations_say_what_the_bounds_did():
    ballots = Ballots.from_mapping(
        {("v", "z"): {"a", "b", "c"}, ("w", "z"): {"a", "b", "c"}}, alternatives=list("abcd")
    )
    known = MaximumLikelihood(0.9, 0.1, 0.5, bounds=(1, 2)).fit(ballots).explain("z")
    assert known.bound_effect == "The evidence is for {c}, but a set has at most 2 alternatives."
    silent = Ballots.from_mapping({("v", "z"): set()}, alternatives=["a", "b"])
    forced = MaximumLikelihood(0.9, 0.1, 0.5, bounds=1).fit(silent).explain("z")
    assert forced.bound_effect == "The evidence is against {a}, but a set has at least 1 alternative."
    free = MaximumLikelihood(0.9, 0.1, 0.5).fit(ballots).explain("z")
    assert free.bound_effect.startswith("The size bounds changed nothing")
    assert "in  a: margin" in free.to_text()
    assert "Most probable sets:" in free.to_text()
    assert json.loads(json.dumps(free.to_dict()))["answer"] == ["a", "b", "c"]


# Reliability


def test_intervals_cover_the_true_rates():
    inside = []
    for seed in range(5):
        crowd = simulate(instances=300, voters=20, alternatives=5, bounds=(1, 2), priors=0.3, coverage=0.7, seed=seed)
        for report, p, q in zip(
            EM((1, 2), shrinkage=0).fit(crowd.ballots).reliability(),
            crowd.parameters.hit_rates,
            crowd.parameters.false_alarm_rates,
            strict=True,
        ):
            inside.append(report.hit_rate_interval[0] <= p <= report.hit_rate_interval[1])
            inside.append(report.false_alarm_rate_interval[0] <= q <= report.false_alarm_rate_interval[1])
            true_weight = np.log(p / (1 - p)) - np.log(q / (1 - q))
            inside.append(report.weight_interval[0] <= true_weight <= report.weight_interval[1])
    assert np.mean(inside) > 0.9


def test_flags_name_who_is_worth_a_look():
    rng = np.random.default_rng(5)
    crowd = simulate(
        instances=80,
        voters=9,
        alternatives=5,
        bounds=(1, 2),
        hit_rates=0.85,
        false_alarm_rates=0.08,
        priors=0.3,
        seed=3,
    )
    ballots = {key: set(ticks) for key, ticks in crowd.ballots.items()}
    names = crowd.ballots.alternatives
    for z in crowd.ballots.instances:
        ballots["all", z] = set(names)
        ballots["none", z] = set()
        ballots["coin", z] = {a for a in names if rng.random() < 0.4}
        ballots["contrary", z] = {a for a in names if (a not in crowd.gold[z]) == (rng.random() < 0.85)}
        ballots["copycat", z] = ballots["v1", z]
        ballots["perfect", z] = ballots["flawless", z] = set(crowd.gold[z])
    for z in crowd.ballots.instances[:2]:
        ballots["newcomer", z] = set(crowd.gold[z])
    fitted = EM((1, 2)).fit(Ballots.from_mapping(ballots))
    flags = {report.voter: report.flags for report in fitted.reliability()}
    assert flags["all"] == ("ticks everything", "may be guessing")
    assert flags["none"] == ("ticks nothing", "may be guessing")
    assert flags["coin"] == ("may be guessing",)
    assert flags["contrary"] == ("worse than chance: an approval counts against the alternative",)
    assert flags["copycat"] == ("near-copy of v1 (80 of 80 common ballots are identical)",)
    assert flags["v1"] == ("near-copy of copycat (80 of 80 common ballots are identical)",)
    assert flags["perfect"] == flags["flawless"] == (), "two who are always right need not copy from each other"
    assert flags["newcomer"][0].startswith("too few ballots to say")
    assert all(flags[f"v{i}"] == () for i in range(2, 10)), "good voters who agree because they are right are no copies"


def test_copies_are_found_in_every_block_of_voters(monkeypatch):
    crowd = simulate(instances=60, voters=12, alternatives=5, bounds=(1, 2), seed=4)
    ballots = {key: set(ticks) for key, ticks in crowd.ballots.items()}
    ballots |= {("w", z): ballots["v12", z] for z in crowd.ballots.instances}
    fitted = EM((1, 2)).fit(Ballots.from_mapping(ballots))
    whole = {report.voter: report.flags for report in fitted.reliability()}
    assert whole["w"][0].startswith("near-copy of v12")
    monkeypatch.setattr("epivote.estimate.reliability.NUMBERS_PER_BLOCK", 40)
    assert {report.voter: report.flags for report in fitted.reliability()} == whole


@pytest.mark.parametrize("instances", [200, 1500])
def test_a_crowd_turned_upside_down_is_said(instances):
    crowd = simulate(
        instances=instances,
        voters=8,
        alternatives=5,
        bounds=1,
        hit_rates=0.1,
        false_alarm_rates=0.7,
        priors=0.2,
        seed=1,
    )
    for kind in (EM, AMLE):
        with pytest.warns(CrowdWarning, match="the crowd may be upside down"):
            fitted = kind(1).fit(crowd.ballots)
        assert np.mean([fitted.truth_[z] == crowd.gold[z] for z in crowd.gold]) > 0.8


def test_a_crowd_the_right_way_up_is_not_turned():
    for seed in range(10):
        crowd = simulate(
            instances=40, voters=6, alternatives=5, bounds=(1, 2), spammers=0.5, priors=0.3, coverage=0.6, seed=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", CrowdWarning)
            EM((1, 2)).fit(crowd.ballots)


# Review


def test_review_lists_the_doubtful_first_and_says_how_many_ballots_would_settle_them():
    crowd = simulate(
        instances=150,
        voters=30,
        alternatives=4,
        bounds=(1, 2),
        hit_rates=0.8,
        false_alarm_rates=0.15,
        priors=0.35,
        ballots_per_instance=4,
        seed=2,
    )
    fitted = EM((1, 2)).fit(crowd.ballots)
    doubts = fitted.review(0.9)
    assert [doubt.confidence for doubt in doubts] == sorted(doubt.confidence for doubt in doubts)
    assert len(doubts) == np.sum(fitted.confidence_ < 0.9)
    for doubt in doubts:
        assert set(doubt.rival) != set(doubt.answer)
        assert doubt.rival_probability <= doubt.confidence + 1e-9
        assert doubt.ballots == 4
        assert doubt.more_ballots is not None
        assert 1 <= doubt.more_ballots <= 20
    assert fitted.review(0.9, most=0)[0].more_ballots is None
    assert fitted.review(0.9, limit=2) == doubts[:2]
    with pytest.raises(InputError, match="threshold=0 must be a probability above 0"):
        fitted.review(0)


def test_the_promised_number_of_ballots_does_settle_them():
    kwargs = {"alternatives": 4, "bounds": (1, 2), "hit_rates": 0.8, "false_alarm_rates": 0.15, "priors": 0.35}
    few = simulate(instances=400, voters=60, ballots_per_instance=4, seed=2, **kwargs)
    rule = MaximumLikelihood(0.8, 0.15, 0.35, (1, 2)).fit(few.ballots)
    extra = [doubt.more_ballots for doubt in rule.review(0.9, most=60)[:60]]
    more = round(float(np.mean(extra)))
    many = simulate(instances=400, voters=60, truths=few.gold, ballots_per_instance=4 + more, seed=3, **kwargs)
    assert MaximumLikelihood(0.8, 0.15, 0.35, (1, 2)).fit(many.ballots).confidence_.mean() > 0.88


# Gold and histories


def test_gold_sets_stay_and_teach():
    crowd = simulate(
        instances=200,
        voters=40,
        alternatives=5,
        bounds=(1, 2),
        priors=0.3,
        ballots_per_instance=4,
        spammers=0.3,
        seed=1,
    )
    gold = {z: crowd.gold[z] for z in crowd.ballots.instances[:100]}
    rest = crowd.ballots.instances[100:]
    for kind in (AMLE, EM):
        blind, taught = kind((1, 2)).fit(crowd.ballots), kind((1, 2)).fit(crowd.ballots, gold=gold)
        assert all(taught.truth_[z] == gold[z] for z in gold)
        assert taught.estimate_.gold == set(gold)
        assert np.all(taught.confidence_[:100] == 1)
        errors = [np.abs(fit.parameters_.hit_rates - crowd.parameters.hit_rates).mean() for fit in (blind, taught)]
        assert errors[1] < errors[0]
        right = [np.mean([fit.truth_[z] == crowd.gold[z] for z in rest]) for fit in (blind, taught)]
        assert right[1] >= right[0] - 0.02
    assert Majority((1, 2)).fit(crowd.ballots, gold=gold).truth_["i1"] == gold["i1"]
    truths, confidence = taught.gold_check()
    assert set(truths) == set(gold)
    assert confidence.max() < 1
    with pytest.raises(InputError, match="no gold sets were given"):
        blind.gold_check()


@given(elections(min_instances=2), st.data())
def test_likelihood_with_gold_is_that_of_the_clamped_sets(election, data):
    ballots = election.as_ballots()
    name = data.draw(st.sampled_from(election.instances))
    lower, upper = election.bounds[name]
    gold = {name: set(data.draw(st.permutations(election.menus[name]))[: data.draw(st.integers(lower, upper))])}
    fitted = AMLE(election.size_bounds).fit(ballots, gold=gold)
    assert fitted.truth_[name] == gold[name]
    assert np.all(np.diff(fitted.log_likelihoods_) >= -1e-8)
    assert fitted.log_likelihoods_[-1] == pytest.approx(
        log_likelihood(ballots, fitted.truth_, fitted.parameters_, election.size_bounds), abs=1e-8
    )
    soft = EM(election.size_bounds, shrinkage=0, max_iterations=25).fit(ballots, gold=gold)
    assert np.all(np.diff(soft.log_likelihoods_) >= -1e-8)


def test_all_gold_makes_em_count():
    crowd = simulate(instances=300, voters=10, alternatives=4, bounds=(1, 2), seed=2)
    fitted = EM((1, 2), shrinkage=0).fit(crowd.ballots, gold=crowd.gold)
    task = InMemoryWorkload(crowd.ballots, fitted.estimate_.bounds)
    counted = task.statistics(task.tables(crowd.gold))
    np.testing.assert_allclose(fitted.parameters_.hit_rates, counted.hits / counted.winners_seen, atol=1e-9)


def test_gold_that_makes_no_sense_is_refused():
    ballots = Ballots.from_mapping({("v", "z"): {"a"}, ("v", "y"): {"b"}})
    with pytest.raises(
        InputError, match="none of the 1 gold instances has a ballot; the gold ones are 'q', the ballots"
    ):
        EM(1).fit(ballots, gold={"q": {"a"}})
    with pytest.raises(InputError, match="the set of instance 'z' has 'c', which is not offered there"):
        EM(1).fit(ballots, gold={"z": {"c"}})
    with pytest.raises(
        BoundsError, match="the gold set of instance 'z' has 2 alternatives, outside the size bounds 1..1"
    ):
        EM(1).fit(ballots, gold={"z": {"a", "b"}})


def test_the_history_of_a_voter_counts_like_ballots():
    crowd = simulate(instances=400, voters=8, alternatives=5, bounds=(1, 2), priors=0.3, seed=4)
    first = crowd.ballots.select(instances=crowd.ballots.instances[:390])
    last = crowd.ballots.select(instances=crowd.ballots.instances[390:])
    history = EM((1, 2), shrinkage=0).fit(first).voter_history_
    assert isinstance(history["v1"], Record)
    everything = Ballots.from_mapping({("all", z): {"a", "b"} for z in "xyz"} | {("v", z): {"a"} for z in "xyz"})
    EM(1).fit(everything, history=EM(1).fit(everything).voter_history_)
    for kind in (AMLE, EM):
        alone = kind((1, 2)).fit(last).parameters_.hit_rates
        informed = kind((1, 2)).fit(last, history=history).parameters_.hit_rates
        true = crowd.parameters.hit_rates
        assert np.abs(informed - true).mean() < np.abs(alone - true).mean()
    with pytest.raises(
        InputError, match="the history of voter 'v1', .*, is impossible; give hits, right alternatives seen"
    ):
        EM((1, 2)).fit(last, history={"v1": (5, 3, 0, 1)})
    with pytest.raises(InputError, match="Majority learns no rates, so a history of voters does not apply"):
        Majority().fit(last, history=history)


# Which method


def test_the_suggested_reason_depends_on_instances_and_coverage():
    def suggested(instances, coverage):
        crowd = simulate(instances=instances, voters=10, alternatives=3, bounds=1, coverage=coverage, seed=1)
        method, why = suggest_method(crowd.ballots)
        assert method == "em", "without bounds nothing can show that AMLE finds other sets"
        return why.split()[0]

    assert suggested(20, 1.0) == "few"
    assert suggested(20, 0.5) == "voters"
    assert suggested(1, 1.0) == "one"
    assert suggested(60, 1.0) == "60"


# Calibration


def test_calibration_compares_promise_and_outcome():
    bins = calibration([0.05, 0.95, 0.95, 0.9, 1.0], [0, 1, 1, 0, 1], bins=10)
    assert [(b.count, b.right.mean) for b in bins] == [(1, 0.0), (4, 0.75)]
    assert bins[1].mean_confidence == pytest.approx(0.95)
    assert [(b.low, b.high) for b in bins] == [(0.0, 0.1), (0.9, 1.0)]
    with pytest.raises(InputError, match="2 confidences and 1 outcomes do not make pairs"):
        calibration([0.1, 0.2], [1])
