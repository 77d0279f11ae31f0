"""Whether stated probabilities are right as often as they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.names import FloatArray, IntArray
from epivote.data.numbers import in_percent, percent
from epivote.errors import InputError
from epivote.evaluate.intervals import Interval, Values, share_interval


@dataclass(frozen=True)
class CalibrationBin:
    """Sets with a stated confidence between `low` and `high`: how many, mean confidence, share that was right."""

    low: float
    high: float
    count: int
    mean_confidence: float
    right: Interval

    def row(self) -> tuple[str, str, str, str, str]:
        """Stated confidence, sets, mean stated confidence, share that was right and its interval, ready to print."""
        return (
            f"{100 * self.low:.0f} to {100 * self.high:.0f} %",
            f"{self.count:,}",
            in_percent(self.mean_confidence),
            percent(self.right.mean),
            f"{100 * self.right.low:.0f} to {100 * self.right.high:.0f} %",
        )


def calibration(confidence: Values, right: Values, bins: int = 10) -> list[CalibrationBin]:
    """Stated confidence against the share that was right, in bins of equal width; empty bins are left out."""
    stated, kept = np.asarray(confidence, float), np.asarray(right, bool)
    if stated.shape != kept.shape or stated.ndim != 1 or len(stated) == 0:
        raise InputError(
            f"{stated.size} confidences and {kept.size} outcomes do not make pairs; give one of each per set"
        )
    if bins < 1 or not np.all((stated >= 0) & (stated <= 1)):
        raise InputError("confidences must lie between 0 and 1, in at least one bin")
    edges = np.arange(bins + 1) / bins  # 0.3 as it is typed, not 0.1 + 0.2
    place = np.clip(np.searchsorted(edges, stated, side="right") - 1, 0, bins - 1)
    return [
        _bin(edges[b], edges[b + 1], stated[place == b], kept[place == b]) for b in range(bins) if np.any(place == b)
    ]


def calibration_error(
    confidence: Values, right: Values, bins: int = 10, *, draws: int = 1000, seed: int = 0
) -> Interval:
    """How far stated confidence is off: the mean over all sets of the distance between the mean confidence of their bin
    and the share of it that was right.

    Chance alone makes it larger than 0, the more so the fewer sets there are. The interval is that of sets drawn again
    with replacement `draws` times.
    """
    found = calibration(confidence, right, bins)
    stated, kept = np.asarray(confidence, float), np.asarray(right, float)
    place = np.clip(np.searchsorted(np.arange(bins + 1) / bins, stated, side="right") - 1, 0, bins - 1)
    rng = np.random.default_rng(seed)
    again = [
        _error((stated - kept)[rows], place[rows], bins)
        for rows in rng.integers(len(stated), size=(draws, len(stated)))
    ]
    mean = sum(each.count * abs(each.mean_confidence - each.right.mean) for each in found) / len(stated)
    low, high = np.quantile(again, [0.025, 0.975]).tolist()
    return Interval(mean, min(low, mean), max(high, mean))


def _error(surplus: FloatArray, place: IntArray, bins: int) -> float:
    return float(np.abs(np.bincount(place, surplus, bins)).sum() / len(surplus))


def _bin(low: float, high: float, stated: FloatArray, right: FloatArray) -> CalibrationBin:
    return CalibrationBin(
        float(low), float(high), len(stated), float(stated.mean()), share_interval(int(right.sum()), len(right))
    )
