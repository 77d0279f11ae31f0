"""Reasons to look closer at a voter."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Self

MOST_NAMED = 3  # other voters named in a sentence; a round number


def some_names(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """`bo, cy and 3 more`."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


class FlagKind(Enum):
    """What a flag is about; the value is its sentence, with fields for what the flag carries."""

    TICKS_EVERYTHING = "ticks everything"
    TICKS_NOTHING = "ticks nothing"
    TOO_FEW_BALLOTS = "too few ballots to say ({right_seen:.0f} right alternatives seen)"
    WORSE_THAN_CHANCE = "worse than chance: an approval counts against the alternative"
    GUESSING = "may be guessing"
    NEAR_COPY = "near-copy of {other} ({identical} of {common} common ballots are identical)"
    SAME_MISTAKES = (
        "makes the same mistakes as {names} ({same:.0f} in common with {other}, {expected:.0f} expected by chance)"
    )


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
    other, others, same, expected
        `SAME_MISTAKES`: the voter with whom most mistakes coincide, all voters of the group, how many mistakes coincide
        with those of `other`, and how many would by chance.

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
    others: tuple[str, ...] | None
    same: float | None
    expected: float | None

    def __new__(
        cls,
        kind: FlagKind,
        *,
        right_seen: float | None = None,
        other: str | None = None,
        identical: int | None = None,
        common: int | None = None,
        others: tuple[str, ...] | None = None,
        same: float | None = None,
        expected: float | None = None,
    ) -> Self:
        carried: dict[str, object] = {
            "right_seen": right_seen,
            "other": other,
            "identical": identical,
            "common": common,
            "others": others,
            "same": same,
            "expected": expected,
        }
        flag = super().__new__(cls, kind.value.format(**carried, names=some_names(others or ())))
        flag.__dict__.update(kind=kind, **carried)
        return flag

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a flag cannot be changed; {name} stays {getattr(self, name, None)!r}")

    def __getnewargs_ex__(self) -> tuple[tuple[FlagKind], dict[str, Any]]:
        """What copies and pickles are built from."""
        return (self.kind,), {name: value for name, value in vars(self).items() if name != "kind"}
