"""The size counter: how many members a set has, followed through the alternatives one by one.

A set is drawn alternative by alternative, with one weight for "in" and one for "out", while a counter follows its size.
It needs only the states that the bounds can tell apart: 0..upper and one dead state above, or, without an upper bound,
0..lower, the last meaning "enough". `forward` moves weights of states past one more alternative, `backward` says what
each state is worth before it; a product of the two sums over all allowed sets in O(m u).

The recursion stands here twice. On arrays, for one set or many side by side, in logarithms (nothing underflows: with
10,000 alternatives the mass of `0..50` may be 1e-2900) or in plain numbers (more than ten times faster). And on lists
of a few plain numbers, where arrays cost more than they save: a sweep over 20 priors with bounds 1..4 takes a tenth of
the time. The compiled loops have versions of their own: `loops/weigh.hpp` and `log.hpp` for many sets, `priors.cpp`
for a sweep.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from epivote.data.names import FloatArray

Weight = FloatArray | float
MAX_LOG_PRODUCT = 600.0  # natural logarithm; e^600 = 1e260 leaves room for sums below the largest float (e^709)


class Arithmetic(NamedTuple):
    """How weights are written: as they are, or as logarithms."""

    add: np.ufunc
    times: np.ufunc
    zero: float
    one: float


LOGS = Arithmetic(np.logaddexp, np.add, -np.inf, 0.0)
PLAIN = Arithmetic(np.add, np.multiply, 0.0, 1.0)


# On arrays: the first axis is the state, any other the sets that are counted side by side


def start_state(n_states: int, numbers: Arithmetic = LOGS) -> FloatArray:
    """The counter before any alternative: surely at 0."""
    return np.where(np.arange(n_states) == 0, numbers.one, numbers.zero)


def end_states(lower: int, upper: int, n_alternatives: int, numbers: Arithmetic = LOGS) -> FloatArray:
    """What each final state is worth: one where the size is allowed, else zero."""
    if upper >= n_alternatives:
        return np.where(np.arange(lower + 1) == lower, numbers.one, numbers.zero)
    sizes = np.arange(upper + 2)
    return np.where((sizes >= lower) & (sizes <= upper), numbers.one, numbers.zero)


def forward(before: FloatArray, inside: Weight, numbers: Arithmetic = LOGS) -> FloatArray:
    """The counter after one more alternative, whose weight is one outside the set; the last state absorbs."""
    after = before.copy()
    counted = numbers.times(before, inside)
    after[1:] = numbers.add(after[1:], counted[:-1])
    after[-1] = numbers.add(after[-1], counted[-1])
    return after


def backward(
    after: FloatArray, inside: Weight, outside: Weight | None = None, numbers: Arithmetic = LOGS
) -> FloatArray:
    """What each state is worth before one more alternative, given what it is worth after it.

    Without `outside` the alternative's weight is one outside the set.
    """
    before = after.copy() if outside is None else numbers.times(after, outside)
    counted = numbers.times(after, inside)
    before[:-1] = numbers.add(before[:-1], counted[1:])
    before[-1] = numbers.add(before[-1], counted[-1])
    return before


def next_state(values: FloatArray) -> FloatArray:
    """The value of the state after one more member; the last state stays."""
    return np.concatenate([values[1:], values[-1:]])


def backward_table(inside: FloatArray, lower: int, upper: int) -> list[FloatArray]:
    """Worth of every state before alternatives j, j+1, ...: entry j for all of them, the last for none left."""
    table = [end_states(lower, upper, len(inside))]
    for weight in inside[::-1]:
        table.append(backward(table[-1], weight))
    return table[::-1]


def weight_with(counter: FloatArray, later: FloatArray, numbers: Arithmetic = LOGS) -> FloatArray:
    """The sum over all allowed sets with the alternative between `counter` and `later`, its own weight left out."""
    below = numbers.add.reduce(numbers.times(counter[:-1], later[1:]))
    total: FloatArray = numbers.add(below, numbers.times(counter[-1], later[-1]))
    return total


# On lists of plain numbers. There is no dead state: what is worth nothing is left out


def is_absorbing(upper: int, n_alternatives: int) -> bool:
    """Whether no upper bound binds, so that the last state means "enough"."""
    return upper >= n_alternatives


def plain_ends(lower: int, upper: int, n_alternatives: int) -> list[float]:
    """See `end_states`."""
    last = lower if is_absorbing(upper, n_alternatives) else upper
    return [0.0] * lower + [1.0] * (last + 1 - lower)


def plain_backward(after: list[float], inside: float, outside: float, absorbing: bool) -> list[float]:
    """See `backward`."""
    before, worth = [], after[0]
    for following in after[1:]:
        before.append(outside * worth + inside * following)
        worth = following
    before.append((outside + inside if absorbing else outside) * worth)
    return before


def plain_forward(counter: list[float], odds: float, absorbing: bool) -> None:
    """See `forward`; the list itself is moved on."""
    enough = odds * counter[-1] if absorbing else 0.0
    for state in range(len(counter) - 1, 0, -1):
        counter[state] += odds * counter[state - 1]
    counter[-1] += enough


# A sweep over the priors: new log-odds before the present alternative, old ones after it


def counter_of(theta: FloatArray, lower: int, upper: int, reach: float) -> LogCounter | PlainCounter:
    """A counter for log-odds of which none will move farther than `reach` from 0."""
    numbers = theta.tolist()
    return PlainCounter(numbers, lower, upper) if is_plain(numbers, reach) else LogCounter(theta, lower, upper)


def is_plain(theta: list[float], reach: float = 0.0) -> bool:
    """Whether no sum of products of these odds can leave the range of floats, wherever within `reach` they move."""
    farthest = max([reach, *map(abs, theta)]) + math.log(2)
    return farthest * len(theta) < MAX_LOG_PRODUCT


class LogCounter:
    """Follows the size of a set through the alternatives, in logarithms: any number of alternatives will do."""

    def __init__(self, theta: FloatArray, lower: int, upper: int) -> None:
        self._later = backward_table(theta, lower, upper)
        self._counter = start_state(len(self._later[-1]))

    def pull(self, j: int) -> float:
        """ln(mass_with_j / mass_without_j), infinite where the bounds force the alternative in or out."""
        later = self._later[j + 1]
        with_, without = weight_with(self._counter, later), np.logaddexp.reduce(self._counter + later)
        if np.isinf(with_):
            return -np.inf
        return np.inf if np.isinf(without) else float(with_ - without)

    def advance(self, theta: float) -> None:
        """Count the present alternative with its new log-odds."""
        self._counter = forward(self._counter, theta)


class PlainCounter:
    """The same with plain numbers, where no product can leave their range."""

    def __init__(self, theta: list[float], lower: int, upper: int) -> None:
        self._absorbing = is_absorbing(upper, len(theta))
        self._later = [plain_ends(lower, upper, len(theta))]
        for each in reversed(theta):
            self._later.append(plain_backward(self._later[-1], math.exp(each), 1.0, self._absorbing))
        self._later.reverse()
        self._counter = [1.0] + [0.0] * (len(self._later[0]) - 1)

    def pull(self, j: int) -> float:
        """See `LogCounter`."""
        counter, later = self._counter, self._later[j + 1]
        with_ = without = 0.0
        for state in range(len(counter) - 1):
            without += counter[state] * later[state]
            with_ += counter[state] * later[state + 1]
        last = counter[-1] * later[-1]
        without += last
        if self._absorbing:
            with_ += last
        if with_ == 0:
            return -math.inf
        return math.log(with_ / without) if without > 0 else math.inf

    def advance(self, theta: float) -> None:
        """See `LogCounter`."""
        plain_forward(self._counter, math.exp(theta), self._absorbing)
