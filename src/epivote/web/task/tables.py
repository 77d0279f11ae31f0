"""Tables of a TOML file taken apart: values of the right kind out, mistakes with line and remedy noted on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

from epivote import InputError, SizeBounds
from epivote.web.task.lines import Where, line_of

LONGEST_NAME = 200  # characters; a round number
LONGEST_TEXT = 20_000  # characters, some ten pages; a round number


class Mistake(NamedTuple):
    """What is wrong on which line, and what to do about it."""

    line: int
    sentence: str


@dataclass
class Mistakes:
    """All mistakes of a file, in the order of its lines."""

    lines: Mapping[Where, int]
    found: list[Mistake] = field(default_factory=list)

    def note(self, where: Where, sentence: str) -> None:
        """Add one."""
        self.found.append(Mistake(line_of(self.lines, where), sentence))

    def sorted(self) -> list[Mistake]:
        """From the first line to the last, each once."""
        return sorted(dict.fromkeys(self.found), key=lambda mistake: mistake.line)


@dataclass(frozen=True)
class Table:
    """One table: its keys are read one by one, each with the kind of value it should have."""

    values: Mapping[str, Any]
    where: Where
    mistakes: Mistakes
    called: str

    def wrong(self, key: str, sentence: str) -> None:
        """Note a mistake at a key."""
        self.mistakes.note((*self.where, key), sentence)

    def check_keys(self, known: Collection[str]) -> None:
        """Refuse keys that mean nothing."""
        for key in self.values:
            if key not in known:
                self.wrong(key, f"{key!r} means nothing in {self.called}{close(key, known)}; remove or correct it")

    def text(self, key: str, *, needed: bool = False, longest: int = LONGEST_TEXT) -> str:
        """A text, without white space around it; an empty one if it is not there."""
        value: object = self.values.get(key, "")
        if not isinstance(value, str):
            self.wrong(key, f"{key} of {self.called} is {value!r}; write a text in quotes")
            return ""
        value = value.strip()
        if needed and not value:
            self.wrong(key, f'{self.called} has no {key}; write {key} = "..."')
        elif len(value) > longest:
            self.wrong(key, f"{key} of {self.called} has {len(value):,} characters; use at most {longest:,}")
        elif any(ord(character) < 32 and character not in "\n\t" for character in value):
            self.wrong(key, f"{key} of {self.called} holds control characters; remove them")
        return value

    def name(self) -> str:
        """A name that can stand in a file of ballots."""
        value = self.text("name", needed=True, longest=LONGEST_NAME)
        if "\n" in value or "\t" in value:
            self.wrong("name", f"name of {self.called} goes over several lines; write it on one")
        return value

    def truth(self, key: str, usual: bool) -> bool:
        """True or false."""
        value = self.values.get(key, usual)
        if not isinstance(value, bool):
            self.wrong(key, f"{key} is {value!r}; write true or false, without quotes")
            return usual
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> Any:
        """One of some words, the first if it is not there."""
        value = self.values.get(key, choices[0])
        if value not in choices:
            self.wrong(key, f"{key} is {value!r}; write one of {', '.join(f'{each!r}' for each in choices)}")
            return choices[0]
        return value

    def count(self, key: str) -> int | None:
        """A whole number of at least 1."""
        value = self.values.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            self.wrong(key, f"{key} is {value!r}; write a whole number of at least 1")
            return None
        return value

    def share(self, key: str) -> float | None:
        """A probability above one half and below 1."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, (int, float)) or not 0.5 <= value < 1:
            self.wrong(key, f"{key} is {value!r}; write a probability such as 0.95, from 0.5 to below 1")
            return None
        return float(value)

    def time(self, key: str) -> datetime | None:
        """A moment with its time zone."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, datetime) or value.tzinfo is None:
            self.wrong(key, f"{key} is {str(value)!r}; write date, time and offset: 2027-03-01T09:00:00+01:00")
            return None
        return value

    def names(self, key: str) -> tuple[str, ...] | None:
        """A list of names."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.wrong(key, f'{key} of {self.called} is {value!r}; write a list of names such as ["a", "b"]')
            return None
        named = tuple(each.strip() for each in value)
        if len(set(named)) < len(named):
            self.wrong(key, f"{key} of {self.called} names something twice; name everything once")
        return tuple(dict.fromkeys(named))

    def size(self, key: str, usual: SizeBounds | None) -> SizeBounds | None:
        """How many alternatives are right."""
        value = self.values.get(key)
        if value is None:
            return usual
        try:
            return SizeBounds.of(str(value))
        except InputError as error:
            self.wrong(key, f"{key} of {self.called}: {error}")
            return usual


def close(value: str, known: Collection[str]) -> str:
    """` (did you mean 'x'?)` when a known name is close, else an empty text."""
    found = get_close_matches(value, known, n=1, cutoff=0.7)
    return f" (did you mean {found[0]!r}?)" if found else ""
