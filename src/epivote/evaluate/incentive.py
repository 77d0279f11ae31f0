"""The quiz's ranking of participants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from epivote.data.any_ballots import AnyBallots


@dataclass(frozen=True)
class Standing:
    """One participant's place: points for ballots that contain every right alternative, and ticks in all."""

    rank: int
    voter: str
    points: int
    ticks: int


def rank_participants(ballots: AnyBallots, gold: Mapping[str, Iterable[str]]) -> list[Standing]:
    """Participants by the paper's incentive: most points first, fewer ticks break ties; equals share a rank.

    A ballot earns a point if it contains all right alternatives; only instances with gold count, for ticks as well.
    """
    right = {instance: frozenset(names) for instance, names in gold.items()}
    points = dict.fromkeys(ballots.voters, 0)
    ticks = dict.fromkeys(ballots.voters, 0)
    for (voter, instance), ticked in ballots.items():
        if instance in right:
            points[voter] += ticked >= right[instance]
            ticks[voter] += len(ticked)
    order = sorted(ballots.voters, key=lambda voter: (-points[voter], ticks[voter]))
    places: list[Standing] = []
    for position, voter in enumerate(order, start=1):
        last = places[-1] if places else None
        equal = last is not None and (last.points, last.ticks) == (points[voter], ticks[voter])
        places.append(Standing(last.rank if last and equal else position, voter, points[voter], ticks[voter]))
    return places
