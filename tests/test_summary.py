"""What is said about a fit, worked out anew from what the estimator found."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    SURE,
    Ballots,
    CrowdWarning,
    InputError,
    Majority,
    Posterior,
    SizeBounds,
    Truths,
    calibration,
    open_packed,
    reference_crowd,
    score,
    summarize,
    write_packed,
)


@pytest.fixture(scope="module")
def crowd():
    return reference_crowd(instances=60, voters=15, alternatives=6, upper=2, seed=4)


@pytest.fixture(scope="module")
def fitted(crowd):
    return EM((1, 2)).fit(crowd.ballots)


@pytest.fixture(scope="module")
def summary(crowd, fitted):
    return summarize(fitted, crowd.gold)


def test_sets_are_those_of_the_estimator(summary, fitted, crowd):
    found = summary.sets()
    assert [each.instance for each in found] == list(crowd.ballots.instances)
    assert {each.instance: frozenset(each.alternatives) for each in found} == dict(fitted.truth_)
    assert [each.confidence for each in found] == fitted.confidence_.tolist()
    cast = [instance for (_, instance), _ in crowd.ballots.items()]
    assert [each.ballots for each in found] == [cast.count(name) for name in crowd.ballots.instances]
    assert summary.sets(7) == found[:7]
    assert (summary.method, summary.is_rated, summary.estimate) == ("EM", True, fitted.estimate_)


@pytest.mark.parametrize("threshold", [0.5, 0.95, 1.0])
def test_sure_and_doubtful_sets_are_told_apart_by_the_threshold(fitted, threshold):
    summary = summarize(fitted, threshold=threshold)
    confidence = fitted.confidence_.tolist()
    assert summary.n_sure == sum(each >= threshold for each in confidence)
    assert summary.n_doubtful == sum(each < threshold for each in confidence)
    assert summary.expected_right == pytest.approx(sum(confidence))
    assert [each.instance for each in summary.review()] == [each.instance for each in fitted.review(threshold)]
    assert summary.review(3) == fitted.review(threshold)[:3]


def test_a_confidence_of_exactly_the_threshold_is_sure(fitted):
    values = np.full(60, np.nextafter(SURE, 0))
    values[:2] = SURE
    changed = EM((1, 2))
    posterior = Posterior(fitted.estimate_.posterior.inclusion, values)
    changed._estimate = replace(fitted.estimate_, compute_posterior=lambda: posterior)
    assert (summarize(changed).n_sure, summarize(changed).n_doubtful) == (2, 58)


def test_voters_are_reported_flagged_and_ranked(summary, fitted):
    reports = fitted.reliability()
    assert list(summary.voters) == reports
    assert sorted(each.voter for each in summary.flagged) == sorted(each.voter for each in reports if each.flags)
    assert 0 < len(summary.flagged) < len(reports)
    ballots = [each.ballots for each in summary.flagged]
    assert ballots == sorted(ballots, reverse=True)
    ends = sorted((each.weight_interval[0] for each in reports), reverse=True)
    assert [each.weight_interval[0] for each in summary.most_informative()] == ends[:3]
    assert [each.weight_interval[0] for each in summary.most_informative(5)] == ends[:5]


def test_of_packed_ballots_the_voters_are_reported_as_well(crowd, tmp_path):
    packed = write_packed([crowd.ballots], tmp_path / "packed")
    fitted = EM((1, 2)).fit(open_packed(packed.folder))
    assert list(summarize(fitted).voters) == fitted.reliability()
    assert summarize(fitted).n_own_sizes == 0


def test_gold_kept_aside_is_scored(summary, fitted, crowd):
    found, gold = fitted.truth_, crowd.gold
    check = summary.held_back
    right = [found[name] == gold[name] for name in found]
    assert (check.n_instances, check.n_right) == (60, sum(right))
    assert check.scores == score(found, gold, crowd.ballots)
    assert list(check.bins) == calibration(fitted.confidence_, right)
    assert summary.taught is summary.from_ballots_alone is None


def test_gold_that_taught_or_has_no_ballots_is_not_scored(crowd):
    gold = dict(crowd.gold)
    names = list(gold)
    taught = {name: gold[name] for name in names[:6]}
    fitted = EM((1, 2)).fit(crowd.ballots, gold=taught)
    backwards = {name: gold[name] for name in reversed(names[:20])}
    summary = summarize(fitted, {**backwards, "elsewhere": {"a"}})
    assert summary.comparable == {name: gold[name] for name in names[6:20]}
    check = summary.held_back
    places = [crowd.ballots.instance_index[name] for name in names[6:20]]
    assert list(check.bins) == calibration(
        fitted.confidence_[sorted(places)],
        [fitted.truth_[name] == gold[name] for name in crowd.ballots.instances if name in summary.comparable],
    )
    alone, confidence = fitted.gold_check()
    right = [alone[name] == gold[name] for name in alone]
    assert dict(summary.from_ballots_alone[0]) == dict(alone)
    assert (summary.taught.n_instances, summary.taught.n_right, summary.taught.scores) == (6, sum(right), None)
    assert list(summary.taught.bins) == calibration(confidence, right)


def test_calibration_is_the_same_to_the_last_bit_in_whatever_order_gold_comes(summary, fitted, crowd):
    names = list(crowd.gold)
    for seed in range(5):
        shuffled = {names[k]: crowd.gold[names[k]] for k in np.random.default_rng(seed).permutation(len(names))}
        assert summarize(fitted, shuffled).held_back.bins == summary.held_back.bins


@pytest.mark.parametrize("gold", [None, {}, {"elsewhere": {"a"}}, Truths.from_mapping({"elsewhere": {"a"}})])
def test_without_gold_to_compare_there_is_no_score(fitted, gold):
    assert summarize(fitted, gold).held_back is None


def test_a_rule_without_rates_states_no_confidence_and_reports_on_nobody(crowd):
    fitted = Majority((1, 2)).fit(crowd.ballots, gold={"i1": crowd.gold["i1"]})
    summary = summarize(fitted, crowd.gold)
    assert not summary.is_rated
    assert not fitted.estimate_.is_rated
    assert {each.confidence for each in summary.sets()} == {None}
    assert summary.voters == summary.flagged == ()
    assert summary.taught is None
    assert summary.held_back.bins == ()
    assert summary.held_back.n_instances == 59
    refused = pytest.raises(InputError, match="^Majority counts ticks and states no confidence; use EM or AMLE$")
    with refused:
        summary.n_sure  # noqa: B018
    with refused:
        summary.review()


@pytest.mark.parametrize("rule", [EM, AMLE])
def test_rules_with_rates_are_rated(crowd, rule):
    assert rule((1, 2)).fit(crowd.ballots).estimate_.is_rated


def test_sizes_of_their_own_are_counted_where_there_are_ballots(crowd):
    bounds = SizeBounds(1, 2, {"i1": (1, 1), "i2": (2, 2), "elsewhere": (1, 1)})
    assert summarize(Majority(bounds).fit(crowd.ballots)).n_own_sizes == 2
    assert summarize(Majority(1).fit(crowd.ballots)).n_own_sizes == 0


def test_a_crowd_that_ticks_what_is_wrong_is_noticed(summary, crowd):
    names = crowd.ballots.alternatives
    wrong = {key: set(names) - crowd.gold[key[1]] for key, _ in crowd.ballots.items()}
    with pytest.warns(CrowdWarning, match="upside down"):
        turned = EM((1, 2)).fit(Ballots.from_mapping(wrong, alternatives=names), gold=crowd.gold)
    assert summarize(turned).is_upside_down
    assert not summary.is_upside_down


def test_what_cannot_be_summed_up_is_refused(fitted):
    with pytest.raises(InputError, match="a summary needs a fitted estimator such as EM, not Estimate"):
        summarize(fitted.estimate_)
    for threshold in (0, 1.01, "high"):
        with pytest.raises(InputError, match="must be a probability above 0"):
            summarize(fitted, threshold=threshold)


def test_a_summary_does_not_change_and_keeps_what_was_costly(summary):
    with pytest.raises(FrozenInstanceError):
        summary.threshold = 0.5
    assert summary.voters is summary.voters
    assert summary.held_back is summary.held_back
