"""How far stated confidence is off, by hand."""

import pytest

from epivote import InputError, calibration, calibration_error


def test_the_error_is_the_mean_distance_over_bins():
    confidence = [0.05, 0.15, 0.15, 0.95, 0.95, 1.0]
    right = [0, 1, 0, 1, 1, 0]
    by_hand = (1 * abs(0.05 - 0) + 2 * abs(0.15 - 0.5) + 3 * abs((0.95 + 0.95 + 1) / 3 - 2 / 3)) / 6
    found = calibration_error(confidence, right)
    assert found.mean == pytest.approx(by_hand)
    assert found.low <= found.mean <= found.high
    one = (6 * abs(sum(confidence) / 6 - 0.5)) / 6
    assert calibration_error(confidence, right, bins=1).mean == pytest.approx(one)


def test_certainty_that_is_right_has_no_error():
    found = calibration_error([1.0] * 5 + [0.0] * 5, [1] * 5 + [0] * 5)
    assert (found.mean, found.low, found.high) == (0.0, 0.0, 0.0)


def test_more_sets_narrow_the_interval():
    few, many = (calibration_error([0.9, 0.8, 0.3, 0.6] * n, [1, 1, 0, 0] * n) for n in (3, 60))
    assert few.mean == pytest.approx(many.mean)
    assert many.high - many.low < few.high - few.low


def test_bad_input():
    with pytest.raises(InputError, match="do not make pairs"):
        calibration_error([0.5], [1, 0])
    with pytest.raises(InputError, match="between 0 and 1"):
        calibration_error([1.5], [1])


@pytest.mark.parametrize("stated", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
def test_a_confidence_on_an_edge_belongs_to_the_bin_above(stated):
    """Also 0.3, 0.6 and 0.7, which multiples of a tenth miss by a rounding error."""
    (found,) = calibration([stated], [True])
    assert (found.low, found.high) == (stated, round(stated + 0.1, 1))
    below = stated - 0.05
    error = calibration_error([stated, below], [True, False])
    assert error.mean == pytest.approx((1 - stated + below) / 2)
    assert (error.low, error.high) == pytest.approx(tuple(sorted((1 - stated, below))))
