"""Form exports: a row per respondent, a column per question, ticks joined in the cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from epivote.data.columns import INSTANCE_COLUMNS, VOTER_COLUMNS, column_named
from epivote.data.names import listing, suggestion
from epivote.errors import BallotError, ColumnError
from epivote.formats.export import Collector
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

FORM_COLUMNS = ("timestamp", "horodateur", "zeitstempel", "marca temporal", "email address", "username")
NOT_QUESTIONS = (*FORM_COLUMNS, "score", "email", "name")
BLANK_REMARKS = {
    "missing": "a blank cell was taken as no ballot; --blank empty counts it as one with nothing ticked",
    "empty": "a blank cell was taken as an empty ballot; --blank missing counts it as no ballot",
}
RESPONDENT_COLUMNS = ("Username", "Email Address", "Email", "Name", *VOTER_COLUMNS)
TICK_SEPARATORS = (";", ",")


def matches(name: str, pattern: str) -> bool:
    """Whether a column is meant: the name itself, or a pattern in which * and ? stand for anything."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def is_form(columns: Sequence[str], reading: Reading) -> bool:
    """Whether a table looks like a form: respondents, and no single column of instances or ticks."""
    if reading.ticks is not None or reading.instances in columns:
        return False
    if reading.instances is None and any(name in columns for name in INSTANCE_COLUMNS):
        return False
    matched = reading.instances is not None and any(matches(name, reading.instances) for name in columns)
    return matched or reading.voter is not None or any(name.lower() in FORM_COLUMNS for name in columns)


def read_forms(source: SourceFile, reading: Reading) -> Collector:
    """Every cell of a question is a ballot; a blank one is none unless `blank` says it is empty.

    `instances` is a pattern such as `Image*` for the question columns; `gold_row` names the respondent whose row holds
    the right answers. Cells are split at `;` or at commas, whichever gives ticks that come back, unless `separator`
    says it; given `alternatives` are recognised whole, so that they may contain either.
    """
    table = source.once(TextTable)
    name = _respondent(table, reading.voter)
    questions = _questions(table, name, reading.instances)
    gold_row, blank = reading.gold_row, reading.blank or "missing"
    respondents = table.column((name,)).to_list()
    cells = {question: table.column((question,)).to_list() for question in questions}
    separator = reading.separator or _separator(cell for column in cells.values() for cell in column if cell)
    found = Collector(source, reading)
    for row, respondent in enumerate(respondents):
        for question in questions:
            cell = (cells[question][row] or "").strip(f" {separator}")
            place = f"line {table.lines[row]}, column {question!r}"
            is_gold = gold_row is not None and respondent == gold_row
            if not cell:
                found.remark(
                    BLANK_REMARKS[blank] if not is_gold else "a blank cell of the gold row was taken as not known"
                )
                if blank == "missing" or is_gold:
                    continue
            ticks = _split(cell, separator, reading.alternatives, f"{source}, {place}")
            if is_gold:
                found.add_gold(question, ticks, place)
            else:
                found.add(respondent or f"row {row + 1}", question, ticks, place)
    if reading.alternatives is None and reading.separator is None:
        found.remark(f"cells were split at {separator!r}; --separator or --alternatives says otherwise")
    if gold_row is not None and gold_row not in respondents:
        near = suggestion(gold_row, [respondent or "" for respondent in respondents])
        raise BallotError(f"{source}: no row of column {name!r} is {gold_row!r}{near}; correct --gold-row")
    return found


def _separator(cells: Iterable[str]) -> str:
    """Of the marks that cells hold, the one that cuts them into ticks that come back most often."""
    filled = list(cells)

    def different(mark: str) -> float:
        parts = [part.strip() for cell in filled for part in cell.split(mark)]
        return len(set(parts)) / len(parts)

    held = [mark for mark in TICK_SEPARATORS if any(mark in cell for cell in filled)]
    return min(held, key=different) if held else ","


def _respondent(table: TextTable, voter: str | None) -> str:
    name = column_named(table.columns, voter, RESPONDENT_COLUMNS)
    if name is not None:
        return name
    raise ColumnError(
        f"{table.source}: which column names the respondent? Name it with --voter (a time stamp will do if nobody gave "
        f"a name); there are {listing(table.columns)}"
    )


def _questions(table: TextTable, respondent: str, pattern: str | None) -> list[str]:
    if pattern is not None:
        found = [name for name in table.columns if matches(name, pattern)]
    else:
        found = [name for name in table.columns if name != respondent and name.lower() not in NOT_QUESTIONS]
    if not found:
        raise ColumnError(f"{table.source}: no column matches {pattern!r}; the columns are {listing(table.columns)}")
    return found


def _split(cell: str, separator: str, alternatives: Iterable[str] | None, place: str) -> tuple[str, ...]:
    if alternatives is None:
        return tuple(part.strip() for part in cell.split(separator) if part.strip())
    ends = rf"\s*(?:[,;{re.escape(separator)}]\s*|$)"
    longest_first = [re.compile(f"({re.escape(name)}){ends}") for name in sorted(alternatives, key=len, reverse=True)]
    found, rest = [], cell
    while rest:
        known = next(filter(None, (name.match(rest) for name in longest_first)), None)
        if known is None:
            first = rest.split(separator)[0].strip()
            raise BallotError(f"{place}: {first!r} is not an alternative{suggestion(first, alternatives)}")
        found.append(known.group(1))
        rest = rest[known.end() :]
    return tuple(found)
