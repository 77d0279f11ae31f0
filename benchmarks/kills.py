"""A load in the middle of which the server is killed and started again, as often as one likes."""

from __future__ import annotations

import asyncio
import csv
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.load import Load, Plan, press, press_for
from examples.crowd.served import Served, serving, start
from examples.shapes.answers import QUIZ, indices, look_of

BETWEEN_KILLS = 30
PATIENCE = 120  # seconds until something that should have ended long ago is given up
Kept = list[tuple[str, str, frozenset[int]]]  # nickname, picture, ticks


def under_load(database: str, plan: Plan, seconds: float, folder: Path) -> tuple[Load, Kept]:
    """Serve the quiz of shapes to many people; what they were told, and what is kept in the end."""
    with serving(QUIZ, "--database", database, "--port", "0", log=folder / "log") as served:
        load = asyncio.run(press_for(seconds, served.address, plan))
    return load, kept(database, folder)


def killed_under_load(database: str, plan: Plan, kills: int, apart: float, folder: Path) -> tuple[Load, Kept]:
    """The same with so many power cuts, each some seconds (about `apart`) after the server is back, and not before it
    has taken some ballots, however slow the machine.
    """
    load = asyncio.run(_killed(database, plan, kills, apart, folder / "log"))
    return load, kept(database, folder)


async def _killed(database: str, plan: Plan, kills: int, apart: float, log: Path) -> Load:
    rng, enough, load = np.random.default_rng(plan.seed), asyncio.Event(), Load()
    served = start(QUIZ, "--database", database, "--port", "0", log=log)
    try:
        pressing = asyncio.create_task(press(served.address, plan, enough, load))
        for _ in range(kills):
            before = load.sent
            await asyncio.wait([pressing], timeout=apart * rng.uniform(0.5, 1.5))
            async with asyncio.timeout(PATIENCE):
                while load.sent < before + BETWEEN_KILLS and not pressing.done():
                    await asyncio.wait([pressing], timeout=0.02)
            if pressing.done():
                break
            served = await asyncio.to_thread(kill_and_start, served, database, log)
        await asyncio.wait([pressing], timeout=apart)
        enough.set()
        return await pressing
    finally:
        served.stop()


def kill_and_start(served: Served, database: str, log: Path) -> Served:
    """End the server without a word and start it again at the same address."""
    served.kill()
    return start(QUIZ, "--database", database, "--port", str(served.port), log=log)


def kept(database: str, folder: Path) -> Kept:
    """Every ballot that `epivote collect export` finds."""
    out = folder / "ballots.csv"
    export = [sys.executable, "-m", "epivote", "collect", "export", str(QUIZ), "--database", database, "-o", str(out)]
    subprocess.run(export, check=True, capture_output=True, timeout=PATIENCE)
    return exported(out)


def exported(file: Path) -> Kept:
    """The ballots of an exported file."""
    with file.open(newline="") as rows:
        return [
            (row["voter"], look_of(row["instance"]), indices(row["alternatives"].split("|")))
            for row in csv.DictReader(rows)
        ]
