"""Means with 0.95 confidence intervals, and tests between rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epivote.data.names import FloatArray
from epivote.errors import InputError

Values = Sequence[float] | FloatArray


@dataclass(frozen=True)
class Interval:
    """A mean and the interval it lies in with the stated confidence."""

    mean: float
    low: float
    high: float

    def within(self, low: float, high: float) -> Interval:
        """The part of the interval that is possible at all."""
        return Interval(self.mean, max(self.low, low), min(self.high, high))

    def __str__(self) -> str:
        """`0.880 (0.841 to 0.919)`."""
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class PairedTest:
    """Wilcoxon's signed-rank test of paired values: how much the first exceeds the second, and its p-value."""

    mean_difference: float
    statistic: float
    p_value: float


def mean_interval(values: Values, confidence: float = 0.95) -> Interval:
    """Mean over repeats with Student's interval; a single value is its own interval's middle and says nothing more."""
    array = _values(values)
    mean = float(array.mean())
    if len(array) == 1:
        return Interval(mean, float("-inf"), float("inf"))
    spread = float(array.std(ddof=1) / np.sqrt(len(array)))
    from scipy.special import stdtrit

    half = float(stdtrit(len(array) - 1, (1 + confidence) / 2)) * spread
    return Interval(mean, mean - half, mean + half)


def share_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Share of successes with Wilson's interval, which stays inside 0..1 and never has length 0."""
    if not 0 <= successes <= trials or trials == 0:
        raise InputError(f"{successes} successes in {trials} trials have no share")
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    share = successes / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * float(np.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2)))
    return Interval(share, min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)))


def wilcoxon(first: Values, second: Values) -> PairedTest:
    """Whether `first` and `second`, paired by repeat, differ; identical values give p = 1."""
    one, other = _values(first), _values(second)
    if one.shape != other.shape:
        raise InputError(f"{len(one)} values cannot be paired with {len(other)}; give the same repeats for both rules")
    difference = one - other
    if not difference.any():
        return PairedTest(0.0, 0.0, 1.0)
    from scipy import stats

    found = stats.wilcoxon(one, other)
    return PairedTest(float(difference.mean()), float(found.statistic), float(found.pvalue))


def _values(values: Values) -> FloatArray:
    array = np.asarray(values, float)
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise InputError("the values to average or compare must be a row of at least one finite number")
    return array
