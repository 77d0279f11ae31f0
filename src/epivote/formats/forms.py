"""Forms and surveys: a row per respondent, and for every question a column of joined ticks or a column per option."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import polars as pl

from epivote.data.columns import (
    INSTANCE_COLUMNS,
    LIST_COLUMNS,
    TICK_COLUMNS,
    VOTER_COLUMNS,
    column_named,
    find_column,
    plain,
)
from epivote.data.names import counted, listing, suggestion
from epivote.errors import BallotError, ColumnError
from epivote.formats.export import Collector
from epivote.formats.joined import joining_mark
from epivote.formats.options import Cells, Question, questions_of, ticked_options, without_common
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

TIMES = ("Timestamp", "Horodateur", "Zeitstempel", "Marca temporal", "Start time", "Completion time")
RESPONDENT_COLUMNS = ("ResponseId", "Response ID", "Respondent ID", "record_id")
DURATION = "Time from Start to Finish (seconds)"
LIME_SURVEY = ("submitdate", "lastpage", "startlanguage", "Date submitted", "Last page", "Start language")
MARKERS = frozenset(
    map(
        plain,
        (*TIMES, *RESPONDENT_COLUMNS, *LIME_SURVEY, DURATION, "Email Address", "Username", "Collector ID"),
    )
)
"""Columns by which a form or survey is recognised."""
NO_QUESTIONS = MARKERS | set(
    map(
        plain,
        (
            *(
                "Score",
                "Email",
                "Name",
                "ID",
                "Last modified time",
                "Total points",
                "Quiz feedback",
            ),  # Google, Microsoft
            *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished"),
            *("RecordedDate", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference"),
            *("LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage"),  # Qualtrics
            *("Seed", "Date started", "Date last action", "IP address", "Referrer URL", "startdate", "datestamp"),
            *("First Name", "Last Name", "Custom Data 1"),
            *("redcap_survey_identifier", "redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance"),
        ),
    )
)
BLANK_REMARKS = {
    "missing": "a question without ticks counts as a missing ballot; --blank empty counts it as an empty one",
    "empty": "a question without ticks counts as an empty ballot; --blank missing counts it as a missing one",
}
VOTER_NAMES = (*RESPONDENT_COLUMNS, "Username", "Email Address", "Email", "Name", *VOTER_COLUMNS, "id")
TICK_SEPARATORS = (";", "\n", ",", "|")
MARKS = re.compile("|".join(map(re.escape, TICK_SEPARATORS)))
MOST_QUESTIONS = 5  # names in a note; a round number
FEWEST_ROWS = 10  # from which a column whose cells are all different names respondents; a round number


def matches(name: str, pattern: str) -> bool:
    """Whether a column is meant: the name itself, or a pattern in which * and ? stand for anything."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def is_form(table_columns: Sequence[str], reading: Reading, *, is_survey: bool) -> bool:
    """Whether a table looks like a form: a survey's header, or questions that the user names; no column of ticks."""
    if reading.ticks is not None or reading.instances in table_columns:
        return False
    if reading.gold_row is not None:
        return True
    by_name = all(column_named(table_columns, None, usual) for usual in (VOTER_COLUMNS, INSTANCE_COLUMNS))
    if by_name and column_named(table_columns, None, (*LIST_COLUMNS, *TICK_COLUMNS)):
        return False
    if reading.instances is not None and ("*" in reading.instances or "?" in reading.instances):
        return True
    return is_survey or any(plain(name) in MARKERS or "___" in name or "(choice=" in name for name in table_columns)


def read_forms(source: SourceFile, reading: Reading) -> Collector:
    """Every question of a row is a ballot; one without ticks is none unless `blank` says it is empty.

    `question` or `instances` name the questions, as they are or by a pattern such as `Image*`; `gold_row` names the
    respondent whose row holds the right answers. Joined ticks are split at the mark that gives names that come back,
    unless `separator` says it; given `alternatives` are recognised whole, so that they may contain such marks.
    """
    table = source.once(TextTable)
    found = Collector(source, reading)
    respondent = _respondent(table, reading)
    voters = _voters(table, respondent, found)
    cells = {name: _cells(table.frame[name], reading) for name in table.columns if name != respondent}
    questions = _questions(table, cells, respondent, found)
    separator = reading.separator or _separator(
        cell for each in questions if each.column for cell in cells[each.column] if cell
    )
    for row, voter in enumerate(voters):
        for question in questions:
            _add(found, voter, question, {name: cells[name][row] for name in _columns(question)}, separator, table, row)
    _add_menus(found, questions)
    _remarks(found, questions, separator)
    if reading.gold_row is not None and reading.gold_row not in voters:
        near = suggestion(reading.gold_row, voters)
        raise BallotError(
            f"{source}: no row of column {respondent!r} is {reading.gold_row!r}{near}; correct --gold-row"
        )
    return found


