import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from epivote import AMLE, Approval, Ballots, InputError, Majority, MaximumLikelihood, Modal, simulate
from epivote.estimate import baselines
from strategies import elections


def counts(election, z):
    return Counter(a for (_, where), ticks in election.ballots.items() if where == z for a in ticks)


def cast(election, z):
    return [frozenset(ticks) for (_, where), ticks in election.ballots.items() if where == z]


@given(elections())
def test_plain_majority_takes_what_more_than_half_ticked(election):
    found = Majority().fit_predict(election.as_ballots())
    for z in election.instances:
        half = len(cast(election, z)) / 2
        assert found[z] == {a for a, count in counts(election, z).items() if count > half}


@given(elections())
def test_repaired_majority_is_filled_up_and_cut_down_by_counts(election):
    found = Majority(election.size_bounds).fit_predict(election.as_ballots())
    for z in election.instances:
        lower, upper = election.bounds[z]
        half = len(cast(election, z)) / 2
        ranked = sorted(election.menus[z], key=lambda a: (-counts(election, z)[a], election.menus[z].index(a)))
        plain = [a for a in ranked if counts(election, z)[a] > half]
        assert found[z] == set(ranked[: min(max(len(plain), lower), upper)])


@given(elections())
def test_approval_takes_the_most_ticked_as_many_as_a_mean_ballot(election):
    found = Approval(election.size_bounds).fit_predict(election.as_ballots())
    for z in election.instances:
        lower, upper = election.bounds[z]
        sizes = [len(ballot) for ballot in cast(election, z)]
        size = min(max(int(sum(sizes) / len(sizes) + 0.5), lower), upper)
        ranked = sorted(election.menus[z], key=lambda a: (-counts(election, z)[a], election.menus[z].index(a)))
        assert found[z] == set(ranked[:size])


def weight(kind, ticks, offered):
    """The paper's weights, by the distances they come from: how much closer a ballot is to a member than to others."""
    if kind == "jaccard":  # distance 1 - 1 / ticks to a member, 1 to others
        return 1 - (1 - Fraction(1, ticks))
    if kind == "dice":  # distance 1 - 2 / (ticks + 1) to a member, 1 to others
        return 1 - (1 - Fraction(2, ticks + 1))
    if kind == "euclid":  # ticks - 1 mistakes beside a member, ticks + 1 beside others
        return math.dist([0] * (ticks + 1), [1] * (ticks + 1)) - math.dist([0] * (ticks - 1), [1] * (ticks - 1))
    if kind == "condorcet" and offered > 2:
        reliability = min(max(Fraction(offered - 1 - ticks, offered - 2), Fraction(1, 1000)), Fraction(999, 1000))
        return math.log(reliability) - math.log(1 - reliability)
    return 1


@pytest.mark.parametrize("kind", ["equal", "jaccard", "dice", "euclid", "condorcet"])
@given(elections())
def test_weighted_approval_adds_up_what_ballots_weigh(kind, election):
    found = Approval(election.size_bounds, weights=kind).fit_predict(election.as_ballots())
    for z in election.instances:
        lower, upper = election.bounds[z]
        menu, ballots = election.menus[z], cast(election, z)
        size = min(max(int(sum(map(len, ballots)) / len(ballots) + 0.5), lower), upper)
        scores = {a: sum(weight(kind, len(ballot), len(menu)) for ballot in ballots if a in ballot) for a in menu}
        ranked = sorted(menu, key=lambda a: (-round(float(scores[a]), 9), menu.index(a)))
        assert found[z] == set(ranked[:size]), scores


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("equal", [1, 1, 1, 1, 1, 1]),
        ("jaccard", [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6]),
        ("dice", [1, 2 / 3, 1 / 2, 2 / 5, 1 / 3, 2 / 7]),
        ("euclid", [1.41421, 0.73205, 0.58579, 0.50402, 0.44949, 0.40968]),
        ("condorcet", [6.90675, 1.09861, 0, -1.09861, -6.90675, -6.90675]),
    ],
)
def test_weights_of_ballots_with_one_to_six_of_six_alternatives(kind, expected):
    assert baselines._size_weights(np.arange(1, 7), 6, kind) == pytest.approx(expected, abs=1e-5)
    assert baselines._size_weights(np.array([1, 2]), 2, "condorcet").tolist() == [1, 1]


