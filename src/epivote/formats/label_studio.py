"""Label Studio exports of a `<Choices choice="multiple">` question: JSON and JSON-MIN.

A cancelled annotation is a skipped one: missing. An annotation with nothing chosen is an empty ballot.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, read_json, records
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile

MIN_FIELDS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}


def read_tasks(source: SourceFile, reading: Reading) -> Collector:
    """The full JSON export: one record per task, with all its annotations and predictions."""
    tasks = records(read_json(source), source)
    question = reading.question or only_question(tasks, source)
    found = Collector(source, reading)
    emails = _emails(tasks)
    for position, task in enumerate(tasks, start=1):
        instance = task.get("id", position)
        for annotation in annotations_of(task):
            _annotation(found, instance, annotation, question, emails)
        _predictions(found, instance, task, question)
    return found


def annotations_of(task: dict[str, Any]) -> list[dict[str, Any]]:
    """The annotations of a task, called completions in old exports."""
    found: list[dict[str, Any]] = task.get("annotations", task.get("completions", []))
    return found


def _predictions(found: Collector, instance: object, task: dict[str, Any], question: str) -> None:
    """Predictions that answer the question are ballots of their model; mere numbers of some are passed over."""
    answers = [each for each in task.get("predictions") or [] if isinstance(each, dict) and _regions(each, question)]
    for position, prediction in enumerate(answers, start=1):
        model = prediction.get("model_version") or (f"model {position}" if len(answers) > 1 else "model")
        found.add(model, instance, _choices(prediction, question), f"task {instance}", "")
        found.remark("a prediction was taken as the ballot of its model version")


def _annotation(
    found: Collector, instance: object, annotation: dict[str, Any], question: str, emails: dict[object, str]
) -> None:
    place = f"task {instance}, annotation {annotation.get('id', '?')}"
    if annotation.get("was_cancelled"):
        found.remark("a cancelled annotation was taken as no ballot")
        return
    ticks = _choices(annotation, question)
    if annotation.get("ground_truth"):
        found.add_gold(instance, ticks, place)
        return
    voter = _who(annotation.get("completed_by"), emails)
    if voter is None:
        raise FileError(f"{found.source}, {place}: it does not say who made it (completed_by)")
    found.add(voter, instance, ticks, place, annotation.get("updated_at") or annotation.get("created_at"))


def _who(annotator: object, emails: dict[object, str]) -> object:
    """The e-mail address of an annotator if any record gives it, else the number."""
    if isinstance(annotator, dict):
        return annotator.get("email") or emails.get(annotator.get("id"), annotator.get("id"))
    return emails.get(annotator, annotator)


def _emails(tasks: list[dict[str, Any]]) -> dict[object, str]:
    people = [annotation.get("completed_by") for task in tasks for annotation in annotations_of(task)]
    return {who["id"]: who["email"] for who in people if isinstance(who, dict) and who.get("id") and who.get("email")}


def _regions(annotation: dict[str, Any], question: str) -> list[dict[str, Any]]:
    return [
        region
        for region in annotation.get("result") or []
        if region.get("from_name") == question and region.get("type") == "choices"
    ]


def _choices(annotation: dict[str, Any], question: str) -> tuple[str, ...]:
    found: list[str] = []
    for region in _regions(annotation, question):
        choices = region.get("value", {}).get("choices", [])
        found += [choices] if isinstance(choices, str) else choices
    return tuple(found)


def only_question(tasks: list[dict[str, Any]], source: SourceFile) -> str:
    """The only `choices` question that was answered."""
    asked = Counter(
        region.get("from_name")
        for task in tasks
        for annotation in annotations_of(task)
        for region in annotation.get("result") or []
        if region.get("type") == "choices"
    )
    if len(asked) != 1:
        names = ", ".join(map(repr, asked)) or "none"
        raise ColumnError(
            f"{source} has choices for several questions or for none ({names}); say which with --question"
        )
    return str(next(iter(asked)))


def read_min(source: SourceFile, reading: Reading) -> Collector:
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
        voter = _who(row["annotator"], {})
        stamp = row.get("updated_at") or row.get("created_at")
        found.add(voter, row.get("id", position), ticks, f"record {position}", stamp)
    return found


def _only_answer(rows: list[dict[str, Any]], source: SourceFile) -> str:
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
