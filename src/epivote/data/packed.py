"""Ballots packed in a folder: more than fit in memory, read block by block.

    index.npz          voters, alternatives, and the sizes of every block
    block-00000.npz    some instances with all their ballots: names, and the columns that shards are cut from

An instance lies in one block only. Numbers are in the smallest type that holds them; a ballot with at most 64
alternatives on offer is one number of 64 bits. Every file carries checksums, compared whenever it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.blocks import Menu
from epivote.data.lists import Lists
from epivote.data.names import IntArray, counted, frozen, starts_of
from epivote.data.packed_block import WIDEST_MASK as WIDEST_MASK
from epivote.data.packed_block import PackedBlock
from epivote.data.stored import read_arrays, read_names, stored_checksums
from epivote.errors import FileError

VERSION = 2  # of the packed format; raised when older programs could no longer read it
INDEX = "index.npz"
KEPT_SAMPLE = 5000  # instances; a larger sample of packed ballots is read anew rather than kept
SIZES = ("instances", "ballots", "approvals", "pairs", "most_ballots", "menus")


class Renaming(NamedTuple):
    """Other names for the voters, and which of those on disk each one is."""

    names: tuple[str, ...]
    order: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class PackedBallots(AnyBallots):
    """Ballots whose columns stay on disk; every estimator fits them block by block.

    Open them with `epivote.open_packed`, write them with `epivote pack` or `epivote.write_packed`. Their columns are
    read of one block after the other (`parts`), of some instances (`select`, `rows`), or of all (`in_memory`).
    """

    folder: Path
    where: Any = None
    renaming: Renaming | None = None
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
        return PackedBallots, (self.folder, self.where, self.renaming)

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
        return read_names(self.folder / INDEX, "voter") if self.renaming is None else self.renaming.names

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
        return frozen(self._per_voter("multiplicity")) if len(self._index("multiplicity")[0]) else None

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
        return self._per_voter("ballots_per_voter")

    @property
    def total_approvals(self) -> int:
        """How many ticks all ballots hold together, counted as often as they were cast."""
        if self.multiplicities is None:
            return self.n_approvals
        return int(self.multiplicities @ self._per_voter("approvals_per_voter"))

    def _per_voter(self, name: str) -> IntArray:
        """A number for every voter from the index, in the order of the voters."""
        (stored,) = self._index(name)
        return stored if self.renaming is None else stored[self.renaming.order]

    def with_voters(self, names: tuple[str, ...], order: IntArray) -> PackedBallots:
        """The same with voters in another order and under other names; what lies on disk stays as it is."""
        stored = order if self.renaming is None else self.renaming.order[order]
        return PackedBallots(self.folder, self.where, Renaming(names, stored))

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
            return self.in_memory().select(voters=voters)
        wanted = {str(name) for name in instances}
        parts = []
        for block in self.blocks:
            rows = [block.instance_index[name] for name in wanted & block.instance_index.keys()]
            if rows:
                parts.append(block.in_memory(np.array(sorted(rows))))
        found = joined(parts) if parts else self.blocks[0].in_memory(np.arange(1))
        return found.select(voters=voters, instances=wanted)

    def parts(self, places: IntArray | None = None) -> Iterator[Ballots]:
        """The ballots of one block after the other; with `places`, of the instances with these numbers."""
        if places is None:
            yield from (block.in_memory() for block in self.blocks)
        else:
            yield from (block.in_memory(rows) for block, rows in self._among_blocks(places))

    def rows(self, places: IntArray) -> Ballots:
        """The ballots of the instances with these numbers, ascending, together in memory."""
        return joined(list(self.parts(places)))

    def places(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of those of these instances that are there, in their order."""
        wanted = list(names)
        asked = set(wanted)
        found: dict[str, int] = {}
        for block, first in zip(self.blocks, self._edges.tolist(), strict=False):
            if len(found) == len(asked):
                break
            found |= {name: first + z for z, name in enumerate(block.instances) if name in asked}
        return {name: found[name] for name in wanted if name in found}

    def names_at(self, places: IntArray) -> list[str]:
        """The names of the instances with these numbers."""
        order = np.argsort(places, kind="stable")
        found = [read_names(block.path, "instance", rows) for block, rows in self._among_blocks(places[order])]
        names = [name for part in found for name in part]
        return [names[rank] for rank in np.argsort(order).tolist()]

    def _among_blocks(self, places: IntArray) -> Iterator[tuple[PackedBlock, IntArray]]:
        """The blocks that hold these instances, ascending, and the rows of these instances in them."""
        edges = self._edges
        for block, first, (begin, end) in zip(
            self.blocks, edges, pairwise(np.searchsorted(places, edges)), strict=False
        ):
            if begin < end:
                yield block, places[begin:end] - first

    @property
    def _edges(self) -> IntArray:
        """The number of the first instance of every block, and how many there are in all."""
        return starts_of(self.sizes["instances"])

    def in_memory(self) -> Ballots:
        """All ballots, read anew every time."""
        return joined(list(self.parts()))

    # One number or name for every instance

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of all instances."""
        return tuple(name for block in self.blocks for name in block.instances)

    @cached_property
    def ballots_per_instance(self) -> IntArray:
        """Number of ballots on every instance; of those who stand for several, one."""
        return frozen(_all(block.ballots_per_instance for block in self.blocks))

    @cached_property
    def cast_per_instance(self) -> IntArray:
        """Number of ballots on every instance, counted as often as they were cast."""
        return frozen(_all(block.cast_per_instance for block in self.blocks))

    @cached_property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""
        return frozen(_all(block.menu_sizes for block in self.blocks))


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
