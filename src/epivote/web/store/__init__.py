"""Who answered what, kept for good: every change is one transaction."""

from epivote.web.store.database import open_database
from epivote.web.store.rows import BallotRow, InvitationError, NameTakenError, NotOpenError, Secrets, Voter
from epivote.web.store.store import Store
from epivote.web.store.trouble import TroubleError

__all__ = [
    "BallotRow",
    "InvitationError",
    "NameTakenError",
    "NotOpenError",
    "Secrets",
    "Store",
    "TroubleError",
    "Voter",
    "open_database",
]
