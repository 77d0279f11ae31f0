"""CrowdFlower's (Figure Eight's, Appen's) full report, as CrowdTruth keeps it too: a row per judgment."""

from __future__ import annotations

import polars as pl

from epivote.data.columns import plain
from epivote.errors import FileError
from epivote.formats.export import Collector
from epivote.formats.joined import JoinedCells
from epivote.formats.mturk import asked, instances_of, which_answer
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

WORKER, UNIT, TAINTED = "_worker_id", "_unit_id", "_tainted"
LINE_BREAK, GOLD = "\n", "_gold"


def is_crowdflower(columns: list[str]) -> bool:
    """Whether a table has the columns that all such reports have."""
    return WORKER in columns and UNIT in columns


def read_crowdflower(source: SourceFile, reading: Reading) -> Collector:
    """Every judgment that is not tainted is a ballot of its worker on its unit, or on what `instances` names.

    Boxes that were ticked stand in one cell, a line each, or as a list. What `_gold` columns hold are the answers that
    a test question accepts, not the one set that is right.
    """
    table = source.once(TextTable)
    found = Collector(source, reading)
    name = _answer(table, reading)
    cells = table.frame[name]
    split = JoinedCells(reading.separator, reading.alternatives)
    if reading.separator is None and cells.str.contains(LINE_BREAK, literal=True).any():
        split = JoinedCells(LINE_BREAK)
        found.remark(f"cells were split at {LINE_BREAK!r} (override with --separator)")
    ticks = split(pl.Series(cells.unique(maintain_order=True)))
    of_cell = dict(zip(cells.unique(maintain_order=True), ticks.to_list(), strict=True))
    tainted = table.frame[TAINTED] if TAINTED in table.columns else pl.Series([None] * len(cells), dtype=pl.String)
    workers, units = table.column((WORKER,)).to_list(), instances_of(table, reading, [UNIT])
    for row, cell in enumerate(cells):
        if plain(tainted[row] or "") == "true":
            found.remark("a judgment that is tainted counts as a missing ballot")
            continue
        names = of_cell[cell]
        if cell and names is None:
            raise FileError(f"{table.place(row)}: {cell[:60]!r} is not a list of alternatives; correct it there")
        chosen = tuple(name for name in names or () if name)
        found.submit(workers[row], units[row], chosen, f"line {table.lines[row]}")
    for note in split.notes:
        found.remark(note)
    if f"{name}{GOLD}" in table.columns and table.frame[f"{name}{GOLD}"].is_not_null().any():
        found.remark(f"column {name + GOLD!r} lists what test questions accept; it was not read as gold")
    return found


def _answer(table: TextTable, reading: Reading) -> str:
    """The column of answers: the one asked for, else the only one that has a gold column beside it."""
    others = [name for name in table.columns if not name.startswith("_") and not name.endswith(GOLD)]
    answers = [name for name in others if f"{name}{GOLD}" in table.columns] or others
    if reading.question is not None:
        short = asked(reading, "Answer.")
        present = [name for name in table.columns if name in (reading.question, f"Answer.{short}")]
    else:
        present = answers
    if len(present) != 1:
        raise which_answer(table, answers)
    return present[0]
