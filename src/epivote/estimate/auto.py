"""Which method for these ballots; the evidence is in docs/methods.md."""

from __future__ import annotations

from typing import Literal

from epivote.data.any_ballots import AnyBallots

FEW_INSTANCES = 50  # a round number between the cases that docs/methods.md compares
NEARLY_ALL = 0.8  # share of instances a voter answers on average; likewise


def suggest_method(ballots: AnyBallots) -> tuple[Literal["amle", "em"], str]:
    """`amle` or `em`, and why."""
    if 1 < ballots.n_instances < FEW_INSTANCES and ballots.coverage >= NEARLY_ALL:
        return "amle", "few instances, and nearly every voter answered nearly all of them; its confidence runs high"
    if ballots.n_instances == 1:
        return "em", "one instance only, where hard choices make everybody look surer than they are"
    if ballots.coverage < NEARLY_ALL:
        return "em", f"voters answered {ballots.coverage:.0%} of the instances on average, which leaves sets unsure"
    return "em", f"{ballots.n_instances:,} instances are enough to weigh sets instead of choosing them"
