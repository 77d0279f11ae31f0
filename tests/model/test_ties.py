"""The tie rule to the ninth decimal, for every pair of bounds: which set, whether it has rivals, and all of them."""

from itertools import combinations, product

import numpy as np
import pytest

from epivote.model.choose import choose, count_optimal, optimal_sets, tied

WIDTHS = range(6)
EVERY_BOUNDS = [(m, lower, upper) for m in WIDTHS for lower in range(m + 1) for upper in range(lower, m + 1)]


def units(margin):
    """A margin as a whole number of billionths."""
    return round(margin * 1e9)


def best_by_brute_force(row, lower, upper):
    """All sets of the highest value, the one that the tie rule prefers first."""
    sets = [chosen for size in range(lower, upper + 1) for chosen in combinations(range(len(row)), size)]
    value = {chosen: sum(units(row[j]) for j in chosen) for chosen in sets}
    best = [chosen for chosen in sets if value[chosen] == max(value.values())]
    return sorted(best, key=lambda chosen: (-len(chosen), chosen))


def rows_of(width):
    """Margins with many ties, and with differences just large or just small enough to count."""
    rng = np.random.default_rng(width)
    whole = rng.integers(-2, 3, (12, width)).astype(float)
    close = rng.choice([0.0, 4e-10, -4e-10, 4e-9, -4e-9, 6e-10, -6e-10], (12, width))
    return np.vstack([whole, close, whole + close, rng.normal(0, 2, (4, width))])


@pytest.mark.parametrize(("width", "lower", "upper"), EVERY_BOUNDS)
def test_the_set_its_rivals_and_their_number_are_those_of_brute_force(width, lower, upper):
    rows = rows_of(width)
    chosen = choose(rows, lower, upper)
    rivals = tied(rows, chosen, lower)
    for row, members, has_rivals in zip(rows, chosen, rivals, strict=True):
        best = best_by_brute_force(row, lower, upper)
        assert tuple(np.flatnonzero(members)) == best[0]
        assert bool(has_rivals) == (len(best) > 1), "a tie is told where there is one, and nowhere else"
        assert count_optimal(row, lower, upper) == len(best)
        found = list(optimal_sets(row, lower, upper))
        assert found[0] == best[0]
        assert sorted(found) == sorted(best), "each in ascending order, none twice"
        assert [len(each) for each in found] == [len(each) for each in best], "larger ones first"


@pytest.mark.parametrize(("noise", "equal"), [(4e-10, True), (-4e-10, True), (6e-10, False), (4e-9, False)])
def test_margins_are_equal_if_they_agree_to_nine_decimals(noise, equal):
    rows = np.array([[1.0, 1.0 + noise]])
    chosen = choose(rows, 1, 1)
    assert chosen.tolist() == ([[True, False]] if equal else [[False, True]])
    assert tied(rows, chosen, 1).tolist() == [equal]
    assert count_optimal(rows[0], 1, 1) == (2 if equal else 1)
    assert choose(np.array([[-abs(noise)]]), 0, 1).tolist() == [[equal]], "at the threshold it is in"
    at_zero = np.array([[abs(noise), 1.0]])
    assert tied(at_zero, choose(at_zero, 0, 2), 0).tolist() == [equal], "it could as well be left out"


def test_every_row_is_chosen_on_its_own():
    """Rows that break the lower bound, the upper one or none stand side by side in every order."""
    kinds = {"few": [-3.0, -1.0, -2.0, -4.0], "fine": [1.0, -1.0, 2.0, -2.0], "many": [1.0, 2.0, 4.0, 3.0]}
    expected = {"few": [1, 2], "fine": [0, 2], "many": [1, 2, 3]}
    for order in product(kinds, repeat=3):
        chosen = choose(np.array([kinds[kind] for kind in order]), 2, 3)
        assert [np.flatnonzero(row).tolist() for row in chosen] == [expected[kind] for kind in order]


def test_nothing_on_offer_is_no_tie():
    nothing = np.zeros((2, 0))
    assert choose(nothing, 0, 0).shape == (2, 0)
    assert tied(nothing, choose(nothing, 0, 0), 0).tolist() == [False, False]


def test_ties_are_found_among_rounded_margins():
    rng = np.random.default_rng(3)
    margins = rng.integers(-4, 5, (2000, 5)) * 1e-9 + rng.integers(-2, 3, (2000, 5)) * 5e-10
    chosen = choose(margins, 1, 3)
    rounded = margins.round(9)
    expected = [
        (inside.min() == outside.max(initial=-np.inf)) or (inside.min() == 0 and len(inside) > 1)
        for inside, outside in ((row[sets], row[~sets]) for row, sets in zip(rounded, chosen, strict=True))
    ]
    assert 100 < sum(expected) < 1900
    assert tied(margins, chosen, 1).tolist() == expected
