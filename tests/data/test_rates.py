"""What follows from rates against math.log, at ordinary and extreme probabilities."""

import gc
import math
import weakref

import numpy as np
import pandas as pd
import pytest

from epivote import Parameters, RateError
from epivote.data.parameters import align_rates, check_rates, from_log_odds, log_odds

P, Q, T = [0.9, 0.2, 1e-12, 0.5], [0.1, 0.6, 0.3, 1 - 1e-12], [0.3, 0.7, 1e-300]
ONE = Parameters(np.array(P), np.array(Q), np.array(T))
OTHER = Parameters(np.array([0.85, 0.6, 0.01, 0.5]), np.array([0.1, 0.3, 0.4, 0.9]), np.array([0.35, 0.7, 1e-290]))


def log_of(rate):
    return math.log(rate / (1 - rate)) if rate > 1e-10 else math.log(rate)


def weight(p, q):
    return math.log(p) - math.log1p(-p) - math.log(q) + math.log1p(-q)


def threshold(p, q):
    return math.log1p(-q) - math.log1p(-p)


def test_everything_that_follows_from_rates():
    weights = [weight(p, q) for p, q in zip(P, Q, strict=True)]
    thresholds = [threshold(p, q) for p, q in zip(P, Q, strict=True)]
    assert ONE.weights.tolist() == pytest.approx(weights)
    assert ONE.thresholds.tolist() == pytest.approx(thresholds)
    assert ONE.pushes.tolist() == [pytest.approx(pair) for pair in zip(weights, thresholds, strict=True)]
    assert ONE.largest_push == pytest.approx(max(abs(w) + abs(h) for w, h in zip(weights, thresholds, strict=True)))
    assert ONE.prior_log_odds.tolist() == pytest.approx([log_of(t) for t in T])
    factors = [(p / q / ((1 - p) / (1 - q)), (1 - p) / (1 - q)) for p, q in zip(P, Q, strict=True)]
    assert ONE.factors.tolist() == [pytest.approx(pair, rel=1e-4) for pair in factors]
    logs = ONE.logs
    for found, expected in (
        (logs.hit, [math.log(p) for p in P]),
        (logs.miss, [math.log1p(-p) for p in P]),
        (logs.false_alarm, [math.log(q) for q in Q]),
        (logs.rejection, [math.log1p(-q) for q in Q]),
        (logs.present, [math.log(t) for t in T]),
        (logs.absent, [math.log1p(-t) for t in T]),
    ):
        assert found.tolist() == pytest.approx(expected, rel=1e-12)
    assert ONE.hit_rates.tolist() == P, "nothing was worked out in place"


def test_factors_out_of_range_are_infinite_or_nothing():
    far = Parameters(np.array([1 - 1e-16, 1e-323]), np.array([5e-324, 0.99]), np.array([0.5]))
    with np.errstate(all="raise"):
        assert far.factors[0, 0] == np.inf
        assert 0 <= far.factors[1, 0] < 1e-320


def test_moves_are_the_most_a_ballot_and_a_prior_can_change():
    voters, priors = ONE.moves_to(OTHER)
    for i in range(4):
        w = weight(OTHER.hit_rates[i], OTHER.false_alarm_rates[i]) - weight(P[i], Q[i])
        h = threshold(OTHER.hit_rates[i], OTHER.false_alarm_rates[i]) - threshold(P[i], Q[i])
        moves = [w - h, -h]
        assert voters[i].tolist() == pytest.approx([max(moves), -min(moves)], rel=1e-6)
    changes = [abs(log_of(mine) - log_of(new)) for mine, new in zip(T, OTHER.priors, strict=True)]
    assert priors == pytest.approx(max(changes))
    assert ONE.moves_to(OTHER)[0] is voters, "worked out once"
    still, none = ONE.moves_to(ONE)
    assert (still.any(), none) == (False, 0.0)
    assert ONE.moves_to(OTHER)[1] == pytest.approx(max(changes)), "never those to somebody else"


def test_preparing_works_out_what_passes_look_up():
    one, other = (Parameters(np.array([p]), np.array([0.1]), np.array([0.5])) for p in (0.5, 0.6))
    other.prepare(one)
    assert {"largest_push", "prior_log_odds"} <= set(vars(other))
    assert "_moves" in vars(one)
    one.prepare(None)
    assert "_moves" not in vars(other)


