"""Part `parts`: where the time of an iteration of EM goes on the crowd M, on one thread.

`python -m benchmarks.soft_parts` prints JSON. The first part of the compiled pass, the first two and so on
(`soft_parts.cpp`, compiled as the loops themselves are) are run over all instances, beside the whole pass, in turn; the
fastest of several runs counts, and a part takes what it adds.
"""

from __future__ import annotations

import ctypes
import json
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hatch_build import chosen_platform, compile_library

from benchmarks.crowds import CROWDS, as_ballots, columns
from benchmarks.processes import answer_of
from epivote import SizeBounds
from epivote.data.parameters import Parameters
from epivote.estimate.maximise import maximise
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels.library import loops, place
from epivote.kernels.passes import CompiledPass
from epivote.model.pseudo import shrinkage
from epivote.model.statistics import PassCounts
from experiments.store import Store

SOURCE = Path(__file__).with_suffix(".cpp")
CROWD = CROWDS["M"]
RUNS = 30
START = 0.7, 0.2, 0.2
SETTINGS = {"crowd": CROWD.name, "runs": RUNS}
PARTS = ("odds multiplied", "sets weighed (both sweeps)", "hits counted")
BYTES = {"odds multiplied": (16, 12)}
"""Read from memory at least, per instance and per ballot; sweeps and counts work on what is in the first cache."""


def run(store: Store) -> None:
    """In a process of its own."""
    store.measured("soft_parts", SETTINGS, lambda: answer_of("soft_parts"))


def measured() -> dict[str, Any]:
    """Seconds and bytes of every part, of the whole pass, and of the rates and priors that follow from it."""
    ballots = as_ballots(CROWD, columns(CROWD))
    work = InMemoryWorkload(ballots, SizeBounds(*CROWD.bounds))
    parameters = Parameters.alike(CROWD.voters, *START[:2], np.full(CROWD.alternatives, START[2]))
    passes = [CompiledPass(shard, None) for shard in work.shards]
    statistics, _ = work.soft_step(parameters)
    believed = shrinkage(statistics, strength=None, with_priors=True)
    jobs: dict[str, Callable[[], object]] = {
        name: partial(some_parts, passes, parameters, number) for number, name in enumerate(PARTS, 1)
    }
    jobs["whole pass"] = partial(whole, passes, parameters)
    jobs["rates and priors"] = partial(maximise, statistics, parameters, "individual", 1e-4, believed)
    seconds = fastest(jobs)
    for before, name in reversed(list(pairwise(PARTS))):
        seconds[name] -= seconds[before]
    read = {name: ballots.n_instances * row + ballots.n_ballots * ballot for name, (row, ballot) in BYTES.items()}
    return {"seconds": seconds, "bytes": read, "approvals": ballots.n_approvals}


def fastest(jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of computing of each job, which take turns."""
    best = dict.fromkeys(jobs, float("inf"))
    for job in jobs.values():
        job()
    for _ in range(RUNS):
        for name, job in jobs.items():
            begin = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - begin)
    return best


def whole(passes: list[CompiledPass], parameters: Parameters) -> None:
    """All that a pass does."""
    counts = PassCounts.none(CROWD.voters, CROWD.alternatives)
    for one in passes:
        one.soft(parameters, counts)


def some_parts(passes: list[CompiledPass], parameters: Parameters, number: int) -> None:
    """The first parts, so many of them."""
    counts = PassCounts.none(CROWD.voters, CROWD.alternatives)
    evidence = place(parameters.factors), CROWD.alternatives, place(parameters.prior_log_odds)
    for one in passes:
        first_parts()(number, ctypes.byref(one.loop_shard), *evidence, place(counts.voters))


@cache
def first_parts() -> Any:
    """The function, compiled for the instructions of this processor."""
    chosen, level = chosen_platform(), loops().processor_level()
    assert chosen is not None, "loops are compiled here"
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, f"soft_parts.{chosen.ending}")
        compile_library([SOURCE], library, chosen, f"x86_64_v{level}" if level else "")
        function = ctypes.CDLL(str(library)).first_parts
    at = ctypes.c_void_p
    function.argtypes = ctypes.c_int32, at, at, ctypes.c_int64, at, at
    return function


if __name__ == "__main__":
    print(json.dumps(measured()))
