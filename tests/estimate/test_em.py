import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from epivote import (
    AMLE,
    EM,
    Ballots,
    InputError,
    Majority,
    MaximumLikelihood,
    log_likelihood,
    marginal_log_likelihood,
    simulate,
)
from epivote.estimate import em as em_module
from epivote.estimate.maximise import maximise, prior_kind
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.likelihood import log_likelihood_of, marginal_log_likelihood_of
from epivote.model.priors import Belief, prior_step, solved_priors
from epivote.model.pseudo import PseudoCounts, _crowd, shrinkage
from strategies import elections

FLOOR = 1e-4


def marginal(election, ballots, parameters):
    """By enumeration: the sum over all allowed sets, instance by instance."""
    p = dict(zip(ballots.voters, parameters.hit_rates, strict=True))
    q = dict(zip(ballots.voters, parameters.false_alarm_rates, strict=True))
    t = dict(zip(ballots.alternatives, parameters.priors, strict=True))
    total = 0.0
    for z in election.instances:
        values = [
            value
            for _, value in oracles.all_log_likelihoods(
                z, election.ballots, election.menus[z], p, q, t, *election.bounds[z]
            )
        ]
        best = max(values)
        total += best + math.log(math.fsum(math.exp(value - best) for value in values))
    return total


@given(elections())
def test_the_marginal_likelihood_is_the_sum_over_all_sets(election):
    ballots = election.as_ballots()
    parameters = election.parameters(ballots)
    found = marginal_log_likelihood(ballots, parameters, election.size_bounds)
    assert found == pytest.approx(marginal(election, ballots, parameters), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("menus", [False, True], ids=["one menu", "menus"])
@pytest.mark.parametrize("priors", ["individual", "shared", 0.3])
@settings(max_examples=30)
@given(data=st.data())
def test_no_iteration_ever_lowers_the_marginal_likelihood(priors, menus, data):
    election = data.draw(elections(min_instances=2, max_instances=5, menus=menus))
    ballots = election.as_ballots()
    task = InMemoryWorkload(ballots, election.size_bounds)
    kind = prior_kind(priors, ballots)
    parameters = EM(election.size_bounds, priors=priors)._start(ballots)
    by_menu = kind != "shared" and ballots.menu is not None
    pseudo = PseudoCounts.none(ballots.n_voters)
    if data.draw(st.booleans()):
        membership, _ = task.expectation(parameters)
        pseudo = shrinkage(task.statistics(membership), strength=2.0, with_priors=kind == "individual")
    before = marginal(election, ballots, parameters) + pseudo.log_density(parameters)
    for _ in range(4):
        membership, _ = task.expectation(parameters)
        parameters = maximise(task.statistics(membership, by_menu=by_menu), parameters, kind, FLOOR, pseudo)
        after = marginal(election, ballots, parameters) + pseudo.log_density(parameters)
        assert after >= before - 1e-8
        before = after


@given(elections(min_instances=2), st.sampled_from([0, 1.0, "auto"]))
def test_the_history_is_the_objective_and_rises(election, strength):
    ballots = election.as_ballots()
    fitted = EM(election.size_bounds, shrinkage=strength, max_iterations=25).fit(ballots)
    assert np.all(np.diff(fitted.log_likelihoods_) >= -1e-8)
    if strength == 0:
        reached = marginal(election, ballots, fitted.parameters_)
        assert fitted.log_likelihoods_[-1] <= reached + 1e-8
        assert fitted.log_likelihoods_[-1] == pytest.approx(reached, abs=1e-2) or not fitted.converged_


def test_em_on_hard_evidence_is_amle():
    crowd = simulate(
        instances=60, voters=40, alternatives=4, bounds=(1, 2), hit_rates=0.95, false_alarm_rates=0.02, seed=2
    )
    soft, hard = EM((1, 2), shrinkage=0).fit(crowd.ballots), AMLE((1, 2)).fit(crowd.ballots)
    assert soft.truth_ == hard.truth_ == crowd.gold
    assert soft.parameters_.distance(hard.parameters_) < 1e-4
    assert soft.confidence_.min() > 0.999


def test_known_rates_come_back_within_three_standard_errors_even_when_sets_are_unsure():
    rng = np.random.default_rng(3)
    p, q = rng.uniform(0.6, 0.9, 30), rng.uniform(0.05, 0.3, 30)
    crowd = simulate(
        instances=6000,
        voters=30,
        alternatives=5,
        bounds=(1, 2),
        hit_rates=p,
        false_alarm_rates=q,
        priors=0.3,
        ballots_per_instance=5,
        seed=4,
    )
    fitted = EM((1, 2), shrinkage=0).fit(crowd.ballots)
    exact = np.mean([fitted.truth_[z] == crowd.gold[z] for z in crowd.gold])
    assert exact < 0.9, "many sets stay unsure here, and rates are found all the same"
    seen = crowd.ballots.ballots_per_voter
    size = crowd.gold.sizes.mean()
    hit_error = np.abs(fitted.parameters_.hit_rates - p) / np.sqrt(p * (1 - p) / (seen * size))
    alarm_error = np.abs(fitted.parameters_.false_alarm_rates - q) / np.sqrt(q * (1 - q) / (seen * (5 - size)))
    assert hit_error.mean() < 1.6, "unsure sets cost some precision: standard errors are larger than with known sets"
    assert max(hit_error.max(), alarm_error.max()) < 3 * 1.6
    assert AMLE((1, 2)).fit(crowd.ballots).parameters_.distance(crowd.parameters) > fitted.parameters_.distance(
        crowd.parameters
    )


@pytest.mark.slow
def test_sets_reported_with_probability_x_are_right_a_share_x_of_the_time():
    crowd = simulate(
        instances=20_000, voters=200, alternatives=6, bounds=(1, 3), priors=0.3, ballots_per_instance=4, seed=6
    )
    fitted = EM((1, 3)).fit(crowd.ballots)
    right = np.array([fitted.truth_[z] == crowd.gold[z] for z in crowd.gold])
    edges = np.quantile(fitted.confidence_, np.linspace(0, 1, 11))
    for low, high in itertools.pairwise(edges):
        inside = (fitted.confidence_ >= low) & (fitted.confidence_ <= high)
        assert right[inside].mean() == pytest.approx(fitted.confidence_[inside].mean(), abs=0.04)
    table = fitted.inclusion_.to_numpy()
    probability = table[:, 2].astype(float)
    member = np.array([a in crowd.gold[z] for z, a in table[:, :2]])
    for low in np.arange(0, 1, 0.1):
        inside = (probability >= low) & (probability < low + 0.1)
        assert member[inside].mean() == pytest.approx(probability[inside].mean(), abs=0.02)


def test_shrinkage_helps_where_voters_answer_little():
    errors = {0: [], "auto": []}
    for seed in range(3):
        crowd = simulate(
            instances=300,
            voters=300,
            alternatives=6,
            bounds=(1, 2),
            priors=0.25,
            ballots_per_instance=5,
            spammers=0.2,
            seed=seed,
        )
        for strength, found in errors.items():
            fitted = EM((1, 2), shrinkage=strength).fit(crowd.ballots)
            found.append(np.abs(fitted.parameters_.hit_rates - crowd.parameters.hit_rates).mean())
    assert np.mean(errors["auto"]) < 0.8 * np.mean(errors[0])


@pytest.mark.parametrize(("a", "b"), [(6, 3), (2, 12), (20, 20)])
def test_the_strength_of_the_crowd_is_estimated(a, b):
    rng = np.random.default_rng(1)
    trials = rng.integers(10, 60, 30_000).astype(float)
    successes = rng.binomial(trials.astype(int), rng.beta(a, b, 30_000)).astype(float)
    mean, strength = _crowd(successes, trials, None)
    assert mean == pytest.approx(a / (a + b), abs=0.01)
    assert strength == pytest.approx(a + b, rel=0.02)
    same = rng.binomial(trials.astype(int), 0.4).astype(float)
    assert _crowd(same, trials, None)[1] > 200, "equal voters are drawn together strongly"


@given(elections(min_instances=2, menus=False), st.floats(0.1, 20), st.floats(0.1, 20))
def test_belief_in_priors_counts_like_instances_without_bounds(election, present, absent):
    """The solved priors maximise likelihood times belief: no step by hand improves on them."""
    ballots = election.as_ballots()
    task = InMemoryWorkload(ballots, election.size_bounds)
    parameters = election.parameters(ballots)
    statistics = task.statistics(task.truth_step(parameters))
    belief = Belief(present, absent)

    def value(priors):
        total = statistics.occurrences @ np.log(priors)
        total += (statistics.offered - statistics.occurrences) @ np.log1p(-priors)
        for group, count in statistics.groups.items():
            total -= count * math.log(oracles.size_mass(range(group.width), priors, group.lower, group.upper))
        return total + np.sum(present * np.log(priors) + absent * np.log1p(-priors))

    start = parameters.priors
    assert value(prior_step(statistics, start, FLOOR, belief)) >= value(start) - 1e-9
    best = solved_priors(statistics, start, FLOOR, belief)
    for j in range(len(best)):
        for factor in (0.98, 1.02):
            moved = best.copy()
            moved[j] = np.clip(moved[j] * factor, FLOOR, 1 - FLOOR)
            assert value(moved) <= value(best) + 1e-7


def test_soft_start_leads_amle_to_what_em_found():
    crowd = simulate(
        instances=400, voters=50, alternatives=6, bounds=(1, 2), priors=0.25, ballots_per_instance=6, seed=3
    )
    soft = AMLE((1, 2), "soft").fit(crowd.ballots)
    start = EM((1, 2)).fit(crowd.ballots).parameters_
    assert soft.log_likelihoods_ == AMLE((1, 2), start).fit(crowd.ballots).log_likelihoods_


def test_an_interrupted_run_keeps_and_labels_its_estimate(monkeypatch):
    crowd = simulate(instances=50, voters=20, alternatives=5, bounds=(1, 2), coverage=0.3, seed=2)
    calls = []

    class Interrupted(InMemoryWorkload):
        def soft_step(self, parameters, *, by_menu=False):
            calls.append(parameters)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return super().soft_step(parameters, by_menu=by_menu)

    monkeypatch.setattr(em_module, "InMemoryWorkload", Interrupted)
    monkeypatch.setattr(em_module, "workload", Interrupted)
    estimator = EM((1, 2))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(crowd.ballots)
    assert not hasattr(estimator, "estimate_"), "an interrupt before the first iteration leaves nothing to keep"
    calls.clear()
    monkeypatch.setattr(EM, "_seems_upside_down", lambda *_: False)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(crowd.ballots)
    assert estimator.estimate_.status == "interrupted"
    assert len(estimator.truth_) == 50


def test_joint_and_marginal_likelihood_agree_when_one_set_is_possible():
    ballots = Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"a", "b"}})
    known = MaximumLikelihood(0.8, 0.3, 0.4, bounds=2).fit(ballots)
    task = InMemoryWorkload(ballots, known.estimate_.bounds)
    membership, log_partition = task.expectation(known.parameters_)
    statistics = task.statistics(membership)
    assert marginal_log_likelihood_of(statistics, log_partition, known.parameters_) == pytest.approx(
        log_likelihood_of(statistics, known.parameters_)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shrinkage": -1}, "shrinkage=-1 must be 'auto' or a number of at least 0"),
        ({"max_iterations": 0}, "max_iterations=0 must be a whole number of at least 1"),
        ({"floor": 0}, "floor=0 must lie between 1e-12 and 0.5"),
        ({"priors": "flat"}, "priors='flat' is not 'auto'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    ballots = Ballots.from_mapping({("v", "z"): {"a"}, ("v", "y"): {"b"}})
    with pytest.raises(InputError, match=message):
        EM(1, **options).fit(ballots)


def test_the_log_likelihood_is_that_of_the_ballots_and_the_objective_holds_what_is_believed_too():
    ballots = Ballots.from_mapping({("ann", "q"): {"a", "b"}, ("bo", "q"): {"a"}, ("cy", "q"): {"b"}})
    crowd = simulate(instances=40, voters=6, alternatives=4, bounds=(1, 2), seed=3).ballots
    for voted in (ballots, crowd):
        for rule in (EM((1, 2)), EM((1, 2), shrinkage=0), EM((1, 2), groups=2) if voted is crowd else EM((1, 2))):
            fitted = rule.fit(voted)
            own = marginal_log_likelihood(voted, fitted.estimate_.parameters, (1, 2))
            assert fitted.log_likelihood_ == pytest.approx(own, abs=0.01)
            assert (fitted.log_likelihood_ == fitted.log_likelihoods_[-1]) == (rule.shrinkage == 0)
    assert -10 < EM((1, 2)).fit(ballots).log_likelihood_ < 0, "three ballots on three alternatives"
    hard = AMLE((1, 2)).fit(crowd)
    assert hard.log_likelihood_ == hard.log_likelihoods_[-1]
    assert hard.log_likelihood_ == pytest.approx(log_likelihood(crowd, hard.truth_, hard.estimate_.parameters, (1, 2)))
    assert Majority(1).fit(crowd).log_likelihood_ is None
