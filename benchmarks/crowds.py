"""The crowds that are measured: drawn once per run by a process of their own, kept on disk, read by every method.

`python -m benchmarks.crowds NAME` draws one. Crowds above a million instances are drawn block after block with the
same voters, and are kept in packed form only.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import epivote
from epivote import Ballots, Simulation, Truths, reference_crowd, simulate

DATA = Path(__file__).parent.parent / "build" / "bench" / "data"
SEED = 1
BLOCK = 100_000
LARGEST_WHOLE = 1_000_000
COLUMNS = ("ballot_start", "ballot_voter", "approval_start", "approved")


@dataclass(frozen=True)
class Crowd:
    """A reference crowd: sizes, and true sets of 1..upper alternatives."""

    name: str
    instances: int
    voters: int
    alternatives: int
    upper: int

    @property
    def bounds(self) -> tuple[int, int]:
        """Size bounds of the true sets."""
        return 1, self.upper

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return DATA / self.name

    @property
    def whole(self) -> bool:
        """Whether it is also kept as columns that are loaded into memory."""
        return self.instances <= LARGEST_WHOLE

    def __str__(self) -> str:
        """Name and sizes."""
        return f"{self.name} ({self.instances:,} / {self.voters:,} / {self.alternatives}, 1..{self.upper})"


CROWDS = {
    crowd.name: crowd
    for crowd in (
        Crowd("S", 2_000, 100, 10, 3),
        Crowd("M", 50_000, 1_000, 20, 4),
        Crowd("XL", 1_000_000, 10_000, 50, 5),
        Crowd("10xXL", 10_000_000, 10_000, 50, 5),
        Crowd("20xXL", 20_000_000, 10_000, 50, 5),
    )
}


class Sets(NamedTuple):
    """Sets of some instances in order: `members[start[z] : start[z + 1]]`, ascending."""

    start: npt.NDArray[Any]
    members: npt.NDArray[Any]


def drawn(crowd: Crowd) -> Iterator[Simulation]:
    """The crowd whole, or in blocks that share their voters."""
    if crowd.whole:
        yield reference_crowd(crowd.instances, crowd.voters, crowd.alternatives, crowd.upper, seed=SEED)
        return
    rates = reference_crowd(1, crowd.voters, crowd.alternatives, crowd.upper, seed=SEED).parameters
    for number, begin in enumerate(range(0, crowd.instances, BLOCK)):
        size = min(BLOCK, crowd.instances - begin)
        rng = np.random.default_rng([SEED, number])
        truths = reference_crowd(size, 5, crowd.alternatives, crowd.upper, seed=rng).gold
        names = tuple(f"i{z}" for z in range(begin + 1, begin + size + 1))
        yield simulate(
            instances=size,
            voters=crowd.voters,
            alternatives=crowd.alternatives,
            bounds=crowd.bounds,
            hit_rates=rates.hit_rates,
            false_alarm_rates=rates.false_alarm_rates,
            truths=Truths(names, truths.alternatives, truths.start, truths.members),
            ballots_per_instance=5,
            seed=rng,
        )


def prepare(crowd: Crowd) -> None:
    """Draw and keep: columns, packed blocks, true sets, and what is known about them."""
    shutil.rmtree(crowd.folder, ignore_errors=True)
    crowd.folder.mkdir(parents=True)
    sizes, members, counts = [], [], {"ballots": 0, "approvals": 0}
    drawing = 0.0

    def blocks() -> Iterator[Ballots]:
        nonlocal drawing
        source = drawn(crowd)
        while True:
            begin = time.perf_counter()
            block = next(source, None)
            drawing += time.perf_counter() - begin
            if block is None:
                return
            sizes.append(block.gold.sizes.astype(np.uint8))
            members.append(block.gold.members.astype(np.uint16))
            counts["ballots"] += block.ballots.n_ballots
            counts["approvals"] += block.ballots.n_approvals
            print(f"  {sum(map(len, sizes)):,} instances drawn", file=sys.stderr)
            if crowd.whole:
                for column in COLUMNS:
                    np.save(crowd.folder / f"{column}.npy", getattr(block.ballots, column))
            yield block.ballots

    begin = time.perf_counter()
    epivote.write_packed(blocks(), crowd.folder / "packed")
    packing = time.perf_counter() - begin - drawing
    np.save(crowd.folder / "gold_start.npy", np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.int64)]))
    np.save(crowd.folder / "gold_members.npy", np.concatenate(members))
    packed = sum(file.stat().st_size for file in (crowd.folder / "packed").rglob("*") if file.is_file())
    about = {"crowd": asdict(crowd), **counts, "drawing": drawing, "packing": packing, "packed_bytes": packed}
    (crowd.folder / "about.json").write_text(json.dumps(about))


def about(crowd: Crowd) -> dict[str, Any]:
    """What was written beside a prepared crowd."""
    return dict(json.loads((crowd.folder / "about.json").read_text()))


def columns(crowd: Crowd) -> dict[str, npt.NDArray[Any]]:
    """Columns sorted by instance, as numbers: what every method builds its own input from."""
    return {column: np.load(crowd.folder / f"{column}.npy") for column in COLUMNS}


def as_ballots(crowd: Crowd, numbers: dict[str, npt.NDArray[Any]]) -> Ballots:
    """The columns with names."""
    return Ballots(
        voters=tuple(f"v{i}" for i in range(1, crowd.voters + 1)),
        instances=tuple(f"i{z}" for z in range(1, crowd.instances + 1)),
        alternatives=tuple(f"a{j}" for j in range(1, crowd.alternatives + 1)),
        ballot_start=numbers["ballot_start"],
        ballot_voter=numbers["ballot_voter"],
        approval_start=numbers["approval_start"],
        approved=numbers["approved"],
    )


def share_exact(crowd: Crowd, found: Iterator[Sets]) -> float:
    """Share of instances whose whole set is the true one; the sets come in order, in any blocks."""
    start = np.load(crowd.folder / "gold_start.npy", mmap_mode="r")
    members = np.load(crowd.folder / "gold_members.npy", mmap_mode="r")
    begin = right = 0
    for sets in found:
        end = begin + len(sets.start) - 1
        gold = Sets(start[begin : end + 1] - start[begin], members[start[begin] : start[end]])
        right += int(np.count_nonzero(same_sets(sets, gold, crowd.alternatives)))
        begin = end
    if begin != crowd.instances:
        raise ValueError(f"{begin:,} sets were found for {crowd.instances:,} instances")
    return right / crowd.instances


def same_sets(one: Sets, other: Sets, n_alternatives: int) -> npt.NDArray[np.bool_]:
    """Where both have the same set, instance by instance."""
    instances = np.arange(len(one.start) - 1)
    cells, others = (np.repeat(instances, np.diff(sets.start)) * n_alternatives + sets.members for sets in (one, other))
    same = np.ones(len(instances), bool)
    same[np.setxor1d(cells, others, assume_unique=True) // n_alternatives] = False
    return same


if __name__ == "__main__":
    prepare(CROWDS[sys.argv[1]])
