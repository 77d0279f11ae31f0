"""The canonical files: CSV, alternatives joined by `|`, an empty cell for an empty set, no row for a missing one."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from epivote.atomic import write_files
from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.frames import INSTANCE_COLUMNS, LIST_COLUMNS, VOTER_COLUMNS, Rows, from_rows, split
from epivote.data.names import listing, suggestion
from epivote.data.truths import Truths
from epivote.errors import BoundsError, ColumnError, FileError, InputError

SEPARATOR = "|"
PathLike = str | Path


def read_ballots(
    path: PathLike,
    *,
    alternatives: Iterable[str] | None = None,
    menu: MenuLike | PathLike | None = None,
    duplicates: Duplicates = "error",
) -> Ballots:
    """Ballots from a CSV file with columns `voter,instance,alternatives`.

    `alternatives` states them when not all were ever ticked; `menu` (a mapping or a file `instance,alternatives`)
    states what was offered where.
    """
    table = _Table(Path(path))
    rows = Rows(
        table.column(VOTER_COLUMNS),
        table.column(INSTANCE_COLUMNS),
        split(table.column(LIST_COLUMNS), SEPARATOR),
        table.place,
    )
    menus = read_menu(menu) if isinstance(menu, (str, Path)) else menu
    return from_rows(rows, alternatives=alternatives, menu=menus, duplicates=duplicates)


def read_truths(path: PathLike, *, alternatives: Iterable[str] | None = None) -> Truths:
    """Sets from a CSV file with columns `instance,alternatives`; other columns are passed over."""
    return Truths.from_mapping(_read_sets(path, "set"), alternatives=alternatives)


def read_confidence(path: PathLike) -> dict[str, float]:
    """The stated confidence of every set in such a file; nothing for sets, or files, that state none."""
    table = _Table(Path(path))
    if "confidence" not in table.columns:
        return {}
    pairs = zip(
        table.column(INSTANCE_COLUMNS), table.column(("confidence",)).cast(pl.Float64, strict=False), strict=True
    )
    return {instance: confidence for instance, confidence in pairs if confidence is not None}


def read_menu(path: PathLike) -> dict[str, list[str]]:
    """Menus from a CSV file with columns `instance,alternatives`."""
    return _read_sets(path, "menu")


def read_sizes(path: PathLike, usual: SizeBounds) -> SizeBounds:
    """Size bounds of single instances from a CSV file with columns `instance,size`; `usual` holds for all others."""
    table = _Table(Path(path))
    instances, sizes = table.column(INSTANCE_COLUMNS), table.column(("size",))
    own: dict[str, tuple[int, int | None]] = {}
    for row, (instance, size) in enumerate(zip(instances, sizes, strict=True)):
        try:
            bounds = SizeBounds.parse(size or "")
        except BoundsError as error:
            raise BoundsError(f"{table.place(row)}: {error}") from None
        own[instance] = (bounds.lower, bounds.upper)
    return SizeBounds(usual.lower, usual.upper, own)


def write_ballots(ballots: Ballots, path: PathLike) -> None:
    """Write ballots as CSV with columns `voter,instance,alternatives`."""
    _check_separator(ballots.alternatives)
    names = pl.Series("name", ballots.alternatives, pl.String)
    ticks = pl.DataFrame(
        {
            "ballot": np.repeat(np.arange(ballots.n_ballots), ballots.ballot_sizes),
            "alternatives": names.gather(ballots.approved.astype(np.uint32)),
        }
    )
    joined = ticks.group_by("ballot", maintain_order=True).agg(pl.col("alternatives").str.join(SEPARATOR))
    table = pl.DataFrame(
        {
            "ballot": np.arange(ballots.n_ballots),
            "voter": pl.Series(ballots.voters, dtype=pl.String).gather(ballots.ballot_voter.astype(np.uint32)),
            "instance": pl.Series(ballots.instances, dtype=pl.String).gather(ballots.ballot_instance.astype(np.uint32)),
        }
    ).join(joined, on="ballot", how="left", maintain_order="left")
    write_files({Path(path): table.drop("ballot").write_csv})


def write_truths(truths: Truths, path: PathLike) -> None:
    """Write sets as CSV with columns `instance,alternatives`."""
    _check_separator(truths.alternatives)
    sets = [_joined(truths.listed(instance)) for instance in truths]
    table = pl.DataFrame(
        {"instance": list(truths), "alternatives": sets}, {"instance": pl.String, "alternatives": pl.String}
    )
    write_files({Path(path): table.write_csv})


def write_estimate(estimate: Estimate, directory: PathLike) -> list[Path]:
    """Write `truth.csv`, `voters.csv`, `alternatives.csv` and `inclusion.csv` into a directory, all or none."""
    _check_separator(estimate.ballots.alternatives)
    truth = estimate.truth_table()
    truth["alternatives"] = [_joined(names) for names in truth["alternatives"]]  # type: ignore[arg-type]
    tables = {
        "truth.csv": pl.DataFrame(truth, {"instance": pl.String, "alternatives": pl.String, "confidence": pl.Float64}),
        "voters.csv": pl.DataFrame(estimate.voter_table()),
        "alternatives.csv": pl.DataFrame(estimate.alternative_table()),
        "inclusion.csv": pl.DataFrame(
            estimate.inclusion_table(), {"instance": pl.String, "alternative": pl.String, "probability": pl.Float64}
        ),
    }
    folder = Path(directory)
    write_files({folder / name: table.write_csv for name, table in tables.items()})
    return [folder / name for name in tables]


class _Table:
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


def _read_sets(path: PathLike, what: str) -> dict[str, list[str]]:
    table = _Table(Path(path))
    instances = table.column(INSTANCE_COLUMNS).to_list()
    sets = split(table.column(LIST_COLUMNS), SEPARATOR).to_list()
    found: dict[str, list[str]] = {}
    for row, (instance, names) in enumerate(zip(instances, sets, strict=True)):
        if not instance:
            raise InputError(f"{table.place(row)}: the instance is blank; give every {what} an instance")
        if instance in found:
            raise InputError(f"{table.place(row)}: instance {instance!r} has a {what} already; remove one")
        found[instance] = [name for name in names or [] if name]
    return found


def _joined(names: list[str]) -> str | None:
    return SEPARATOR.join(names) or None


def _check_separator(alternatives: Iterable[str]) -> None:
    for name in alternatives:
        if SEPARATOR in name:
            raise InputError(
                f"alternative {name!r} contains {SEPARATOR!r}, which separates alternatives in the file; rename it"
            )
