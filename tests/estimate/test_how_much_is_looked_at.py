"""Of very many ballots a part is looked at; from how many on, and how large a part, is told to the last one."""

from types import SimpleNamespace

import numpy as np
import pytest

from epivote import EM, Ballots, Calibrated, Majority, MaximumLikelihood, SizeBounds, reference_crowd
from epivote.estimate import auto, calibrated, probe, reliability, reproducibility, size_evidence, starts
from epivote.estimate.groups import START_INSTANCES
from epivote.estimate.reproducibility import checked_sample

FEW = Ballots.from_mapping({("ann", "q"): {"a"}, ("bo", "q"): {"b"}, ("ann", "r"): {"b"}, ("bo", "r"): {"b"}})


def many(**about):
    """What says of itself that it is many ballots, and remembers how many of its instances were asked for."""
    asked = []

    def sample_instances(every, include=()):
        asked.append((every, list(include)))
        return FEW

    numbers = {"n_voters": 2, "total_voters": 2, "is_in_memory": True, "in_memory": lambda: "all of it"}
    return SimpleNamespace(asked=asked, sample_instances=sample_instances, **{**numbers, **about})


@pytest.mark.parametrize(
    ("ballots", "total", "every"),
    [
        (6000, 6000, None),
        (6001, 6001, 2),
        (8999, 8999, 2),
        (9000, 9000, 3),
        (150_000, 150_000, 50),
        (150_049, 150_049, 50),
        (500_000, 500_000, 50),
        (100, 6001, 2),
        (1_000_000, 1_000_000, 50),
        (1_000_049, 1_000_049, 50),
        (2_000_000, 2_000_000, 100),
        (2_019_999, 2_019_999, 100),
        (2_020_000, 2_020_000, 101),
    ],
)
def test_ballots_that_are_checked(ballots, total, every):
    given = many(n_ballots=ballots, total_ballots=total)
    found = checked_sample(given)
    assert given.asked == ([] if every is None else [(every, [])])
    assert found == "all of it" if every is None else found is FEW


def test_packed_ballots_are_checked_in_memory():
    given = many(n_ballots=5, total_ballots=5, is_in_memory=False)
    assert checked_sample(given) is FEW
    assert given.asked == [(1, [])]


@pytest.mark.parametrize(
    ("most", "pairs", "voters", "ballots", "every"),
    [
        (50, 1_000_000, 2, 0, 1),
        (50, 1_000_001, 2, 0, 2),
        (50, 2_000_000, 10_000, 0, 2),
        (50, 2_000_000, 20_000, 0, 1),
        (50, 2_000_001, 20_000, 0, 2),
        (50, 1_010_000, 10_100, 0, 1),
        (51, 9_000_000, 2, 20_000_000, 1),
        (51, 9_000_000, 2, 20_000_001, 2),
        (51, 9_000_000, 2, 40_000_001, 3),
    ],
)
def test_ballots_that_a_first_guess_is_made_from(monkeypatch, most, pairs, voters, ballots, every):
    given = many(most_ballots=most, n_pairs=pairs, n_voters=voters, n_ballots=ballots)
    hit, alarm = starts.anna_karenina(given)
    assert given.asked == [(every, [])]
    assert np.array_equal(hit, np.full(voters, 0.5))
    assert len(alarm) == 2


@pytest.mark.parametrize(("total", "every"), [(1, 1), (1999, 1), (2000, 2), (2999, 2), (3000, 3)])
def test_ballots_that_size_bounds_are_compared_on(monkeypatch, total, every):
    given = many(total_ballots=total)
    monkeypatch.setattr(size_evidence, "_explained", lambda *_: 0.0)
    assert not size_evidence.far_likelier(given, SizeBounds(1, 2), 1)
    assert given.asked == [(every, [])]


def test_by_how_much_other_bounds_must_be_likelier(monkeypatch):
    tried = {}

    def explained(sample, bounds):
        assert sample is FEW
        return tried[bounds.lower, bounds.upper]

    monkeypatch.setattr(size_evidence, "_explained", explained)
    for shift, likelihoods, expected in [
        (1, {(2, 3): 0.0, (3, 4): 10.0}, False),
        (1, {(2, 3): 0.0, (3, 4): 10.1}, True),
        (2, {(2, 3): 0.0, (3, 4): 0.0, (4, 5): 10.1}, True),
        (2, {(2, 3): 0.0, (3, 4): 10.1, (4, 5): 0.0}, True),
        (2, {(2, 3): 0.0, (3, 4): 10.0, (4, 5): 10.0}, False),
        (-1, {(2, 3): 5.0, (1, 2): 15.1}, True),
        (-2, {(2, 3): 5.0, (1, 2): 15.0, (0, 1): 15.1}, True),
        (-2, {(2, 3): 5.0, (1, 2): 15.0, (0, 1): 15.0}, False),
    ]:
        tried.clear()
        tried.update(likelihoods)
        assert size_evidence.far_likelier(many(total_ballots=5), SizeBounds(2, 3), shift) == expected


