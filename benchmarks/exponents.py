"""How fast a time grows with a size: the slope of a line through logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Exponent(NamedTuple):
    """Time grows like size to the power `value`, give or take `error` (standard error), fitted from `low` to `high`."""

    value: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        """The exponent as a sentence."""
        uncertain = f" ± {self.error:.2f}" if np.isfinite(self.error) else ""
        return f"{self.value:.2f}{uncertain}, fitted from {self.low:,.0f} to {self.high:,.0f}"


def fitted_exponent(sizes: Sequence[float], times: Sequence[float], *, at_least: float = 0.0) -> Exponent | None:
    """Least squares on logarithms over all sizes of at least so much; nothing from fewer than two."""
    pairs = [(size, time) for size, time in zip(sizes, times, strict=True) if size >= at_least and time > 0]
    if len({size for size, _ in pairs}) < 2:
        return None
    x, y = np.log(np.array(pairs)).T
    slope, level = np.polyfit(x, y, 1)
    rest = y - (slope * x + level)
    free = len(x) - 2
    error = float(np.sqrt(rest @ rest / free / ((x - x.mean()) @ (x - x.mean())))) if free else float("nan")
    return Exponent(float(slope), error, float(np.exp(x.min())), float(np.exp(x.max())))
