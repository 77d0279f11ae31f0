"""What readers hand over, whatever the tool."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.build import check_known
from epivote.data.truths import Truths
from epivote.errors import BallotError, FileError
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile, lines_of

TicksOfRow = Callable[[int], tuple[str, ...]]
"""The alternatives that a row of a table approves."""


@dataclass(frozen=True)
class Export:
    """Ballots from a file, gold sets if it holds any, and how doubtful things in it were read.

    `inferred` says that the alternatives are those that appear, because neither file nor user named them all.
    `encode_seconds` is the part of the reading time in which names became numbers.
    """

    ballots: AnyBallots
    gold: Truths | None = None
    notes: tuple[str, ...] = ()
    format: str = "ballots"
    inferred: bool = False
    encode_seconds: float = 0.0


@dataclass
class Collector:
    """Ballots, gold sets, menus and remarks, gathered record by record.

    `multiplicities` says how many voters with the same ballots a voter stands for, if more than one.
    """

    source: SourceFile
    reading: Reading
    ballots: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    places: dict[tuple[str, str], str] = field(default_factory=dict)
    stamps: dict[tuple[str, str], str] = field(default_factory=dict)
    gold: dict[str, tuple[str, ...]] = field(default_factory=dict)
    menu: dict[str, tuple[str, ...]] = field(default_factory=dict)
    alternatives: dict[str, None] = field(default_factory=dict)
    remarks: dict[str, int] = field(default_factory=dict)
    multiplicities: dict[str, int] = field(default_factory=dict)

    def add(self, voter: object, instance: object, ticks: object, place: str, stamp: object = None) -> None:
        """One ballot.

        Of two by one voter on one instance the one the user asked for counts, else the later stamp; without stamps two
        are an error.
        """
        key = (self.name(voter, "voter", place), self.name(instance, "instance", place))
        cast = self.names(ticks, place)
        if key in self.ballots:
            if self.reading.duplicates == "first":
                return
            if self.reading.duplicates == "error":
                if stamp is None or not self.stamps[key]:
                    raise BallotError(
                        f"{self.source}, {place}: voter {key[0]!r} already has a ballot on instance {key[1]!r} "
                        f"({self.places[key]}); remove one, or keep one with --duplicates first or last"
                    )
                self.remark("earlier ballots of a voter on the same instance were replaced by later ones")
                if str(stamp) < self.stamps[key]:
                    return
        self.ballots[key] = cast
        self.places[key] = place
        self.stamps[key] = "" if stamp is None else str(stamp)

    def submit(self, voter: object, instance: object, ticks: tuple[object, ...], place: str) -> None:
        """A ballot that was handed in; one without ticks is empty, unless the user says it is missing."""
        if len(ticks) == 1 and isinstance(ticks[0], str) and self.reading.is_missing(ticks[0]):
            self.remark(f"an answer {ticks[0]!r} counts as a missing ballot")
        elif ticks:
            self.add(voter, instance, ticks, place)
        elif self.reading.blank == "missing":
            self.remark("a submitted answer without ticks counts as a missing ballot")
        else:
            self.remark("a submitted answer without ticks counts as an empty ballot; --blank missing leaves it out")
            self.add(voter, instance, ticks, place)

    def add_gold(self, instance: object, right: object, place: str) -> None:
        """The right set of an instance."""
        self.gold[self.name(instance, "instance", place)] = self.names(right, place)

    def remark(self, what: str) -> None:
        """Count something that the user should know."""
        self.remarks[what] = self.remarks.get(what, 0) + 1

    def name(self, value: object, what: str, place: str) -> str:
        """A name as text; whole numbers are names, nothing and lists are not."""
        if value is None or value == "":
            raise BallotError(f"{self.source}, {place}: the {what} is blank; give every ballot {_a(what)}")
        found = as_name(value)
        if found is None:
            raise BallotError(f"{self.source}, {place}: {value!r} is not a name of {_a(what)}; write it as text")
        return found

    def names(self, ticks: object, place: str) -> tuple[str, ...]:
        """Ticks as names; a bare text is one name."""
        if isinstance(ticks, (str, int)) and not isinstance(ticks, bool):
            ticks = [ticks]
        if not isinstance(ticks, (list, tuple)):
            raise BallotError(f"{self.source}, {place}: {ticks!r} is not a list of alternatives; export it again")
        return tuple(self.name(tick, "alternative", place) for tick in ticks)

    def export(self) -> Export:
        """All of it as ballots; menus and alternatives found in the file are kept if none are given."""
        if not self.ballots:
            raise BallotError(f"{self.source} holds no ballots; check that it is the file you meant")
        begin = time.perf_counter()
        given = self.reading
        menu = given.menus if given.menus is not None else self.menu or None
        alternatives, inferred = given.alternatives, False
        if alternatives is None and given.menu is None:
            offered = [*self.alternatives, *(name for names in self.menu.values() for name in names)]
            named = {name for sets in (*self.ballots.values(), *self.gold.values()) for name in sets} - set(offered)
            alternatives, inferred = tuple(dict.fromkeys([*offered, *sorted(named)])) or None, not offered
        self._check_known(alternatives)
        times = self.multiplicities or None
        ballots = Ballots.from_mapping(self.ballots, alternatives=alternatives, menu=menu, multiplicities=times)
        gold = Truths.from_mapping(self.gold, alternatives=ballots.alternatives) if self.gold else None
        notes = tuple(what if count == 1 else f"{what} ({count:,} times)" for what, count in self.remarks.items())
        return Export(ballots, gold, notes, inferred=inferred, encode_seconds=time.perf_counter() - begin)

    def _check_known(self, alternatives: Iterable[str] | None) -> None:
        everywhere = set(alternatives or ())
        menus = {} if self.reading.menu is not None else {name: set(names) for name, names in self.menu.items()}
        for key, ticks in self.ballots.items():
            known = menus.get(key[1], everywhere)
            if known and not known.issuperset(ticks):
                check_known(ticks, sorted(known), f"{self.source}, {self.places[key]}")


def as_name(value: object) -> str | None:
    """Text, or a whole number as text; None for what cannot be a name."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value)
    return None if any("\ud800" <= letter <= "\udfff" for letter in text) else text


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def read_json(source: SourceFile) -> Any:
    """A whole JSON file, parsed once."""
    return source.once(_parsed_json)


def _parsed_json(source: SourceFile) -> Any:
    text = source.text()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(f"{source}, line {error.lineno}: not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise FileError(f"{source} cannot be read: its lists are nested too deeply") from None


def read_json_lines(source: SourceFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of every line of a JSONL file."""
    for number, line in lines_of(source):
        if line.strip():
            try:
                found = json.loads(line)
            except json.JSONDecodeError as error:
                raise FileError(f"{source}, line {number}: not JSON ({error.msg} at column {error.colno})") from None
            except RecursionError:
                raise FileError(f"{source}, line {number}: its lists are nested too deeply") from None
            if not isinstance(found, dict):
                raise FileError(
                    f"{source}, line {number}: {line.strip()[:40]!r} is not an object; each line must be one record"
                )
            yield number, found


def records(content: Any, source: SourceFile) -> list[dict[str, Any]]:
    """A JSON list of objects, checked."""
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        raise FileError(f"{source} is not a list of records; export it again as JSON")
    return content
