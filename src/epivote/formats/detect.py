"""Any file people have, told apart by name and content."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import polars as pl

from epivote.data.build import without_alternative
from epivote.data.columns import INSTANCE_COLUMNS, LIST_COLUMNS, VOTER_COLUMNS, column_named
from epivote.data.names import suggestion
from epivote.data.packed import PackedBallots, is_packed
from epivote.data.truths import Truths
from epivote.errors import BallotError, EpivoteError, FileError, reason
from epivote.formats.argilla import read_argilla
from epivote.formats.canonical import settled
from epivote.formats.doccano import read_doccano
from epivote.formats.elections import ABC, PREFLIB, read_abcvoting, read_pabulib
from epivote.formats.export import Collector, Export, read_json, read_json_lines
from epivote.formats.file_tables import JSON_LINES, table_of
from epivote.formats.forms import is_form, read_forms
from epivote.formats.label_studio import read_min, read_tasks
from epivote.formats.matrix import looks_like_matrix, read_matrix
from epivote.formats.mturk import read_mturk
from epivote.formats.preflib import read_preflib
from epivote.formats.prodigy import read_prodigy
from epivote.formats.reading import Format, Reading, takes_options
from epivote.formats.source import PARQUET, ZIP, PathLike, SourceFile, open_source
from epivote.formats.tables import TableKind, read_crowd_kit, read_indicators, read_lists, read_ticks
from epivote.formats.toloka import read_toloka

READERS: dict[Format, Callable[[SourceFile, Reading], Collector | Export]] = {
    "ballots": read_lists,
    "ticks": read_ticks,
    "indicators": read_indicators,
    "matrix": read_matrix,
    "forms": read_forms,
    "crowd-kit": read_crowd_kit,
    "label-studio": read_tasks,
    "label-studio-min": read_min,
    "prodigy": read_prodigy,
    "doccano": read_doccano,
    "argilla": read_argilla,
    "mturk": read_mturk,
    "toloka": read_toloka,
    "preflib": read_preflib,
    "abcvoting": read_abcvoting,
    "pabulib": read_pabulib,
}
TABLES = get_args(TableKind)
ANY_USE: dict[str, tuple[str, ...]] = {
    "question": ("label-studio", "label-studio-min", "argilla", "mturk", "toloka"),
    "voter": (*TABLES, "forms"),
    "instances": (*TABLES, "forms", "mturk", "toloka"),
    "ticks": TABLES,
    "separator": ("ballots", "crowd-kit", "forms", "mturk", "toloka"),
    "approved": ("preflib",),
    "gold_row": ("forms",),
    "blank": (*TABLES, "forms", "doccano"),
}
DAMAGED = (
    pl.exceptions.PolarsError,
    csv.Error,
    KeyError,
    TypeError,
    AttributeError,
    ValueError,
    IndexError,
    RecursionError,
    NotImplementedError,
    OverflowError,
    MemoryError,
)
BY_ENDING: dict[str, Format] = {**dict.fromkeys(PREFLIB, "preflib"), ABC: "abcvoting", ".pb": "pabulib"}


@takes_options(Reading)
def read_export(path: PathLike, **options: Any) -> Export:
    """Ballots from a file of any known format, with its gold sets and remarks on what was doubtful.

    The format is told from name and content unless `format` states it; `-` is standard input; `.gz` and UTF-16 are
    understood.
    `question` names the question where a file has several. `voter`, `instances` and `ticks` name columns that are not
    called as usual; in `forms`, `instances` is a pattern for the question columns, and `gold_row` names the respondent
    whose row holds the right answers. `blank` says what an empty cell is, `separator` what separates ticks in a cell,
    `none` which option means "none of these", so that whoever ticked only that ticked nothing. `approved` names the
    categories of a PrefLib file that count as approved, or says how many places of an order. `alternatives` states
    them when not all were ever ticked, `menu` (a mapping or a file `instance,alternatives`) what was offered where, and
    `duplicates` (`"error"`, `"first"` or `"last"`) which of two ballots of a voter on an instance counts. A folder of
    packed ballots is opened as it is.
    """
    reading = Reading(**options)
    if is_packed(path):
        return Export(PackedBallots(Path(path)), format="packed")
    reading = settled(reading)
    with open_source(path) as source:
        return read_source(source, reading)


def read_source(source: SourceFile, reading: Reading) -> Export:
    """`read_export` for a file that is open already, with options from `settled`."""
    kind: str = reading.format or "known"
    try:
        kind = reading.format or detect(source, reading)
        found = READERS[kind](source, reading)
        export = found.export() if isinstance(found, Collector) else found
    except EpivoteError:
        raise
    except DAMAGED as error:
        raise _unknown(source, kind, error) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Polars, on damaged files
            raise
        raise _unknown(source, kind, error) from None
    notes = (*export.notes, *_passed_over(reading, kind))
    return _without_none(replace(export, format=kind, notes=notes), reading.none)


def _unknown(source: SourceFile, kind: str, error: BaseException) -> FileError:
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return FileError(f"{source} is no {kind} file as understood here ({what}); say what it is with --format")


def _passed_over(reading: Reading, kind: str) -> list[str]:
    """What the user said that this format has no use for."""
    said = [name for name in ANY_USE if getattr(reading, name) is not None and kind not in ANY_USE[name]]
    return [f"--{name.replace('_', '-')} has no use in a {kind} file and was passed over" for name in said]


def _without_none(export: Export, none: str | None) -> Export:
    """The alternative that stands for "none of these" taken out: who ticked only that ticked nothing."""
    if none is None:
        return export
    if none not in export.ballots.alternatives:
        raise BallotError(f"nobody ticked {none!r}{suggestion(none, export.ballots.alternatives)}; correct --none")
    gold = export.gold
    if gold is not None:
        names = [name for name in gold.alternatives if name != none]
        gold = Truths.from_mapping({key: right - {none} for key, right in gold.items()}, alternatives=names)
    return replace(export, ballots=without_alternative(export.ballots, none), gold=gold)


def detect(source: SourceFile, reading: Reading) -> Format:
    """The format of a file or folder, from its name and what it holds."""
    if source.path.is_dir():
        return _folder(source)
    if source.suffix in BY_ENDING:
        return BY_ENDING[source.suffix]
    begins = source.start()
    if begins.startswith(ZIP):
        if source.suffix in (".xlsx", ".ods"):
            raise FileError(f"{source} is a spreadsheet; save it as CSV first")
        return "doccano"
    if begins.startswith(PARQUET):
        return _table(source, reading)
    if source.suffix == ".json":
        return _json(source, reading)
    if source.suffix in JSON_LINES:
        return _json_lines(source, reading)
    if looks_like_matrix(source, reading.instances):
        return "matrix"
    return _table(source, reading)


def _folder(source: SourceFile) -> Format:
    try:
        files = [file.name.lower() for file in (*source.path.glob("*"), *source.path.glob("*/*"))]
    except OSError as error:
        raise FileError(f"cannot look into {source}: {reason(error)}") from None
    by_ending: dict[str, Format] = {**BY_ENDING, ".jsonl": "doccano"}
    for ending, kind in by_ending.items():
        if any(name.endswith(ending) for name in files):
            return kind
    raise FileError(f"{source} is a folder of no known export; name a file in it, or say what it is with --format")


def _json(source: SourceFile, reading: Reading) -> Format:
    content = read_json(source)
    first: dict[str, Any] = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    if "annotations" in first or "completions" in first:
        return "label-studio"
    if "annotator" in first and "annotation_id" in first:
        return "label-studio-min"
    if "responses" in first or any(name.endswith(".responses") for name in first):
        return "argilla"
    if _has(first, reading.voter, VOTER_COLUMNS) and _has(first, reading.instances, INSTANCE_COLUMNS):
        return _table(source, reading)
    if "annotator" in first:
        return "label-studio-min"
    raise FileError(f"{source}: this JSON is of no known tool; say which with --format ({', '.join(get_args(Format))})")


def _json_lines(source: SourceFile, reading: Reading) -> Format:
    _, first = next(read_json_lines(source), (0, {}))
    if "_input_hash" in first or "_task_hash" in first or "accept" in first or "answer" in first:
        return "prodigy"
    if _has(table_of(source).columns, reading.voter, VOTER_COLUMNS):
        return _table(source, reading)
    return "doccano" if "label" in first or "labels" in first else "prodigy"


def _table(source: SourceFile, reading: Reading) -> Format:
    """Which kind of table, from its columns."""
    columns = table_of(source).columns
    if {"HITId", "WorkerId"} <= set(columns):
        return "mturk"
    if any(name.startswith("OUTPUT:") for name in columns):
        return "toloka"
    if {"task", "worker", "label"} <= set(columns):
        return "crowd-kit"
    if reading.gold_row is not None or is_form(columns, reading):
        return "forms"
    if _has(columns, reading.ticks, LIST_COLUMNS):
        return "ballots"
    if _has(columns, reading.ticks, ("alternative",)):
        return "ticks"
    if _has(columns, reading.voter, VOTER_COLUMNS) and _has(columns, reading.instances, INSTANCE_COLUMNS):
        return "indicators"
    return "ballots"


def _has(columns: Iterable[str], given: str | None, usual: Sequence[str]) -> bool:
    """Whether there is such a column; blanks around its name are no part of it."""
    return column_named([column.strip() for column in columns], given, usual, loosely=True) is not None
