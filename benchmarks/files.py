"""Aggregating a large CSV end to end, its parts timed, against the same reading and writing in bare Polars.

Run by `make bench-files`; writes docs/benchmarks-files.md. Ballots are those of the reference crowd with 20
alternatives, five ballots per instance. Every program runs in a process of its own.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

import epivote
from epivote import reference_crowd, write_ballots

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks-files.md"
BALLOTS_EACH, VOTERS, ALTERNATIVES, UPPER = 5, 10_000, 20, 4


def main() -> None:
    """Make the file, run both programs in turn, write the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=10_000_000, help="ballots in the file")
    arguments.add_argument("--repeats", type=int, default=3, help="runs of each program")
    told = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "ballots.csv"
        crowd = reference_crowd(told.rows // BALLOTS_EACH, VOTERS, ALTERNATIVES, UPPER, seed=1)
        write_ballots(crowd.ballots, source)
        del crowd
        ours, bare = [], []
        for repeat in range(told.repeats):
            print(f"run {repeat + 1} of {told.repeats}", file=sys.stderr)
            ours.append(aggregate(source, folder / "ours"))
            bare.append(bare_polars(source, folder / "bare"))
        page = report(told.rows, source.stat().st_size, ours, bare)
    OUT.write_text(page)
    print(page)


def aggregate(source: Path, out: Path) -> dict[str, float]:
    """Seconds by part and peak memory of `epivote aggregate`."""
    command = [sys.executable, "-m", "epivote", "aggregate", str(source), "--size", f"1..{UPPER}", "--out", str(out)]
    done = subprocess.run([*command, "--timings"], capture_output=True, check=True, text=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("Seconds: "))
    parts = (part.split() for part in line.removeprefix("Seconds: ").rstrip(".").split(", "))
    return {name: float(seconds) for name, seconds in parts} | {"memory": peak_of_children()}


def bare_polars(source: Path, out: Path) -> dict[str, float]:
    """Seconds for the same reading and writing in bare Polars."""
    command = [sys.executable, "-m", "benchmarks.bare_polars", str(source), str(out)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    return dict(json.loads(done.stdout))


def peak_of_children() -> float:
    """Largest resident memory of any process run so far, in GB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9


def report(rows: int, size: int, ours: list[dict[str, float]], bare: list[dict[str, float]]) -> str:
    """The page."""

    def median(runs: list[dict[str, float]], *parts: str) -> float:
        return statistics.median(sum(run[part] for part in parts) for run in runs)

    reading, writing = median(ours, "read", "encode"), median(ours, "write")
    files, yardstick = median(ours, "read", "encode", "write"), median(bare, "read", "write")
    lines = [
        "# Large files",
        "",
        f"Written by `make bench-files`: {rows:,} ballots in a canonical CSV of {size / 1e9:.2f} GB, aggregated with",
        f"`epivote aggregate --out --timings`; medians of {len(ours)} runs, on {datetime.date.today()} with epivote",
        f"{epivote.__version__}, Python {platform.python_version()}, Polars {pl.__version__}, {platform.machine()}.",
        "The yardstick does the same reading and writing in nothing but Polars (`benchmarks/bare_polars.py`).",
        "",
        "| part | epivote, seconds | bare Polars, seconds | ratio |",
        "| --- | ---: | ---: | ---: |",
        f"| read | {median(ours, 'read'):.1f} | | |",
        f"| encode: names become numbers | {median(ours, 'encode'):.1f} | | |",
        f"| read and encode | {reading:.1f} | {median(bare, 'read'):.1f} | {reading / median(bare, 'read'):.2f} |",
        f"| write | {writing:.1f} | {median(bare, 'write'):.1f} | {writing / median(bare, 'write'):.2f} |",
        f"| **all files** | **{files:.1f}** | **{yardstick:.1f}** | **{files / yardstick:.2f}** |",
        f"| fit | {median(ours, 'fit'):.1f} | | |",
        "",
        f"Peak memory of `epivote aggregate`: {ours[0]['memory']:.1f} GB.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
