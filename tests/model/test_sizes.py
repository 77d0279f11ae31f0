import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote.model.sizes import log_masses, log_size_distribution, log_size_mass, size_mass
from strategies import rates

PRIORS = {m: np.random.default_rng(m).uniform(0.01, 0.99, m) for m in range(1, 11)}
EVERY_CASE = [(m, lower, upper) for m in PRIORS for lower in range(m + 1) for upper in range(lower, m + 1)]


@pytest.mark.parametrize("m", PRIORS)
def test_mass_and_both_alphas_equal_the_sum_over_allowed_sets_for_all_bounds(m):
    names = list(range(m))
    t = dict(enumerate(PRIORS[m]))
    for _, lower, upper in (case for case in EVERY_CASE if case[0] == m):
        assert size_mass(PRIORS[m], lower, upper) == pytest.approx(
            oracles.size_mass(names, t, lower, upper), rel=1e-12, abs=0
        )
        with_, without = (np.exp(masses) for masses in log_masses(PRIORS[m], lower, upper))
        for j in names:
            assert with_[j] == pytest.approx(oracles.mass_with(names, t, lower, upper, j), rel=1e-12, abs=0)
            assert without[j] == pytest.approx(oracles.mass_without(names, t, lower, upper, j), rel=1e-12, abs=0)


@given(st.lists(st.floats(1e-4, 1 - 1e-4), min_size=1, max_size=12), st.data())
def test_mass_splits_on_every_alternative(priors, data):
    t = np.array(priors)
    lower = data.draw(st.integers(0, len(t)))
    upper = data.draw(st.integers(lower, len(t)))
    beta = size_mass(t, lower, upper)
    with_, without = (np.exp(masses) for masses in log_masses(t, lower, upper))
    np.testing.assert_allclose(t * with_ + (1 - t) * without, beta, rtol=1e-11)


@given(st.lists(rates, min_size=1, max_size=9))
def test_sizes_are_a_distribution_whose_parts_are_the_masses(priors):
    t = np.array(priors)
    distribution = np.exp(log_size_distribution(t))
    assert distribution.sum() == pytest.approx(1, rel=1e-12)
    assert distribution[2:4].sum() == pytest.approx(size_mass(t, 2, 3) if len(t) > 2 else distribution[2:].sum())


def test_ten_thousand_alternatives_stay_finite_and_right():
    t = np.full(10_000, 0.5)
    exact = math.log(sum(math.comb(10_000, k) for k in range(51))) - 10_000 * math.log(2)
    assert log_size_mass(t, 0, 50) == pytest.approx(exact, rel=1e-12)
    with_, without = log_masses(t, 1, 50)
    assert np.isfinite(with_).all()
    assert np.isfinite(without).all()
    assert np.ptp(with_) < 1e-8, "equal priors must give equal masses"


def test_no_upper_bound_costs_no_more_than_the_lower_one():
    t = np.linspace(0.1, 0.9, 2000)
    few = log_size_mass(t, 1, 2000)
    assert few == pytest.approx(np.log1p(-np.exp(np.log1p(-t).sum())), abs=1e-12)
