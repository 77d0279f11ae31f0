"""Argilla records of a multi-label question: nested JSON, or flattened with `question.responses` columns."""

from __future__ import annotations

from typing import Any

from epivote.errors import ColumnError
from epivote.formats.export import Collector, read_json, records
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile


def read_argilla(source: SourceFile, reading: Reading) -> Collector:
    """Responses are ballots of their users and a suggestion is one of its agent; only submitted responses count."""
    rows = records(read_json(source), source)
    flat = any(name.endswith(".responses") for row in rows for name in row)
    question = reading.question or _only_question(rows, source, flat=flat)
    found = Collector(source, reading)
    for position, row in enumerate(rows, start=1):
        instance = row.get("id", position)
        place = f"record {instance}"
        for voter, ticks in _flat(row, question, found) if flat else _nested(row, question, found):
            found.add(voter, instance, ticks, place)
    return found


def _nested(row: dict[str, Any], question: str, found: Collector) -> list[tuple[str, list[str]]]:
    answers = [(each["user_id"], each["value"]) for each in row.get("responses", {}).get(question, [])]
    if answers:
        found.remark("nested records do not tell drafts from submitted responses, so drafts count too; export flat")
    suggestion = row.get("suggestions", {}).get(question)
    if suggestion:
        answers.append((suggestion.get("agent") or "suggestion", suggestion["value"]))
    return answers


def _flat(row: dict[str, Any], question: str, found: Collector) -> list[tuple[str, list[str]]]:
    values = row.get(f"{question}.responses") or []
    users = row.get(f"{question}.responses.users") or []
    states = row.get(f"{question}.responses.status") or ["submitted"] * len(values)
    answers = []
    for user, value, state in zip(users, values, states, strict=True):
        if state == "submitted":
            answers.append((user, value))
        else:
            found.remark(f"a response that is {state} was taken as no ballot")
    if row.get(f"{question}.suggestion") is not None:
        answers.append((row.get(f"{question}.suggestion.agent") or "suggestion", row[f"{question}.suggestion"]))
    return answers


def _only_question(rows: list[dict[str, Any]], source: SourceFile, *, flat: bool) -> str:
    if flat:
        names = {name.removesuffix(".responses") for row in rows for name in row if name.endswith(".responses")}
    else:
        names = {name for row in rows for name in row.get("responses", {})}
    if len(names) != 1:
        listed = ", ".join(sorted(names)) or "none"
        raise ColumnError(
            f"{source} has responses to several questions or to none ({listed}); say which with --question"
        )
    return names.pop()
