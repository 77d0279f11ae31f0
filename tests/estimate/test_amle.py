import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from epivote import (
    AMLE,
    Ballots,
    InputError,
    MaximumLikelihood,
    Parameters,
    RateError,
    SizeBounds,
    log_likelihood,
    simulate,
)
from epivote.estimate import amle as amle_module
from epivote.estimate.maximise import maximise, prior_kind
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.pseudo import PseudoCounts
from strategies import elections

FLOOR = 1e-4


def oracle_value(election, ballots, truths, parameters):
    return oracles.log_likelihood(
        election.ballots,
        {z: set(truths[z]) for z in election.instances},
        election.menus,
        dict(zip(ballots.voters, parameters.hit_rates, strict=True)),
        dict(zip(ballots.voters, parameters.false_alarm_rates, strict=True)),
        dict(zip(ballots.alternatives, parameters.priors, strict=True)),
        election.bounds,
    )


@pytest.mark.parametrize("menus", [False, True], ids=["one menu", "menus"])
@pytest.mark.parametrize("priors", ["individual", "shared", 0.3])
@settings(max_examples=30)
@given(data=st.data())
def test_no_step_ever_lowers_the_likelihood(priors, menus, data):
    """Truth step, voter step and prior step each by itself, judged by brute force."""
    election = data.draw(elections(min_instances=2, max_instances=6, menus=menus))
    start = data.draw(st.sampled_from(["anna_karenina", "uniform", "random"]))
    prior_update = data.draw(st.sampled_from(["mle", "solved"]))
    ballots = election.as_ballots()
    estimator = AMLE(election.size_bounds, start, prior_update, priors=priors)
    task = InMemoryWorkload(ballots, election.size_bounds)
    kind = prior_kind(priors, ballots)
    parameters = next(estimator._starts(ballots, None, None))
    nothing = PseudoCounts.none(ballots.n_voters)
    if kind == "shared":
        one_prior = np.full_like(parameters.priors, parameters.priors[0])
        parameters = Parameters(parameters.hit_rates, parameters.false_alarm_rates, one_prior)
    after = -np.inf
    for _ in range(5):
        chosen = task.truth_step(parameters)
        truths = task.truths(chosen)
        before = oracle_value(election, ballots, truths, parameters)
        assert before >= after - 1e-8
        by_menu = kind != "shared" and ballots.menu is not None
        following = maximise(task.statistics(chosen, by_menu=by_menu), parameters, kind, FLOOR, nothing, prior_update)
        voters_only = Parameters(following.hit_rates, following.false_alarm_rates, parameters.priors)
        between = oracle_value(election, ballots, truths, voters_only)
        after = oracle_value(election, ballots, truths, following)
        assert between >= before - 1e-8
        assert after >= between - 1e-8
        parameters = following


@given(elections(max_instances=5, min_instances=2))
def test_the_history_is_the_public_objective_and_rises(election):
    ballots = election.as_ballots()
    fitted = AMLE(election.size_bounds).fit(ballots)
    history = np.array(fitted.log_likelihoods_)
    assert np.all(np.diff(history) >= -1e-8)
    assert history[-1] == pytest.approx(
        log_likelihood(ballots, fitted.truth_, fitted.parameters_, election.size_bounds), abs=1e-9
    )


def test_the_printed_proposition_2_does_lower_it():
    falls = 0
    for seed in range(20):
        ballots = simulate(instances=15, voters=10, alternatives=5, bounds=(1, 2), seed=seed).ballots
        history = AMLE((1, 2), prior_update="published").fit(ballots).log_likelihoods_
        falls += np.any(np.diff(history) < -1e-6)
        assert np.all(np.diff(AMLE((1, 2)).fit(ballots).log_likelihoods_) >= -1e-9)
    assert falls >= 15


@given(elections(max_instances=5, min_instances=2, per_instance=False), st.randoms(use_true_random=False))
def test_renaming_and_reordering_change_nothing_else(election, random):
    ballots = election.as_ballots()
    shuffled = list(election.ballots.items())
    random.shuffle(shuffled)
    renamed = Ballots.from_mapping(
        {(f"w{v}", f"y{z}"): {f"b{a}" for a in ticks} for (v, z), ticks in shuffled},
        alternatives=[f"b{a}" for a in election.alternatives],
        menu={f"y{z}": [f"b{a}" for a in menu] for z, menu in election.menus.items()} if election.has_menus else None,
    )
    one = AMLE(election.size_bounds).fit(ballots)
    other = AMLE(election.size_bounds).fit(renamed)
    assert {f"y{z}": {f"b{a}" for a in s} for z, s in one.truth_.items()} == dict(other.truth_)
    hits = dict(zip(ballots.voters, one.parameters_.hit_rates, strict=True))
    for voter, rate in zip(renamed.voters, other.parameters_.hit_rates, strict=True):
        assert rate == pytest.approx(hits[voter[1:]], abs=1e-7)


