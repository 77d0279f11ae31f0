"""Shards held by the workers of a Dask cluster: parameters go out, sums come back, ballots stay where they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from epivote.data.bounds import SizeBounds
from epivote.data.packed import PackedBallots
from epivote.data.parameters import Parameters
from epivote.engines.disk import BlockSource
from epivote.engines.local import GROUPS, LocalEngine
from epivote.errors import ClusterError
from epivote.model.passes import worth_compiling
from epivote.model.statistics import Frame, Sums

T = TypeVar("T")
Gold = Mapping[str, frozenset[str]]
GLANCE = 2.0
PATIENCE = 60.0


class DaskEngine:
    """Groups of blocks, each read once by a worker, and read again by another if that worker is lost.

    An iteration submits one small task per group; nothing is left on the scheduler when it is over.
    """

    def __init__(self, packed: PackedBallots, bounds: SizeBounds, gold: Sequence[Gold]) -> None:
        self.client = packed.client
        compiled = worth_compiling(packed.n_approvals)
        sources = [
            BlockSource(block, bounds, known, compiled=compiled, kept=True)
            for block, known in zip(packed.blocks, gold, strict=True)
        ]
        count = min(len(sources), self._threads() or GROUPS)  # a task costs milliseconds, however little it has to do
        groups = [sources[number::count] for number in range(count)]
        size = packed.n_voters, packed.n_alternatives
        self._held = [self.client.submit(_hold, group, *size, pure=False) for group in groups]
        self._frames: dict[bool, Frame] = {}

    def frame(self, *, by_menu: bool) -> Frame:
        """See `Engine`."""
        if by_menu not in self._frames:
            self._frames[by_menu] = Frame.joined(self._each(_frame, by_menu))
        return self._frames[by_menu]

    def hard_sums(self, parameters: Parameters) -> Sums:
        """See `Engine`."""
        return reduce(Sums.together, self._each(LocalEngine.hard_sums, parameters))

    def soft_sums(self, parameters: Parameters) -> tuple[Sums, float]:
        """See `Engine`."""
        found = self._each(LocalEngine.soft_sums, parameters)
        return reduce(Sums.together, (counted for counted, _ in found)), sum(total for _, total in found)

    def _each(self, work: Callable[..., T], *given: Any) -> list[T]:
        from distributed import CancelledError, KilledWorker

        tasks = [self.client.submit(work, held, *given, pure=False) for held in self._held]
        try:
            self._wait(tasks)
            found: list[T] = self.client.gather(tasks)
        except KilledWorker as error:
            raise ClusterError(
                "the cluster gave up: the workers that took a part of the ballots died one after the other, perhaps "
                "for want of memory; give them more, or take more workers"
            ) from error
        except (CancelledError, OSError) as error:
            raise ClusterError("the connection to the cluster was lost; resume when it is back") from error
        except BaseException:
            self.client.cancel(tasks)
            raise
        return found

    def _wait(self, tasks: list[Any]) -> None:
        """Until all are done; waits for lost workers to come back, but not for ever."""
        from distributed import wait

        deserted: float | None = None
        while True:
            try:
                wait(tasks, timeout=GLANCE)
            except TimeoutError:
                now = time.monotonic()
                deserted = None if self._threads() else deserted or now
                if deserted and now - deserted > PATIENCE:
                    raise ClusterError(
                        f"the cluster has had no workers for {PATIENCE:.0f} seconds; start some and resume"
                    ) from None
            else:
                return

    def _threads(self) -> int:
        return sum(worker["nthreads"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values())


def _hold(group: Sequence[BlockSource], n_voters: int, n_alternatives: int) -> LocalEngine:
    return LocalEngine(group, n_voters, n_alternatives, parallel=False)


def _frame(engine: LocalEngine, by_menu: bool) -> Frame:
    return engine.frame(by_menu=by_menu)
