"""Label Studio's JSON-MIN, CSV and TSV: one record per annotation.

Several choices are an object, one a bare text, none leave the field out; `label_studio` reads the full JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from epivote.data.names import listing, suggestion
from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, read_json, records
from epivote.formats.label_studio import KINDS, STEP, tick_name, who
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

RECORD_FIELDS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"}
"""Fields that every record may have and that are not answers."""
AnnotationRow = dict[str, Any]


def is_annotation_table(columns: Iterable[str]) -> bool:
    """Whether a table is Label Studio's."""
    return {"annotator", "annotation_id", "lead_time"} <= set(columns)


def read_min(source: SourceFile, reading: Reading) -> Collector:
    """Every record with an annotator is a ballot, an empty one where the question has no answer."""
    rows = _rows(source)
    question = _question([row for _, row in rows], source, reading.question)
    nested = any(_paths(row.get(question)) for _, row in rows)
    found = Collector(source, reading)
    for position, (place, row) in enumerate(rows, start=1):
        if row.get("annotator") is None:
            found.remark("a task without any annotation was left out")
            continue
        answer = row.get(question)
        if answer is None:
            if reading.blank == "missing":
                found.remark("an annotation without choices counts as a missing ballot")
                continue
            found.remark(
                "an annotation without choices counts as an empty ballot; --blank missing counts it as missing"
            )
        ticks = [tick_name(tick, f"{source}, {place}") for tick in _ticks(answer, question, source, place, nested)]
        if any(STEP in tick for tick in ticks):
            found.remarks[f"nested choices are named by their path, its steps joined by {STEP.strip()!r}"] = 1
        stamp = row.get("updated_at") or row.get("created_at")
        found.add(who(row["annotator"], {}), row.get("id", position), ticks, place, stamp)
    return found


def _rows(source: SourceFile) -> list[tuple[str, AnnotationRow]]:
    """Place and fields of every record; cells of a table that hold JSON as what they hold."""
    if source.suffix == ".json":
        listed = records(read_json(source), source)
        return [(f"record {position}", row) for position, row in enumerate(listed, start=1)]
    table = source.once(TextTable)
    frame = table.frame
    rows = [{name: _cell(name, cell) for name, cell in row.items() if cell} for row in frame.to_dicts()]
    return [(f"line {line}", row) for line, row in zip(table.lines, rows, strict=True)]


def _cell(name: str, cell: str) -> Any:
    if name in RECORD_FIELDS or not cell.startswith(("{", "[")):
        return cell
    try:
        return json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        return cell


def _ticks(answer: Any, question: str, source: SourceFile, place: str, nested: bool) -> list[Any]:
    """The choices in an answer, as texts or paths; those of several regions are refused, as they cannot be told apart.

    One nested choice alone is a bare path, which looks like the bare choices of several regions.
    """
    if answer is None:
        return []
    if isinstance(answer, list) and nested and all(isinstance(each, str) for each in answer):
        return [answer]
    if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], dict):
        answer = answer[0]
    if isinstance(answer, dict) and len(answer) == 1 and next(iter(answer)) in KINDS:
        (ticks,) = answer.values()
        return ticks if isinstance(ticks, list) else [ticks]
    if isinstance(answer, (list, dict)):
        raise FileError(
            f"{source}, {place}: {question!r} holds choices of several regions, which this export does not tell apart; "
            "export as JSON"
        )
    return [answer]


def _paths(answer: Any) -> bool:
    """Whether an answer holds several nested choices."""
    ticks = answer.get("choices") if isinstance(answer, dict) else None
    return isinstance(ticks, list) and any(isinstance(tick, list) for tick in ticks)


def _question(rows: list[AnnotationRow], source: SourceFile, given: str | None) -> str:
    """The given field, which some record must have, else the only one that holds choices."""
    fields = {name: None for row in rows for name in row if name not in RECORD_FIELDS}
    if given is not None:
        if given not in fields:
            there = f"its fields are {listing(list(fields), 20)}"
            raise ColumnError(f"{source} has no field {given!r}{suggestion(given, fields)}; {there}")
        return given
    names = sorted({name for row in rows for name, value in row.items() if name in fields and _holds_choices(value)})
    if len(names) != 1:
        which = f"several do: {listing(names, 20)}" if names else f"its fields are {listing(list(fields), 20)}"
        raise ColumnError(f"{source}: it is unclear which field holds the choices ({which}); name it with --question")
    return names[0]


def _holds_choices(value: Any) -> bool:
    """Whether a value is an object with a list of choices, or a list of such objects."""
    each = value[0] if isinstance(value, list) and value else value
    return isinstance(each, dict) and any(isinstance(each.get(kind), list) for kind in KINDS)
