"""What is known about the sets of some instances: log-odds of every alternative, and the sizes that are allowed.

P(S) is proportional to exp(sum of the log-odds in S) over all sets S of lower..upper alternatives. Everything that is
said about sets follows from it, whether the log-odds are those of the model or calibrated ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.model.choose import choose, tied
from epivote.model.posterior import log_partition_and_inclusion, set_probabilities
from epivote.model.probable_sets import WeightedSet, best_sets, draw_set_per_row, draw_sets
from epivote.model.top_sets import top_sets
from epivote.model.utilities import Utility, decide

ALL = slice(None)
Weigh = Callable[[FloatArray, int, int], tuple[FloatArray, FloatArray]]
"""The logarithm of the sum over all allowed sets of every row, and the probability of every alternative."""


class LikelyGroup(NamedTuple):
    """The most probable group of an instance, counted from 0, its probability, and what is known within it."""

    number: int
    probability: float
    odds: SetOdds


@dataclass(frozen=True)
class SetOdds:
    """Instances with equally many alternatives and the same size bounds; `log_odds` has a row for each."""

    log_odds: FloatArray
    lower: int
    upper: int
    weigh: Weigh = field(default=log_partition_and_inclusion, kw_only=True, repr=False, compare=False)

    def best(self) -> BoolArray:
        """The most probable set of every row."""
        return choose(self.log_odds, self.lower, self.upper)

    def tied(self, sets: BoolArray) -> BoolArray:
        """Rows in which another set is as probable as the given most probable one."""
        return tied(self.log_odds, sets, self.lower)

    def decide(self, utility: Utility) -> BoolArray:
        """The set of highest expected utility of every row."""
        return decide(self.log_odds, self.lower, self.upper, utility)

    @property
    def inclusion(self) -> FloatArray:
        """The probability of every alternative to be in the set."""
        return self._partition_and_inclusion[1]

    def probabilities(self, sets: BoolArray) -> FloatArray:
        """The probability of one set in every row."""
        return set_probabilities(self.log_odds, sets, self._partition_and_inclusion[0])

    def best_sets(self, row: int, count: int) -> list[WeightedSet]:
        """The `count` most probable sets of one row with their probabilities."""
        return best_sets(self.log_odds[row], self.lower, self.upper, count)

    def top(self, count: int, rows: IntArray | slice = ALL) -> tuple[BoolArray, FloatArray]:
        """Membership (rows, count, m) and probabilities (rows, count) of the few most probable sets, best first."""
        return top_sets(self.log_odds[rows], self.lower, self.upper, count)

    def likely_group(self, row: int) -> LikelyGroup | None:  # noqa: ARG002
        """The most probable group of one row; None where there are no groups."""
        return None

    def draw(self, row: int, count: int, rng: np.random.Generator) -> BoolArray:
        """`count` sets of one row, drawn at random."""
        return draw_sets(self.log_odds[row], self.lower, self.upper, count, rng)

    def draw_each(self, rng: np.random.Generator) -> BoolArray:
        """One set of every row, drawn at random."""
        return draw_set_per_row(self.log_odds, self.lower, self.upper, rng)

    def with_evidence(self, row: int, log_odds: FloatArray) -> SetOdds:
        """One row once for every row of further evidence, given as log-odds to add."""
        return SetOdds(self.log_odds[row] + log_odds, self.lower, self.upper)

    @cached_property
    def _partition_and_inclusion(self) -> tuple[FloatArray, FloatArray]:
        return self.weigh(self.log_odds, self.lower, self.upper)
