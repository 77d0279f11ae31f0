"""One block of packed ballots, read when asked for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.blocks import Columns, Menu
from epivote.data.lists import Lists, Masks
from epivote.data.names import IntArray, counts_of, row_ranges, smallest_integers, starts_of
from epivote.data.stored import read_arrays, read_names
from epivote.errors import FileError

if TYPE_CHECKING:
    from epivote.data.packed import PackedBallots

WIDEST_MASK = 64  # alternatives whose ticks fit the bits of one 64-bit number


class PackedBlock:
    """Some instances of packed ballots, read when asked for."""

    def __init__(self, packed: PackedBallots, path: Path, n_instances: int, n_ballots: int, has_menu: int) -> None:
        self.packed, self.path = packed, path
        self.n_instances, self.n_ballots, self.has_menu = n_instances, n_ballots, bool(has_menu)

    @property
    def n_alternatives(self) -> int:
        """How many alternatives there are."""
        return self.packed.n_alternatives

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """The names of its instances."""
        return read_names(self.path, "instance")

    @cached_property
    def instance_index(self) -> dict[str, int]:
        """The number of every instance by its name."""
        return {name: z for z, name in enumerate(self.instances)}

    @property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""
        if not self.has_menu:
            return np.full(self.n_instances, self.n_alternatives)
        (sizes,) = read_arrays(self.path, "menu_size")
        return sizes.astype(np.int64)

    @property
    def ballots_per_instance(self) -> IntArray:
        """Number of ballots on every instance; of those who stand for several, one."""
        return read_arrays(self.path, "cast")[0].astype(np.int64)

    @property
    def cast_per_instance(self) -> IntArray:
        """Number of ballots on every instance, counted as often as they were cast."""
        if self.packed.multiplicities is None:
            return self.ballots_per_instance
        columns = self.columns()
        instance = np.repeat(np.arange(self.n_instances), np.diff(columns.ballot_start))
        return counts_of(instance, self.packed.multiplicities[columns.ballot_voter], self.n_instances)

    def keys(self) -> IntArray:
        """A number for every instance that depends on its name alone."""
        return read_arrays(self.path, "instance_key")[0]

    def columns(self) -> Columns:
        """All its ballots, without names."""
        widest = int(self.menu_sizes.max(initial=0))
        ticks: Lists | Masks
        if widest <= WIDEST_MASK:
            cast, voters, masks = read_arrays(self.path, "cast", "voter", "mask")
            ticks = Masks(masks)
        else:
            cast, voters, lengths, positions = read_arrays(self.path, "cast", "voter", "tick_count", "tick")
            ticks = Lists.of_lengths(lengths, positions)
        if len(cast) != self.n_instances or len(voters) != self.n_ballots or cast.sum() != self.n_ballots:
            raise FileError(f"{self.path} does not belong to this folder's index; pack the ballots again")
        if self.packed.renaming is not None:
            voters = np.argsort(self.packed.renaming.order)[voters]
            rows = np.lexsort((voters, np.repeat(np.arange(self.n_instances), cast)))
            voters, ticks = voters[rows], ticks.rows(rows)
        start, times = starts_of(cast), self.packed.multiplicities
        return Columns(self.packed.n_voters, self.n_alternatives, start, voters, ticks, self._menu(), times)

    def _menu(self) -> Menu | None:
        """The menu of this block; if only other blocks have menus, one that offers everything."""
        if self.has_menu:
            sizes, offered = read_arrays(self.path, "menu_size", "offered")
            return Menu(starts_of(sizes), offered)
        if self.packed.has_menus:
            everything = np.tile(np.arange(self.n_alternatives, dtype=np.int32), self.n_instances)
            return Menu(starts_of(self.menu_sizes), everything)
        return None

    def in_memory(self, rows: IntArray | None = None) -> Ballots:
        """All its ballots, or those of some rows."""
        columns = self.columns()
        rows = np.arange(self.n_instances) if rows is None else rows
        cast = row_ranges(columns.ballot_start, rows)
        ticks = columns.ticks.rows(cast).lists()
        approved, menu = ticks.values, None
        counts = np.diff(columns.ballot_start)[rows]
        if columns.menu is not None:
            menu = columns.menu.rows(rows)
            row_of_tick = np.repeat(np.repeat(np.arange(len(rows)), counts), ticks.lengths())
            approved = menu.offered[menu.start[row_of_tick] + ticks.values]
        return Ballots(
            voters=self.packed.voters,
            instances=read_names(self.path, "instance", rows),
            alternatives=self.packed.alternatives,
            ballot_start=starts_of(counts),
            ballot_voter=columns.ballot_voter[cast].astype(np.int32),
            approval_start=ticks.start,
            approved=smallest_integers(approved, self.n_alternatives),
            menu=menu,
            multiplicities=self.packed.multiplicities,
        )
