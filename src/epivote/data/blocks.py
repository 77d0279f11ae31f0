"""A block: some instances with all their ballots. Ballots in memory are one block, packed ballots are many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from epivote.data.lists import Lists, Masks
from epivote.data.names import IntArray, frozen

if TYPE_CHECKING:
    from epivote.data.ballots import Ballots


@dataclass(frozen=True, eq=False)
class Menu:
    """What was offered where: `offered[start[z] : start[z + 1]]` are the alternatives of instance z, ascending."""

    start: IntArray
    offered: IntArray

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        object.__setattr__(self, "start", frozen(self.start))
        object.__setattr__(self, "offered", frozen(self.offered))


class Columns(NamedTuple):
    """Ballots without names, sorted by instance; a tick is a position in the menu of its instance.

    Passes need no names, and a position fits the bits of a mask where the number of an alternative may not; so this is
    what files of packed ballots hold, and what shards are cut from.
    """

    n_voters: int
    n_alternatives: int
    ballot_start: IntArray
    ballot_voter: IntArray
    ticks: Lists | Masks
    menu: Menu | None

    @property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""
        if self.menu is None:
            return np.full(len(self.ballot_start) - 1, self.n_alternatives)
        return np.diff(self.menu.start)


class Block(Protocol):
    """What size bounds, gold sets and engines need of a block."""

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of its instances."""

    @property
    def instance_index(self) -> Mapping[str, int]:
        """The number of every instance by its name."""

    @property
    def n_instances(self) -> int:
        """How many instances it has."""

    @property
    def n_alternatives(self) -> int:
        """How many alternatives are listed, the same in all blocks."""

    @property
    def n_ballots(self) -> int:
        """How many ballots it has."""

    @property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""

    @property
    def ballots_per_instance(self) -> IntArray:
        """Number of ballots on every instance."""

    def columns(self) -> Columns:
        """Its ballots without names."""

    def in_memory(self) -> Ballots:
        """Its ballots with names."""
