"""Two hundred people at once in the quiz of shapes, on SQLite and on PostgreSQL, and ten power cuts on the way.

Run by `make bench-collect`; writes docs/benchmarks-collect.md. Every run is kept under build/, so that `--only NAME`
measures one of them anew. Server, database and simulated people share the machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import epivote
from benchmarks.kills import Kept, killed_under_load, under_load
from benchmarks.load import Load, Plan, differences
from benchmarks.page import memory, processor
from benchmarks.postgresql import fresh_database, postgresql
from benchmarks.scale import kept_section

ROOT = Path(__file__).parent.parent
OUT = ROOT / "docs" / "benchmarks-collect.md"
KEPT = ROOT / "build" / "bench-collect"
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
KILLS = 10
PAUSES = {"calm": 3.0, "hasty": 0.0}
WAYS = {
    "calm": "everybody looks at a question for three seconds",
    "hasty": "nobody pauses",
    "kills": "the server is killed ten times",
}
KINDS = {
    "start": "first page",
    "join": "join",
    "question": "show a question",
    "picture": "load a picture",
    "answer": "**keep a ballot**",
    "end": "last page",
    "finish": "finish",
}
PACKAGES = ("starlette", "uvicorn", "sqlalchemy", "psycopg", "httpx")
Result = dict[str, Any]


def main() -> None:
    """Run what is asked for, and write the page from all runs that are kept."""
    names = [f"{database}-{way}" for database in DATABASES for way in WAYS]
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--people", type=int, default=200, help="at once")
    arguments.add_argument("--seconds", type=float, default=120, help="of each run")
    arguments.add_argument("--only", choices=names, action="append", help="run only this one")
    arguments.add_argument(
        "--page", action="store_true", help="run nothing, write the page from the runs that are kept"
    )
    told = arguments.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in [] if told.page else told.only or names:
        print(f"{name}: {told.people} people, {told.seconds:g} seconds", file=sys.stderr)
        result = run(name, told.people, told.seconds)
        (KEPT / f"{name}.json").write_text(json.dumps(result, indent=1))
    kept = {name: KEPT / f"{name}.json" for name in names}
    results = {name: json.loads(path.read_text()) for name, path in kept.items() if path.exists()}
    OUT.write_text(page(results))
    print(OUT.read_text())


def run(name: str, people: int, seconds: float) -> Result:
    """One run in figures; ends with an error when a ballot is lost, doubled or altered."""
    database, way = name.split("-")
    with tempfile.TemporaryDirectory() as folder, databases(database, Path(folder)) as address:
        if way == "kills":
            plan = Plan(people, pause=0.5, patience=60)
            load, kept = killed_under_load(address, plan, KILLS, seconds / KILLS, Path(folder))
        else:
            load, kept = under_load(address, Plan(people, pause=PAUSES[way]), seconds, Path(folder))
    return figures(load, kept)


@contextmanager
def databases(kind: str, folder: Path) -> Iterator[str]:
    """The address of an empty database of a kind."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'quiz.db'}"
    else:
        with postgresql() as server, fresh_database(server, "bench") as address:
            yield address


def figures(load: Load, kept: Kept) -> Result:
    """Counts and quantiles of one run."""
    wrong = differences(load.acknowledged, kept)
    if wrong:
        raise SystemExit("\n".join([f"{len(wrong)} ballots differ from what was acknowledged:", *wrong[:20]]))
    return {
        "date": str(datetime.date.today()),
        "versions": {name: version(name) for name in PACKAGES},
        "duration": load.duration,
        "requests": load.requests,
        "unanswered": load.unanswered,
        "people": len(load.people),
        "sent": load.sent,
        "kept": len(kept),
        "kinds": {
            kind: {
                "count": len(load.seconds[kind]),
                "quantiles": (1000 * np.quantile(load.seconds[kind], [0.5, 0.95, 0.99])).tolist(),
            }
            for kind in KINDS
            if load.seconds[kind]
        },
    }


def page(results: dict[str, Result]) -> str:
    """The page of all runs."""
    some = next(iter(results.values()))
    versions = ", ".join(f"{name} {number}" for name, number in some["versions"].items())
    head = [
        "# Collecting under load",
        "",
        "Written by `make bench-collect`: 200 simulated participants at once fill in the",
        "[quiz of shapes](how-to/quiz.md) through the same pages as people, on one machine that also runs",
        "server and database. Whoever hands in is replaced by somebody new. One ballot in ten is changed later, one in",
        "twenty is clicked twice. A request that is answered with an error, or a ballot that is lost, doubled or",
        "differs from what was acknowledged last, would have ended the run; there was none.",
        "",
        "How long a person waits is in the runs with three seconds a question. Where nobody pauses, all 200 wait",
        "for a response all the time: that run shows the most that the machine can serve, and its times are those of",
        "a queue.",
        "",
        f"Measured on {some['date']} with epivote {epivote.__version__}, Python {platform.python_version()},",
        f"{versions}; {processor()}, {os.cpu_count()} cores, {memory()}{platform.system()}.",
        "",
    ]
    sections = (line for name in results for line in section(name, results[name]))
    return "\n".join([*head, *summary(results), *sections, *kept_section()])


def summary(results: dict[str, Result]) -> list[str]:
    """One line for each run."""
    lines = [
        "| database | run | seconds | participants | requests a second | ballots sent | kept in the end | each once |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for name, result in results.items():
        database, way = name.split("-")
        rate = result["requests"] / result["duration"]
        counts = (
            f"{result['duration']:.0f} | {result['people']:,} | {rate:,.0f} | {result['sent']:,} | {result['kept']:,}"
        )
        lines.append(f"| {DATABASES[database]} | {WAYS[way]} | {counts} | yes |")
    return [*lines, ""]


def section(name: str, result: Result) -> list[str]:
    """Latencies of one run by kind of request."""
    database, way = name.split("-")
    lines = [
        f"## {DATABASES[database]}: {WAYS[way]}",
        "",
        "| request | count | p50, ms | p95, ms | p99, ms |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for kind, told in result["kinds"].items():
        quantiles = " | ".join(f"{value:,.0f}" for value in told["quantiles"])
        lines.append(f"| {KINDS[kind]} | {told['count']:,} | {quantiles} |")
    if result["unanswered"]:
        lines += ["", f"{result['unanswered']:,} requests met a server that was not there, and were sent again."]
    return [*lines, ""]


if __name__ == "__main__":
    main()
