"""Compiled loops on their first use after an installation, and on later ones: `python -m benchmarks.first_use`.

That command prints, as JSON, the seconds of computing that the process spends until all loops of EM and AMLE are ready,
and then those that read plain text, beyond loading numba. What is compiled is kept in the folder `NUMBA_CACHE_DIR`,
empty at first.
"""

from __future__ import annotations

import json
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.processes import answer_of
from epivote.kernels.warm import few_ballots, use_all, use_text_loops

ROWS = 3_300_000  # ballots, which make a file of 100 MB
SETTINGS = {"rows": ROWS}
NAMES = {"first": "nothing compiled yet", "later": "compiled before"}


def measured() -> dict[str, Any]:
    """The size of a file in bytes; and for the first and for a later use the seconds that it takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "ballots.csv"
        answer_of("files", "--make", str(source), "--rows", str(ROWS))
        return {"bytes": source.stat().st_size, **{use: one_use(folder, source) for use in NAMES}}


def one_use(folder: Path, source: Path) -> dict[str, float]:
    """Seconds of computing for the loops alone; seconds of the whole command, by the clock and computing."""
    loops = answer_of("first_use", NUMBA_CACHE_DIR=str(folder / "loops"))
    command = ("watched", "aggregate", str(source), "--size", "1..4", "--timings", "--out", str(folder / "out"))
    begin = time.perf_counter()
    told = answer_of(*command, NUMBA_CACHE_DIR=str(folder / "command"))
    return {**loops, "command": time.perf_counter() - begin, "computing": told["CPU"], "fit": told["fit"]}


def seconds_for_loops() -> dict[str, float]:
    """Computing until every loop was called once, those of fits and those that read text, beyond loading numba."""
    ballots = few_ballots()
    import_module("epivote.kernels.decorators")
    began = time.process_time()
    for soft in (True, False):
        use_all(ballots, soft=soft)
    between = time.process_time()
    use_text_loops()
    return {"loops": between - began, "text": time.process_time() - between}


if __name__ == "__main__":
    print(json.dumps(seconds_for_loops()))
