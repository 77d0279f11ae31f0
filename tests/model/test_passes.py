"""One pass over a shard in which some sets are given."""

import math
from itertools import combinations

import numpy as np
import pytest

from epivote import Ballots, SizeBounds
from epivote.data.parameters import Parameters
from epivote.data.shards import make_shards
from epivote.model.margins import margins
from epivote.model.passes import GoldRows, weigh

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
