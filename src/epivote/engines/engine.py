"""What every engine does: sums over all shards, wherever they are."""

from __future__ import annotations

from typing import Protocol

from epivote.data.parameters import Parameters
from epivote.model.groups import GroupCounts
from epivote.model.statistics import FixedCounts, PassCounts


class Engine(Protocol):
    """Works through all shards; only small parameters go in, only small sums come out."""

    def fixed_counts(self, *, by_menu: bool) -> FixedCounts:
        """What is known before any sets."""

    def hard_sums(self, parameters: Parameters) -> PassCounts:
        """What the most likely sets say about voters and alternatives."""

    def soft_sums(self, parameters: Parameters) -> tuple[PassCounts, float]:
        """What the probabilities of all sets say, and the sum of all log-partitions."""

    def group_sums(self, parameters: Parameters) -> GroupCounts:
        """What the probabilities of all sets and groups say."""
