"""Iterations one by one: when they stop, what they count, where they start, and which of several starts wins."""

import itertools
import math
import warnings

import numpy as np
import pytest

import oracles
from epivote import AMLE, EM, Ballots, CrowdWarning, InputError, Parameters, SizeBounds, log_likelihood, simulate
from epivote.estimate import amle as amle_module
from epivote.estimate import em as em_module
from epivote.estimate.amle import amle_step
from epivote.estimate.climb import State, climb
from epivote.estimate.history import believed
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.voters import voter_step
from small import rates_of, small_election

CROWD = simulate(instances=25, voters=7, alternatives=4, bounds=(1, 2), spammers=0.3, coverage=0.7, seed=6)
BALLOTS = CROWD.ballots
HISTORY = {"v2": (3.5, 4, 1, 9), "v5": (0, 2, 5, 6), "nobody": (1, 1, 1, 1)}
BOUNDS = (1, 2)


@pytest.fixture
def steps(monkeypatch):
    """Where every iteration of a fit started and what it led to; EM does not look whether a crowd is upside down."""
    found = []
    for module in (amle_module, em_module):
        original = module.maximise

        def noted(*given, original=original, **options):
            found.append((given[1], original(*given, **options)))
            return found[-1][1]

        monkeypatch.setattr(module, "maximise", noted)
    monkeypatch.setattr(EM, "_seems_upside_down", lambda *_: False)
    return found


def changes(steps):
    """How far every iteration but the first moved the rates and priors."""
    return [after.distance(before) for before, after in steps[1:]]


KINDS = [
    pytest.param(lambda **options: AMLE(BOUNDS, **options), id="AMLE"),
    pytest.param(lambda **options: EM(BOUNDS, shrinkage=0, **options), id="EM"),
    pytest.param(lambda **options: EM(BOUNDS, shrinkage=1.0, **options), id="EM that shrinks"),
]


@pytest.mark.parametrize("make", KINDS[:2])
def test_a_run_stops_at_the_first_change_within_the_tolerance(make, steps):
    make(max_iterations=6, tolerance=0).fit(BALLOTS)
    moved = changes(steps)
    for change in moved[1:4]:
        first = next(place for place, each in enumerate(moved) if each <= change)
        at = make(tolerance=change).fit(BALLOTS)
        assert (at.n_iter_, at.converged_, at.estimate_.status) == (first + 2, True, "converged")
    least = min(moved)
    assert make(tolerance=np.nextafter(least, 0)).fit(BALLOTS).n_iter_ > moved.index(least) + 2


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.usefixtures("steps")
def test_a_run_that_converges_in_its_last_iteration_has_converged(make):
    full = make(tolerance=1e-3).fit(BALLOTS)
    assert full.n_iter_ > 2
    exactly = make(tolerance=1e-3, max_iterations=full.n_iter_).fit(BALLOTS)
    assert (exactly.n_iter_, exactly.estimate_.status) == (full.n_iter_, "converged")
    assert exactly.parameters_ == full.parameters_
    short = make(tolerance=1e-3, max_iterations=full.n_iter_ - 1).fit(BALLOTS)
    assert (short.n_iter_, short.estimate_.status) == (full.n_iter_ - 1, "iteration limit")


@pytest.mark.parametrize("make", KINDS)
def test_progress_is_told_every_iteration_and_its_objective(make):
    seen = []
    fitted = make(max_iterations=4).fit(BALLOTS, progress=lambda *told: seen.append(told))
    assert [number for number, _ in seen] == [1, 2, 3, 4]
    told = [value for _, value in seen]
    assert tuple(told[4 - len(fitted.log_likelihoods_) :]) == fitted.log_likelihoods_
    seen.clear()
    make(max_iterations=2).fit(BALLOTS)
    assert seen == []


