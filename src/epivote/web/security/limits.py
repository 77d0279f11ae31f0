"""How often somebody may do something."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

MOST_REMEMBERED = 20_000  # addresses; about 10 MB, then those seen longest ago are forgotten


@dataclass(frozen=True)
class Rate:
    """So many at once, and then so many a second."""

    at_once: float
    per_second: float


@dataclass(frozen=True)
class Limits:
    """What one address or one participant may do.

    A class behind one address joins within seconds; a person never answers ten questions a second for long; a
    secret is not found by trying.
    """

    requests: Rate = Rate(3_000, 600)
    """Requests of any kind from one address."""
    joining: Rate = Rate(400, 2)
    """New participants from one address."""
    answering: Rate = Rate(120, 10)
    """Answers of one participant."""
    interface: Rate = Rate(2_000, 400)
    """Requests to the JSON interface from one address."""
    wrong_secrets: Rate = Rate(20, 0.2)
    """Wrong secrets, keys or invitations from one address, each kind for itself; right ones always pass."""


@dataclass
class Limiter:
    """A bucket of tokens per key; it fills with time, and every act takes one."""

    clock: Callable[[], float] = time.monotonic
    _buckets: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, kind: str, who: str, rate: Rate) -> float:
        """Take a token: 0 if there was one, else the seconds until there is."""
        with self._lock:
            left = self._left(kind, who, rate)
            if left < 1:
                return (1 - left) / rate.per_second
            self._buckets[kind, who] = (left - 1, self.clock())
            if len(self._buckets) > MOST_REMEMBERED:
                self._tidy()
            return 0.0

    def _left(self, kind: str, who: str, rate: Rate) -> float:
        left, since = self._buckets.get((kind, who), (rate.at_once, self.clock()))
        return min(rate.at_once, left + (self.clock() - since) * rate.per_second)

    def _tidy(self) -> None:
        """Forget the half that was quiet for longest."""
        by_age = sorted(self._buckets.items(), key=lambda item: item[1][1])
        self._buckets = dict(by_age[len(by_age) // 2 :])
