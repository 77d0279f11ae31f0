"""All shards in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from epivote.data.shards import Shard
from epivote.engines.local import LocalEngine, threads
from epivote.kernels.library import has_loops
from epivote.kernels.passes import CompiledPass
from epivote.model.passes import ArrayPass, Pass
from epivote.model.statistics import GoldRows


def memory_engine(
    shards: Sequence[Shard], gold: Sequence[GoldRows | None], n_voters: int, n_alternatives: int
) -> LocalEngine:
    """An engine over these shards."""
    # A pass is made when first asked for: by the thread that will work on it.
    sources = [cache(partial(_passes, *each)) for each in zip(shards, gold, strict=True)]
    return LocalEngine(sources, n_voters, n_alternatives, threads=threads())


def make_pass(shard: Shard, gold: GoldRows | None) -> Pass:
    """The pass over one shard: by compiled loops, or by arrays where there are none."""
    return CompiledPass(shard, gold) if has_loops() else ArrayPass(shard, gold)


def _passes(shard: Shard, gold: GoldRows | None) -> Sequence[Pass]:
    return (make_pass(shard, gold),)