@pytest.mark.parametrize(
    ("instances", "every"), [(1, 1), (1999, 1), (2000, 2), (2999, 2), (3000, 3), (3999, 3), (4000, 4)]
)
def test_instances_that_tell_which_way_up_a_crowd_is(instances, every):
    given = many(n_instances=instances)
    sample, gold = probe.sampled(given, None)
    assert (sample is FEW, gold, given.asked) == (True, None, [(every, [])])
    given = many(n_instances=instances)
    probe.sampled(given, None, START_INSTANCES)
    assert given.asked == [(max(1, instances // 2000), [])]


def test_gold_that_tells_which_way_up_a_crowd_is():
    gold = {f"g{number}": {"a"} for number in range(1002)} | {"q": {"b"}}
    given = many(n_instances=2000)
    assert probe.sampled(given, gold) == (FEW, None)
    assert given.asked == [(2, [f"g{number}" for number in range(1000)])]
    given = many(n_instances=2000)
    assert probe.sampled(given, {"q": {"b"}, "x": {"a"}}) == (FEW, {"q": {"b"}})
    assert probe.sampled(given, {}) == (FEW, None)


@pytest.mark.parametrize(("ballots", "every"), [(200_000, None), (200_001, 2), (400_000, 2), (400_001, 3)])
def test_ballots_in_which_copies_are_looked_for(monkeypatch, ballots, every):
    crowd = reference_crowd(12, 5, 3, 2, seed=3)
    fitted = MaximumLikelihood(0.8, 0.2, bounds=(1, 2)).fit(crowd.ballots)
    expected = fitted.reliability()
    asked = []
    monkeypatch.setattr(Ballots, "n_ballots", property(lambda _: ballots))
    monkeypatch.setattr(Ballots, "sample_instances", lambda self, step: asked.append(step) or self)
    monkeypatch.setattr(reliability, "same_mistakes", lambda *_: [])
    monkeypatch.setattr(reliability, "near_copies", lambda *_: {})
    found = reliability.voter_reports(fitted.estimate_)
    assert asked == ([] if every is None else [every])
    assert [each.voter for each in found] == [each.voter for each in expected]


@pytest.mark.parametrize(("total", "is_checked"), [(50_000, True), (50_001, False)])
def test_voters_who_stand_for_too_many_are_not_simulated(monkeypatch, total, is_checked):
    class ReachedError(Exception):
        pass

    def expanded():
        raise ReachedError

    given = SimpleNamespace(n_instances=10, multiplicities=np.array([2]), total_ballots=total, expanded=expanded)
    monkeypatch.setattr(reproducibility, "checked_sample", lambda _: given)
    if is_checked:
        with pytest.raises(ReachedError):
            reproducibility.reproducibility(EM((1, 2)), given)
    else:
        assert reproducibility.reproducibility(EM((1, 2)), given) is None
    given.multiplicities = None
    with pytest.raises(ReachedError):
        reproducibility.reproducibility(EM((1, 2)), given)
    given.n_instances = 9
    assert reproducibility.reproducibility(EM((1, 2)), given) is None


@pytest.mark.parametrize(("alternatives", "own"), [(50, True), (51, False)])
def test_more_than_fifty_alternatives_share_one_offset(monkeypatch, alternatives, own):
    class AskedError(Exception):
        pass

    def learn(*_, with_offsets, **__):
        raise AskedError(with_offsets)

    monkeypatch.setattr(calibrated, "learn_calibration", learn)
    names = [f"a{number}" for number in range(alternatives)]
    votes = {(voter, f"q{number}"): {names[number]} for voter in ("ann", "bo") for number in range(8)}
    ballots = Ballots.from_mapping(votes, alternatives=names)
    gold = {"q1": {"a1"}, "q2": {"a2", "a3"}, "q3": {"a3"}}
    with pytest.raises(AskedError) as asked:
        Calibrated(MaximumLikelihood(0.8, 0.1, bounds=(1, 2))).fit(ballots, gold=gold)
    assert asked.value.args == (own,)


@pytest.mark.parametrize(("count", "used"), [(4999, 4999), (5000, 5000), (5001, 2501)])
def test_five_thousand_gold_sets_calibrate(monkeypatch, count, used):
    class AskedError(Exception):
        pass

    def learn(_, fold, *__, **___):
        raise AskedError(len(fold))

    monkeypatch.setattr(calibrated, "_learnt", learn)
    votes = {("ann", f"q{number}"): {"a"} for number in range(count)}
    gold = {name: {"a" if name == "q1" else "b"} for _, name in votes}
    with pytest.raises(AskedError) as asked:
        Calibrated(Majority(1)).fit(Ballots.from_mapping(votes, alternatives=["a", "b"]), gold=gold)
    assert asked.value.args == (used,)


def test_groups_are_compared_by_short_fits():
    tried = auto.quick_groups((1, 2), 4)
    assert repr(tried) == "EM(bounds=(1, 2), tolerance=0.01, max_iterations=30, groups=4)"


@pytest.mark.parametrize(
    ("instances", "explained", "expected"),
    [
        (19, {1: 0.0, 2: 1000.0}, 1),
        (20, {1: 0.0, 2: 7.9}, 1),
        (20, {1: 0.0, 2: 8.0}, 2),
        (39, {1: 0.0, 2: 8.0, 4: 1000.0}, 2),
        (40, {1: 0.0, 2: 8.0, 4: 23.9}, 2),
        (40, {1: 0.0, 2: 8.0, 4: 24.0}, 4),
        (40, {1: 0.0, 2: 7.9, 4: 1000.0}, 1),
    ],
)
def test_by_how_much_groups_must_explain_ballots_better(monkeypatch, instances, explained, expected):
    sample = SimpleNamespace(n_instances=instances, n_alternatives=3)
    monkeypatch.setattr(auto, "fitted_copy", lambda estimator, _: estimator)
    monkeypatch.setattr(auto, "_explained", lambda fitted, *_: explained[fitted.groups or 1])
    assert auto.best_groups(EM((1, 2)), sample) == expected


def test_two_voters_are_taken_as_equally_reliable():
    votes = {(voter, f"q{number}"): {"a"} for voter in ("ann", "bo") for number in range(3)}
    fitted = auto.Auto((1, 2)).fit(Ballots.from_mapping({**votes, ("bo", "q9"): {"b"}}))
    assert isinstance(fitted.estimator_, EM)
    assert fitted.estimator_.shrinkage == 1_000_000
