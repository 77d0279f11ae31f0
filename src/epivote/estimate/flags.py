"""Reasons to look closer at a voter."""

from __future__ import annotations

from enum import Enum
from typing import Any, Self


class FlagKind(Enum):
    """What a flag is about; the value is its sentence, with fields for what the flag carries."""

    TICKS_EVERYTHING = "ticks everything"
    TICKS_NOTHING = "ticks nothing"
    TOO_FEW_BALLOTS = "too few ballots to say ({right_seen:.0f} right answers seen)"
    WORSE_THAN_CHANCE = "worse than chance: a tick speaks against the answer"
    GUESSING = "cannot be told from guessing"
    NEAR_COPY = "near-copy of {other} ({identical} of {common} common ballots are identical)"


class Flag(str):
    """One reason to look closer at a voter: a sentence that also carries its `kind` and the numbers it mentions.

    A flag is a string, so it can be joined, printed and written as JSON. Ask for its `kind` instead of searching the
    sentence. Attributes that do not belong to the kind are None.

    Parameters
    ----------
    kind
        What the flag is about.
    right_seen
        `TOO_FEW_BALLOTS`: expected number of true alternatives that the voter has seen.
    other, identical, common
        `NEAR_COPY`: the other voter, on how many instances both ballots are identical, and on how many both voted.

    Examples
    --------
    >>> flag = Flag(FlagKind.NEAR_COPY, other="bo", identical=19, common=20)
    >>> print(flag)
    near-copy of bo (19 of 20 common ballots are identical)
    >>> flag.kind.name, flag.other
    ('NEAR_COPY', 'bo')
    """

    kind: FlagKind
    right_seen: float | None
    other: str | None
    identical: int | None
    common: int | None

    def __new__(
        cls,
        kind: FlagKind,
        *,
        right_seen: float | None = None,
        other: str | None = None,
        identical: int | None = None,
        common: int | None = None,
    ) -> Self:
        carried = {"right_seen": right_seen, "other": other, "identical": identical, "common": common}
        flag = super().__new__(cls, kind.value.format(**carried))
        flag.__dict__.update(kind=kind, **carried)
        return flag

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a flag cannot be changed; {name} stays {getattr(self, name, None)!r}")

    def __getnewargs_ex__(self) -> tuple[tuple[FlagKind], dict[str, Any]]:
        """What copies and pickles are built from."""
        return (self.kind,), {name: value for name, value in vars(self).items() if name != "kind"}
