"""What is kept of a run comes back whole; what a stream counted goes when it is given back; blocks are parts."""

import numpy as np
import pytest

from epivote import (
    EM,
    Approval,
    Ballots,
    Calibrated,
    Majority,
    MaximumLikelihood,
    Modal,
    Parameters,
    reference_crowd,
    write_packed,
)
from epivote.data import packing
from epivote.estimate.ahead import look_ahead
from epivote.estimate.checkpoint import Checkpoint
from epivote.estimate.climb import Run, State, climb, top
from epivote.model.pseudo import GroupBelief, PseudoCounts

CROWD = reference_crowd(20, 5, 4, 2, seed=6)


def parameters(seed, groups=0):
    rng = np.random.default_rng(seed)
    hit, alarm, priors = rng.uniform(0.6, 0.9, 3), rng.uniform(0.1, 0.4, 3), rng.uniform(0.2, 0.8, (max(groups, 1), 2))
    if groups:
        return Parameters.in_groups(hit, alarm, priors, np.full(groups, 1 / groups))
    return Parameters(hit, alarm, priors[0])


def same(one, other):
    """Whether two values hold the same numbers, however deep."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("groups", [0, 2])
@pytest.mark.parametrize("with_ahead", [False, True])
@pytest.mark.parametrize("status", ["converged", "iteration limit"])
def test_a_state_comes_back_as_it_was_kept(tmp_path, groups, with_ahead, status):
    first, previous, current = (parameters(seed, groups) for seed in (1, 2, 3))
    counts = np.arange(12.0).reshape(4, 3)
    belief = GroupBelief(np.array([0.25, 0.5]), 1.5) if groups else None
    state = State(
        first=first,
        parameters=current,
        believed=PseudoCounts(*counts, 2.5, 3.5, belief),
        settled=with_ahead,
        previous=previous,
        objectives=(-3.5, -2.25),
        belief=-0.75,
        settling=7,
        ahead=look_ahead(None, parameters(4), parameters(5), 1e-4) if with_ahead else None,
        status=status,
    )
    told, counted = [], []
    path = tmp_path / "kept"
    Run(Checkpoint(path, "made"), "one", lambda *how: told.append(how)).reached(state)
    Run(Checkpoint(path, "made"), "two", lambda *_: None).reached(
        State(first, first, state.believed, previous=first, objectives=(0.0,))
    )
    assert told == [(9, -2.25)]
    run = Run(Checkpoint(path, "made"), "one", lambda *_: None)
    assert run.is_kept
    found = run.resumed(State.at(first, state.believed), lambda at: counted.append(at))
    assert len(counted) == 1
    assert same(counted[0], previous)
    for name in ("first", "parameters", "believed", "settled", "previous", "objectives", "belief", "settling", "ahead"):
        assert same(getattr(found, name), getattr(state, name)), name
    assert (found.status, found.n_iterations, found.log_likelihood) == (status, 9, -1.5)
    nowhere = Run(Checkpoint(path, "made"), "three", lambda *_: None)
    assert not nowhere.is_kept
    start = State.at(first, state.believed)
    assert nowhere.resumed(start, lambda _: None) is start


def test_a_run_ends_where_nothing_changes_or_at_its_limit():
    believed = PseudoCounts.none(3)

    def step(state):
        moved = parameters(1) if len(state.objectives) >= 3 else parameters(10 + len(state.objectives))
        return state.moved(moved, None, -10.0 + len(state.objectives), 0.5, 1e-5)

    start = State.at(parameters(1), believed)
    states = list(climb(start, step, 100))
    assert [each.n_iterations for each in states] == [1, 2, 3, 4, 5]
    assert [each.status for each in states] == ["iteration limit"] * 4 + ["converged"]
    assert states[-1].objectives == (-9.5, -8.5, -7.5, -6.5, -5.5)
    assert states[-1].log_likelihood == -6.0
    assert [each.n_iterations for each in climb(start, step, 3)] == [1, 2, 3]
    assert list(climb(states[-1], step, 100)) == []
    assert top(start, step, 2).n_iterations == 2
    unsettled = [each.status for each in climb(State.at(parameters(1), believed, settled=False), step, 6)]
    assert unsettled == ["iteration limit"] * 6


# Streams


def test_groups_of_an_instance_that_grows_are_given_back():
    stream = EM((1, 2))
    menu = {"q": ["a", "b", "c"], "r": ["a", "b"]}
    votes = {(voter, name): {tick} for voter, tick in (("ann", "a"), ("bo", "b")) for name in menu}
    stream.partial_fit(Ballots.from_mapping(votes, menu=menu))
    assert stream._stream is not None
    assert {group[2]: count for group, count in stream._stream.groups.items()} == {3: 1.0, 2: 1.0}
    menu = {"q": ["a", "b", "c", "d"], "r": ["a", "b"]}
    stream.partial_fit(Ballots.from_mapping({("cy", "q"): {"d"}, ("cy", "r"): {"a"}}, menu=menu))
    assert {group[2]: count for group, count in stream._stream.groups.items()} == {4: 1.0, 2: 1.0}
    assert stream._stream.n_instances == 2
    assert stream._stream.kept["q"].menu == ("a", "b", "c", "d")
    assert set(stream._stream.kept["q"].ballots) == {"ann", "bo", "cy"}


def test_an_instance_that_comes_again_leaves_the_counts_of_all_its_ballots():
    late = CROWD.ballots.instances[3:6]
    stream = EM((1, 2), shrinkage=0).partial_fit(CROWD.ballots)
    assert stream._stream is not None
    seen = sum(CROWD.ballots.menu_sizes[CROWD.ballots.ballot_instance])
    counts = stream.model_.counts
    assert (counts.winners_seen + counts.losers_seen).sum() == pytest.approx(seen)
    stream.partial_fit(CROWD.ballots.select(instances=late))
    counts = stream.model_.counts
    assert (counts.winners_seen + counts.losers_seen).sum() == pytest.approx(seen)
    assert stream._stream.n_instances == 20
    assert sum(stream._stream.groups.values()) == pytest.approx(20)
    assert len(stream._stream.kept) == 20


# Rules in parts


@pytest.mark.parametrize("rule", [Majority((1, 2)), Approval((1, 2)), Modal((1, 2))], ids=repr)
def test_a_rule_says_the_same_of_every_block(tmp_path, monkeypatch, rule):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 12)
    packed = write_packed([CROWD.ballots], tmp_path / "packed")
    whole = rule.fit(CROWD.ballots).estimate_
    parts = list(rule.fit(packed).estimate_.parts())
    assert len(parts) > 3
    for part in parts:
        assert same(part.parameters, whole.parameters)
        assert all(np.array_equal(one, other) for one, other in zip(part.counts, whole.counts, strict=True))
        for name in part.truths.instances:
            assert part.truths[name] == whole.truths[name]
    assert [name for part in parts for name in part.truths.instances] == list(whole.truths.instances)


def test_a_calibrated_estimate_says_the_same_of_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 12)
    packed = write_packed([CROWD.ballots], tmp_path / "packed")
    gold = {name: CROWD.gold[name] for name in CROWD.ballots.instances[4:14]}
    estimator = Calibrated(MaximumLikelihood(0.8, 0.2, bounds=(1, 2)))
    whole = estimator.fit(CROWD.ballots, gold=gold).estimate_
    assert [each.truths.instances for each in whole.parts()] == [whole.truths.instances]
    found = estimator.fit(packed, gold=gold).estimate_
    parts = list(found.parts())
    assert len(parts) == len(list(packed.parts())) > 3
    assert [name for part in parts for name in part.truths.instances] == list(whole.truths.instances)
    for part in parts:
        assert same(part.calibration, found.calibration)
        assert part.gold == found.gold & set(part.truths.instances)
    assert np.allclose(np.concatenate([part.confidence for part in parts]), whole.confidence)
    assert np.allclose(np.concatenate([part.model_confidence for part in parts]), whole.model_confidence)
