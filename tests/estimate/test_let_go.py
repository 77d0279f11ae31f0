"""A fit that nobody needs any more takes no memory: nothing waits for the garbage collector."""

import gc
import weakref

import pytest

from epivote import AMLE, EM, Auto, MaximumLikelihood, simulate

CROWD = simulate(instances=40, voters=8, alternatives=4, bounds=(1, 2), seed=3)


@pytest.mark.parametrize(
    "estimator",
    [EM((1, 2)), EM((1, 2), groups=2), AMLE((1, 2)), MaximumLikelihood(0.7, 0.2, 0.4, (1, 2)), Auto((1, 2))],
)
def test_what_was_fitted_is_let_go(estimator):
    gc.collect()
    gc.disable()
    try:
        estimate = estimator.fit(CROWD.ballots).estimate_
        held = weakref.ref(estimate.compute_truths.args[0])
        assert held() is not None
        estimator.fit(CROWD.ballots)
        del estimate
        assert held() is None
    finally:
        gc.enable()
