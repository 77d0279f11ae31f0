"""The compiled step to other priors against the formulas."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote.kernels import priors as compiled
from epivote.kernels.priors import prior_step
from epivote.model import priors as formulas
from epivote.model.level import NO_BELIEF, Belief
from epivote.model.statistics import Group
from strategies import FLOOR, counted, sweeps

HALVES = np.full(3, 0.5)


def without_loops(statistics, priors, belief=NO_BELIEF):
    return formulas.prior_step(statistics, priors, FLOOR, belief)


@given(sweeps(), st.booleans(), st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_loops_find_the_priors_of_the_formulas_to_the_last_bit(case, believing, present, absent):
    statistics, priors = case
    belief = Belief(present, absent) if believing else NO_BELIEF
    found = prior_step(statistics, priors, FLOOR, belief)
    assert found.tolist() == without_loops(statistics, priors, belief).tolist()


@pytest.mark.parametrize("belief", [NO_BELIEF, Belief(0.0, 2.0), Belief(2.0, 0.0), Belief(0.3, 0.7)])
@pytest.mark.parametrize("bounds", [(0, 3), (0, 2), (1, 2), (1, 3), (2, 3)])
@pytest.mark.parametrize("occurrences", [[7, 5, 2], [8, 8, 7], [6.3, 5.1, 4.7]])
def test_loops_do_it_where_all_instances_have_the_same_bounds(monkeypatch, belief, bounds, occurrences):
    statistics = counted(occurrences, 10, *bounds)
    expected = without_loops(statistics, HALVES, belief)
    monkeypatch.setattr(formulas, "prior_step", None)
    assert prior_step(statistics, HALVES, FLOOR, belief).tolist() == expected.tolist()
    monkeypatch.setattr(compiled, "has_loops", lambda: False)
    with pytest.raises(TypeError):
        prior_step(statistics, HALVES, FLOOR, belief)


def test_many_alternatives_are_swept_alike():
    rng = np.random.default_rng(5)
    statistics, priors = counted(rng.integers(200, 800, 150), 1000, 1, 30), rng.uniform(0.2, 0.8, 150)
    expected = formulas.prior_step(statistics, priors, 0.1, Belief(2.0, 3.0))
    assert prior_step(statistics, priors, 0.1, Belief(2.0, 3.0)).tolist() == expected.tolist()


def two_groups():
    return replace(counted([7, 5, 1], 10, 1, 2), groups={Group(1, 2, 3): 6.0, Group(0, 1, 3): 4.0})


@pytest.mark.parametrize(
    ("statistics", "priors", "belief"),
    [
        (two_groups(), HALVES, NO_BELIEF),  # several bounds
        (counted([7, 5, 1], 10, 2, 2), HALVES, NO_BELIEF),  # only ratios matter
        (counted([7] * 70, 10, 1, 2), np.full(70, 0.5), NO_BELIEF),  # too many for plain numbers
        (counted([5, 5], 10, 0, 1), np.array([0.5, 1 - 1e-15]), Belief(1.0, 1.0)),  # pulls too far apart
        (counted([7, 5, 0], 10, 1, 2), HALVES, NO_BELIEF),  # never right
        (counted([0, 0, 0], 0, 1, 2), HALVES, Belief(1.0, 1.0)),  # no instance
    ],
)
def test_the_rest_is_left_to_the_formulas(monkeypatch, statistics, priors, belief):
    monkeypatch.setattr(formulas, "prior_step", lambda *_: "by formulas")
    assert prior_step(statistics, priors, FLOOR, belief) == "by formulas"


def test_given_priors_stay_as_they_are():
    priors = np.array([0.2, 0.4, 0.6])
    prior_step(counted([7, 5, 1], 10, 1, 2), priors, FLOOR)
    assert priors.tolist() == [0.2, 0.4, 0.6]


def test_too_little_memory_is_told(monkeypatch):
    class NoMemory:
        @staticmethod
        def sweep_priors(*_):
            return -1

    monkeypatch.setattr(compiled, "loops", NoMemory)
    with pytest.raises(MemoryError, match="could not get the memory"):
        prior_step(counted([7, 5, 1], 10, 1, 2), HALVES, FLOOR)
