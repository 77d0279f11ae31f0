"""Questions of a survey: a column each, or a column per option.

Options are told by the header first: `Question [Option]` (LimeSurvey, and SurveyMonkey once its two lines are joined),
`Question (choice=Option)` and `question___1` (REDCap), `Q5_1` (Qualtrics) and `Q7_Part_1` (Kaggle). Such columns are
options if they hold marks (Yes and No, x and blank, 0 and 1, Checked and Unchecked), or their own label and blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from epivote.data.marks import TICKED, UNTICKED
from epivote.formats.survey_header import FEWEST_OPTIONS

NAMED = (re.compile(r"(?s)(.+?)\s*\[(.+)\]"), re.compile(r"(?s)(.+?)\s*\(choice=(.+)\)"), re.compile(r"(.+?)___(.+)"))
NUMBERED = re.compile(r"(.+?)_(?:Part_)?(\d+|SQ\d+|OTHER|other)")
KAGGLE = re.compile(r".+?_(Part_\d+|OTHER)")
OTHERS = ("other", "others", "sonstiges", "autre", "otro", "altro")
Cells = Sequence[str | None]


@dataclass(frozen=True)
class Question:
    """A question as an instance: the column of its joined ticks, or the column of every option."""

    name: str
    column: str | None = None
    options: tuple[tuple[str, str], ...] = ()


def questions_of(columns: Mapping[str, Cells], labels: Mapping[str, str]) -> list[Question]:
    """The questions of some columns, in their order; columns that are no options are questions of their own."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in columns:
        question, option = _named(name, labels)
        if question is not None:
            groups.setdefault(question, []).append((option, name))
    found: dict[str, Question] = {}
    for question, options in groups.items():
        chosen = _options(options, columns)
        for _, name in chosen:
            found[name] = Question(question, options=tuple(chosen))
    return list(dict.fromkeys(found.get(name) or Question(name, column=name) for name in columns))


def ticked_options(question: Question, row: Mapping[str, str | None]) -> tuple[str, ...] | None:
    """The options that a row ticks; None if all cells are blank."""
    cells = {option: (row[column] or "").strip() for option, column in question.options}
    if not any(cells.values()):
        return None
    return tuple(option for option, cell in cells.items() if cell and cell.casefold() not in UNTICKED)


def _named(name: str, labels: Mapping[str, str]) -> tuple[str | None, str]:
    """Question and option that a column's name, and what the header's second line says, tell."""
    for pattern in NAMED:
        match = pattern.fullmatch(name.strip())
        if match:
            return match[1], match[2].strip()
    match = NUMBERED.fullmatch(name.strip())
    if match is None:
        return None, ""
    label = labels.get(name, "").rpartition(" - ")[2].strip()
    return match[1], label or match[2]


def _options(options: list[tuple[str, str]], columns: Mapping[str, Cells]) -> list[tuple[str, str]]:
    """Those columns that hold marks or their own label, under the names of options; none if there are too few."""
    values = {name: {cell.strip() for cell in columns[name] if cell and cell.strip()} for _, name in options}
    alone = [next(iter(found)) for found in values.values() if len(found) == 1]
    found = []
    for option, name in options:
        words = {value.casefold() for value in values[name]}
        if words <= TICKED | UNTICKED or option.casefold() in OTHERS:
            found.append((option, name))
        elif len(words) == 1:
            (value,) = values[name]
            if value == option or (alone.count(value) == 1 and KAGGLE.fullmatch(name.strip())):
                found.append((value, name))
    held = any(values[name] for _, name in found)
    is_question = len(found) >= FEWEST_OPTIONS and held and len({option for option, _ in found}) == len(found)
    return found if is_question else []


def without_common(questions: Iterable[tuple[str, set[str]]]) -> tuple[str, str] | None:
    """Two questions that have no alternative in common, if there are such."""
    seen: list[tuple[str, set[str]]] = []
    for name, ticked in questions:
        other = next((known for known, names in seen if ticked and names and not names & ticked), None)
        if other is not None:
            return other, name
        seen.append((name, ticked))
    return None
