"""Whether mistakes coincide, and sets drawn for many instances at once."""

import itertools
import math

import numpy as np
import pytest

from epivote import SizeBounds, simulate
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.probable_sets import draw_set_per_row
from epivote.model.residuals import residual_products


def test_products_are_those_of_all_pairs_written_out():
    crowd = simulate(instances=6, voters=4, alternatives=3, bounds=(0, None), coverage=0.7, seed=3)
    work = InMemoryWorkload(crowd.ballots, SizeBounds(0, None))
    p, q = crowd.parameters.hit_rates, crowd.parameters.false_alarm_rates
    for shard, odds in zip(work.shards, work.set_odds(crowd.parameters), strict=True):
        products, weights = residual_products(shard, odds.inclusion, crowd.parameters)
        for row, z in enumerate(shard.instances):
            name = crowd.ballots.instances[z]
            cast = {v: crowd.ballots.ballot(v, name) for v in crowd.ballots.voters}
            cast = {v: ticks for v, ticks in cast.items() if ticks is not None}
            product = weight = 0.0
            for c, alternative in enumerate(crowd.ballots.alternatives):
                inside = odds.inclusion[row, c]
                clear = abs(2 * inside - 1) ** 4
                residual = {}
                for voter, ticks in cast.items():
                    i = crowd.ballots.voters.index(voter)
                    mu = inside * p[i] + (1 - inside) * q[i]
                    residual[voter] = ((alternative in ticks) - mu) / math.sqrt(mu * (1 - mu))
                for one, other in itertools.permutations(cast, 2):
                    product += clear * residual[one] * residual[other]
                    weight += clear
            assert products[row] == pytest.approx(product, abs=1e-9)
            assert weights[row] == pytest.approx(weight, abs=1e-9)


@pytest.mark.parametrize(("lower", "upper"), [(0, 3), (1, 2), (2, 2), (1, 3), (0, 1), (3, 3)])
def test_sets_are_drawn_as_often_as_they_are_probable(lower, upper):
    rng = np.random.default_rng(5)
    log_odds = np.array([[0.5, -1.0, 1.5]])
    drawn = draw_set_per_row(np.repeat(log_odds, 20_000, axis=0), lower, upper, rng)
    weights = {
        chosen: math.exp(math.fsum(log_odds[0, j] for j in chosen))
        for size in range(lower, upper + 1)
        for chosen in itertools.combinations(range(3), size)
    }
    total = sum(weights.values())
    assert set(map(tuple, (np.flatnonzero(row) for row in np.unique(drawn, axis=0)))) == set(weights)
    for chosen, weight in weights.items():
        share = np.mean(np.all(drawn == [j in chosen for j in range(3)], axis=1))
        assert share == pytest.approx(weight / total, abs=4 * math.sqrt(weight / total / 20_000) + 1e-9)


def test_rows_are_drawn_each_with_its_own_log_odds():
    log_odds = np.array([[50.0, -50.0], [-50.0, 50.0]])
    assert draw_set_per_row(log_odds, 1, 1, np.random.default_rng(0)).tolist() == [[True, False], [False, True]]
