"""A large task, 5,000 instances and 500 voters who answered all of them: what its pages, files and estimates cost.

Run by `make bench-scale`, which writes a section of docs/benchmarks-collect.md. The ballots are simulated and put into
an SQLite database at once; then it is served, and asked for what organisers and participants ask for.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.load import some_ticks
from examples.crowd.participant import Participant
from examples.crowd.served import Served, serving

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "build" / "bench-collect" / "scale.json"
PAGE = ROOT / "docs" / "benchmarks-collect.md"
ALTERNATIVES = 10
PATIENCE = 600  # seconds until something that should have ended long ago is given up
PEOPLE, PAUSE, SECONDS = 20, 3.0, 40.0  # who answer beside the live pages, seconds between two answers, seconds in all
LIVE_PAGES, EVERY = 5, 2.0  # live pages open at once, seconds between two questions of each
EARLIER: dict[str, str] = {
    "live_same": "857,084 bytes, status 200",
    "live_new": "857.1 KB in 1.25 s",
    "first": "215.2 s, 2.32 GB",
    "next": "more than 600 s",
    "export": "61.0 s, server at 1.91 GB",
    "question": "924 ms",
    "end": "530 KB",
    "ballots": "requests took more than 30 s",
}
"""The version before counts were kept, on the same machine, under an average load of 5 to 17. The last figure is of a
version of this script in which people paused for 0.5 s instead of `PAUSE`.
"""
FIGURES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "live_same": ("live page, nothing new", lambda told: f"{told['bytes']:,} bytes, status {told['status']}"),
    "live_new": ("live page, changed", lambda told: f"{told['bytes'] / 1000:,.1f} KB in {told['seconds']:.2f} s"),
    "first": ("first estimate", lambda told: f"{told['seconds']:.1f} s, {told['memory']:.2f} GB"),
    "next": ("estimate after one more ballot", lambda told: f"{told['seconds']:.1f} s"),
    "export": ("ballots.csv", lambda told: f"{told['seconds']:.1f} s, server at {told['memory']:.2f} GB"),
    "question": ("show a question", lambda told: f"{1000 * told['seconds']:,.0f} ms"),
    "end": ("last page of a participant", lambda told: f"{told['bytes'] / 1000:,.0f} KB"),
    "ballots": (
        f"keep a ballot beside {LIVE_PAGES} live pages",
        lambda told: f"p50 {told['p50']:,.0f} ms, p95 {told['p95']:,.0f} ms ({told['count']:,} ballots)",
    ),
}
Result = dict[str, Any]


def main() -> None:
    """Build, serve, measure, keep the figures, and write the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--instances", type=int, default=5_000)
    arguments.add_argument("--voters", type=int, default=500)
    arguments.add_argument("--folder", type=Path, help="keep the quiz here, and use the one that is there")
    told = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = told.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        quiz = write_quiz(folder, told.instances)
        database = folder / "quiz.db"
        if not database.exists():
            fill(quiz, database, told.instances, told.voters)
        result = measure(quiz, folder)
    result |= {"instances": told.instances, "voters": told.voters, "date": str(datetime.date.today())}
    result["load"] = os.getloadavg()[2]
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(json.dumps(result, indent=1))
    PAGE.write_text(with_section(PAGE.read_text(), section(result)))
    print("\n".join(section(result)))


