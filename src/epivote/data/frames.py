"""Ballots from dataframes: five layouts, one shape behind them.

Every layout is first turned into three Polars columns, one row per ballot: who, where, and the list of ticks. Then
names become numbers and `assemble` sorts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import narwhals as nw
import numpy as np
import polars as pl

from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.build import assemble, check_known, universe
from epivote.data.names import IntArray, Place, as_names, listing, suggestion
from epivote.errors import BallotError, ColumnError

Layout = Literal["lists", "ticks", "indicators", "wide_instances", "wide_voters"]
Blank = Literal["empty", "missing"]

VOTER_COLUMNS = ("voter", "worker", "annotator")
INSTANCE_COLUMNS = ("instance", "task", "item")
LIST_COLUMNS = ("alternatives", "labels", "label", "classes", "class")
TICK_COLUMNS = ("alternative", "label", "class")


@dataclass(frozen=True)
class Rows:
    """One row per ballot: names of voter and instance, the ticks as a list, null where the cell was blank."""

    voter: pl.Series
    instance: pl.Series
    ticks: pl.Series
    place: Place

    def keep(self, mask: pl.Series) -> Rows:
        """The rows where `mask` holds; they keep their places."""
        numbers = np.flatnonzero(mask.to_numpy())
        place = self.place
        return Rows(
            self.voter.filter(mask),
            self.instance.filter(mask),
            self.ticks.filter(mask),
            lambda row: place(int(numbers[row])),
        )


def from_frame(
    frame: Any,
    *,
    layout: Layout,
    voter: str | None,
    instance: str | None,
    approvals: str | Iterable[str] | None,
    alternatives: Iterable[str] | None,
    menu: MenuLike | None,
    separator: str,
    blank: Blank | None,
    duplicates: Duplicates,
) -> Ballots:
    """See `Ballots.from_frame`."""
    if layout not in get_args(Layout):
        raise BallotError(f"layout={layout!r} is not one of {listing(get_args(Layout))}")
    if blank is not None and blank not in get_args(Blank):
        raise BallotError(f"blank={blank!r} is not one of {listing(get_args(Blank))}")
    table = Table(eager_frame(frame))
    if layout == "lists":
        rows = _lists(table, voter, instance, _one(approvals), separator)
    elif layout == "ticks":
        rows = _ticks(table, voter, instance, _one(approvals))
    elif layout == "indicators":
        rows = _indicators(table, voter, instance, approvals)
    else:
        rows = _wide(table, layout, voter, instance, approvals, separator)
    if blank is None:
        blank = "empty" if layout in ("lists", "ticks") else "missing"
    if layout == "indicators" and alternatives is None:
        alternatives = _indicator_columns(table, voter, instance, approvals)
    if blank == "missing":
        rows = rows.keep(rows.ticks.is_not_null())
    return from_rows(rows, alternatives=alternatives, menu=menu, duplicates=duplicates)


def from_rows(
    rows: Rows, *, alternatives: Iterable[str] | None, menu: MenuLike | None, duplicates: Duplicates
) -> Ballots:
    """Ballots from one row each; rows whose ticks are null are empty ballots."""
    voters, ballot_voter = _encode(rows.voter, "voter", rows.place)
    instances, ballot_instance = _encode(rows.instance, "instance", rows.place)
    ticks = pl.DataFrame({"row": np.arange(len(rows.ticks)), "name": rows.ticks}).explode("name")
    ticks = ticks.filter(pl.col("name").is_not_null() & (pl.col("name") != ""))
    ticked = ticks["name"].unique(maintain_order=True)
    names = universe(alternatives, menu, ticked.to_list())
    numbers = {name: number for number, name in enumerate(names)}
    for name in ticked:
        if name not in numbers:
            row = ticks.filter(pl.col("name") == name)["row"][0]
            check_known([name], numbers, rows.place(row))
    return assemble(
        voters=voters,
        instances=instances,
        alternatives=names,
        ballot_voter=ballot_voter,
        ballot_instance=ballot_instance,
        approval_ballot=ticks["row"].to_numpy(),
        approved=_numbers(ticks["name"], names),
        menu=menu,
        duplicates=duplicates,
        place=rows.place,
    )


def eager_frame(frame: Any) -> nw.DataFrame[Any]:
    """Any dataframe as narwhals sees it."""
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


class Table:
    """The columns of any dataframe as Polars columns; a column may have any name, which is taken as text."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.names = {str(name): name for name in frame.columns}
        self.columns = list(self.names)

    def find(self, given: str | None, usual: Sequence[str], what: str) -> str:
        """The column called `given`, or the first of the usual names that is there."""
        for name in [str(given)] if given is not None else usual:
            if name in self.columns:
                return name
        wanted = str(given) if given is not None else usual[0]
        others = f" (nor {', '.join(usual[1:])})" if given is None and len(usual) > 1 else ""
        raise ColumnError(
            f"there is no column {wanted!r}{others}{suggestion(wanted, self.columns)}; the columns are "
            f"{listing(self.columns)}; name the {what} column"
        )

    def raw(self, name: str) -> pl.Series:
        """One column with its values as they are, blanks as null."""
        column = self.frame.get_column(self.names[name])
        native = column.to_native()
        if isinstance(native, pl.Series):
            if isinstance(native.dtype, pl.Array):
                native = native.arr.to_list()
            if isinstance(native.dtype, (pl.Struct, pl.Object)):
                raise ColumnError(f"column {name!r} holds {native.dtype} cells; make them text, numbers or lists")
            return native.fill_nan(None) if native.dtype.is_float() else native
        blank = column.is_null().to_list()
        values = [None if is_blank else _plain(value) for value, is_blank in zip(column.to_list(), blank, strict=True)]
        kinds = {isinstance(value, list) for value in values if value is not None}
        if len(kinds) > 1:
            raise ColumnError(f"column {name!r} mixes lists with single values; make every cell a list")
        return pl.Series(name, values, strict=False)

    def text(self, name: str) -> pl.Series:
        """One column as text; whole numbers stay whole even where blanks made them floats."""
        return _as_text(self.raw(name))

    def ticks(self, name: str, separator: str) -> pl.Series:
        """One column as lists of names: lists as they are, text split at `separator`, blank cells null."""
        column = self.raw(name)
        if isinstance(column.dtype, pl.List):
            return column.list.eval(_text_expression(pl.element(), column.dtype.inner))
        return split(_as_text(column), separator)


