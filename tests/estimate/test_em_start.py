"""EM from rates that are given: fewer iterations to the same result."""

import numpy as np
import pytest

from epivote import EM, Parameters, load_model, reference_crowd, save_model
from epivote.errors import RateError

CROWD = reference_crowd(instances=60, voters=15, alternatives=5, upper=2, seed=3).ballots
USUAL = EM((1, 2), shrinkage=4.0).fit(CROWD)


def test_a_fit_from_its_own_result_stays_there_and_is_sooner_done():
    again = EM((1, 2), shrinkage=4.0, start=USUAL.parameters_).fit(CROWD)
    assert again.n_iter_ < USUAL.n_iter_
    assert again.truth_ == USUAL.truth_
    np.testing.assert_allclose(again.parameters_.hit_rates, USUAL.parameters_.hit_rates, atol=1e-2)


def test_where_it_begins_matters_only_there():
    far = Parameters.alike(15, 0.9, 0.01, np.full(5, 0.5))
    one = EM((1, 2), shrinkage=4.0, start=far, max_iterations=1).fit(CROWD)
    assert one.parameters_ != EM((1, 2), shrinkage=4.0, max_iterations=1).fit(CROWD).parameters_
    np.testing.assert_allclose(
        EM((1, 2), shrinkage=4.0, start=far).fit(CROWD).parameters_.priors, USUAL.parameters_.priors, atol=1e-2
    )


def test_priors_to_keep_are_kept_and_rates_stay_in_bounds():
    edge = Parameters.alike(15, 1 - 1e-9, 1e-9, np.full(5, 0.5))
    found = EM((1, 2), shrinkage=4.0, start=edge, priors=0.3, floor=0.01, max_iterations=1).fit(CROWD)
    assert set(found.parameters_.priors) == {0.3}
    assert found.parameters_.hit_rates.max() <= 0.99


def test_a_start_of_other_voters_is_refused_and_a_good_one_is_saved(tmp_path):
    with pytest.raises(
        RateError, match="the start has rates of 3 voters and priors of 5 alternatives; the ballots have 15"
    ):
        EM((1, 2), shrinkage=4.0, start=Parameters.alike(3, 0.7, 0.2, np.full(5, 0.5))).fit(CROWD)
    save_model(EM((1, 2), shrinkage=4.0, start=USUAL.parameters_).fit(CROWD), tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").start == USUAL.parameters_


def test_groups_start_there_as_well():
    assert EM((1, 2), shrinkage=4.0, groups=2, start=USUAL.parameters_, max_iterations=3).fit(CROWD).n_iter_ <= 4
