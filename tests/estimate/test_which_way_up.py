"""How it is told that a crowd is upside down: two short runs, then two longer ones, and a clear difference."""

from types import SimpleNamespace

import pytest

from epivote import EM, Ballots
from epivote.estimate import em
from epivote.model.pseudo import PseudoCounts

BALLOTS = Ballots.from_mapping(
    {(voter, f"q{number}"): {"a", "b"} for voter in ("ann", "bo") for number in range(3)}, alternatives=["a", "b", "c"]
)


@pytest.mark.parametrize(
    ("glance", "explained", "expected"),
    [
        ((-5.0, -5.0), None, False),
        ((-5.0, -5.1), None, False),
        ((-5.0, -4.9), (-30.0, -10.0), False),
        ((-5.0, -4.9), (-30.0, -9.9), True),
        ((-5.0, -4.9), (-30.0, -29.0), False),
    ],
)
def test_a_crowd_is_turned_if_that_explains_its_ballots_far_better(monkeypatch, glance, explained, expected):
    runs, steps = [], []

    def probed(state, step, iterations):
        if hasattr(state, "believed"):
            assert not state.settled
            name = {0.7: "upright", 0.2: "mirrored"}[float(state.parameters.hit_rates[0])]
            likelihood = glance[name == "mirrored"]
        else:
            name, likelihood = state.parameters, state.log_likelihood
        runs.append((name, step, iterations))
        return SimpleNamespace(parameters=name, log_likelihood=likelihood)

    def explains(work, name):
        assert work.ballots is BALLOTS
        assert explained is not None
        return explained[name == "mirrored"]

    monkeypatch.setattr(em, "em_step", lambda *_, **how: steps.append(how) or "step")
    monkeypatch.setattr(em, "_probed", probed)
    monkeypatch.setattr(em, "_explains", explains)
    estimator = EM((1, 2), shrinkage=7, tolerance=1e-7)
    assert estimator._seems_upside_down(BALLOTS, None, PseudoCounts.none(2)) == expected
    assert steps == [{"strength": 1.0, "tolerance": 0.01}]
    first = [("upright", "step", 5), ("mirrored", "step", 5)]
    then = [("upright", "step", 10), ("mirrored", "step", 10)]
    assert runs == (first if explained is None else [*first, *then])


@pytest.mark.parametrize("turned", [False, True])
def test_a_fit_starts_the_way_up_that_was_told(monkeypatch, turned):
    asked = []

    def seems(self, ballots, gold, known):
        asked.append((ballots is BALLOTS, gold))
        return turned

    monkeypatch.setattr(EM, "_seems_upside_down", seems)
    estimator = EM((1, 2), max_iterations=1, shrinkage=0)
    estimator.fit(BALLOTS)
    assert asked == [(True, None)]
    assert estimator._turn is turned
    given = EM((1, 2), max_iterations=1, shrinkage=0)
    given._given_turn = not turned
    given.fit(BALLOTS)
    assert len(asked) == 1
    assert given._turn is not turned
    assert given.log_likelihood_ != estimator.log_likelihood_
    EM((1, 2), start=estimator.parameters_).fit(BALLOTS)
    assert len(asked) == 1