def test_an_estimated_shrinkage_settles_when_rates_hardly_move_and_after_ten_iterations_at_the_latest(steps):
    settled = []
    for seed in range(8):
        good = {"hit_rates": 0.85, "false_alarm_rates": 0.1} if seed % 2 else {"spammers": 0.4, "coverage": 0.3}
        ballots = simulate(instances=40, voters=5 + seed, alternatives=4, bounds=BOUNDS, seed=seed, **good).ballots
        steps.clear()
        fitted = EM(BOUNDS, tolerance=0, max_iterations=13).fit(ballots)
        moved = [1.0, *changes(steps)]
        settled.append(next(k for k, change in enumerate(moved) if change <= 1e-3 or k + 1 >= 10))
        assert fitted.n_iter_ == len(steps)
        assert len(fitted.log_likelihoods_) == len(steps) - settled[-1]
    assert min(settled) < 5
    assert 9 in settled


# What one iteration counts


def counts_by_hand(election, start, soft):
    """Right and wrong alternatives ticked and seen under the start's rates: by voter, and occurrences by alternative."""
    p, q, t = start
    voters = {v: [0.0] * 4 for v in election.voters}
    present = {a: [0.0, 0] for a in election.alternatives}
    for z in election.instances:
        menu, pair = election.menus[z], election.bounds[z]
        cast = {v: election.ballots[v, z] for v in election.voters if (v, z) in election.ballots}
        chances = oracles.posterior(z, election.ballots, menu, p, q, t, *pair)
        if not soft:
            chances = [(max(chances, key=lambda each: each[1])[0], 1.0)]
        for a in menu:
            inside = math.fsum(chance for names, chance in chances if a in names)
            present[a][0] += inside
            present[a][1] += 1
            for v, ticks in cast.items():
                for place, value in enumerate((inside * (a in ticks), inside, (1 - inside) * (a in ticks), 1 - inside)):
                    voters[v][place] += value
    return voters, present


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["AMLE", "EM"])
def test_one_iteration_adds_history_and_shrinkage_to_what_it_counts(kind, seed):
    election = small_election(seed, voters=4, instances=6)
    ballots = election.as_ballots()
    history = {"v1": (3.5, 4, 1, 9), "v3": (0, 2, 5, 6), "nobody": (1, 1, 1, 1)}
    floor, strength = 0.01, 1.5 if kind == "EM" else 0.0
    priors = {a: election.t[a] for a in election.alternatives}
    if kind == "EM":
        p, q = dict.fromkeys(election.voters, 0.7), dict.fromkeys(election.voters, 0.2)
        rule = EM(election.size_bounds, priors=priors, shrinkage=strength, max_iterations=1, floor=floor)
    else:
        p, q = election.p, election.q
        start = Parameters(
            np.array([p[v] for v in ballots.voters]),
            np.array([q[v] for v in ballots.voters]),
            np.full(ballots.n_alternatives, 0.5),
        )
        rule = AMLE(election.size_bounds, start, priors=priors, max_iterations=1, floor=floor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CrowdWarning)
        fitted = rule.fit(ballots, history=history)
    voters, _ = counts_by_hand(election, (p, q, priors), soft=kind == "EM")
    hit_rates, false_alarm_rates, kept = rates_of(fitted)
    assert kept == pytest.approx(priors)
    value = 0.0
    for found, place, before in ((hit_rates, 0, p), (false_alarm_rates, 2, q)):
        totals = [sum(record[k] for record in voters.values()) for k in (place, place + 1)]
        mean = min(max(totals[0] / totals[1], 1e-3), 1 - 1e-3)
        for v in election.voters:
            known = history.get(v, (0, 0, 0, 0))
            yes = known[place] + strength * mean
            no = known[place + 1] - known[place] + strength * (1 - mean)
            ticked, seen = voters[v][place] + yes, voters[v][place + 1] + yes + no
            expected = min(max(ticked / seen, floor), 1 - floor) if seen > 1e-12 else before[v]
            assert found[v] == pytest.approx(expected, abs=1e-9)
            rate = before[v] if kind == "EM" else found[v]
            value += yes * math.log(rate) + no * math.log(1 - rate)
    if kind == "EM":
        for z in election.instances:
            scored = oracles.all_log_likelihoods(
                z, election.ballots, election.menus[z], p, q, priors, *election.bounds[z]
            )
            value += math.log(math.fsum(math.exp(each) for _, each in scored))
    else:
        value += log_likelihood(ballots, fitted.truth_, fitted.parameters_, election.size_bounds)
    assert fitted.log_likelihoods_ == pytest.approx([value], abs=1e-8)
    assert {v: list(record) for v, record in fitted.voter_history_.items()} == {
        v: pytest.approx(record, abs=1e-9) for v, record in voters.items()
    }


