"""Sums over all instances that the page and the plots show: one pass over the ballots, block after block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.estimate import Estimate
from epivote.data.names import BoolArray, IntArray
from epivote.data.truths import Truths
from epivote.evaluate.confusion import TickCounts, confusions, tick_counts

MOST_FOR_PAIRS = 2_000  # alternatives; a table of all pairs beyond it takes too much memory


@dataclass(frozen=True)
class Counts:
    """What is counted over all sets and ballots.

    `confused[k, j]` is the number of ballots with right k unticked and wrong j ticked, None for very many alternatives;
    `ticks` has the ticks of every alternative while right and while wrong. `members` counts sets with each alternative,
    `offered` instances that offer it, `ballot_sizes` and `set_sizes` ballots and sets by size, `n_outside` ballots
    whose size the bounds forbid. `widest` are the smallest lower and the largest upper bound. `differs` says of every
    instance whether another estimate has another set, None if there is no other.
    """

    confused: IntArray | None
    ticks: TickCounts
    members: IntArray
    offered: IntArray
    ballot_sizes: IntArray
    set_sizes: IntArray
    n_outside: int
    widest: tuple[int, int]
    differs: BoolArray | None

    @classmethod
    def of(cls, estimate: Estimate, other: Estimate | None = None) -> Counts:
        """Counts of an estimate, and where another one for the same ballots differs."""
        return reduce(cls._together, _each(estimate, other))

    def _together(self, further: Counts) -> Counts:
        """Both added up; the instances of the further one come after."""
        return Counts(
            None if self.confused is None or further.confused is None else self.confused + further.confused,
            self.ticks.together(further.ticks),
            self.members + further.members,
            self.offered + further.offered,
            self.ballot_sizes + further.ballot_sizes,
            self.set_sizes + further.set_sizes,
            self.n_outside + further.n_outside,
            (min(self.widest[0], further.widest[0]), max(self.widest[1], further.widest[1])),
            None
            if self.differs is None or further.differs is None
            else np.concatenate([self.differs, further.differs]),
        )


def _each(estimate: Estimate, other: Estimate | None) -> Iterator[Counts]:
    for part in estimate.parts():
        ballots, truths = part.ballots.in_memory(), part.truths
        beside = None
        if other is not None:
            beside = (other if other.compute_part is None else other.compute_part(ballots)).truths
        yield _counted(ballots, truths, part, beside)


def _counted(ballots: Ballots, truths: Truths, part: Estimate, beside: Truths | None) -> Counts:
    width, sizes, times = ballots.n_alternatives, ballots.ballot_sizes, ballots.ballot_multiplicities
    lower, upper = part.bounds.resolve(ballots)
    place = ballots.ballot_instance
    outside = (sizes < lower[place]) | (sizes > upper[place])
    offered: IntArray = np.full(width, ballots.n_instances)
    if ballots.menu is not None:
        offered = np.bincount(ballots.menu.offered, minlength=width)
    return Counts(
        confusions(ballots, truths) if width <= MOST_FOR_PAIRS else None,
        tick_counts(ballots, truths),
        np.bincount(truths.members, minlength=width),
        offered,
        ballots.size_counts,
        np.bincount(truths.sizes, minlength=width + 1),
        int(outside.sum() if times is None else times @ outside),
        (int(lower.min()), int(upper.max())),
        None if beside is None else differing(truths, beside),
    )


def differing(one: Truths, other: Truths) -> BoolArray:
    """Which instances have different sets; both list the same instances and alternatives."""
    same: BoolArray = one.sizes == other.sizes
    rows = np.flatnonzero(same)
    pairs = zip(one.start[rows], one.start[rows + 1], other.start[rows], other.start[rows + 1], strict=True)
    same[rows] = [np.array_equal(one.members[a:b], other.members[c:d]) for a, b, c, d in pairs]
    return ~same
