"""Accuracies to expect against probabilities worked out by going through every set and every ballot."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats

import epivote.planning as planning
import oracles
from epivote import Ballots, InputError, Interval, Parameters, SizeBounds, plan
from epivote.planning import typical_parameters

INSTANCES = 2000
UNLIKE = Parameters(np.array([0.9, 0.55]), np.array([0.2, 0.3]), np.array([0.6, 0.3, 0.15]))


def expected(p, q, t, lower, upper):
    """Chance of a set exactly right and share of alternatives decided rightly, for one ballot of each voter."""
    menu, voters = range(len(t)), range(len(p))
    subsets = oracles.allowed_sets(menu, lower, upper)
    mass = oracles.size_mass(menu, t, lower, upper)
    exact = right = 0.0
    for cast in itertools.product(oracles.allowed_sets(menu, 0, len(t)), repeat=len(p)):
        joint = [
            oracles.prior_product(chosen, menu, t)
            / mass
            * math.exp(sum(oracles.ballot_log_probability(cast[i], chosen, menu, p[i], q[i]) for i in voters))
            for chosen in subsets
        ]
        best = max(range(len(subsets)), key=joint.__getitem__)
        exact += joint[best]
        right += sum(
            chance * sum((a in subsets[best]) == (a in chosen) for a in menu) / len(t)
            for chance, chosen in zip(joint, subsets, strict=True)
        )
    return exact, right


@pytest.fixture
def three_points(monkeypatch):
    """Only what is looked at is simulated."""
    monkeypatch.setattr(planning, "USUAL", (1, 2, 3))


def point(found, ballots):
    return next(each for each in found.points if each.ballots == ballots)


def close(share, instances=INSTANCES):
    return pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / instances))


@pytest.mark.parametrize("bounds", [(1, 2), (0, 3), (2, 2)])
def test_one_and_two_ballots_give_the_accuracies_of_brute_force(three_points, bounds):
    found = plan(UNLIKE, bounds, target=0.3, instances=INSTANCES)
    (p, other_p), (q, other_q), t = UNLIKE.hit_rates, UNLIKE.false_alarm_rates, UNLIKE.priors
    alone = np.mean([expected([p], [q], t, *bounds), expected([other_p], [other_q], t, *bounds)], axis=0)
    both = expected([p, other_p], [q, other_q], t, *bounds)
    for ballots, (exact, right) in ((1, alone), (2, both)):
        at = point(found, ballots)
        assert at.exact.mean == close(exact)
        assert at.hamming.mean == close(right)
    assert both[0] > alone[0] + 0.05


def test_more_ballots_than_voters_are_cast_by_voters_like_them(three_points):
    """Three voters of two: one of them twice, the same for all instances, but by chance which."""
    which = set()
    for seed in (4, 5, 6, 7):
        found = point(plan(UNLIKE, (1, 1), target=0.2, instances=1000, seed=seed), 3)
        twice = [0, 1, 0], [0, 1, 1]
        shares = [expected(UNLIKE.hit_rates[who], UNLIKE.false_alarm_rates[who], UNLIKE.priors, 1, 1) for who in twice]
        near = [found.exact.mean == close(exact, 1000) for exact, _ in shares]
        assert sum(near) == 1, (found, shares)
        which.add(near.index(True))
    assert which == {0, 1}


def test_a_seed_gives_the_same_plan_again_and_another_seed_another(three_points):
    one, again, other = (plan(UNLIKE, (1, 2), target=0.6, instances=300, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert [each.exact for each in one.points] != [each.exact for each in other.points]
    assert plan(UNLIKE, (1, 2), target=0.6, instances=300) == plan(UNLIKE, (1, 2), target=0.6, instances=300, seed=0)


def test_every_number_of_ballots_is_drawn_anew():
    alike = Parameters(np.full(1, 0.5), np.full(1, 0.5), np.array([0.5, 0.5]))
    found = plan(alike, (0, 2), target=0.9, instances=150)
    assert len({each.exact.mean for each in found.points}) > 8, "guessers, all about a quarter right"
    assert all(each.exact.mean == pytest.approx(0.25, abs=0.15) for each in found.points)


@pytest.mark.parametrize("instances", [50, 2000])
def test_intervals_are_those_of_the_instances_simulated(three_points, instances):
    options = {} if instances == 2000 else {"instances": instances}
    at = plan(UNLIKE, (1, 2), target=0.3, **options).points[0].exact
    assert at.mean * instances == pytest.approx(round(at.mean * instances), abs=1e-9)
    limits = scipy.stats.binomtest(round(at.mean * instances), instances).proportion_ci(method="wilson")
    assert (at.low, at.high) == pytest.approx((limits.low, limits.high))


USUAL = [1, 2, 3, 5, 7, 10, 15, 20, 30]


def test_a_target_that_one_ballot_meets_needs_one_and_a_little_more_needs_another():
    first = plan(UNLIKE, (1, 2), target=0.01, instances=100)
    assert (first.needed, first.target) == (1, 0.01)
    assert [each.ballots for each in first.points] == USUAL
    share = first.points[0].exact.mean
    assert plan(UNLIKE, (1, 2), target=share, instances=100).needed == 1, "reached is enough"
    assert plan(UNLIKE, (1, 2), target=share + 1e-9, instances=100).needed > 1


def test_guessers_are_tried_up_to_two_hundred_ballots():
    guessers = Parameters(np.array([0.4]), np.array([0.4]), np.full(3, 0.3))
    found = plan(guessers, (1, 2), instances=20)
    assert found.needed is None
    assert found.target == 0.95
    assert [each.ballots for each in found.points] == sorted([*USUAL, 4, 8, 16, 32, 64, 128, 200])


@pytest.mark.parametrize("target", [0.6, 0.9, 0.97])
def test_one_ballot_less_than_needed_misses_the_target(three_points, target):
    weak = Parameters(np.array([0.62]), np.array([0.45]), np.full(2, 0.5))
    found = plan(weak, 1, target=target, instances=200)
    assert found.needed is not None
    assert point(found, found.needed).exact.mean >= target
    assert found.needed == 1 or point(found, found.needed - 1).exact.mean < target
    assert [each.ballots for each in found.points] == sorted({each.ballots for each in found.points})
    tried = {each.ballots: each.exact.mean >= target for each in found.points}
    doubled = next(each for each in (1, 2, 4, 8, 16, 32, 64, 128, 200) if tried[each])
    low, high = doubled // 2 if doubled < 200 else 128, doubled
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tried[middle] else (middle, high)
    assert found.needed == high, "by halving"


def test_reaching_the_target_exactly_is_enough_while_halving(three_points):
    weak = Parameters(np.array([0.62]), np.array([0.45]), np.full(2, 0.5))
    found = plan(weak, 1, target=0.8, instances=200)
    share = point(found, found.needed).exact.mean
    assert plan(weak, 1, target=share, instances=200).needed == found.needed
    assert plan(weak, 1, target=share + 1e-9, instances=200).needed != found.needed
    assert found.needed not in (1, 2, 4, 8, 16, 32, 64, 128, 200), "found by halving"


def test_the_number_needed_may_lie_beyond_128(three_points):
    weak = Parameters(np.array([0.55]), np.array([0.45]), np.full(2, 0.5))
    found = plan(weak, 1, target=0.97, instances=200, seed=1)
    assert 128 < found.needed < 200
    assert point(found, 200).exact.mean >= 0.97


@pytest.mark.parametrize("target", [0, 1, -0.1, 1.5, math.nan])
def test_a_target_that_is_no_share_is_refused(target):
    with pytest.raises(InputError, match="must be a share between 0 and 1, such as 0.95"):
        plan(UNLIKE, 1, target=target)


def test_bounds_of_any_form_are_understood(three_points):
    one, other = (plan(UNLIKE, bounds, target=0.3, instances=50) for bounds in ("1..2", SizeBounds(1, 2)))
    assert one == other == plan(UNLIKE, (1, 2), target=0.3, instances=50)


# The voters of an estimate


def estimate(menus):
    cast = {("v", z): [] for z in menus}
    ballots = Ballots.from_mapping(cast, alternatives=["a", "b", "c", "d", "e"], menu=menus)
    rates = Parameters(np.array([0.7]), np.array([0.2]), np.array([0.1, 0.2, 0.3, 0.4, 0.8]))
    return SimpleNamespace(ballots=ballots, parameters=rates)


@pytest.mark.parametrize(
    ("menus", "width"),
    [
        ({"y": "ab", "z": "abcd"}, 3),
        ({"y": "ab", "z": "ab", "x": "abcde"}, 3),
        ({"y": "ab", "z": "ab", "x": "abc"}, 2),
        ({"y": "", "z": "", "x": "a"}, 1),
    ],
)
def test_where_menus_differ_a_mean_menu_with_a_mean_prior_is_planned_for(menus, width):
    found = typical_parameters(estimate({z: list(names) for z, names in menus.items()}))
    assert found.priors.tolist() == pytest.approx([0.36] * width)
    assert (found.hit_rates.tolist(), found.false_alarm_rates.tolist()) == ([0.7], [0.2])


def test_without_menus_every_alternative_keeps_its_prior():
    given = estimate({"y": list("abcde")})
    assert typical_parameters(given) == given.parameters


def test_the_voters_named_are_all_drawn(three_points):
    """With a ballot each from a pool of four, accuracy is the mean of the four."""
    pool = Parameters(np.array([0.95, 0.9, 0.5, 0.3]), np.array([0.05, 0.3, 0.5, 0.3]), np.array([0.5, 0.5]))
    found = plan(pool, 1, target=0.2, instances=INSTANCES).points[0]
    alone = [
        expected([p], [q], pool.priors, 1, 1)[0] for p, q in zip(pool.hit_rates, pool.false_alarm_rates, strict=True)
    ]
    assert found.exact.mean == close(np.mean(alone))


def test_one_ballot_is_enough_if_it_reaches_the_target_whatever_chance_makes_of_two(monkeypatch):
    def accuracy(_parameters, _bounds, ballots, *_):
        share = 0.9 if ballots == 2 else 0.96
        return planning.PlanPoint(ballots, Interval(share, share, share), Interval(1.0, 1.0, 1.0))

    monkeypatch.setattr(planning, "_simulated", accuracy)
    assert plan(UNLIKE, (1, 2), target=0.95).needed == 1