def test_duplicating_all_instances_changes_no_rate():
    ballots = simulate(instances=30, voters=8, alternatives=5, bounds=(1, 2), seed=3).ballots
    twice = {(v, copy + z): ticks for copy in "ab" for (v, z), ticks in ballots.items()}
    one = AMLE((1, 2)).fit(ballots).parameters_
    two = AMLE((1, 2)).fit(Ballots.from_mapping(twice, alternatives=ballots.alternatives)).parameters_
    assert one.distance(two) < 1e-5


@given(elections(max_instances=6, min_instances=2), st.integers(1, 12))
def test_any_sharding_gives_the_same_result_to_the_last_bit(election, cells):
    ballots = election.as_ballots()
    whole = AMLE(election.size_bounds, max_iterations=8).fit(ballots)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            amle_module, "workload", lambda ballots, bounds, gold: InMemoryWorkload(ballots, bounds, gold, cells)
        )
        cut = AMLE(election.size_bounds, max_iterations=8).fit(ballots)
    assert cut.truth_ == whole.truth_
    assert cut.parameters_ == whole.parameters_
    assert cut.log_likelihoods_ == whole.log_likelihoods_
    np.testing.assert_array_equal(cut.confidence_, whole.confidence_)


def test_free_bounds_are_independent_thresholds():
    ballots = simulate(instances=40, voters=6, alternatives=5, bounds=(0, 5), seed=1).ballots
    fitted = AMLE((0, None)).fit(ballots)
    task = InMemoryWorkload(ballots, SizeBounds(0, None))
    (margins,) = task.margins(fitted.parameters_)
    assert task.truths([margins >= 0]) == fitted.truth_


def test_known_rates_come_back_within_three_standard_errors():
    rng = np.random.default_rng(11)
    p, q, t = rng.uniform(0.65, 0.95, 20), rng.uniform(0.02, 0.25, 20), np.array([0.5, 0.3, 0.2, 0.4])
    crowd = simulate(
        instances=3000, voters=20, alternatives=4, bounds=(1, 2), hit_rates=p, false_alarm_rates=q, priors=t, seed=5
    )
    fitted = AMLE((1, 2)).fit(crowd.ballots)
    exact = np.mean([fitted.truth_[z] == crowd.gold[z] for z in crowd.gold])
    assert exact > 0.999, "with twenty good voters every set is found, so hard counts are not biased"
    winners = crowd.gold.sizes.sum()
    losers = 4 * 3000 - winners
    assert np.all(np.abs(fitted.parameters_.hit_rates - p) < 3 * np.sqrt(p * (1 - p) / winners))
    assert np.all(np.abs(fitted.parameters_.false_alarm_rates - q) < 3 * np.sqrt(q * (1 - q) / losers))
    shares = [
        [t[j] * oracles.mass_with(range(4), t, 1, 2, j) / oracles.size_mass(range(4), t, 1, 2) for j in range(4)]
        for t in (fitted.parameters_.priors, t)
    ]
    found, true = np.array(shares)
    assert np.all(np.abs(found - true) < 3 * np.sqrt(true * (1 - true) / 3000))


def test_the_same_seed_gives_the_same_estimate():
    ballots = simulate(instances=12, voters=5, alternatives=5, bounds=(1, 3), seed=8).ballots
    one, other = (AMLE((1, 3), "random", n_starts=3, seed=4).fit(ballots) for _ in range(2))
    assert one.parameters_ == other.parameters_


def test_a_capped_run_keeps_and_labels_its_estimate():
    ballots = simulate(instances=30, voters=8, alternatives=6, bounds=(1, 3), spammers=0.3, seed=2).ballots
    capped = AMLE((1, 3), max_iterations=1).fit(ballots)
    assert (capped.n_iter_, capped.converged_, capped.estimate_.status) == (1, False, "iteration limit")
    full = AMLE((1, 3)).fit(ballots)
    assert (full.converged_, full.estimate_.status) == (True, "converged")
    assert full.log_likelihoods_[0] == capped.log_likelihoods_[0]


