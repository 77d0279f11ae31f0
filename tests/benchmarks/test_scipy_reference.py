"""The yardstick does the same as AMLE."""

import numpy as np
import pytest

from benchmarks import scipy_reference
from benchmarks.crowds import COLUMNS, Sets, same_sets
from benchmarks.peers import sets_of_table
from epivote import AMLE, reference_crowd

SIZES = [(400, 40, 6, 2), (600, 30, 8, 3), (500, 60, 12, 4), (2000, 100, 10, 3)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_start_leads_to_the_same_sets(sizes, seed):
    _, voters, alternatives, upper = sizes
    ballots = reference_crowd(*sizes, seed=seed).ballots
    amle = AMLE((1, upper), "uniform").fit(ballots)
    matrices = scipy_reference.build(*(getattr(ballots, name) for name in COLUMNS), voters, alternatives)
    found = scipy_reference.fit(matrices, 1, upper)
    same = same_sets(sets_of_table(found.chosen), Sets(amle.truth_.start, amle.truth_.members), alternatives)
    tied = set(amle.estimate_.ties)
    assert all(name in tied for name, agree in zip(ballots.instances, same, strict=True) if not agree)
    assert found.n_iterations == amle.n_iter_
    np.testing.assert_allclose(found.hit_rates, amle.parameters_.hit_rates, atol=1e-6)
    np.testing.assert_allclose(found.priors, amle.parameters_.priors, atol=1e-6)


def test_bounds_are_met_by_the_largest_margins_and_ties_by_order():
    margins = np.array([[3.0, 2.0, 1.0, -1.0], [-3.0, -1.0, -1.0, -2.0], [1.0, -1.0, 0.0, -1.0]])
    chosen = scipy_reference.choose(margins, 1, 2)
    assert chosen.tolist() == [[True, True, False, False], [False, True, False, False], [True, False, True, False]]


def test_sizes_are_distributed_as_independent_alternatives():
    np.testing.assert_allclose(scipy_reference.size_distribution(np.array([0.5, 0.5])), [0.25, 0.5, 0.25])
