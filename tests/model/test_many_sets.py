"""The few most probable sets against brute force, for every width, bounds and number of sets."""

import math
from itertools import combinations

import numpy as np
import pytest

from epivote.model import top_sets as module
from epivote.model.probable_sets import best_sets
from epivote.model.top_sets import top_sets
from epivote.model.utilities import decide, expected_jaccard, member_and_size

SHAPES = [(m, lower, upper) for m in range(1, 7) for lower in range(m + 1) for upper in range(lower, m + 1)]


def ranked(row, lower, upper):
    """(set, probability) of all allowed sets: most probable first, then larger, then with earlier listed members."""
    sets = [chosen for size in range(lower, upper + 1) for chosen in combinations(range(len(row)), size)]
    weights = {chosen: math.fsum(row[j] for j in chosen) for chosen in sets}
    heaviest = max(weights.values())
    total = math.fsum(math.exp(weight - heaviest) for weight in weights.values())
    place = {j: number for number, j in enumerate(sorted(range(len(row)), key=lambda j: (-round(row[j], 9), j)))}

    def key(chosen):
        return -round(weights[chosen], 9), -len(chosen), sorted(place[j] for j in chosen)

    return [(chosen, math.exp(weights[chosen] - heaviest) / total) for chosen in sorted(sets, key=key)]


def rows_of(width):
    """Some margins that differ, some whole ones with many ties, some of hundreds."""
    rng = np.random.default_rng(width)
    return np.vstack([rng.normal(0, 2, (2, width)), rng.integers(-1, 2, (2, width)), rng.normal(0, 300, (1, width))])


@pytest.mark.parametrize("width", range(1, 7))
def test_the_first_sets_are_those_of_brute_force_up_to_the_width_of_the_menu(width):
    rows = rows_of(width)
    for _, lower, upper in (shape for shape in SHAPES if shape[0] == width):
        exact = [ranked(row, lower, upper) for row in rows.tolist()]
        for count in range(1, 5):
            members, chances = top_sets(rows, lower, upper, count)
            for row, sets, probabilities, best in zip(rows, members, chances, exact, strict=True):
                assert [tuple(np.flatnonzero(one)) for one in sets] == [chosen for chosen, _ in best[:count]]
                assert probabilities == pytest.approx([chance for _, chance in best[:count]], abs=1e-12)
                found = best_sets(row, lower, upper, count)
                assert [chance for chance, _ in found] == pytest.approx(probabilities.tolist(), abs=1e-9)
        for row, best in zip(rows, exact, strict=True):
            found = best_sets(row, lower, upper, 200)
            assert {chosen for _, chosen in found} == {chosen for chosen, _ in best}, (
                "all of them, if so many are asked"
            )
            assert all(0 <= chance <= 1 for chance, _ in found)


@pytest.mark.parametrize("per_block", [1, 16, 33, 50, 1 << 20])
def test_blocks_of_any_size_find_the_same(per_block, monkeypatch):
    rows = np.random.default_rng(2).normal(0, 2, (7, 5))
    expected = [ranked(row, 1, 4)[:3] for row in rows.tolist()]
    monkeypatch.setattr(module, "NUMBERS_PER_BLOCK", per_block)
    members, chances = top_sets(rows, 1, 4, 3)
    assert [[tuple(np.flatnonzero(one)) for one in sets] for sets in members] == [
        [chosen for chosen, _ in best] for best in expected
    ]
    np.testing.assert_allclose(chances, [[chance for _, chance in best] for best in expected], atol=1e-12)


def test_at_most_four_sets_are_found_at_once():
    row = np.array([[0.3, -0.2, 0.1, 0.7]])
    assert top_sets(row, 0, 4, 4)[0].shape == (1, 4, 4)
    for count in (0, 5):
        with pytest.raises(AssertionError, match="must be 1..4"):
            top_sets(row, 0, 4, count)


def hits(one, other):
    return len(set(one) & set(other))


GAINS = {
    "exact": lambda one, truth, m: float(one == truth),
    "hamming": lambda one, truth, m: m - len(set(one) ^ set(truth)),
    "f1": lambda one, truth, m: 2 * hits(one, truth) / (len(one) + len(truth)) if one or truth else 1.0,
    "jaccard": lambda one, truth, m: hits(one, truth) / len(set(one) | set(truth)) if one or truth else 1.0,
}


@pytest.mark.parametrize("width", range(1, 5))
def test_decisions_have_the_highest_expected_gain_under_all_bounds(width):
    rows = np.random.default_rng(width).normal(0, 1.5, (3, width))
    for _, lower, upper in (shape for shape in SHAPES if shape[0] == width):
        for utility, gain in GAINS.items():
            decided = decide(rows, lower, upper, utility)
            assert decided.shape == rows.shape
            assert decided.dtype == bool
            for row, members in zip(rows, decided, strict=True):
                exact = ranked(row.tolist(), lower, upper)
                expected = {
                    chosen: math.fsum(chance * gain(chosen, truth, width) for truth, chance in exact)
                    for chosen, _ in exact
                }
                mine = tuple(np.flatnonzero(members))
                inside = [sum(chance for chosen, chance in exact if j in chosen) for j in range(width)]
                order = sorted(range(width), key=lambda j: -inside[j])
                allowed = [tuple(sorted(order[:k])) for k in range(lower, upper + 1)]
                best = max(expected[chosen] for chosen in (allowed if utility == "jaccard" else expected))
                assert expected[mine] == pytest.approx(best, abs=1e-10), utility


def test_no_rows_no_decisions():
    for utility in GAINS:
        assert decide(np.zeros((0, 3)), 1, 2, utility).shape == (0, 3)


def test_among_many_equals_those_listed_first_win():
    """So many that a sort which does not keep their order shows."""
    row = np.full(40, 0.1)
    row[::7] = -0.4
    first = np.flatnonzero(row > 0).tolist()
    for utility in GAINS:
        assert np.flatnonzero(decide(row[None, :], 3, 3, utility)[0]).tolist() == first[:3], utility
    members, _ = top_sets(row[None, :], 3, 3, 2)
    assert [np.flatnonzero(one).tolist() for one in members[0]] == [first[:3], [*first[:2], first[3]]]
    assert best_sets(row, 3, 3, 1)[0][1] == tuple(first[:3])


def test_margins_of_hundreds_leave_joint_chances_of_member_and_size_right():
    row = np.array([500.0, 499.0, -300.0, 498.5])
    for lower, upper in ((0, 4), (1, 2), (2, 3), (0, 1)):
        exact = ranked(row.tolist(), lower, upper)
        joint, empty = member_and_size(row, lower, upper)
        assert joint.shape == (4, upper + 1)
        for j in range(4):
            for size in range(upper + 1):
                chance = sum(chance for chosen, chance in exact if j in chosen and len(chosen) == size)
                assert joint[j, size] == pytest.approx(chance, abs=1e-10)
        assert empty == pytest.approx(sum(chance for chosen, chance in exact if not chosen), abs=1e-10)
        for members in ((0, 1), (3,), ()):
            mask = np.isin(np.arange(4), members)
            gain = sum(chance * GAINS["jaccard"](members, chosen, 4) for chosen, chance in exact)
            assert expected_jaccard(row, mask, lower, upper) == pytest.approx(gain, abs=1e-10)
