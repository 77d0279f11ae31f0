"""Part `roofline`: bytes an iteration touches per second against what this machine can read, measured side by side.

`python -m benchmarks.roofline` answers for the XL crowd; with `count METHOD ITERATIONS` it only fits, so that
`perf stat` can count the instructions of two such processes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

import numpy as np

from benchmarks.crowds import CROWDS, as_ballots, columns
from benchmarks.iterations import FEW, Point, fit, seconds_per_iteration
from benchmarks.processes import ROOT, answer_of
from epivote import Ballots
from experiments.store import Store

CROWD = CROWDS["XL"]
NUMBERS_READ = 1 << 27
COUNTED = 10
METHODS: tuple[Literal["amle", "em"], ...] = ("amle", "em")
SETTINGS = {"crowd": CROWD.name, "numbers_read": NUMBERS_READ, "counted": COUNTED}


def run(store: Store) -> None:
    """Both measurements in one process, instructions in others."""
    store.measured("roofline", SETTINGS, lambda: answer_of("roofline"))
    store.measured("instructions", SETTINGS, lambda: {method: instructions(method) for method in METHODS})


def measured() -> dict[str, Any]:
    """Read bandwidth before and after, iterations in between."""
    ballots = as_ballots(CROWD, columns(CROWD))
    before = bandwidth()
    found = {method: seconds_per_iteration(partial(fit, point(method), ballots)) for method in METHODS}
    after = bandwidth()
    return {
        "seconds": found,
        "bytes": {method: bytes_touched(ballots, method) for method in METHODS},
        "approvals": ballots.n_approvals,
        "bandwidth": {name: max(before[name], after[name]) for name in before},
    }


def point(method: Literal["amle", "em"]) -> Point:
    """How the crowd is fitted."""
    return Point(CROWD.instances, CROWD.voters, CROWD.alternatives, CROWD.upper, CROWD.upper, method)


def bytes_touched(ballots: Ballots, method: str) -> int:
    """What an iteration has to read at least: a voter per ballot, and where each instance begins; for soft passes also
    a mask per ballot, which hard passes read only where a set is chosen anew, and for these how far each set is safe.
    """
    mask, voter, begin, safe = 8, ballots.ballot_voter.itemsize, ballots.ballot_start.itemsize, 8
    per_ballot, per_instance = (voter + mask, begin) if method == "em" else (voter, begin + safe)
    return ballots.n_ballots * per_ballot + ballots.n_instances * per_instance


def bandwidth() -> dict[str, float]:
    """Bytes read per second by the largest of an array far beyond every cache, on one core and on all."""
    numbers = np.ones(NUMBERS_READ, np.int64)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {"one core": best_rate(numbers, 1), "all cores": best_rate(numbers, cores)}


def best_rate(numbers: Any, threads: int) -> float:
    """The best of several readings."""
    parts = np.array_split(numbers, 8 * threads)
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(5):
            begin = time.perf_counter()
            list(pool.map(np.max, parts))
            best = max(best, numbers.nbytes / (time.perf_counter() - begin))
    return best


def instructions(method: str) -> float | str:
    """Instructions per approval and iteration, or why they cannot be counted."""
    if shutil.which("perf") is None:
        return "perf is not installed (Debian: linux-perf)"
    if counted(["true"]) is None:
        return "perf cannot count instructions on this machine"
    program = [sys.executable, "-m", "benchmarks.roofline", "count", method]
    few, more = (counted([*program, str(iterations)]) for iterations in (FEW, FEW + COUNTED))
    if few is None or more is None:
        return "a fit under perf failed"
    approvals = len(columns(CROWD)["approved"])
    return (more - few) / COUNTED / approvals


def counted(program: list[str]) -> float | None:
    """Instructions of one process."""
    command = ["perf", "stat", "-x", ",", "-e", "instructions:u", "--", *program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return instructions_told(done.stderr) if done.returncode == 0 else None


def instructions_told(text: str) -> float | None:
    """The number in perf's line of values separated by commas, if it could count."""
    for line in text.splitlines():
        value, *rest = line.split(",")
        if any(part.startswith("instructions") for part in rest):
            return float(value) if value.replace(".", "").isdigit() else None
    return None


def main() -> None:
    """Answer, or only fit."""
    if sys.argv[1:2] == ["count"]:
        method = METHODS[METHODS.index(sys.argv[2])]
        fit(point(method), as_ballots(CROWD, columns(CROWD)), int(sys.argv[3]))
    else:
        print(json.dumps(measured()))


if __name__ == "__main__":
    main()
