"""What is said about a fit, worked out anew from what the estimator found."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    SURE,
    Ballots,
    Calibrated,
    Calibration,
    CrowdWarning,
    GoldEffect,
    InputError,
    Interval,
    Majority,
    MaximumLikelihood,
    Posterior,
    SizeBounds,
    Stated,
    Summary,
    Truths,
    calibration,
    open_packed,
    reference_crowd,
    score,
    summarize,
    write_packed,
)
from epivote.model.gold_fit import STRENGTHS


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


def test_gold_sets_that_were_given_are_not_counted(crowd):
    gold = {name: crowd.gold[name] for name in crowd.ballots.instances[:9]}
    fitted = EM((1, 2)).fit(crowd.ballots, gold=gold)
    summary, confidence = summarize(fitted), fitted.confidence_.tolist()[9:]
    assert summary.n_sure == sum(each >= SURE for each in confidence)
    assert summary.n_doubtful == sum(each < SURE for each in confidence)
    assert summary.expected_right == pytest.approx(sum(confidence))


def test_a_confidence_of_exactly_the_threshold_is_sure(fitted):
    values = np.full(60, np.nextafter(SURE, 0))
    values[:2] = SURE
    changed = EM((1, 2))
    posterior = Posterior(fitted.estimate_.posterior.inclusion, values)
    changed._estimate = replace(fitted.estimate_, compute_posterior=lambda: posterior)
    assert (summarize(changed).n_sure, summarize(changed).n_doubtful) == (2, 58)


def test_all_that_is_said_about_confidence_is_said_once(crowd, fitted, monkeypatch):
    monkeypatch.setattr("epivote.estimate.calibrated.STRENGTHS", STRENGTHS[2:3])
    assert summarize(fitted).about_confidence == (
        "Confidence is the probability under the model, and too high if voters make the same mistakes.",
    )
    gold = {name: crowd.gold[name] for name in list(crowd.gold)[:6]}
    calibrated = summarize(Calibrated(MaximumLikelihood(0.7, 0.2, 0.3, (1, 2))).fit(crowd.ballots, gold=gold))
    assert calibrated.about_confidence == ("Confidence is calibrated with 6 gold sets.", str(calibrated.gold_effect))


@pytest.mark.parametrize(
    ("source", "halves", "words"),
    [
        (None, False, "Confidence is the probability under the model, and too high if voters make the same mistakes."),
        (None, True, "Confidence is the probability under the model; two halves of the voters gave no reason to doubt it."),
        ("gold", False, "Confidence is calibrated with 2 gold sets."),
        ("gold", True, "Confidence is calibrated with 2 gold sets."),
        ("halves", True, "Confidence was lowered, because voters make the same mistakes more often than chance explains; "),
    ],
)  # fmt: skip
def test_what_a_confidence_rests_on(monkeypatch, fitted, source, halves, words):
    known = None if source is None else Calibration.scaled(0.5, 6, source)
    monkeypatch.setattr(Summary, "reproducibility", "agreed" if halves else None)
    changed = replace(fitted.estimate_, calibration=known, gold=frozenset({"i1", "i2"}))
    assert Summary(fitted, changed).meaning.startswith(words)


def test_what_calibration_did_is_told_in_the_order_of_its_numbers():
    before = Stated(Interval(0.11, 0.12, 0.13), 0.14, Interval(0.15, 0.16, 0.17))
    after = Stated(Interval(0.21, 0.22, 0.23), 0.24, Interval(0.25, 0.26, 0.27))
    assert str(GoldEffect(7, before, after)) == (
        "On 7 gold sets left out in turn, calibration changed the share of sets exactly right from 11 % to 21 % (95 % CI "
        "22 % to 23 %), the mean confidence from 14 % to 24 %, and the calibration error from 0.15 to 0.25 (95 % CI 0.26 to "
        "0.27)."
    )


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
