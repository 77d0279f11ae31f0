"""Ballots packed in a folder: more than fit in memory, read block by block.

    index.npz          voters, alternatives, and the sizes of every block
    block-00000.npz    some instances with all their ballots: names, and the columns that shards are cut from

An instance lies in one block only. Numbers are in the smallest type that holds them; a ballot with at most 64
alternatives on offer is one number of 64 bits. Every file carries checksums, compared whenever it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.blocks import Columns, Menu
from epivote.data.lists import Lists, Masks
from epivote.data.names import IntArray, counted, counts_of, frozen, row_ranges, smallest_integers, starts_of
from epivote.data.stored import read_arrays, read_names, stored_checksums
from epivote.errors import FileError

VERSION = 2  # of the packed format; raised when older programs could no longer read it
INDEX = "index.npz"
WIDEST_MASK = 64  # alternatives whose ticks fit the bits of one 64-bit number
KEPT_SAMPLE = 5000  # instances; a larger sample of packed ballots is read anew rather than kept
SIZES = ("instances", "ballots", "approvals", "pairs", "most_ballots", "menus")


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
    def cast_per_instance(self) -> IntArray:
        """Number of ballots on every instance, counted as often as they were cast."""
        cast, voters = read_arrays(self.path, "cast", "voter")
        if self.packed.multiplicities is None:
            return cast.astype(np.int64)
        instance = np.repeat(np.arange(self.n_instances), cast)
        return counts_of(instance, self.packed.multiplicities[voters], self.n_instances)

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


@dataclass(frozen=True, eq=False, repr=False)
class PackedBallots(AnyBallots):
    """Ballots whose columns stay on disk; every estimator fits them block by block.

    Open them with `epivote.open_packed`, write them with `epivote pack` or `epivote.write_packed`. Whatever else asks
    for a column of all ballots gets it, read into memory.
    """

    folder: Path
    where: Any = None
    is_in_memory: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Read the index, so that a folder that is damaged or of another kind is refused at once."""
        if not (self.folder / INDEX).is_file():
            raise FileError(f"{self.folder} holds no packed ballots ({INDEX} is missing); make them with: epivote pack")
        version = int(self._index("version")[0][0])
        if version > VERSION:
            raise FileError(f"{self.folder} was packed by a newer epivote (format {version}); update epivote")
        if version < VERSION:
            raise FileError(f"{self.folder} was packed by an older epivote (format {version}); pack the ballots again")
        _ = self.sizes, self.voters, self.alternatives

    def __reduce__(self) -> tuple[Any, ...]:
        """Opened again where it arrives."""
        return PackedBallots, (self.folder, self.where)

    def in_words(self) -> str:
        """`24 voters, 24 instances, ...`."""
        named = ", ".join(counted(getattr(self, f"n_{part}s"), part) for part in ("instance", "alternative"))
        cast = f"{counted(self.total_ballots, 'ballot')}, {counted(self.total_approvals, 'approval')}"
        return f"{self.voters_in_words()}, {named}, {cast} in {counted(len(self.blocks), 'block')}"

    @property
    def blocks(self) -> tuple[PackedBlock, ...]:
        """All blocks, none of them read yet."""
        sizes = zip(*(self.sizes[name].tolist() for name in ("instances", "ballots", "menus")), strict=True)
        return tuple(PackedBlock(self, block_path(self.folder, k), *size) for k, size in enumerate(sizes))

    def content(self) -> tuple[object, tuple[IntArray, ...]]:
        """The checksums of all blocks: they need not be read for that, and are compared whenever a block is read."""
        checksums = [stored_checksums(block.path) for block in self.blocks]
        return checksums, () if self.multiplicities is None else (self.multiplicities,)

    # The index

    def _index(self, *names: str) -> list[NDArray[Any]]:
        return read_arrays(self.folder / INDEX, *names)

    @cached_property
    def voters(self) -> tuple[str, ...]:
        """The names of all voters."""
        return read_names(self.folder / INDEX, "voter")

    @cached_property
    def alternatives(self) -> tuple[str, ...]:
        """The names of all alternatives."""
        return read_names(self.folder / INDEX, "alternative")

    @cached_property
    def sizes(self) -> dict[str, IntArray]:
        """Sizes of every block by name."""
        return dict(zip(SIZES, self._index(*(f"block_{name}" for name in SIZES)), strict=True))

    @cached_property
    def multiplicities(self) -> IntArray | None:
        """How many voters every voter stands for; None where everyone stands for herself."""
        (stored,) = self._index("multiplicity")
        return frozen(stored) if len(stored) else None

    # Sizes, known without reading a block

    @property
    def n_instances(self) -> int:
        """How many instances there are."""
        return int(self.sizes["instances"].sum())

    @property
    def n_ballots(self) -> int:
        """How many ballots were cast, empty ones included."""
        return int(self.sizes["ballots"].sum())

    @property
    def n_approvals(self) -> int:
        """How many ticks all ballots hold together."""
        return int(self.sizes["approvals"].sum())

    @property
    def n_pairs(self) -> int:
        """How many pairs of ballots on the same instance there are."""
        return int(self.sizes["pairs"].sum())

    @property
    def most_ballots(self) -> int:
        """Number of ballots on the instance that has most."""
        return int(self.sizes["most_ballots"].max())

    @property
    def has_menus(self) -> bool:
        """Whether instances differ in what they offer."""
        return bool(self.sizes["menus"].any())

    @cached_property
    def ballots_per_voter(self) -> IntArray:
        """Number of ballots every voter cast."""
        return self._index("ballots_per_voter")[0]

    @property
    def total_approvals(self) -> int:
        """How many ticks all ballots hold together, counted as often as they were cast."""
        if self.multiplicities is None:
            return self.n_approvals
        return int(self.multiplicities @ self._index("approvals_per_voter")[0])

    # Parts in memory

    def sample_instances(self, every: int, include: Iterable[str] = ()) -> Ballots:
        """About one in `every` instances, chosen by name so that no order matters, and those named in `include`.

        The last small sample is kept: it takes a look at every block, and one fit after the other asks for the same.
        """
        asked = every, frozenset(include)
        kept = self.__dict__.get("_sample")
        if kept is not None and kept[0] == asked:
            sample: Ballots = kept[1]
            return sample
        sample = self._sampled(*asked)
        if sample.n_instances <= KEPT_SAMPLE:
            object.__setattr__(self, "_sample", (asked, sample))
        return sample

    def _sampled(self, every: int, wanted: frozenset[str]) -> Ballots:
        parts = []
        for block in self.blocks:
            inside = block.keys() % max(every, 1) == 0
            if wanted:
                inside |= np.fromiter((name in wanted for name in block.instances), bool, block.n_instances)
            if inside.any():
                parts.append(block.in_memory(np.flatnonzero(inside)))
        return joined(parts) if parts else self.blocks[0].in_memory(np.arange(1))

    def select(self, *, voters: Iterable[str] | None = None, instances: Iterable[str] | None = None) -> Ballots:
        """The ballots of some voters, some instances or both, in memory; reads only names where nothing is wanted."""
        if instances is None:
            return joined([block.in_memory() for block in self.blocks]).select(voters=voters)
        wanted = {str(name) for name in instances}
        parts = []
        for block in self.blocks:
            rows = [block.instance_index[name] for name in wanted & block.instance_index.keys()]
            if rows:
                parts.append(block.in_memory(np.array(sorted(rows))))
        found = joined(parts) if parts else self.blocks[0].in_memory(np.arange(1))
        return found.select(voters=voters, instances=wanted)

    # Columns of everything, read into memory when asked for

    def in_memory(self) -> Ballots:
        """All ballots, read once and kept."""
        return self._loaded

    @cached_property
    def _loaded(self) -> Ballots:
        return joined([block.in_memory() for block in self.blocks])

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """The names of all instances."""
        return tuple(name for block in self.blocks for name in block.instances)

    @property
    def ballot_start(self) -> IntArray:
        """See `Ballots`."""
        return self._loaded.ballot_start

    @property
    def ballot_voter(self) -> IntArray:
        """See `Ballots`."""
        return self._loaded.ballot_voter

    @property
    def approval_start(self) -> IntArray:
        """See `Ballots`."""
        return self._loaded.approval_start

    @property
    def approved(self) -> IntArray:
        """See `Ballots`."""
        return self._loaded.approved

    @property
    def menu(self) -> Menu | None:
        """See `Ballots`."""
        return self._loaded.menu if self.has_menus else None


