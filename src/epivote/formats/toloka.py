"""Toloka's TSV of assignments: `INPUT:`, `OUTPUT:` and `GOLDEN:` columns, one row per answered task."""

from __future__ import annotations

import json
import re

from epivote.data.columns import find_column
from epivote.data.names import listing
from epivote.errors import FileError
from epivote.formats.export import Collector, TicksOfRow
from epivote.formats.mturk import asked, instances_of, which_answer
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

ANSWERED = ("SUBMITTED", "APPROVED", "ACCEPTED")
TASK = "ASSIGNMENT:task_id"
BOOLEANS = ("true", "false")


def read_toloka(source: SourceFile, reading: Reading) -> Collector:
    """An answered task is a ballot; a golden answer is gold; other assignments count as none.

    The instance is the task, or what the columns that `instances` names hold; in files that name no tasks, what all
    `INPUT:` columns hold. Ticks are a JSON list or joined by commas (or `separator`) in one `OUTPUT:` column, where a
    backslash before a comma makes it part of a name, or true/false in one `OUTPUT:` column per option.
    """
    table = source.once(TextTable)
    found = Collector(source, reading)
    workers = table.column(("ASSIGNMENT:worker_id",)).to_list()
    items = instances_of(table, reading, _instances(table, found))
    states = (
        table.column(("ASSIGNMENT:status",)).to_list()
        if "ASSIGNMENT:status" in table.columns
        else ["APPROVED"] * len(items)
    )
    fields = _fields(table, "OUTPUT:", reading)
    ticks, golden = _reader(table, fields, reading), _golden(table, fields, reading)
    if len(fields) > 1:
        found.alternatives.update(dict.fromkeys(name.split(":", 1)[1] for name in fields))
    for row, (worker, item) in enumerate(zip(workers, items, strict=True)):
        right = golden(row)
        if right:
            found.add_gold(item, right, f"line {table.lines[row]}")
        if states[row] not in ANSWERED:
            found.remark(f"an assignment that is {states[row]} counts as a missing ballot")
            continue
        answer = ticks(row)
        found.submit(worker, item, answer, f"line {table.lines[row]}")
    return found


def _instances(table: TextTable, found: Collector) -> list[str]:
    """The columns that tell tasks apart."""
    inputs = [name for name in table.columns if name.startswith("INPUT:")]
    if TASK in table.columns or found.reading.instances is not None:
        return [TASK]
    if not inputs:
        find_column(table.columns, None, (TASK,), place=f"{table.source}: ", remedy="; name one with --instances")
    found.remark(f"instances are told apart by {listing(inputs)}; --instances names other columns")
    return inputs


def _fields(table: TextTable, start: str, reading: Reading) -> list[str]:
    """The `OUTPUT:` columns to read: the one asked for, the only one, or all if all hold true and false."""
    present = [name for name in table.columns if name.startswith(start)]
    question = asked(reading, start)
    if question is not None:
        present = [name for name in present if name == f"{start}{question}"]
    if len(present) == 1 or (present and all(_boolean(table, name) for name in present)):
        return present
    raise which_answer(table, [name for name in table.columns if name.startswith(start)])


def _boolean(table: TextTable, name: str) -> bool:
    cells = table.column((name,)).drop_nulls().str.to_lowercase()
    return len(cells) > 0 and bool(cells.is_in(BOOLEANS).all())


def _reader(table: TextTable, fields: list[str], reading: Reading) -> TicksOfRow:
    if all(_boolean(table, name) for name in fields):
        boxes = {name.split(":", 1)[1]: table.column((name,)).to_list() for name in fields}
        return lambda row: tuple(option for option, cells in boxes.items() if (cells[row] or "").lower() == "true")
    cells = table.column((fields[0],)).to_list()
    return lambda row: _ticks(cells[row] or "", reading, table, row)


def _golden(table: TextTable, fields: list[str], reading: Reading) -> TicksOfRow:
    golden = [name.replace("OUTPUT:", "GOLDEN:", 1) for name in fields]
    if any(name not in table.columns for name in golden):
        return lambda _: ()
    return _reader(table, golden, reading)


def _ticks(cell: str, reading: Reading, table: TextTable, row: int) -> tuple[str, ...]:
    if cell.startswith("["):
        try:
            return tuple(json.loads(cell))
        except (ValueError, TypeError, RecursionError):
            raise FileError(f"{table.place(row)}: {cell[:60]!r} is not JSON; export the assignments again") from None
    separator = reading.separator or ","
    parts = re.split(rf"(?<!\\){re.escape(separator)}", cell)
    return tuple(part.replace(f"\\{separator}", separator).strip() for part in parts if part.strip())
