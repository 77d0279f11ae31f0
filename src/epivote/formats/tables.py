"""Tables with a row per ballot or per tick: canonical ballots, ticks, 0/1 columns, crowd-kit's lists.

They may be CSV, TSV, Parquet, JSON or JSONL; only the columns that are needed are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from epivote.data.columns import (
    INSTANCE_COLUMNS,
    LIST_COLUMNS,
    MULTIPLICITY_COLUMN,
    TICK_COLUMNS,
    TOLD_APART,
    VOTER_COLUMNS,
    columns_named,
    find_column,
    find_columns,
)
from epivote.data.frames import BallotTable, Blank, Layout, no_ballot, rows_of
from epivote.data.marks import marks_of
from epivote.data.names import counted, listing
from epivote.data.rows import NumberedRows, Rows, TickLists, split_cells
from epivote.engines.local import threads
from epivote.errors import BallotError, ColumnError
from epivote.formats.export import Export
from epivote.formats.file_tables import table_of
from epivote.formats.forms import matches
from epivote.formats.joined import SEPARATOR, JoinedCells
from epivote.formats.plain_text import NumberedLists, is_large, plain_columns
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable
from epivote.kernels.arranging import CompiledArranging

TableKind = Literal["ballots", "ticks", "indicators", "crowd-kit"]
CANONICAL = {"voter", "instance", "alternatives", "alternative", "worker", "task", "label"}
SEVERAL = "\0instance"  # the column made of several that tell instances apart together
ROLES = ("voter", "instance", "ticks")  # of columns in a table with a row per ballot
FIRST_ROWS = 1000  # rows looked at to tell 0/1 columns from others; a round number


@dataclass(frozen=True)
class Shape:
    """How a table is to be understood: its layout, which columns hold what, and how cells are split."""

    layout: Layout
    voter: str
    instances: list[str]
    ticks: list[str]
    split: JoinedCells
    notes: tuple[str, ...] = ()
    has_multiplicity: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        optional = [MULTIPLICITY_COLUMN] if self.has_multiplicity else []
        return list(dict.fromkeys([self.voter, *self.instances, *self.ticks, *optional]))

    def rows(self, table: BallotTable, blank: Blank | None) -> Rows:
        """The rows of such a table."""
        ticks = self.ticks if self.layout == "indicators" else self.ticks[0]
        instance = self.instances[0]
        if len(self.instances) > 1:
            assert isinstance(table.frame, pl.DataFrame), "files are read by Polars"
            table = BallotTable(self._told_apart(table.frame), table.place, table.nulls)
            instance = SEVERAL
        return rows_of(table, self.layout, self.voter, instance, ticks, self.split, blank)

    def _told_apart(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.concat_str(self.instances, separator=TOLD_APART, ignore_nulls=True).alias(SEVERAL))

    def alternatives(self, reading: Reading) -> Iterable[str] | None:
        """Those that were stated, by the user or by the columns."""
        return self.ticks if reading.alternatives is None and self.layout == "indicators" else reading.alternatives


def read_lists(source: SourceFile, reading: Reading) -> Export:
    """A row per ballot; ticks are joined by `|` or what `joined.py` finds, or they are a list."""
    return _read(source, reading, "ballots")


def read_crowd_kit(source: SourceFile, reading: Reading) -> Export:
    """The same, and whatever stands in brackets must be a list as JSON or Python writes it."""
    return _read(source, reading, "crowd-kit")


def read_ticks(source: SourceFile, reading: Reading) -> Export:
    """A row per tick; a row without alternative makes an empty ballot."""
    found = _read(source, reading, "ticks")
    if found.ballots.total_empty == 0:
        note = (
            "a row is one tick, so voters who ticked nothing have no row and count as not asked; "
            "add a row with a blank alternative for each of their ballots"
        )
        return replace(found, notes=(*found.notes, note))
    return found


def read_indicators(source: SourceFile, reading: Reading) -> Export:
    """A row per ballot with a 0/1 column per alternative: those `ticks` matches, else all that hold 0 and 1."""
    return _read(source, reading, "indicators")


def shape_of(source: SourceFile, reading: Reading, kind: TableKind) -> Shape:
    """How the table in a file is to be understood."""
    has_multiplicity = MULTIPLICITY_COLUMN in table_of(source).columns
    return replace(_shape_of(source, reading, kind), has_multiplicity=has_multiplicity)


def _shape_of(source: SourceFile, reading: Reading, kind: TableKind) -> Shape:
    columns = table_of(source).columns
    place = f"{source}: "

    def remedy(option: str) -> str:
        return f"; name one with --{option}, or say what the file is with --format (forms if a row is a respondent)"

    voter = find_column(columns, reading.voter, VOTER_COLUMNS, place=place, remedy=remedy("voter"))
    instances = find_columns(columns, reading.instances, INSTANCE_COLUMNS, place=place, remedy=remedy("instances"))
    if kind == "indicators":
        keys = (voter, *instances, MULTIPLICITY_COLUMN)
        marks, others = _mark_columns(source, reading, [name for name in columns if name not in keys])
        if not marks:
            raise ColumnError(
                f"{source}: no 0/1 column is left besides {listing((voter, *instances))}; name the column of ticks "
                "with --ticks"
            )
        notes = [f"columns without 0 or 1 were left out: {listing(others)}; --ticks selects others"] if others else []
        shape = Shape("indicators", voter, instances, marks, JoinedCells(None), (*notes,))
    else:
        usual = TICK_COLUMNS if kind == "ticks" else LIST_COLUMNS
        ticks = find_column(columns, reading.ticks, usual, place=place, remedy=remedy("ticks"))
        split = JoinedCells(reading.separator, reading.alternatives, lists=kind == "crowd-kit")
        shape = Shape("ticks" if kind == "ticks" else "lists", voter, instances, [ticks], split)
    return shape


def notes_on(shape: Shape, reading: Reading) -> tuple[str, ...]:
    """What was assumed about a table, once it was read."""
    return (*_taken(shape, reading), *shape.notes, *shape.split.notes)


def _taken(shape: Shape, reading: Reading) -> list[str]:
    """Which columns were taken, where the user did not say and their names are not the canonical ones."""
    roles = {"voters": (reading.voter, [shape.voter]), "instances": (reading.instances, shape.instances)}
    if shape.layout != "indicators":
        roles["ticks"] = (reading.ticks, shape.ticks)
    taken = {role: names for role, (given, names) in roles.items() if given is None}
    if all(name.strip().casefold() in CANONICAL for names in taken.values() for name in names):
        return []
    told = ", ".join(f"{role} are in {listing(names)}{' together' * (len(names) > 1)}" for role, names in taken.items())
    return [f"judging by column names, {told}; --voter, --instances and --ticks choose other columns"]


def _mark_columns(source: SourceFile, reading: Reading, columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Columns of 0 and 1, and others: those the user means, else those that hold such marks."""
    if reading.ticks is not None:
        return [name for name in columns if matches(name, reading.ticks)], []
    frame = table_of(source).first(columns, FIRST_ROWS) if columns else pl.DataFrame()
    others = [name for name in columns if _holds_other_things(frame[name], reading)]
    return [name for name in columns if name not in others], others


