"""The reading and writing of `aggregate` in nothing but Polars, as yardsticks for benchmarks/files.py.

With one argument, reads a canonical CSV and nothing else. With two, also turns voters, instances and ticks into numbers
sorted by instance, and writes files of the same shape as those of `epivote aggregate --out` into the folder that the
second one names, with made-up numbers in place of estimates.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.processes import peak_memory


def main(source: Path, folder: Path | None = None) -> None:
    """Print the seconds spent reading and writing, CPU seconds and peak memory in GB as JSON."""
    begin = time.perf_counter()
    if folder is None:
        pl.read_csv(source)
        spent = {"read": time.perf_counter() - begin}
    else:
        found = read(source)
        between = time.perf_counter()
        write(folder, *found)
        spent = {"read": between - begin, "write": time.perf_counter() - between}
    print(json.dumps({**spent, "CPU": time.process_time(), "memory": peak_memory()}))


def read(source: Path) -> tuple[pl.Series, pl.Series, pl.Series, pl.DataFrame]:
    """Names in order of appearance, and one row of numbers per tick, by instance and voter."""
    frame = pl.read_csv(source, infer_schema=False)
    voters, instances = frame["voter"].unique(maintain_order=True), frame["instance"].unique(maintain_order=True)
    ticks = (
        frame.lazy()
        .select(
            pl.col("voter").cast(pl.Enum(voters)).to_physical(),
            pl.col("instance").cast(pl.Enum(instances)).to_physical(),
            pl.col("alternatives").str.split("|"),
        )
        .sort("instance", "voter")
        .explode("alternatives")
        .collect()
    )
    alternatives = ticks["alternatives"].drop_nulls().unique().sort()
    return (
        voters,
        instances,
        alternatives,
        ticks.with_columns(pl.col("alternatives").cast(pl.Enum(alternatives)).to_physical()),
    )


def write(folder: Path, voters: pl.Series, instances: pl.Series, alternatives: pl.Series, ticks: pl.DataFrame) -> None:
    """`truth.csv`, `voters.csv`, `alternatives.csv` and `inclusion.csv`."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    first = ticks.group_by("instance").agg(pl.col("alternatives").drop_nulls().head(2)).sort("instance")
    names = alternatives.to_list()
    sets = first["alternatives"].list.eval(pl.element().replace_strict(range(len(names)), names, default=None))
    pl.DataFrame(
        {"instance": instances, "alternatives": sets.list.join("|"), "confidence": rng.random(len(instances))}
    ).write_csv(folder / "truth.csv")
    rates = {name: rng.random(len(voters)) for name in ("hit_rate", "false_alarm_rate", "weight", "ballots")}
    pl.DataFrame({"voter": voters, **rates}).write_csv(folder / "voters.csv")
    pl.DataFrame({"alternative": alternatives, "prior": rng.random(len(alternatives))}).write_csv(
        folder / "alternatives.csv"
    )
    cells = len(instances) * len(alternatives)
    pl.DataFrame(
        {
            "instance": instances.gather(np.repeat(np.arange(len(instances), dtype=np.uint32), len(alternatives))),
            "alternative": alternatives.gather(np.tile(np.arange(len(alternatives), dtype=np.uint32), len(instances))),
            "probability": rng.random(cells),
        }
    ).write_csv(folder / "inclusion.csv")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
