"""Writing packed ballots: a folder that appears whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epivote.data.any_ballots import AnyBallots, name_keys, pairs_in
from epivote.data.ballots import Ballots
from epivote.data.blocks import Columns
from epivote.data.names import IntArray, counts_of, smallest_integers
from epivote.data.packed import INDEX, SIZES, VERSION, PackedBallots, block_path
from epivote.data.packed_block import WIDEST_MASK
from epivote.data.stored import names_as_arrays, write_arrays
from epivote.errors import BallotError, FileError, reason

BALLOTS_PER_BLOCK = 1 << 17  # about a megabyte a block in memory; a round number


def write_packed(blocks: Iterable[AnyBallots], folder: str | Path) -> PackedBallots:
    """Pack ballots that come in parts, one part in memory at a time.

    All parts list the same voters and the same alternatives, and every instance has all its ballots in one part.
    """
    parts = iter(blocks)
    first = next(parts, None)
    if first is None:
        raise BallotError("there are no ballots at all; check that the file or selection is the one you meant")
    with packing(folder, first.voters, first.alternatives, first.multiplicities) as packer:
        packer.add(first)
        for part in parts:
            packer.add(part)
    return PackedBallots(Path(folder))


@contextmanager
def packing(
    folder: str | Path, voters: Sequence[str], alternatives: Sequence[str], multiplicities: IntArray | None = None
) -> Iterator[Packer]:
    """A packer whose folder appears when all went well, and not at all otherwise."""
    target = Path(folder)
    if target.exists():
        raise FileError(f"{target} already exists; remove it or choose another folder")
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        packer = Packer(temporary, tuple(voters), tuple(alternatives), multiplicities)
        yield packer
        packer.finish()
        temporary.chmod(0o755)
        temporary.rename(target)
    except OSError as error:
        raise FileError(f"cannot write {target}: {reason(error)}; nothing was packed") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


class Packer:
    """Writes blocks, and in the end the index."""

    def __init__(
        self, folder: Path, voters: tuple[str, ...], alternatives: tuple[str, ...], multiplicities: IntArray | None
    ) -> None:
        self.folder, self.voters, self.alternatives = folder, voters, alternatives
        self.multiplicities: IntArray = np.zeros(0, np.int64) if multiplicities is None else multiplicities
        self.ballots_per_voter = np.zeros(len(voters), np.int64)
        self.approvals_per_voter = np.zeros(len(voters), np.int64)
        self.sizes: list[tuple[int, ...]] = []

    def add(self, ballots: AnyBallots) -> None:
        """Write some instances with all their ballots, in one block or several."""
        for part in ballots.parts():
            self._add(part)

    def _add(self, part: Ballots) -> None:
        if part.voters != self.voters or part.alternatives != self.alternatives:
            raise BallotError("every part to be packed must list the same voters and the same alternatives")
        if not np.array_equal(() if part.multiplicities is None else part.multiplicities, self.multiplicities):
            raise BallotError("a voter must have the same multiplicity in every part to be packed")
        self.ballots_per_voter += part.ballots_per_voter
        self.approvals_per_voter += counts_of(part.ballot_voter, part.ballot_sizes, part.n_voters)
        columns = part.columns()
        begin = 0
        while begin < part.n_instances:
            full = int(part.ballot_start[begin]) + BALLOTS_PER_BLOCK
            end = max(begin + 1, int(np.searchsorted(part.ballot_start, full, side="right")) - 1)
            self._write(part.instances[begin:end], columns, begin, end)
            begin = end

    def finish(self) -> None:
        """Write the index."""
        if not self.sizes:
            raise BallotError("there are no ballots at all; check that the file or selection is the one you meant")
        table = np.array(self.sizes, np.int64).T
        write_arrays(
            self.folder / INDEX,
            {
                "version": np.array([VERSION]),
                **names_as_arrays("voter", self.voters),
                **names_as_arrays("alternative", self.alternatives),
                "ballots_per_voter": self.ballots_per_voter,
                "approvals_per_voter": self.approvals_per_voter,
                "multiplicity": self.multiplicities,
                **{f"block_{name}": column for name, column in zip(SIZES, table, strict=True)},
            },
        )

    def _write(self, instances: tuple[str, ...], columns: Columns, begin: int, end: int) -> None:
        start = columns.ballot_start[begin : end + 1]
        cast = np.diff(start)
        ticks = columns.ticks.part(int(start[0]), int(start[-1]))
        arrays: dict[str, NDArray[Any]] = {
            **names_as_arrays("instance", instances),
            "instance_key": name_keys(instances),
            "cast": _smallest(cast),
            "voter": smallest_integers(columns.ballot_voter[start[0] : start[-1]], len(self.voters)),
        }
        widths = columns.menu_sizes[begin:end]
        if widths.max(initial=0) <= WIDEST_MASK:
            arrays["mask"] = ticks.masks()
        else:
            lists = ticks.lists()
            arrays |= {"tick_count": _smallest(lists.lengths()), "tick": smallest_integers(lists.values, widths.max())}
        if columns.menu is not None:
            cells = slice(columns.menu.start[begin], columns.menu.start[end])
            arrays |= {"menu_size": _smallest(widths), "offered": columns.menu.offered[cells]}
        write_arrays(block_path(self.folder, len(self.sizes)), arrays)
        approvals = int(ticks.lengths().sum())
        self.sizes.append(
            (
                end - begin,
                len(arrays["voter"]),
                approvals,
                pairs_in(cast),
                int(cast.max(initial=0)),
                columns.menu is not None,
            )
        )


def _smallest(values: IntArray) -> IntArray:
    return smallest_integers(values, int(values.max(initial=0)))
