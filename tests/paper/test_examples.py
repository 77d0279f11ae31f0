"""Examples 1-3 of the paper, with the corrections that docs/explanation/examples.md explains."""

import numpy as np
import pytest

from epivote import AMLE, Ballots, MaximumLikelihood, Parameters, SizeBounds
from epivote.estimate.starts import anna_karenina, anna_karenina_weights, total_distances
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.margins import scores, thresholds

PROFILE = {
    "1": ["a1 a4", "a1", "a3", "a1"],
    "2": ["a2", "a5", "a4", "a1"],
    "3": ["a2 a3 a4", "a2 a3 a5", "a2 a3", "a3"],
}
BALLOTS = Ballots.from_mapping(
    {(voter, f"z{z}"): ticks.split() for voter, row in PROFILE.items() for z, ticks in enumerate(row, start=1)}
)
START = Parameters(np.full(3, 0.5), np.array([0.44, 0.41, 0.32]), np.full(5, 0.5))
FIRST_SETS = {"z1": {"a2", "a4"}, "z2": {"a2", "a5"}, "z3": {"a2", "a3"}, "z4": {"a1", "a3"}}


def test_example_1_known_rates():
    counts = {"a": 9, "b": 8, "c": 7, "d": 5, "e": 5}
    ballots = Ballots.from_mapping({(str(i), "z"): {a for a in counts if i < counts[a]} for i in range(10)})
    priors = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.6, "e": 0.5}
    fitted = MaximumLikelihood(0.7, 0.4, priors, bounds=(1, 4)).fit(ballots)
    assert fitted.truth_["z"] == {"a", "b", "c"}
    assert fitted.count_optimal_sets("z") == 1
    (shard,) = InMemoryWorkload(ballots, SizeBounds(1, 4)).shards
    assert scores(shard, fitted.parameters_)[0] == pytest.approx([11.275, 10.022, 8.769, 6.669, 6.264], abs=5e-4)
    assert thresholds(shard, fitted.parameters_)[0] == pytest.approx(6.931, abs=5e-4)


def test_example_2_first_iteration_with_the_printed_formula():
    first = AMLE((1, 2), START, "published", max_iterations=1).fit(BALLOTS)
    assert dict(first.truth_) == FIRST_SETS
    assert first.parameters_.hit_rates == pytest.approx([3 / 8, 3 / 8, 7 / 8])
    assert first.parameters_.false_alarm_rates == pytest.approx([2 / 12, 1 / 12, 2 / 12])
    assert first.parameters_.priors == pytest.approx([0.143, 0.652, 0.348, 0.168, 0.211], abs=5e-4)


def test_example_2_to_the_end_with_the_printed_formula():
    fitted = AMLE((1, 2), START, "published").fit(BALLOTS)
    assert (fitted.n_iter_, fitted.converged_) == (5, True)
    assert dict(fitted.truth_) == {"z1": {"a2", "a3"}, "z2": {"a2", "a3"}, "z3": {"a2", "a3"}, "z4": {"a3"}}
    assert fitted.log_likelihoods_[-1] == pytest.approx(-28.6, abs=0.05)


def test_example_2_with_the_maximiser_stays_in_a_poorer_optimum():
    fitted = AMLE((1, 2), START).fit(BALLOTS)
    assert dict(fitted.truth_) == FIRST_SETS
    assert fitted.log_likelihoods_[-1] == pytest.approx(-35.7, abs=0.05)
    assert np.all(np.diff(fitted.log_likelihoods_) >= 0)
    assert AMLE((1, 2), START, n_starts=20).fit(BALLOTS).log_likelihoods_[-1] > -28.7, "several starts find better"


def test_example_3_anna_karenina():
    distances = total_distances(BALLOTS)
    assert distances == pytest.approx([1.708, 1.693, 1.652], abs=5e-4)
    assert anna_karenina_weights(distances) == pytest.approx([0.25, 0.38, 0.75], abs=5e-4)
    p, q = anna_karenina(BALLOTS)
    assert p.tolist() == [0.5, 0.5, 0.5]
    assert q == pytest.approx([0.438, 0.406, 0.321], abs=5e-4)