@pytest.mark.parametrize("kind", [AMLE, EM])
def test_histories_must_make_sense_and_may_touch_their_limits(kind):
    ballots = Ballots.from_mapping({("v", "x"): {"a"}, ("w", "x"): {"b"}, ("v", "y"): {"b"}})

    def fit(record, voter="v"):
        return kind(1, max_iterations=1).fit(ballots, history={voter: record})

    for record in ((3, 3, 0, 0), (0, 0, 2, 2), (3 * (1 + 1e-10), 3, 2 * (1 + 1e-10), 2), (0, 5, 0, 5)):
        assert fit(record).converged_ in (True, False)
        fit(record, "stranger")
    for record in (
        *((3.1, 3, 0, 0), (0, 3, 2.1, 2), (-0.1, 3, 0, 0), (0, 3, -0.1, 2), (1, np.inf, 0, 0), (0, 0, 0, np.inf)),
        *((3.0001, 3, 0, 0), (0, 0, 2.0001, 2)),
    ):
        with pytest.raises(InputError, match="is impossible; give hits, right alternatives seen, false alarms, wrong"):
            fit(record)
        with pytest.raises(InputError, match="is impossible"):
            fit(record, "stranger")
    for record in ((1, 2, 3), (1, 2, 3, 4, 5), (1, "2", 3, 4)):
        with pytest.raises(InputError, match="give four numbers, as in Record"):
            fit(record)


# Starts


def test_of_several_starts_the_most_likely_end_is_kept_wherever_it_comes():
    ends, places = [], set()
    for seed in range(5):
        ballots = simulate(instances=8, voters=4, alternatives=4, bounds=(1, 3), spammers=0.5, seed=seed).ballots
        rng = np.random.default_rng(seed)
        singles = [AMLE((1, 3), "random", seed=rng).fit(ballots) for _ in range(4)]
        values = [single.log_likelihoods_[-1] for single in singles]
        many = AMLE((1, 3), "random", n_starts=4, seed=seed).fit(ballots)
        best = values.index(max(values))
        assert many.log_likelihoods_ == singles[best].log_likelihoods_
        assert many.parameters_ == singles[best].parameters_
        assert many.truth_ == singles[best].truth_
        places.add(best)
        ends.append(len({round(value, 6) for value in values}))
    assert len(places) > 1
    assert max(ends) > 1
    usual = AMLE((1, 3), n_starts=3, seed=5).fit(ballots)
    rng = np.random.default_rng(5)
    others = [AMLE((1, 3)), AMLE((1, 3), "random", seed=rng), AMLE((1, 3), "random", seed=rng)]
    assert usual.log_likelihoods_[-1] == max(each.fit(ballots).log_likelihoods_[-1] for each in others)


def test_random_starts_follow_their_seed():
    def first(seed, n_starts=1):
        return AMLE(BOUNDS, "random", n_starts=n_starts, seed=seed, max_iterations=1).fit(BALLOTS).parameters_

    assert first(3) == first(3) == first(np.random.default_rng(3))
    assert first(3) != first(4)
    assert AMLE(BOUNDS, "random", max_iterations=1).fit(BALLOTS).parameters_ == first(0)


def test_of_equally_likely_ends_the_first_is_kept(monkeypatch):
    ends, handed_on = [], []
    top, rated_estimate = amle_module.top, amle_module.rated_estimate
    monkeypatch.setattr(amle_module, "top", lambda *given: ends.append(top(*given)) or ends[-1])
    monkeypatch.setattr(
        amle_module,
        "rated_estimate",
        lambda *given, **more: handed_on.append(given[1]) or rated_estimate(*given, **more),
    )
    fitted = AMLE(BOUNDS, Parameters(np.full(7, 0.8), np.full(7, 0.2), np.full(4, 0.4)), n_starts=2)
    monkeypatch.setattr(amle_module.starts, "random", lambda ballots, _: (np.full(7, 0.8), np.full(7, 0.2)))
    fitted.set_params(priors=0.4).fit(BALLOTS)
    assert len(ends) == 2
    assert ends[0].objectives[-1] == ends[1].objectives[-1]
    assert handed_on[0] is ends[0]


