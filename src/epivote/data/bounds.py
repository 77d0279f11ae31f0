"""How many right answers a set may have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from epivote.data.blocks import Block
from epivote.data.names import IntArray
from epivote.errors import BoundsError

BoundsLike: TypeAlias = "SizeBounds | int | str | tuple[int, int | None]"


@dataclass(frozen=True)
class SizeBounds:
    """Every true set has at least `lower` and at most `upper` alternatives (the paper's l and u).

    `upper=None` means no upper bound. `per_instance` overrides both for the instances it names; names that the ballots
    do not have are ignored, so that bounds fit any selection of them.
    An upper bound beyond the number of offered alternatives is harmless; a lower one is an error
    that names the instance, raised when bounds meet ballots.
    """

    lower: int = 0
    upper: int | None = None
    per_instance: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse bounds that no set can satisfy, whatever the ballots."""
        _check_pair(self.lower, self.upper, "size bounds")
        pairs = {str(instance): _pair(value, instance) for instance, value in self.per_instance.items()}
        object.__setattr__(self, "per_instance", pairs)
        for instance, (lower, upper) in pairs.items():
            _check_pair(lower, upper, f"size bounds of instance {instance!r}")

    @classmethod
    def of(cls, value: BoundsLike) -> SizeBounds:
        """Bounds from what people write: `SizeBounds`, `2`, `(1, 2)`, `(1, None)`, `"1..2"` or `"1.."`."""
        if isinstance(value, SizeBounds):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        return cls(*_pair(value))

    @classmethod
    def parse(cls, text: str) -> SizeBounds:
        """Bounds from `2`, `1..2` or `1..`."""
        match = re.fullmatch(r"\s*(\d+)\s*(?:(\.\.)\s*(\d+)?)?\s*", text)
        if match is None:
            raise BoundsError(f"{text!r} is not a size; write 2, 1..2 or 1.. (no upper bound)")
        lower = int(match[1])
        if match[2] is None:
            return cls(lower, lower)
        return cls(lower, int(match[3]) if match[3] else None)

    def shifted(self, by: int) -> SizeBounds:
        """All bounds raised by a number (negative: lowered), none below 0."""

        def pair(lower: int, upper: int | None) -> tuple[int, int | None]:
            return max(lower + by, 0), None if upper is None else max(upper + by, 0)

        own = {instance: pair(*each) for instance, each in self.per_instance.items()}
        return SizeBounds(*pair(self.lower, self.upper), own)

    def resolve(self, ballots: Block) -> tuple[IntArray, IntArray]:
        """Lower and upper bound of every instance, the upper one at most the number offered there."""
        offered = ballots.menu_sizes
        most = ballots.n_alternatives
        lower = np.full(ballots.n_instances, min(self.lower, most + 1))
        upper = np.minimum(most if self.upper is None else min(self.upper, most), offered)
        for instance, (low, high) in self.per_instance.items():
            z = ballots.instance_index.get(instance)
            if z is not None:
                lower[z] = min(low, most + 1)
                upper[z] = offered[z] if high is None else min(high, int(offered[z]))
        impossible = np.flatnonzero(lower > offered)
        if len(impossible):
            z = int(impossible[0])
            asked = self.per_instance.get(ballots.instances[z], (self.lower, None))[0]
            raise BoundsError(
                f"instance {ballots.instances[z]!r} offers {offered[z]} alternatives, so no set of at least {asked} "
                "exists; lower the bound or correct the menu"
            )
        return lower, upper

    def __str__(self) -> str:
        """`1..2`, `2` or `1..`, as the command takes it."""
        if self.upper == self.lower:
            return str(self.lower)
        return f"{self.lower}..{'' if self.upper is None else self.upper}"


def _pair(value: object, instance: object = None) -> tuple[int, int | None]:
    if isinstance(value, tuple) and len(value) == 2:
        return value
    if _is_count(value):
        return value, value  # type: ignore[return-value]
    where = "" if instance is None else f" of instance {instance!r}"
    raise BoundsError(f"{value!r} are not size bounds{where}; give 2, (1, 2), (1, None) or '1..2'")


def _check_pair(lower: int, upper: int | None, what: str) -> None:
    if not _is_count(lower) or not (upper is None or _is_count(upper)):
        raise BoundsError(f"{what} ({lower!r}, {upper!r}) must be whole numbers of at least 0")
    if upper is not None and lower > upper:
        raise BoundsError(f"{what} ({lower}, {upper}) allow no set: the lower bound exceeds the upper one; swap them?")


def _is_count(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= 0)
