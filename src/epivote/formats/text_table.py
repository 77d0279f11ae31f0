"""CSV files as columns of text whose rows know their lines."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from epivote.data.names import listing, suggestion
from epivote.errors import ColumnError, FileError


class TextTable:
    """A CSV file as text columns, whose rows know their lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        frame = _read_text(path)
        twice = next((name for name in frame.columns if name.endswith("_duplicated_0")), None)
        if twice is not None:
            raise ColumnError(f"{path}: column {twice.removesuffix('_duplicated_0')!r} appears twice; rename one")
        self.columns = frame.columns
        blank = frame.select(pl.sum_horizontal(pl.all().is_null())).to_series()
        if blank.is_between(1, len(self.columns) - 1).any():
            _refuse_torn_rows(path, len(self.columns))
        filled = blank < len(self.columns)
        self.frame = frame.filter(filled)
        self._rows = filled.arg_true()

    def column(self, usual: Sequence[str]) -> pl.Series:
        """The first of the usual names that is there."""
        for name in usual:
            if name in self.columns:
                return self.frame[name]
        other = next((mark for mark in (";", "\t") if len(self.columns) == 1 and mark in self.columns[0]), None)
        hint = "" if other is None else f"; the file seems to use {other!r} where a comma is needed"
        raise ColumnError(
            f"{self.path}: there is no column {usual[0]!r}{_also(usual)}"
            f"{suggestion(usual[0], self.columns)}; the columns are {listing(self.columns)}{hint}"
        )

    @cached_property
    def lines(self) -> list[int]:
        """The line on which every row begins."""
        begins: list[int] = []
        _scan(self.path, lambda line, _: begins.append(line))
        return [begins[int(row) + 1] for row in self._rows]

    def place(self, row: int) -> str:
        """`quiz.csv, line 7`."""
        return f"{self.path}, line {_line_of(self.path, self._rows[row])}"


def _also(usual: Sequence[str]) -> str:
    return f" (nor {', '.join(usual[1:])})" if len(usual) > 1 else ""


def _read_text(path: Path) -> pl.DataFrame:
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file in it")
    try:
        return pl.read_csv(path, infer_schema=False, glob=False)
    except pl.exceptions.NoDataError:
        raise FileError(f"{path} is empty; it needs a header line and ballots") from None
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        _refuse_torn_rows(path, None)
        first = str(error).splitlines()[0]
        raise FileError(f"{path} cannot be read as CSV ({first}); check the quotes around its cells") from None


def _refuse_torn_rows(path: Path, n_columns: int | None) -> None:
    """Name the first line with too few or too many cells, which would otherwise be read as blank cells."""

    def examine(line: int, cells: list[str]) -> None:
        nonlocal n_columns
        if n_columns is None:
            n_columns = len(cells)
        if cells and len(cells) != n_columns:
            raise FileError(
                f"{path}, line {line}: {len(cells)} cells where the header has {n_columns}; "
                "quote a cell that contains a comma, and write a comma for every empty cell"
            )

    _scan(path, examine)


def _line_of(path: Path, row: int) -> int:
    lines: list[int] = []
    _scan(path, lambda line, _: lines.append(line), most=row + 2)
    return lines[-1]


def _scan(path: Path, visit: Callable[[int, list[str]], None], most: int | None = None) -> None:
    """Visit the records of a CSV file with the line each begins on."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            csv.field_size_limit(2**31 - 1)
            reader = csv.reader(file, strict=True)
            begins, seen = 1, 0
            for cells in reader:
                if cells or seen:  # blank lines before the header are nothing at all
                    visit(begins, cells)
                    seen += 1
                begins = reader.line_num + 1
                if seen == most:
                    return
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text; save it with encoding UTF-8") from None
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: {error}; check the quotes there") from None


def first_line(path: Path) -> str:
    """The header of a text file without quotes; nothing if it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.readline().strip().replace('"', "")
    except OSError:
        return ""
