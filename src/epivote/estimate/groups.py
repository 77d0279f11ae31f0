"""Groups of instances, each with priors of its own, so that alternatives that go together are learnt.

Groups are looked for from where one group for all ended: instances whose sets look alike are put together, at random
but by a seed, several times; after a few iterations the best of these goes on. Voters have the same rates in all
groups, and every group's priors are drawn towards the common ones, or small groups would learn a few sets by heart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.errors import InputError
from epivote.estimate.climb import Count, State, Step, top
from epivote.estimate.maximise import PriorKind
from epivote.estimate.probe import sampled
from epivote.estimate.workload import InMemoryWorkload, Workload
from epivote.model.groups import GroupCounts
from epivote.model.level import Belief
from epivote.model.likelihood import grouped_log_likelihood_of
from epivote.model.priors import prior_sweep
from epivote.model.pseudo import BELIEVED_PER_GROUP, GroupBelief, PseudoCounts
from epivote.model.statistics import Group, PassCounts, Statistics, groups_of
from epivote.model.voters import voter_step

GROUP_STRENGTH = 2.0  # instances' worth of belief that a group has the common priors; found by trying 1, 3, 10 and 30
N_STARTS = 3  # random starts, of which the best goes on; 8 found nothing better
START_ITERATIONS = 10  # of each of them; a round number
START_INSTANCES = 2000  # about so many are asked to choose the start; a round number
# Gain in log-likelihood per iteration below which groups have converged. Measured: iterations after that added at most
# .06 in all where nothing goes together, and there they were two to five times as many.
SMALLEST_GAIN = 1e-3
NEAREST = 0.8  # share of an instance that starts in the group it is nearest to; a round number


def check_groups(groups: int, kind: PriorKind, ballots: AnyBallots) -> None:
    """Refuse ballots that cannot tell groups apart."""
    if ballots.n_instances < groups:
        raise InputError(f"groups={groups} needs at least as many instances; the ballots have {ballots.n_instances}")
    if ballots.has_menus:
        raise InputError("groups need the same alternatives on every instance; leave groups=None where menus differ")
    if kind != "individual":
        raise InputError("groups learn priors per alternative; leave priors='auto', or leave groups=None")


def grouped(
    work: Workload, plain: State, groups: int, strength: float | None, floor: float, rng: np.random.Generator
) -> State:
    """Where the iterations with groups begin, given where those without ended; raises if interrupted."""
    weight = GROUP_STRENGTH if strength is None else strength
    common = GroupBelief(plain.parameters.priors, weight)
    believed = replace(plain.believed, prior_in=0.0, prior_out=0.0, groups=common)
    sample, gold = sampled(work.ballots, work.gold or None, START_INSTANCES)
    here = InMemoryWorkload(sample, work.bounds, gold)
    step = group_step(here, floor, tolerance=0.0)
    best: State | None = None
    for start in _starts(here, plain.parameters, groups, floor, believed, rng):
        found = top(State.at(start, believed), step, START_ITERATIONS)
        if found.status == "interrupted":
            raise KeyboardInterrupt
        if best is None or found.objectives[-1] > best.objectives[-1]:
            best = found
    assert best is not None
    return replace(State.at(best.parameters, believed), settling=plain.n_iterations)


def group_step(work: Workload, floor: float, *, tolerance: float, smallest_gain: float = 0.0) -> Step:
    """Weigh all sets and groups, then take the most likely rates, priors and shares under these weights.

    Groups that hardly differ drift for long after the objective has stopped rising, so a gain of less than
    `smallest_gain` also counts as converged.
    """

    def step(state: State) -> State:
        statistics, found = work.group_step(state.parameters)
        value = grouped_log_likelihood_of(statistics, found, state.parameters)
        following = maximise_groups(statistics, found, state.parameters, floor, state.believed)
        belief = state.believed.log_density(state.parameters, statistics.multiplicities)
        after = state.moved(following, statistics, value, belief, tolerance)
        gained = after.objectives[-1] - after.objectives[-2] if state.objectives else np.inf
        return replace(after, status="converged") if gained < smallest_gain else after

    return step


def weighed_groups(work: Workload) -> Count:
    """The first half of an iteration: all sets and groups, weighed by their probabilities and counted."""

    def count(parameters: Parameters) -> Statistics:
        return work.group_step(parameters)[0]

    return count


def maximise_groups(
    statistics: Statistics, found: GroupCounts, parameters: Parameters, floor: float, believed: PseudoCounts
) -> Parameters:
    """The second half: voters as without groups, the priors of every group from its own counts, shares from sizes."""
    assert parameters.group_priors is not None
    assert believed.groups is not None
    rates = voter_step(statistics, parameters, floor, believed)
    priors = [
        _priors_of(statistics, found, k, before, floor, believed.groups)
        for k, before in enumerate(parameters.group_priors)
    ]
    sizes = found.sizes + BELIEVED_PER_GROUP
    return Parameters.in_groups(*rates, np.array(priors), sizes / sizes.sum())


def largest_first(parameters: Parameters) -> Parameters:
    """The same groups in the order of their shares."""
    assert parameters.group_priors is not None
    assert parameters.group_shares is not None
    order = np.argsort(-parameters.group_shares, kind="stable")
    return replace(parameters, group_priors=parameters.group_priors[order], group_shares=parameters.group_shares[order])


def _priors_of(
    statistics: Statistics, found: GroupCounts, k: int, before: FloatArray, floor: float, common: GroupBelief
) -> FloatArray:
    """One sweep over the priors of a group.

    What is believed differs between alternatives: it is counted as seen, in as many instances without bounds.
    """
    sizes: dict[Group, float] = {bounds: float(number[k]) for bounds, number in found.instances.items()}
    own = replace(
        statistics,
        occurrences=found.occurrences[k] + common.weight * common.priors,
        offered=np.full(len(before), float(found.sizes[k])),
        groups=sizes,
    )
    return prior_sweep(own, before, floor, Belief(0.0, common.weight))


# Starts


def _starts(
    work: InMemoryWorkload,
    plain: Parameters,
    groups: int,
    floor: float,
    believed: PseudoCounts,
    rng: np.random.Generator,
) -> Iterator[Parameters]:
    """First guesses: instances are put with the nearest of some, which are drawn far from each other (k-means++)."""
    tables, _ = work.expectation(plain)
    statistics, counts = work.statistics(tables), PassCounts.none(*work.engine.size)
    inclusion = np.concatenate(tables)
    bounds = [next(iter(groups_of(shard, by_menu=False))) for shard in work.shards]
    cuts = np.cumsum([len(table) for table in tables])[:-1]
    for _ in range(N_STARTS):
        nearest = _nearest(inclusion, groups, rng)
        chances = np.where(nearest[:, None] == np.arange(groups), NEAREST, 0.0) + (1 - NEAREST) / groups
        instances: dict[Group, FloatArray] = {}
        for of, part in zip(bounds, np.split(chances, cuts), strict=True):
            instances[of] = instances.get(of, 0.0) + part.sum(axis=0)
        found = GroupCounts(counts, chances.T @ inclusion, instances, 0.0)
        alike = np.repeat(plain.priors[None, :], groups, axis=0)
        first = Parameters.in_groups(plain.hit_rates, plain.false_alarm_rates, alike, np.full(groups, 1.0 / groups))
        yield maximise_groups(statistics, found, first, floor, believed)


def _nearest(points: FloatArray, groups: int, rng: np.random.Generator) -> IntArray:
    """For every point the nearest of `groups` points, each drawn in proportion to its squared distance from those
    before.
    """
    closest = np.full(len(points), np.inf)
    nearest = np.zeros(len(points), np.int64)
    chosen = points[rng.integers(len(points))]
    for group in range(groups):
        distance = np.sum((points - chosen) ** 2, axis=1)
        nearest[distance < closest] = group
        closest = np.minimum(closest, distance)
        total = closest.sum()
        chances = closest / total if total > 0 else np.full(len(points), 1 / len(points))
        chosen = points[rng.choice(len(points), p=chances)]
    return nearest
