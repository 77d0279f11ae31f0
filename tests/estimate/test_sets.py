"""The most probable sets, and sets of highest expected utility."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote import (
    EM,
    InputError,
    jaccard,
    simulate,
)
from epivote.model.probable_sets import best_sets
from epivote.model.utilities import decide, expected_jaccard, member_and_size

margin_rows = st.lists(st.floats(-6, 6), min_size=1, max_size=6)


def enumerated(margins, lower, upper):
    """(set, probability) of all allowed sets, most probable first."""
    weights = [
        (chosen, math.exp(sum(margins[j] for j in chosen)))
        for chosen in oracles.allowed_sets(range(len(margins)), lower, upper)
    ]
    total = math.fsum(weight for _, weight in weights)
    return sorted(((chosen, weight / total) for chosen, weight in weights), key=lambda pair: -pair[1])


def draw_bounds(data, margins):
    lower = data.draw(st.integers(0, len(margins)))
    return lower, data.draw(st.integers(lower, len(margins)))


@given(margin_rows, st.integers(1, 8), st.data())
def test_the_best_sets_are_those_of_enumeration(margins, count, data):
    lower, upper = draw_bounds(data, margins)
    exact = enumerated(margins, lower, upper)[:count]
    found = best_sets(np.array(margins), lower, upper, count)
    assert [probability for probability, _ in found] == pytest.approx([p for _, p in exact], abs=1e-10)
    chances = {frozenset(chosen): p for chosen, p in enumerated(margins, lower, upper)}
    for probability, members in found:
        assert probability == pytest.approx(chances[frozenset(members)], abs=1e-10)
    assert len({members for _, members in found}) == len(found)


def test_best_sets_of_ten_thousand_alternatives():
    margins = np.random.default_rng(0).normal(-5, 3, 10_000)
    found = best_sets(margins, 1, 50, 5)
    assert len(found) == 5
    assert all(one[0] >= other[0] for one, other in itertools.pairwise(found))


@given(margin_rows, st.data())
def test_member_and_size_probabilities(margins, data):
    lower, upper = draw_bounds(data, margins)
    joint, empty = member_and_size(np.array(margins), lower, upper)
    exact = enumerated(margins, lower, upper)
    for j in range(len(margins)):
        for s in range(1, upper + 1):
            expected = sum(p for chosen, p in exact if j in chosen and len(chosen) == s)
            assert joint[j, s] == pytest.approx(expected, abs=1e-10)
    assert empty == pytest.approx(sum(p for chosen, p in exact if not chosen), abs=1e-10)


def f1(one, other):
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def agreement(one, other, m):
    return sum((j in one) == (j in other) for j in range(m)) / m


@pytest.mark.parametrize("utility", ["exact", "hamming", "f1"])
@given(margins=margin_rows, data=st.data())
def test_decisions_maximise_expected_utility(utility, margins, data):
    lower, upper = draw_bounds(data, margins)
    exact = enumerated(margins, lower, upper)
    gain = {
        "exact": lambda s, t: float(s == t),
        "hamming": lambda s, t: agreement(s, t, len(margins)),
        "f1": f1,
    }[utility]

    def expected(chosen):
        return math.fsum(p * gain(chosen, truth) for truth, p in exact)

    row = decide(np.array([margins]), lower, upper, utility)[0]
    mine = {int(j) for j in np.flatnonzero(row)}
    assert lower <= len(mine) <= upper
    best = max(expected(chosen) for chosen, _ in exact)
    assert expected(mine) == pytest.approx(best, abs=1e-8)


def overlap(one, other):
    return len(one & other) / len(one | other) if one or other else 1.0


@given(margins=margin_rows, data=st.data())
def test_expected_jaccard_is_exact_and_the_best_nested_set_is_taken(margins, data):
    lower, upper = draw_bounds(data, margins)
    exact = enumerated(margins, lower, upper)

    def expected(chosen):
        return math.fsum(p * overlap(chosen, truth) for truth, p in exact)

    for chosen in oracles.allowed_sets(range(len(margins)), lower, upper):
        mask = np.array([j in chosen for j in range(len(margins))])
        assert expected_jaccard(np.array(margins), mask, lower, upper) == pytest.approx(expected(chosen), abs=1e-10)
    mine = {int(j) for j in np.flatnonzero(decide(np.array([margins]), lower, upper, "jaccard")[0])}
    inclusion = [sum(p for chosen, p in exact if j in chosen) for j in range(len(margins))]
    order = sorted(range(len(margins)), key=lambda j: (-round(inclusion[j], 9), j))
    assert expected(mine) == pytest.approx(max(expected(set(order[:k])) for k in range(lower, upper + 1)), abs=1e-9)


@pytest.mark.slow
def test_deciding_for_f1_pays_in_overlap():
    crowd = simulate(
        instances=3000, voters=50, alternatives=6, bounds=(1, 4), priors=0.35, ballots_per_instance=3, seed=1
    )
    fitted = EM((1, 4)).fit(crowd.ballots)
    assert jaccard(fitted.decide("f1"), crowd.gold, crowd.ballots) > jaccard(
        fitted.decide("exact"), crowd.gold, crowd.ballots
    )
    assert fitted.decide("exact") == fitted.truth_
    with pytest.raises(InputError, match="utility='accuracy' is not one of 'exact', 'hamming', 'f1', 'jaccard'"):
        fitted.decide("accuracy")


def test_best_sets_and_expected_sizes_of_a_fit():
    crowd = simulate(instances=40, voters=8, alternatives=4, bounds=(1, 3), seed=2)
    fitted = EM((1, 3)).fit(crowd.ballots)
    first, chance = fitted.best_sets("i1", 1)[0]
    assert first == fitted.truth_["i1"]
    assert chance == pytest.approx(fitted.confidence_[0])
    assert fitted.expected_sizes_[0] == pytest.approx(sum(len(s) * p for s, p in fitted.best_sets("i1", 20)), abs=1e-9)
