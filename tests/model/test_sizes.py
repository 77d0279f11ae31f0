import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote.data.parameters import log_odds
from epivote.model.size_counter import LogCounter, PlainCounter
from epivote.model.sizes import log_size_mass
from strategies import rates

PRIORS = {m: np.random.default_rng(m).uniform(0.01, 0.99, m) for m in range(1, 11)}
EVERY_CASE = [(m, lower, upper) for m in PRIORS for lower in range(m + 1) for upper in range(lower, m + 1)]


def pulls(counter, theta):
    """What the bounds say of every alternative, all counted with the same log-odds."""
    for j, each in enumerate(theta):
        yield counter.pull(j)
        counter.advance(each)


def log(mass):
    return math.log(mass) if mass else -math.inf


@pytest.mark.parametrize("m", PRIORS)
def test_mass_and_both_alphas_equal_the_sum_over_allowed_sets_for_all_bounds(m):
    names = list(range(m))
    t, theta = dict(enumerate(PRIORS[m])), log_odds(PRIORS[m])
    for _, lower, upper in (case for case in EVERY_CASE if case[0] == m):
        beta = oracles.size_mass(names, t, lower, upper)
        assert np.exp(log_size_mass(PRIORS[m], lower, upper)) == pytest.approx(beta, rel=1e-12, abs=0)
        with_ = [oracles.mass_with(names, t, lower, upper, j) for j in names]
        without = [oracles.mass_without(names, t, lower, upper, j) for j in names]
        expected = [log(inside) - log(outside) for inside, outside in zip(with_, without, strict=True)]
        assert list(pulls(LogCounter(theta, lower, upper), theta)) == pytest.approx(expected, rel=0, abs=1e-11)
        plain = PlainCounter(theta.tolist(), lower, upper)
        assert list(pulls(plain, theta)) == pytest.approx(expected, rel=0, abs=1e-11)


@given(st.lists(st.floats(1e-4, 1 - 1e-4), min_size=1, max_size=12), st.data())
def test_mass_splits_on_every_alternative(priors, data):
    t = np.array(priors)
    lower = data.draw(st.integers(0, len(t)))
    upper = data.draw(st.integers(lower, len(t)))
    beta = np.exp(log_size_mass(t, lower, upper))
    for j, prior in enumerate(priors):
        others = np.delete(t, j)
        with_ = np.exp(log_size_mass(others, max(lower - 1, 0), upper - 1)) if upper else 0.0
        without = np.exp(log_size_mass(others, lower, upper)) if lower < len(t) else 0.0
        assert prior * with_ + (1 - prior) * without == pytest.approx(beta, rel=1e-11, abs=0)


@given(st.lists(rates, min_size=1, max_size=9))
def test_the_masses_of_all_sizes_add_up_to_one_and_to_those_of_ranges(priors):
    t = np.array(priors)
    each = [np.exp(log_size_mass(t, size, size)) for size in range(len(t) + 1)]
    assert sum(each) == pytest.approx(1, rel=1e-12)
    assert sum(each[1:]) == pytest.approx(np.exp(log_size_mass(t, 1, len(t))), rel=1e-12)


def test_ten_thousand_alternatives_stay_finite_and_right():
    t = np.full(10_000, 0.5)
    exact = math.log(sum(math.comb(10_000, k) for k in range(51))) - 10_000 * math.log(2)
    assert log_size_mass(t, 0, 50) == pytest.approx(exact, rel=1e-12)
    counter = LogCounter(log_odds(t), 1, 50)
    found = []
    for j in range(100):
        found.append(counter.pull(j))
        counter.advance(0.0)
    assert np.isfinite(found).all()
    assert np.ptp(found) < 1e-8, "equal priors must give equal masses"


def test_no_upper_bound_costs_no_more_than_the_lower_one():
    t = np.linspace(0.1, 0.9, 2000)
    few = log_size_mass(t, 1, 2000)
    assert few == pytest.approx(np.log1p(-np.exp(np.log1p(-t).sum())), abs=1e-12)
