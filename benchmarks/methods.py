"""Every measured method as three steps: build its input, fit, and give the sets it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import epivote
from benchmarks import peers, scipy_reference
from benchmarks.crowds import Crowd, Sets, as_ballots, columns
from benchmarks.processes import peak_memory

Build = Callable[[Crowd], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Method:
    """`build` gives the input (and clears up after), `fit` works on it, `sets` reads out what was found."""

    title: str
    build: Build
    fit: Callable[[Any, Crowd], Any]
    sets: Callable[[Any], Iterator[Sets]]
    workers: int = 0

    @property
    def ours(self) -> bool:
        """Whether it is epivote that is measured."""
        return self.title.startswith("epivote")


def from_columns(make: Callable[[dict[str, Any], Crowd], Any]) -> Build:
    """An input made from columns of numbers."""

    @contextmanager
    def build(crowd: Crowd) -> Iterator[Any]:
        yield make(columns(crowd), crowd)

    return build


@contextmanager
def from_disk(crowd: Crowd) -> Iterator[Any]:
    """The packed folder, opened."""
    yield epivote.open_packed(crowd.folder / "packed")


def from_cluster(workers: int) -> Build:
    """The packed folder on Dask workers of one thread each, which this process reaches without the scheduler."""

    @contextmanager
    def build(crowd: Crowd) -> Iterator[Any]:
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
            Client(cluster, direct_to_workers=True) as client,
        ):
            yield epivote.open_packed(crowd.folder / "packed", client=client)

    return build


def worker_peaks(packed: Any) -> list[float]:
    """Peak memory of the workers that hold packed ballots."""
    return sorted(packed.where.client.run(peak_memory).values())


def estimator(make: Callable[[Crowd], Any]) -> Callable[[Any, Crowd], Any]:
    """A fit by an estimator of epivote."""
    return lambda ballots, crowd: make(crowd).fit(ballots)


def amle(crowd: Crowd) -> Any:
    """AMLE as it comes."""
    return epivote.AMLE(crowd.bounds)


def amle_uniform(crowd: Crowd) -> Any:
    """AMLE from the start of the scipy reference."""
    return epivote.AMLE(crowd.bounds, "uniform")


def em(crowd: Crowd) -> Any:
    """EM as it comes."""
    return epivote.EM(crowd.bounds)


def whole_sets(fitted: Any) -> Iterator[Sets]:
    """Sets of an estimator fitted in memory."""
    yield Sets(fitted.truth_.start, fitted.truth_.members)


def sets_by_block(fitted: Any) -> Iterator[Sets]:
    """Sets of an estimator fitted on packed blocks."""
    for part in fitted.estimate_.parts():
        yield Sets(part.truths.start, part.truths.members)


def scipy_matrices(numbers: dict[str, Any], crowd: Crowd) -> scipy_reference.Matrices:
    """The sparse matrices of the reference."""
    return scipy_reference.build(**numbers, n_voters=crowd.voters, n_alternatives=crowd.alternatives)


in_memory = from_columns(lambda numbers, crowd: as_ballots(crowd, numbers))
in_frame = from_columns(lambda numbers, _: peers.ballot_frame(numbers))

METHODS = {
    "amle": Method("epivote AMLE", in_memory, estimator(amle), whole_sets),
    "amle-uniform": Method("epivote AMLE, uniform start", in_memory, estimator(amle_uniform), whole_sets),
    "em": Method("epivote EM", in_memory, estimator(em), whole_sets),
    "amle-disk": Method("epivote AMLE, disk", from_disk, estimator(amle), sets_by_block),
    "amle-uniform-disk": Method("epivote AMLE, uniform start, disk", from_disk, estimator(amle_uniform), sets_by_block),
    "em-disk": Method("epivote EM, disk", from_disk, estimator(em), sets_by_block),
    "amle-dask-1": Method("epivote AMLE, dask, 1 worker", from_cluster(1), estimator(amle_uniform), sets_by_block, 1),
    "amle-dask-2": Method("epivote AMLE, dask, 2 workers", from_cluster(2), estimator(amle_uniform), sets_by_block, 2),
    "em-dask-1": Method("epivote EM, dask, 1 worker", from_cluster(1), estimator(em), sets_by_block, 1),
    "em-dask-2": Method("epivote EM, dask, 2 workers", from_cluster(2), estimator(em), sets_by_block, 2),
    "scipy": Method(
        "scipy.sparse hard alternation",
        from_columns(scipy_matrices),
        lambda matrices, crowd: scipy_reference.fit(matrices, *crowd.bounds),
        lambda found: iter([peers.sets_of_table(found.chosen)]),
    ),
    "crowdkit-majority": Method(
        "crowd-kit BinaryRelevance(MajorityVote)",
        in_frame,
        lambda frame, _: peers.crowd_kit(frame, "MajorityVote"),
        lambda found: iter([peers.sets_of_series(found)]),
    ),
    "crowdkit-ds": Method(
        "crowd-kit BinaryRelevance(DawidSkene)",
        in_frame,
        lambda frame, _: peers.crowd_kit(frame, "DawidSkene"),
        lambda found: iter([peers.sets_of_series(found)]),
    ),
    "peerannot-ds": Method(
        "peerannot DawidSkene",
        from_columns(peers.peerannot_models),
        lambda models, _: peers.run_peerannot(models),
        lambda models: iter([peers.sets_of_models(models)]),
    ),
}
