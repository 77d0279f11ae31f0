"""Ballots from dataframes: five layouts, one shape behind them.

Every layout is first turned into `Rows`: who, where, and the cell with the ticks, one row per ballot.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from epivote.data.columns import (
    INSTANCE_COLUMNS,
    LIST_COLUMNS,
    MULTIPLICITY_COLUMN,
    TICK_COLUMNS,
    VOTER_COLUMNS,
    find_column,
)
from epivote.data.marks import marks_of
from epivote.data.names import Place, as_names, counted, listing
from epivote.data.rows import Rows, Split
from epivote.errors import BallotError, ColumnError, CrowdWarning

if TYPE_CHECKING:
    import narwhals as nw

Layout = Literal["lists", "ticks", "indicators", "wide_instances", "wide_voters"]
Blank = Literal["missing", "empty"]


def rows_of(
    table: BallotTable,
    layout: Layout,
    voter: str | None,
    instance: str | None,
    approvals: str | Iterable[str] | None,
    split: Split,
    blank: Blank | None,
) -> Rows:
    """One row per ballot (or tick) of a table in any layout; what is missing is left out."""
    if layout not in get_args(Layout):
        raise BallotError(f"layout={layout!r} is not one of {listing(get_args(Layout))}")
    if blank is not None and blank not in get_args(Blank):
        raise BallotError(f"blank={blank!r} is not one of {listing(sorted(get_args(Blank)))}")
    if layout == "indicators":
        rows = _indicators(table, voter, instance, approvals)
    elif layout == "wide_instances" or layout == "wide_voters":
        rows = _wide(table, layout, voter, instance, approvals, split)
    else:
        usual, split = (LIST_COLUMNS, split) if layout == "lists" else (TICK_COLUMNS, _single)
        column, (voter, instance) = _one(approvals), _keys(table, voter, instance)
        ticks = table.ticks(table.find(column, usual, "alternatives"))
        rows = Rows(table.text(voter), table.text(instance), ticks, table.place, split)
    if MULTIPLICITY_COLUMN in table.columns and layout in ("lists", "ticks", "indicators"):
        rows = replace(rows, multiplicity=table.text(MULTIPLICITY_COLUMN))
    unanswered = no_ballot(rows, layout, blank, table.nulls)
    return rows.keep(~unanswered) if unanswered.any() else rows


def no_ballot(rows: Rows, layout: Layout, blank: Blank | None, nulls: Blank) -> pl.Series:
    """Which rows are no ballots: all blank ones if `blank` says missing, none if it says empty.

    Unless it says either, blank rows are empty ballots where a row is one, and missing in the other layouts. Only where
    `nulls` are told apart from empty cells are they missing ballots beside empty ones.
    """
    if blank is None and layout == "lists" and nulls == "missing":
        return rows.ticks.is_null()
    usual: Blank = "empty" if layout in ("lists", "ticks") else "missing"
    return rows.blank if (blank or usual) == "missing" else pl.repeat(False, len(rows.ticks), eager=True)


def warn_of_nulls(count: int) -> None:
    """Say that rows of a dataframe were left out, because pandas also writes null for an empty text."""
    if count:
        warnings.warn(
            f"{counted(count, 'row')} without a value for the alternatives (null) {'is' if count == 1 else 'are'} "
            "taken as missing; blank='empty' makes such rows empty ballots, blank='missing' silences this",
            CrowdWarning,
            stacklevel=3,
        )


def eager_frame(frame: Any) -> nw.DataFrame[Any]:
    """Any dataframe as narwhals sees it."""
    import narwhals as nw  # only here: files are read without it

    try:
        return nw.from_native(frame, eager_only=True)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        if hasattr(frame, "collect"):
            raise ColumnError("the frame is lazy; collect it first") from error
        if isinstance(frame, str):
            raise ColumnError(f"{frame!r} is a text; read a file with read_ballots first") from error
        raise ColumnError(
            f"a {type(frame).__name__} is neither Ballots nor a dataframe; see Ballots.from_mapping and from_array"
        ) from error


class BallotTable:
    """The columns of any dataframe as Polars columns; a column may have any name, which is taken as text.

    What comes from a file is Polars already; a user's dataframe comes as `eager_frame` returns it. `nulls` says what a
    cell without a value is in a table with a row per ballot: in text files it is the only way to write an empty one.
    """

    def __init__(
        self,
        frame: pl.DataFrame | nw.DataFrame[Any],
        place: Place = lambda row: f"row {row + 1}",
        nulls: Blank = "missing",
    ) -> None:
        self.frame = frame
        self.place = place
        self.nulls: Blank = nulls
        self.names = {str(name): name for name in frame.columns}
        self.columns = list(self.names)

    def find(self, given: str | None, usual: Sequence[str], what: str) -> str:
        """The column called `given`, or the first of the usual names that is there."""
        name = None if given is None else str(given)
        return find_column(self.columns, name, usual, remedy=f"; name the {what} column")

    def raw(self, name: str) -> pl.Series:
        """One column with its values as they are, blanks as null."""
        column = self.frame.get_column(self.names[name])
        if not isinstance(column, pl.Series):
            native = column.to_native()
            if not isinstance(native, pl.Series):
                return _other_column(name, column)
            column = native
        return _polars_column(column)

    def text(self, name: str) -> pl.Series:
        """One column as text; whole numbers stay whole even where blanks made them floats."""
        column = self.raw(name)
        if isinstance(column.dtype, pl.List):
            raise ColumnError(f"column {name!r} holds lists; it must hold one name per row")
        return _as_text(column)

    def ticks(self, name: str) -> pl.Series:
        """One column as lists of names, or as text that is still to be split."""
        column = self.raw(name)
        if isinstance(column.dtype, pl.List):
            return column.list.eval(_text_expression(pl.element(), column.dtype.inner))
        return _as_text(column)


def _polars_column(column: pl.Series) -> pl.Series:
    if isinstance(column.dtype, pl.Array):
        column = column.arr.to_list()
    inner = column.dtype.inner if isinstance(column.dtype, pl.List) else column.dtype
    if isinstance(inner, (pl.Struct, pl.Object, pl.List, pl.Array, pl.Binary, pl.Duration)):
        raise ColumnError(f"column {column.name!r} holds {column.dtype} cells; make them text, numbers or lists")
    if isinstance(inner, (pl.Categorical, pl.Enum)):
        column = column.cast(pl.List(pl.String) if isinstance(column.dtype, pl.List) else pl.String)
    return column.fill_nan(None) if column.dtype.is_float() else column


def _other_column(name: str, column: nw.Series[Any]) -> pl.Series:
    """A column of pandas, Arrow and others, value by value."""
    blank = column.is_null().to_list()
    values = [None if is_blank else _plain(value) for value, is_blank in zip(column.to_list(), blank, strict=True)]
    kinds = {isinstance(value, list) for value in values if value is not None}
    if len(kinds) > 1:
        raise ColumnError(f"column {name!r} mixes lists with single values; make every cell a list")
    return pl.Series(name, values, strict=False)


def _keys(table: BallotTable, voter: str | None, instance: str | None) -> tuple[str, str]:
    return table.find(voter, VOTER_COLUMNS, "voter"), table.find(instance, INSTANCE_COLUMNS, "instance")


def _single(cells: pl.Series) -> pl.Series:
    """Every cell is one name."""
    return cells.to_frame("cell").select(pl.concat_list("cell"))["cell"]


def _indicators(
    table: BallotTable, voter: str | None, instance: str | None, approvals: str | Iterable[str] | None
) -> Rows:
    voter, instance = _keys(table, voter, instance)
    columns = _several(table, approvals, without=(voter, instance, MULTIPLICITY_COLUMN))
    marks = pl.DataFrame([_marks(table, name) for name in columns])
    blanks = marks.select(pl.sum_horizontal(pl.all().is_null())).to_series()
    torn = blanks.is_between(1, len(columns) - 1).arg_true()
    if len(torn) and marks.select(pl.any_horizontal((~pl.all()).any())).item():
        row = int(torn[0])
        name = next(name for name in columns if marks[name][row] is None)
        raise BallotError(
            f"{table.place(row)}: column {name!r} is blank but others are not; write 0 for no tick, "
            "or leave the whole ballot blank if it is missing"
        )
    names = [pl.when(pl.col(name)).then(pl.lit(name)) for name in columns]
    ticks = marks.select(pl.concat_list(names).list.drop_nulls().alias("ticks"))["ticks"]
    return Rows(table.text(voter), table.text(instance), ticks.set(blanks == len(columns), None), table.place, _single)


def indicator_columns(
    table: BallotTable, voter: str | None, instance: str | None, approvals: str | Iterable[str] | None
) -> list[str]:
    """The columns that hold 0 or 1: those named, else all but voter, instance and multiplicity."""
    return _several(table, approvals, without=(*_keys(table, voter, instance), MULTIPLICITY_COLUMN))


def _wide(
    table: BallotTable,
    layout: Layout,
    voter: str | None,
    instance: str | None,
    approvals: str | Iterable[str] | None,
    split: Split,
) -> Rows:
    by_instance = layout == "wide_instances"
    key = (
        table.find(voter, VOTER_COLUMNS, "voter") if by_instance else table.find(instance, INSTANCE_COLUMNS, "instance")
    )
    columns = _several(table, approvals, without=(key,))
    keys = table.text(key)
    row_names = pl.concat([keys] * len(columns))
    column_names = pl.Series("column", np.repeat(np.array(columns, object), len(keys)), pl.String)
    cells = [table.ticks(name).rename("ticks") for name in columns]
    if any(isinstance(each.dtype, pl.List) for each in cells):
        cells = [(each if isinstance(each.dtype, pl.List) else split(each)).cast(pl.List(pl.String)) for each in cells]
    return Rows(
        row_names if by_instance else column_names,
        column_names if by_instance else row_names,
        pl.concat(cells),
        lambda row: f"{table.place(row % len(keys))}, column {columns[row // len(keys)]!r}",
        split,
    )


def _one(approvals: str | Iterable[str] | None) -> str | None:
    if approvals is None or isinstance(approvals, str):
        return approvals
    raise ColumnError("this layout has one column of approvals; name it with approvals='...'")


def _several(table: BallotTable, approvals: str | Iterable[str] | None, without: tuple[str, ...]) -> list[str]:
    if approvals is None:
        columns = [name for name in table.columns if name not in without]
    else:
        columns = [
            table.find(name, (), "approvals") for name in ([approvals] if isinstance(approvals, str) else approvals)
        ]
    if not columns:
        keys = [name for name in without if name in table.columns]
        raise ColumnError(f"besides {listing(keys)} there is no column left to hold ticks")
    return list(as_names(columns, "column"))


def _marks(table: BallotTable, name: str) -> pl.Series:
    column = table.raw(name)
    if isinstance(column.dtype, pl.List):
        raise ColumnError(f"column {name!r} holds lists; it must hold 0 or 1")
    if column.dtype == pl.Boolean:
        return column
    if column.dtype == pl.String:
        marks = marks_of(column)
        odd = (marks.is_null() & (column.str.strip_chars() != "")).arg_true()
    else:
        numbers = column.cast(pl.Float64, strict=False)
        marks = pl.select(pl.when((numbers == 0) | (numbers == 1)).then(numbers == 1)).to_series()
        odd = (marks.is_null() & column.is_not_null()).arg_true()
    if len(odd):
        row = int(odd[0])
        raise BallotError(
            f"{table.place(row)}, column {name!r}: {column[row]!r} is neither 0 nor 1; write 1 for a tick, or name "
            "the columns of ticks (--ticks, or approvals=...)"
        )
    return marks.rename(name)


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, (list, tuple, set, frozenset, np.ndarray)) else value


def _as_text(column: pl.Series) -> pl.Series:
    return pl.select(_text_expression(pl.lit(column), column.dtype)).to_series().rename(column.name)


def _text_expression(expression: pl.Expr, kind: pl.DataType | Any) -> pl.Expr:
    if kind.is_float():
        whole = expression.cast(pl.Int64, strict=False)
        return pl.when(whole == expression).then(whole.cast(pl.String)).otherwise(expression.cast(pl.String))
    return expression.cast(pl.String)