def test_the_distance_is_the_largest_change_of_any_rate():
    base = Parameters(np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.array([0.5]))
    for change, expected in (
        ((np.array([0.5, 0.4]), base.false_alarm_rates, base.priors), 0.1),
        ((base.hit_rates, np.array([0.7, 0.6]), base.priors), 0.2),
        ((base.hit_rates, base.false_alarm_rates, np.array([0.2])), 0.3),
        ((np.array([0.5, 0.9]), np.array([0.3, 0.5]), np.array([0.6])), 0.4),
    ):
        other = Parameters(*change)
        assert base.distance(other) == other.distance(base) == pytest.approx(expected)
        assert base != other
    assert base.distance(base) == 0
    nobody, other = (Parameters(np.zeros(0), np.zeros(0), np.array([prior])) for prior in (0.5, 0.75))
    assert nobody.distance(other) == 0.25
    assert base == Parameters(base.hit_rates, base.false_alarm_rates, base.priors)
    assert base != "parameters"
    with pytest.raises(TypeError, match="unhashable"):
        hash(base)


def test_log_odds_there_and_back():
    rates = np.array([1e-300, 0.2, 0.5, 1 - 1e-12])
    assert log_odds(rates).tolist() == pytest.approx([log_of(rate) for rate in rates], rel=1e-4)
    assert from_log_odds(log_odds(rates)).tolist() == pytest.approx(rates.tolist())
    assert from_log_odds(np.array([-700.0, 0.0, 2.0, 800.0])).tolist() == pytest.approx(
        [math.exp(-700), 0.5, 1 / (1 + math.exp(-2)), 1.0]
    )
    assert from_log_odds(np.array([-700.0]))[0] > 0


def test_rates_are_aligned_by_name_wherever_they_have_names():
    names = ("ann", "bo")
    assert align_rates({"cy": 0.9, "bo": 0.2, "ann": 0.1}, names, "priors").tolist() == [0.1, 0.2]
    assert align_rates({1: 0.3, 2: 0.4}, ("2", "1"), "priors").tolist() == [0.4, 0.3]
    assert align_rates(pd.Series({"bo": 0.2, "ann": 0.1, "cy": 0.3}), names, "priors").tolist() == [0.1, 0.2]
    assert align_rates(pd.Series({"bo": 0.2, "ann": 0.1}), names, "priors").tolist() == [0.1, 0.2]
    assert align_rates(pd.Series([0.6, 0.7]), names, "priors").tolist() == [0.6, 0.7], "an index of other names"
    assert align_rates((0.6, 0.7), iter(names), "priors").tolist() == [0.6, 0.7]
    assert align_rates(np.float64(0.3), names, "priors").tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"ann": 0.1}, r"priors of 'bo' is not given; given are 'ann'$"),
        ({"ann": 0.1, "bob": 0.2}, r"priors of 'bo' is not given \(did you mean 'bob'\?\); given are 'ann', 'bob'$"),
        ([0.1], "priors: 1 numbers were given where 2 are needed"),
        ([[0.1, 0.2]], "priors: 2 numbers were given where 2 are needed"),
        ([0.1, 1.0], "priors: number 2 is 1; it must lie strictly between 0 and 1"),
        (0.0, "priors: number 1 is 0; it must lie"),
    ],
)
def test_rates_that_do_not_fit_are_refused(rates, message):
    with pytest.raises(RateError, match=message):
        align_rates(rates, ("ann", "bo"), "priors")


def test_a_table_of_rates_is_refused():
    with pytest.raises(RateError, match=r"priors must be a row of numbers, not an array of shape \(1, 2\)"):
        check_rates(np.full((1, 2), 0.5), "priors")
    with pytest.raises(RateError, match="hit rates: number 1 is 2"):
        Parameters(np.array([2.0, 3.0]), np.array([0.5, 0.5]), np.array([0.5]))
    with pytest.raises(
        RateError, match="1 hit rates and 2 false-alarm rates were given; every voter needs one of each"
    ):
        Parameters(np.array([0.5]), np.array([0.5, 0.5]), np.array([0.5]))


def test_parameters_do_not_hold_those_that_followed_them():
    following = Parameters.alike(3, 0.6, 0.2, np.full(2, 0.4))
    gone = weakref.ref(following)
    first = Parameters.alike(3, 0.8, 0.2, np.full(2, 0.4))
    first.moves_to(following)
    del following
    gc.collect()
    assert gone() is None
