"""The combination of the last iterations, solved again with plain formulas where their changes are nearly alike."""

import numpy as np
import pytest

from epivote import Parameters
from epivote.data.parameters import from_log_odds
from epivote.estimate.ahead import look_ahead

FLOOR = 1e-9


def parameters(log_odds):
    """Two voters and two alternatives with these log-odds."""
    rates = from_log_odds(np.asarray(log_odds, float))
    return Parameters(rates[:2], rates[2:4], rates[4:])


def log_odds(found):
    return np.concatenate([np.log(rates) - np.log1p(-rates) for rates in found.arrays().values()])


def expected(starts, results, times):
    """The start of the next iteration, from normal equations with a ten-thousand-millionth of their mean added."""
    changes = results - starts
    differences = changes[1:] - changes[:-1]
    weighted = differences * times
    products = weighted @ differences.T
    products = products + 1e-10 * np.trace(products) / len(products) * np.eye(len(products))
    shares = np.linalg.solve(products, weighted @ changes[-1])
    return results[-1] - shares @ (results[1:] - results[:-1])


@pytest.mark.parametrize("multiplicities", [None, np.array([3, 1])])
def test_changes_that_are_nearly_alike(multiplicities):
    rng = np.random.default_rng(5)
    base, common, apart = rng.normal(size=6) * 0.1, rng.normal(size=6) * 0.3, rng.normal(size=6)
    changes = np.array([base + common, base, base - common + 1e-5 * apart])
    results = rng.normal(size=6) * 0.3 + rng.normal(size=(3, 6)) * 1e-3
    starts = results - changes
    ahead = None
    for start, result in zip(starts, results, strict=True):
        ahead = look_ahead(ahead, parameters(start), parameters(result), FLOOR, multiplicities)
    assert ahead is not None
    times = np.ones(6) if multiplicities is None else np.array([3, 1, 3, 1, 1, 1])
    wanted = expected(starts, results, times)
    assert np.abs(wanted).max() < 10
    assert log_odds(ahead.start) == pytest.approx(wanted, rel=1e-3)
    assert np.allclose(ahead.starts, starts)
    assert np.allclose(ahead.results, results)
