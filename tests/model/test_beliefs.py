"""Counts that are believed rather than seen, and statistics that add up over any cut, against plain loops."""

import math

import numpy as np
import pytest

from epivote import Parameters
from epivote.model.pseudo import PseudoCounts, shrinkage
from epivote.model.statistics import FixedCounts, Group, PassCounts, Statistics
from epivote.model.voters import voter_step

P = Parameters(np.array([0.9, 0.6, 0.3]), np.array([0.2, 0.1, 0.4]), np.array([0.25, 0.7]))


def belief(**changes):
    rows = {
        "hits": np.array([1.0, 2.0, 3.0]),
        "misses": np.array([0.5, 0.0, 4.0]),
        "false_alarms": np.array([2.0, 1.0, 0.0]),
        "rejections": np.array([7.0, 3.0, 1.5]),
        "prior_in": 1.25,
        "prior_out": 2.5,
    }
    return PseudoCounts(**{**rows, **changes})


def log_density_by_hand(given):
    total = 0.0
    for i in range(3):
        total += given.hits[i] * math.log(P.hit_rates[i]) + given.misses[i] * math.log(1 - P.hit_rates[i])
        total += given.false_alarms[i] * math.log(P.false_alarm_rates[i])
        total += given.rejections[i] * math.log(1 - P.false_alarm_rates[i])
    for prior in P.priors:
        total += given.prior_in * math.log(prior) + given.prior_out * math.log(1 - prior)
    return total


ROWS = ("hits", "misses", "false_alarms", "rejections")


@pytest.mark.parametrize("only", [*ROWS, "prior_in", "prior_out", None])
def test_every_believed_count_adds_its_logarithm_to_the_objective(only):
    none = {name: np.zeros(3) for name in ROWS} | {"prior_in": 0.0, "prior_out": 0.0}
    given = belief() if only is None else belief(**{name: value for name, value in none.items() if name != only})
    assert given.log_density(P) == pytest.approx(log_density_by_hand(given), rel=1e-12)
    assert given.log_density(P) < 0
    assert given.of_voters == (only in (*ROWS, None))


def test_nothing_believed_adds_nothing():
    nothing = PseudoCounts.none(3)
    assert nothing.log_density(P) == 0.0
    assert not nothing.of_voters
    assert [len(getattr(nothing, name)) for name in ROWS] == [3] * 4
    assert (nothing.prior_in, nothing.prior_out) == (0.0, 0.0)
    together = nothing + belief()
    for name in (*ROWS, "prior_in", "prior_out"):
        np.testing.assert_array_equal(getattr(together, name), getattr(belief(), name))
        np.testing.assert_array_equal(getattr(together + belief(), name), 2 * getattr(belief(), name))


def seen(hits, winners, alarms, losers, occurrences=(3.0, 5.0), offered=(10.0, 10.0)):
    return Statistics(*(np.array(each, float) for each in (hits, winners, alarms, losers, occurrences, offered)), {})


def test_believed_counts_count_like_ticks_seen():
    statistics = seen([3, 0, 5], [6, 0, 5], [1, 2, 0], [8, 4, 0])
    p, q = voter_step(statistics, P, 0.01, belief())
    assert p == pytest.approx([(3 + 1) / (6 + 1.5), 2 / 2 - 0.01, (5 + 3) / (5 + 7)])
    assert q == pytest.approx([(1 + 2) / (8 + 9), (2 + 1) / (4 + 4), 0.01])


def test_rates_keep_to_the_floor_and_what_was_not_seen_keeps_its_rate():
    statistics = seen([0, 0, 5], [6, 0, 5], [8, 2, 0], [8, 4, 0])
    for pseudo in (None, PseudoCounts.none(3)):
        p, q = voter_step(statistics, P, 0.05, pseudo)
        assert p == pytest.approx([0.05, 0.6, 0.95])
        assert q == pytest.approx([0.95, 0.5, 0.4])
    assert P.hit_rates.tolist() == [0.9, 0.6, 0.3], "what was given stays"


def strength_by_hand(successes, trials):
    """The moment equation of `_crowd`, one voter after the other."""
    rows = [(s, n) for s, n in zip(successes, trials, strict=True) if n > 0]
    total = sum(n for _, n in rows)
    mean = sum(s for s, _ in rows) / total
    spread = sum(n * (s / n - mean) ** 2 for s, n in rows) / (mean * (1 - mean))
    room = total - sum(n * n for _, n in rows) / total - (len(rows) - 1)
    correlation = (spread - (len(rows) - 1)) / room
    return mean, 1 / correlation - 1


def shrunk(successes, trials, strength=None):
    """Rate and strength of the believed hits; everything else is plain."""
    n = len(successes)
    statistics = seen(successes, trials, [1] * n, [4] * n)
    found = shrinkage(statistics, strength=strength, with_priors=False)
    total = found.hits + found.misses
    assert np.ptp(found.hits) == np.ptp(found.misses) == 0, "the same for every voter"
    assert (found.prior_in, found.prior_out) == (0.0, 0.0)
    return found.hits[0] / total[0] if total[0] else None, total[0]


