"""The paper's incentive: a point for every answer that holds all right alternatives; fewer ticks break ties.

Before the task is over, right is what the crowd's ballots say, also on gold questions: else points would give their
answers away to whoever joins twice and compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np
from numpy.typing import NDArray

from epivote import Ballots, rank_participants
from epivote.web.estimation.live import LiveStanding

Sets = Mapping[str, frozenset[str]]


def reference(crowd: Sets, gold: Sets, *, is_over: bool) -> dict[str, frozenset[str]]:
    """What answers are compared with: once it is over gold sets where there are any, else the crowd's."""
    return {name: gold[name] if is_over and name in gold else answer for name, answer in crowd.items()}


def places(ballots: Ballots, people: Set[str], right: Sets, crowd: Sets) -> dict[str, LiveStanding]:
    """The place of every person who answered something, best first."""
    ranked = [voter for voter in ballots.voters if voter in people]
    if not ranked:
        return {}
    own = ballots if len(ranked) == ballots.n_voters else ballots.select(voters=ranked)
    answered = np.bincount(own.ballot_voter, minlength=own.n_voters).tolist()
    agreed = np.bincount(own.ballot_voter[_equal(own, crowd)], minlength=own.n_voters).tolist()
    number = {voter: i for i, voter in enumerate(own.voters)}
    return {
        each.voter: LiveStanding(
            each.rank, each.points, each.ticks, len(ranked), answered[number[each.voter]], agreed[number[each.voter]]
        )
        for each in rank_participants(own, right)
    }


def _equal(ballots: Ballots, sets: Sets) -> NDArray[np.bool_]:
    """Which ballots tick exactly the set of their instance."""
    numbers = {name: j for j, name in enumerate(ballots.alternatives)}
    member = np.zeros((ballots.n_instances, ballots.n_alternatives), bool)
    for z, name in enumerate(ballots.instances):
        member[z, [numbers[each] for each in sets[name]]] = True
    instance = np.repeat(np.arange(ballots.n_instances, dtype=np.int32), np.diff(ballots.ballot_start))
    sizes = np.diff(ballots.approval_start)
    ballot = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    hits = np.bincount(ballot[member[instance[ballot], ballots.approved]], minlength=len(sizes))
    wanted = member.sum(axis=1)[instance]
    equal: NDArray[np.bool_] = (hits == wanted) & (sizes == wanted)
    return equal
