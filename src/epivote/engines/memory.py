"""All shards in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from epivote.data.shards import Shard
from epivote.engines.local import LocalEngine, threads
from epivote.kernels.library import worth_calling
from epivote.kernels.passes import CompiledPass
from epivote.model.passes import ArrayPass, Pass
from epivote.model.statistics import GoldRows


def memory_engine(
    shards: Sequence[Shard], gold: Sequence[GoldRows | None], n_voters: int, n_alternatives: int, n_approvals: int
) -> LocalEngine:
    """An engine over these shards."""
    compiled = worth_calling(n_approvals)
    # A pass is made when first asked for: by the thread that will work on it.
    sources = [cache(partial(_passes, *each, compiled=compiled)) for each in zip(shards, gold, strict=True)]
    return LocalEngine(sources, n_voters, n_alternatives, threads=threads(compiled=compiled))


def make_pass(shard: Shard, gold: GoldRows | None, *, compiled: bool) -> Pass:
    """The pass over one shard."""
    return CompiledPass(shard, gold) if compiled else ArrayPass(shard, gold)


def _passes(shard: Shard, gold: GoldRows | None, *, compiled: bool) -> Sequence[Pass]:
    return (make_pass(shard, gold, compiled=compiled),)
