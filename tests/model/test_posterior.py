import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote.engines.cells import cell_starts
from epivote.estimate.workload import InMemoryWorkload
from epivote.model import posterior
from epivote.model.posterior import log_partition_and_inclusion
from strategies import elections


@given(elections())
def test_posterior_equals_enumeration(election):
    ballots = election.as_ballots()
    task = InMemoryWorkload(ballots, election.size_bounds)
    parameters = election.parameters(ballots)
    chosen = task.truth_step(parameters)
    found = task.posterior(parameters, chosen)
    starts = cell_starts(ballots)
    truths = task.truths(chosen)
    for z, name in enumerate(ballots.instances):
        exact = oracles.posterior(
            name,
            election.ballots,
            election.menus[name],
            election.p,
            election.q,
            election.t,
            *election.bounds[name],
        )
        (mine,) = [probability for members, probability in exact if members == truths[name]]
        assert found.set_probabilities[z] == pytest.approx(mine, abs=1e-10)
        inside = found.inclusion[starts[z] : starts[z + 1]]
        for c, alternative in enumerate(ballots.offered(name)):
            expected = sum(probability for members, probability in exact if alternative in members)
            assert inside[c] == pytest.approx(expected, abs=1e-10)


@given(st.lists(st.floats(-800, 800), min_size=1, max_size=8), st.data())
def test_margins_of_hundreds_give_probabilities_and_the_expected_size(margins, data):
    lower = data.draw(st.integers(0, len(margins)))
    upper = data.draw(st.integers(lower, len(margins)))
    log_partition, inclusion = log_partition_and_inclusion(np.array([margins]), lower, upper)
    best = max(sum(margins[j] for j in s) for s in oracles.allowed_sets(range(len(margins)), lower, upper))
    assert log_partition[0] >= best - 1e-9
    assert np.all((inclusion >= 0) & (inclusion <= 1))
    assert lower - 1e-9 <= inclusion.sum() <= upper + 1e-9


def test_ten_thousand_alternatives():
    margins = np.random.default_rng(0).normal(0, 3, (2, 10_000))
    _, inclusion = log_partition_and_inclusion(margins, 1, 50)
    assert np.isfinite(inclusion).all()
    assert inclusion.sum(axis=1) == pytest.approx([50, 50], abs=0.1), "thousands of candidates fill the upper bound"


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=8), st.data())
def test_plain_numbers_and_logarithms_agree(margins, data):
    lower = data.draw(st.integers(0, len(margins)))
    upper = data.draw(st.integers(lower, len(margins)))
    column = np.array(margins)[:, None]
    plain, logs = posterior._plain_sweeps(column, lower, upper), posterior._log_sweeps(column, lower, upper)
    np.testing.assert_allclose(plain[0], logs[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(plain[1], logs[1], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("bounds", "states"), [((1, 4), 6), ((2, 9), 3)])
def test_rows_are_worked_through_in_chunks_of_the_numbers_allowed(bounds, states, monkeypatch):
    """A row needs a state of the counter for every alternative, and one more."""
    margins, rows = np.random.default_rng(2).normal(size=(100, 9)), []
    whole = posterior.log_partition_and_inclusion(margins, *bounds)
    sweeps = posterior._plain_sweeps
    monkeypatch.setattr(
        posterior, "_plain_sweeps", lambda part, *given: rows.append(part.shape[1]) or sweeps(part, *given)
    )
    monkeypatch.setattr(posterior, "NUMBERS_PER_CHUNK", 1000)
    found = posterior.log_partition_and_inclusion(margins, *bounds)
    assert rows[0] == 1000 // (states * 10)
    assert sum(rows) == 100
    for one, other in zip(found, whole, strict=True):
        np.testing.assert_array_equal(one, other)
