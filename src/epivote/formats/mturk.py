"""Amazon MTurk batch results: four ways in which checkboxes come back."""

from __future__ import annotations

import json
from collections.abc import Callable

from epivote.data.names import listing
from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, Reading
from epivote.formats.source import Source
from epivote.formats.text_table import TextTable

Ticks = Callable[[int], tuple[str, ...]]


def read_mturk(source: Source, reading: Reading) -> Collector:
    """Every assignment that was not rejected is a ballot of its worker on its HIT, or on what column `instances` names.

    Answers are read as `a|b` in `Answer.question`, as a list in `Answer.question.labels`, as true/false in one column
    `Answer.option.on` per box, or as the crowd form's JSON in `Answer.taskAnswers`.
    """
    table = TextTable(source)
    workers, items = table.column(("WorkerId",)).to_list(), table.column((reading.instances or "HITId",)).to_list()
    status = (
        table.column(("AssignmentStatus",)).to_list() if "AssignmentStatus" in table.columns else [None] * len(items)
    )
    ticks = _reader(table, reading.question)
    found = Collector(source, reading)
    for row, (worker, item) in enumerate(zip(workers, items, strict=True)):
        if status[row] == "Rejected":
            found.remark("a rejected assignment was taken as no ballot")
        else:
            found.add(worker, item, ticks(row), f"line {table.lines[row]}")
    return found


def _reader(table: TextTable, question: str | None) -> Ticks:
    answers = [name for name in table.columns if name.startswith("Answer.")]
    if "Answer.taskAnswers" in answers:
        return _crowd_form(table, question)
    boxes = [name for name in answers if name.endswith(".on")]
    if boxes and (question is None or all(name.startswith(f"Answer.{question}.") for name in boxes)):
        return _boxes(table, boxes, question)
    lists = [name for name in answers if name.endswith(".labels")]
    wanted = [f"Answer.{question}.labels", f"Answer.{question}"] if question else lists or answers
    present = [name for name in wanted if name in answers]
    if len(present) != 1:
        raise ColumnError(
            f"{table.source}: which answer to read? Name it with --question; there are {listing(answers)}"
        )
    cells = table.column((present[0],)).to_list()
    if present[0].endswith(".labels"):
        return lambda row: tuple(map(str, _json(table, row, cells[row] or "[]")))
    return lambda row: tuple(part for part in (cells[row] or "").split("|") if part)


def _boxes(table: TextTable, boxes: list[str], question: str | None) -> Ticks:
    start = f"Answer.{question}." if question else "Answer."
    columns = {name[len(start) : -len(".on")]: table.column((name,)).to_list() for name in boxes}
    return lambda row: tuple(option for option, cells in columns.items() if (cells[row] or "").lower() == "true")


def _crowd_form(table: TextTable, question: str | None) -> Ticks:
    cells = table.column(("Answer.taskAnswers",)).to_list()

    def ticks(row: int) -> tuple[str, ...]:
        answers = _json(table, row, cells[row] or "[{}]")
        form = answers[0] if isinstance(answers, list) and answers and isinstance(answers[0], dict) else {}
        fields = [question] if question else [name for name, value in form.items() if isinstance(value, dict)]
        if len(fields) > 1:
            raise ColumnError(
                f"{table.source}: which answer to read? Name it with --question; there are {listing(fields)}"
            )
        boxes = form.get(fields[0], {}) if fields else {}
        return tuple(option for option, ticked in boxes.items() if ticked is True)

    return ticks


def _json(table: TextTable, row: int, text: str) -> list[object]:
    try:
        found: list[object] = json.loads(text)
    except ValueError:
        raise FileError(f"{table.place(row)}: {text[:60]!r} is not JSON; export the batch again") from None
    return found
