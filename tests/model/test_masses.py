"""The mass of size bounds however it is worked out: in plain numbers or in logarithms, also far below 1e-300."""

import math
from fractions import Fraction

import numpy as np
import pytest

from epivote.data.parameters import log_odds
from epivote.model import sizes
from epivote.model.size_counter import LogCounter, backward_table, end_states
from epivote.model.sizes import MAX_PLAIN_STATES, log_size_mass


def exact_sizes(priors):
    """P(size) for every size as exact fractions."""
    chances = [Fraction(1)]
    for prior in map(Fraction, priors):
        longer = [*chances, Fraction(0)]
        chances = [(1 - prior) * here + prior * below for here, below in zip(longer, [0, *chances], strict=True)]
    return chances


def log_of(fraction):
    """Its logarithm, however small it is."""
    if fraction * 2 > 1:
        return math.log1p(float(fraction - 1))
    if not fraction:
        return -math.inf
    return _log_of_integer(fraction.numerator) - _log_of_integer(fraction.denominator)


def _log_of_integer(number):
    shift = max(number.bit_length() - 900, 0)
    return math.log(number >> shift) + shift * math.log(2)


def masses(priors, lower, upper):
    """The mass with plain numbers where they suffice, and with logarithms everywhere."""
    found = []
    for most_states in (MAX_PLAIN_STATES, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sizes, "MAX_PLAIN_STATES", most_states)
            found.append(log_size_mass(np.array(priors), lower, upper))
    return found


LADDER = [0.125, 0.5, 0.03125, 0.875, 0.25]
ALMOST_SURE, ALMOST_NEVER = 1 - 2.0**-13, 2.0**-13


@pytest.mark.parametrize(
    ("priors", "bounds"),
    [
        (LADDER, [(lower, upper) for lower in range(6) for upper in range(lower, 6)]),
        (LADDER * 13, [(0, 2), (1, 3), (30, 33), (39, 39), (40, 40), (40, 64), (41, 41), (41, 65), (63, 65), (64, 64)]),
        ([ALMOST_SURE] * 60, [(0, 1), (3, 3), (0, 59), (59, 60), (60, 60)]),
        ([ALMOST_SURE] * 87, [(0, 0), (0, 3), (2, 3), (3, 3), (0, 86)]),
        ([ALMOST_NEVER] * 87, [(40, 87), (40, 41), (87, 87), (38, 40), (1, 2)]),
        ([ALMOST_SURE] * 150 + [0.5] * 3, [(0, 1), (2, 5), (1, 152)]),
        ([0.5] * 120 + [ALMOST_SURE] * 40, [(0, 2), (30, 33)]),
        ([0.3], [(0, 0), (0, 1), (1, 1)]),
    ],
)
def test_every_mass_is_right_to_the_last_digits_however_small(priors, bounds):
    chances = exact_sizes(priors)
    for lower, upper in bounds:
        expected = log_of(sum(chances[lower : upper + 1]))
        plain, logs = masses(priors, lower, upper)
        assert plain == pytest.approx(expected, rel=1e-11, abs=1e-13), (lower, upper)
        assert logs == pytest.approx(expected, rel=1e-11, abs=1e-13), (lower, upper)


def test_the_masses_of_a_hundred_sure_alternatives_lie_far_below_what_a_number_can_hold():
    assert masses([ALMOST_SURE] * 100, 0, 1)[0] < -800


@pytest.mark.parametrize("priors", [[ALMOST_SURE] * 90, [ALMOST_NEVER] * 50 + [0.5] * 3, LADDER])
def test_the_mass_of_every_single_size_is_right_in_both_tails(priors):
    for size, chance in enumerate(exact_sizes(priors)):
        assert masses(priors, size, size) == pytest.approx([log_of(chance)] * 2, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize(("lower", "upper"), [(0, 2), (1, 3), (2, 2), (3, 90), (0, 89)])
def test_masses_with_and_without_an_alternative_are_right_where_they_nearly_vanish(lower, upper):
    priors = [ALMOST_SURE] * 88 + [0.25, 0.625]
    theta = log_odds(np.array(priors))
    counter = LogCounter(theta, lower, upper)
    for j in range(len(priors)):
        if j in (0, 88, 89):
            chances = exact_sizes(priors[:j] + priors[j + 1 :])
            with_, without = sum(chances[max(lower - 1, 0) : upper]), sum(chances[lower : upper + 1])
            assert counter.pull(j) == pytest.approx(log_of(with_) - log_of(without), rel=1e-10, abs=1e-11)
        counter.advance(theta[j])


def test_impossible_sizes_have_no_mass():
    with np.errstate(all="ignore"):
        table = backward_table(np.array([-np.inf, 0.0]), 2, 2)
    assert table[0][0] == -np.inf, "the first can never be in it, so two never are"


def test_the_counter_keeps_as_few_states_as_the_bounds_can_tell_apart():
    assert end_states(2, 3, 9).tolist() == [-np.inf, -np.inf, 0, 0, -np.inf], "0 to 3, and too many"
    assert end_states(2, 9, 9).tolist() == [-np.inf, -np.inf, 0], "0, 1, and enough"
    assert end_states(2, 8, 9).tolist() == [-np.inf, -np.inf, *[0] * 7, -np.inf]
    assert end_states(0, 9, 9).tolist() == [0]


def test_neither_way_of_counting_shows_where_they_meet():
    priors = np.arange(10, 54) / 64
    chances = exact_sizes(priors)
    for upper in range(MAX_PLAIN_STATES - 2, MAX_PLAIN_STATES + 3):
        for bounds in ((0, upper), (upper, 44), (upper, upper)):
            expected = log_of(sum(chances[bounds[0] : bounds[1] + 1]))
            assert masses(priors, *bounds) == pytest.approx([expected] * 2, rel=1e-11, abs=1e-13)
