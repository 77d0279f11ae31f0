"""What follows from the columns of ballots in memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from epivote.data.any_ballots import AnyBallots, name_keys, pairs_in
from epivote.data.blocks import Columns, Menu
from epivote.data.lists import Lists, lengths_between
from epivote.data.names import IntArray, counts_of, frozen

COLUMNS = ("ballot_start", "ballot_voter", "approval_start", "approved")


class InColumns(AnyBallots):
    """The part of `Ballots` that only reads its columns."""

    if TYPE_CHECKING:  # at run time the fields of a dataclass would take these for their defaults

        @property
        def ballot_start(self) -> IntArray: ...
        @property
        def ballot_voter(self) -> IntArray: ...
        @property
        def approval_start(self) -> IntArray: ...
        @property
        def approved(self) -> IntArray: ...
        @property
        def menu(self) -> Menu | None: ...

    # Sizes

    @property
    def n_ballots(self) -> int:
        """How many ballots were cast, empty ones included."""
        return len(self.ballot_voter)

    @property
    def n_approvals(self) -> int:
        """How many ticks all ballots hold together."""
        return len(self.approved)

    @property
    def n_pairs(self) -> int:
        """How many pairs of ballots on the same instance there are."""
        return pairs_in(self.ballots_per_instance)

    @property
    def most_ballots(self) -> int:
        """Number of ballots on the instance that has most."""
        return int(self.ballots_per_instance.max())

    @property
    def has_menus(self) -> bool:
        """Whether instances differ in what they offer."""
        return self.menu is not None

    @cached_property
    def ballots_per_voter(self) -> IntArray:
        """Number of ballots every voter cast."""
        return frozen(counts_of(self.ballot_voter, None, self.n_voters))

    @property
    def ballots_per_instance(self) -> IntArray:
        """Number of ballots on every instance; of those who stand for several, one."""
        return lengths_between(self.ballot_start)

    @property
    def cast_per_instance(self) -> IntArray:
        """Number of ballots on every instance, counted as often as they were cast."""
        if self.multiplicities is None:
            return self.ballots_per_instance
        return counts_of(self.ballot_instance, self.ballot_multiplicities, self.n_instances)

    @cached_property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""
        if self.menu is None:
            return frozen(np.full(self.n_instances, self.n_alternatives))
        return frozen(np.diff(self.menu.start))

    @property
    def total_approvals(self) -> int:
        """How many ticks all ballots hold together, counted as often as they were cast."""
        if self.ballot_multiplicities is None:
            return self.n_approvals
        return int(self.ballot_multiplicities @ self.ballot_sizes)

    @property
    def total_empty(self) -> int:
        """How many ballots are empty, counted as often as they were cast."""
        return int(self.size_counts[0])

    @cached_property
    def size_counts(self) -> IntArray:
        """How many ballots have no tick, one tick and so on, counted as often as they were cast."""
        return frozen(counts_of(self.ballot_sizes, self.ballot_multiplicities, self.n_alternatives + 1))

    # Of every ballot, and of every tick

    @property
    def ballot_sizes(self) -> IntArray:
        """Number of ticks on every ballot."""
        return lengths_between(self.approval_start)

    @property
    def ballot_instance(self) -> IntArray:
        """The instance of every ballot."""
        return np.repeat(np.arange(self.n_instances), self.ballots_per_instance)

    @property
    def ballot_multiplicities(self) -> IntArray | None:
        """How many voters cast each ballot; None where everyone stands for herself."""
        return None if self.multiplicities is None else self.multiplicities[self.ballot_voter]

    @property
    def tick_multiplicities(self) -> IntArray | None:
        """How many voters cast the ballot of each tick; None where everyone stands for herself."""
        times = self.ballot_multiplicities
        return None if times is None else np.repeat(times, self.ballot_sizes)

    # The rest

    @cached_property
    def instance_keys(self) -> IntArray:
        """A number for every instance that depends on its name alone."""
        return name_keys(self.instances)

    def columns(self) -> Columns:
        """All ballots without names."""
        positions = self.approved
        if self.menu is not None:
            width = self.n_alternatives
            cell = np.repeat(np.arange(self.n_instances), self.menu_sizes) * width + self.menu.offered
            instance = np.repeat(self.ballot_instance, self.ballot_sizes)
            positions = np.searchsorted(cell, instance * width + positions) - self.menu.start[instance]
        ticks = Lists(self.approval_start, positions)
        return Columns(
            self.n_voters,
            self.n_alternatives,
            self.ballot_start,
            self.ballot_voter,
            ticks,
            self.menu,
            self.multiplicities,
        )

    def ballot(self, voter: str, instance: str) -> frozenset[str] | None:
        """The ticks of one ballot; an empty set if it was empty, `None` if it is missing."""
        i, z = self._voter_number(voter), self._instance_number(instance)
        begin, end = self.ballot_start[z], self.ballot_start[z + 1]
        found = np.flatnonzero(self.ballot_voter[begin:end] == i)
        if len(found) == 0:
            return None
        b = begin + found[0]
        ticks = self.approved[self.approval_start[b] : self.approval_start[b + 1]]
        return frozenset(self.alternatives[j] for j in ticks)

    def offered(self, instance: str) -> tuple[str, ...]:
        """The alternatives offered on one instance."""
        z = self._instance_number(instance)
        if self.menu is None:
            return self.alternatives
        return tuple(self.alternatives[j] for j in self.menu.offered[self.menu.start[z] : self.menu.start[z + 1]])

    def items(self) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
        """All ballots as `((voter, instance), ticks)`, instance after instance; each once, however many cast it."""
        for b, (i, z) in enumerate(zip(self.ballot_voter, self.ballot_instance, strict=True)):
            ticks = self.approved[self.approval_start[b] : self.approval_start[b + 1]]
            yield (self.voters[i], self.instances[z]), frozenset(self.alternatives[j] for j in ticks)

    def is_same(self, other: InColumns) -> bool:
        """Whether names, ballots and menus are the same."""
        menus, times = (self.menu, other.menu), (self.multiplicities, other.multiplicities)
        return (
            all(getattr(self, name) == getattr(other, name) for name in ("voters", "instances", "alternatives"))
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in COLUMNS)
            and _same(*(None if menu is None else menu.start for menu in menus))
            and _same(*(None if menu is None else menu.offered for menu in menus))
            and _same(*times)
        )


def _same(one: IntArray | None, other: IntArray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)
