"""Form exports: a row per respondent, a column per question, ticks joined in the cell."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from epivote.data.frames import VOTER_COLUMNS
from epivote.data.names import listing, suggestion
from epivote.errors import BallotError, ColumnError
from epivote.formats.export import Collector
from epivote.formats.text_table import TextTable

NOT_QUESTIONS = ("timestamp", "horodateur", "zeitstempel", "score", "email address", "username", "email", "name")
RESPONDENT_COLUMNS = ("Username", "Email Address", "Email", "Name", *VOTER_COLUMNS)


def read_forms(
    path: Path,
    *,
    voter: str | None,
    instances: str | None,
    gold_row: str | None,
    alternatives: Sequence[str] | None,
    blank: str,
) -> Collector:
    """Every cell of a question is a ballot; a blank one is none unless `blank` says it is empty.

    `instances` is a pattern such as `Image*` for the question columns; `gold_row` names the respondent whose row holds
    the right answers. Cells are split at `;` if any holds one, else at commas; given `alternatives` are recognised
    whole, so that they may contain either.
    """
    table = TextTable(path)
    name = _respondent(table, voter)
    questions = _questions(table, name, instances)
    respondents = table.column((name,)).to_list()
    cells = {question: table.column((question,)).to_list() for question in questions}
    semicolons = any(";" in (cell or "") for column in cells.values() for cell in column)
    found = Collector(path)
    for row, respondent in enumerate(respondents):
        for question in questions:
            cell = cells[question][row]
            place = f"line {table.lines[row]}, column {question!r}"
            if not cell and respondent != gold_row:
                found.remark(f"a blank cell was taken as {'an empty ballot' if blank == 'empty' else 'no ballot'}")
                if blank == "missing":
                    continue
            ticks = _split(cell or "", ";" if semicolons else ",", alternatives, f"{path}, {place}")
            if respondent == gold_row:
                found.gold[question] = ticks
            else:
                found.add(respondent or f"row {row + 1}", question, ticks, place)
    if gold_row is not None and not found.gold:
        raise BallotError(
            f"{path}: no row of column {name!r} is {gold_row!r}{suggestion(gold_row, [r or '' for r in respondents])}; "
            "correct --gold-row"
        )
    return found


def _respondent(table: TextTable, voter: str | None) -> str:
    for name in (voter,) if voter is not None else RESPONDENT_COLUMNS:
        if name in table.columns:
            return str(name)
    raise ColumnError(
        f"{table.path}: which column names the respondent? Name it with --voter; there are {listing(table.columns)}"
    )


def _questions(table: TextTable, respondent: str, pattern: str | None) -> list[str]:
    if pattern is not None:
        found = [name for name in table.columns if fnmatchcase(name, pattern)]
    else:
        found = [name for name in table.columns if name != respondent and name.lower() not in NOT_QUESTIONS]
    if not found:
        raise ColumnError(f"{table.path}: no column matches {pattern!r}; the columns are {listing(table.columns)}")
    return found


def _split(cell: str, separator: str, alternatives: Sequence[str] | None, place: str) -> tuple[str, ...]:
    if alternatives is None:
        return tuple(part.strip() for part in cell.split(separator) if part.strip())
    longest_first = sorted(alternatives, key=len, reverse=True)
    found, rest = [], cell.strip(" ,;")
    while rest:
        known = next((name for name in longest_first if _begins(rest, name)), None)
        if known is None:
            first = rest.split(separator)[0]
            raise BallotError(f"{place}: {first!r} is not an alternative{suggestion(first, alternatives)}")
        found.append(known)
        rest = rest[len(known) :].strip(" ,;")
    return tuple(found)


def _begins(text: str, name: str) -> bool:
    return text.startswith(name) and (len(text) == len(name) or text[len(name)] in " ,;")
