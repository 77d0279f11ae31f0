"""Iterations that start ahead of where the last one led: fewer of them, the same result, an objective that never falls."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.passes import em_step as accelerated_step
from epivote import EM, Parameters, SizeBounds, reference_crowd
from epivote.data.parameters import from_log_odds
from epivote.estimate import em as em_module
from epivote.estimate.ahead import MEMORY, look_ahead
from epivote.estimate.climb import State
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.pseudo import PseudoCounts
from strategies import elections

FLOOR = 1e-4
CROWD = reference_crowd(instances=2000, voters=100, alternatives=10, upper=3)


def parameters(log_odds):
    """Two voters and one alternative with these log-odds."""
    rates = from_log_odds(np.asarray(log_odds, float))
    return Parameters(rates[:2], rates[2:4], rates[4:])


def log_odds(parameters):
    return np.concatenate([np.log(rates) - np.log1p(-rates) for rates in parameters.arrays().values()])


@pytest.fixture
def plain(monkeypatch):
    """A call after which EM takes plain iterations."""
    return lambda: monkeypatch.setattr(em_module, "look_ahead", lambda *_: None)


@pytest.fixture
def passes(monkeypatch):
    """The parameters of every pass over the ballots; EM does not look whether a crowd is upside down."""
    found, original = [], InMemoryWorkload.soft_step

    def noted(work, parameters, **options):
        found.append(parameters)
        return original(work, parameters, **options)

    monkeypatch.setattr(InMemoryWorkload, "soft_step", noted)
    monkeypatch.setattr(EM, "_seems_upside_down", lambda *_: False)
    return found


def test_a_linear_map_is_solved_after_as_many_iterations_as_it_has_numbers():
    rng = np.random.default_rng(3)
    matrix, shift = rng.normal(size=(5, 5)) * 0.2, rng.normal(size=5)
    fixed_point = np.linalg.solve(np.eye(5) - matrix, shift)
    at, ahead, plain = parameters(np.zeros(5)), None, np.zeros(5)
    for _ in range(MEMORY + 1):
        after = parameters(matrix @ log_odds(at) + shift)
        ahead = look_ahead(ahead, at, after, FLOOR)
        at, plain = ahead.start, matrix @ plain + shift
    assert log_odds(at) == pytest.approx(fixed_point, abs=1e-7)
    assert np.abs(plain - fixed_point).max() > 0.01, "plain iterations have not got there"


def test_only_the_last_iterations_count():
    rng = np.random.default_rng(1)
    ahead = late = None
    pairs = [[parameters(rng.normal(size=5)) for _ in "xg"] for _ in range(MEMORY + 4)]
    for number, (before, after) in enumerate(pairs):
        ahead = look_ahead(ahead, before, after, FLOOR)
        late = look_ahead(late, before, after, FLOOR) if number >= 3 else None
    assert len(ahead.starts) == len(ahead.results) == MEMORY + 1
    assert ahead.start == late.start


def test_a_first_iteration_and_one_without_change_lead_where_they_lead():
    before, after = parameters([0, 0, 0, 0, 0]), parameters([1, 2, -1, -2, 0.5])
    first = look_ahead(None, before, after, FLOOR)
    assert first.start is after
    assert look_ahead(first, before, after, FLOOR).start is after


def test_rates_stay_within_the_floor_and_given_priors_as_they_are():
    rng, given = np.random.default_rng(2), np.linspace(0.011, 0.989, 500)  # rounding would change 80 of them
    ahead = None
    for _ in range(4):
        drawn = (parameters([*rng.normal(scale=15, size=4), 0.0]) for _ in "xg")
        before, after = (Parameters(each.hit_rates, each.false_alarm_rates, given) for each in drawn)
        ahead = look_ahead(ahead, before, after, 0.01)
    rates = np.concatenate([ahead.start.hit_rates, ahead.start.false_alarm_rates])
    assert rates.min() == 0.01
    assert rates.max() == 0.99
    assert ahead.start.priors.tolist() == given.tolist()


def test_less_than_half_the_passes_are_needed(passes, plain):
    EM((1, 3)).fit(CROWD.ballots)
    fewer = len(passes)
    passes.clear()
    plain()
    EM((1, 3)).fit(CROWD.ballots)
    assert fewer < 0.4 * len(passes)


def test_plain_iterations_find_the_same_sets_once_shrinkage_has_settled(monkeypatch):
    ahead = EM((1, 3)).fit(CROWD.ballots)
    monkeypatch.setattr(em_module, "em_step", partial(accelerated_step, "while settling"))
    slow = EM((1, 3)).fit(CROWD.ballots)
    assert slow.n_iter_ > 2 * ahead.n_iter_
    assert slow.estimate_.settling_iterations == ahead.estimate_.settling_iterations
    assert ahead.truth_ == slow.truth_
    assert ahead.parameters_.distance(slow.parameters_) < 1e-4
    assert ahead.log_likelihoods_[-1] == pytest.approx(slow.log_likelihoods_[-1], abs=1e-3)


def test_short_runs_that_tell_which_way_up_a_crowd_is_are_not_accelerated(passes):
    work, none = InMemoryWorkload(CROWD.ballots, SizeBounds(1, 3), None), PseudoCounts.none(100)
    step = em_module.em_step(work, "individual", FLOOR, none, strength=1.0, tolerance=1e-2)
    start = State.at(EM((1, 3))._start(CROWD.ballots), none, settled=False)
    ends = [em_module._probed(start, step, iterations).parameters for iterations in range(1, 5)]
    passes.clear()
    em_module._probed(start, step, 5)
    assert passes == [start.parameters, *ends]


@settings(max_examples=15)
@given(elections())
def test_the_objective_never_falls_and_ends_as_high_as_without(election):
    fitted = EM(election.size_bounds, tolerance=1e-7).fit(election.as_ballots())
    assert np.all(np.diff(fitted.log_likelihoods_) >= -1e-9)
    assert fitted.n_iter_ <= 500


def test_where_the_objective_falls_the_plain_iteration_is_made(passes, plain, monkeypatch):
    ballots = CROWD.ballots.sample_instances(20)

    def astray(_, _before, after, *_options):
        return look_ahead(None, after, after.changed(per_voter=lambda rates: 1 - rates), FLOOR)

    monkeypatch.setattr(em_module, "look_ahead", astray)
    misled = EM((1, 3), max_iterations=20).fit(ballots)
    tried = len(passes)
    passes.clear()
    plain()
    straight = EM((1, 3), max_iterations=20).fit(ballots)
    assert misled.parameters_ == straight.parameters_
    assert misled.log_likelihoods_ == straight.log_likelihoods_
    assert tried > len(passes) == straight.n_iter_ == misled.n_iter_
