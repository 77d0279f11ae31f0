"""A 0/1 matrix, a column per alternative: a line per voter, a blank line between instances; or a line per instance."""

from __future__ import annotations

import re

from epivote.data.columns import INSTANCE_COLUMNS, LIST_COLUMNS, TICK_COLUMNS, VOTER_COLUMNS, column_named, plain
from epivote.data.names import counted
from epivote.errors import FileError
from epivote.formats.export import Collector
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile, lines_of

MARKS = {"0", "1"}
MISSING = {"?", "-", "na", "nan", "."}
ABOVE_VOTERS = (*VOTER_COLUMNS, "name", "")
ABOVE_INSTANCES = ("id", "file", "filename", "path", "url")
"""Ends of names of columns that hold instances, unless they are voters' names."""
ASSUMED = {
    "voters": "every row counts as a voter on one instance; with --rows instances it is an instance of one voter",
    "instances": "every row counts as an instance of one voter; with --rows voters it is a voter on one instance",
}


def read_matrix(source: SourceFile, reading: Reading) -> Collector:
    """`1` is a tick and `0` none; a line of `?`, `-` or `nan` is no ballot.

    The first line may name the alternatives and the first cell of a line its voter; `# name` before a block names the
    instance. Cells are separated by tabs, commas, semicolons or blanks. If a row is an instance, because the first
    column's name or `rows` says so, all are ballots of one voter, called as the file is.
    """
    found = Collector(source, reading)
    names, voters_named = list(reading.alternatives or ()), False
    rows = reading.rows
    title, block, row = "", 1, 0
    for number, line in lines_of(source):
        cells = cells_of(line)
        if line.startswith("#"):
            title = line[1:].strip()
        elif not cells:
            block, row, title = (block + 1, 0, "") if row else (block, row, title)
        elif not (row or block > 1) and is_header(cells):
            above_instances = is_above_instances(cells[0])
            rows = rows or ("instances" if above_instances else None)
            voters_named = above_instances or is_above_voters(cells[0])
            names = cells[1:] if voters_named else cells
        else:
            row += 1
            named = voters_named or not is_marks(cells)
            name, marks = (cells[0], cells[1:]) if named else (f"{(rows or 'voters')[:-1]} {row}", cells)
            if not is_marks(marks):
                raise FileError(
                    f"{source}, line {number}: {line.strip()[:40]!r} is not a row of 0 and 1, with or without a name "
                    "before it"
                )
            names = _fitting(names, marks, named=named)
            if len(names) != len(marks):
                raise FileError(
                    f"{source}, line {number}: {counted(len(marks), 'cell')} where there are "
                    f"{counted(len(names), 'alternative')}; give every line the same number of cells"
                )
            voter, instance = (source.stem, name) if rows == "instances" else (name, title or f"instance {block}")
            _add(found, voter, instance, names, marks, number)
    found.alternatives = dict.fromkeys(names)
    if reading.rows is None and (rows == "instances" or {key[1] for key in found.ballots} == {"instance 1"}):
        found.remark(ASSUMED[rows or "voters"])
    return found


def looks_like_matrix(source: SourceFile, reading: Reading) -> bool:
    """Whether the first two lines that are no titles hold 0 and 1, after names at most.

    Names come first: a header with a column of instances and one of voters or ticks is that of a table, whatever its
    cells hold.
    """
    text = source.start(1 << 16).decode("utf-8-sig", errors="replace")
    lines = [cells_of(line) for line in text.splitlines() if line.strip() and not line.startswith("#")][:2]
    if not lines:
        return False
    if is_marks(lines[0]) or (len(lines[0]) > 2 and is_marks(lines[0][1:])):
        return True
    if reading.instances is not None and column_named(lines[0], reading.instances, ()) is not None:
        return False
    voter, instance, ticks = (
        column_named(lines[0], given, usual) is not None
        for given, usual in (
            (reading.voter, VOTER_COLUMNS),
            (None, INSTANCE_COLUMNS),
            (reading.ticks, (*LIST_COLUMNS, *TICK_COLUMNS)),
        )
    )
    if (instance and (voter or ticks)) or (voter and ticks):
        return False
    return is_header(lines[0]) and len(lines) > 1 and (is_marks(lines[1]) or is_marks(lines[1][1:]))


def is_above_voters(name: str) -> bool:
    """Whether a column is called as those of voters are."""
    return name.lower() in ABOVE_VOTERS or column_named([name], None, VOTER_COLUMNS) is not None


def is_above_instances(name: str) -> bool:
    """Whether a column is called as those of instances are, or of things with numbers or addresses."""
    if is_above_voters(name):
        return False
    return column_named([name], None, INSTANCE_COLUMNS) is not None or plain(name).endswith(ABOVE_INSTANCES)


def cells_of(line: str) -> list[str]:
    """The cells of a line; blanks separate them where nothing else does."""
    text = line.strip("\r\n ")
    parts = re.split(r"[\t,;]", text) if re.search(r"[\t,;]", text) else text.split()
    return [part.strip().strip('"') for part in parts] if text.strip() else []


def is_marks(cells: list[str]) -> bool:
    """Whether all cells are 0, 1 or a sign for nothing."""
    return bool(cells) and all(cell.lower() in MARKS | MISSING for cell in cells)


def is_header(cells: list[str]) -> bool:
    """Whether no cell after the first is 0 or 1: names, then."""
    return not any(cell in MARKS for cell in cells)


def _fitting(names: list[str], marks: list[str], *, named: bool) -> list[str]:
    """Names for all marks: those of the header, without the one above the voters."""
    if not names:
        return [f"a{j}" for j in range(1, len(marks) + 1)]
    return names[1:] if named and len(names) == len(marks) + 1 else names


def _add(found: Collector, voter: str, instance: str, names: list[str], marks: list[str], number: int) -> None:
    blank = [mark.lower() in MISSING for mark in marks]
    if all(blank):
        return
    if any(blank):
        mark = marks[blank.index(True)]
        raise FileError(
            f"{found.source}, line {number}: {mark!r} is mixed with 0 and 1; write 0 for no tick, "
            f"or {mark!r} in every cell of a missing ballot"
        )
    ticks = [name for name, mark in zip(names, marks, strict=True) if mark == "1"]
    found.add(voter, instance, ticks, f"line {number}")