def _holds_other_things(column: pl.Series, reading: Reading) -> bool:
    if column.dtype != pl.String:
        return False
    filled = column.filter(column.is_not_null() & ~column.is_in(list(reading.missing_words)))
    numbers = filled.cast(pl.Float64, strict=False)
    return len(filled) > 0 and bool((marks_of(filled).is_null() & numbers.is_null()).all())


def _read(source: SourceFile, reading: Reading, kind: TableKind) -> Export:
    shape = shape_of(source, reading, kind)
    table = table_of(source)
    several = columns_named(table.columns, INSTANCE_COLUMNS) if reading.instances is None else shape.instances
    if len(several) == 1 and shape.layout == "lists" and isinstance(table, TextTable):
        export = _read_plain(table, shape, reading)
        if export is not None:
            return export
    frame = table.select(list(dict.fromkeys([*shape.columns, *several])))
    if len(frame) == 0:
        raise BallotError(f"{source} holds no ballots; check that it is the file you meant")
    if len(several) > 1 and shape.layout != "ticks":
        shape = _telling_apart(shape, several, frame, reading)
    begin = time.perf_counter()
    everyone, silent, blank = with_answers(shape, BallotTable(frame, table.place, table.nulls), reading)
    n_silent, n_blank = int(silent.sum()), int(blank.sum())
    rows = everyone.keep(~(silent | blank)) if n_silent or n_blank else everyone
    n_empty = int(rows.blank.sum()) if shape.layout == "lists" else 0
    return _export(rows, shape, reading, (n_silent, n_blank, n_empty), begin)


