"""PrefLib's election files: alternatives in categories (`.cat`) or in orders (`.toc`, `.toi`, `.soc`, `.soi`).

The format is described at https://github.com/PrefLib/PrefLib-Data (FORMAT_SPECIFICATION.md). Files in the wild depart
from it in that they number alternatives or categories from 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from epivote.data.names import counted, listing
from epivote.errors import FileError
from epivote.formats.elections import PREFLIB, checked_count, files_in, place_of
from epivote.formats.export import Collector
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile, lines_of

BALLOT = re.compile(r"([0-9]{1,18})\s*:\s*((?:\{[0-9\s,]*\}|[0-9]+)(?:\s*,\s*(?:\{[0-9\s,]*\}|[0-9]+))*)\s*,?")
GROUP = re.compile(r"\{([0-9\s,]*)\}|([0-9]+)")
APPROVING = {
    *("approved", "approve", "approves", "approval", "approvals", "yes", "y", "for", "in favour", "in favor", "favour"),
    *("favor", "accept", "accepted", "acceptable", "agree", "agreed", "like", "liked", "select", "selected", "chosen"),
    *("vote", "voted", "voted for", "support", "supported", "true", "1", "+1", "oui", "pour", "ja", "si", "sí"),
}
NOT_APPROVING = re.compile(
    r"not\b.*|non\b.*|no\b.*|no\d+|n|nein|against|contre|dis(approv|agree|lik)\w*|un(accept|approv|select|decid|rank|rat|"
    r"seen|sure|known|list)\w*|reject\w*|refuse\w*|neutral|maybe|perhaps|indifferent|abst\w*|skip\w*|pass|blank|none|"
    r"don'?t know|false|0|-1"
)
"""Names of categories that surely hold no approvals."""


@dataclass(frozen=True)
class PrefLibFile:
    """A file taken apart: its header, its kind, and the numbers and texts of its other lines."""

    file: SourceFile
    header: Mapping[str, str]
    lines: Sequence[tuple[int, str]]

    @cached_property
    def is_order(self) -> bool:
        """Whether its lines are orders; else alternatives are in categories."""
        kind = self.header.get("DATA TYPE", "").lower() or self.file.suffix.removeprefix(".")
        if f".{kind}" not in PREFLIB:
            kind = "cat" if self.categories else self.file.suffix.removeprefix(".")
        return kind != "cat"

    @cached_property
    def categories(self) -> dict[int, str]:
        """The names of its categories by number, in that order."""
        return dict(sorted(self._named("CATEGORY NAME").items()))

    def alternatives(self) -> dict[str, str]:
        """Names by number; they begin with 1, or with 0 where alternative 0 has a name."""
        count = self.header.get("NUMBER ALTERNATIVES", "")
        if not re.fullmatch("[0-9]{1,18}", count):  # digits that any integer type holds
            older = self.lines and self.lines[0][1].isdigit()
            raise FileError(
                f"{self.file} is in PrefLib's format of before 2022; download it again from preflib.org"
                if older
                else f"{self.file}: the line '# NUMBER ALTERNATIVES: ...' is missing or not a number; add it"
            )
        named, total = self._named("ALTERNATIVE NAME"), checked_count(self.file, int(count), "alternatives")
        first = 0 if 0 in named else 1
        names = {str(j): named.get(j) or str(j) for j in range(first, first + total)}
        if len(set(names.values())) < len(names):
            raise FileError(f"{self.file}: two alternatives have the same name; rename one")
        return names

    def _named(self, what: str) -> dict[int, str]:
        pattern = re.compile(rf"{what} ([0-9]{{1,9}})")
        found = ((pattern.fullmatch(key), name) for key, name in self.header.items())
        return {int(match[1]): name for match, name in found if match is not None}


def read_preflib(source: SourceFile, reading: Reading) -> Collector:
    """What is in the approving categories of a `.cat` file, or in the first place of an order, was approved.

    The files merge equal ballots and name nobody: every line is one voter who stands for as many as it says, and the
    voters of two files are different.
    """
    found = Collector(source, reading)
    files = list(files_in(source, PREFLIB))
    stems: dict[str, str] = {}
    for file in files:
        if stems.setdefault(file.stem, file.path.name) != file.path.name:
            raise FileError(
                f"{source}: {stems[file.stem]} and {file.path.name} are one election; keep one of them there"
            )
        _read(found, _opened(file), f"{file.stem}/" if len(files) > 1 else "")
    found.remark("PrefLib files do not name voters, so the reliability of each voter rests on one file only")
    return found


def _opened(file: SourceFile) -> PrefLibFile:
    header: dict[str, str] = {}
    lines = []
    for number, text in lines_of(file):
        line = text.strip()
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            header[" ".join(key.upper().split())] = value.strip()
        elif line:
            lines.append((number, line))
    return PrefLibFile(file, header, lines)


def _read(found: Collector, opened: PrefLibFile, prefix: str) -> None:
    file, names = opened.file, opened.alternatives()
    approved = _approved_places(found, opened) if opened.lines else range(0)
    found.menu[file.stem] = tuple(names.values())
    voters = left_out = 0
    for position, (number, line) in enumerate(opened.lines, start=1):
        times, groups = _ballot(file, number, line, names)
        if not opened.is_order and len(groups) > len(opened.categories or groups):
            raise FileError(
                f"{file}, line {number}: {len(groups)} categories, but the header names fewer; name them all"
            )
        voters = checked_count(file, voters + times, "voters")
        ticks = [names[member] for place, group in enumerate(groups) if place in approved for member in group]
        name = f"{prefix}line-{position}"
        found.add(name, file.stem, ticks, place_of(found, file, f"line {number}"))
        found.multiplicities[name] = times
        left_out += times * (sum(map(len, groups)) < len(names))
    if left_out and not opened.is_order and len(opened.categories) > 1:
        ballots = f"{counted(left_out, 'ballot')} on {file.stem!r} {'has' if left_out == 1 else 'have'}"
        found.remark(f"{ballots} alternatives in no category, which count as not approved")
    stated = opened.header.get("NUMBER VOTERS", str(voters))
    if stated != str(voters):
        found.remark(f"the header of {file} states {stated} voters, but its lines add up to {voters}")


def _ballot(file: SourceFile, number: int, line: str, names: dict[str, str]) -> tuple[int, list[list[str]]]:
    """How many cast this ballot, and the alternatives in each of its categories or places."""
    matched = BALLOT.fullmatch(line)
    if matched is None:
        raise FileError(f"{file}, line {number}: {line[:60]!r} is not of the form 'count: {{1, 2}}, {{3}}'")
    times = int(matched[1])
    if times == 0:
        raise FileError(f"{file}, line {number}: no voter cast this ballot; remove the line, or say how many did")
    groups = [(several or single).replace(",", " ").split() for several, single in GROUP.findall(matched[2])]
    seen: set[str] = set()
    for member in (member for group in groups for member in group):
        if member not in names:
            known = f"they are {next(iter(names))} to {next(reversed(names))}" if names else "there are none"
            raise FileError(f"{file}, line {number}: {member!r} is not an alternative; {known}")
        if member in seen:
            raise FileError(f"{file}, line {number}: alternative {member} is listed twice; list it once")
        seen.add(member)
    return times, groups


# What counts as approved


def _approved_places(found: Collector, opened: PrefLibFile) -> Collection[int]:
    """Which categories or places of a ballot hold approvals, counted from 0; a remark says so."""
    given = found.reading.approved
    if opened.is_order:
        return _places(found, opened.file, given)
    categories = list(opened.categories.values())
    chosen = _telling(categories) if given is None else _named_places(opened, given)
    if not chosen:
        told = f"its categories are {listing(categories)}" if categories else "it does not name its categories"
        example = "NAME" if categories else "1"
        raise FileError(
            f"{opened.file} does not say which categories are approvals ({told}); name them with --approved "
            f"{example!r}, several joined by |"
        )
    others = [name for place, name in enumerate(categories) if place not in chosen]
    names = [categories[place] if categories else str(place + 1) for place in chosen]
    count = f"category {names[0]!r} counts" if len(names) == 1 else f"categories {listing(names)} count"
    rest = f"; {listing(others)} {'does' if len(others) == 1 else 'do'} not" if others else ""
    found.remark(f"{count} as approved{rest} (choose with --approved)")
    return chosen


def _places(found: Collector, file: SourceFile, given: str | None) -> range:
    """The first places of an order: one, or as many as the user says."""
    if given is not None and not re.fullmatch("[1-9][0-9]{0,6}", given.strip()):
        raise FileError(
            f"{file} holds orders: --approved {given!r} must say how many places count as approved, such as 2"
        )
    count = 1 if given is None else int(given)
    places = "the first place counts" if count == 1 else f"the first {count:,} places count"
    found.remark(f"orders state no approvals: {places} as approved (choose with --approved, such as --approved 2)")
    return range(count)


def _telling(categories: Sequence[str]) -> list[int]:
    """The categories whose names say that they hold approvals; none where any name leaves a doubt."""
    kinds = [_kind(name) for name in categories]
    return [] if None in kinds else [place for place, kind in enumerate(kinds) if kind]


def _kind(name: str) -> bool | None:
    """Whether a category holds approvals; None where its name does not tell."""
    parts = [" ".join(part.casefold().split()) for part in name.split("/")]
    if all(part in APPROVING for part in parts):
        return True
    return False if all(NOT_APPROVING.fullmatch(part) for part in parts) else None


def _named_places(opened: PrefLibFile, given: str) -> list[int]:
    """The categories that the user names, by name or by number."""
    by_name = {name.casefold(): place for place, name in enumerate(opened.categories.values())}
    by_number = {str(number): place for place, number in enumerate(opened.categories)}
    if not opened.categories:
        by_number = {str(place + 1): place for place in range(len(opened.alternatives()))}
    chosen = set()
    for name in (part.strip() for part in given.split("|")):
        place = by_name.get(name.casefold(), by_number.get(name))
        if place is None:
            known = listing(list(opened.categories.values())) or "numbered from 1"
            raise FileError(f"{opened.file}: --approved {name!r} is not a category; they are {known}")
        chosen.add(place)
    return sorted(chosen)
