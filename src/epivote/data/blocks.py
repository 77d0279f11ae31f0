"""A block: some instances with all their ballots. Ballots in memory are one block, packed ballots are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from epivote.data.lists import Lists, Masks
from epivote.data.names import IntArray, frozen, row_ranges, starts_of

if TYPE_CHECKING:
    from epivote.data.ballots import Ballots
    from epivote.data.packed_block import PackedBlock


@dataclass(frozen=True, eq=False)
class Menu:
    """What was offered where: `offered[start[z] : start[z + 1]]` are the alternatives of instance z, ascending."""

    start: IntArray
    offered: IntArray

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        object.__setattr__(self, "start", frozen(self.start))
        object.__setattr__(self, "offered", frozen(self.offered))

    def rows(self, numbers: IntArray) -> Menu:
        """The menus of these instances, in that order."""
        return Menu(starts_of(np.diff(self.start)[numbers]), self.offered[row_ranges(self.start, numbers)])


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
    multiplicities: IntArray | None = None

    @property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""
        if self.menu is None:
            return np.full(len(self.ballot_start) - 1, self.n_alternatives)
        return np.diff(self.menu.start)


Block: TypeAlias = "Ballots | PackedBlock"
"""Both have `instances`, `instance_index`, `n_instances`, `n_alternatives`, `n_ballots`, `menu_sizes`,
`cast_per_instance`, `columns()` and `in_memory()`: what size bounds, gold sets and engines ask for."""
