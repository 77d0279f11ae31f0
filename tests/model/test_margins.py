import math

import numpy as np
import pytest
from hypothesis import given

from epivote import Ballots, Parameters, SizeBounds
from epivote.estimate.workload import InMemoryWorkload
from strategies import elections


def margins_by_name(ballots, parameters):
    task = InMemoryWorkload(ballots, SizeBounds(0, None))
    found = {}
    for shard, rows in zip(task.shards, task.margins(parameters), strict=True):
        for z, row in zip(shard.instances, rows, strict=True):
            for name, margin in zip(ballots.offered(ballots.instances[z]), row, strict=True):
                found[ballots.instances[z], name] = float(margin)
    return found


@given(elections(per_instance=False))
def test_margins_are_prior_log_odds_plus_every_answer_of_those_who_answered(election):
    ballots = election.as_ballots()
    found = margins_by_name(ballots, election.parameters(ballots))
    assert found.keys() == {(z, a) for z in election.instances for a in election.menus[z]}
    for (z, a), margin in found.items():
        expected = math.log(election.t[a] / (1 - election.t[a]))
        for (voter, where), ballot in election.ballots.items():
            p, q = election.p[voter], election.q[voter]
            if where == z:
                expected += math.log(p / q) if a in ballot else math.log((1 - p) / (1 - q))
        assert margin == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(elections(max_voters=3, menus=False, per_instance=False))
def test_a_voter_with_equal_rates_changes_nothing(election):
    election.q[election.voters[0]] = election.p[election.voters[0]]
    others = {key: ballot for key, ballot in election.ballots.items() if key[0] != election.voters[0]}
    if {z for _, z in others} != set(election.instances):
        return
    with_her = election.as_ballots()
    election.ballots = others
    without_her = election.as_ballots()
    one = margins_by_name(with_her, election.parameters(with_her))
    other = margins_by_name(without_her, election.parameters(without_her))
    assert one == pytest.approx(other, abs=1e-9)


def test_an_empty_ballot_speaks_against_all_and_a_missing_one_does_not():
    ticks = {("ann", "q"): {"a"}, ("ann", "r"): {"a"}}
    empty = Ballots.from_mapping({**ticks, ("bo", "q"): set(), ("bo", "r"): {"b"}}, alternatives=["a", "b"])
    missing = Ballots.from_mapping({**ticks, ("bo", "r"): {"b"}}, alternatives=["a", "b"])
    parameters = Parameters(np.array([0.8, 0.7]), np.array([0.2, 0.1]), np.array([0.5, 0.5]))
    against, silent = margins_by_name(empty, parameters), margins_by_name(missing, parameters)
    assert against["q", "a"] == pytest.approx(silent["q", "a"] + math.log(0.3 / 0.9))
    assert against["r", "a"] == silent["r", "a"]
