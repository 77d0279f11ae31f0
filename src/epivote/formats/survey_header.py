"""Headers of more than one line, as survey tools write them.

| tool | line 1 | line 2 | line 3 |
|---|---|---|---|
| Qualtrics | `Q5_1`, a code | the question, ` - `, the option | `{"ImportId": ...}` |
| Kaggle's surveys | `Q7_Part_1`, a code | the question, ` - `, the option | |
| SurveyMonkey | the question, then blanks | the options | |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

IMPORT_ID = '{"ImportId"'
SINGLE = ("", "Response", "Open-Ended Response")
"""What SurveyMonkey writes below a question with a single column."""
FEWEST_OPTIONS = 2  # columns that make a question with an option each: one alone is a question by itself
PART = re.compile(r"(.+?)_(?:Part_)?\d+")


@dataclass(frozen=True)
class SurveyHeader:
    """The names of all columns, what the second line says about them, and how many lines follow the first."""

    names: list[str]
    labels: dict[str, str] = field(default_factory=dict)
    n_more: int = 0


def survey_header(lines: Sequence[Sequence[str]]) -> SurveyHeader:
    """What the first three records of a file say; an ordinary header if no tool's is recognised."""
    first, second, third = [list(line) for line in [*lines, [], [], []][:3]]
    if any(cell.startswith(IMPORT_ID) for cell in third) and len(second) == len(first):
        return SurveyHeader(first, dict(zip(first, second, strict=True)), n_more=2)
    if len(second) == len(first) and _is_options_below(first, second):
        return SurveyHeader(_joined(first, second), n_more=1)
    if len(second) == len(first) and _is_labels(first, second):
        return SurveyHeader(first, dict(zip(first, second, strict=True)), n_more=1)
    return SurveyHeader(first)


def _is_options_below(first: list[str], second: list[str]) -> bool:
    """Whether a question has blanks to its right, and below all of them different options."""
    return any(
        len(options) > FEWEST_OPTIONS and all(options) and len(set(options)) == len(options)
        for name, options in _questions(first, second)
        if name
    )


def _questions(first: list[str], second: list[str]) -> list[tuple[str, list[str]]]:
    """Every name in the first line, with what stands below it and below the blanks to its right."""
    found: list[tuple[str, list[str]]] = []
    for name, below in zip(first, second, strict=True):
        if name.strip() or not found:
            found.append((name.strip(), [below.strip()]))
        else:
            found[-1][1].append(below.strip())
    return found


def _joined(first: list[str], second: list[str]) -> list[str]:
    """`Question [Option]`, or the question alone where it has one column."""
    return [
        name if option in SINGLE and len(options) == 1 else f"{name} [{option}]"
        for name, options in _questions(first, second)
        for option in options
    ]


def _is_labels(first: list[str], second: list[str]) -> bool:
    """Whether several columns `Q7_Part_1`, `Q7_Part_2` begin with the same question before ` - `."""
    parts = [(match[1], label) for name, label in zip(first, second, strict=True) if (match := PART.fullmatch(name))]
    for _, group in groupby(parts, key=lambda part: part[0]):
        labels = [label for _, label in group]
        asked = {label.rpartition(" - ")[0] for label in labels}
        if len(labels) >= FEWEST_OPTIONS and len(asked) == 1 and "" not in asked and len(set(labels)) == len(labels):
            return True
    return False
