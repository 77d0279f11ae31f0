"""What ballots look like before anything is estimated, and what looks odd about them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.names import IntArray, counts_of, listing
from epivote.evaluate.agreement import Agreement, agreement
from epivote.evaluate.sizes import SizeSuggestion, suggest_size

SHOWN = 3  # names listed in a sentence; a round number
NO_ANSWER = frozenset({"na", "n/a", "nan", "null", "nil", "#n/a"})
RARE = 2  # ticks from which an alternative is no longer taken for a misspelling


@dataclass(frozen=True)
class Spread:
    """Smallest, middle and largest of some counts."""

    least: int
    median: float
    most: int


@dataclass(frozen=True)
class Inspection:
    """Counts of ballots by size, by instance and by voter, suggested size bounds, the share of ballots with each tick,
    agreement among voters, and oddities.
    """

    sizes: dict[int, int]
    suggested_size: SizeSuggestion
    per_instance: Spread
    per_voter: Spread
    ticked: dict[str, float]
    agreement: Agreement
    odd: tuple[str, ...]


def inspect_ballots(ballots: AnyBallots) -> Inspection:
    """A look at ballots; `odd` says in words what may be a mistake of the file or of how it was read."""
    counts = _Counts.of(ballots)
    shares = np.divide(counts.ticks, counts.seen, out=np.zeros(len(counts.ticks)), where=counts.seen > 0)
    return Inspection(
        sizes={size: int(count) for size, count in enumerate(counts.sizes) if count},
        suggested_size=suggest_size(ballots),
        per_instance=_spread(ballots.cast_per_instance),
        per_voter=_spread(ballots.ballots_per_voter, ballots.multiplicities),
        ticked=dict(zip(ballots.alternatives, shares.tolist(), strict=True)),
        agreement=agreement(ballots),
        odd=tuple(_oddities(ballots, counts)),
    )


def oddities(ballots: AnyBallots) -> tuple[str, ...]:
    """What may be a mistake of the file or of how it was read, a sentence each."""
    return tuple(_oddities(ballots, _Counts.of(ballots)))


class _Counts(NamedTuple):
    """Ballots by their number of ticks; ballots that offered and that ticked each alternative; for every voter how many
    alternatives she saw and ticked, as one of those she stands for.
    """

    sizes: IntArray
    seen: IntArray
    ticks: IntArray
    voter_seen: IntArray
    voter_ticks: IntArray

    @classmethod
    def of(cls, ballots: AnyBallots) -> _Counts:
        """Added up over all parts."""
        return cls(*(reduce(add, counts) for counts in zip(*map(cls._of, ballots.parts()), strict=True)))

    @classmethod
    def _of(cls, ballots: Ballots) -> _Counts:
        width, n_voters = ballots.n_alternatives, ballots.n_voters
        seen = np.full(width, ballots.total_ballots)
        if ballots.menu is not None:
            seen = counts_of(ballots.menu.offered, np.repeat(ballots.cast_per_instance, ballots.menu_sizes), width)
        voter_seen = width * ballots.ballots_per_voter
        if ballots.menu is not None:
            voter_seen = counts_of(ballots.ballot_voter, ballots.menu_sizes[ballots.ballot_instance], n_voters)
        return cls(
            ballots.size_counts,
            seen,
            counts_of(ballots.approved, ballots.tick_multiplicities, width),
            voter_seen,
            counts_of(ballots.ballot_voter, ballots.ballot_sizes, n_voters),
        )


def _spread(counts: IntArray, times: IntArray | None = None) -> Spread:
    if times is None:
        return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))
    order = np.argsort(counts)
    up_to, total = np.cumsum(times[order]), int(times.sum())
    middle = np.searchsorted(up_to, [(total - 1) // 2, total // 2], side="right")
    return Spread(int(counts.min()), float(counts[order][middle].mean()), int(counts.max()))


def _oddities(ballots: AnyBallots, counts: _Counts) -> Iterable[str]:
    names, ticks = ballots.alternatives, counts.ticks
    for kind, known in (("alternative", names), ("voter", ballots.voters)):
        for alike in _alike(known):
            yield f"{kind}s {listing(alike, SHOWN)} differ only in blanks, accents or capitals; are they the same?"
    known_names = set(names)
    joined = [name for name in names if _looks_joined(name, known_names)]
    if joined:
        yield f"alternative {joined[0]!r} looks like several in one; name what separates them with --separator"
    lists = [name for name in names if name.startswith(("[", "{", "("))]
    if lists:
        yield f"alternative {lists[0]!r} looks like a list; try --format crowd-kit"
    missing = [name for name in names if name.strip().casefold() in NO_ANSWER]
    if missing:
        yield f"alternative {missing[0]!r} looks like a missing ballot; if so, add --missing {missing[0].strip()!r}"
    rare = [name for name, count in zip(names, ticks, strict=True) if 0 < count < RARE]
    if rare and ballots.total_ballots > 20 * RARE:
        yield f"ticked only once: {listing(rare, SHOWN)}; check the spelling"
    never = [name for name, count in zip(names, ticks, strict=True) if count == 0]
    if never:
        yield f"never ticked: {listing(never, SHOWN)}"
    yield from _odd_voters(ballots, counts)
    single = int(np.sum(ballots.cast_per_instance == 1))
    if single:
        yield f"{single:,} of {ballots.n_instances:,} instances have a single ballot: there one voter decides"
    unanswered = int(np.sum(ballots.ballots_per_instance == 0))
    if unanswered:
        yield f"{unanswered:,} instances have no ballot at all"


def _odd_voters(ballots: AnyBallots, counts: _Counts) -> Iterable[str]:
    cast, offered, ticked = ballots.ballots_per_voter, counts.voter_seen, counts.voter_ticks
    times = np.ones(ballots.n_voters, np.int64) if ballots.multiplicities is None else ballots.multiplicities
    for what, who in (
        ("tick everything, always", (ticked == offered) & (cast > 1)),
        ("never tick anything", (ticked == 0) & (cast > 1)),
        ("cast one ballot only, too little to learn from", (cast == 1) & (ballots.n_instances > 1)),
    ):
        found = [ballots.voters[i] for i in np.flatnonzero(who)]
        if found:
            yield f"{times[who].sum():,} of {ballots.total_voters:,} voters {what}: {listing(found, SHOWN)}"


def _alike(names: Iterable[str]) -> list[list[str]]:
    """Groups of names that are the same but for blanks, accents and capitals."""
    groups: dict[str, list[str]] = {}
    for name in names:
        plain = unicodedata.normalize("NFKD", name)
        key = "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold()
        groups.setdefault(" ".join(key.split()), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _looks_joined(name: str, names: set[str]) -> bool:
    """Whether a name consists of several others, with a mark or blanks in between."""
    pieces = ([part.strip() for part in re.split(marks, name)] for marks in (r"[;,/\n\t]", r"\s+"))
    return any(len(parts) > 1 and all(part in names for part in parts) for parts in pieces)
