"""What every engine does: sums over all shards, wherever they are."""

from __future__ import annotations

from typing import Protocol

from epivote.data.parameters import Parameters
from epivote.model.statistics import Frame, Sums


class Engine(Protocol):
    """Works through all shards; only small parameters go in, only small sums come out."""

    def frame(self, *, by_menu: bool) -> Frame:
        """What is known before any sets."""

    def hard_sums(self, parameters: Parameters) -> Sums:
        """What the most likely sets say about voters and alternatives."""

    def soft_sums(self, parameters: Parameters) -> tuple[Sums, float]:
        """What the probabilities of all sets say, and the sum of all log-partitions."""
