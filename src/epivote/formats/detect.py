"""Any file people have, told apart by name and content."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import polars as pl

from epivote.data.build import without_alternative
from epivote.data.columns import INSTANCE_COLUMNS, LIST_COLUMNS, TICK_COLUMNS, VOTER_COLUMNS, column_named
from epivote.data.names import listing, suggestion
from epivote.data.packed import PackedBallots, is_packed
from epivote.data.truths import Truths
from epivote.errors import BallotError, EpivoteError, FileError, reason
from epivote.formats.argilla import is_argilla, read_argilla
from epivote.formats.canonical import settled
from epivote.formats.crowdflower import is_crowdflower, read_crowdflower
from epivote.formats.doccano import is_doccano, read_doccano
from epivote.formats.elections import ABC, PREFLIB, read_abcvoting, read_pabulib
from epivote.formats.export import Collector, Export, read_json, read_json_lines
from epivote.formats.file_tables import JSON_LINES, table_of
from epivote.formats.forms import is_form, read_forms
from epivote.formats.label_studio import read_tasks
from epivote.formats.label_studio_min import is_annotation_table, read_min
from epivote.formats.matrix import looks_like_matrix, read_matrix
from epivote.formats.mturk import read_mturk
from epivote.formats.preflib import read_preflib
from epivote.formats.prodigy import is_prodigy, read_prodigy
from epivote.formats.reading import Format, Reading, takes_options
from epivote.formats.source import PARQUET, ZIP, PathLike, SourceFile, open_source
from epivote.formats.tables import TableKind, read_crowd_kit, read_indicators, read_lists, read_ticks
from epivote.formats.text_table import TextTable
from epivote.formats.toloka import read_toloka

READERS: dict[Format, Callable[[SourceFile, Reading], Collector | Export]] = {
    "ballots": read_lists,
    "ticks": read_ticks,
    "indicators": read_indicators,
    "matrix": read_matrix,
    "forms": read_forms,
    "crowd-kit": read_crowd_kit,
    "crowdflower": read_crowdflower,
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
CROWDS = ("mturk", "toloka", "crowdflower")
ANY_USE: dict[str, tuple[str, ...]] = {
    "question": ("label-studio", "label-studio-min", "argilla", "forms", *CROWDS),
    "voter": (*TABLES, "forms"),
    "instances": (*TABLES, "forms", *CROWDS),
    "rows": ("matrix",),
    "ticks": TABLES,
    "separator": ("ballots", "crowd-kit", "forms", *CROWDS),
    "approved": ("preflib",),
    "gold_row": ("forms",),
    "blank": (*TABLES, "forms", "doccano", "label-studio", "label-studio-min", "argilla", *CROWDS),
    "missing": (*TABLES, "forms", *CROWDS),
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
    called as usual; `instances` may be several joined by `|`, and in `forms` it is a pattern for the question columns,
    and `gold_row` names the respondent whose row holds the right answers. `rows` says whether a row of a 0/1 table is a
    voter or an instance. `blank` says what an empty cell is, `missing` what is written for no answer (`"NA"`),
    `separator` what separates ticks in a cell (found out if not given), `encoding` that of text which is not UTF-8,
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
    with open_source(path, reading.encoding) as source:
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
    return FileError(f"{source} is not a {kind} file that can be read ({what}); name its format with --format")


def _passed_over(reading: Reading, kind: str) -> list[str]:
    """What the user said that this format has no use for."""
    said = [name for name in ANY_USE if getattr(reading, name) is not None and kind not in ANY_USE[name]]
    return [f"--{name.replace('_', '-')} does not apply to {kind} files; ignored" for name in said]


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
    return replace(export, ballots=without_alternative(export.ballots.in_memory(), none), gold=gold)


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
    if b"\0" in begins:
        raise FileError(f"{source} is a binary file of an unknown format; give text, Parquet or a zip from doccano")
    if source.suffix == ".json":
        return _json(source, reading)
    if source.suffix in JSON_LINES:
        return _json_lines(source, reading)
    if looks_like_matrix(source, reading):
        return "matrix"
    return _table(source, reading)


def _folder(source: SourceFile) -> Format:
    try:
        files = [file.name.lower() for file in (*source.path.glob("*"), *source.path.glob("*/*"))]
    except OSError as error:
        raise FileError(f"cannot look into {source}: {reason(error)}") from None
    for ending, kind in BY_ENDING.items():
        if any(name.endswith(ending) for name in files):
            return kind
    if is_doccano(source.path):
        return "doccano"
    raise FileError(f"{source} is a folder, but not a known export; name a file in it, or its format with --format")


def _json(source: SourceFile, reading: Reading) -> Format:
    content = read_json(source)
    first: dict[str, Any] = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    if "annotations" in first or "completions" in first:
        return "label-studio"
    if "annotator" in first and "annotation_id" in first:
        return "label-studio-min"
    if "responses" in first or is_argilla(first) or any(name.endswith(".responses") for name in first):
        return "argilla"
    if _has(first, reading.voter, VOTER_COLUMNS) and _has(first, reading.instances, INSTANCE_COLUMNS):
        return _table(source, reading)
    if "annotator" in first:
        return "label-studio-min"
    raise _unknown_records(source, first)


def _json_lines(source: SourceFile, reading: Reading) -> Format:
    try:
        _, first = next(read_json_lines(source), (0, {}))
    except FileError:
        _refuse_one_object(source)
        raise
    if is_prodigy(first):
        return "prodigy"
    if is_argilla(first):
        return "argilla"
    if _has(table_of(source).columns, reading.voter, VOTER_COLUMNS):
        return _table(source, reading)
    if "label" in first or "labels" in first:
        return "doccano"
    raise _unknown_records(source, first)


def _refuse_one_object(source: SourceFile) -> None:
    """Refuse an object over several lines, which is JSON but not JSONL."""
    try:
        content = read_json(source)
    except FileError:
        return
    if isinstance(content, dict):
        raise FileError(
            f"{source} is one JSON object with {listing(list(content), 10)}, not a list of records; name the tool that "
            "wrote it with --format if it is a known one"
        )


def _unknown_records(source: SourceFile, first: dict[str, Any]) -> FileError:
    """What was looked for in vain."""
    has = f"its first record has {listing(list(first), 10)}" if first else "it holds no list of records"
    return FileError(
        f"{source} is not a known export: {has}; looked for voter and instance (tables), annotations (Label Studio), "
        "responses (Argilla), _input_hash (Prodigy), label (doccano); name its format with --format, or name its "
        "columns with --voter, --instances and --ticks"
    )


def _table(source: SourceFile, reading: Reading) -> Format:
    """Which kind of table, from its columns."""
    table = table_of(source)
    columns, is_survey = table.columns, isinstance(table, TextTable) and table.is_survey
    if is_annotation_table(columns):
        return "label-studio-min"
    if is_argilla(columns):
        return "argilla"
    if {"HITId", "WorkerId"} <= set(columns):
        return "mturk"
    if any(name.startswith("OUTPUT:") for name in columns):
        return "toloka"
    if is_crowdflower(columns):
        return "crowdflower"
    if {"task", "worker", "label"} <= set(columns):
        return "crowd-kit"
    if is_form(columns, reading, is_survey=is_survey):
        return "forms"
    if _has(columns, reading.ticks, LIST_COLUMNS):
        return "ballots"
    if _has(columns, reading.ticks, TICK_COLUMNS):
        return "ticks"
    if _has(columns, reading.voter, VOTER_COLUMNS) and _has(columns, reading.instances, INSTANCE_COLUMNS):
        return "indicators"
    return "ballots"


def _has(columns: Iterable[str], given: str | None, usual: Sequence[str]) -> bool:
    """Whether there is such a column; `given` may be several, joined by `|`."""
    names, several = list(columns), given is not None and "|" in given
    if column_named(names, given, usual) is not None:
        return True
    return several and all(column_named(names, each, ()) is not None for each in (given or "").split("|"))
