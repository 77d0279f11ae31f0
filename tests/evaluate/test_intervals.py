import numpy as np
import pytest
import scipy.stats

from epivote import InputError, mean_interval, share_interval, wilcoxon


def test_students_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(2000):
        interval = mean_interval(rng.normal(3, 2, 8))
        inside += interval.low <= 3 <= interval.high
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)


def test_students_interval_is_scipys():
    values = [0.1, 0.4, 0.35, 0.8]
    low, high = scipy.stats.t.interval(0.95, 3, np.mean(values), scipy.stats.sem(values))
    found = mean_interval(values)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert str(found) == "0.412 (-0.049 to 0.874)"


def test_wilsons_interval_is_scipys():
    exact = scipy.stats.binomtest(7, 10).proportion_ci(method="wilson")
    found = share_interval(7, 10)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert share_interval(10, 10).low < 1, "all right in ten is not surely all right"


def test_constant_and_single_values():
    assert mean_interval([0.5, 0.5]).low == mean_interval([0.5, 0.5]).high == 0.5
    single = mean_interval([0.5])
    assert (single.low, single.high) == (-np.inf, np.inf)


def test_wilcoxon_tells_rules_apart():
    rng = np.random.default_rng(1)
    worse = rng.normal(0.5, 0.1, 40)
    found = wilcoxon(worse + rng.normal(0.05, 0.02, 40), worse)
    assert found.mean_difference == pytest.approx(0.05, abs=0.01)
    assert found.p_value < 1e-6
    assert wilcoxon([0.1, 0.2], [0.1, 0.2]).p_value == 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: mean_interval([]), "must be a row of at least one finite number"),
        (lambda: mean_interval([np.nan]), "must be a row of at least one finite number"),
        (lambda: share_interval(3, 2), "3 successes in 2 trials"),
        (lambda: wilcoxon([1.0], [1.0, 2.0]), "1 values cannot be paired with 2"),
    ],
)
def test_nonsense_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()