@pytest.mark.parametrize("start", ["anna_karenina", "uniform", "random"])
def test_starts_keep_to_the_floor_and_to_given_priors(start):
    rule = AMLE(BOUNDS, start, floor=0.45, priors=[0.2, 0.3, 0.4, 0.5])
    (found,) = rule._starts(BALLOTS, None, None)
    assert found.priors.tolist() == [0.2, 0.3, 0.4, 0.5]
    for rates in (found.hit_rates, found.false_alarm_rates):
        assert rates.min() >= 0.45
        assert rates.max() <= 0.55
    (plain,) = AMLE(BOUNDS, start)._starts(BALLOTS, None, None)
    assert plain.priors.tolist() == [0.5] * 4
    if start == "uniform":
        assert set(plain.hit_rates) == {0.51}
        assert set(plain.false_alarm_rates) == {0.49}


def test_a_soft_start_knows_gold_history_priors_and_floor():
    gold = {name: CROWD.gold[name] for name in BALLOTS.instances[:5]}
    options = {"priors": [0.2, 0.3, 0.4, 0.5], "floor": 0.05}
    soft = EM(BOUNDS, **options).fit(BALLOTS, gold, HISTORY).parameters_
    (found,) = AMLE(BOUNDS, "soft", **options)._starts(BALLOTS, gold, HISTORY)
    assert found == soft


def test_given_rates_start_with_given_priors_and_must_fit_the_ballots():
    start = Parameters(np.full(7, 0.8), np.full(7, 0.2), np.full(4, 0.3))
    (plain,) = AMLE(BOUNDS, start)._starts(BALLOTS, None, None)
    assert plain == start
    (kept,) = AMLE(BOUNDS, start, priors=0.6)._starts(BALLOTS, None, None)
    assert kept == Parameters(start.hit_rates, start.false_alarm_rates, np.full(4, 0.6))
    for wrong in (
        Parameters(np.full(6, 0.8), np.full(6, 0.2), np.full(4, 0.3)),
        Parameters(np.full(7, 0.8), np.full(7, 0.2), np.full(3, 0.3)),
    ):
        with pytest.raises(InputError, match="the ballots have 7 and 4"):
            AMLE(BOUNDS, wrong).fit(BALLOTS)


def test_no_run_converges_before_the_shrinkage_has_settled(steps):
    fitted = EM(BOUNDS, tolerance=0.99).fit(BALLOTS)
    moved = [math.inf, *changes(steps)]
    settled = next(k for k, change in enumerate(moved) if change <= 1e-3 or k + 1 >= 10)
    assert settled > 1, "any change is within this tolerance, so only the shrinkage keeps it going"
    assert (fitted.n_iter_, fitted.converged_) == (settled + 2, True)
    assert EM(BOUNDS, shrinkage=0, tolerance=0.99).fit(BALLOTS).n_iter_ == 1


def test_iterations_with_the_same_sets_have_the_same_statistics_and_rates():
    """What is told by `is` spares the voters' half of an iteration; it must be so only where all counts agree."""
    work = InMemoryWorkload(BALLOTS, SizeBounds(*BOUNDS))
    states = list(climb(State.at(starting(), believed(None, BALLOTS)), amle_step(work, "individual", 1e-4), 20))
    same = [after.statistics is before.statistics for before, after in itertools.pairwise(states)]
    assert True in same
    assert False in same
    for kept, (before, after) in zip(same, itertools.pairwise(states), strict=True):
        assert kept == np.array_equal(before.statistics.hits, after.statistics.hits)
        rates = voter_step(after.statistics, before.parameters, 1e-4)
        np.testing.assert_array_equal(np.array(rates), [after.parameters.hit_rates, after.parameters.false_alarm_rates])


def starting():
    return Parameters.alike(BALLOTS.n_voters, 0.51, 0.49, np.full(BALLOTS.n_alternatives, 0.5))
