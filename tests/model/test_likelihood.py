import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote import Ballots, InputError, Parameters, Truths, log_likelihood
from strategies import draw_truths, elections


@given(elections(), st.data())
def test_log_likelihood_is_the_product_of_all_probabilities(election, data):
    ballots = election.as_ballots()
    truths = draw_truths(data, election)
    found = log_likelihood(
        ballots,
        truths,
        election.parameters(ballots),
        election.size_bounds,
    )
    expected = oracles.log_likelihood(
        election.ballots, dict(truths), election.menus, election.p, election.q, election.t, election.bounds
    )
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_a_set_outside_the_bounds_is_impossible():
    ballots = Ballots.from_mapping({("ann", "q"): {"a"}}, alternatives=["a", "b"])
    parameters = Parameters(np.array([0.8]), np.array([0.2]), np.array([0.5, 0.5]))
    assert log_likelihood(ballots, Truths.from_mapping({"q": {"a", "b"}}), parameters, 1) == -np.inf


def test_sets_must_cover_the_instances_and_stay_on_the_menu():
    ballots = Ballots.from_mapping({("ann", "q"): {"a"}, ("ann", "r"): set()}, menu={"q": ["a", "b"], "r": ["a", "c"]})
    parameters = Parameters(np.array([0.8]), np.array([0.2]), np.full(3, 0.5))
    with pytest.raises(InputError, match="'r' has ballots but no set"):
        log_likelihood(ballots, Truths.from_mapping({"q": {"a"}}), parameters, (0, 2))
    with pytest.raises(InputError, match="'r' has 'b', which is not offered there"):
        log_likelihood(ballots, Truths.from_mapping({"q": {"a"}, "r": {"b"}}), parameters, (0, 2))
