"""One method on one crowd in a process of its own: `python -m benchmarks.measure METHOD CROWD` prints JSON.

Seconds to build the input, of every fit (by the clock, and computing) and to read out the sets; peak memory of this
process (and of its workers); share of exact sets; and a fingerprint of the sets, by which methods are seen to agree.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.crowds import CROWDS, Crowd, Sets, share_exact
from benchmarks.methods import METHODS, Method, worker_peaks
from benchmarks.processes import peak_memory

WORTH_TELLING = 1.0


def measured(method: Method, crowd: Crowd) -> dict[str, Any]:
    """Everything that is told about one method on one crowd."""
    before = yardstick()
    begin = time.perf_counter()
    with method.build(crowd) as built:
        building = time.perf_counter() - begin
        seconds: list[float] = []
        computing: list[float] = []
        while len(seconds) <= further_fits(seconds):
            begin, began = time.perf_counter(), time.process_time()
            fitted = method.fit(built, crowd)
            seconds.append(time.perf_counter() - begin)
            computing.append(time.process_time() - began)
            if seconds[-1] > WORTH_TELLING:
                print(f"  fit {len(seconds)}: {seconds[-1]:.3g} s", file=sys.stderr)
        after = yardstick()
        peak = {"peak": peak_memory(), "workers": worker_peaks() if method.workers else []}
        begin = time.perf_counter()
        sets = [Sets(np.asarray(one.start), narrowed(one.members)) for one in method.sets(fitted)]
        reading = time.perf_counter() - begin
        peak["peak_with_sets"] = peak_memory()
    return {
        "building": building,
        "fits": seconds,
        "computing": computing,
        "yardstick": (before + after) / 2,
        "reading": reading,
        **peak,
        "exact": share_exact(crowd, iter(sets)),
        "fingerprint": fingerprint(sets),
        "iterations": iterations(fitted),
    }


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
    method, crowd = sys.argv[1:]
    print(json.dumps(measured(METHODS[method], CROWDS[crowd])))


if __name__ == "__main__":
    main()
