"""Hard passes over more alternatives than a mask has bits: the sets and counts of arrays, pass after pass."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import Ballots, Parameters, SizeBounds
from epivote.data.lists import Lists
from epivote.data.shards import Shard
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels.arguments import MOST_TO_ORDER, Arrays, KeptSets
from epivote.kernels.passes import CompiledPass
from epivote.model.passes import ArrayPass
from epivote.model.statistics import GoldRows, PassCounts

VOTERS = 4
GRID = np.array([0.2, 0.5, 0.8])  # few different rates, so that margins are often equal


class Walk(NamedTuple):
    """A shard, its gold sets, and the parameters of consecutive passes."""

    shard: Shard
    gold: GoldRows | None
    steps: list[Parameters]

    def assert_same_sets(self):
        arrays, compiled = ArrayPass(self.shard, self.gold), CompiledPass(self.shard, self.gold)
        for parameters in self.steps:
            np.testing.assert_array_equal(compiled.sets(parameters), arrays.sets(parameters))
            one, other = (PassCounts.none(len(parameters.hit_rates), len(parameters.priors)) for _ in range(2))
            arrays.hard(parameters, one)
            compiled.hard(parameters, other)
            np.testing.assert_array_equal(other.voters, one.voters)
            np.testing.assert_array_equal(other.occurrences, one.occurrences)
        return compiled


def steps_from(rng, width, number):
    """Rates and priors of a few values, then steps from hardly any to large ones, of some or of all."""
    logits = [np.log(rates / (1 - rates)) for rates in (rng.choice(GRID, size) for size in (VOTERS, VOTERS, width))]
    found = []
    for _ in range(number):
        found.append(Parameters(*(1 / (1 + np.exp(-logit)) for logit in logits)))
        size = 10 ** rng.uniform(-10, 0)
        for k in ((0,), (1,), (2,), (0, 1, 2))[rng.integers(4)]:
            logits[k] = logits[k] + size * rng.choice([-1.0, 0.0, 1.0], len(logits[k]))
    return found


@st.composite
def walks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, rows = draw(st.sampled_from([65, 100, 127, 128, 129, 192, 193, 256, 300])), draw(st.integers(1, 6))
    near_full = [width - 1, width]
    lower = draw(st.sampled_from([0, 1, 2, 64, 65, *near_full]))
    upper = draw(st.sampled_from([size for size in (0, 1, 3, 64, 65, *near_full) if size >= lower]))
    cast = rng.random((rows, VOTERS, width)) < draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    missing = rng.random((rows, VOTERS)) < 0.3
    missing[:, 0] = False
    ballots = Ballots.from_array(cast, missing=missing, alternatives=[f"a{c}" for c in range(width)])
    (shard,) = InMemoryWorkload(ballots, SizeBounds(lower, upper), cells_per_shard=1 << 30).shards
    n_alternatives = width
    if draw(st.booleans()):  # every row offers other alternatives of some more
        n_alternatives = width + 7
        offered = np.array([np.sort(rng.permutation(n_alternatives)[:width]) for _ in range(rows)])
        shard = replace(shard, offered=offered)
    gold = GoldRows(np.array([rows - 1]), rng.random((1, width)) < 0.1) if draw(st.booleans()) else None
    return Walk(shard, gold, steps_from(rng, n_alternatives, 12))


@given(walks())
def test_sets_and_counts_are_those_of_arrays_pass_after_pass(walk):
    walk.assert_same_sets()


def shard_of(ticks, bounds, multiplicities=None):
    """One row for each table of ballots by alternatives."""
    (shard,) = InMemoryWorkload(Ballots.from_array(ticks), SizeBounds(*bounds), cells_per_shard=1 << 30).shards
    return replace(shard, multiplicities=multiplicities)


def alike(priors):
    return Parameters.alike(VOTERS, 0.7, 0.2, priors)


@pytest.mark.parametrize("size", [1, 5, 63, 64, 65, 129])
def test_of_equal_alternatives_those_listed_first_are_taken_in_every_word(size):
    shard = shard_of(np.ones((1, VOTERS, 130)), (size, size))
    for last in (0.5, 0.6):  # all are equal, or all but the last one
        priors = np.full(130, 0.5)
        priors[-1] = last
        walk = Walk(shard, None, [alike(priors)])
        (chosen,) = walk.assert_same_sets().sets(alike(priors))
        expected = [*range(size - 1), size - 1 if last == 0.5 else 129]
        assert chosen.nonzero()[0].tolist() == expected


@pytest.mark.parametrize("bounds", [(1, 3), (0, 200), (199, 200), (100, 150), (0, 0)])
def test_a_second_pass_at_the_same_parameters_chooses_nothing_anew(bounds):
    rng = np.random.default_rng(2)
    shard = shard_of(rng.random((50, VOTERS, 200)) < 0.4, bounds)
    parameters = Parameters(*rng.uniform(0.2, 0.8, (2, VOTERS)), rng.uniform(0.1, 0.4, 200))
    compiled = CompiledPass(shard, None)
    compiled.hard(parameters, PassCounts.none(VOTERS, 200))
    slack = compiled._state.kept.slack.copy()
    compiled.hard(parameters, PassCounts.none(VOTERS, 200))
    np.testing.assert_array_equal(compiled._state.kept.slack, slack)
    assert np.mean(slack > 0) > 0.9, "nearly all sets can stay for a while"


def test_slack_is_half_of_what_is_between_the_last_taken_and_the_first_left_out():
    log_odds = np.concatenate([np.full(70, -9.0), [-3.0, -1.0, -1.5], np.full(70, -9.0)])
    shard = shard_of(np.zeros((1, VOTERS, 143)), (2, 3))
    parameters = Parameters.alike(VOTERS, 0.5, 0.5, 1 / (1 + np.exp(-log_odds)))  # whose ballots say nothing
    compiled = CompiledPass(shard, None)
    compiled.hard(parameters, PassCounts.none(VOTERS, 143))
    assert compiled._state.kept.slack == pytest.approx([0.75], abs=1e-6)


def test_a_set_is_chosen_anew_where_ballots_have_moved_margins_up_or_down():
    """The weight of a voter whose threshold hardly moves takes what she ticks past 0, and back."""
    ticks = np.zeros((1, VOTERS, 100))
    ticks[0, 0, 80] = 1
    few, more = (Parameters.alike(VOTERS, 0.5, rate, np.full(100, 0.1)) for rate in (0.001, 0.1))
    walk = Walk(shard_of(ticks, (0, 2)), None, [more, few, more])
    compiled = walk.assert_same_sets()
    assert [int(compiled.sets(parameters).sum()) for parameters in walk.steps] == [0, 1, 0]


def test_sets_are_kept_unless_they_would_take_more_memory_than_the_ballots():
    """One tick a ballot, among few alternatives and among very many."""
    parameters = {width: alike(np.full(width, 0.1)) for width in (70, 40_000)}
    for width, is_kept in ((70, True), (40_000, False)):
        ticks = Lists(np.arange(2 * VOTERS + 1), np.arange(2 * VOTERS) * 5)
        voters, start = np.tile(np.arange(VOTERS), 2), np.array([0, VOTERS, 2 * VOTERS])
        shard = Shard(np.arange(2), 1, 2, width, None, start, voters, ticks)
        compiled = Walk(shard, None, [parameters[width]] * 2).assert_same_sets()
        assert (compiled._state is not None) == is_kept
        assert (KeptSets.size_of(*shard.shape) <= Arrays.of(shard, None).nbytes) == is_kept


@pytest.mark.parametrize(("width", "numbers"), [(0, 1), (1, 1), (64, 1), (65, 2), (128, 2), (129, 3)])
def test_kept_sets_have_a_bit_for_every_column(width, numbers):
    kept = KeptSets.none(3, width)
    assert kept.sets.shape == (3, numbers)
    assert KeptSets.size_of(3, width) == kept.sets.nbytes + kept.slack.nbytes


def test_instances_without_alternatives_have_empty_sets():
    cast = {("a", "y"): {"x"}, **{("a", f"z{k}"): set() for k in range(100)}}
    menu = {"y": ["x"], **{f"z{k}": [] for k in range(100)}}
    ballots = Ballots.from_mapping(cast, alternatives=["x"], menu=menu)
    for shard in InMemoryWorkload(ballots, SizeBounds(0, None)).shards:
        one = Parameters.alike(1, 0.7, 0.2, np.array([0.5]))
        Walk(shard, None, [one, Parameters.alike(1, 0.6, 0.2, np.array([0.5]))]).assert_same_sets()


@pytest.mark.parametrize("width", [3, 70])
def test_margins_of_very_many_voters_are_compared_to_the_last_digit(width):
    """Margins of 1e10, which as whole numbers of 1e-9 have more digits than a word holds."""
    times = np.full(VOTERS, MOST_TO_ORDER**2)
    rng = np.random.default_rng(width)
    shard = shard_of(rng.random((20, VOTERS, width)) < 0.7, (1, 2), times)
    compiled = Walk(shard, None, steps_from(rng, width, 4)).assert_same_sets()
    assert compiled._state is None, "arrays chose them"


def test_as_many_voters_as_can_be_ordered_are():
    shard = shard_of(np.ones((2, 2, 70)), (1, 2), np.array([MOST_TO_ORDER - 1, 1]))
    parameters = Parameters(np.full(2, 1 - 1e-12), np.full(2, 1e-12), np.full(70, 0.5))
    assert Walk(shard, None, [parameters]).assert_same_sets()._state is not None
