"""What the store hands out, and why it may refuse."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

from epivote import EpivoteError

LONGEST_NAME = 40  # characters of a participant's name; a round number
FORMULAS = "=+-@＝＋－＠"
JOINERS = re.compile("[\u200c\u200d]")
"""Characters that are not seen, but belong into some scripts and pictures."""


class NotOpenError(EpivoteError):
    """Answers are no longer taken: from this participant (`finished`), from anybody (`closed`), here (`enough`)."""


class NameTakenError(EpivoteError):
    """Somebody else has this name."""


class InvitationError(EpivoteError):
    """An invitation that nobody made, that was used before (`used`) or that is too old (`expired`)."""


class Secrets(NamedTuple):
    """What only the server, the organiser and the programs that vote may know; made once per database."""

    organiser: str
    interface: str
    cookies: str


@dataclass(frozen=True)
class Voter:
    """Somebody who votes: a person with a nickname, or a program through the JSON interface."""

    id: int
    name: str
    is_person: bool
    token: str
    joined_at: int
    finished_at: int | None
    visit: str = ""


class BallotRow(NamedTuple):
    """One ballot as it is kept; no ticks means none of these."""

    voter: str
    is_person: bool
    instance: str
    ticks: tuple[str, ...]
    cast_at: int


def clean_name(text: str) -> str | None:
    """A name as it is kept: white space made single; nothing if it is blank, too long, unprintable, or if spreadsheets
    would take it for a formula.
    """
    name = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
    seen = JOINERS.sub("", name)
    if not seen or len(name) > LONGEST_NAME or not seen.isprintable() or "\ufffd" in seen or seen[0] in FORMULAS:
        return None
    return name


def name_key(name: str) -> str:
    """What two names share that people would take for the same."""
    return unicodedata.normalize("NFKC", JOINERS.sub("", name)).casefold()
