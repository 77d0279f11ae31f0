"""What the cards of the page's first screen hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MEMBERS_SHOWN = 4  # alternatives of a set in the sample; more would take a second line


class Bar(NamedTuple):
    """A labelled bar; `percent` is its length, `low` and `high` the ends of an interval on it if there is one."""

    label: str
    text: str
    percent: str
    low: str = ""
    length: str = ""


class ShortSet(NamedTuple):
    """The first members of a set, and `+2` if there are two more."""

    members: tuple[str, ...]
    more: str

    @classmethod
    def of(cls, members: Sequence[str]) -> ShortSet:
        """As many members as have room."""
        left = len(members) - MEMBERS_SHOWN
        return cls(tuple(members[:MEMBERS_SHOWN]), f"+{left}" if left > 0 else "")


class SampleRow(NamedTuple):
    """One set of the sample; `gold` is None where it is not known, `narrow` says whether a phone shows the row."""

    instance: str
    link: str
    found: ShortSet
    confidence: str
    percent: str
    gold: ShortSet | None
    mark: str
    narrow: bool


class SetsCard(NamedTuple):
    """What the sets are: a number with its label, a sentence, and a sample."""

    value: str
    label: str
    sentence: str
    caption: str
    rows: list[SampleRow]
    has_gold: bool


class TrustCard(NamedTuple):
    """How sure, and whether that can be trusted."""

    verdict: str
    tone: str
    sentence: str
    bars: list[Bar]


class VoterRow(NamedTuple):
    """One flagged voter."""

    name: str
    reasons: str
    ballots: str


class VotersCard(NamedTuple):
    """Whom not to trust."""

    headline: str
    rows: list[VoterRow]
    rest: str


class NextStep(NamedTuple):
    """Something to do, and the section of the page to look at first."""

    text: str
    section: str
    link: str
