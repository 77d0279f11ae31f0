"""The quiz's ranking of participants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.names import IntArray


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
    counts = sum((_counted(part, right) for part in ballots.parts()), np.zeros((2, ballots.n_voters), np.int64))
    points, ticks = (dict(zip(ballots.voters, each, strict=True)) for each in counts.tolist())
    order = sorted(ballots.voters, key=lambda voter: (-points[voter], ticks[voter]))
    places: list[Standing] = []
    for position, voter in enumerate(order, start=1):
        last = places[-1] if places else None
        equal = last is not None and (last.points, last.ticks) == (points[voter], ticks[voter])
        places.append(Standing(last.rank if last and equal else position, voter, points[voter], ticks[voter]))
    return places


def _counted(ballots: Ballots, right: Mapping[str, frozenset[str]]) -> IntArray:
    """Points and ticks of every voter on instances with gold."""
    numbers = {name: j for j, name in enumerate(ballots.alternatives)}
    member = np.zeros((ballots.n_instances, ballots.n_alternatives), bool)
    wanted = np.full(ballots.n_instances, -1)
    for z, instance in enumerate(ballots.instances):
        if instance in right:
            member[z, [numbers[name] for name in right[instance] if name in numbers]] = True
            wanted[z] = len(right[instance])
    sizes, instance_of = np.diff(ballots.approval_start), ballots.ballot_instance
    ballot = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    hits = np.bincount(ballot[member[instance_of[ballot], ballots.approved]], minlength=len(sizes))
    counts = wanted[instance_of] >= 0
    voter, n_voters = ballots.ballot_voter, ballots.n_voters
    points = np.bincount(voter[counts & (hits == wanted[instance_of])], minlength=n_voters)
    ticks = np.bincount(voter[counts], weights=sizes[counts], minlength=n_voters).astype(int)
    return np.stack([points, ticks])
