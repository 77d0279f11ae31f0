"""What readers are told and what they hand over, whatever the tool."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.frames import Blank
from epivote.data.truths import Truths
from epivote.errors import BallotError, FileError
from epivote.formats.source import Source, lines_of


@dataclass(frozen=True)
class Reading:
    """How a file is to be understood, as far as the user said; see `read_export`."""

    question: str | None = None
    voter: str | None = None
    instances: str | None = None
    ticks: str | None = None
    separator: str | None = None
    gold_row: str | None = None
    blank: Blank | None = None
    alternatives: tuple[str, ...] | None = None
    menu: MenuLike | None = None
    duplicates: Duplicates = "error"


@dataclass(frozen=True)
class Export:
    """Ballots from a file, gold sets if it holds any, and how doubtful things in it were read.

    `encode_seconds` is the part of the reading time in which names became numbers.
    """

    ballots: Ballots
    gold: Truths | None = None
    notes: tuple[str, ...] = ()
    format: str = "ballots"
    encode_seconds: float = 0.0


@dataclass
class Collector:
    """Ballots, gold sets, menus and remarks, gathered record by record."""

    source: Source
    reading: Reading
    ballots: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    stamps: dict[tuple[str, str], str] = field(default_factory=dict)
    gold: dict[str, tuple[str, ...]] = field(default_factory=dict)
    menu: dict[str, tuple[str, ...]] = field(default_factory=dict)
    alternatives: dict[str, None] = field(default_factory=dict)
    remarks: dict[str, int] = field(default_factory=dict)

    def add(self, voter: object, instance: object, ticks: Iterable[object], place: str, stamp: object = None) -> None:
        """One ballot.

        Of two by one voter on one instance the one the user asked for counts, else the later stamp; without stamps two
        are an error.
        """
        key = (str(voter), str(instance))
        if key in self.ballots:
            if self.reading.duplicates == "first":
                return
            if self.reading.duplicates == "error":
                if stamp is None or not self.stamps[key]:
                    raise BallotError(
                        f"{self.source}, {place}: voter {key[0]!r} already has a ballot on instance {key[1]!r}; "
                        "remove one, or say which one counts (duplicates: first or last)"
                    )
                self.remark("earlier ballots of a voter on the same instance were replaced by later ones")
                if str(stamp) < self.stamps[key]:
                    return
        self.ballots[key] = tuple(str(tick) for tick in ticks)
        self.stamps[key] = "" if stamp is None else str(stamp)

    def remark(self, what: str) -> None:
        """Count something that the user should know."""
        self.remarks[what] = self.remarks.get(what, 0) + 1

    def export(self) -> Export:
        """All of it as ballots; menus and alternatives found in the file are kept if none are given."""
        given = self.reading
        menu: MenuLike | None = given.menu
        alternatives = given.alternatives
        if menu is None and self.menu:
            self.alternatives.update(dict.fromkeys(name for offered in self.menu.values() for name in offered))
            menu = self.menu
        if alternatives is None and given.menu is None:
            alternatives = tuple(self.alternatives) or None
        if not self.ballots:
            raise BallotError(f"{self.source} holds no ballots; check that it is the file you meant")
        begin = time.perf_counter()
        ballots = Ballots.from_mapping(self.ballots, alternatives=alternatives, menu=menu)
        known = {name: names for name, names in self.gold.items() if name in ballots.instance_index}
        gold = Truths.from_mapping(known, alternatives=ballots.alternatives) if known else None
        notes = tuple(what if count == 1 else f"{what} ({count:,} times)" for what, count in self.remarks.items())
        return Export(ballots, gold, notes, encode_seconds=time.perf_counter() - begin)


def read_json(source: Source) -> Any:
    """A whole JSON file."""
    try:
        return json.loads(source.text())
    except (ValueError, RecursionError) as error:
        raise FileError(f"{source} is not JSON: {error}") from None


def read_json_lines(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of every line of a JSONL file."""
    for number, line in lines_of(source):
        if line.strip():
            try:
                found = json.loads(line)
            except json.JSONDecodeError as error:
                raise FileError(f"{source}, line {number}: not JSON ({error.msg} at column {error.colno})") from None
            except RecursionError:
                raise FileError(f"{source}, line {number}: lists within lists without end") from None
            if not isinstance(found, dict):
                raise FileError(
                    f"{source}, line {number}: {line.strip()[:40]!r} is not an object; each line must be one record"
                )
            yield number, found


def records(content: Any, source: Source) -> list[dict[str, Any]]:
    """A JSON list of objects, checked."""
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        raise FileError(f"{source} is not a list of records; export it again as JSON")
    return content
