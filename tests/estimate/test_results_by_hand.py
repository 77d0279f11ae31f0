"""What estimators return, worked out again from the ballots: sets, ties, utilities, sizes, checks, baselines."""

import itertools
import math

import numpy as np
import pytest

import oracles
from epivote import (
    AMLE,
    Approval,
    Ballots,
    InputError,
    Majority,
    MaximumLikelihood,
    Modal,
    Parameters,
    RateError,
    log_likelihood,
    marginal_log_likelihood,
    suggest_method,
)
from small import posterior_of, rates_of, small_election, with_known_rates

QUIZ = Ballots.from_mapping(
    {("v", "x"): {"a"}, ("w", "x"): {"a", "b"}, ("v", "y"): {"b"}}, alternatives=["a", "b", "c"]
)


def gold_for(election):
    """A gold set for every other instance, of the smallest size, from the end of its menu."""
    return {
        z: set(election.menus[z][len(election.menus[z]) - election.bounds[z][0] :]) for z in election.instances[::2]
    }


# Utilities, sizes, best sets


def gains(name, menu):
    return {
        "exact": lambda s, t: float(s == t),
        "hamming": lambda s, t: sum((a in s) == (a in t) for a in menu),
        "f1": lambda s, t: 2 * len(s & t) / (len(s) + len(t)) if s or t else 1.0,
        "jaccard": lambda s, t: len(s & t) / len(s | t) if s or t else 1.0,
    }[name]


@pytest.mark.parametrize("seed", range(4))
def test_decisions_have_the_highest_expected_utility_and_leave_gold_alone(seed):
    election = small_election(seed, voters=3, instances=6)
    gold = gold_for(election)
    for given in (None, gold):
        fitted = with_known_rates(election).fit(election.as_ballots(), gold=given)
        for utility in ("exact", "hamming", "f1", "jaccard"):
            decided = fitted.decide(utility)
            assert list(decided) == list(fitted.estimate_.ballots.instances)
            for z in election.instances:
                if given and z in given:
                    assert decided[z] == given[z]
                    continue
                chances = posterior_of(election, fitted, z)
                gain = gains(utility, election.menus[z])
                values = {
                    frozenset(s): math.fsum(c * gain(s, t) for t, c in chances)
                    for s in oracles.allowed_sets(election.menus[z], *election.bounds[z])
                }
                slack = 0.02 if utility == "jaccard" else 1e-8  # nested sets alone are tried for it
                assert values[decided[z]] >= max(values.values()) - slack
        assert fitted.decide() == fitted.decide("exact") == fitted.truth_


@pytest.mark.parametrize("seed", [4, 5])
def test_best_sets_sizes_and_gold_checks_are_those_of_enumeration(seed):
    election = small_election(seed, voters=3, instances=6)
    gold = gold_for(election)
    fitted = with_known_rates(election).fit(election.as_ballots(), gold=gold)
    sizes = dict(zip(fitted.estimate_.ballots.instances, fitted.expected_sizes_, strict=True))
    inclusion = {(z, a): p for z, a, p in fitted.inclusion_.rows()}
    said, sure = fitted.gold_check()
    assert list(said) == [z for z in fitted.estimate_.ballots.instances if z in gold]
    checked = dict(zip(said, sure, strict=True))
    for z in election.instances:
        chances = posterior_of(election, fitted, z)
        ranked = sorted((c for _, c in chances), reverse=True)
        for count in (1, 3, 5, 100):
            found = fitted.best_sets(z, count)
            assert [c for _, c in found] == pytest.approx(ranked[:count], abs=1e-9)
            assert all(c == pytest.approx(sum(each for t, each in chances if t == s)) for s, c in found)
        assert len(fitted.best_sets(z)) == min(5, len(chances))
        if z in gold:
            assert sizes[z] == len(gold[z])
            assert checked[z] == pytest.approx(ranked[0])
            assert any(said[z] == s and c == pytest.approx(ranked[0]) for s, c in chances)
        else:
            assert sizes[z] == pytest.approx(math.fsum(c * len(s) for s, c in chances))
        for a in election.menus[z]:
            expected = float(a in gold[z]) if z in gold else math.fsum(c for s, c in chances if a in s)
            assert inclusion[z, a] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_a_number_of_best_sets_is_a_whole_number_of_at_least_one(count):
    with pytest.raises(InputError, match="must be a whole number of at least 1"):
        MaximumLikelihood(0.8, 0.2).fit(QUIZ).best_sets("x", count)


# Ties


