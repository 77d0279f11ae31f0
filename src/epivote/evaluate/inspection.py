"""What ballots look like before anything is estimated, and what looks odd about them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from epivote.data.any_ballots import AnyBallots
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
    sizes = counts_of(ballots.ballot_sizes, ballots.ballot_multiplicities)
    seen, ticks = _seen(ballots), _ticks(ballots)
    shares = np.divide(ticks, seen, out=np.zeros(len(ticks)), where=seen > 0)
    return Inspection(
        sizes={size: int(count) for size, count in enumerate(sizes) if count},
        suggested_size=suggest_size(ballots),
        per_instance=_spread(ballots.cast_per_instance),
        per_voter=_spread(ballots.ballots_per_voter, ballots.multiplicities),
        ticked=dict(zip(ballots.alternatives, shares.tolist(), strict=True)),
        agreement=agreement(ballots),
        odd=oddities(ballots),
    )


def oddities(ballots: AnyBallots) -> tuple[str, ...]:
    """What may be a mistake of the file or of how it was read, a sentence each."""
    return tuple(_oddities(ballots, _ticks(ballots)))


def _ticks(ballots: AnyBallots) -> IntArray:
    """On how many ballots each alternative was ticked."""
    times = ballots.ballot_multiplicities
    ticked_times = None if times is None else np.repeat(times, ballots.ballot_sizes)
    return counts_of(ballots.approved, ticked_times, ballots.n_alternatives)


def _spread(counts: IntArray, times: IntArray | None = None) -> Spread:
    if times is None:
        return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))
    order = np.argsort(counts)
    up_to, total = np.cumsum(times[order]), int(times.sum())
    middle = np.searchsorted(up_to, [(total - 1) // 2, total // 2], side="right")
    return Spread(int(counts.min()), float(counts[order][middle].mean()), int(counts.max()))


def _seen(ballots: AnyBallots) -> IntArray:
    """On how many ballots each alternative was offered."""
    if ballots.menu is None:
        return np.full(ballots.n_alternatives, ballots.total_ballots)
    return counts_of(
        ballots.menu.offered, np.repeat(ballots.cast_per_instance, ballots.menu_sizes), ballots.n_alternatives
    )


def _oddities(ballots: AnyBallots, ticks: IntArray) -> Iterable[str]:
    names = ballots.alternatives
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
    yield from _odd_voters(ballots)
    single = int(np.sum(ballots.cast_per_instance == 1))
    if single:
        yield f"{single:,} of {ballots.n_instances:,} instances have a single ballot: there one voter decides"
    if len(_unanswered(ballots)):
        yield f"{len(_unanswered(ballots)):,} instances have no ballot at all"


def _odd_voters(ballots: AnyBallots) -> Iterable[str]:
    cast = ballots.ballots_per_voter
    offered = np.bincount(
        ballots.ballot_voter, weights=ballots.menu_sizes[ballots.ballot_instance], minlength=ballots.n_voters
    )
    ticked = np.bincount(ballots.ballot_voter, weights=ballots.ballot_sizes, minlength=ballots.n_voters)
    times = np.ones(ballots.n_voters, np.int64) if ballots.multiplicities is None else ballots.multiplicities
    for what, who in (
        ("tick everything, always", (ticked == offered) & (cast > 1)),
        ("never tick anything", (ticked == 0) & (cast > 1)),
        ("cast one ballot only, too little to learn from", (cast == 1) & (ballots.n_instances > 1)),
    ):
        found = [ballots.voters[i] for i in np.flatnonzero(who)]
        if found:
            yield f"{times[who].sum():,} of {ballots.total_voters:,} voters {what}: {listing(found, SHOWN)}"


def _unanswered(ballots: AnyBallots) -> IntArray:
    return np.flatnonzero(np.diff(ballots.ballot_start) == 0)


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
