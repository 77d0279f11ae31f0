"""Plans checked by leaving out ballots: what is drawn, what it is compared with, and what is said about it."""

from collections import Counter

import numpy as np
import pytest

import epivote.planning as planning
from epivote import (
    AMLE,
    EM,
    Approval,
    Ballots,
    InputError,
    Majority,
    PlanCheck,
    PlanPoint,
    Truths,
    check_plan,
    compare,
    plan,
    share_interval,
    simulate,
    zero_one,
)
from epivote.planning import thin, typical_parameters

BOUNDS = (1, 2)


def crowd(**options):
    return simulate(**{"instances": 120, "voters": 9, "alternatives": 4, "bounds": BOUNDS, "seed": 2} | options)


# Thinning


@pytest.mark.parametrize("count", [1, 2, 3, 9, 20])
def test_thinned_ballots_are_some_of_the_ballots_as_many_as_asked(count):
    drawn = crowd(coverage=0.6)
    thinned = thin(drawn.ballots, count, np.random.default_rng(1))
    cast, kept = dict(drawn.ballots.items()), dict(thinned.items())
    assert kept.items() <= cast.items()
    assert thinned.instances == drawn.ballots.instances
    assert thinned.voters == drawn.ballots.voters
    assert thinned.ballots_per_instance.tolist() == [
        min(each, count) for each in drawn.ballots.ballots_per_instance.tolist()
    ]
    assert thin(drawn.ballots, 9, np.random.default_rng(1)) == drawn.ballots


def test_every_ballot_is_drawn_equally_often():
    ballots = crowd(instances=3, voters=4).ballots
    rng, seen = np.random.default_rng(5), Counter()
    for _ in range(400):
        seen.update(key for key, _ in thin(ballots, 2, rng).items())
    assert len(seen) == 12
    assert all(abs(times - 200) < 4 * 10 for times in seen.values())


def test_menus_stay():
    cast = {(v, z): {z} for v in "vwx" for z in "ab"}
    ballots = Ballots.from_mapping(cast, menu={"a": ["a", "c"], "b": ["b"]})
    thinned = thin(ballots, 1, np.random.default_rng(0))
    assert (thinned.offered("a"), thinned.offered("b"), thinned.n_ballots) == (("a", "c"), ("b",), 2)


# What is compared


def test_all_ballots_of_every_instance_give_the_accuracy_of_the_fit_itself():
    drawn = crowd(voters=5)
    fitted = EM(BOUNDS).fit(drawn.ballots)
    found = check_plan(fitted, drawn.gold)
    assert (found.available, found.n_instances, found.n_compared, found.n_in_file) == (5, 120, 120, 120)
    last = found.gold[-1]
    assert (last.ballots, last.exact.mean) == (5, pytest.approx(zero_one(fitted.truth_, drawn.gold, drawn.ballots)))
    compared = compare(fitted.truth_, drawn.gold, drawn.ballots)
    assert last.hamming.mean == pytest.approx(compared.hamming.mean())
    assert (last.exact.low, last.exact.high) == pytest.approx(
        (lambda each: (each.low, each.high))(share_interval(int(compared.zero_one.sum()), 120))
    )


def test_one_ballot_each_is_worked_out_by_hand():
    """Approval of one ballot returns that ballot; every instance has one of three ballots equal to that of all."""
    cast = {(f"v{i}", f"z{z}"): {"a"} if i else {"b"} for i in range(3) for z in range(400)}
    found = check_plan(Approval(1).fit(Ballots.from_mapping(cast)), {f"z{z}": {"b"} for z in range(100)})
    (one,) = found.crowd
    assert one.ballots == 1
    assert one.exact.mean == pytest.approx(2 / 3, abs=4 * np.sqrt(2 / 9 / 100)), "two of three tick what all find"
    assert [point.ballots for point in found.gold] == [1, 2, 3]
    assert found.gold[0].exact.mean == pytest.approx(1 - one.exact.mean)
    assert found.gold[1].exact.mean == pytest.approx(0, abs=0.01), "a is listed first, and is ticked as often"
    assert found.gold[2].exact.mean == 0
    assert (found.n_instances, found.n_compared) == (400, 100)


@pytest.mark.parametrize(
    ("voters", "crowd_counts", "gold_counts"),
    [(1, [], [1]), (2, [1], [1, 2]), (3, [1], [1, 2, 3]), (4, [1, 2], [1, 2, 3]), (6, [1, 2, 3], [1, 2, 3, 5])],
)
def test_the_whole_crowd_is_compared_with_up_to_half_of_it_and_gold_with_all(voters, crowd_counts, gold_counts):
    drawn = crowd(voters=voters, instances=40)
    fitted, asked = EM(BOUNDS).fit(drawn.ballots), []
    found = check_plan(fitted, progress=asked.append)
    assert [point.ballots for point in found.crowd] == asked == crowd_counts
    assert (found.gold, found.against, found.points) == ((), "the whole crowd", found.crowd)
    with_gold = check_plan(fitted, drawn.gold)
    assert [point.ballots for point in with_gold.gold] == gold_counts
    assert [point.ballots for point in with_gold.crowd] == crowd_counts
    assert (with_gold.against, with_gold.points) == ("gold", with_gold.gold)


