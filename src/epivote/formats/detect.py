"""Any file people have, told apart by name and content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from epivote.data.ballots import Duplicates, MenuLike
from epivote.data.frames import INSTANCE_COLUMNS, LIST_COLUMNS, VOTER_COLUMNS, Blank
from epivote.data.names import listing
from epivote.errors import EpivoteError, FileError
from epivote.formats.argilla import read_argilla
from epivote.formats.canonical import read_menu
from epivote.formats.doccano import read_doccano
from epivote.formats.elections import ABC, PREFLIB, read_abcvoting, read_pabulib, read_preflib
from epivote.formats.export import Collector, Export, Reading, read_json
from epivote.formats.forms import is_form, read_forms
from epivote.formats.label_studio import read_min, read_tasks
from epivote.formats.matrix import cells_of, is_marks, read_matrix
from epivote.formats.mturk import read_mturk
from epivote.formats.prodigy import read_prodigy
from epivote.formats.source import PARQUET, ZIP, Source, open_source
from epivote.formats.tables import JSON_LINES, columns_of, read_crowd_kit, read_indicators, read_lists, read_ticks
from epivote.formats.text_table import header_of
from epivote.formats.toloka import read_toloka

Format = Literal[
    "ballots",
    "ticks",
    "indicators",
    "matrix",
    "forms",
    "crowd-kit",
    "label-studio",
    "label-studio-min",
    "prodigy",
    "doccano",
    "argilla",
    "mturk",
    "toloka",
    "preflib",
    "abcvoting",
    "pabulib",
]
READERS: dict[Format, Callable[[Source, Reading], Collector | Export]] = {
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
BY_ENDING: dict[str, Format] = {**dict.fromkeys(PREFLIB, "preflib"), ABC: "abcvoting", ".pb": "pabulib"}


def read_export(
    path: str | Path,
    *,
    format: Format | None = None,  # noqa: A002
    question: str | None = None,
    voter: str | None = None,
    instances: str | None = None,
    ticks: str | None = None,
    separator: str | None = None,
    gold_row: str | None = None,
    blank: Blank | None = None,
    alternatives: Iterable[str] | None = None,
    menu: MenuLike | str | Path | None = None,
    duplicates: Duplicates = "error",
) -> Export:
    """Ballots from a file of any known format, with its gold sets and remarks on what was doubtful.

    The format is told from name and content unless it is given; `-` is standard input; `.gz` and UTF-16 are understood.
    `question` names the question where a file has several. `voter`, `instances` and `ticks` name columns that are not
    called as usual; in `forms`, `instances` is a pattern for the question columns, and `gold_row` names the respondent
    whose row holds the right answers. `blank` says what an empty cell is, `separator` what separates ticks in a cell.
    """
    if format is not None and format not in get_args(Format):
        raise FileError(f"{format!r} is not a format; it is one of {listing(get_args(Format), 20)}")
    reading = Reading(
        question=question,
        voter=voter,
        instances=instances,
        ticks=ticks,
        separator=separator,
        gold_row=gold_row,
        blank=blank,
        alternatives=None if alternatives is None else tuple(alternatives),
        menu=read_menu(menu) if isinstance(menu, (str, Path)) else menu,
        duplicates=duplicates,
    )
    with open_source(path) as source:
        kind = format or detect(source, reading)
        try:
            found = READERS[kind](source, reading)
            return replace(found.export() if isinstance(found, Collector) else found, format=kind)
        except EpivoteError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            what = f"{type(error).__name__}: {error}"
            raise FileError(
                f"{source} is no {kind} file as known here ({what}); say what it is with --format"
            ) from None


def detect(source: Source, reading: Reading) -> Format:
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
    text = begins.decode("utf-8-sig", errors="replace").lstrip()
    if source.suffix == ".json" or text.startswith(("[{", "[\n", "[\r")):
        return _json(source, reading)
    if source.suffix in JSON_LINES or text.startswith("{"):
        return _json_lines(source, reading)
    if is_marks(cells_of(header_of(source))) or source.suffix == ".txt":
        return "matrix"
    return _table(source, reading)


def _folder(source: Source) -> Format:
    for file in sorted(source.path.iterdir()):
        for ending, kind in BY_ENDING.items():
            if file.name.endswith(ending):
                return kind
    return "doccano"


def _json(source: Source, reading: Reading) -> Format:
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


def _json_lines(source: Source, reading: Reading) -> Format:
    try:
        first = json.loads(header_of(source))
    except ValueError:
        return "prodigy"
    if isinstance(first, dict) and _has(first, reading.voter, VOTER_COLUMNS):
        return _table(source, reading)
    if isinstance(first, dict) and ("label" in first or "labels" in first) and "answer" not in first:
        return "doccano"
    return "prodigy"


def _table(source: Source, reading: Reading) -> Format:
    """Which kind of table, from its columns."""
    columns = columns_of(source)
    if {"HITId", "WorkerId"} <= set(columns):
        return "mturk"
    if any(name.startswith("OUTPUT:") for name in columns):
        return "toloka"
    if {"task", "worker", "label"} <= set(columns):
        return "crowd-kit"
    if reading.gold_row is not None or is_form(columns, reading.voter, reading.instances):
        return "forms"
    if _has(columns, reading.ticks, LIST_COLUMNS):
        return "ballots"
    if _has(columns, reading.ticks, ("alternative",)):
        return "ticks"
    if _has(columns, reading.voter, VOTER_COLUMNS) and _has(columns, reading.instances, INSTANCE_COLUMNS):
        return "indicators"
    return "ballots"


def _has(columns: Iterable[str], given: str | None, usual: Iterable[str]) -> bool:
    return any(name in columns for name in ([given] if given is not None else usual))