def test_the_strength_follows_from_how_much_voters_differ():
    successes, trials = [9, 2, 6, 0, 12, 3], [10, 9, 11, 0, 14, 8]
    mean, strength = strength_by_hand(successes, trials)
    assert 0.5 < strength < 1000
    assert shrunk(successes, trials) == (pytest.approx(mean), pytest.approx(strength))
    assert shrunk(successes, trials, 3.0) == (pytest.approx(mean), pytest.approx(3.0))
    assert shrunk(successes, trials, 0.0)[1] == 0


@pytest.mark.parametrize(
    ("successes", "trials", "mean", "strength"),
    [
        ([5, 5, 5, 5], [10, 10, 10, 10], 0.5, 1000.0),  # all alike
        ([10, 0, 10, 0, 10, 0], [10] * 6, 0.5, 0.5),  # all or nothing
        ([9, 1], [10, 10], 0.5, 10.0),  # too few to tell
        ([9, 1, 0], [10, 10, 0], 0.5, 10.0),  # two answered
        ([1, 0, 1, 0], [1, 1, 1, 1], 0.5, 10.0),  # one each tells nothing
        ([0, 0, 0], [5, 5, 5], 0.5 / 16, 1000.0),  # none in a few trials
        ([5, 5, 5], [5, 5, 5], 15.5 / 16, 1000.0),
        ([0, 0, 0], [200, 200, 200], 0.001, 1000.0),
        ([0, 0, 0], [0, 0, 0], None, 0.0),  # nothing seen
    ],
)
def test_the_strength_stays_between_half_a_ballot_and_a_thousand(successes, trials, mean, strength):
    found = shrunk(successes, trials)
    assert found == (mean if mean is None else pytest.approx(mean), pytest.approx(strength))


def test_three_voters_are_enough_to_estimate():
    successes, trials = [9, 3, 6], [10, 10, 12]
    mean, strength = strength_by_hand(successes, trials)
    assert 0.5 < strength < 1000
    assert shrunk(successes, trials) == (pytest.approx(mean), pytest.approx(strength))


def test_hits_false_alarms_and_priors_are_each_drawn_to_their_own_mean():
    statistics = seen([8, 4], [10, 10], [1, 3], [20, 20], [3, 6], [10, 10])
    found = shrinkage(statistics, strength=4.0, with_priors=True)
    assert found.hits == pytest.approx([0.6 * 4] * 2)
    assert found.misses == pytest.approx([0.4 * 4] * 2)
    assert found.false_alarms == pytest.approx([0.1 * 4] * 2)
    assert found.rejections == pytest.approx([0.9 * 4] * 2)
    assert found.prior_in == pytest.approx(0.45 * 4)
    assert found.prior_out == pytest.approx(0.55 * 4)


# Sums


def some(seed, groups):
    rng = np.random.default_rng(seed)
    voters = rng.integers(0, 9, (4, 3)).astype(float)
    return Statistics(*voters, *rng.integers(0, 9, (2, 2)).astype(float), groups)


def test_statistics_of_two_parts_add_up_field_by_field():
    one, two, three = Group(0, 1, 2), Group(1, 2, 2), Group(1, 2, 2, (0, 1))
    a, b = some(1, {one: 3.0, two: 2.0}), some(2, {two: 5.0, three: 7.0})
    both = a + b
    for name in ("hits", "winners_seen", "false_alarms", "losers_seen", "occurrences", "offered"):
        np.testing.assert_array_equal(getattr(both, name), getattr(a, name) + getattr(b, name))
    assert both.groups == {one: 3.0, two: 7.0, three: 7.0}
    assert a.groups == {one: 3.0, two: 2.0}, "the parts stay as they were"


def test_frames_of_any_number_of_parts_add_up_and_sort_their_groups():
    frames = [
        FixedCounts(
            np.full(2, k + 1.0), np.full(2, 10.0 * k), np.full(3, k), {Group(3 - k, 3, 3): 1.0, Group(0, 0, 3): 2.0}
        )
        for k in range(3)
    ]
    whole = FixedCounts.joined(frames)
    assert whole.ticks.tolist() == [6.0, 6.0]
    assert whole.seen.tolist() == [30.0, 30.0]
    assert whole.offered.tolist() == [3.0, 3.0, 3.0]
    assert list(whole.groups.items()) == [
        (Group(0, 0, 3), 6.0), (Group(1, 3, 3), 1.0), (Group(2, 3, 3), 1.0), (Group(3, 3, 3), 1.0)
    ]  # fmt: skip
    counted = PassCounts(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0, 0.0]))
    filled = whole.with_counts(counted)
    assert filled.hits.tolist() == [1.0, 3.0]
    assert filled.winners_seen.tolist() == [2.0, 4.0]
    assert filled.false_alarms.tolist() == [5.0, 3.0]
    assert filled.losers_seen.tolist() == [28.0, 26.0]
    counted.voters[:] = 0
    assert filled.hits.tolist() == [1.0, 3.0], "sums that are counted in again do not change it"


def test_sums_are_counted_in_the_first():
    one, two = PassCounts.none(2, 3), PassCounts(np.ones((2, 2)), np.full(3, 2.0))
    assert one.include(two) is one
    one.include(two)
    assert one.voters.tolist() == [[2.0, 2.0]] * 2
    assert one.occurrences.tolist() == [4.0] * 3
    assert two.voters.tolist() == [[1.0, 1.0]] * 2
    fresh = PassCounts.none(*one.size)
    assert fresh.voters.tolist() == [[0.0, 0.0]] * 2
    assert fresh.occurrences.tolist() == [0.0] * 3
