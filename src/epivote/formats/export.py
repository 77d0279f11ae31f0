"""What a reader of some tool's export hands over, whatever the tool."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epivote.data.ballots import Ballots
from epivote.data.truths import Truths
from epivote.errors import BallotError, FileError


@dataclass(frozen=True)
class Export:
    """Ballots from a file, gold sets if it holds any, and how doubtful things in it were read."""

    ballots: Ballots
    gold: Truths | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Collector:
    """Ballots, gold sets, menus and remarks, gathered record by record."""

    source: Path
    ballots: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    stamps: dict[tuple[str, str], str] = field(default_factory=dict)
    gold: dict[str, tuple[str, ...]] = field(default_factory=dict)
    menu: dict[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: dict[str, int] = field(default_factory=dict)

    def add(self, voter: object, instance: object, ticks: Iterable[object], place: str, stamp: object = None) -> None:
        """One ballot; of two by one voter on one instance the later stamp counts, and without stamps it is an error."""
        key = (str(voter), str(instance))
        if key in self.ballots:
            if stamp is None or not self.stamps[key]:
                raise BallotError(
                    f"{self.source}, {place}: voter {key[0]!r} already has a ballot on instance {key[1]!r}; remove one"
                )
            self.remark("earlier ballots of a voter on the same instance were replaced by later ones")
            if str(stamp) < self.stamps[key]:
                return
        self.ballots[key] = tuple(str(tick) for tick in ticks)
        self.stamps[key] = "" if stamp is None else str(stamp)

    def remark(self, what: str) -> None:
        """Count something that the user should know."""
        self.remarks[what] = self.remarks.get(what, 0) + 1

    def export(self, alternatives: Iterable[str] | None, menu: Mapping[str, Iterable[str]] | None) -> Export:
        """All of it as ballots; menus found in the file are kept if none are given."""
        offered = menu if menu is not None else self.menu or None
        ballots = Ballots.from_mapping(self.ballots, alternatives=alternatives, menu=offered)
        known = {name: names for name, names in self.gold.items() if name in ballots.instance_index}
        gold = Truths.from_mapping(known, alternatives=ballots.alternatives) if known else None
        notes = tuple(what if count == 1 else f"{what} ({count:,} times)" for what, count in self.remarks.items())
        return Export(ballots, gold, notes)


def read_json(path: Path) -> Any:
    """A whole JSON file."""
    try:
        return json.loads(_text(path))
    except ValueError as error:
        raise FileError(f"{path} is not JSON: {error}") from None


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of every line of a JSONL file."""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.strip():
            try:
                found = json.loads(line)
            except ValueError as error:
                raise FileError(f"{path}, line {number}: not JSON ({error})") from None
            if not isinstance(found, dict):
                raise FileError(f"{path}, line {number}: {line[:40]!r} is not an object; each line must be one record")
            yield number, found


def records(content: Any, path: Path) -> list[dict[str, Any]]:
    """A JSON list of objects, checked."""
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        raise FileError(f"{path} is not a list of records; export it again as JSON")
    return content


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileError(f"there is no file {path}") from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text; save it with encoding UTF-8") from None