def test_instances_have_as_many_ballots_as_three_in_four_of_them():
    cast = {(f"v{i}", f"z{z}"): {"a"} for z, count in enumerate([2, 4, 4, 6, 6, 6, 9, 9]) for i in range(count)}
    found = check_plan(Majority(1).fit(Ballots.from_mapping(cast, alternatives=["a", "b"])))
    assert (found.available, found.n_instances, found.n_compared, found.n_in_file) == (4, 7, 7, 8)
    few = check_plan(Majority(1).fit(Ballots.from_mapping(cast)), {"z0": {"a"}, "z6": {"a"}, "elsewhere": {"a"}})
    assert (few.available, few.n_instances, few.n_compared) == (2, 8, 2), "gold instances decide where there is gold"


def test_of_many_instances_some_are_drawn_and_gold_comes_first():
    drawn = crowd(instances=300, voters=4)
    gold = {name: drawn.gold[name] for name in drawn.gold.instances[200:230]}
    found = check_plan(EM(BOUNDS).fit(drawn.ballots), gold, instances=50)
    assert (found.n_instances, found.n_compared, found.n_in_file) == (50, 30, 300)
    fewer = check_plan(EM(BOUNDS).fit(drawn.ballots), gold, instances=20)
    assert (fewer.n_instances, fewer.n_compared) == (20, 20)


@pytest.mark.parametrize(("instances", "times"), [(99, 2), (100, 1), (101, 1), (50, 2), (10, 10)])
def test_few_instances_are_thinned_several_times(instances, times):
    drawn, asked = crowd(instances=instances, voters=2), []

    def choose(ballots):
        asked.append(ballots)
        return EM(BOUNDS)

    check_plan(AMLE(BOUNDS).fit(drawn.ballots), choose=choose)
    assert len(asked) == times
    assert all(ballots.n_ballots == instances for ballots in asked)
    assert times == 1 or asked[0] != asked[1]


def test_the_estimator_is_that_of_the_fit_unless_another_is_chosen():
    drawn = crowd(voters=6)
    amle, em = AMLE(BOUNDS).fit(drawn.ballots), EM(BOUNDS).fit(drawn.ballots)
    assert check_plan(amle, drawn.gold, choose=lambda _: EM(BOUNDS)).gold == check_plan(em, drawn.gold).gold
    assert check_plan(amle, drawn.gold).gold != check_plan(em, drawn.gold).gold


# What it is worth


@pytest.mark.slow
def test_independent_voters_come_close_to_the_model_and_shared_mistakes_do_not():
    options = {"instances": 500, "voters": 14, "seed": 3, "hit_rates": 0.75, "false_alarm_rates": 0.15}
    gaps = {}
    for shared in (0.0, 0.5):
        drawn = crowd(**options, shared_mistakes=shared)
        fitted = EM(BOUNDS).fit(drawn.ballots)
        model = {point.ballots: point.exact.mean for point in plan(typical_parameters(fitted.estimate_), BOUNDS).points}
        checked = {point.ballots: point.exact.mean for point in check_plan(fitted, drawn.gold).gold}
        gaps[shared] = [model[count] - checked[count] for count in (5, 10)]
    assert max(map(abs, gaps[0.0])) < 0.06
    assert min(gaps[0.5]) > 0.2


def test_the_whole_crowd_agrees_with_itself_more_than_with_gold_where_mistakes_are_shared():
    drawn = crowd(instances=400, voters=12, shared_mistakes=0.6)
    found = check_plan(EM(BOUNDS).fit(drawn.ballots), drawn.gold)
    assert found.crowd[-1].ballots == 5
    assert found.crowd[-1].exact.mean > found.gold[3].exact.mean + 0.05


def test_the_smallest_number_that_reaches_the_target():
    points = tuple(PlanPoint(k, share_interval(k, 10), share_interval(k, 10)) for k in (1, 3, 5))
    found = PlanCheck(points, (), 10, 40, 40, 40)
    assert [found.needed(target) for target in (0.05, 0.1, 0.11, 0.3, 0.5, 0.51)] == [1, 1, 3, 3, 5, None]


def test_means_are_over_instances_and_repeats():
    truths = [Truths.from_mapping({"y": {"a"}, "z": {right}}, alternatives=["a", "b"]) for right in "aab"]
    gold = {"y": {"a"}, "z": {"b"}}
    point = planning._measured(3, [compare(each, gold, ["a", "b"]) for each in truths])
    assert (point.ballots, point.exact.mean, point.hamming.mean) == (3, pytest.approx(4 / 6), pytest.approx(4 / 6))
    assert point.exact.low == pytest.approx(share_interval(1, 2).low)
    assert 0 <= point.hamming.low <= point.hamming.high <= 1


@pytest.mark.parametrize(
    ("fitted", "gold", "message"),
    [
        (EM, None, "a check needs a fitted estimator such as EM, not ABCMeta"),
        (None, {"x": {"a1"}}, "no gold instance has a ballot; gold has 'x'"),
        (None, {}, "no gold instance has a ballot"),
    ],
)
def test_what_cannot_be_checked_is_refused(fitted, gold, message):
    with pytest.raises(InputError, match=message):
        check_plan(fitted or EM(BOUNDS).fit(crowd(instances=4).ballots), gold)