def _columns(question: Question) -> list[str]:
    return [name for _, name in question.options] if question.column is None else [question.column]


def _cells(column: pl.Series, reading: Reading) -> Cells:
    """A column's cells; what stands for no answer is blank."""
    words = list(reading.missing_words)
    return column.set(column.str.strip_chars().is_in(words), None).to_list() if words else column.to_list()


def _add(
    found: Collector,
    voter: str,
    question: Question,
    row: Mapping[str, str | None],
    separator: str,
    table: TextTable,
    number: int,
) -> None:
    """The ballot, or the gold set, in one row's cells of a question."""
    reading = found.reading
    place = f"line {table.lines[number]}, column {_columns(question)[0]!r}"
    is_gold = reading.gold_row is not None and voter == reading.gold_row
    if question.column is None:
        ticks = ticked_options(question, row)
    else:
        cell = (row[question.column] or "").strip(f" {separator}")
        ticks = _split(cell, separator, reading.alternatives, f"{found.source}, {place}") if cell else None
    if is_gold:
        if ticks is None:
            found.remark("a blank cell of the gold row counts as not known")
        else:
            found.add_gold(question.name, ticks, place)
        return
    if ticks is None:
        blank = reading.blank or "missing"
        found.remark(BLANK_REMARKS[blank])
        if blank == "missing":
            return
    found.add(voter, question.name, ticks or (), place)


def _separator(cells: Iterable[str]) -> str:
    """The mark that joins ticks; without evidence, of the marks that cells hold the one with fewer different parts."""
    filled = pl.Series(list(dict.fromkeys(cells)), dtype=pl.String)

    def different(mark: str) -> float:
        parts = [part.strip() for cell in filled for part in cell.split(mark)]
        return len(set(parts)) / len(parts)

    held = [mark for mark in TICK_SEPARATORS if filled.str.contains(mark, literal=True).any()]
    return joining_mark(filled) or (min(held, key=different) if held else ",")


def _respondent(table: TextTable, reading: Reading) -> str | None:
    """The column that names respondents; None if there is none, so that every row is another one."""
    if reading.voter is not None:
        return find_column(table.columns, reading.voter, (), place=f"{table.source}: ", remedy="; correct --voter")
    return column_named(table.columns, None, VOTER_NAMES) or _identifying(table, reading)


def _identifying(table: TextTable, reading: Reading) -> str | None:
    """The column whose cells are all filled and have nothing in common, as names do, if there is exactly one."""
    if len(table.frame) < FEWEST_ROWS:
        return None
    wanted = reading.question or reading.instances
    asked = [
        name
        for name in table.columns
        if plain(name) not in NO_QUESTIONS and not (wanted is not None and matches(name, wanted))
    ]
    found = [name for name in asked if _all_different(table.frame[name])]
    return found[0] if len(found) == 1 else None


def _all_different(column: pl.Series) -> bool:
    """Whether every cell is filled and no cell, nor any part of a joined one, comes twice."""
    cells = [(cell or "").strip() for cell in column]
    often = Counter(part for cell in cells for part in {part.strip() for part in MARKS.split(cell)})
    return all(cells) and max(often.values()) == 1