def tied_under(election, parameters, ballots):
    names = ballots.voters, ballots.voters, ballots.alternatives
    p, q, t = (
        dict(zip(who, rates, strict=True)) for who, rates in zip(names, parameters.__getstate__().values(), strict=True)
    )
    return {
        z
        for z in election.instances
        if len(oracles.best_sets(z, election.ballots, election.menus[z], p, q, t, *election.bounds[z], 1e-10)) > 1
    }


@pytest.mark.parametrize("seed", range(6))
def test_ties_are_the_instances_with_several_most_likely_sets_at_the_start_or_at_the_end(seed):
    election = small_election(seed, voters=4, instances=8)
    ballots = election.as_ballots()
    n, m = ballots.n_voters, ballots.n_alternatives
    start = Parameters(np.full(n, 0.7), np.full(n, 0.3), np.full(m, 0.5))
    known = MaximumLikelihood(0.7, 0.3, 0.5, election.size_bounds).fit(ballots)
    at_first = tied_under(election, start, ballots)
    assert set(known.estimate_.ties) == at_first
    assert list(known.estimate_.ties) == [z for z in ballots.instances if z in at_first]
    runs = [AMLE(election.size_bounds, start, priors=0.5, max_iterations=k).fit(ballots) for k in (1, 2)]
    assert set(runs[0].estimate_.ties) == at_first
    assert set(runs[1].estimate_.ties) == at_first | tied_under(election, runs[0].parameters_, ballots)
    gold = gold_for(election)
    taught = MaximumLikelihood(0.7, 0.3, 0.5, election.size_bounds).fit(ballots, gold=gold)
    assert set(taught.estimate_.ties) == at_first - set(gold)
    for z in election.instances:
        p, q, t = rates_of(known)
        best = oracles.best_sets(z, election.ballots, election.menus[z], p, q, t, *election.bounds[z])
        assert known.count_optimal_sets(z) == len(best)
        found = known.optimal_sets(z)
        assert found[0] == known.truth_[z]
        assert {frozenset(s) for s in best} == set(found)
        assert known.optimal_sets(z, most=2) == found[:2]


def test_nearly_equal_sets_are_no_tie():
    ballots = Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"b"}}, alternatives=["a", "b"])
    for difference, ties in ((0.0, ("z",)), (1e-11, ("z",)), (1e-8, ())):
        fitted = MaximumLikelihood([0.7 + difference, 0.7], 0.3, 0.5, 1).fit(ballots)
        assert fitted.estimate_.ties == ties


# Objectives


@pytest.mark.parametrize("seed", range(4))
def test_the_likelihoods_are_those_of_brute_force(seed):
    election = small_election(seed, voters=3)
    ballots = election.as_ballots()
    fitted = with_known_rates(election).fit(ballots)
    truths = {z: set(names) for z, names in fitted.truth_.items()}
    told = election.ballots, truths, election.menus, election.p, election.q, election.t, election.bounds
    assert fitted.log_likelihoods_ == pytest.approx([oracles.log_likelihood(*told)])
    assert (fitted.estimate_.status, fitted.n_iter_) == ("converged", 1)
    value = log_likelihood(ballots, truths, fitted.parameters_, election.size_bounds)
    assert value == pytest.approx(oracles.log_likelihood(*told))
    same = Parameters(fitted.parameters_.hit_rates, fitted.parameters_.false_alarm_rates, np.full(4, 0.3))
    flat = (*told[:5], dict.fromkeys(election.alternatives, 0.3), election.bounds)
    assert log_likelihood(ballots, truths, same, election.size_bounds) == pytest.approx(oracles.log_likelihood(*flat))


def test_likelihoods_of_what_does_not_fit_are_refused_or_zero():
    rates = Parameters(np.array([0.8, 0.7]), np.array([0.2, 0.3]), np.array([0.5, 0.4, 0.3]))
    assert log_likelihood(QUIZ, {"x": {"a"}, "y": {"b"}}, rates, 1) > -np.inf
    for wrong in ({"x": {"a", "b"}, "y": {"b"}}, {"x": set(), "y": {"b"}}, {"x": {"a"}, "y": set()}):
        assert log_likelihood(QUIZ, wrong, rates, 1) == -np.inf
    with pytest.raises(InputError, match="instance 'y' has ballots but no set"):
        log_likelihood(QUIZ, {"x": {"a"}}, rates, 1)
    few = Parameters(np.array([0.8]), np.array([0.2]), np.array([0.5, 0.4, 0.3]))
    short = Parameters(np.array([0.8, 0.7]), np.array([0.2, 0.3]), np.array([0.5, 0.4]))
    for wrong, said in ((few, "of 1 voters and 3 alternatives"), (short, "of 2 voters and 2 alternatives")):
        for judge in (
            lambda wrong: log_likelihood(QUIZ, {"x": {"a"}, "y": {"b"}}, wrong, 1),
            lambda wrong: marginal_log_likelihood(QUIZ, wrong, 1),
        ):
            with pytest.raises(RateError, match=f"parameters are {said}; the ballots have 2 and 3"):
                judge(wrong)


