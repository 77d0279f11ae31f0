"""Many random crowds rather than clever ones: slow, and run by `make test-slow`."""

import numpy as np
import pytest

from epivote import AMLE, EM, MaximumLikelihood, reference_crowd, simulate

pytestmark = pytest.mark.slow


def test_no_objective_falls_over_thousands_of_random_elections():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        m = int(rng.integers(2, 7))
        lower = int(rng.integers(0, m))
        upper = int(rng.integers(lower, m + 1))
        ballots = simulate(
            instances=int(rng.integers(2, 12)),
            voters=int(rng.integers(1, 8)),
            alternatives=m,
            bounds=(lower, upper),
            hit_rates=float(rng.uniform(0.1, 0.95)),
            false_alarm_rates=float(rng.uniform(0.05, 0.9)),
            priors=float(rng.uniform(0.1, 0.9)),
            coverage=1.0,
            spammers=0.3,
            seed=rng,
        ).ballots
        for rule in (
            AMLE((lower, upper), "random", seed=rng, max_iterations=30),
            EM((lower, upper), shrinkage=0, max_iterations=30),
            EM((lower, upper), max_iterations=30),
        ):
            history = np.array(rule.fit(ballots).log_likelihoods_)
            assert np.all(np.diff(history) >= -1e-8 * np.abs(history[1:])), (rule, lower, upper, m)


def test_on_sparse_crowds_em_is_within_half_a_point_of_the_rule_that_knows_the_rates():
    gaps, errors = [], []
    for seed in range(5):
        crowd = reference_crowd(20_000, 400, 20, 4, seed)
        fitted = EM((1, 4)).fit(crowd.ballots)
        true = crowd.parameters
        oracle = MaximumLikelihood(true.hit_rates, true.false_alarm_rates, fitted.parameters_.priors, (1, 4))
        known = oracle.fit(crowd.ballots).truth_
        gaps.append(
            np.mean([known.listed(z) == crowd.gold.listed(z) for z in crowd.gold])
            - np.mean([fitted.truth_.listed(z) == crowd.gold.listed(z) for z in crowd.gold])
        )
        errors.append(np.abs(fitted.parameters_.hit_rates - true.hit_rates).mean())
    assert np.mean(gaps) < 0.005
    assert np.mean(errors) < 0.025
