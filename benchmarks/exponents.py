"""How fast a time grows with a size: the slope of a line through logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares


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


def beyond_fixed_cost(sizes: Sequence[float], times: Sequence[float]) -> tuple[Exponent, float] | None:
    """How the time grows beyond what it costs at any size, and that fixed cost; nothing from fewer than four sizes.

    Least squares on logarithms of time = fixed + slope size^exponent.
    """
    if len(set(sizes)) < 4:
        return None
    size, time = np.array(sizes, float), np.array(times, float)
    middle = float(np.exp(np.log(size).mean()))

    def rest(guess: Any) -> Any:
        fixed, scale, power = guess
        return np.log(np.exp(fixed) + np.exp(scale) * (size / middle) ** power) - np.log(time)

    best = least_squares(rest, [np.log(time.min() / 2), float(np.log(time).mean()), 1.0])
    spread = np.linalg.pinv(best.jac.T @ best.jac) * (best.fun @ best.fun) / max(len(size) - 3, 1)
    exponent = Exponent(float(best.x[2]), float(np.sqrt(spread[2, 2])), float(size.min()), float(size.max()))
    return exponent, float(np.exp(best.x[0]))
