"""Shards held by the workers of a Dask cluster: parameters go out, sums come back, ballots stay where they are."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from importlib.metadata import version
from typing import Any, TypeVar

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import SizeBounds
from epivote.data.parameters import Parameters
from epivote.engines.disk import BlockSource
from epivote.engines.gold import GoldSets
from epivote.engines.local import LocalEngine
from epivote.errors import ClusterError
from epivote.model.groups import GroupCounts
from epivote.model.statistics import FixedCounts, PassCounts

T = TypeVar("T")
INLINE_SECONDS = 0.1  # a worker does a shorter pass in its own loop, without a thread (measured: 9 % of a fit)
POLL_SECONDS = 2.0  # between looks at whether a silent worker still lives; a round number
WORKER_TIMEOUT_SECONDS = 60.0  # without any worker before a fit gives up; a round number
MAX_RETRIES = 3  # workers that may die over the same blocks before a fit gives up; a round number
GAVE_UP = (
    "the cluster gave up: every worker given this block of ballots died (out of memory?); give workers more memory, or "
    "use more of them"
)


class DaskEngine:
    """Blocks dealt out to workers by their threads; each is read once, and again elsewhere if its worker is lost."""

    def __init__(self, client: Any, ballots: AnyBallots, bounds: SizeBounds, gold: Sequence[GoldSets]) -> None:
        with _connected():
            workers = client.sync(_workers, client)
            seats = [address for address, threads in workers.items() for _ in range(threads)]
            _check_versions(client)
            dealt: dict[str, list[BlockSource]] = {}
            for number, (block, known) in enumerate(zip(ballots.blocks, gold, strict=True)):
                source = BlockSource(block, bounds, known, kept=True)
                dealt.setdefault(seats[number % len(seats)], []).append(source)
            size = ballots.n_voters, ballots.n_alternatives
            self._parts = [_Part(client, (sources, *size), address) for address, sources in dealt.items()]
        self._client = client
        self._fixed: dict[bool, FixedCounts] = {}

    def fixed_counts(self, *, by_menu: bool) -> FixedCounts:
        """See `Engine`."""
        if by_menu not in self._fixed:
            self._fixed[by_menu] = FixedCounts.joined(self._each("fixed_counts", by_menu=by_menu))
        return self._fixed[by_menu]

    def hard_sums(self, parameters: Parameters) -> PassCounts:
        """See `Engine`."""
        found: list[PassCounts] = self._sums("hard_sums", parameters)
        return reduce(PassCounts.include, found)

    def soft_sums(self, parameters: Parameters) -> tuple[PassCounts, float]:
        """See `Engine`."""
        found = self._sums("soft_sums", parameters)
        return reduce(PassCounts.include, (counted for counted, _ in found)), sum(total for _, total in found)

    def group_sums(self, parameters: Parameters) -> GroupCounts:
        """See `Engine`."""
        found: list[GroupCounts] = self._sums("group_sums", parameters)
        return reduce(GroupCounts.together, found)

    def _sums(self, method: str, parameters: Parameters) -> list[Any]:
        """What every part finds at these parameters, which are pickled once for all of them."""
        return [pickle.loads(found) for found in self._each("sums", method, pickle.dumps(parameters))]

    def _each(self, method: str, *given: Any, **named: Any) -> list[Any]:
        async def all_parts() -> list[Any]:
            return await asyncio.gather(*(part.asked(method, *given, **named) for part in self._parts))

        with _connected():
            found: list[Any] = self._client.sync(all_parts)
            return found


class _Part:
    """Some blocks with one worker.

    They live there as a Dask actor, which is called without the scheduler's bookkeeping: as a task, every call would
    take longer than the work of a late iteration.
    """

    def __init__(self, client: Any, contents: tuple[Any, ...], address: str) -> None:
        self.client, self.contents = client, contents
        self._place(workers=[address], allow_other_workers=True)

    async def asked(self, method: str, *given: Any, **named: Any) -> Any:
        """What this method of its engine finds; if its worker is lost, what another one finds."""
        for _ in range(MAX_RETRIES):
            try:
                call = getattr(self._actor or await self._bound(), method)(*given, **named)
            except RuntimeError:  # the worker is known to be lost
                call = None
            while call is not None:
                try:
                    return await asyncio.wait_for(call, POLL_SECONDS)
                except TimeoutError:
                    if self._future.status != "finished":  # lost, and no answer will ever come
                        break
                except OSError:  # connection lost; failures of the work itself raise other types
                    break
            self._place()
        raise ClusterError(GAVE_UP)

    def _place(self, **where: Any) -> None:
        self._future = self.client.submit(_Engine, *self.contents, actor=True, pure=False, **where)
        self._actor: Any = None

    async def _bound(self) -> Any:
        with self.client.as_current():  # else it would belong to the client made last
            while self._actor is None:
                try:
                    self._actor = await asyncio.wait_for(self._future, POLL_SECONDS)
                except TimeoutError:
                    await _workers(self.client)
        return self._actor


class _Engine:
    """An engine on a worker, as many threads as the worker was given.

    Parameters and sums come and go as bytes, which Dask passes on as they are. Objects that hold arrays it takes apart
    and puts together again, which takes more computing than the message itself.
    """

    def __init__(self, sources: Sequence[BlockSource], n_voters: int, n_alternatives: int) -> None:
        from distributed import get_worker

        threads = get_worker().state.nthreads
        self.local = LocalEngine(sources, n_voters, n_alternatives, threads=threads, groups=threads)
        self._is_short = False

    def fixed_counts(self, *, by_menu: bool) -> FixedCounts:
        """See `Engine`."""
        return self.local.fixed_counts(by_menu=by_menu)

    async def sums(self, method: str, parameters: bytes) -> bytes:
        """What this method of an `Engine` finds at pickled parameters, pickled."""

        def work(parameters: bytes) -> bytes:
            return pickle.dumps(getattr(self.local, method)(pickle.loads(parameters)))

        return await self._worked(work, parameters)

    async def _worked(self, work: Callable[[bytes], T], parameters: bytes) -> T:
        """What work finds. If it took long last time, a thread does it and the worker stays responsive; else the time
        to hand it over, there and back, is better spent on working.
        """
        began = time.monotonic()
        found = work(parameters) if self._is_short else await asyncio.to_thread(work, parameters)
        self._is_short = time.monotonic() - began < INLINE_SECONDS
        return found


async def _workers(client: Any) -> dict[str, int]:
    """How many threads every worker has; the first worker is waited for, but not for ever."""
    until = time.monotonic() + WORKER_TIMEOUT_SECONDS
    while not (found := await client.nthreads()):
        if time.monotonic() > until:
            waited = f"{WORKER_TIMEOUT_SECONDS:.0f} seconds"
            raise ClusterError(f"the cluster has had no workers for {waited}; start some and resume")
        await asyncio.sleep(min(POLL_SECONDS, WORKER_TIMEOUT_SECONDS))
    return dict(found)


def _check_versions(client: Any) -> None:
    """Refuse workers that would not understand what they are sent: they would die of it, one after the other."""
    for address, found in client.run(version, "epivote", on_error="return").items():
        if found != version("epivote"):
            has = f"epivote {found}" if isinstance(found, str) else "no epivote"
            raise ClusterError(f"the worker {address} has {has}; install epivote {version('epivote')} on every worker")


@contextmanager
def _connected() -> Iterator[None]:
    """Say in one sentence why the cluster cannot do its work."""
    from distributed import CancelledError, KilledWorker
    from distributed.client import ClosedClientError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(GAVE_UP) from error
    except (CancelledError, ClosedClientError, OSError) as error:
        raise ClusterError("the connection to the cluster was lost; resume when it is back") from error
