from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from epivote import AMLE, Approval, Ballots, Majority, MaximumLikelihood, Modal, simulate
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
