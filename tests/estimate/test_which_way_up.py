"""How it is told that a crowd is upside down: two short runs, then two longer ones, and a clear difference."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from epivote import AMLE, EM, Ballots, Parameters, SizeBounds
from epivote.estimate import amle, em
from epivote.estimate.climb import State
from epivote.estimate.workload import InMemoryWorkload
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


@pytest.mark.parametrize("is_sampled", [False, True])
@pytest.mark.parametrize(("reached", "turned"), [(-30.0, False), (-29.9, True), (-70.0, False)])
def test_amle_is_turned_if_its_end_is_far_likelier(monkeypatch, reached, turned, is_sampled):
    ticked = Ballots.from_mapping(
        {(voter, "q"): {"a", "b", "c"} for voter in ("ann", "bo")} | {("ann", "r"): {"a", "b", "c"}}
    )
    runs = []

    def top(start, step, limit, run=None):
        way = {0.2: "mirrored", 0.5: "upright"}[float(start.parameters.hit_rates[0])]
        runs.append((way, step, limit, run and run.name))
        end = reached if way == "mirrored" else -50.0
        return replace(start, objectives=(0.0, end), status="converged")

    sample = ticked.select(instances=["q"]) if is_sampled else ticked
    monkeypatch.setattr(amle, "sampled", lambda *_: (sample, None))
    monkeypatch.setattr(amle, "amle_step", lambda *_, **__: "probe")
    monkeypatch.setattr(amle, "top", top)
    best = State.at(Parameters.alike(2, 0.5, 0.2, np.full(3, 0.5)), PseudoCounts.none(2))
    best = replace(best, objectives=(-90.0, -50.0))
    work = InMemoryWorkload(ticked, SizeBounds(1, 2))
    found = AMLE((1, 2), max_iterations=17)._turned(work, best, "individual", "step")
    whole = [("mirrored", "step", 17, "turned")]
    probes = [("mirrored", "probe", 10, None), ("upright", "probe", 1, None), ("upright", "probe", 10, None)]
    if not is_sampled:
        assert runs == whole
    else:
        assert runs == ([*probes, *whole] if turned else probes[:2])
    assert (found is not best) == turned
    given = AMLE((1, 2), start=best.parameters)
    assert given._turned(work, best, "individual", "step") is best


def test_an_interruption_while_runs_are_compared_is_told():
    state = State.at(Parameters.alike(2, 0.5, 0.2, np.full(3, 0.5)), PseudoCounts.none(2))
    with pytest.raises(KeyboardInterrupt):
        amle._uninterrupted(replace(state, objectives=(1.0,), status="interrupted"))
