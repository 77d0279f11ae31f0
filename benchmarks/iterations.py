"""Seconds per iteration, measured such that everything done once cancels.

A fit of few iterations is taken from a fit of more; the difference, over the iterations between them, is what counts.
Hard iterations skip sets that cannot change; the method `anew` measures hard passes that choose all of them.
Asked for one point as JSON (`python -m benchmarks.iterations POINT`), the process draws a crowd and answers for it.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import Any, Literal, Self

import numpy as np

import epivote
from benchmarks.crowds import DATA, Crowd, drawn
from benchmarks.processes import peak_memory
from epivote import AMLE, EM, Ballots, CrowdWarning, Parameters, SizeBounds
from epivote.data.any_ballots import AnyBallots
from epivote.estimate.workload import workload

FEW, MORE = 2, 12  # iterations of the two fits whose difference counts
ENOUGH = 21  # measurements whose median counts, if they take no longer than PATIENCE
LEAST, PATIENCE = 2.0, 60.0  # seconds: short moments in which the machine is slow, and what a point may take
FIRST_GUESS = 0.7, 0.2, 0.5
FAR_FROM_IT = 0.6, 0.35, 0.5  # so far that hardly any set is skipped from one to the other
Method = Literal["amle", "anew", "em"]


@dataclass(frozen=True)
class Point:
    """A crowd of reference sizes, and how it is fitted."""

    instances: int
    voters: int
    alternatives: int
    upper: int
    bound: int
    method: Method
    engine: Literal["memory", "disk"] = "memory"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A point from its JSON."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """The point as JSON."""
        return json.dumps(asdict(self))

    @property
    def crowd(self) -> Crowd:
        """What is drawn."""
        return Crowd("growth", self.instances, self.voters, self.alternatives, self.upper)


def fit(point: Point, ballots: Any, iterations: int) -> int:
    """A fit that stops after so many iterations; how many it made."""
    warnings.simplefilter("ignore", CrowdWarning)
    bounds = 1, point.bound
    if point.method == "em":
        return EM(bounds, tolerance=0, max_iterations=iterations).fit(ballots).n_iter_
    return AMLE(bounds, same_for_all(point, *FIRST_GUESS), tolerance=0, max_iterations=iterations).fit(ballots).n_iter_


def same_for_all(point: Point, hit_rate: float, false_alarm_rate: float, prior: float) -> Parameters:
    """Parameters that do not tell voters or alternatives apart."""
    rates = np.full(point.voters, hit_rate), np.full(point.voters, false_alarm_rate)
    return Parameters(*rates, np.full(point.alternatives, prior))


def seconds_per_iteration(run: Callable[[int], int]) -> float:
    """Median over several pairs of fits, few iterations against more; fewer pairs where fits are slow.

    The iterations are always the same ones: hard passes become cheaper the fewer sets still change.
    """
    run(FEW)

    def once() -> float:
        (few_made, few), (more_made, many) = timed(run, FEW), timed(run, MORE)
        return (many - few) / (more_made - few_made)

    return median_of(once)


def median_of(measurement: Callable[[], float]) -> float:
    """The median of enough measurements over enough time: at least three, even if they take long."""
    found: list[float] = []
    begin = time.perf_counter()
    while len(found) < 3 or time.perf_counter() - begin < (PATIENCE if len(found) < ENOUGH else LEAST):
        found.append(measurement())
    return statistics.median(found)


def seconds_per_pass_anew(point: Point, ballots: AnyBallots) -> float:
    """Median seconds of hard passes that choose every set, since rates are far from those of the pass before."""
    work = workload(ballots, SizeBounds(1, point.bound), None)
    both = [same_for_all(point, *rates) for rates in (FIRST_GUESS, FAR_FROM_IT)]
    for parameters in both:
        work.hard_step(parameters)
    following = cycle(both)

    def once() -> float:
        parameters, before = next(following), time.perf_counter()
        work.hard_step(parameters)
        return time.perf_counter() - before

    return median_of(once)


def timed(run: Callable[[int], int], iterations: int) -> tuple[int, float]:
    """Iterations made, and seconds."""
    begin = time.perf_counter()
    made = run(iterations)
    return made, time.perf_counter() - begin


def ballots_in_memory(point: Point) -> Ballots:
    """The crowd of a point, its blocks joined."""
    blocks = [block.ballots for block in drawn(point.crowd)]
    if len(blocks) == 1:
        return blocks[0]

    def joined_starts(name: str) -> Any:
        return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(getattr(block, name)) for block in blocks]))])

    return Ballots(
        voters=blocks[0].voters,
        instances=tuple(name for block in blocks for name in block.instances),
        alternatives=blocks[0].alternatives,
        ballot_start=joined_starts("ballot_start"),
        ballot_voter=np.concatenate([block.ballot_voter for block in blocks]),
        approval_start=joined_starts("approval_start"),
        approved=np.concatenate([block.approved for block in blocks]),
    )


def measured(point: Point) -> dict[str, Any]:
    """Seconds per iteration of a point."""
    if point.engine == "memory":
        ballots = ballots_in_memory(point)
        counts = {"approvals": ballots.n_approvals, "ballots": ballots.n_ballots}
        return {**counts, "seconds": seconds(point, ballots), "peak": peak_memory()}
    DATA.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        counts = {"approvals": 0, "ballots": 0}

        def blocks() -> Any:
            for block in drawn(point.crowd):
                counts["approvals"] += block.ballots.n_approvals
                counts["ballots"] += block.ballots.n_ballots
                yield block.ballots

        epivote.write_packed(blocks(), f"{folder}/packed")
        packed = epivote.open_packed(f"{folder}/packed")
        return {**counts, "seconds": seconds(point, packed), "peak": peak_memory()}


def seconds(point: Point, ballots: Any) -> float:
    """Of one iteration, or of a pass that chooses every set."""
    if point.method == "anew":
        return seconds_per_pass_anew(point, ballots)
    return seconds_per_iteration(lambda iterations: fit(point, ballots, iterations))


if __name__ == "__main__":
    print(json.dumps(measured(Point.from_json(sys.argv[1]))))
