"""Intervals, tests and calibration against formulas written out here or known elsewhere, at more than one level."""

import numpy as np
import pytest
import scipy.stats

from epivote import InputError, calibration, mean_interval, share_interval, wilcoxon
from epivote.evaluate.intervals import Interval

LEVELS = [0.8, 0.9, 0.95, 0.99]
ROWS = [[0.1, 0.4], [3.0, 1.0, 2.5], [0.1, 0.4, 0.35, 0.8, -2.0], [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("values", ROWS)
def test_students_interval_has_the_level_it_is_asked_for(values, level):
    found = mean_interval(values, level)
    low, high = scipy.stats.t.interval(level, len(values) - 1, np.mean(values), scipy.stats.sem(values))
    assert (found.mean, found.low, found.high) == pytest.approx((sum(values) / len(values), low, high), rel=1e-9)
    assert mean_interval(values, confidence=level) == found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("successes", "trials"), [(k, n) for n in (1, 2, 5, 40) for k in range(0, n + 1, max(1, n // 5))]
)
def test_wilsons_interval_has_the_level_it_is_asked_for(successes, trials, level):
    found = share_interval(successes, trials, level)
    expected = scipy.stats.binomtest(successes, trials).proportion_ci(level, method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)
    assert found.mean == pytest.approx(successes / trials)
    assert share_interval(successes, trials, confidence=level) == found


def test_intervals_are_of_level_95_where_nothing_is_said():
    assert mean_interval(ROWS[2]) == mean_interval(ROWS[2], 0.95) != mean_interval(ROWS[2], 0.9)
    assert share_interval(3, 7) == share_interval(3, 7, 0.95) != share_interval(3, 7, 0.9)


@pytest.mark.parametrize("trials", [1, 3, 10, 30, 1000])
def test_none_or_all_touch_the_end_but_have_some_width(trials):
    none, every = share_interval(0, trials), share_interval(trials, trials)
    assert none.low == 0 < none.high < 1
    assert every.high == 1 > every.low > 0


def test_an_interval_is_cut_to_what_is_possible_on_both_sides():
    assert Interval(0.5, -0.2, 1.4).within(0, 1) == Interval(0.5, 0, 1)
    assert Interval(0.5, 0.2, 0.7).within(0, 1) == Interval(0.5, 0.2, 0.7)
    assert Interval(0.5, -np.inf, np.inf).within(0.1, 0.9) == Interval(0.5, 0.1, 0.9)
    assert str(Interval(0.12345, -0.5, 2)) == "0.123 (-0.500 to 2.000)"


def test_equal_values_have_no_spread_and_a_single_one_says_nothing():
    assert mean_interval([2.0, 2.0, 2.0]) == Interval(2.0, 2.0, 2.0)
    assert mean_interval([2.0]) == Interval(2.0, -np.inf, np.inf)
    assert mean_interval([2.0, 2.0 + 1e-9]).low < 2.0


def test_wilcoxons_test_is_scipys_whichever_rule_comes_first():
    one, other = np.array([0.9, 0.7, 0.85, 0.6, 0.75, 0.4]), np.array([0.5, 0.72, 0.6, 0.59, 0.8, 0.1])
    for first, second in ((one, other), (other, one)):
        expected = scipy.stats.wilcoxon(first, second)
        found = wilcoxon(first, second)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
        assert found.mean_difference == pytest.approx(np.mean(first) - np.mean(second))
        assert min(found.statistic, found.p_value) > 0
    level = np.concatenate([one, [0.5]]), np.concatenate([other, [0.5]])
    assert wilcoxon(*level).p_value == pytest.approx(scipy.stats.wilcoxon(*level).pvalue)
    same = wilcoxon(one, one.tolist())
    assert (same.mean_difference, same.statistic, same.p_value) == (0, 0, 1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: share_interval(0, 0), "0 successes in 0 trials have no share"),
        (lambda: share_interval(-1, 2), "-1 successes in 2 trials have no share"),
        (lambda: mean_interval([[1.0, 2.0]]), "must be a row of at least one finite number"),
        (lambda: mean_interval([1.0, np.inf]), "must be a row of at least one finite number"),
        (lambda: mean_interval(1.0), "must be a row of at least one finite number"),
        (lambda: wilcoxon([1.0, 2.0], [1.0]), "2 values cannot be paired with 1"),
        (lambda: wilcoxon([], []), "must be a row of at least one finite number"),
    ],
)
def test_what_has_no_mean_or_share_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize("bins", [1, 2, 4, 10])
def test_calibration_is_counted_bin_by_bin(bins):
    rng = np.random.default_rng(bins)
    stated = np.concatenate([rng.random(60), np.linspace(0, 1, bins + 1)])
    right = rng.random(len(stated)) < stated
    found = {round(each.low * bins): each for each in calibration(stated, right, bins)}
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = (stated >= low - 1e-12) & ((stated < high - 1e-12) | (number == bins - 1))
        each = found.pop(number)
        assert (each.low, each.high) == pytest.approx((low, high))
        assert each.count == inside.sum()
        assert each.mean_confidence == pytest.approx(stated[inside].mean())
        expected = scipy.stats.binomtest(int(right[inside].sum()), int(inside.sum())).proportion_ci(method="wilson")
        assert each.right.mean == pytest.approx(right[inside].mean())
        assert (each.right.low, each.right.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert not found


def test_calibration_leaves_out_empty_bins_and_has_ten_unless_told():
    found = calibration([0.0, 1.0, 0.55], [False, True, True])
    assert [(each.low, each.count) for each in found] == [(0.0, 1), (0.5, 1), (0.9, 1)]
    assert [each.high for each in found] == pytest.approx([0.1, 0.6, 1.0])


@pytest.mark.parametrize(
    ("stated", "right", "bins", "message"),
    [
        ([], [], 10, "0 confidences and 0 outcomes do not make pairs"),
        ([0.1], [1, 0], 10, "1 confidences and 2 outcomes"),
        ([[0.1]], [[1]], 10, "1 confidences and 1 outcomes do not make pairs"),
        ([0.5], [1], 0, "in at least one bin"),
        ([0.5, 1.01], [1, 0], 10, "confidences must lie between 0 and 1"),
        ([-0.01, 0.5], [1, 0], 10, "confidences must lie between 0 and 1"),
        ([np.nan], [1], 10, "confidences must lie between 0 and 1"),
    ],
)
def test_confidences_that_cannot_be_are_refused(stated, right, bins, message):
    with pytest.raises(InputError, match=message):
        calibration(stated, right, bins)
