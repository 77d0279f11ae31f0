"""The size counter of `sizes.py` for one sweep over the priors, in odds: what was swept, and what is still to come.

Few alternatives are counted with plain numbers, which is many times faster than arrays of two or three logarithms.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Protocol

import numpy as np

from epivote.data.names import FloatArray
from epivote.model.sizes import SAFE, backward_table, forward, next_state, start_state


class Counter(Protocol):
    """Follows the size of a set through the alternatives, new log-odds before the present one and old ones after."""

    def pull(self, j: int) -> float:
        """ln(with_j / without_j), infinite where the bounds force the alternative in or out."""

    def advance(self, theta: float) -> None:
        """Count the present alternative with its new log-odds."""


def counter_of(theta: FloatArray, lower: int, upper: int, reach: float) -> Counter:
    """A counter for log-odds of which none will move farther than `reach` from 0."""
    return PlainCounter(theta.tolist(), lower, upper) if plain(theta, reach) else LogCounter(theta, lower, upper)


def plain(theta: FloatArray, reach: float = 0.0) -> bool:
    """Whether no sum of products of these odds can leave the range of numbers, wherever within `reach` they move."""
    farthest = max(reach, float(np.max(np.abs(theta), initial=0.0))) + math.log(2)
    return farthest * len(theta) < SAFE


class LogCounter:
    """In logarithms, for any number of alternatives."""

    def __init__(self, theta: FloatArray, lower: int, upper: int) -> None:
        self._later = backward_table(theta, np.zeros_like(theta), lower, upper)
        self._counter = start_state(len(self._later[-1]))

    def pull(self, j: int) -> float:
        """See `Counter`."""
        later = self._later[j + 1]
        with_ = np.logaddexp.reduce(self._counter + next_state(later))
        without = np.logaddexp.reduce(self._counter + later)
        if np.isinf(with_):
            return -np.inf
        return np.inf if np.isinf(without) else float(with_ - without)

    def advance(self, theta: float) -> None:
        """See `Counter`."""
        self._counter = forward(self._counter, theta, 0.0)


class PlainCounter:
    """With plain numbers, where no product can leave their range."""

    def __init__(self, theta: list[float], lower: int, upper: int) -> None:
        self._absorbing = upper >= len(theta)
        top = lower if self._absorbing else upper
        self._counter = [1.0] + [0.0] * top
        self._later = [[1.0 if size >= lower else 0.0 for size in range(top + 1)]]
        for each in reversed(theta):
            self._later.append(self._before(self._later[-1], math.exp(each)))
        self._later.reverse()

    def _before(self, after: list[float], odds: float) -> list[float]:
        before = [without + odds * with_ for without, with_ in pairwise(after)]
        before.append(after[-1] * (1 + odds) if self._absorbing else after[-1])
        return before

    def pull(self, j: int) -> float:
        """See `Counter`."""
        later, counter = self._later[j + 1], self._counter
        after = [*later[1:], later[-1] if self._absorbing else 0.0]
        without = with_ = 0.0
        for state, here, next_ in zip(counter, later, after, strict=True):  # one by one, as compiled loops add them up
            without += state * here
            with_ += state * next_
        if with_ == 0:
            return -math.inf
        return math.log(with_ / without) if without > 0 else math.inf

    def advance(self, theta: float) -> None:
        """See `Counter`."""
        odds, counter = math.exp(theta), self._counter
        last = odds * counter[-1] if self._absorbing else 0.0
        counter[1:] = [here + odds * below for below, here in pairwise(counter)]
        counter[-1] += last
