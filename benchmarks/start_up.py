"""Parts `start` and `quiz`: a cold process against `import numpy`, and small fits in a warm process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.processes import answer_of
from epivote import AMLE, read_ballots, simulate
from experiments.quiz import find_quiz, read_quiz
from experiments.store import Store

BIRDS = Path(__file__).parent.parent / "examples" / "birds.csv"
PROCESSES, FITS = 15, 100
COLD = {
    "import numpy": "import numpy",
    "import epivote": "import epivote",
    "import epivote, simulate and fit 76 voters x 15": (
        "import epivote; epivote.AMLE((1, 2)).fit("
        "epivote.simulate(instances=15, voters=76, alternatives=5, bounds=(1, 2)).ballots)"
    ),
}
SETTINGS = {"processes": PROCESSES, "fits": FITS}


def run_start(store: Store) -> None:
    """Cold processes, taken in turn so that a noisy minute touches all alike."""
    store.measured("start", SETTINGS, cold_starts)


def run_quiz(store: Store) -> None:
    """Warm fits, in a process of their own."""
    store.measured("quiz", SETTINGS, lambda: answer_of("start_up"))


def cold_starts() -> dict[str, float]:
    """Median seconds that fresh interpreters spend on each piece of code itself."""
    runs: dict[str, list[float]] = {name: [] for name in COLD}
    for _ in range(PROCESSES):
        for name, code in COLD.items():
            runs[name].append(in_new_process(code))
    return {name: statistics.median(times) for name, times in runs.items()}


def in_new_process(code: str) -> float:
    """Seconds of one fresh interpreter."""
    timed = f"import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True, text=True)
    return float(done.stdout)


def warm_fits() -> list[dict[str, Any]]:
    """Median seconds of small fits."""
    path = find_quiz()
    if path is None:
        quiz_name = "a simulated quiz, 76 voters x 15 x 5"
        quiz = simulate(instances=15, voters=76, alternatives=5, bounds=(1, 2)).ballots
    else:
        quiz_name, quiz = "the paper's quiz, 76 voters x 15 x 5", read_quiz(path)[0]
    found = []
    for name, ballots in ((quiz_name, quiz), ("the bird quiz of `make demo`", read_ballots(BIRDS))):
        for update, estimator in (("mle", AMLE((1, 2))), ("published", AMLE((1, 2), prior_update="published"))):
            found.append({"quiz": name, "update": update, "seconds": median_time(partial(estimator.fit, ballots))})
    return found


def median_time(work: Callable[[], object]) -> float:
    """Median seconds of several runs after one that warms up."""
    work()
    times = []
    for _ in range(FITS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


if __name__ == "__main__":
    print(json.dumps(warm_fits()))