def _voters(table: TextTable, respondent: str | None, found: Collector) -> list[str]:
    """The name of every row's respondent; rows are different respondents where nothing or only the time names them."""
    if respondent is None:
        found.remark("every row counts as a different respondent; --voter names the column that identifies them")
        return [f"row {number}" for number in range(1, len(table.frame) + 1)]
    if found.reading.voter is None and column_named([respondent], None, VOTER_NAMES) is None:
        found.remark(
            f"column {respondent!r} was taken as the names of respondents, because all its cells differ "
            "(override with --voter)"
        )
    names = [name or f"row {number}" for number, name in enumerate(table.frame[respondent], start=1)]
    often = Counter(names)
    if plain(respondent) not in map(plain, TIMES) or len(often) == len(names):
        return names
    found.remark(f"rows with the same {respondent!r} count as different respondents")
    return [name if often[name] == 1 else f"{name}, row {number}" for number, name in enumerate(names, start=1)]


def _questions(
    table: TextTable, cells: Mapping[str, Cells], respondent: str | None, found: Collector
) -> list[Question]:
    """The questions that were named, else those with a column per option, else all columns but those of the tool."""
    reading, wanted = found.reading, found.reading.question or found.reading.instances
    asked = [name for name in cells if wanted is not None or plain(name) not in NO_QUESTIONS]
    everything = questions_of({name: cells[name] for name in asked}, table.labels)
    if wanted is None:
        chosen = [each for each in everything if each.options] or everything
    else:
        chosen = [each for each in everything if _is_meant(each, wanted, table)]
        if reading.question is None:  # a pattern for columns, whatever they are
            named = [Question(name, column=name) for name in cells if matches(name, wanted)]
            chosen = named if named and not chosen else chosen
    if chosen:
        return chosen
    if wanted is None:
        raise ColumnError(f"{table.source}: no column is left to hold ticks besides {respondent!r}")
    option = "question" if reading.question is not None else "instances"
    names = [each.name for each in everything if plain(each.name) not in NO_QUESTIONS]
    raise ColumnError(
        f"{table.source}: no column matches {wanted!r}{suggestion(wanted, names)}; correct --{option}; there are "
        f"{listing(names)}"
    )


def _is_meant(question: Question, wanted: str, table: TextTable) -> bool:
    """Whether a question is called so, in the header's first line or in its second."""
    asked = {table.labels.get(name, "").rpartition(" - ")[0].strip() or name for name in _columns(question)}
    labels = {table.labels.get(name, name) for name in _columns(question)}
    return any(matches(name, wanted) for name in (question.name, *asked, *(labels if question.column else ())))


def _add_menus(found: Collector, questions: Sequence[Question]) -> None:
    """Every question offers its own options; if all are the same ones, they are the alternatives."""
    menus = {each.name: tuple(option for option, _ in each.options) for each in questions if each.options}
    if len(menus) == len(questions) and menus:
        found.alternatives.update(dict.fromkeys(option for options in menus.values() for option in options))
        if len({frozenset(options) for options in menus.values()}) > 1:
            voted = {instance for _, instance in found.ballots} | set(found.gold)
            found.menu.update({name: options for name, options in menus.items() if name in voted})


def _remarks(found: Collector, questions: Sequence[Question], separator: str) -> None:
    """What was assumed about the whole file."""
    reading = found.reading
    said = reading.question or reading.instances
    if said is None and (len(questions) > 1 or questions[0].options):
        names = listing([each.name for each in questions], MOST_QUESTIONS)
        found.remark(f"{counted(len(questions), 'question')} read: {names}; --question or --instances selects others")
    if any(each.options for each in questions):
        found.remark("a column per option was read as ticks; cells that are blank or say no are not ticked")
    joined = [each for each in questions if each.column]
    if joined and reading.alternatives is None and reading.separator is None:
        found.remark(f"cells were split at {separator!r} (override with --separator or --alternatives)")
    if any("___" in name for each in questions for name in _columns(each)):
        found.remark("REDCap writes 0 also where nobody answered; such rows count as empty ballots")
    ticked: dict[str, set[str]] = {each.name: set() for each in joined}
    for (_, instance), names_ticked in found.ballots.items():
        if instance in ticked:
            ticked[instance].update(names_ticked)
    apart = without_common(ticked.items())
    if apart is not None and said is None:
        found.remark(
            f"questions {apart[0]!r} and {apart[1]!r} have no alternative in common; name those that belong together "
            "with --question or --instances"
        )


def _split(cell: str, separator: str, alternatives: Iterable[str] | None, place: str) -> tuple[str, ...]:
    if alternatives is None:
        return tuple(dict.fromkeys(part.strip() for part in cell.split(separator) if part.strip()))
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
