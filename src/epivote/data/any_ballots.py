"""What can be asked of ballots, whether they are in memory or packed on disk.

Ballots are blocks: in memory there is one, the ballots themselves; packed there are many, read one at a time. Both know
counts, numbers and names. Columns are had of `Ballots` only: `in_memory` gives all of them, `parts` one block after the
other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import numpy as np

from epivote.data.blocks import Block
from epivote.data.names import IntArray, counted, suggestion
from epivote.errors import BallotError

if TYPE_CHECKING:
    from epivote.data.ballots import Ballots


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
    def parts(self, places: IntArray | None = None) -> Iterator[Ballots]:
        """The ballots block after block, one of them in memory at a time; with `places`, of these instances only.

        Places are numbers of instances, ascending. A block that holds none of them is left out.
        """

    @abstractmethod
    def rows(self, places: IntArray) -> Ballots:
        """The ballots of the instances with these numbers, ascending, together in memory."""

    @abstractmethod
    def places(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of those of these instances that are there, in their order."""

    @abstractmethod
    def names_at(self, places: IntArray) -> list[str]:
        """The names of the instances with these numbers."""

    @abstractmethod
    def sample_instances(self, every: int, include: Iterable[str] = ()) -> Ballots:
        """About one in `every` instances, chosen by name so that no order matters, and those named in `include`."""

    @abstractmethod
    def select(self, *, voters: Iterable[str] | None = None, instances: Iterable[str] | None = None) -> Ballots:
        """The ballots of some voters, some instances or both; all alternatives stay, and so does every order."""

    @abstractmethod
    def with_voters(self, names: tuple[str, ...], order: IntArray) -> AnyBallots:
        """The same with voters in another order, that with number `order[0]` first, and under these names."""

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
    @abstractmethod
    def n_ballots(self) -> int:
        """How many ballots were cast, empty ones included."""

    @property
    @abstractmethod
    def n_approvals(self) -> int:
        """How many ticks all ballots hold together."""

    @property
    @abstractmethod
    def n_pairs(self) -> int:
        """How many pairs of ballots on the same instance there are."""

    @property
    @abstractmethod
    def most_ballots(self) -> int:
        """Number of ballots on the instance that has most."""

    @property
    def coverage(self) -> float:
        """Share of all (voter, instance) pairs with a ballot."""
        return self.total_ballots / (self.total_voters * self.n_instances)

    @property
    @abstractmethod
    def has_menus(self) -> bool:
        """Whether instances differ in what they offer."""

    @property
    @abstractmethod
    def ballots_per_voter(self) -> IntArray:
        """Number of ballots every voter cast."""

    @property
    @abstractmethod
    def ballots_per_instance(self) -> IntArray:
        """Number of ballots on every instance; of those who stand for several, one."""

    @property
    @abstractmethod
    def cast_per_instance(self) -> IntArray:
        """Number of ballots on every instance, counted as often as they were cast."""

    @property
    @abstractmethod
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""

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
    @abstractmethod
    def total_approvals(self) -> int:
        """How many ticks these hold together."""

    @property
    def total_empty(self) -> int:
        """How many of them are empty."""
        return sum(part.total_empty for part in self.parts())

    def voters_in_words(self) -> str:
        """`24 voters`, or `1,000 voters (24 different)`."""
        different = "" if self.multiplicities is None else f" ({self.n_voters:,} different)"
        return f"{counted(self.total_voters, 'voter')}{different}"

    @cached_property
    def voter_index(self) -> dict[str, int]:
        """The number of every voter by its name."""
        return {name: i for i, name in enumerate(self.voters)}

    @cached_property
    def instance_index(self) -> dict[str, int]:
        """The number of every instance by its name."""
        return {name: z for z, name in enumerate(self.instances)}

    def ballot(self, voter: str, instance: str) -> frozenset[str] | None:
        """The ticks of one ballot; an empty set if it was empty, `None` if it is missing."""
        return self.select(instances=[instance]).ballot(voter, instance)

    def offered(self, instance: str) -> tuple[str, ...]:
        """The alternatives offered on one instance."""
        return self.select(instances=[instance]).offered(instance)

    def items(self) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
        """All ballots as `((voter, instance), ticks)`, instance after instance; each once, however many cast it."""
        for part in self.parts():
            yield from part.items()

    def __eq__(self, other: object) -> bool:
        """Same names in the same order, same ballots, same menus; where they are does not matter."""
        if not isinstance(other, AnyBallots):
            return NotImplemented
        return self.in_memory().is_same(other.in_memory())

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
    return np.fromiter(map(crc32, map(str.encode, names)), np.uint32, len(names))


def pairs_in(cast: IntArray) -> int:
    """How many pairs can be made within groups of these sizes."""
    return int((cast * (cast - 1) // 2).sum())