# Counting rules


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rule", [Majority, Approval, Modal])
def test_counting_rules_rate_voters_and_alternatives_by_the_returned_sets(rule, seed):
    election = small_election(seed, voters=4, instances=6)
    fitted = rule(election.size_bounds).fit(election.as_ballots())
    p, q, t = rates_of(fitted)
    right = {z: set(fitted.truth_[z]) for z in election.instances}

    def share(pairs):
        pairs = list(pairs)
        return min(max(sum(pairs) / len(pairs), 1e-4), 1 - 1e-4) if pairs else 0.5

    for v in election.voters:
        cells = [(z, a) for (w, z) in election.ballots if w == v for a in election.menus[z]]
        assert p[v] == pytest.approx(share(a in election.ballots[v, z] for z, a in cells if a in right[z]))
        assert q[v] == pytest.approx(share(a in election.ballots[v, z] for z, a in cells if a not in right[z]))
    for a in election.alternatives:
        assert t[a] == pytest.approx(share(a in right[z] for z in election.instances if a in election.menus[z]))
    assert rule(election.size_bounds).predict(election.as_ballots()) == fitted.truth_
    gold = gold_for(election)
    taught = rule(election.size_bounds).fit(election.as_ballots(), gold=gold)
    assert {z: set(names) for z, names in taught.truth_.items()} == {**right, **gold}
    assert taught.estimate_.gold == set(gold)


def modal_by_hand(cast, menu, lower, upper):
    counts = {a: sum(a in ballot for ballot in cast) for a in menu}
    allowed = [ballot for ballot in cast if lower <= len(ballot) <= upper]
    return max(
        allowed,
        key=lambda ballot: (
            allowed.count(ballot),
            round(sum(counts[a] for a in ballot) / max(len(ballot), 1), 9),
            -len(ballot),
            [a in ballot for a in menu],
        ),
        default=None,
    )


@pytest.mark.parametrize(("seed", "menus"), [(seed, seed % 2 == 1) for seed in range(10)])
def test_the_modal_ballot_wins_ties_by_support_then_size_then_order(seed, menus):
    election = small_election(seed, voters=6, instances=12, alternatives=3, menus=menus)
    found = Modal(election.size_bounds).fit_predict(election.as_ballots())
    for z in election.instances:
        cast = [election.ballots[v, z] for v in election.voters if (v, z) in election.ballots]
        expected = modal_by_hand(cast, election.menus[z], *election.bounds[z])
        if expected is not None:
            assert found[z] == expected


def test_modal_ballots_of_more_than_eight_and_of_more_than_sixty_four_alternatives():
    names = [f"a{j:02}" for j in range(70)]
    ballots = {("u", "x"): {"a00", "a69"}, ("v", "x"): {"a69"}, ("w", "x"): {"a69"}, ("u", "y"): {"a08"}}
    found = Modal().fit_predict(Ballots.from_mapping(ballots, alternatives=names))
    assert found == {"x": {"a69"}, "y": {"a08"}}


# Which method


@pytest.mark.parametrize(
    ("instances", "voters", "missing", "method", "why"),
    [
        (49, 10, 98, "em", "few instances, and nothing shows that voters make the same mistakes"),
        (49, 10, 99, "em", "voters voted on 80 % of the instances, less"),
        (50, 10, 0, "em", "50 instances are enough for EM"),
        (2, 5, 0, "em", "few instances, and nothing shows that voters make the same mistakes"),
        (2, 5, 3, "em", "voters voted on 70 % of the instances, less"),
        (1, 5, 0, "em", "one instance only"),
        (60, 10, 300, "em", "voters voted on 50 % of the instances, less"),
        (60, 10, 120, "em", "60 instances are enough"),
    ],
)
def test_the_method_depends_on_instances_and_on_the_share_answered(instances, voters, missing, method, why):
    cells = itertools.product(range(voters), range(instances))
    spread = sorted(cells, key=lambda cell: (sum(cell) % voters, -cell[0]))
    kept = spread[: len(spread) - missing]
    ballots = Ballots.from_mapping({(f"v{v}", f"z{z}"): {"a"} for v, z in kept}, alternatives=["a", "b"])
    assert (ballots.n_voters, ballots.n_instances) == (voters, instances)
    chosen, said = suggest_method(ballots)
    assert (chosen, said.startswith(why)) == (method, True)
