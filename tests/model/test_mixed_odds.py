"""Sets of instances in groups, against enumeration of all groups and all sets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote import log_likelihood, marginal_log_likelihood
from epivote.data.calibration import Calibration
from epivote.estimate.workload import InMemoryWorkload
from epivote.model import mixed_odds as module
from epivote.model.mixed_odds import MixedSetOdds
from epivote.model.set_odds import SetOdds
from grouped import by_enumeration, grouped_election

SEEDS = range(12)
CLOSE = pytest.approx


def wide(seed):
    """Eight alternatives in every third election."""
    return grouped_election(seed, groups=2 + seed % 3, alternatives=8 if seed % 3 == 0 else 4)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_that_is_said_is_that_of_enumeration(seed):
    election, ballots, parameters = wide(seed)
    work = InMemoryWorkload(ballots, election.size_bounds)
    total = 0.0
    groups = work.group_probabilities(parameters)
    for shard, odds in zip(work.shards, work.set_odds(parameters), strict=True):
        best = odds.best()
        for row, z in enumerate(shard.instances):
            value, exact = by_enumeration(election, ballots, parameters, ballots.instances[z])
            total += value
            for group in range(parameters.n_groups):
                assert groups[z, group] == CLOSE(math.fsum(p for k, _, p in exact if k == group), abs=1e-10)
            for c, name in enumerate(ballots.alternatives):
                assert odds.inclusion[row, c] == CLOSE(math.fsum(p for _, s, p in exact if name in s), abs=1e-10)
            chances = {}
            for _, chosen, p in exact:
                chances[frozenset(chosen)] = chances.get(frozenset(chosen), 0.0) + p
            ranked = sorted(chances.values(), reverse=True)
            assert chances[named(ballots, best[row])] == CLOSE(ranked[0], abs=1e-10)
            assert odds.probabilities(best)[row] == CLOSE(ranked[0], abs=1e-10)
            for count in (1, 3, len(chances)):
                found = odds.best_sets(row, count)
                assert found[0][0] == CLOSE(ranked[0], abs=1e-10)
                assert len({members for _, members in found}) == len(found) == min(count, len(chances))
                for chance, members in found:
                    assert chances[frozenset(ballots.alternatives[c] for c in members)] == CLOSE(chance, abs=1e-10)
            assert [p for p, _ in found] == CLOSE(ranked, abs=1e-10), "as many as there are: all of them, in order"
    assert marginal_log_likelihood(ballots, parameters, election.size_bounds) == CLOSE(total, abs=1e-9)


def named(ballots, inside):
    return frozenset(ballots.alternatives[c] for c in np.flatnonzero(inside))


@pytest.mark.parametrize("seed", SEEDS)
def test_given_sets_are_certain_and_tell_the_group(seed):
    election, ballots, parameters = wide(seed)
    rng = np.random.default_rng(seed)
    truths = {}
    for z in ballots.instances:
        possible = oracles.allowed_sets(election.menus[z], *election.bounds[z])
        truths[z] = possible[rng.integers(len(possible))]
    groups = InMemoryWorkload(ballots, election.size_bounds, truths).group_probabilities(parameters)
    total = 0.0
    for z, name in enumerate(ballots.instances):
        value, exact = by_enumeration(election, ballots, parameters, name, truths[name])
        total += value
        assert groups[z] == CLOSE([p for _, _, p in exact], abs=1e-10)
    assert log_likelihood(ballots, truths, parameters, election.size_bounds) == CLOSE(total, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_menus_are_understood_although_no_fit_learns_from_them(seed):
    election, ballots, parameters = grouped_election(seed, menus=True)
    work = InMemoryWorkload(ballots, election.size_bounds)
    groups = work.group_probabilities(parameters)
    posterior = work.posterior(parameters, work.best_sets(parameters))
    cells = iter(posterior.inclusion)
    total, expected = 0.0, np.zeros((parameters.n_groups, ballots.n_alternatives))
    for z, name in enumerate(ballots.instances):
        value, exact = by_enumeration(election, ballots, parameters, name)
        total += value
        assert groups[z, 0] == CLOSE(math.fsum(p for k, _, p in exact if k == 0), abs=1e-10)
        for alternative in ballots.offered(name):
            assert next(cells) == CLOSE(math.fsum(p for _, s, p in exact if alternative in s), abs=1e-10)
            for k, chosen, p in exact:
                expected[k, ballots.alternatives.index(alternative)] += p * (alternative in chosen)
    assert marginal_log_likelihood(ballots, parameters, election.size_bounds) == CLOSE(total, abs=1e-9)
    assert work.group_step(parameters)[1].occurrences == CLOSE(expected, abs=1e-9)


def random_odds(seed, groups=3, rows=4, width=5, lower=1, upper=3):
    rng = np.random.default_rng(seed)
    return MixedSetOdds(
        rng.normal(0, 2, (groups, rows, width)), lower, upper, np.log(rng.uniform(0.1, 1, (groups, rows)))
    )


def enumerated(odds, row):
    """Every allowed set with its probability."""
    sets = oracles.allowed_sets(range(odds.log_odds.shape[2]), odds.lower, odds.upper)
    weights = [
        math.fsum(
            math.exp(odds.log_weights[k, row] + sum(odds.log_odds[k, row, j] for j in chosen))
            for k in range(len(odds.log_odds))
        )
        for chosen in sets
    ]
    return [(chosen, weight / math.fsum(weights)) for chosen, weight in zip(sets, weights, strict=True)]


@pytest.mark.parametrize("seed", range(15))
def test_the_few_best_of_many_instances(seed):
    odds = random_odds(seed, lower=seed % 3, upper=2 + seed % 4)
    for count in (1, 2, 4):
        members, chances = odds.top(count)
        for row in range(4):
            exact = {frozenset(chosen): p for chosen, p in enumerated(odds, row)}
            assert chances[row, 0] == CLOSE(max(exact.values()), abs=1e-10), "the first is the best of all"
            assert list(chances[row]) == sorted(chances[row], reverse=True)
            found = [frozenset(np.flatnonzero(inside).tolist()) for inside in members[row]]
            assert len(set(found)) == len(found)
            assert [exact[each] for each in found] == CLOSE(chances[row], abs=1e-10)
        some = odds.top(count, np.array([2, 0]))
        assert np.array_equal(some[0], members[[2, 0]])


def test_a_set_that_is_best_in_no_group_can_be_the_best_of_all(monkeypatch):
    """Each group has favourites of its own; a set that is only sixth in both is the most probable one together."""
    steps = np.array([5.0, 4.9, 4.8, 4.7, 4.6])
    odds = MixedSetOdds(
        np.array(
            [[np.concatenate([steps, np.full(5, -9.0), [4.5]])], [np.concatenate([np.full(5, -9.0), steps, [4.5]])]]
        ),
        1,
        1,
        np.zeros((2, 1)),
    )
    assert np.flatnonzero(odds.best()[0]).tolist() == [10]
    assert odds.top(4)[0].shape == (1, 4, 11)
    assert odds.best_sets(0, 1)[0][1] == (10,)
    monkeypatch.setattr(module, "MOST_LISTED", 1)
    assert np.flatnonzero(odds.best()[0]).tolist() != [10], "which takes longer lists"


@pytest.mark.parametrize("seed", range(2))
def test_more_than_a_word_of_alternatives(seed):
    """Sets of one or two of 70 alternatives, against all of them."""
    odds = random_odds(seed, groups=2, rows=2, width=70, lower=1, upper=2)
    for row in range(2):
        exact = sorted((p for _, p in enumerated(odds, row)), reverse=True)
        assert odds.top(4)[1][row, 0] == CLOSE(exact[0], abs=1e-10)


@pytest.mark.parametrize("utility", ["exact", "hamming", "f1", "jaccard"])
@pytest.mark.parametrize("seed", range(8))
def test_decisions_maximise_expected_utility(utility, seed):
    odds = random_odds(seed, rows=2, width=4, lower=seed % 2, upper=2 + seed % 3)
    worth = {
        "exact": lambda one, other: float(one == other),
        "hamming": lambda one, other: sum((j in one) == (j in other) for j in range(4)) / 4,
        "f1": f1_of,
        "jaccard": lambda one, other: len(one & other) / len(one | other) if one | other else 1.0,
    }[utility]
    for row, inside in enumerate(odds.decide(utility)):
        exact = enumerated(odds, row)
        expected = {frozenset(one): math.fsum(p * worth(set(one), other) for other, p in exact) for one, _ in exact}
        chosen = frozenset(np.flatnonzero(inside).tolist())
        if utility == "jaccard":  # among the sets of the most probable alternatives
            order = np.argsort(-odds.inclusion[row]).tolist()
            expected = {each: value for each, value in expected.items() if each == frozenset(order[: len(each)])}
        assert expected[chosen] == CLOSE(max(expected.values()), abs=1e-9)


def f1_of(one, other):
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


@pytest.mark.parametrize(
    "draw",
    [
        lambda odds, rng: odds.draw(1, 40_000, rng),
        lambda odds, rng: odds._rows(np.ones(40_000, int)).draw_each(rng),
    ],
)
def test_sets_are_drawn_as_often_as_they_are_probable(draw):
    odds = random_odds(3)
    drawn = draw(odds, np.random.default_rng(5))
    counts = {}
    for inside in drawn:
        chosen = frozenset(np.flatnonzero(inside).tolist())
        counts[chosen] = counts.get(chosen, 0) + 1
    for chosen, p in enumerated(odds, 1):
        deviation = math.sqrt(p * (1 - p) / len(drawn))
        assert abs(counts.get(frozenset(chosen), 0) / len(drawn) - p) < 5 * deviation + 1e-9


def test_evidence_counts_in_every_group():
    odds = random_odds(4)
    evidence = np.random.default_rng(1).normal(0, 1, (3, 5))
    after = odds.with_evidence(2, evidence)
    for row in range(3):
        weights = {
            frozenset(chosen): p * math.exp(sum(evidence[row, j] for j in chosen)) for chosen, p in enumerated(odds, 2)
        }
        total = math.fsum(weights.values())
        for chosen, p in enumerated(after, row):
            assert p == CLOSE(weights[frozenset(chosen)] / total, abs=1e-10)


def test_ties_are_seen():
    equal = MixedSetOdds(np.array([[[1.0, 1.0, -3.0]], [[1.0, 1.0, -2.0]]]), 1, 1, np.zeros((2, 1)))
    assert equal.best()[0].tolist() == [True, False, False], "of equals the one listed first"
    assert equal.tied(equal.best()).tolist() == [True]
    apart = MixedSetOdds(np.array([[[1.0, 0.5, -3.0]], [[1.0, 1.0, -2.0]]]), 1, 1, np.zeros((2, 1)))
    assert apart.tied(apart.best()).tolist() == [False]
    larger = MixedSetOdds(np.zeros((2, 1, 2)), 1, 2, np.zeros((2, 1)))
    assert larger.best()[0].tolist() == [True, True], "of equals the larger"
    only = MixedSetOdds(np.zeros((2, 1, 2)), 2, 2, np.zeros((2, 1)))
    assert only.tied(only.best()).tolist() == [False]


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=5), st.data())
def test_groups_that_are_alike_are_no_groups(margins, data):
    lower = data.draw(st.integers(0, len(margins)))
    upper = data.draw(st.integers(lower, len(margins)))
    alone = SetOdds(np.array([margins]), lower, upper)
    mixed = MixedSetOdds(np.array([[margins], [margins]]), lower, upper, np.log([[0.3], [0.7]]))
    assert np.array_equal(mixed.best(), alone.best())
    assert mixed.inclusion == CLOSE(alone.inclusion, abs=1e-12)
    assert mixed.probabilities(alone.best()) == CLOSE(alone.probabilities(alone.best()), abs=1e-12)
    for utility in ("hamming", "f1", "jaccard"):
        assert mixed.decide(utility).sum() == alone.decide(utility).sum()
    assert mixed.likely_group(0)[:2] == (1, CLOSE(0.7))
    assert alone.likely_group(0) is None


def test_a_calibration_translates_every_group():
    election, ballots, parameters = grouped_election(2, alternatives=4)
    work = InMemoryWorkload(ballots, election.size_bounds)
    m = ballots.n_alternatives
    same = work.set_odds(parameters, Calibration.identity(m))
    for one, other in zip(same, work.set_odds(parameters), strict=True):
        assert np.array_equal(one.log_odds, other.log_odds)
        assert one.inclusion == CLOSE(other.inclusion, abs=1e-12)
    halved = Calibration(0.5, 1.0, 0.0, 0.2, np.arange(m) / 10, "gold")
    weaker = parameters.changed(priors=lambda row: 1 / (1 + np.exp(-0.5 * np.log(row / (1 - row)))))
    for one, other, prior in zip(
        work.set_odds(parameters, halved), work.set_odds(parameters), work.set_odds(weaker), strict=True
    ):
        assert one.log_odds == CLOSE(0.5 * other.log_odds + 0.2 + np.arange(m) / 10)
        assert one.log_weights == CLOSE(prior.log_weights, abs=1e-10), "the priors that are left are still normalised"
