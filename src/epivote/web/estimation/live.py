"""What is known so far, as one value that pages read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from epivote import VoterReport
from epivote.web.store.counters import Stamp

MANY = 65  # further ballots: one more than `review` looks ahead


@dataclass(frozen=True)
class SetFound:
    """The set of one instance: `more` ballots are expected to settle it, `MANY` if more than can be foreseen, `None` if
    that was not worked out.

    `crowd` is what the ballots alone say, which differs from `answer` only where that is a gold set.
    """

    answer: tuple[str, ...]
    confidence: float
    ballots: int
    more: int | None
    crowd: tuple[str, ...]


@dataclass(frozen=True)
class LiveStanding:
    """One participant's place by the paper's incentive, out of so many, and agreement with the crowd."""

    rank: int
    points: int
    ticks: int
    of: int
    counted: int
    agreed: int


@dataclass(frozen=True)
class Live:
    """Sets, voters and places as of one stamp of the store; `problem` says why there is nothing newer.

    `is_warm` if it was found quickly from the rates before: the last digits may differ from those of a fit anew.
    """

    stamp: Stamp = (0, 0)
    moment: int = 0
    seconds: float = 0.0
    method: str = ""
    sets: Mapping[str, SetFound] = field(default_factory=dict)
    voters: tuple[VoterReport, ...] = ()
    places: Mapping[str, LiveStanding] = field(default_factory=dict)
    leaders: tuple[tuple[str, LiveStanding], ...] = ()
    counts_gold: bool = False
    times: tuple[tuple[int, int], ...] = ()
    left_out: int = 0
    warnings: tuple[str, ...] = ()
    problem: str = ""
    is_warm: bool = False
