"""Label Studio exports of a `<Choices choice="multiple">` question: JSON and JSON-MIN.

A cancelled annotation is a skipped one: missing. An annotation with nothing chosen is an empty ballot.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, Reading, read_json, records
from epivote.formats.source import Source

MIN_FIELDS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}


def read_tasks(source: Source, reading: Reading) -> Collector:
    """The full JSON export: one record per task, with all its annotations and predictions."""
    tasks = records(read_json(source), source)
    question = reading.question or only_question(tasks, source)
    found = Collector(source, reading)
    for position, task in enumerate(tasks, start=1):
        instance = task.get("id", position)
        for annotation in task.get("annotations", task.get("completions", [])):
            _annotation(found, instance, annotation, question)
        for prediction in task.get("predictions", []):
            voter = prediction.get("model_version") or "model"
            found.add(voter, instance, _choices(prediction, question), f"task {instance}", "")
            found.remark("a prediction was taken as the ballot of its model version")
    return found


def _annotation(found: Collector, instance: object, annotation: dict[str, Any], question: str) -> None:
    place = f"task {instance}, annotation {annotation.get('id', '?')}"
    if annotation.get("was_cancelled"):
        found.remark("a cancelled annotation was taken as no ballot")
        return
    ticks = _choices(annotation, question)
    if annotation.get("ground_truth"):
        found.gold[str(instance)] = ticks
        return
    who = annotation.get("completed_by")
    voter = who.get("email", who.get("id")) if isinstance(who, dict) else who
    if voter is None:
        raise FileError(f"{found.source}, {place}: it does not say who made it (completed_by)")
    found.add(voter, instance, ticks, place, annotation.get("updated_at") or annotation.get("created_at"))


def _choices(annotation: dict[str, Any], question: str) -> tuple[str, ...]:
    return tuple(
        choice
        for region in annotation.get("result", [])
        if region.get("from_name") == question and region.get("type") == "choices"
        for choice in region.get("value", {}).get("choices", [])
    )


def only_question(tasks: list[dict[str, Any]], source: Source) -> str:
    """The only `choices` question that was answered."""
    asked = Counter(
        region.get("from_name")
        for task in tasks
        for annotation in task.get("annotations", task.get("completions", []))
        for region in annotation.get("result", [])
        if region.get("type") == "choices"
    )
    if len(asked) != 1:
        names = ", ".join(map(repr, asked)) or "none"
        raise ColumnError(
            f"{source} has choices for several questions or for none ({names}); say which with --question"
        )
    return str(next(iter(asked)))


def read_min(source: Source, reading: Reading) -> Collector:
    """JSON-MIN: one record per annotation; several choices are an object, one a bare text, none is left out."""
    rows = records(read_json(source), source)
    question = reading.question or _only_answer(rows, source)
    found = Collector(source, reading)
    for position, row in enumerate(rows, start=1):
        if row.get("annotator") is None:
            found.remark("a task without any annotation was left out")
            continue
        answer = row.get(question)
        ticks = answer.get("choices", []) if isinstance(answer, dict) else [] if answer is None else [answer]
        voter = row["annotator"]["email"] if isinstance(row["annotator"], dict) else row["annotator"]
        stamp = row.get("updated_at") or row.get("created_at")
        found.add(voter, row.get("id", position), ticks, f"record {position}", stamp)
    return found


def _only_answer(rows: list[dict[str, Any]], source: Source) -> str:
    """The field that holds choices: an object with a list of them in some record."""
    names = {
        name
        for row in rows
        for name, value in row.items()
        if name not in MIN_FIELDS and isinstance(value, dict) and isinstance(value.get("choices"), list)
    }
    if len(names) != 1:
        raise ColumnError(
            f"{source}: which field holds the choices cannot be told ({', '.join(sorted(names)) or 'none seems to'}); "
            "say it with --question"
        )
    return names.pop()
