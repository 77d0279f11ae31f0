"""What epivote costs: start-up, small fits, and growth with the number of approvals.

Run by `make bench`; prints Markdown and writes it to docs/benchmarks.md. Times on shared machines are noisy, so
everything is a median and the claims are ratios within one run.
"""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import epivote
from epivote import AMLE, Ballots, read_ballots, reference_crowd, simulate
from epivote.model.passes import worth_compiling
from experiments.quiz import find_quiz, read_quiz

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks.md"
BIRDS = ROOT / "examples" / "birds.csv"


def main() -> None:
    """Run everything and write the page."""
    parts = [header(), start_up(), small_fits(), growth()]
    OUT.write_text("\n".join(parts))
    print(f"Wrote {OUT.relative_to(ROOT)}.")


def header() -> str:
    """When, where and with what."""
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, Polars {pl.__version__}"
    return told(
        "# Benchmarks\n\nWritten by `make bench`. Machines are noisy: everything is a median, and what counts are "
        "ratios within one run.\n\n"
        f"Measured on {datetime.date.today()} with epivote {epivote.__version__}, {versions}, "
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}.\n"
    )


def start_up() -> str:
    """Import, and import plus one fit, against a bare `import numpy`."""
    bare = in_new_process("import numpy")
    imported = in_new_process("import epivote")
    fit = (
        "import epivote; epivote.AMLE((1, 2)).fit("
        "epivote.simulate(instances=15, voters=76, alternatives=5, bounds=(1, 2)).ballots)"
    )
    fitted = in_new_process(fit)
    return told(
        table(
            ["from a cold process", "milliseconds", "times `import numpy`"],
            [
                ["`import numpy`", f"{bare * 1e3:.0f}", "1"],
                ["`import epivote`", f"{imported * 1e3:.0f}", f"{imported / bare:.2f}"],
                ["`import epivote`, simulate and fit 76 voters x 15", f"{fitted * 1e3:.0f}", f"{fitted / bare:.2f}"],
            ],
        )
    )


def small_fits() -> str:
    """Fits per second in one warm process."""
    path = find_quiz()
    if path is None:
        quiz_name = "a simulated quiz, 76 voters x 15 x 5"
        quiz = simulate(instances=15, voters=76, alternatives=5, bounds=(1, 2)).ballots
    else:
        quiz_name, quiz = "the paper's quiz, 76 voters x 15 x 5", read_quiz(path)[0]
    rows = []
    for name, ballots in ((quiz_name, quiz), ("the bird quiz of `make demo`", read_ballots(BIRDS))):
        for update, estimator in (("mle", AMLE((1, 2))), ("published", AMLE((1, 2), prior_update="published"))):
            seconds = median_time(partial(estimator.fit, ballots), repeats=100)
            rows.append([name, update, f"{seconds * 1e3:.2f}", f"{1 / seconds:.0f}"])
    return told(table(["AMLE, bounds 1..2", "prior update", "milliseconds a fit", "fits a second"], rows))


def growth() -> str:
    """Time per iteration from 10^4 to 10^7 approvals, ten alternatives, five ballots per instance.

    The compiled loops are loaded before, as in a process that has fitted a large crowd already.
    """
    import epivote.model.kernels  # noqa: F401

    rows, sizes, times = [], [], []
    for instances in (700, 7_000, 70_000, 700_000):
        ballots = reference_crowd(instances, 1_000, 10, 3, seed=1).ballots
        seconds = time_per_iteration(ballots)
        sizes.append(ballots.n_approvals)
        times.append(seconds)
        way = "compiled" if worth_compiling(ballots.n_approvals) else "arrays"
        nanoseconds = f"{seconds / ballots.n_approvals * 1e9:.1f}"
        rows.append([f"{ballots.n_approvals:,}", way, f"{seconds * 1e3:.2f}", nanoseconds])
        print(f"  {ballots.n_approvals:,} approvals measured", file=sys.stderr)
    exponent = np.polyfit(np.log(sizes[1:]), np.log(times[1:]), 1)[0]
    return told(
        table(["approvals", "way", "milliseconds an iteration", "nanoseconds an approval"], rows)
        + f"\nFrom 10^5 approvals on, time grows with exponent {exponent:.2f} (1 is linear); below, fixed costs show.\n"
    )


def time_per_iteration(ballots: Ballots) -> float:
    """Eleven iterations against one, so that set-up does not count."""

    def run(iterations: int) -> Callable[[], object]:
        return lambda: AMLE((1, 3), "uniform", max_iterations=iterations, tolerance=0).fit(ballots)

    return (median_time(run(11), repeats=5) - median_time(run(1), repeats=5)) / 10


def median_time(work: Callable[[], object], repeats: int) -> float:
    """Median seconds of several runs after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def in_new_process(code: str) -> float:
    """Median seconds a fresh interpreter spends on `code` itself."""
    timed = f"import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
    runs = [
        subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True, text=True) for _ in range(15)
    ]
    return statistics.median(float(run.stdout) for run in runs)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, numbers to the right."""
    rule = ["---"] + ["---:"] * (len(columns) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [columns, rule, *rows]) + "\n"


def told(text: str) -> str:
    """The same text, printed as soon as it is known."""
    print(text)
    return text


if __name__ == "__main__":
    main()
