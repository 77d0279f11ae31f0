"""All shards in memory, worked through by as many threads as there are cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from epivote.data.shards import Shard
from epivote.model.passes import ArrayPass, CompiledPass, Known, Pass, worth_compiling

T = TypeVar("T")


class MemoryEngine:
    """One pass object per shard; results come in the order of the shards, so the number of threads changes nothing."""

    def __init__(
        self,
        shards: Sequence[Shard],
        known: Sequence[Known | None],
        n_voters: int,
        n_alternatives: int,
        *,
        by_menu: bool,
    ) -> None:
        self.compiled = worth_compiling(sum(len(shard.tick_column) for shard in shards))
        kind = CompiledPass if self.compiled else ArrayPass
        self.passes: list[Pass] = [
            kind(shard, given, n_voters, n_alternatives, by_menu=by_menu)
            for shard, given in zip(shards, known, strict=True)
        ]

    def each(self, work: Callable[[Pass], T]) -> list[T]:
        """What `work` gives for every pass; compiled ones run side by side."""
        if not self.compiled or len(self.passes) == 1:
            return [work(one) for one in self.passes]
        with ThreadPoolExecutor(threads()) as pool:
            return list(pool.map(work, self.passes))


def threads() -> int:
    """How many threads to use: `EPIVOTE_THREADS`, else one per core this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(os.environ.get("EPIVOTE_THREADS", 0)) or usable or 1
