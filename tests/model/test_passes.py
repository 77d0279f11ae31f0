"""One pass over a shard in which some sets are given."""

import math
from itertools import combinations

import numpy as np
import pytest

from epivote import Ballots, SizeBounds
from epivote.data.parameters import Parameters, with_priors
from epivote.data.shards import make_shards
from epivote.model import passes
from epivote.model.choose import choose
from epivote.model.margins import margins
from epivote.model.passes import ArrayPass, GoldRows, weigh
from epivote.model.statistics import PassCounts

SETS = [members for size in (1, 2) for members in combinations(range(3), size)]


@pytest.fixture
def shard():
    ticks = {("u", "x"): "a", ("v", "x"): "ab", ("u", "y"): "bc", ("w", "y"): "c", ("v", "z"): ""}
    ballots = Ballots.from_mapping({key: set(names) for key, names in ticks.items()}, alternatives=list("abc"))
    (shard,) = make_shards(ballots.columns(), *SizeBounds(1, 2).resolve(ballots))
    return shard


def by_hand(row):
    """The logarithm of the sum over all allowed sets, and the probability of every alternative."""
    weights = {members: math.exp(math.fsum(row[list(members)])) for members in SETS}
    total = math.fsum(weights.values())
    inside = [math.fsum(weight for members, weight in weights.items() if j in members) / total for j in range(3)]
    return math.log(total), inside


def test_a_given_set_is_certain_and_weighs_what_its_margins_add_up_to(shard):
    parameters = Parameters(np.array([0.7, 0.9, 0.6]), np.array([0.2, 0.3, 0.1]), np.array([0.5, 0.25, 0.4]))
    table = margins(shard, parameters)
    free = [by_hand(row) for row in table]
    inside, log_partition = weigh(shard, parameters, None)
    assert log_partition == pytest.approx(sum(total for total, _ in free), rel=1e-12)
    assert inside == pytest.approx(np.array([probabilities for _, probabilities in free]), rel=1e-12)

    given = GoldRows(np.array([1]), np.array([[True, False, True]]))
    inside, log_partition = weigh(shard, parameters, given)
    assert log_partition == pytest.approx(free[0][0] + table[1, 0] + table[1, 2] + free[2][0], rel=1e-12)
    assert inside[1].tolist() == [1.0, 0.0, 1.0]
    assert inside[[0, 2]] == pytest.approx(np.array([free[0][1], free[2][1]]), rel=1e-12)


def counted(one, parameters):
    counts = PassCounts.none(len(parameters.hit_rates), len(parameters.priors))
    one.hard(parameters, counts)
    return counts


@pytest.mark.parametrize("given", [None, GoldRows(np.array([1]), np.array([[True, False, False]]))])
def test_what_a_pass_remembers_changes_nothing_that_it_counts(shard, given):
    """Rates and priors come and go, by small steps and large ones: as many hits as by a pass that remembers nothing."""
    rng, one = np.random.default_rng(3), ArrayPass(shard, given)
    parameters = Parameters(np.array([0.7, 0.9, 0.6]), np.array([0.2, 0.3, 0.1]), np.array([0.5, 0.25, 0.4]))
    seen = set()
    for _ in range(200):
        for scale in (2.0, 0.02, 0.002, 0.5):
            theta = np.clip(parameters.prior_log_odds + scale * rng.normal(size=3), -4, 4)
            parameters = with_priors(parameters, 1 / (1 + np.exp(-theta)))
            found, anew = counted(one, parameters), counted(ArrayPass(shard, given), parameters)
            np.testing.assert_array_equal(found.voters, anew.voters)
            np.testing.assert_array_equal(found.occurrences, anew.occurrences)
            seen.add(tuple(found.occurrences))
        parameters = Parameters(rng.uniform(0.3, 0.9, 3), rng.uniform(0.1, 0.6, 3), parameters.priors)
    assert len(seen) > 10, "many sets were chosen"


def test_a_pass_does_not_choose_again_what_cannot_have_changed(shard, monkeypatch):
    calls = []
    monkeypatch.setattr(passes, "choose", lambda *given: calls.append(given) or choose(*given))
    parameters = Parameters(np.array([0.7, 0.9, 0.6]), np.array([0.2, 0.3, 0.1]), np.array([0.5, 0.25, 0.4]))
    one = ArrayPass(shard, None)
    for shift in (0.0, 1e-6, 2e-6, 3e-6):
        counted(one, with_priors(parameters, parameters.priors + shift))
    assert len(calls) == 2, "the second time says that sets stay, and how far priors may move"
    counted(one, with_priors(parameters, np.array([0.05, 0.9, 0.95])))
    assert len(calls) == 3
    counted(one, Parameters(parameters.hit_rates, parameters.false_alarm_rates, parameters.priors))
    assert len(calls) == 4, "the same rates, but who could know"


def test_counts_are_equal_where_voters_and_alternatives_agree():
    def counts(hits=1.0, occurrences=3.0):
        return PassCounts(np.array([[hits, 2.0], [0.0, 2.0]]), np.array([occurrences, 0.0]))

    assert counts().equal(counts())
    assert not counts().equal(counts(hits=2.0))
    assert not counts().equal(counts(occurrences=2.0))