def split(text: pl.Series, separator: str) -> pl.Series:
    """Text cells split at `separator`; blank cells null."""
    return text.set(text == "", None).str.split(separator)


def _lists(table: Table, voter: str | None, instance: str | None, approvals: str | None, separator: str) -> Rows:
    return Rows(
        table.text(table.find(voter, VOTER_COLUMNS, "voter")),
        table.text(table.find(instance, INSTANCE_COLUMNS, "instance")),
        table.ticks(table.find(approvals, LIST_COLUMNS, "alternatives"), separator),
        _row_place,
    )


def _ticks(table: Table, voter: str | None, instance: str | None, approvals: str | None) -> Rows:
    ticks = pl.DataFrame(
        {
            "voter": table.text(table.find(voter, VOTER_COLUMNS, "voter")),
            "instance": table.text(table.find(instance, INSTANCE_COLUMNS, "instance")),
            "tick": table.text(table.find(approvals, TICK_COLUMNS, "alternative")),
        }
    ).with_row_index("row")
    named = pl.col("tick").filter(pl.col("tick").is_not_null() & (pl.col("tick") != ""))
    ballots = ticks.group_by("voter", "instance", maintain_order=True).agg(pl.col("row").first(), named.alias("ticks"))
    first = ballots["row"].to_numpy()
    return Rows(
        ballots["voter"],
        ballots["instance"],
        ballots["ticks"].set(ballots["ticks"].list.len() == 0, None),
        lambda row: _row_place(int(first[row])),
    )


def _indicators(table: Table, voter: str | None, instance: str | None, approvals: str | Iterable[str] | None) -> Rows:
    voter = table.find(voter, VOTER_COLUMNS, "voter")
    instance = table.find(instance, INSTANCE_COLUMNS, "instance")
    columns = _several(table, approvals, without=(voter, instance))
    marks = pl.DataFrame([_marks(table.raw(name), name) for name in columns])
    blanks = marks.select(pl.sum_horizontal(pl.all().is_null())).to_series()
    torn = blanks.is_between(1, len(columns) - 1).arg_true()
    if len(torn):
        row = int(torn[0])
        name = next(name for name in columns if marks[name][row] is None)
        raise BallotError(
            f"{_row_place(row)}: column {name!r} is blank but others are not; write 0 for no tick, "
            "or leave the whole ballot blank if it is missing"
        )
    names = [pl.when(pl.col(name)).then(pl.lit(name)) for name in columns]
    ticks = marks.select(pl.concat_list(names).list.drop_nulls().alias("ticks"))["ticks"]
    return Rows(table.text(voter), table.text(instance), ticks.set(blanks == len(columns), None), _row_place)


