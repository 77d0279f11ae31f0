import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote.model import top_sets as module
from epivote.model.choose import choose
from epivote.model.probable_sets import best_sets
from epivote.model.top_sets import top_sets


@st.composite
def tables(draw, values):
    width = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=3))
    lower = draw(st.integers(0, width))
    return np.array(rows, float), lower, draw(st.integers(lower, width)), draw(st.integers(1, 4))


def ranked(margins, lower, upper):
    """All allowed sets by brute force: most probable first, then larger, then with earlier listed members."""
    sets = [s for size in range(lower, upper + 1) for s in combinations(range(len(margins)), size)]
    weights = [math.exp(math.fsum(margins[j] for j in s)) for s in sets]
    total = math.fsum(weights)

    def key(pair):
        members, _ = pair
        worth = round(math.fsum(round(margins[j], 9) for j in members), 9)
        early = sorted(members, key=lambda j: (-round(margins[j], 9), j))
        places = sorted(range(len(margins)), key=lambda j: (-round(margins[j], 9), j))
        return -worth, -len(members), [places.index(j) for j in early]

    return [(members, weight / total) for members, weight in sorted(zip(sets, weights, strict=True), key=key)]


@given(tables(st.floats(-6, 6)))
def test_equals_brute_force(table):
    margins, lower, upper, count = table
    members, probabilities = top_sets(margins, lower, upper, count)
    for row, sets, chances in zip(margins.tolist(), members, probabilities, strict=True):
        expected = ranked(row, lower, upper)[:count]
        assert [tuple(np.flatnonzero(s)) for s in sets] == [s for s, _ in expected]
        assert chances == pytest.approx([chance for _, chance in expected], abs=1e-12)


@given(tables(st.integers(-2, 2)))
def test_ties_come_in_the_order_of_the_tie_rule(table):
    margins, lower, upper, count = table
    members, _ = top_sets(margins, lower, upper, count)
    for row, sets in zip(margins.tolist(), members, strict=True):
        assert [tuple(np.flatnonzero(s)) for s in sets] == [s for s, _ in ranked(row, lower, upper)[:count]]
    assert np.array_equal(members[:, 0], choose(margins, lower, upper))


@given(tables(st.floats(-40, 40)))
def test_agrees_with_one_instance_at_a_time(table):
    margins, lower, upper, count = table
    _, probabilities = top_sets(margins, lower, upper, count)
    for row, chances in zip(margins, probabilities, strict=True):
        assert chances == pytest.approx([chance for chance, _ in best_sets(row, lower, upper, count)], abs=1e-9)


def test_blocks_change_nothing(monkeypatch):
    margins = np.random.default_rng(1).normal(0, 2, (500, 30))
    whole = top_sets(margins, 1, 4, 4)
    monkeypatch.setattr(module, "NUMBERS_PER_BLOCK", 256 * 7)
    parts = top_sets(margins, 1, 4, 4)
    assert all(np.array_equal(one, other) for one, other in zip(whole, parts, strict=True))


def test_no_more_sets_than_there_are():
    members, probabilities = top_sets(np.array([[1.0, -1.0]]), 2, 2, 4)
    assert members.tolist() == [[[True, True]]]
    assert probabilities.tolist() == [[1.0]]
    assert top_sets(np.zeros((0, 3)), 1, 2, 3)[0].shape == (0, 3, 3)


def test_thousands_of_alternatives():
    margins = np.zeros((1, 5000))
    margins[0, :3] = [2.0, 1.0, -0.5]
    margins[0, 3:] = -20
    members, _ = top_sets(margins, 0, 5000, 3)
    assert [np.flatnonzero(each).tolist() for each in members[0]] == [[0, 1], [0, 1, 2], [0]]


def test_margins_of_thousands():
    members, probabilities = top_sets(np.array([[3000.0, 2999.0, -5000.0]]), 1, 1, 2)
    assert members[0].tolist() == [[True, False, False], [False, True, False]]
    assert probabilities[0] == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e)])
