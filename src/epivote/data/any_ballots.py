"""What can be asked of ballots, whether they are in memory or packed on disk.

Ballots are blocks: in memory there is one, the ballots themselves; packed there are many, read one at a time. A fit
needs only what is listed under "Blocks" and "Sizes". The columns of all ballots follow; asked of packed ballots, they
are read into memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import numpy as np

from epivote.data.blocks import Block, Columns, Menu
from epivote.data.lists import Lists
from epivote.data.names import IntArray, counted, counts_of, frozen, suggestion
from epivote.errors import BallotError

if TYPE_CHECKING:
    from epivote.data.ballots import Ballots

COLUMNS = ("ballot_start", "ballot_voter", "approval_start", "approved")


class AnyBallots(ABC):
    """`Ballots` or `PackedBallots`."""

    is_in_memory: ClassVar[bool]
    where: Any = None
    """Where the work on the blocks is done, if not simply here; only `epivote.engines` knows what it means."""

    if TYPE_CHECKING:  # at run time the fields of a dataclass would take these for their defaults

        @property
        def voters(self) -> tuple[str, ...]: ...
        @property
        def instances(self) -> tuple[str, ...]: ...
        @property
        def alternatives(self) -> tuple[str, ...]: ...
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
        @property
        def multiplicities(self) -> IntArray | None: ...

    # Blocks

    @property
    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """All blocks; an instance is in one of them only."""

    @abstractmethod
    def in_memory(self) -> Ballots:
        """The same ballots in memory, in one block."""

    @abstractmethod
    def sample_instances(self, every: int, include: Iterable[str] = ()) -> Ballots:
        """About one in `every` instances, chosen by name so that no order matters, and those named in `include`."""

    @abstractmethod
    def select(self, *, voters: Iterable[str] | None = None, instances: Iterable[str] | None = None) -> Ballots:
        """The ballots of some voters, some instances or both; all alternatives stay, and so does every order."""

    @abstractmethod
    def content(self) -> tuple[object, tuple[IntArray, ...]]:
        """What tells these ballots from others with the same voters and alternatives: plain values, and columns."""

    # Sizes

    @property
    def n_voters(self) -> int:
        """How many voters are listed (the paper's n)."""
        return len(self.voters)

    @property
    def n_instances(self) -> int:
        """How many instances are listed (the paper's L)."""
        return len(self.instances)

    @property
    def n_alternatives(self) -> int:
        """How many alternatives are listed (the paper's m)."""
        return len(self.alternatives)

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
    def coverage(self) -> float:
        """Share of all (voter, instance) pairs with a ballot."""
        return self.total_ballots / (self.total_voters * self.n_instances)

    @property
    def ballots_per_voter(self) -> IntArray:
        """Number of ballots every voter cast."""
        return np.bincount(self.ballot_voter, minlength=self.n_voters)

    @property
    def has_menus(self) -> bool:
        """Whether instances differ in what they offer."""
        return self.menu is not None

    # The same with every voter counted as often as she stands for; `n_voters` and the like count rows of columns

    @property
    def total_voters(self) -> int:
        """How many voters there are."""
        return self.n_voters if self.multiplicities is None else int(self.multiplicities.sum())

    @property
    def total_ballots(self) -> int:
        """How many ballots they cast."""
        if self.multiplicities is None:
            return self.n_ballots
        return int(self.multiplicities @ self.ballots_per_voter)

    @property
    def total_approvals(self) -> int:
        """How many ticks these hold together."""
        if self.ballot_multiplicities is None:
            return self.n_approvals
        return int(self.ballot_multiplicities @ self.ballot_sizes)

    @property
    def total_empty(self) -> int:
        """How many of them are empty."""
        return int(counts_of(self.ballot_sizes, self.ballot_multiplicities, 1)[0])

    def voters_in_words(self) -> str:
        """`24 voters`, or `1,000 voters (24 different)`."""
        different = "" if self.multiplicities is None else f" ({self.n_voters:,} different)"
        return f"{counted(self.total_voters, 'voter')}{different}"

    @cached_property
    def voter_index(self) -> dict[str, int]:
        """The number of every voter by its name."""
        return {name: i for i, name in enumerate(self.voters)}

    # What follows from the columns

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

    @property
    def ballot_sizes(self) -> IntArray:
        """Number of ticks on every ballot."""
        return np.diff(self.approval_start)

    @property
    def ballot_instance(self) -> IntArray:
        """The instance of every ballot."""
        return np.repeat(np.arange(self.n_instances), np.diff(self.ballot_start))

    @property
    def ballots_per_instance(self) -> IntArray:
        """Number of ballots on every instance; of those who stand for several, one."""
        return np.diff(self.ballot_start)

    @property
    def ballot_multiplicities(self) -> IntArray | None:
        """How many voters cast each ballot; None where everyone stands for herself."""
        return None if self.multiplicities is None else self.multiplicities[self.ballot_voter]

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

    @cached_property
    def instance_keys(self) -> IntArray:
        """A number for every instance that depends on its name alone."""
        return name_keys(self.instances)

    @cached_property
    def instance_index(self) -> dict[str, int]:
        """The number of every instance by its name."""
        return {name: z for z, name in enumerate(self.instances)}

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

    def __eq__(self, other: object) -> bool:
        """Same names in the same order, same ballots, same menus; where they are does not matter."""
        if not isinstance(other, AnyBallots):
            return NotImplemented
        names = ("voters", "instances", "alternatives")
        return (
            all(getattr(self, name) == getattr(other, name) for name in names)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in COLUMNS)
            and _same_menu(self.menu, other.menu)
            and _same_multiplicities(self.multiplicities, other.multiplicities)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Sizes at a glance."""
        return f"{type(self).__name__}({self.in_words()})"

    @abstractmethod
    def in_words(self) -> str:
        """`24 voters, 24 instances, ...`."""

    def _voter_number(self, name: object) -> int:
        if str(name) not in self.voter_index:
            raise BallotError(f"{name!r} is not a voter{suggestion(name, self.voters)}")
        return self.voter_index[str(name)]

    def _instance_number(self, name: object) -> int:
        if str(name) not in self.instance_index:
            raise BallotError(f"{name!r} is not an instance{suggestion(name, self.instances)}")
        return self.instance_index[str(name)]


def name_keys(names: tuple[str, ...]) -> IntArray:
    """A number for every name, the same for the same name everywhere."""
    return np.fromiter((crc32(name.encode()) for name in names), np.uint32, len(names))


def _same_multiplicities(one: IntArray | None, other: IntArray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def pairs_in(cast: IntArray) -> int:
    """How many pairs can be made within groups of these sizes."""
    return int((cast * (cast - 1) // 2).sum())


def _same_menu(one: Menu | None, other: Menu | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.start, other.start) and np.array_equal(one.offered, other.offered)
