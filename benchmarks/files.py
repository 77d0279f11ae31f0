"""Aggregating a large CSV end to end, its parts timed, against bare Polars.

Run by `make bench-files`; writes docs/benchmarks-files.md. Ballots are those of the reference crowd with 20
alternatives, five ballots per instance. Every program runs in a process of its own, one after the other.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import epivote
from benchmarks.processes import answer_of
from epivote import reference_crowd, write_ballots

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks-files.md"
BALLOTS_EACH, VOTERS, ALTERNATIVES, UPPER = 5, 10_000, 20, 4
ROWS = 33_000_000  # ballots, which make a file of 1 GB
TARGET = 3.0  # times the bare reading that reading with epivote may take
TURNS = 3  # of programs that only read, for each run of the others: they are short, and their ratio is a target
PARTS = ("read", "encode", "fit", "write")
Run = dict[str, float]


def main() -> None:
    """Make the file, run all programs in turn, write the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("--rows", type=int, default=ROWS, help="ballots in the file")
    arguments.add_argument("--repeats", type=int, default=3, help="runs of each program")
    arguments.add_argument("--out", type=Path, default=OUT, help="the page to write")
    told = arguments.parse_args()
    if told.make is not None:  # in a process of its own, so that this one stays small
        write_ballots(
            reference_crowd(told.rows // BALLOTS_EACH, VOTERS, ALTERNATIVES, UPPER, seed=1).ballots, told.make
        )
        pl.read_csv(told.make).write_csv(quoted(told.make), quote_style="always")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "ballots.csv"
        answer_of("files", "--make", str(source), "--rows", str(told.rows))
        aggregate = ("watched", "aggregate", source, "--size", f"1..{UPPER}", "--timings", "--out", folder / "ours")
        reading = {
            "alone": ("bare_polars", source),
            "reading": ("reading", source),
            "quoted alone": ("bare_polars", quoted(source)),
            "quoted": ("reading", quoted(source)),
        }
        others = {
            "bare": ("bare_polars", source, folder / "bare"),
            "quick": (*aggregate, "--quick"),
            "whole": aggregate,
        }
        runs: dict[str, list[Run]] = {name: [] for name in (*reading, *others)}
        for repeat in range(told.repeats):
            for name, command in [*list(reading.items()) * TURNS, *others.items()]:
                print(f"run {repeat + 1} of {told.repeats}: {name}", file=sys.stderr)
                begin = time.perf_counter()
                found = answer_of(*map(str, command))
                runs[name].append({**found, "all": time.perf_counter() - begin})
        page = report(told.rows, source.stat().st_size, runs)
    told.out.write_text(page, encoding="utf-8")
    print(page)


def quoted(source: Path) -> Path:
    """The same file with quotes around every cell."""
    return source.with_name(f"quoted-{source.name}")


def median(runs: Sequence[Run], *parts: str) -> float:
    """Of the sums of these parts."""
    return statistics.median(sum(run[part] for part in parts) for run in runs)


def report(rows: int, size: int, runs: dict[str, list[Run]]) -> str:
    """The page."""
    whole, quick, bare, alone = (runs[name] for name in ("whole", "quick", "bare", "alone"))
    read, encode = (median(runs["reading"], part) for part in ("read", "encode"))
    reading, least = median(runs["reading"], "read", "encode"), median(alone, "read")
    checks = median(whole, "fit") - median(quick, "fit")
    writing, everything = median(whole, "write"), median(whole, "all")
    with_quotes, least_with_quotes = median(runs["quoted"], "read", "encode"), median(runs["quoted alone"], "read")
    lines = [
        "# Large files",
        "",
        f"Written by `make bench-files`: {rows:,} ballots in a canonical CSV of {size / 1e9:.2f} GB, aggregated with",
        f"`epivote aggregate --out --timings`; {_runs(len(whole))}, on {datetime.date.today()} with epivote",
        f"{epivote.__version__}, Python {platform.python_version()}, Polars {pl.__version__}, {platform.machine()}.",
        "Beside it stand `polars.read_csv` alone, and a program that does the same reading and writing in nothing but",
        "Polars, without estimating anything (`benchmarks/bare_polars.py`). Reading was timed in programs that only "
        f"read, {TURNS * len(whole)} times in turns, as medians; so parts do not quite add up.",
        "",
        "| part | epivote, seconds | bare Polars, seconds | times `read_csv` |",
        "| --- | ---: | ---: | ---: |",
        f"| `read_csv` alone | | {least:.1f} | 1.0 |",
        f"| read; names become numbers | {read:.1f} | | {read / least:.1f} |",
        f"| split cells, sort ballots | {encode:.1f} | | {encode / least:.1f} |",
        f"| **from file to ballots** | **{reading:.1f}** | {median(bare, 'read'):.1f} | **{reading / least:.1f}** |",
        f"| fit, without checks (`--quick`) | {median(quick, 'fit'):.1f} | | {median(quick, 'fit') / least:.1f} |",
        f"| checks of priors and confidence | {checks:.1f} | | {checks / least:.1f} |",
        f"| write | {writing:.1f} | {median(bare, 'write'):.1f} | {writing / least:.1f} |",
        f"| start and print | {_rest(whole):.1f} | | {_rest(whole) / least:.1f} |",
        f"| **all** | **{everything:.1f}** | {median(bare, 'all'):.1f} | {everything / least:.1f} |",
        f"| CPU seconds | {median(whole, 'CPU'):.1f} | {median(bare, 'CPU'):.1f} | |",
        f"| peak memory, GB | {median(whole, 'memory'):.1f} | {median(bare, 'memory'):.1f} | |",
        "",
        f"`read_csv` alone has a peak of {median(alone, 'memory'):.1f} GB. From file to ballots should take at most "
        f"{TARGET:.0f} times as long: {'met' if reading <= TARGET * least else 'not met'}. Writing includes the exact "
        f"probabilities of all sets and alternatives.",
        "",
        f"With quotes around every cell, the same file takes {with_quotes:.1f} s, "
        f"{with_quotes / least_with_quotes:.1f} times `read_csv` on that file, with a peak of "
        f"{median(runs['quoted'], 'memory'):.1f} GB. Files with quotes or line ends inside cells are read through "
        "columns of text, which takes longer.",
        "",
    ]
    return "\n".join(lines)


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"medians of {count} runs"


def _rest(runs: Sequence[Run]) -> float:
    """What is left of the whole time: starting Python, reports on voters, printing."""
    return median(runs, "all") - median(runs, *PARTS)


if __name__ == "__main__":
    main()