def is_packed(folder: str | Path) -> bool:
    """Whether a folder holds packed ballots."""
    try:
        return (Path(folder) / INDEX).is_file()
    except OSError:  # a name too long to be one, for example
        return False


def block_path(folder: Path, number: int) -> Path:
    """Where a block lies."""
    return folder / f"block-{number:05}.npz"


def joined(parts: Sequence[Ballots]) -> Ballots:
    """Parts with the same voters and alternatives, and different instances, as one."""
    if len(parts) == 1:
        return parts[0]
    first, menus = parts[0], [part.menu for part in parts if part.menu is not None]
    ticks = Lists.of_lengths(_all(part.ballot_sizes for part in parts), _all(part.approved for part in parts))
    return Ballots(
        voters=first.voters,
        instances=tuple(name for part in parts for name in part.instances),
        alternatives=first.alternatives,
        ballot_start=starts_of(_all(np.diff(part.ballot_start) for part in parts)),
        ballot_voter=_all(part.ballot_voter for part in parts),
        approval_start=ticks.start,
        approved=ticks.values,
        menu=Menu(starts_of(_all(np.diff(menu.start) for menu in menus)), _all(menu.offered for menu in menus))
        if menus
        else None,
        multiplicities=first.multiplicities,
    )


def _all(columns: Iterable[IntArray]) -> IntArray:
    return np.concatenate(list(columns))
