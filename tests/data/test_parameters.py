import pickle

import numpy as np
import pytest

from epivote import Parameters, RateError, Truths
from epivote.data.parameters import align_rates, off_the_edges, with_priors

GOOD = np.array([0.7, 0.6])


def test_weights_and_thresholds_are_the_papers():
    parameters = Parameters(np.full(10, 0.7), np.full(10, 0.4), np.full(5, 0.5))
    assert parameters.weights == pytest.approx(np.log(0.7 * 0.6 / (0.4 * 0.3)))
    assert parameters.thresholds.sum() == pytest.approx(6.931, abs=5e-4)


def test_a_voter_worse_than_chance_has_a_negative_weight():
    assert Parameters(np.array([0.2]), np.array([0.5]), GOOD).weights[0] < 0


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, 1.5, np.nan, np.inf])
@pytest.mark.parametrize(("position", "what"), [(0, "hit rates"), (1, "false-alarm rates"), (2, "priors")])
def test_rates_outside_the_open_unit_interval_are_refused(bad, position, what):
    arrays = [GOOD, GOOD, GOOD]
    arrays[position] = np.array([0.5, bad])
    with pytest.raises(RateError, match=rf"{what}: number 2 is {bad:g}; it must lie strictly between 0 and 1"):
        Parameters(*arrays)


def test_every_voter_needs_both_rates():
    with pytest.raises(RateError, match="2 hit rates and 1 false-alarm rates were given"):
        Parameters(GOOD, GOOD[:1], GOOD)


@pytest.mark.parametrize(("position", "what"), [(0, "hit rates"), (1, "false-alarm rates"), (2, "priors")])
def test_rates_are_rows(position, what):
    arrays = [GOOD, GOOD, GOOD]
    arrays[position] = GOOD[None]
    with pytest.raises(RateError, match=rf"{what} must be a row of numbers, not an array of shape \(1, 2\)"):
        Parameters(*arrays)


def test_rates_lie_in_one_array_that_nobody_can_change():
    given = np.array([0.7, 0.6])
    parameters = Parameters(given, [0.2, 0.1], np.array([0.5, 0.4, 0.3], object))
    given[0] = 0.9
    assert parameters.flat.tolist() == [0.7, 0.6, 0.2, 0.1, 0.5, 0.4, 0.3]
    for rates, expected in zip(parameters.arrays().values(), ([0.7, 0.6], [0.2, 0.1], [0.5, 0.4, 0.3]), strict=True):
        assert rates.tolist() == expected
        assert np.shares_memory(rates, parameters.flat)
        with pytest.raises(ValueError, match="read-only"):
            rates[0] = 0.5


def test_the_distance_is_the_largest_change_of_any_rate_also_after_pickling():
    one = Parameters(GOOD, GOOD, GOOD)
    for name in ("hit_rates", "false_alarm_rates", "priors"):
        other = pickle.loads(pickle.dumps(Parameters(**{**one.arrays(), name: GOOD - [0.0, 0.25]})))
        assert one.distance(other) == other.distance(one) == pytest.approx(0.25, rel=1e-12)


def test_rates_are_kept_off_the_edges():
    assert off_the_edges(np.array([0.0, 0.3, 1.0]), 0.1).tolist() == [0.1, 0.3, 0.9]


def test_rates_by_number_by_name_and_by_position():
    names = ("ann", "bo")
    assert align_rates(0.3, names, "hit rates").tolist() == [0.3, 0.3]
    assert align_rates({"bo": 0.2, "ann": 0.1}, names, "hit rates").tolist() == [0.1, 0.2]
    assert align_rates([0.1, 0.2], names, "hit rates").tolist() == [0.1, 0.2]
    with pytest.raises(RateError, match=r"hit rates of 'bo' is not given \(did you mean 'boo'\?\)"):
        align_rates({"ann": 0.1, "boo": 0.2}, names, "hit rates")
    with pytest.raises(RateError, match="hit rates: 3 numbers were given where 2 are needed"):
        align_rates([0.1, 0.2, 0.3], names, "hit rates")


def test_truths_read_like_a_dictionary():
    truths = Truths.from_mapping({"q1": {"b", "a"}, "q2": set()})
    assert dict(truths) == {"q1": {"a", "b"}, "q2": set()}
    assert truths.listed("q1") == ["a", "b"]
    assert truths.sizes.tolist() == [2, 0]
    assert repr(truths) == "Truths(q1: {a, b}, q2: {})"
    assert truths == Truths.from_mapping({"q2": [], "q1": ["a", "b"]}, alternatives=["z", "b", "a"])


def test_what_follows_from_rates_is_not_sent_along():
    parameters = Parameters(np.full(1000, 0.7), np.full(1000, 0.2), np.full(5, 0.3))
    small = len(pickle.dumps(parameters))
    assert parameters.pushes.shape == parameters.factors.shape == (1000, 2)
    assert len(pickle.dumps(parameters)) == small
    again = pickle.loads(pickle.dumps(parameters))
    assert again == parameters
    np.testing.assert_array_equal(again.pushes, parameters.pushes)


def test_other_priors_leave_the_voters_as_they_are():
    parameters = Parameters(np.array([0.7, 0.2, 0.51]), np.array([0.4, 0.3, 0.05]), np.array([0.5, 0.1]))
    priors = np.array([0.3, 0.999])
    other, anew = (
        with_priors(parameters, priors),
        Parameters(parameters.hit_rates, parameters.false_alarm_rates, priors),
    )
    assert other == anew
    assert other.weights is parameters.weights, "so that it can be told by `is`"
    assert other.thresholds is parameters.thresholds
    for name in ("flat", "weights", "thresholds", "prior_log_odds", "pushes"):
        np.testing.assert_array_equal(getattr(other, name), getattr(anew, name), err_msg=name)
    for mine, theirs in zip(other.logs, anew.logs, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert not other.flat.flags.writeable
    assert not other.priors.flags.writeable
    assert pickle.loads(pickle.dumps(other)) == anew
    assert other.n_groups == 0
    with pytest.raises(RateError, match="priors: number 2 is 1; it must lie strictly between 0 and 1"):
        with_priors(parameters, np.array([0.3, 1.0]))
