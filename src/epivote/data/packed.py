"""Ballots packed in a folder: more than fit in memory, read block by block.

    index.npz          voters, alternatives, and the sizes of every block
    block-00000.npz    some instances with all their ballots: names, and the columns that shards are cut from

An instance lies in one block only. Numbers are in the smallest type that holds them; a ballot with at most 64
alternatives on offer is one number of 64 bits. Every file carries checksums, compared whenever it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from epivote.data.ballots import Ballots, Menu, counted
from epivote.data.lists import Lists, Masks
from epivote.data.names import IntArray, frozen, row_ranges, smallest_integers
from epivote.data.shards import Columns
from epivote.data.stored import read_arrays, read_names
from epivote.errors import FileError

VERSION = 1  # of the packed format; raised when older programs could no longer read it
INDEX = "index.npz"
WIDEST_MASK = 64  # alternatives whose ticks fit the bits of one 64-bit number
KEPT_BYTES = 1 << 29  # half a gigabyte of blocks kept between iterations; a round number below the usual memory
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
    def cast(self) -> IntArray:
        """Number of ballots on every instance."""
        return read_arrays(self.path, "cast")[0].astype(np.int64)

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
        return Columns(self.packed.n_voters, self.n_alternatives, _starts(cast), voters, ticks, self._menu())

    def _menu(self) -> Menu | None:
        """What is offered; everything, where that is said of other blocks only."""
        if self.has_menu:
            sizes, offered = read_arrays(self.path, "menu_size", "offered")
            return Menu(_starts(sizes), offered)
        if self.packed.has_menus:
            everything = np.tile(np.arange(self.n_alternatives, dtype=np.int32), self.n_instances)
            return Menu(_starts(self.menu_sizes), everything)
        return None

    def ballots(self, rows: IntArray | None = None) -> Ballots:
        """All its ballots, or those of some rows, in memory."""
        columns = self.columns()
        rows = np.arange(self.n_instances) if rows is None else rows
        cast = row_ranges(columns.ballot_start, rows)
        ticks = columns.ticks.rows(cast).lists()
        approved, menu = ticks.values, None
        counts = np.diff(columns.ballot_start)[rows]
        if columns.menu is not None:
            row_of_tick = np.repeat(np.repeat(rows, counts), ticks.lengths())
            approved = columns.menu.offered[columns.menu.start[row_of_tick] + ticks.values]
            cells = row_ranges(columns.menu.start, rows)
            menu = Menu(_starts(np.diff(columns.menu.start)[rows]), columns.menu.offered[cells])
        return Ballots(
            voters=self.packed.voters,
            instances=read_names(self.path, "instance", rows),
            alternatives=self.packed.alternatives,
            ballot_start=_starts(counts),
            ballot_voter=columns.ballot_voter[cast].astype(np.int32),
            approval_start=ticks.start,
            approved=smallest_integers(approved, self.n_alternatives),
            menu=menu,
        )


class PackedBallots(Ballots):
    """Ballots whose columns stay on disk; every estimator fits them block by block.

    Open them with `epivote.open_packed`, write them with `epivote pack` or `epivote.write_packed`. Whatever else asks
    for a column of all ballots gets it, read into memory.
    """

    def __init__(self, folder: Path, client: Any = None, kept_bytes: int = KEPT_BYTES) -> None:
        index = folder / INDEX
        if not index.is_file():
            raise FileError(f"{folder} holds no packed ballots ({INDEX} is missing); make them with: epivote pack")
        version = int(read_arrays(index, "version")[0][0])
        if version > VERSION:
            raise FileError(f"{folder} was packed by a newer epivote (format {version}); update epivote")
        sizes = read_arrays(index, *(f"block_{name}" for name in SIZES))
        values = {
            "folder": folder,
            "client": client,
            "kept_bytes": kept_bytes,
            "voters": read_names(index, "voter"),
            "alternatives": read_names(index, "alternative"),
            "sizes": dict(zip(SIZES, sizes, strict=True)),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    folder: Path
    client: Any
    kept_bytes: int
    sizes: dict[str, IntArray]
    _sample: tuple[int, frozenset[str], Ballots] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Opened again where it arrives; a client stays where it is."""
        return PackedBallots, (self.folder, None, self.kept_bytes)

    def in_words(self) -> str:
        """`24 voters, 24 instances, ...`."""
        parts = ("voter", "instance", "alternative", "ballot", "approval")
        sizes = ", ".join(counted(getattr(self, f"n_{part}s"), part) for part in parts)
        return f"{sizes} in {counted(len(self.blocks), 'block')}"

    @property
    def blocks(self) -> tuple[PackedBlock, ...]:
        """All blocks, none of them read yet."""
        sizes = zip(*(self.sizes[name].tolist() for name in ("instances", "ballots", "menus")), strict=True)
        return tuple(PackedBlock(self, block_path(self.folder, k), *size) for k, size in enumerate(sizes))

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
        return read_arrays(self.folder / INDEX, "ballots_per_voter")[0]

    # Parts in memory

    def thinned(self, step: int, also: Iterable[str] = ()) -> Ballots:
        """About every `step`-th instance, chosen by name so that no order matters, and those named in `also`.

        The last small answer is kept: it takes a look at every block, and one fit after the other asks for the same.
        """
        wanted = frozenset(also)
        if self._sample is not None and self._sample[:2] == (step, wanted):
            return self._sample[2]
        sample = self._thinned(step, wanted)
        if sample.n_instances <= KEPT_SAMPLE:
            object.__setattr__(self, "_sample", (step, wanted, sample))
        return sample

    def _thinned(self, step: int, wanted: frozenset[str]) -> Ballots:
        parts = []
        for block in self.blocks:
            inside = block.keys() % max(step, 1) == 0
            if wanted:
                inside |= np.fromiter((name in wanted for name in block.instances), bool, block.n_instances)
            if inside.any():
                parts.append(block.ballots(np.flatnonzero(inside)))
        return joined(parts) if parts else self.blocks[0].ballots(np.arange(1))

    def select(self, *, voters: Iterable[str] | None = None, instances: Iterable[str] | None = None) -> Ballots:
        """The ballots of some voters, some instances or both, in memory; reads only names where nothing is wanted."""
        if instances is None:
            return joined([block.ballots() for block in self.blocks]).select(voters=voters)
        wanted = {str(name) for name in instances}
        parts = []
        for block in self.blocks:
            rows = [block.instance_index[name] for name in wanted & block.instance_index.keys()]
            if rows:
                parts.append(block.ballots(np.array(sorted(rows))))
        found = joined(parts) if parts else self.blocks[0].ballots(np.arange(1))
        return found.select(voters=voters, instances=wanted)

    # Columns of everything, read into memory when asked for

    @cached_property
    def _loaded(self) -> Ballots:
        return joined([block.ballots() for block in self.blocks])

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


def open_packed(folder: str | Path, *, client: Any = None, kept_bytes: int = KEPT_BYTES) -> PackedBallots:
    """Packed ballots, to be given to any estimator's `fit`.

    Blocks are read again in every iteration, except for as many as fit in `kept_bytes`. With `client`, a
    `distributed.Client`, they are held by the workers of a Dask cluster, which must see the same folder.
    """
    return PackedBallots(Path(folder), client, kept_bytes)


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
        ballot_start=_starts(_all(np.diff(part.ballot_start) for part in parts)),
        ballot_voter=_all(part.ballot_voter for part in parts),
        approval_start=ticks.start,
        approved=ticks.values,
        menu=Menu(_starts(_all(np.diff(menu.start) for menu in menus)), _all(menu.offered for menu in menus))
        if menus
        else None,
    )


def _all(columns: Iterable[IntArray]) -> IntArray:
    return np.concatenate(list(columns))


def _starts(lengths: IntArray) -> IntArray:
    return frozen(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
