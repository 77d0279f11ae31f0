"""The paper's incentive: a point for every answer that holds all right alternatives; fewer ticks break ties.

Before the task is over, right is what the crowd's ballots say, also on gold questions: else points would give their
answers away to whoever joins twice and compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

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
    own = ballots.select(voters=ranked)
    answered = dict.fromkeys(ranked, 0)
    agreed = dict.fromkeys(ranked, 0)
    for (voter, instance), ticks in own.items():
        answered[voter] += 1
        agreed[voter] += ticks == crowd[instance]
    return {
        each.voter: LiveStanding(
            each.rank, each.points, each.ticks, len(ranked), answered[each.voter], agreed[each.voter]
        )
        for each in rank_participants(own, right)
    }
