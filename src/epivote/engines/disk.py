"""Shards packed on disk, read block by block in every iteration; as many as fit in a budget stay in memory."""

from __future__ import annotations

from collections.abc import Sequence

from epivote.data.any_ballots import AnyBallots
from epivote.data.blocks import Block
from epivote.data.bounds import SizeBounds
from epivote.data.shards import CELLS_PER_SHARD, make_shards
from epivote.engines.gold import GoldSets, gold_rows
from epivote.engines.local import LocalEngine, threads
from epivote.engines.memory import make_pass
from epivote.kernels.library import has_loops
from epivote.model.passes import Pass

BYTES_PER_BALLOT = 12  # a voter's number (4) and a mask (8)
BYTES_PER_INSTANCE = 32  # where its ballots start (8), and what a pass remembers of it (16 or 24)
BYTES_PER_VOTER = 16  # two sums of 8 bytes in every shard
CELLS_PER_COMPILED_SHARD = 1 << 21
"""Alternatives offered, over all instances of a shard; a round number.

Compiled passes need no tables, only sums for all voters per shard: the fewer shards the better.
"""


def disk_engine(ballots: AnyBallots, bounds: SizeBounds, gold: Sequence[GoldSets], kept_bytes: int) -> LocalEngine:
    """An engine over all blocks, whose gold sets are given block by block; the first ones stay in memory."""
    room = kept_bytes
    sources = []
    for block, known in zip(ballots.blocks, gold, strict=True):
        n_shards = 1 + block.n_instances * ballots.n_alternatives // _cells()
        room -= block.n_ballots * BYTES_PER_BALLOT + block.n_instances * BYTES_PER_INSTANCE
        room -= n_shards * ballots.n_voters * BYTES_PER_VOTER
        sources.append(BlockSource(block, bounds, known, kept=room >= 0))
    return LocalEngine(sources, ballots.n_voters, ballots.n_alternatives, threads=threads())


class BlockSource:
    """The passes over one block, read anew every time, or once if they may be kept."""

    def __init__(self, block: Block, bounds: SizeBounds, gold: GoldSets, *, kept: bool) -> None:
        self.block, self.bounds, self.gold, self.kept = block, bounds, gold, kept
        self._passes: Sequence[Pass] | None = None

    def __call__(self) -> Sequence[Pass]:
        """Passes over all shards of the block."""
        if self._passes is not None:
            return self._passes
        shards = make_shards(self.block.columns(), *self.bounds.resolve(self.block), _cells())
        known = gold_rows(self.gold, self.block.in_memory(), shards) if self.gold else [None] * len(shards)
        passes = [make_pass(shard, given) for shard, given in zip(shards, known, strict=True)]
        if self.kept:
            self._passes = passes
        return passes


def _cells() -> int:
    return CELLS_PER_COMPILED_SHARD if has_loops() else CELLS_PER_SHARD
