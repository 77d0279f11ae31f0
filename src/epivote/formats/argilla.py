"""Argilla records of a question with labels: nested or flat JSON, JSONL, Parquet and CSV, and what version 1 wrote."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from epivote.data.names import listing, suggestion
from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, read_json, read_json_lines, records
from epivote.formats.file_tables import JSON_LINES, flat_table_of
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile

RESPONSES, USERS, STATUS, SUGGESTION = ".responses", ".responses.users", ".responses.status", ".suggestion"
SUBMITTED = "submitted"
ArgillaRow = dict[str, Any]
Response = tuple[Any, Any, str | None]
"""User, value and status; the status is None where the file does not tell it."""


def is_argilla(names: Iterable[str]) -> bool:
    """Whether columns or fields are those of Argilla records, flat, nested or of version 1."""
    given = set(names)
    flat = any(name.endswith(RESPONSES) and f"{name}.users" in given for name in given)
    return flat or {"fields", "responses"} <= given or any(f"{name}-suggestion" in given for name in given)


def read_argilla(source: SourceFile, reading: Reading) -> Collector:
    """Submitted responses are ballots of their users, a suggestion is one of its agent."""
    rows = _rows(source)
    question = _question(rows, source, reading.question)
    found = Collector(source, reading)
    for position, row in enumerate(rows, start=1):
        instance = next((row[name] for name in ("id", "external_id") if row.get(name) is not None), position)
        place = f"record {instance}"
        given = list(_responses(row, question))
        for voter, value, status in given:
            if _counts(found, value, status):
                found.add(voter, instance, value, place)
        for voter in _submitters(row):
            if voter not in [user for user, _, _ in given]:
                _without_answer(found, voter, instance, place)
        _suggestion(found, row, question, instance, place)
    return found


def _counts(found: Collector, value: Any, status: str | None) -> bool:
    """Whether a response is a ballot."""
    if status is None:
        found.remarks[
            "these records do not say which responses are drafts or discarded, so every response with a value counts; "
            "records.to_datasets() keeps the status"
        ] = 1
        status = SUBMITTED if value is not None else "without a value"
    if status != SUBMITTED:
        found.remark(f"a response that is {status} counts as a missing ballot")
    elif value is None:
        found.remark("a submitted response without a value counts as a missing ballot")
    return status == SUBMITTED and value is not None


def _without_answer(found: Collector, voter: Any, instance: Any, place: str) -> None:
    """A user submitted a record without a response to the question: an empty ballot if `blank` says so."""
    if found.reading.blank == "empty":
        found.add(voter, instance, [], place)
        found.remark("a record submitted without a response to the question counts as an empty ballot")
    else:
        found.remark(
            "a record submitted without a response to the question counts as a missing ballot; --blank empty counts it "
            "as an empty one"
        )


def _suggestion(found: Collector, row: ArgillaRow, question: str, instance: Any, place: str) -> None:
    """The suggestion as a ballot of its agent."""
    nested = (row.get("suggestions") or {}).get(question)
    about = row.get(f"{question}-suggestion-metadata") or {}
    if nested:
        value, agent = nested["value"], nested.get("agent")
    elif row.get(f"{question}-suggestion") is not None:
        value, agent = row[f"{question}-suggestion"], about.get("agent")
    else:
        value, agent = row.get(f"{question}{SUGGESTION}"), row.get(f"{question}{SUGGESTION}.agent")
    if value is not None:
        found.add(agent or "suggestion", instance, value, place)
        found.remark("a suggestion counts as the ballot of its agent")


def _names(row: ArgillaRow) -> list[str]:
    """The questions that a record has responses to."""
    if isinstance(row.get("responses"), dict):
        return list(row["responses"])
    flat = [name.removesuffix(RESPONSES) for name in row if name.endswith(RESPONSES)]
    return flat or [name for name, value in row.items() if _is_old(value)]


def _responses(row: ArgillaRow, question: str) -> Iterator[Response]:
    """The responses of a record to a question."""
    if isinstance(row.get("responses"), dict):
        return _objects(row["responses"].get(question) or [])
    if f"{question}{RESPONSES}" in row:
        values = row[f"{question}{RESPONSES}"] or []
        states = row.get(f"{question}{STATUS}") or [SUBMITTED] * len(values)
        return zip(row.get(f"{question}{USERS}") or [], values, states, strict=True)
    value = row.get(question)
    if isinstance(value, dict):
        states = value.get("status") or [SUBMITTED] * len(value["value"])
        return zip(value["user_id"], value["value"], states, strict=True)
    return _objects(value or [])


def _objects(responses: list[ArgillaRow]) -> Iterator[Response]:
    return ((each["user_id"], each["value"], each.get("status")) for each in responses)


def _submitters(row: ArgillaRow) -> dict[Any, None]:
    """Who submitted a record, as flat records tell by the responses to all questions."""
    users: dict[Any, None] = {}
    for name in row:
        if name.endswith(USERS):
            states = row.get(f"{name.removesuffix(USERS)}{STATUS}") or []
            users |= {user: None for user, state in zip(row[name] or [], states, strict=False) if state == SUBMITTED}
    return users


def _is_old(value: Any) -> bool:
    """Whether a field holds responses as version 1 wrote them: a list of objects, or an object of lists."""
    each = value[0] if isinstance(value, list) and value else value
    return isinstance(each, dict) and {"user_id", "value"} <= each.keys()


def _question(rows: list[ArgillaRow], source: SourceFile, given: str | None) -> str:
    """The given question, which some record must answer, else the only one."""
    names = sorted({name for row in rows for name in _names(row)})
    if given is not None:
        if given not in names:
            there = f"its questions are {listing(names, 20)}" if names else "it has no responses at all"
            raise ColumnError(f"{source} has no responses to {given!r}{suggestion(given, names)}; {there}")
        return given
    if len(names) != 1:
        if not names:
            raise ColumnError(f"{source} has no responses to any question; export records that were answered")
        raise ColumnError(f"{source}: choose the question to read with --question; there are {listing(names, 20)}")
    return names[0]


def _rows(source: SourceFile) -> list[ArgillaRow]:
    """All records, from whichever kind of file."""
    if source.suffix in JSON_LINES:
        return [record for _, record in read_json_lines(source)]
    if source.suffix == ".json":
        return records(read_json(source), source)
    table = flat_table_of(source)
    kept = [name for name in table.columns if _matters(name, table.columns)]
    rows = table.select(kept).to_dicts()
    return [{name: _cell(cell, source, name) for name, cell in row.items()} for row in rows]


def _matters(name: str, columns: list[str]) -> bool:
    ours = (RESPONSES, USERS, STATUS, SUGGESTION, f"{SUGGESTION}.agent", "-suggestion", "-suggestion-metadata")
    return (
        name in ("id", "external_id", "responses", "suggestions")
        or name.endswith(ours)
        or f"{name}-suggestion" in columns
    )


def _cell(cell: Any, source: SourceFile, column: str) -> Any:
    """A cell of a table; a list that was printed as text is read back."""
    if not isinstance(cell, str) or not cell.startswith("["):
        return cell
    found = printed_list(cell)
    if found is None:
        raise FileError(f"{source}: {cell[:60]!r} in {column!r} cannot be read back as a list; export JSONL or Parquet")
    return found


TOKEN = re.compile(
    r"""\s*(?: (?P<open>array\(\s*\[|\[) | (?P<close>\](?:,\s*dtype=[^)]*\)|\))?) | (?P<comma>,)
    | (?P<none>None|null|nan) | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<number>-?\d+(?:\.\d*)?(?:e[-+]?\d+)?) )""",
    re.VERBOSE | re.DOTALL,
)


def printed_list(text: str) -> list[Any] | None:
    """A list as Python, JSON or NumPy print it (`['a' 'b']`, `[array(['a'], dtype=object) None]`); None if it is not.

    Never evaluates more than single texts and numbers.
    """
    open_lists: list[list[Any]] = [[]]
    at = 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        if token is None or (at > 0 and len(open_lists) == 1):
            return None
        kind, at = token.lastgroup, token.end()
        if kind == "open":
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif kind == "close":
            open_lists.pop()
        elif kind == "none":
            open_lists[-1].append(None)
        elif kind in ("text", "number"):
            try:
                open_lists[-1].append(_scalar(token[kind]))
            except (SyntaxError, ValueError):
                return None
    return open_lists[0][0] if len(open_lists) == 1 and open_lists[0] else None


def _scalar(printed: str) -> Any:
    """A text or a number as JSON or Python write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a backslash that means nothing
        return json.loads(printed) if printed.startswith('"') else ast.literal_eval(printed)
