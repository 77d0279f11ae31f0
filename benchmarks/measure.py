"""Methods on one crowd in a process of their own: `python -m benchmarks.measure CROWD METHOD...` prints JSON.

Of each: seconds to build the input, of every fit (by the clock, and computing) and to read out the sets; peak memory
of this process (and of its workers); share of exact sets; and a fingerprint of the sets, by which methods are seen to
agree.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from benchmarks.crowds import CROWDS, Crowd, Sets, share_exact
from benchmarks.methods import METHODS, Method, worker_peaks
from benchmarks.processes import peak_memory

WORTH_TELLING = 1.0


class Run:
    """One method on one crowd: its input is built, and then fitted as often as seems worthwhile."""

    def __init__(self, method: Method, crowd: Crowd, stack: ExitStack) -> None:
        self.method, self.crowd = method, crowd
        begin = time.perf_counter()
        self.built = stack.enter_context(method.build(crowd))
        self.building = time.perf_counter() - begin
        self.seconds: list[float] = []
        self.computing: list[float] = []

    def is_enough(self) -> bool:
        """Whether it was fitted often enough."""
        return len(self.seconds) > further_fits(self.seconds)

    def fit(self) -> None:
        """Once more."""
        begin, began = time.perf_counter(), time.process_time()
        self.fitted = self.method.fit(self.built, self.crowd)
        self.seconds.append(time.perf_counter() - begin)
        self.computing.append(time.process_time() - began)
        if self.seconds[-1] > WORTH_TELLING:
            print(f"  {self.method.title}, fit {len(self.seconds)}: {self.seconds[-1]:.3g} s", file=sys.stderr)

    def result(self) -> dict[str, Any]:
        """Everything that is told about it."""
        peak = {"peak": peak_memory(), "workers": worker_peaks(self.built) if self.method.workers else []}
        begin = time.perf_counter()
        sets = [Sets(np.asarray(one.start), narrowed(one.members)) for one in self.method.sets(self.fitted)]
        return {
            "building": self.building,
            "fits": self.seconds,
            "computing": self.computing,
            "reading": time.perf_counter() - begin,
            **peak,
            "peak_with_sets": peak_memory(),
            "exact": share_exact(self.crowd, iter(sets)),
            "fingerprint": fingerprint(sets),
            "iterations": iterations(self.fitted),
        }


def measured(methods: Sequence[Method], crowd: Crowd) -> list[dict[str, Any]]:
    """Everything that is told about each method; where there are several, their fits take turns."""
    before = yardstick()
    with ExitStack() as stack:
        runs = [Run(method, crowd, stack) for method in methods]
        take_turns(runs)
        speed = {"yardstick": (before + yardstick()) / 2}
        return [{**run.result(), **speed} for run in runs]


def take_turns(runs: Sequence[Run]) -> None:
    """Fit each once, then each once more, until it is enough."""
    while waiting := [run for run in runs if not run.is_enough()]:
        for run in waiting:
            run.fit()


def yardstick() -> float:
    """Seconds of a fixed job, the fastest of five: how fast the machine is just now."""
    numbers = np.random.default_rng(0).random(200_000)

    def once() -> float:
        begin = time.perf_counter()
        np.sort(numbers)
        np.exp(numbers).sum()
        sum(range(200_000))
        return time.perf_counter() - begin

    return min(once() for _ in range(5))


def further_fits(seconds: list[float]) -> int:
    """How many fits follow the first, which may load compiled code: fewer where they are slow."""
    if not seconds:
        return 1
    if seconds[0] > 60:
        return 0
    return 2 if min(seconds) > 5 else 7 if min(seconds) > 0.5 else 15


def narrowed(members: Any) -> Any:
    """The same numbers in fewer bytes."""
    return np.asarray(members).astype(np.uint16)


def fingerprint(sets: Iterable[Sets]) -> str:
    """The same for the same sets, however they are cut into blocks."""
    sizes, members = hashlib.sha256(), hashlib.sha256()
    for one in sets:
        sizes.update(np.diff(one.start).astype(np.uint16).tobytes())
        members.update(narrowed(one.members).tobytes())
    return hashlib.sha256(sizes.digest() + members.digest()).hexdigest()[:16]


def iterations(fitted: Any) -> int | None:
    """How many iterations were made, where the method tells."""
    return getattr(fitted, "n_iter_", getattr(fitted, "n_iterations", None))


def main() -> None:
    """Measure and print."""
    crowd, *methods = sys.argv[1:]
    print(json.dumps(measured([METHODS[name] for name in methods], CROWDS[crowd])))


if __name__ == "__main__":
    main()
