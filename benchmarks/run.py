"""What epivote costs, beside its peers on the same data in the same run: `make bench`.

Parts can be run alone (`python -m benchmarks.run --only growth`); finished ones are kept in build/bench and an
interrupted run goes on where it stopped. Writes docs/benchmarks.md from all that is kept.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import comparison, growth, passes, roofline, soft_parts, start_up
from benchmarks.crowds import CROWDS
from benchmarks.page import page
from benchmarks.processes import ROOT
from benchmarks.results import Results
from experiments.store import Store, commit, digest_of

OUT = ROOT / "docs" / "benchmarks.md"
FOLDER = ROOT / "build" / "bench"
PRESENTING = {"page", "run", "results", "tables", "targets", "exponents", "files", "bare_polars"}
PARTS = ("start", "quiz", "crowds", "passes", "roofline", "parts", "growth")


def main() -> None:
    """Run the parts that were asked for, then write the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; all by default")
    arguments.add_argument("--crowds", nargs="+", choices=CROWDS, default=list(CROWDS), help="for the part `crowds`")
    arguments.add_argument("--fresh", action="store_true", help="measure again what is kept")
    arguments.add_argument("--page", action="store_true", help="measure nothing, only write the page")
    told = arguments.parse_args()
    store = Store(FOLDER, digest_of(measured_files()), commit(), told.fresh)
    failed = [] if told.page else [part for part in told.only if not finished(part, store, told.crowds)]
    OUT.write_text(page(Results(store)))
    print(f"Wrote {OUT.relative_to(ROOT)}.")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; what was measured is on the page")


def measured_files() -> list[Path]:
    """What a result depends on: the package, and the benchmarks except what only presents them."""
    own = [path for path in (ROOT / "benchmarks").glob("*.[cp]*") if path.stem not in PRESENTING]
    return sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.[ch]pp"), *own])


def finished(part: str, store: Store, crowds: list[str]) -> bool:
    """Run one part; a process that fails ends the part, not the program."""
    print(f"== {part}", file=sys.stderr)
    try:
        work(part, crowds)(store)
    except subprocess.CalledProcessError as failure:
        print(f"{part}: {failure}", file=sys.stderr)
        return False
    return True


def work(part: str, crowds: list[str]) -> Callable[[Store], None]:
    """What a part does."""
    parts: dict[str, Callable[[Store], None]] = {
        "start": start_up.run_start,
        "quiz": start_up.run_quiz,
        "crowds": lambda store: comparison.run(store, crowds),
        "passes": passes.run,
        "roofline": roofline.run,
        "parts": soft_parts.run,
        "growth": growth.run,
    }
    return parts[part]


if __name__ == "__main__":
    main()
