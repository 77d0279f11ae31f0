"""Form exports: a row per respondent, a column per question, ticks joined in the cell."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from epivote.data.frames import INSTANCE_COLUMNS, VOTER_COLUMNS
from epivote.data.names import listing, suggestion
from epivote.errors import BallotError, ColumnError
from epivote.formats.export import Collector, Reading
from epivote.formats.source import Source
from epivote.formats.text_table import TextTable

FORM_COLUMNS = ("timestamp", "horodateur", "zeitstempel", "marca temporal", "email address", "username")
NOT_QUESTIONS = (*FORM_COLUMNS, "score", "email", "name")
BLANK = {
    "missing": "a blank cell was taken as no ballot; --blank empty counts it as one with nothing ticked",
    "empty": "a blank cell was taken as an empty ballot; --blank missing counts it as no ballot",
}
RESPONDENT_COLUMNS = ("Username", "Email Address", "Email", "Name", *VOTER_COLUMNS)


def is_form(columns: Sequence[str], voter: str | None, instances: str | None) -> bool:
    """Whether a table looks like a form: respondents, and no single column of instances."""
    if instances in columns or (instances is None and any(name in columns for name in INSTANCE_COLUMNS)):
        return False
    matched = instances is not None and any(fnmatchcase(name, instances) for name in columns)
    return matched or voter is not None or any(name.lower() in FORM_COLUMNS for name in columns)


def read_forms(source: Source, reading: Reading) -> Collector:
    """Every cell of a question is a ballot; a blank one is none unless `blank` says it is empty.

    `instances` is a pattern such as `Image*` for the question columns; `gold_row` names the respondent whose row holds
    the right answers. Cells are split at `;` if any holds one, else at commas; given `alternatives` are recognised
    whole, so that they may contain either.
    """
    table = TextTable(source)
    name = _respondent(table, reading.voter)
    questions = _questions(table, name, reading.instances)
    gold_row, blank = reading.gold_row, reading.blank or "missing"
    respondents = table.column((name,)).to_list()
    cells = {question: table.column((question,)).to_list() for question in questions}
    semicolons = any(";" in (cell or "") for column in cells.values() for cell in column)
    found = Collector(source, reading)
    for row, respondent in enumerate(respondents):
        for question in questions:
            cell = cells[question][row]
            place = f"line {table.lines[row]}, column {question!r}"
            if not cell and respondent != gold_row:
                found.remark(BLANK[blank])
                if blank == "missing":
                    continue
            ticks = _split(
                cell or "",
                reading.separator or (";" if semicolons else ","),
                reading.alternatives,
                f"{source}, {place}",
            )
            if respondent == gold_row:
                found.gold[question] = ticks
            else:
                found.add(respondent or f"row {row + 1}", question, ticks, place)
    if gold_row is not None and not found.gold:
        near = suggestion(gold_row, [respondent or "" for respondent in respondents])
        raise BallotError(f"{source}: no row of column {name!r} is {gold_row!r}{near}; correct --gold-row")
    return found


def _respondent(table: TextTable, voter: str | None) -> str:
    for name in (voter,) if voter is not None else RESPONDENT_COLUMNS:
        if name in table.columns:
            return str(name)
    raise ColumnError(
        f"{table.source}: which column names the respondent? Name it with --voter; there are {listing(table.columns)}"
    )


def _questions(table: TextTable, respondent: str, pattern: str | None) -> list[str]:
    if pattern is not None:
        found = [name for name in table.columns if fnmatchcase(name, pattern)]
    else:
        found = [name for name in table.columns if name != respondent and name.lower() not in NOT_QUESTIONS]
    if not found:
        raise ColumnError(f"{table.source}: no column matches {pattern!r}; the columns are {listing(table.columns)}")
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
