"""Amazon MTurk batch results: four ways in which checkboxes come back."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from epivote.data.columns import TOLD_APART, find_columns
from epivote.data.names import listing
from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, TicksOfRow
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

NOTHING = "{}"
"""Stands in the answer's cell where a worker left a field blank."""


def read_mturk(source: SourceFile, reading: Reading) -> Collector:
    """Every assignment that was not rejected is a ballot of its worker on its HIT, or on what column `instances` names.

    Answers are read as `a|b` in `Answer.question`, as a list in `Answer.question.labels`, as true/false in one column
    `Answer.option.on` per box, or as the crowd form's JSON in `Answer.taskAnswers`.
    """
    table = source.once(TextTable)
    workers, items = table.column(("WorkerId",)).to_list(), instances_of(table, reading, ["HITId"])
    status = (
        table.column(("AssignmentStatus",)).to_list() if "AssignmentStatus" in table.columns else [None] * len(items)
    )
    found = Collector(source, reading)
    ticks = _reader(table, found)
    for row, (worker, item) in enumerate(zip(workers, items, strict=True)):
        if status[row] == "Rejected":
            found.remark("a rejected assignment counts as a missing ballot")
        else:
            found.submit(worker, item, ticks(row), f"line {table.lines[row]}")
    return found


def instances_of(table: TextTable, reading: Reading, usual: list[str]) -> list[str]:
    """The instance of every row: what stands in the column that the user names, or in several; else in `usual` ones."""
    wanted = reading.instances or "|".join(usual)
    names = find_columns(table.columns, wanted, (), place=f"{table.source}: ", remedy="; name one with --instances")
    return table.frame.select(pl.concat_str(names, separator=TOLD_APART, ignore_nulls=True)).to_series().to_list()


def _reader(table: TextTable, found: Collector) -> TicksOfRow:
    question = asked(found.reading, "Answer.")
    answers = [name for name in table.columns if name.startswith("Answer.")]
    if "Answer.taskAnswers" in answers:
        return _crowd_form(table, found)
    boxes = [name for name in answers if name.endswith(".on")]
    if boxes and (question is None or any(name.startswith(f"Answer.{question}.") for name in boxes)):
        return _boxes(table, boxes, found)
    lists = [name for name in answers if name.endswith(".labels")]
    wanted = [f"Answer.{question}.labels", f"Answer.{question}"] if question else lists or answers
    present = [name for name in wanted if name in answers]
    if len(present) != 1:
        raise which_answer(table, answers)
    cells = [None if cell == NOTHING else cell for cell in table.column((present[0],))]
    if present[0].endswith(".labels"):
        return lambda row: _list(table, row, cells[row] or "[]")
    separator = found.reading.separator or "|"
    return lambda row: tuple(part for part in (cells[row] or "").split(separator) if part)


def asked(reading: Reading, start: str) -> str | None:
    """The question that was asked for, with or without the start that all columns of answers have."""
    return None if reading.question is None else reading.question.removeprefix(start)


def _boxes(table: TextTable, boxes: list[str], found: Collector) -> TicksOfRow:
    """One column per box, `Answer.option.on` or `Answer.question.option.on`."""
    question = asked(found.reading, "Answer.")
    questions = {name.split(".")[1] for name in boxes}
    if question is None and len(questions) > 1 and all(name.count(".") > 2 for name in boxes):
        raise which_answer(table, sorted(questions))
    start = f"Answer.{question}." if question else "Answer."
    columns = {
        name[len(start) : -len(".on")]: table.column((name,)).to_list() for name in boxes if name.startswith(start)
    }
    found.alternatives.update(dict.fromkeys(columns))
    return lambda row: tuple(option for option, cells in columns.items() if (cells[row] or "").lower() == "true")


def _crowd_form(table: TextTable, found: Collector) -> TicksOfRow:
    """The crowd form's JSON: one object per row, the question's field an object of options."""
    cells = table.column(("Answer.taskAnswers",)).to_list()
    forms = [_form(table, row, cell or "[{}]") for row, cell in enumerate(cells)]
    fields = {name for form in forms for name, value in form.items() if isinstance(value, dict)}
    question = asked(found.reading, "Answer.")
    if question is None:
        if len(fields) > 1:
            raise which_answer(table, sorted(fields))
        question = next(iter(fields), "")
    answers = [form.get(question) for form in forms]
    boxes: list[dict[str, Any]] = [answer if isinstance(answer, dict) else {} for answer in answers]
    found.alternatives.update(dict.fromkeys(option for row in boxes for option in row))
    return lambda row: tuple(option for option, ticked in boxes[row].items() if ticked is True)


def which_answer(table: TextTable, answers: list[str]) -> ColumnError:
    """The error where it is unclear which question to read."""
    if not answers:
        return ColumnError(f"{table.source} has no column of answers; check that it is the file you meant")
    return ColumnError(f"{table.source}: choose the question to read with --question; there are {listing(answers)}")


def _form(table: TextTable, row: int, text: str) -> dict[str, Any]:
    answers = _json(table, row, text)
    return answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}


def _list(table: TextTable, row: int, text: str) -> tuple[str, ...]:
    found = _json(table, row, text)
    if not isinstance(found, list):
        found = [found] if isinstance(found, str) else None
    if found is None:
        raise FileError(f"{table.place(row)}: {text[:60]!r} is not a list of labels; export the batch again")
    return tuple(found)


def _json(table: TextTable, row: int, text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise FileError(f"{table.place(row)}: {text[:60]!r} is not JSON; export the batch again") from None
    return found
