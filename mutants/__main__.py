"""`python -m mutants`: plant defects, run the tests that could notice, write the page."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from itertools import takewhile
from pathlib import Path
from queue import Queue

from mutants import page, touched
from mutants.defects import Defect
from mutants.sample import all_defects, chosen, source_files
from mutants.trial import Outcome, make_copy, try_defect

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).parent / "equivalent.toml"


def main() -> int:
    """Returns 1 while a defect goes unnoticed."""
    options = _options()
    FOLDER.mkdir(parents=True, exist_ok=True)
    if options.map or not touched.is_known(FOLDER):
        touched.run_suite(ROOT, FOLDER)
    if options.add:
        touched.add(ROOT, FOLDER, options.add)
    known = touched.read(ROOT, FOLDER)
    reasons = {each["key"]: each["reason"] for each in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["defect"]}
    everything = all_defects(ROOT, options.package)
    if options.file:
        wanted = {f"src/epivote/{file}" for file in options.file}
        everything = {name: [each for each in found if each.file in wanted] for name, found in everything.items()}
        everything = {name: found for name, found in everything.items() if found}
    defects = chosen(everything, options.count, options.seed)
    if options.key:
        defects = [each for found in everything.values() for each in found if each.key in options.key]
    again = options.again or bool(options.key)
    tried = [each for each in defects if again or each.key not in reasons]
    outcomes = run(tried, known, workers=options.workers, again=again, new=options.new, minutes=options.minutes)
    outcomes |= {each.key: Outcome(each.key, "equivalent", "", 0, 0.0) for each in defects if each not in tried}
    defects = list(takewhile(lambda each: each.key in outcomes, defects))
    defects = [each for each in defects if outcomes[each.key].status != "uncompiled"]
    left = [each for each in defects if not page.noticed(outcomes[each.key]) and each.key not in reasons]
    for each in left:
        print(
            f"{each.key} {each.file}:{each.line} {each.function}: {each.old!r} -> {each.new!r} "
            f"({outcomes[each.key].status})"
        )
    if options.page:
        text = page.page(defects, outcomes, reasons, page.which_sample(options.seed))
        (ROOT / "docs" / "mutants.md").write_text(text, encoding="utf-8")
    print(f"{len(defects) - len(left)} of {len(defects)} noticed or equivalent")
    return 1 if left else 0


def run(
    defects: Sequence[Defect],
    known: touched.Touched,
    *,
    workers: int,
    again: bool,
    new: Sequence[str] = (),
    minutes: float = math.inf,
) -> dict[str, Outcome]:
    """Try each defect once, in order; what an earlier run of the same source and tests found is kept.

    Each is tried with the likeliest tests first, and with the others if these do not notice it. No trial begins after
    `minutes`: the defects without an outcome are then the last ones.
    """
    kept = FOLDER / "outcomes.jsonl"
    state = _state()
    outcomes = {} if again else _kept(kept, state)
    missing = [each for each in defects if each.key not in outcomes]
    copies: Queue[Path] = Queue()
    for number in range(workers if missing else 0):
        make_copy(ROOT, FOLDER / f"copy-{number}" / "project")
        copies.put(FOLDER / f"copy-{number}" / "project")
    late = time.monotonic() + 60 * minutes

    def attempt(defect: Defect) -> Outcome | None:
        if time.monotonic() > late:
            return None
        copy = copies.get()
        try:
            first = try_defect(defect, known, ROOT, copy, new, "likeliest")
            if page.noticed(first) or first.status == "uncompiled":
                return first
            then = try_defect(defect, known, ROOT, copy, new, "others")
            return replace(then, seconds=round(first.seconds + then.seconds, 1))
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(workers) as pool, kept.open("a", encoding="utf-8") as file:
        tries = {pool.submit(attempt, each): each for each in missing}
        try:
            for number, done in enumerate(as_completed(tries), 1):
                outcome, defect = done.result(), tries[done]
                if outcome is None:
                    continue
                outcomes[outcome.key] = outcome
                file.write(json.dumps({"state": state[defect.file], **asdict(outcome)}) + "\n")
                file.flush()
                _tell(f"{number}/{len(missing)}", defect, outcome)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return outcomes


def _tell(progress: str, defect: Defect, outcome: Outcome) -> None:
    print(
        f"{progress} {outcome.status:8} {outcome.seconds:5.0f} s {outcome.tests:4} tests  "
        f"{defect.key} {defect.file}:{defect.line} {defect.old[:40]!r} -> {defect.new[:40]!r} {outcome.by}",
        file=sys.stderr,
        flush=True,
    )


def _state() -> dict[str, str]:
    """What an outcome depends on: its file of source, and all tests."""
    tests = hashlib.sha256()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        tests.update(path.read_bytes())
    return {
        file: hashlib.sha256(tests.digest() + (ROOT / file).read_bytes()).hexdigest()[:12]
        for file in source_files(ROOT)
    }


def _kept(file: Path, state: dict[str, str]) -> dict[str, Outcome]:
    if not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    current = set(state.values())
    return {
        row["key"]: Outcome(**{key: row[key] for key in row if key != "state"})
        for row in rows
        if row["state"] in current
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many defects to plant")
    parser.add_argument("--seed", type=int, default=2022, help="of the sample")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time")
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="begin no trial after so many; defects are tried in random order, the least of every package first",
    )
    parser.add_argument(
        "--package",
        action="append",
        default=[],
        help="only this package, for example `data`, or `loops`; may be repeated",
    )
    parser.add_argument(
        "--file", action="append", default=[], help="only this file, for example `data/bounds.py`; may be repeated"
    )
    parser.add_argument("--key", action="append", default=[], help="only the defect with this key; may be repeated")
    parser.add_argument(
        "--with",
        dest="new",
        action="append",
        default=[],
        help="a file of tests to run as well, whichever lines it runs",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="try those again that an earlier run has tried, and those that change nothing",
    )
    parser.add_argument("--map", action="store_true", help="find anew which tests run which line")
    parser.add_argument(
        "--add", action="append", default=[], help="a new file of tests: find which lines it runs; may be repeated"
    )
    parser.add_argument("--page", action="store_true", help="write docs/mutants.md")
    options = parser.parse_args()
    if options.page and (options.package or options.file or options.key):
        parser.error("--page is for samples of the whole source, not of some packages, files or defects")
    return options


if __name__ == "__main__":
    sys.exit(main())
