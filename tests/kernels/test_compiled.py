"""Compiled loops against array operations: hard results to the last bit, soft ones up to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import AMLE, EM, Ballots, Parameters, SizeBounds, reference_crowd, simulate
from epivote.data.calibration import Calibration
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels.passes import CompiledPass, _weighed
from epivote.model.passes import ArrayPass
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.statistics import PassCounts
from strategies import elections

MOST_STATES = 1 << 21  # of a size counter over all cells, as in loops/weigh.hpp
SUMS = ("hits", "winners_seen", "false_alarms", "losers_seen", "occurrences", "offered")


def both(task):
    """The same passes over the shards of a task, with arrays and compiled."""
    for shard, known in zip(task.shards, task._gold_rows, strict=True):
        yield ArrayPass(shard, known), CompiledPass(shard, known)


def counted(work, task, parameters):
    """Sums that a pass adds to, and what it returns."""
    found = PassCounts.none(task.ballots.n_voters, task.ballots.n_alternatives)
    return found, work(parameters, found)


def task_of(election, with_gold):
    """The task of an election and its parameters; with gold, the set of its first instance is given."""
    ballots, bounds = election.as_ballots(), election.size_bounds
    parameters = election.parameters(ballots)
    task = InMemoryWorkload(ballots, bounds)
    if not with_gold:
        return task, parameters
    first = ballots.instances[0]
    return InMemoryWorkload(ballots, bounds, {first: task.truths(task.truth_step(parameters))[first]}), parameters


def in_groups(parameters, groups):
    """The same voters, and groups with priors that are drawn."""
    rng = np.random.default_rng(groups)
    shares = rng.uniform(0.2, 1, groups)
    priors = rng.uniform(0.05, 0.95, (groups, len(parameters.priors)))
    return Parameters.in_groups(parameters.hit_rates, parameters.false_alarm_rates, priors, shares / shares.sum())


def assert_same_groups(task, parameters):
    for arrays, compiled in both(task):
        one, other = (each.groups(parameters, task.ballots.n_voters) for each in (arrays, compiled))
        np.testing.assert_allclose(other.counts.voters, one.counts.voters, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(other.counts.occurrences, one.counts.occurrences, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(other.occurrences, one.occurrences, rtol=1e-11, atol=1e-11)
        assert one.instances.keys() == other.instances.keys()
        np.testing.assert_allclose(other.sizes, one.sizes, rtol=1e-11)
        assert other.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-12, abs=1e-9)


@given(elections(), st.booleans(), st.integers(1, 3))
def test_passes_over_groups_agree(election, with_gold, groups):
    task, parameters = task_of(election, with_gold)
    assert_same_groups(task, in_groups(parameters, groups))


@pytest.mark.parametrize("width", [5, 70])
def test_passes_over_groups_agree_where_odds_are_extreme(width):
    """Many ballots of voters who are nearly always right, on more alternatives than a mask holds, too."""
    crowd = simulate(
        instances=60, voters=200, alternatives=width, bounds=(1, 3), priors=0.1, hit_rates=0.999, false_alarm_rates=1e-3
    )
    some = dict(list(crowd.gold.items())[:3])
    task = InMemoryWorkload(crowd.ballots, SizeBounds(1, 3, {"i5": (0, None), "i6": (2, 2)}), some)
    assert_same_groups(task, in_groups(crowd.parameters, 3))


@given(elections(), st.booleans())
def test_hard_and_soft_passes_agree(election, with_gold):
    task, parameters = task_of(election, with_gold)
    for arrays, compiled in both(task):
        np.testing.assert_array_equal(compiled.sets(parameters), arrays.sets(parameters))
        hard, again = (counted(one.hard, task, parameters)[0] for one in (arrays, compiled))
        np.testing.assert_array_equal(again.voters, hard.voters)
        np.testing.assert_array_equal(again.occurrences, hard.occurrences)
        (soft, total), (resoft, retotal) = (counted(one.soft, task, parameters) for one in (arrays, compiled))
        np.testing.assert_allclose(resoft.voters, soft.voters, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(resoft.occurrences, soft.occurrences, rtol=1e-12, atol=1e-12)
        assert retotal == pytest.approx(total, rel=1e-12, abs=1e-10)


@given(elections(), st.booleans(), st.sampled_from([1, 60, 2000]))
def test_tables_of_log_odds_and_their_probabilities_agree(election, with_gold, factor):
    task, parameters = task_of(election, with_gold)
    for arrays, compiled in both(task):
        margins = arrays.margins(parameters)
        np.testing.assert_array_equal(compiled.margins(parameters), margins)
        one, other = (each.set_odds(factor * margins) for each in (arrays, compiled))
        np.testing.assert_allclose(other.inclusion, one.inclusion, rtol=1e-11, atol=1e-300)
        sets = arrays.sets(parameters)
        np.testing.assert_allclose(other.probabilities(sets), one.probabilities(sets), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("alternatives", [7, 65])
@pytest.mark.parametrize("rows", [1, 8, 9, 23])
def test_tables_are_filled_to_the_last_row(alternatives, rows):
    crowd = reference_crowd(rows, 20, alternatives, 3, seed=rows)
    task = InMemoryWorkload(crowd.ballots, SizeBounds(1, 3))
    for arrays, compiled in both(task):
        np.testing.assert_array_equal(compiled.margins(crowd.parameters), arrays.margins(crowd.parameters))
        one, other = (each.set_odds(arrays.margins(crowd.parameters)) for each in (arrays, compiled))
        np.testing.assert_allclose(other.inclusion, one.inclusion, rtol=1e-11)


@pytest.mark.parametrize("calibrate", [False, True])
def test_sets_and_probabilities_of_fits_are_those_of_arrays(calibrate, monkeypatch, use_loops):
    """In several shards and by two threads, gold sets among them; both kinds of passes at the same rates."""
    crowd = simulate(instances=400, voters=30, alternatives=9, bounds=(1, 3), ballots_per_instance=6, seed=4)
    gold = {name: crowd.gold[name] for name in crowd.gold.instances[5:35]}
    calibration = Calibration(1.4, 0.6, 0.9, 0.1, np.linspace(-0.2, 0.2, 9), "halves") if calibrate else None
    monkeypatch.setenv("EPIVOTE_THREADS", "2")
    found = []
    for wanted in (False, True):
        use_loops(wanted)
        task = InMemoryWorkload(crowd.ballots, SizeBounds(1, 3), gold, cells_per_shard=300)
        sets = task.best_sets(crowd.parameters, calibration)
        ties = task.ties(crowd.parameters, calibration=calibration)
        found.append((task.truths(sets), ties, task.posterior(crowd.parameters, sets, calibration)))
        assert task.engine.threads == (2 if wanted else 1)
    (truths, ties, posterior), (again, ties_again, weighed) = found
    assert dict(again) == dict(truths)
    assert ties_again == ties
    np.testing.assert_allclose(weighed.inclusion, posterior.inclusion, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(weighed.set_probabilities, posterior.set_probabilities, rtol=1e-11, atol=1e-15)
    assert np.all(weighed.set_probabilities[5:35] == 1)


def walk(parameters, seed, steps):
    """Parameters that wander off, in steps from hardly any to large ones, and now and then back to where they began."""
    rng = np.random.default_rng(seed)
    start = parameters
    yield parameters
    for _ in range(steps):
        if rng.random() < 0.2:
            parameters = start
            yield start
        size = 10 ** rng.uniform(-6, 0.5)
        logits = (np.log(rates / (1 - rates)) for rates in (parameters.hit_rates, parameters.false_alarm_rates))
        moved = [logit + size * rng.normal(size=len(logit)) * (rng.random(len(logit)) < 0.5) for logit in logits]
        priors = np.log(parameters.priors / (1 - parameters.priors)) + size * rng.normal() * rng.random(
            len(parameters.priors)
        )
        parameters = Parameters(*(np.clip(1 / (1 + np.exp(-each)), 1e-4, 1 - 1e-4) for each in (*moved, priors)))
        yield parameters


@given(elections(max_voters=5, max_instances=6), st.booleans(), st.integers(0, 2**32))
def test_sets_kept_from_pass_to_pass_are_those_chosen_anew(election, with_gold, seed):
    task, start = task_of(election, with_gold)
    for arrays, compiled in both(task):
        for parameters in walk(start, seed, 12):
            hard, again = (counted(one.hard, task, parameters)[0] for one in (arrays, compiled))
            np.testing.assert_array_equal(again.voters, hard.voters)
            np.testing.assert_array_equal(again.occurrences, hard.occurrences)


@pytest.mark.parametrize("bounds", [(1, 3), (2, 2), (0, 0), (0, 9), (9, 9), (4, 6)])
def test_a_long_walk_changes_some_sets_and_keeps_most(bounds):
    task = InMemoryWorkload(crowd(9), SizeBounds(*bounds))
    start = Parameters(np.full(40, 0.7), np.linspace(0.05, 0.4, 40), np.full(9, 0.3))
    for arrays, compiled in both(task):
        for parameters in walk(start, 5, 60):
            hard, again = (counted(one.hard, task, parameters)[0] for one in (arrays, compiled))
            np.testing.assert_array_equal(again.voters, hard.voters)
            np.testing.assert_array_equal(again.occurrences, hard.occurrences)
            np.testing.assert_array_equal(compiled.sets(parameters), arrays.sets(parameters))


def test_a_second_pass_at_the_same_parameters_chooses_nothing_anew():
    task = InMemoryWorkload(crowd(9), SizeBounds(1, 3))
    parameters = Parameters(np.full(40, 0.7), np.linspace(0.05, 0.4, 40), np.full(9, 0.3))
    for _, compiled in both(task):
        counted(compiled.hard, task, parameters)
        slack = compiled._state.kept.slack.copy()
        counted(compiled.hard, task, parameters)
        np.testing.assert_array_equal(compiled._state.kept.slack, slack)
        assert np.mean(slack > 0.01) > 0.5, "most sets can stay for a while"


@given(
    st.lists(st.floats(-900, 900) | st.sampled_from([0.0, 1.0, -1.0]), min_size=1, max_size=13),
    st.integers(0, 13),
    st.integers(0, 13),
    st.integers(0, 10),
)
def test_one_row_is_weighed_alike_however_large_its_margins(margins, lower, more, place):
    """In every lane, and in a block that is not full, beside rows without evidence."""
    width = len(margins)
    lower = min(lower, width)
    upper = min(lower + more, width)
    rows = np.zeros((11, width))
    rows[place] = margins
    expected_total, expected = log_partition_and_inclusion(rows, lower, upper)
    total, found = _weighed(rows, lower, upper)
    np.testing.assert_allclose(total, expected_total, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    small = np.abs(rows).sum(axis=1) < 100
    np.testing.assert_allclose(found[small], expected[small], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("width", [2, 64, 65])
@pytest.mark.parametrize(
    ("bounds", "first", "second"), [((0, None), 1e-3, 0.0), ((1, 1), 0.0, 0.0), ((1, 1), 1e-3, 1e-3)]
)
def test_margins_are_equal_to_as_many_decimals_as_arrays_compare(width, bounds, first, second):
    """One of two margins moves past a tie in small steps, beside others far below; half of many voters tick all."""
    ballots = Ballots.from_array(np.repeat([[0, 1]], [20, 20], axis=1)[:, :, None].repeat(width, axis=2))
    task, found = InMemoryWorkload(ballots, SizeBounds(*bounds)), []
    for arrays, compiled in both(task):
        for distance in np.arange(-30, 31) * 1e-10:
            log_odds = np.array([first, second + distance, *[-5.0] * (width - 2)])
            parameters = Parameters(np.full(40, 0.99), np.full(40, 0.01), 1 / (1 + np.exp(-log_odds)))
            np.testing.assert_array_equal(compiled.sets(parameters), arrays.sets(parameters))
            hard, again = (counted(one.hard, task, parameters)[0] for one in (arrays, compiled))
            np.testing.assert_array_equal(again.occurrences, hard.occurrences)
            found.append(hard.occurrences[1])
    assert set(found) == {0, 1}


@pytest.mark.parametrize("log_odds", [-300, -340, -354, -360, -371, -380])
def test_sums_that_are_hardly_above_0_keep_all_their_digits(log_odds):
    """The sum over pairs is about e to twice that: at -354 a float begins to lose digits, at -372 it is 0."""
    margins = np.array([[log_odds, log_odds - 1.0, log_odds - 2.5]])
    for found, expected in zip(_weighed(margins, 2, 2), log_partition_and_inclusion(margins, 2, 2), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    task = InMemoryWorkload(Ballots.from_array(np.zeros((1, 1, 3))), SizeBounds(2, 2))
    parameters = Parameters(np.full(1, 0.5), np.full(1, 0.5), np.exp(margins[0]))
    for arrays, compiled in both(task):
        (soft, total), (resoft, retotal) = (counted(one.soft, task, parameters) for one in (arrays, compiled))
        np.testing.assert_allclose(resoft.occurrences, soft.occurrences, rtol=1e-12)
        assert retotal == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("ticked", "bounds"), [(slice(1), SizeBounds(1, 2)), (slice(3), SizeBounds(0, 2))])
def test_products_that_would_vanish_on_the_way_are_added_in_logarithms(ticked, bounds):
    n = 240
    cast = np.zeros((1, n, 3))
    cast[0, :, ticked] = 1
    rates = np.where(np.arange(n) < n // 2, 1e-4, 1 - 1e-4)
    parameters = Parameters(rates, 1 - rates, np.array([0.5, 0.4, 0.3]))
    task = InMemoryWorkload(Ballots.from_array(cast), bounds)
    for arrays, compiled in both(task):
        (soft, total), (resoft, retotal) = (counted(one.soft, task, parameters) for one in (arrays, compiled))
        np.testing.assert_allclose(resoft.occurrences, soft.occurrences, rtol=1e-9)
        assert resoft.occurrences[0] > 0.1, "a thousand against and a thousand for leave it open"
        assert retotal == pytest.approx(total, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("voters", "kind"), [(200, np.uint8), (40_000, np.uint16)])
def test_numbers_of_voters_may_have_any_type(voters, kind):
    """Packed ballots number voters in as few bytes as will do; the highest bit of those is not a sign."""
    drawn = reference_crowd(voters // 2, voters, 5, 2, seed=2)
    (shard,) = InMemoryWorkload(drawn.ballots, SizeBounds(1, 2), cells_per_shard=1 << 30).shards
    shard = replace(shard, ballot_voter=shard.ballot_voter.astype(kind))
    counts = [PassCounts.none(voters, 5) for _ in range(4)]
    arrays, compiled = ArrayPass(shard, None), CompiledPass(shard, None)
    assert compiled.soft(drawn.parameters, counts[0]) == pytest.approx(arrays.soft(drawn.parameters, counts[1]))
    compiled.hard(drawn.parameters, counts[2])
    arrays.hard(drawn.parameters, counts[3])
    np.testing.assert_allclose(counts[0].voters, counts[1].voters, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(counts[2].voters, counts[3].voters)
    np.testing.assert_array_equal(compiled.margins(drawn.parameters), arrays.margins(drawn.parameters))


def crowd(alternatives, seed=3):
    return simulate(
        instances=300,
        voters=40,
        alternatives=alternatives,
        bounds=(1, 3),
        ballots_per_instance=6,
        spammers=0.2,
        seed=seed,
    ).ballots


@pytest.mark.parametrize("alternatives", [7, 64, 65, 130])
@pytest.mark.parametrize("upper", [3, 12, None])
def test_masks_and_lists_find_what_arrays_find(alternatives, upper, use_loops):
    ballots = crowd(alternatives)
    fits = {}
    for compiled in (False, True):
        use_loops(compiled)
        fits[compiled] = [rule((1, upper), max_iterations=8).fit(ballots) for rule in (AMLE, EM)]
    (hard, soft), (hard_compiled, soft_compiled) = fits[False], fits[True]
    assert hard_compiled.truth_ == hard.truth_
    assert hard_compiled.parameters_ == hard.parameters_, "to the last bit"
    assert hard_compiled.log_likelihoods_ == hard.log_likelihoods_
    assert soft_compiled.truth_ == soft.truth_
    np.testing.assert_allclose(soft_compiled.parameters_.hit_rates, soft.parameters_.hit_rates, rtol=1e-9)
    np.testing.assert_allclose(soft_compiled.log_likelihoods_, soft.log_likelihoods_, rtol=1e-11)


@pytest.mark.parametrize("alternatives", [1, 6, 20, 65])
@pytest.mark.parametrize(
    "bounds", [(0, 0), (0, 1), (1, 1), (0, None), (1, None), (6, None), (1, 4), (1, 5), (2, 6), (0, 9), (4, 14)]
)
def test_sizes_are_counted_in_fours_whatever_the_bounds(alternatives, bounds):
    """A counter runs four states at a time: bounds below, at and above every four."""
    if max(size or 0 for size in bounds) > alternatives:
        return
    rng = np.random.default_rng(alternatives)
    task = InMemoryWorkload(Ballots.from_array(rng.random((11, 7, alternatives)) < 0.3), SizeBounds(*bounds))
    rates = rng.uniform(0.3, 0.9, 7), rng.uniform(0.1, 0.5, 7), rng.uniform(0.1, 0.6, alternatives)
    for arrays, compiled in both(task):
        (soft, total), (resoft, retotal) = (counted(one.soft, task, Parameters(*rates)) for one in (arrays, compiled))
        np.testing.assert_allclose(resoft.voters, soft.voters, rtol=1e-12)
        np.testing.assert_allclose(resoft.occurrences, soft.occurrences, rtol=1e-12)
        assert retotal == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("alternatives", [3, 21, 64, 66])
def test_rows_with_few_and_with_many_ballots_are_weighed_alike(alternatives):
    """A few instances are answered by everybody, most by some, the first by nobody but one."""
    rng = np.random.default_rng(alternatives)
    answering = rng.choice([0.05, 0.3, 1.0], size=(400, 1), p=[0.5, 0.48, 0.02])
    missing = rng.random((400, 60)) > answering
    missing[0], missing[:, 0] = True, False
    array = rng.random((400, 60, alternatives)) < 0.3
    task = InMemoryWorkload(Ballots.from_array(array, missing=missing), SizeBounds(1, 3))
    rates = rng.uniform(0.3, 0.9, 60), rng.uniform(0.1, 0.5, 60), rng.uniform(0.1, 0.6, alternatives)
    for arrays, compiled in both(task):
        (soft, total), (resoft, retotal) = (counted(one.soft, task, Parameters(*rates)) for one in (arrays, compiled))
        np.testing.assert_allclose(resoft.voters, soft.voters, rtol=1e-12)
        np.testing.assert_allclose(resoft.occurrences, soft.occurrences, rtol=1e-12)
        assert retotal == pytest.approx(total, rel=1e-12)


def test_rows_with_too_many_states_for_lockstep_are_weighed_one_by_one():
    width, upper = 1500, 1400
    assert width * upper > MOST_STATES
    rng = np.random.default_rng(1)
    task = InMemoryWorkload(Ballots.from_array(rng.random((2, 3, width)) < 0.5), SizeBounds(1, upper))
    parameters = Parameters(np.full(3, 0.9), np.full(3, 0.2), np.full(width, 0.4))
    for arrays, compiled in both(task):
        (soft, total), (resoft, retotal) = (counted(one.soft, task, parameters) for one in (arrays, compiled))
        np.testing.assert_allclose(resoft.voters, soft.voters, rtol=1e-11)
        assert retotal == pytest.approx(total, rel=1e-11)


@pytest.mark.parametrize("cells", [1, 500, 1 << 20])
@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_neither_cut_nor_threads_change_a_bit_of_the_hard_result(cells, threads, monkeypatch):
    ballots = crowd(9)
    parameters = Parameters(np.full(40, 0.7), np.linspace(0.05, 0.4, 40), np.full(9, 0.3))
    expected = InMemoryWorkload(ballots, SizeBounds(1, 3)).hard_step(parameters)
    monkeypatch.setenv("EPIVOTE_THREADS", threads)
    task = InMemoryWorkload(ballots, SizeBounds(1, 3), cells_per_shard=cells)
    found = task.hard_step(parameters)
    for name in SUMS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert task.truths(task.truth_step(parameters)) == InMemoryWorkload(ballots, SizeBounds(1, 3)).truths(
        InMemoryWorkload(ballots, SizeBounds(1, 3)).truth_step(parameters)
    )


def test_threads_change_nothing_of_the_soft_result_either(monkeypatch):
    ballots = crowd(9)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("EPIVOTE_THREADS", threads)
        task = InMemoryWorkload(ballots, SizeBounds(1, 3), cells_per_shard=700)
        parameters = Parameters(np.full(40, 0.7), np.linspace(0.05, 0.4, 40), np.full(9, 0.3))
        found.append(task.soft_step(parameters))
    assert found[0][1] == found[1][1]
    np.testing.assert_array_equal(found[0][0].hits, found[1][0].hits)


def test_a_large_crowd_is_recovered_by_the_compiled_loops():
    drawn = reference_crowd(30_000, 300, 20, 4, seed=5)
    fitted = EM((1, 4)).fit(drawn.ballots)
    assert np.mean(np.abs(fitted.parameters_.hit_rates - drawn.parameters.hit_rates)) < 0.02


def test_where_everything_must_be_right_it_is_certain_to_the_last_bit():
    ballots = simulate(instances=1, voters=5, alternatives=3, bounds=3, seed=1).ballots  # more would hide roundings
    task, rng = InMemoryWorkload(ballots, SizeBounds(3, 3)), np.random.default_rng(1)
    for _ in range(20):
        parameters = Parameters(*rng.uniform(0.1, 0.9, (2, 5)), rng.uniform(0.1, 0.9, 3))
        for statistics in (task.soft_step(parameters)[0], task.hard_step(parameters)):
            np.testing.assert_array_equal(statistics.occurrences, [1, 1, 1])
