"""Whether stated probabilities keep their promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.names import FloatArray
from epivote.errors import InputError
from epivote.evaluate.intervals import Interval, Values, share_interval


@dataclass(frozen=True)
class CalibrationBin:
    """Sets with a stated confidence between `low` and `high`: how many, the mean promise, the share that was right."""

    low: float
    high: float
    count: int
    mean_confidence: float
    right: Interval

    def row(self) -> tuple[str, str, str, str, str]:
        """Stated confidence, sets, mean stated confidence, share that was right and its interval, ready to print."""
        return (
            f"{self.low:.0%} to {self.high:.0%}",
            f"{self.count:,}",
            f"{self.mean_confidence:.1%}",
            f"{self.right.mean:.1%}",
            f"{self.right.low:.0%} to {self.right.high:.0%}",
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
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.searchsorted(edges, stated, side="right") - 1, 0, bins - 1)
    return [
        _bin(edges[b], edges[b + 1], stated[place == b], kept[place == b]) for b in range(bins) if np.any(place == b)
    ]


def _bin(low: float, high: float, stated: FloatArray, right: FloatArray) -> CalibrationBin:
    return CalibrationBin(
        float(low), float(high), len(stated), float(stated.mean()), share_interval(int(right.sum()), len(right))
    )
