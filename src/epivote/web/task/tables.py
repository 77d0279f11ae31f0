"""Tables of a TOML file taken apart: values of the right kind out, mistakes with line and remedy noted on the way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple, get_args

from epivote import InputError, SizeBounds
from epivote.web.task.lines import TomlKey, line_of

LONGEST_NAME = 200  # characters; a round number
LONGEST_TEXT = 20_000  # characters, some ten pages; a round number


class Mistake(NamedTuple):
    """What is wrong on which line, and what to do about it."""

    line: int
    sentence: str


@dataclass
class Mistakes:
    """All mistakes of a file, in the order of its lines."""

    lines: Mapping[TomlKey, int]
    found: list[Mistake] = field(default_factory=list)

    def note(self, where: TomlKey, sentence: str) -> None:
        """Add one."""
        self.found.append(Mistake(line_of(self.lines, where), sentence))

    def sorted(self) -> list[Mistake]:
        """From the first line to the last, each once."""
        return sorted(dict.fromkeys(self.found), key=lambda mistake: mistake.line)


class Kind(NamedTuple):
    """What a value may be, what to write instead of another one, and how that one is shown."""

    is_right: Callable[[Any], bool]
    to_write: str
    shown: Callable[[Any], str] = repr

    @classmethod
    def one_of(cls, literal: Any) -> Kind:
        """Any of the words of a `Literal`."""
        words = get_args(literal)
        return cls(lambda value: value in words, f"one of {', '.join(map(repr, words))}")


@dataclass(frozen=True)
class TaskTable:
    """One table: its keys are read one by one, each with the kind of value it should have."""

    values: Mapping[str, Any]
    where: TomlKey
    mistakes: Mistakes
    called: str

    def wrong(self, key: str, sentence: str) -> None:
        """Note a mistake at a key."""
        self.mistakes.note((*self.where, key), sentence)

    def check_keys(self, known: Collection[str]) -> None:
        """Refuse keys that mean nothing."""
        for key in self.values:
            if key not in known:
                self.wrong(key, f"unknown key {key!r} in {self.called}{close(key, known)}; remove or correct it")

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
            self.wrong(key, f"{key} of {self.called} contains control characters; remove them")
        return value

    def name(self) -> str:
        """A name that can stand in a file of ballots."""
        value = self.text("name", needed=True, longest=LONGEST_NAME)
        if "\n" in value or "\t" in value:
            self.wrong("name", f"name of {self.called} spans several lines; write it on one")
        return value

    def settings(self, kinds: Mapping[str, Kind]) -> dict[str, Any]:
        """The values of those keys that are there and right; the others are noted."""
        there = {key: self.values[key] for key in kinds if key in self.values}
        for key, value in there.items():
            if not kinds[key].is_right(value):
                self.wrong(key, f"{key} is {kinds[key].shown(value)}; write {kinds[key].to_write}")
        return {key: value for key, value in there.items() if kinds[key].is_right(value)}

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
            self.wrong(key, f"{key} of {self.called} lists a name twice; list every name once")
        return tuple(dict.fromkeys(named))

    def size(self, usual: SizeBounds) -> SizeBounds:
        """How many alternatives are right."""
        try:
            return SizeBounds.of(str(self.values["size"])) if "size" in self.values else usual
        except InputError as error:
            self.wrong("size", f"size of {self.called}: {error}")
            return usual


def close(value: str, known: Collection[str]) -> str:
    """` (did you mean 'x'?)` when a known name is close, else an empty text."""
    found = get_close_matches(value, known, n=1, cutoff=0.7)
    return f" (did you mean {found[0]!r}?)" if found else ""