def test_an_interrupted_run_keeps_and_labels_its_estimate(monkeypatch):
    ballots = simulate(instances=30, voters=8, alternatives=6, bounds=(1, 3), spammers=0.3, seed=2).ballots
    steps = []

    class Interrupted(InMemoryWorkload):
        def hard_step(self, parameters, *, by_menu=False):
            steps.append(parameters)
            if len(steps) == 3:
                raise KeyboardInterrupt
            return super().hard_step(parameters, by_menu=by_menu)

    monkeypatch.setattr(amle_module, "workload", Interrupted)
    estimator = AMLE((1, 3))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(ballots)
    assert (estimator.n_iter_, estimator.estimate_.status) == (2, "interrupted")
    assert estimator.log_likelihoods_ == AMLE((1, 3), max_iterations=2).fit(ballots).log_likelihoods_
    assert len(estimator.truth_) == 30


def test_an_interrupt_during_a_later_start_keeps_the_best_so_far(monkeypatch):
    ballots = simulate(instances=30, voters=8, alternatives=6, bounds=(1, 3), seed=2).ballots
    first = AMLE((1, 3)).fit(ballots)
    steps = []

    class Interrupted(InMemoryWorkload):
        def hard_step(self, parameters, *, by_menu=False):
            steps.append(parameters)
            if len(steps) == first.n_iter_ + 2:
                raise KeyboardInterrupt
            return super().hard_step(parameters, by_menu=by_menu)

    monkeypatch.setattr(amle_module, "workload", Interrupted)
    estimator = AMLE((1, 3), n_starts=5)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(ballots)
    assert estimator.estimate_.status == "interrupted"
    assert estimator.log_likelihoods_[-1] >= first.log_likelihoods_[-1]


def test_one_instance_keeps_its_priors_and_still_learns_voters():
    jury = Ballots.from_mapping(
        {("j1", "award"): {"a", "b"}, ("j2", "award"): {"a", "b"}, ("j3", "award"): {"a", "c"}, ("j4", "award"): {"d"}}
    )
    fitted = AMLE(2).fit(jury)
    assert fitted.truth_["award"] == {"a", "b"}
    assert fitted.parameters_.priors.tolist() == [0.5] * 4
    weights = dict(zip(jury.voters, fitted.parameters_.weights, strict=True))
    assert weights["j1"] == weights["j2"] > weights["j3"] > weights["j4"]
    favoured = AMLE(2, priors={"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.99}).fit(jury)
    assert favoured.parameters_.priors.tolist() == [0.5, 0.5, 0.5, 0.99]
    with pytest.raises(InputError, match="priors cannot be learnt from one instance"):
        AMLE(2, priors="shared").fit(jury)


def test_a_given_start_is_used_as_it_is():
    ballots = simulate(instances=10, voters=3, alternatives=4, bounds=1, seed=2).ballots
    start = Parameters(np.array([0.9, 0.9, 0.9]), np.array([0.1, 0.1, 0.1]), np.full(4, 0.25))
    fitted = AMLE(1, start, max_iterations=1).fit(ballots)
    assert fitted.truth_ == MaximumLikelihood(0.9, 0.1, 0.25, 1).fit(ballots).truth_
    with pytest.raises(
        RateError, match="the start has rates of 3 voters and priors of 4 alternatives; the ballots have 2"
    ):
        AMLE(1, start).fit(ballots.select(voters=ballots.voters[:2]))


def test_differing_menus_share_the_prior_by_default():
    ballots = Ballots.from_mapping(
        {("v", "y"): {"a"}, ("w", "y"): {"a"}, ("v", "z"): {"b"}, ("w", "z"): {"b", "c"}},
        menu={"y": ["a", "b"], "z": ["b", "c", "d"]},
    )
    assert len(set(AMLE(1).fit(ballots).parameters_.priors)) == 1
    assert len(set(AMLE((0, 2), priors="individual").fit(ballots).parameters_.priors)) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "anna"}, "start='anna' is not one of 'anna_karenina', 'uniform', 'random', 'soft', nor Parameters"),
        ({"prior_update": "printed"}, "prior_update='printed' is not one of 'mle', 'solved', 'published'"),
        ({"priors": "flat"}, "priors='flat' is not 'auto', 'individual', 'shared' or numbers between 0 and 1"),
        ({"n_starts": 0}, "n_starts=0 must be a whole number of at least 1"),
        ({"floor": 0.7}, "floor=0.7 must lie between 1e-12 and 0.5"),
        ({"priors": 1.0}, "priors: number 1 is 1; it must lie strictly between 0 and 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    ballots = simulate(instances=3, voters=3, alternatives=4, bounds=1, seed=2).ballots
    with pytest.raises(InputError, match=message):
        AMLE(1, **options).fit(ballots)
