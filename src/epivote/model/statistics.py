"""Sums over instances that hold all evidence about voters and alternatives; they add up over any cut of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray, IntArray, sums
from epivote.data.shards import Shard


class Group(NamedTuple):
    """Instances that share bounds and number of offered alternatives, and the menu itself where it matters.

    `menu` is empty where all alternatives are offered or where all have the same prior.
    """

    lower: int
    upper: int
    width: int
    menu: tuple[int, ...] = ()


@dataclass(frozen=True)
class Statistics:
    """Per voter: ticks on right and on wrong alternatives, and how many of each were seen. Per alternative: how often
    it was right and how often offered. Per group of instances: how many there are.

    The counts of a voter who stands for several are those of each; `multiplicities` says for how many, None for one.
    """

    hits: FloatArray
    winners_seen: FloatArray
    false_alarms: FloatArray
    losers_seen: FloatArray
    occurrences: FloatArray
    offered: FloatArray
    groups: Mapping[Group, float]
    multiplicities: IntArray | None = None

    def __add__(self, other: Statistics) -> Statistics:
        """The statistics of both parts together."""
        return Statistics(
            self.hits + other.hits,
            self.winners_seen + other.winners_seen,
            self.false_alarms + other.false_alarms,
            self.losers_seen + other.losers_seen,
            self.occurrences + other.occurrences,
            self.offered + other.offered,
            _both(self.groups, other.groups),
            self.multiplicities,
        )


class PassCounts(NamedTuple):
    """What a pass over the ballots counts: hits and true alternatives seen per voter, occurrences per alternative."""

    voters: FloatArray
    occurrences: FloatArray

    @classmethod
    def none(cls, n_voters: int, n_alternatives: int) -> PassCounts:
        """Nothing counted yet."""
        return cls(np.zeros((n_voters, 2)), np.zeros(n_alternatives))

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of voters and alternatives."""
        return len(self.voters), len(self.occurrences)

    def equal(self, other: PassCounts) -> bool:
        """Whether the same was counted."""
        return bool((self.occurrences == other.occurrences).all() and (self.voters == other.voters).all())

    def include(self, other: PassCounts) -> PassCounts:
        """Count these as well, in the same arrays."""
        np.add(self.voters, other.voters, out=self.voters)
        np.add(self.occurrences, other.occurrences, out=self.occurrences)
        return self


class GoldRows(NamedTuple):
    """Rows of a shard whose sets are given."""

    rows: IntArray
    sets: BoolArray


def tally(shard: Shard, membership: BoolArray | FloatArray, n_voters: int, n_alternatives: int) -> PassCounts:
    """Sums of one shard from membership in its sets: true or false, or probabilities."""
    inside = membership.astype(float)
    hits = sums(shard.approval_voter, inside.ravel()[shard.approval_cell], n_voters)
    winners = sums(shard.ballot_voter, inside.sum(axis=1)[shard.ballot_row], n_voters)
    voters = np.empty((n_voters, 2))
    voters[:, 0], voters[:, 1] = hits, winners
    if shard.offered is None:
        return PassCounts(voters, inside.sum(axis=0))
    return PassCounts(voters, sums(shard.offered.ravel(), inside.ravel(), n_alternatives))


class FixedCounts(NamedTuple):
    """What statistics hold whatever the sets are: ticks and alternatives seen per voter, what was offered, groups."""

    ticks: FloatArray
    seen: FloatArray
    offered: FloatArray
    groups: Mapping[Group, float]
    multiplicities: IntArray | None = None

    @classmethod
    def joined(cls, parts: Iterable[FixedCounts]) -> FixedCounts:
        """Those of all parts together; groups are in a fixed order, however the parts were cut."""
        whole = reduce(cls._join, parts)
        return whole._replace(groups=dict(sorted(whole.groups.items())))

    def _join(self, other: FixedCounts) -> FixedCounts:
        return FixedCounts(
            self.ticks + other.ticks,
            self.seen + other.seen,
            self.offered + other.offered,
            _both(self.groups, other.groups),
            self.multiplicities,
        )

    def with_counts(self, counts: PassCounts) -> Statistics:
        """Statistics; false alarms are ticks minus hits, losers what was seen minus the winners: one pass suffices."""
        hits, winners = counts.voters.T.copy()
        rest = self.ticks - hits, self.seen - winners
        return Statistics(hits, winners, *rest, counts.occurrences, self.offered, self.groups, self.multiplicities)


def fixed_counts(shard: Shard, n_voters: int, n_alternatives: int, *, by_menu: bool) -> FixedCounts:
    """What is known of a shard before any sets.

    `by_menu` keeps the menus apart, which only priors that differ between alternatives need.
    """
    cast = np.bincount(shard.ballot_voter, minlength=n_voters).astype(float)
    offered = np.full(n_alternatives, float(len(shard.instances)))
    if shard.offered is not None:
        offered = np.bincount(shard.offered.ravel(), minlength=n_alternatives).astype(float)
    ticks = sums(shard.ballot_voter, shard.ticks.lengths().astype(float), n_voters)
    groups = groups_of(shard, by_menu=by_menu)
    return FixedCounts(ticks, cast * shard.width, offered, groups, shard.multiplicities)


def groups_of(shard: Shard, *, by_menu: bool) -> dict[Group, float]:
    """How many instances of each group a shard holds."""
    if shard.offered is None or not by_menu:
        return {Group(shard.lower, shard.upper, shard.width): float(len(shard.instances))}
    menus, counts = np.unique(shard.offered, axis=0, return_counts=True)
    return {
        Group(shard.lower, shard.upper, shard.width, tuple(menu.tolist())): float(number)
        for menu, number in zip(menus, counts, strict=True)
    }


def _both(groups: Mapping[Group, float], others: Mapping[Group, float]) -> dict[Group, float]:
    joined = dict(groups)
    for group, count in others.items():
        joined[group] = joined.get(group, 0) + count
    return joined