def _indicator_columns(
    table: Table, voter: str | None, instance: str | None, approvals: str | Iterable[str] | None
) -> list[str]:
    keys = (table.find(voter, VOTER_COLUMNS, "voter"), table.find(instance, INSTANCE_COLUMNS, "instance"))
    return _several(table, approvals, without=keys)


def _wide(
    table: Table,
    layout: Layout,
    voter: str | None,
    instance: str | None,
    approvals: str | Iterable[str] | None,
    separator: str,
) -> Rows:
    by_instance = layout == "wide_instances"
    key = (
        table.find(voter, VOTER_COLUMNS, "voter") if by_instance else table.find(instance, INSTANCE_COLUMNS, "instance")
    )
    columns = _several(table, approvals, without=(key,))
    keys = table.text(key)
    row_names = pl.concat([keys] * len(columns))
    column_names = pl.Series("column", np.repeat(np.array(columns, object), len(keys)), pl.String)
    ticks = pl.concat([table.ticks(name, separator).rename("ticks").cast(pl.List(pl.String)) for name in columns])
    return Rows(
        row_names if by_instance else column_names,
        column_names if by_instance else row_names,
        ticks,
        lambda row: f"{_row_place(row % len(keys))}, column {columns[row // len(keys)]!r}",
    )


def _row_place(row: int) -> str:
    return f"row {row + 1}"


def _one(approvals: str | Iterable[str] | None) -> str | None:
    if approvals is None or isinstance(approvals, str):
        return approvals
    raise ColumnError("this layout has one column of approvals; name it with approvals='...'")


def _several(table: Table, approvals: str | Iterable[str] | None, without: tuple[str, ...]) -> list[str]:
    if approvals is None:
        columns = [name for name in table.columns if name not in without]
    else:
        columns = [
            table.find(name, (), "approvals") for name in ([approvals] if isinstance(approvals, str) else approvals)
        ]
    if not columns:
        raise ColumnError(f"besides {listing(without)} there is no column left to hold ticks")
    return list(as_names(columns, "column"))


def _marks(column: pl.Series, name: str) -> pl.Series:
    if column.dtype == pl.Boolean:
        return column
    marks = column.cast(pl.Float64, strict=False) if not column.dtype.is_nested() else pl.Series([None] * len(column))
    odd = (column.is_not_null() & ~((marks == 0) | (marks == 1)).fill_null(value=False)).arg_true()
    if len(odd):
        row = int(odd[0])
        raise BallotError(f"{_row_place(row)}, column {name!r}: {column[row]!r} is neither 0 nor 1; write 1 for a tick")
    return (marks == 1).rename(name)


def _encode(column: pl.Series, kind: str, place: Place) -> tuple[tuple[str, ...], IntArray]:
    """Names in order of first appearance, and the number of each row's name."""
    blank = (column.is_null() | (column == "")).fill_null(value=True).arg_true()
    if len(blank):
        raise BallotError(f"{place(int(blank[0]))}: the {kind} is blank; give every ballot a {kind}")
    names = column.unique(maintain_order=True)
    return as_names(names.to_list(), kind), _numbers(column, names.to_list())


def _numbers(column: pl.Series, names: Sequence[str]) -> IntArray:
    if len(column) == 0:
        return np.zeros(0, np.int64)
    return column.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, (list, tuple, set, frozenset, np.ndarray)) else value


def _as_text(column: pl.Series) -> pl.Series:
    return pl.select(_text_expression(pl.lit(column), column.dtype)).to_series().rename(column.name)


def _text_expression(expression: pl.Expr, kind: pl.DataType | Any) -> pl.Expr:
    if kind == pl.Null:
        return expression.cast(pl.String)
    if isinstance(kind, pl.DataType) and kind.is_float():
        whole = expression.cast(pl.Int64, strict=False)
        return pl.when(whole == expression).then(whole.cast(pl.String)).otherwise(expression.cast(pl.String))
    return expression.cast(pl.String)
