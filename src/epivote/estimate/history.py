"""What is known of voters from before, as counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.errors import InputError
from epivote.model.pseudo import PseudoCounts


class Record(NamedTuple):
    """One voter's earlier work: right alternatives ticked and seen, wrong ones ticked and seen."""

    hits: float
    winners_seen: float
    false_alarms: float
    losers_seen: float


History = Mapping[str, Record | tuple[float, float, float, float]]


def believed(history: History | None, ballots: AnyBallots) -> PseudoCounts:
    """The history of the voters in `ballots` as believed counts; others have none."""
    counts = np.zeros((4, ballots.n_voters))
    for voter, record in (history or {}).items():
        if len(record) != 4 or not all(isinstance(count, (int, float)) for count in record):
            raise InputError(f"the history of voter {voter!r} is {record!r}; give four numbers, as in Record")
        hits, winners, alarms, losers = record
        slack = 1 + 1e-9  # fractional counts of an earlier fit carry rounding
        if not (0 <= hits <= winners * slack and 0 <= alarms <= losers * slack and np.isfinite(winners + losers)):
            raise InputError(
                f"the history of voter {voter!r}, {tuple(record)}, is impossible; give hits, right alternatives seen, "
                "false alarms, wrong alternatives seen, with no more approvals than were seen"
            )
        if voter in ballots.voter_index:
            counts[:, ballots.voter_index[voter]] = hits, max(winners - hits, 0), alarms, max(losers - alarms, 0)
    return PseudoCounts(*counts)


def refuse_history(rule: object, history: History | None) -> None:
    """Say so where a rule that learns no rates is given some to learn from."""
    if history:
        raise InputError(f"{type(rule).__name__} learns no rates, so a history of voters does not apply; leave it out")
