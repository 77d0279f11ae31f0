"""What the store hands out, and why it may refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from epivote import EpivoteError


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