def _read_plain(table: TextTable, shape: Shape, reading: Reading) -> Export | None:
    """The same for a large file of plain text, where every row is a ballot; else None."""
    if len(shape.columns) != len(ROLES) or not is_large(table):
        return None
    is_joined = shape.split.is_settled_by(table.first(shape.ticks, FIRST_ROWS).to_series())
    columns = plain_columns(table, shape.columns, SEPARATOR if is_joined else None)
    if columns is None:
        return None
    begin = time.perf_counter()
    voters, instances, cells = columns
    left_out = [*reading.missing_words, *([""] if reading.blank == "missing" else [])]
    if "" in voters.texts or "" in instances.texts or pl.Series(cells.texts).str.strip_chars().is_in(left_out).any():
        return None
    if isinstance(cells, NumberedLists):
        ticks, n_empty = TickLists(cells.texts, cells.lists, None), cells.n_blank
        if n_empty and "" in left_out:
            return None
    else:
        lists = split_cells(pl.Series(cells.texts), cells.number, shape.split, table.place_of)
        ticks, n_empty = TickLists.of_cells(lists, cells.number), cells.rows_with("")
    names = (tuple(voters.texts), voters.number, tuple(instances.texts), instances.number)
    rows = NumberedRows(*names, ticks, table.place_of, arranging=CompiledArranging(threads()))
    return _export(rows, shape, reading, (0, 0, n_empty), begin)


def _export(
    rows: Rows | NumberedRows, shape: Shape, reading: Reading, blanks: tuple[int, int, int], begin: float
) -> Export:
    """What was read: `blanks` are rows that say there is no answer, others that are left out, and empty ballots."""
    ballots = rows.ballots(
        alternatives=shape.alternatives(reading),
        menu=reading.menus,
        duplicates=reading.duplicates,
        merge=shape.layout == "ticks",
    )
    start = ballots.approval_start
    nothing = int(np.count_nonzero(start[1:] == start[:-1])) - blanks[-1] if shape.layout == "lists" else 0
    return Export(
        ballots,
        notes=(*notes_on(shape, reading), *_about_blanks(*blanks, nothing, reading)),
        inferred=shape.alternatives(reading) is None and reading.menu is None,
        encode_seconds=time.perf_counter() - begin,
    )


def _telling_apart(shape: Shape, several: list[str], frame: pl.DataFrame, reading: Reading) -> Shape:
    """All columns with names of instances where one alone leaves two ballots of a voter on an instance."""
    if reading.instances is not None or not frame.select(shape.voter, *shape.instances).is_duplicated().any():
        return shape
    if frame.select(shape.voter, *several).is_duplicated().any():
        return shape
    return replace(shape, instances=several)


def with_answers(shape: Shape, table: BallotTable, reading: Reading) -> tuple[Rows, pl.Series, pl.Series]:
    """All rows, which of them say in words that there is no answer, and which are no ballots for want of ticks."""
    words, frame = list(reading.missing_words), table.frame
    assert isinstance(frame, pl.DataFrame), "files are read by Polars"
    texts = [name for name in shape.ticks if words and frame[name].dtype == pl.String]
    says_so = [pl.col(name).str.strip_chars().is_in(words).fill_null(value=False) for name in texts]
    silent = pl.repeat(False, len(frame), eager=True)
    if says_so and shape.layout != "indicators":
        silent = frame.select(pl.any_horizontal(says_so)).to_series()
    elif says_so:
        blanked = [pl.when(~is_so).then(pl.col(name)) for name, is_so in zip(texts, says_so, strict=True)]
        table = BallotTable(frame.with_columns(blanked), table.place, table.nulls)
    rows = shape.rows(table, blank="empty")
    return rows, silent, no_ballot(rows, shape.layout, reading.blank, table.nulls) & ~silent


def _about_blanks(n_silent: int, n_blank: int, n_empty: int, n_nothing: int, reading: Reading) -> list[str]:
    """How many rows without ticks were taken as missing, and how many as empty ballots."""
    to_empty, to_missing = "--blank empty makes them empty ballots", "--blank missing leaves them out"
    counts = [
        (n_silent, f"with {reading.missing}", "missing", ""),
        (n_blank, "without a value", "missing", f" ({to_empty})"),
        (n_empty, "without a value", "empty", f" ({to_missing})"),
        (n_nothing, "with an empty list", "empty", ""),
    ]
    told = [f"{counted(count, 'row')} {what} as {taken}{how}" for count, what, taken, how in counts if count > 0]
    return [f"counted {', '.join(told)}"] if told else []
