"""Passes worked through on this machine, by one or more threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, reduce
from typing import TypeVar

from epivote.data.parameters import Parameters
from epivote.kernels.library import has_loops
from epivote.model.groups import GroupCounts
from epivote.model.passes import Pass
from epivote.model.statistics import FixedCounts, PassCounts, fixed_counts

T = TypeVar("T")
Source = Callable[[], Sequence[Pass]]
"""Gives the passes of some shards, from wherever they are."""
GROUPS = 8  # of shards that threads take one by one: enough to even out their speed; a round number


class LocalEngine:
    """Sums over all passes that the sources give.

    Sources are worked through in a fixed number of groups, each with sums of its own which are added up in the end, so
    that neither the number of threads nor their order changes a result. No two threads write to the same sums.
    """

    def __init__(
        self, sources: Sequence[Source], n_voters: int, n_alternatives: int, *, threads: int, groups: int = GROUPS
    ) -> None:
        self.sources = sources
        self.size = n_voters, n_alternatives
        self.threads, self.groups = threads, groups
        self._fixed: dict[bool, FixedCounts] = {}
        self._previous: Parameters | None = None

    def fixed_counts(self, *, by_menu: bool) -> FixedCounts:
        """What is known before any sets; worked out once, which also reads every source once."""

        def work(group: Sequence[Source]) -> FixedCounts:
            parts = (fixed_counts(one.shard, *self.size, by_menu=by_menu) for source in group for one in source())
            return FixedCounts.joined(parts)

        if by_menu not in self._fixed:
            self._fixed[by_menu] = FixedCounts.joined(self._each(work))
        return self._fixed[by_menu]

    def hard_sums(self, parameters: Parameters) -> PassCounts:
        """What the most likely sets say."""
        if self.threads > 1:
            parameters.prepare(self._previous)
            self._previous = parameters

        def work(group: Sequence[Source]) -> PassCounts:
            counts = PassCounts.none(*self.size)
            for source in group:
                for one in source():
                    one.hard(parameters, counts)
            return counts

        return reduce(PassCounts.include, self._each(work))

    def soft_sums(self, parameters: Parameters) -> tuple[PassCounts, float]:
        """What the probabilities of all sets say, and the sum of all log-partitions."""

        def work(group: Sequence[Source]) -> tuple[PassCounts, float]:
            counts = PassCounts.none(*self.size)
            return counts, sum(one.soft(parameters, counts) for source in group for one in source())

        found = self._each(work)
        return reduce(PassCounts.include, (counts for counts, _ in found)), sum(total for _, total in found)

    def group_sums(self, parameters: Parameters) -> GroupCounts:
        """What the probabilities of all sets and groups say."""

        def work(group: Sequence[Source]) -> GroupCounts:
            passes = (one for source in group for one in source())
            return reduce(GroupCounts.together, (one.groups(parameters, self.size[0]) for one in passes))

        return reduce(GroupCounts.together, self._each(work))

    def each(self, work: Callable[[int, Pass], T]) -> list[T]:
        """What is found on the pass of every source, given its number; each source must have one pass."""
        numbers = {source: number for number, source in enumerate(self.sources)}

        def every(group: Sequence[Source]) -> list[tuple[int, T]]:
            found = []
            for source in group:
                (one,) = source()
                found.append((numbers[source], work(numbers[source], one)))
            return found

        found = dict(result for group in self._each(every) for result in group)
        return [found[number] for number in range(len(self.sources))]

    def _each(self, work: Callable[[Sequence[Source]], T]) -> list[T]:
        """The work on all groups. A thread begins with those that it had last time: its core may still hold them."""
        groups = [self.sources[number :: self.groups] for number in range(min(self.groups, len(self.sources)))]
        workers = min(self.threads, len(groups))
        if workers == 1:
            return [work(group) for group in groups]
        taken: dict[int, int] = {}
        found: dict[int, T] = {}

        def help_out(worker: int) -> None:
            first = worker * len(groups) // workers
            for number in (*range(first, len(groups)), *range(first)):
                if taken.setdefault(number, worker) == worker:
                    found[number] = work(groups[number])

        helping = [_pool(self.threads).submit(help_out, worker) for worker in range(1, workers)]
        help_out(0)
        for helper in helping:
            if not helper.cancel():  # it has begun
                helper.result()
        return [found[number] for number in range(len(groups))]


@cache
def _pool(count: int) -> ThreadPoolExecutor:
    """Threads that all engines share; a forked process makes its own."""
    return ThreadPoolExecutor(count)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def threads() -> int:
    """How many threads to use: `EPIVOTE_THREADS`, else one per core this process may use.

    Only compiled loops leave the interpreter alone, so only they run side by side.
    """
    if not has_loops():
        return 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return int(os.environ.get("EPIVOTE_THREADS", 0)) or usable or 1