def write_quiz(folder: Path, instances: int) -> Path:
    """A quiz of so many instances, of which at most a thousand people may answer each."""
    (folder / "dot.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>\n')
    lines = ['title = "Many shots"', 'size = "1..3"', "most_ballots = 1000"]
    lines += [f'[[alternatives]]\nname = "label {number}"' for number in range(ALTERNATIVES)]
    lines += [
        f'[[instances]]\nname = "shot {z}"\npicture = "dot.svg"\npicture_text = "shot {z}"' for z in range(instances)
    ]
    quiz = folder / "quiz.toml"
    quiz.write_text("\n".join(lines))
    return quiz


def fill(quiz: Path, database: Path, instances: int, voters: int) -> None:
    """Ballots of voters who tick right alternatives with one rate and wrong ones with another, all at once."""
    print(f"{instances * voters:,} ballots are made up", file=sys.stderr)
    with serving(quiz, "--port", "0", log=database.with_suffix(".log")):
        pass  # makes the tables
    with closing(sqlite3.connect(database)) as connection:
        named = ((f"voter {i}", f"voter {i}", 1, f"token {i}", "", 10**15) for i in range(voters))
        columns = "(name, name_key, is_person, token, visit, joined_at)"
        connection.executemany(f"INSERT INTO voters {columns} VALUES (?, ?, ?, ?, ?, ?)", named)
        connection.executemany("INSERT INTO ballots VALUES (?, ?, ?, ?, ?)", ballots(instances, voters))
        if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'counts'").fetchone()[0]:
            connection.execute("INSERT INTO counts SELECT instance, count(*), count(*) FROM ballots GROUP BY instance")
            connection.execute("UPDATE voters SET ballots = ?", [instances])
        connection.commit()


def ballots(instances: int, voters: int) -> Iterator[tuple[int, str, str, int, int]]:
    """Rows of the table, voter after voter."""
    rng = np.random.default_rng(1)
    truth = np.argsort(rng.random((instances, ALTERNATIVES)), axis=1) < rng.integers(1, 4, instances)[:, None]
    bits = 1 << np.arange(ALTERNATIVES)
    told = [
        json.dumps([f"label {j}" for j in range(ALTERNATIVES) if mask >> j & 1]) for mask in range(1 << ALTERNATIVES)
    ]
    names = [f"shot {z}" for z in range(instances)]
    for i in range(voters):
        hit, false_alarm = rng.beta(6, 3), rng.beta(2, 12)
        masks = (rng.random(truth.shape) < np.where(truth, hit, false_alarm)) @ bits
        moments = 10**15 + 10**6 * np.sort(rng.integers(0, 3 * 86_400, instances))
        for name, mask, moment in zip(names, masks.tolist(), moments.tolist(), strict=True):
            yield i + 1, name, told[mask], moment, moment


def measure(quiz: Path, folder: Path) -> Result:
    """All figures of a quiz that has its ballots."""
    with serving(quiz, "--port", "0", log=folder / "log") as served, closing(organiser(served)) as boss:
        first = timed(lambda: until(lambda: estimated(boss)))
        result: Result = {"first": {"seconds": first, "memory": max(map(peak, children(served.process.pid)))}}
        steps: list[Callable[[], Result]] = [
            lambda: asyncio.run(one_person(served)),
            lambda: {"next": {"seconds": asyncio.run(after_one_ballot(served, boss))}},
            lambda: live_page(boss),
            lambda: {"export": export(boss, served)},
            lambda: {"ballots": asyncio.run(beside_live_pages(served))},
        ]
        for step in steps:
            print(result, file=sys.stderr)
            result |= step()
    return result


def organiser(served: Served) -> httpx.Client:
    """A browser that was let in."""
    client = httpx.Client(base_url=served.address, timeout=PATIENCE, trust_env=False, verify=False)
    client.get(served.organiser, follow_redirects=True).raise_for_status()
    return client


def estimated(boss: httpx.Client) -> int:
    """How many ballots the estimate rests on: where the curve of ballots over time ends."""
    times = boss.get("/organiser/live").raise_for_status().json()["times"]
    return int(times[-1][1]) if times else 0


async def one_person(served: Served) -> Result:
    """The size of the last page of somebody new, and the time that a question takes."""
    async with Participant(served.address, "one more") as person:
        page = await person.join()
        end = await person.client.get("/end")
        took = []
        for _ in range(5):
            began = time.perf_counter()
            await person.question(int(page.address.rsplit("/", 1)[1]))
            took.append(time.perf_counter() - began)
        return {"end": {"bytes": len(end.content)}, "question": {"seconds": float(np.median(took))}}


async def after_one_ballot(served: Served, boss: httpx.Client) -> float:
    """Seconds from a ballot to the estimate that counts it."""
    before = estimated(boss)
    async with Participant(served.address, "another one") as person:
        await person.answer(await person.join(), [0])
    return timed(lambda: until(lambda: estimated(boss) > before))


def live_page(boss: httpx.Client) -> Result:
    """What the live page asks for, as it is sent."""
    began = time.perf_counter()
    new = sent(boss, {})
    seconds = time.perf_counter() - began
    same = sent(boss, {"If-None-Match": new["tag"]})
    return {"live_new": {**new, "seconds": seconds}, "live_same": same}


def sent(boss: httpx.Client, headers: dict[str, str]) -> Result:
    """Status and bytes of the body, compressed if the server does so."""
    with boss.stream("GET", "/organiser/live", headers={"Accept-Encoding": "gzip", **headers}) as answered:
        size = sum(len(part) for part in answered.iter_raw())
    return {"status": answered.status_code, "bytes": size, "tag": answered.headers.get("etag", "")}


def export(boss: httpx.Client, served: Served) -> Result:
    """The file of all ballots, thrown away; the most memory that the server ever had afterwards."""
    began, lines = time.perf_counter(), 0
    with boss.stream("GET", "/organiser/export/ballots.csv") as answered:
        for part in answered.iter_bytes():
            lines += part.count(b"\n")
    return {"seconds": time.perf_counter() - began, "memory": peak(served.process.pid), "lines": lines}


async def beside_live_pages(served: Served) -> Result:
    """How long ballots take while live pages are open."""
    took: list[float] = []

    def watch(kind: str, seconds: float, _status: int) -> None:
        if kind == "answer":
            took.append(seconds)

    end = time.monotonic() + SECONDS
    pages = [asyncio.create_task(look(served, end)) for _ in range(LIVE_PAGES)]
    people = [asyncio.create_task(answer_until(served, number, end, watch)) for number in range(PEOPLE)]
    await asyncio.gather(*pages, *people)
    middle, most = 1000 * np.quantile(took, [0.5, 0.95])
    return {"p50": float(middle), "p95": float(most), "count": len(took)}


async def look(served: Served, end: float) -> None:
    """A live page as the script on it asks."""
    async with httpx.AsyncClient(base_url=served.address, timeout=PATIENCE, trust_env=False, verify=False) as boss:
        await boss.get(served.organiser, follow_redirects=True)
        tag = ""
        while time.monotonic() < end:
            answered = await boss.get("/organiser/live", headers={"If-None-Match": tag} if tag else {})
            tag = answered.headers.get("etag", "")
            await asyncio.sleep(EVERY)


async def answer_until(served: Served, number: int, end: float, watch: Callable[[str, float, int], None]) -> None:
    """One person who answers question after question."""
    rng = np.random.default_rng(number)
    async with Participant(served.address, f"person {number}", address=f"127.0.1.{number + 1}", watch=watch) as person:
        page = await person.join()
        while time.monotonic() < end:
            await asyncio.sleep(rng.exponential(PAUSE))
            page = await person.answer(page, some_ticks(ALTERNATIVES, rng))


def until(condition: Callable[[], Any]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not come true within {PATIENCE} seconds")
        time.sleep(0.2)


def timed(act: Callable[[], None]) -> float:
    """Seconds that something takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def children(process: int) -> list[int]:
    """Processes that a process has started."""
    return [
        int(child)
        for tasks in Path(f"/proc/{process}/task").iterdir()
        for child in (tasks / "children").read_text().split()
    ]


def peak(process: int) -> float:
    """The most memory that a process has had, in GB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e9 for line in lines if line.startswith("VmHWM:"))


def section(result: Result) -> list[str]:
    """The figures as a section of the page."""
    lines = [
        f"## A large task: {result['instances']:,} instances, {result['voters']:,} voters, "
        f"{result['instances'] * result['voters']:,} ballots",
        "",
        f"Written by `make bench-scale` on {result['date']}, on SQLite, under an average load of {result['load']:.1f} "
        "(15 minutes, two cores).",
        "Before: the version that counted all ballots for every page, under a load of 5 to 17.",
        "",
        "| figure | before | now |",
        "| --- | --- | --- |",
    ]
    for name, (words, told) in FIGURES.items():
        lines.append(f"| {words} | {EARLIER[name]} | {told(result[name])} |")
    return [*lines, ""]


def kept_section() -> list[str]:
    """The section of the run that is kept; nothing if there is none."""
    return section(json.loads(KEPT.read_text())) if KEPT.exists() else []


def with_section(page: str, lines: list[str]) -> str:
    """A page whose section on a large task is this one."""
    others = re.sub(r"\n## A large task.*?(?=\n## |\Z)", "", page, flags=re.DOTALL)
    return others.rstrip("\n") + "\n\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