def test_sums_that_are_equal_are_equal_in_any_order():
    """Three thirds and two sixths are as much as one and a third, although not in floating point."""
    votes = ["a", "bcd", "bce", "bde"]
    for order in (votes, votes[::-1], votes[1:] + votes[:1]):
        ballots = Ballots.from_mapping(
            {(f"v{i}", "q"): set(each) for i, each in enumerate(order)}, alternatives=list("bacde")
        )
        assert Approval(1, weights="jaccard").fit_predict(ballots)["q"] == {"b"}, "three thirds, and listed first"


def test_empty_ballots_weigh_nothing_and_large_ones_speak_against_under_condorcet():
    cast_here = {("v", "q"): set(), ("w", "q"): set("abcd"), ("x", "q"): {"e"}, ("y", "q"): {"a", "b", "e"}}
    ballots = Ballots.from_mapping(cast_here, alternatives=list("abcde"))
    assert Approval(1, weights="condorcet").fit_predict(ballots)["q"] == {"e"}
    assert Approval(1).fit_predict(ballots)["q"] == {"a"}


def test_unknown_weights_are_refused():
    ballots = Ballots.from_mapping({("v", "q"): {"a"}})
    with pytest.raises(
        InputError, match="weights='size' is not one of 'equal', 'jaccard', 'dice', 'euclid', 'condorcet'"
    ):
        Approval(1, weights="size").fit(ballots)


@given(elections())
def test_modal_takes_the_most_frequent_ballot(election):
    found = Modal().fit_predict(election.as_ballots())
    for z in election.instances:
        times = Counter(cast(election, z))
        assert times[found[z]] == max(times.values())


@given(elections())
def test_modal_with_bounds_keeps_to_them(election):
    found = Modal(election.size_bounds).fit_predict(election.as_ballots())
    majority = Majority(election.size_bounds).fit_predict(election.as_ballots())
    for z in election.instances:
        lower, upper = election.bounds[z]
        times = Counter(ballot for ballot in cast(election, z) if lower <= len(ballot) <= upper)
        if times:
            assert times[found[z]] == max(times.values())
        else:
            assert found[z] == majority[z]


def test_modal_breaks_ties_by_support_then_size_then_order():
    def modal(*ballots):
        return set(Modal().fit_predict(Ballots.from_mapping({(str(i), "z"): b for i, b in enumerate(ballots)}))["z"])

    assert modal({"a"}, {"b"}, {"b", "c"}) == {"b"}
    assert modal({"b"}, {"a"}) == {"a"}
    assert modal({"a", "b"}, {"a"}, {"b"}) == {"a"}


@pytest.mark.parametrize("k", [1, 2, 3])
def test_equal_voters_flat_priors_and_one_size_make_maximum_likelihood_k_approval(k):
    ballots = simulate(instances=50, voters=7, alternatives=5, bounds=(1, 3), seed=k).ballots
    assert MaximumLikelihood(0.7, 0.4, 0.5, k).fit_predict(ballots) == Approval(k).fit_predict(ballots)


def test_baselines_rate_voters_by_agreement_and_state_no_confidence():
    ballots = Ballots.from_mapping(
        {("u", "z"): {"a"}, ("v", "z"): {"a"}, ("w", "z"): {"b"}, ("u", "y"): {"b"}, ("v", "y"): {"b"}}
    )
    fitted = Majority().fit(ballots)
    assert fitted.parameters_.hit_rates == pytest.approx([1, 1, 0], abs=1e-3)
    assert fitted.confidence_ is None
    assert len(fitted.inclusion_) == 0
    assert fitted.estimate_.truth_table()["confidence"] == [None, None]


@pytest.mark.parametrize("rule", [Majority(1), Approval(1), Modal(1), AMLE(1), MaximumLikelihood(0.8, 0.2, 0.5, 1)])
def test_an_instance_without_ballots_falls_back_to_what_is_known_without_them(rule):
    ballots = simulate(instances=5, voters=3, alternatives=3, bounds=1, seed=1).ballots
    silent = Ballots(
        ballots.voters,
        (*ballots.instances, "silent"),
        ballots.alternatives,
        np.append(ballots.ballot_start, ballots.ballot_start[-1]),
        ballots.ballot_voter,
        ballots.approval_start,
        ballots.approved,
    )
    assert len(rule.fit_predict(silent)["silent"]) == 1
