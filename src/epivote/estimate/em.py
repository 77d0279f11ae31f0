"""Exact soft estimation: expectation-maximisation on the marginal likelihood of the ballots."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.parameters import Parameters, off_the_edges
from epivote.engines.gold import Gold
from epivote.errors import CrowdWarning, InputError
from epivote.estimate.ahead import look_ahead
from epivote.estimate.base import UPSIDE_DOWN, RatedEstimator
from epivote.estimate.climb import Count, Run, State, Step, top
from epivote.estimate.groups import SMALLEST_GAIN, check_groups, group_step, grouped, largest_first, weighed_groups
from epivote.estimate.history import History, believed
from epivote.estimate.maximise import (
    PriorKind,
    Priors,
    check_counts,
    check_floor,
    check_start,
    check_tolerance,
    first_priors,
    maximise,
    prior_kind,
)
from epivote.estimate.model import Model
from epivote.estimate.outcome import rated_estimate
from epivote.estimate.probe import GLANCE_ITERATIONS, MIRROR_GAIN, PROBE_ITERATIONS, PROBE_TOLERANCE, sampled
from epivote.estimate.reliability import upside_down
from epivote.estimate.stream import START, Stream
from epivote.estimate.workload import InMemoryWorkload, Workload, workload
from epivote.model.likelihood import marginal_log_likelihood_of
from epivote.model.pseudo import PseudoCounts, shrinkage
from epivote.model.statistics import Statistics

# After which shrinkage no longer follows the crowd, so that the objective stays one. Following weak evidence to the end
# does harm: after 50 iterations instead of 10, about .5 % fewer sets of 500 small simulated crowds were right.
SETTLING_ITERATIONS = 10
SETTLED = 1e-3  # change of rates below which it has settled; a round number


class EM(RatedEstimator):
    """Voters and priors that maximise the marginal likelihood; sets are weighed by their exact probabilities.

    Better than `AMLE` when ballots are sparse: few ballots per instance, or voters with ballots on few instances.
    A crowd turned upside down is noticed: if voters who tick wrong alternatives explain the ballots far better, the
    fit starts from such voters, and a `CrowdWarning` says so.

    Parameters
    ----------
    bounds
        Size of the true sets: `2`, `(1, 2)`, `(1, None)`, `"1..2"` or `SizeBounds`.
    shrinkage
        How strongly rates are drawn towards the crowd's: a number of believed alternatives per voter, 0 for none, or
        `"auto"`: estimated from how much voters differ beyond chance. Priors per alternative are drawn towards the
        common one in the same way.
    priors
        `"individual"`, `"shared"` or rates to keep as given; `"auto"` is individual, shared when menus differ, and
        1/2 kept when there is only one instance.
    tolerance
        Converged when no rate and no prior changes by more than this; with groups also when an iteration raises the
        log-likelihood by less than 0.001.
    max_iterations
        The most iterations; `converged_` is False if they run out.
    floor
        All rates stay in [floor, 1 - floor].
    groups
        Number of groups of instances, each with priors of its own, so that alternatives that go together support each
        other; voters have the same rates in all of them. None or 1: all instances have the same priors. `groups_` says
        which instance is in which group.
    seed
        For the random starts that groups are found from; an integer or a `numpy.random.Generator`.
    start
        Rates and priors to begin with, such as `parameters_` of an earlier fit of the same voters, which saves
        iterations; it is then not asked whether the crowd is upside down. None: the same rates for all voters.
    """

    _stream: Stream | None = None

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        shrinkage: float | Literal["auto"] = "auto",
        priors: Priors = "auto",
        tolerance: float = 1e-5,
        max_iterations: int = 500,
        floor: float = 1e-4,
        groups: int | None = None,
        seed: int | np.random.Generator | None = 0,
        start: Parameters | None = None,
    ) -> None:
        self.bounds = bounds
        self.shrinkage = shrinkage
        self.priors = priors
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.floor = floor
        self.groups = groups
        self.seed = seed
        self.start = start

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        self._check()
        work = workload(ballots, SizeBounds.of(self.bounds), gold)
        kind = prior_kind(self.priors, ballots)
        known = believed(history, ballots)
        if self.groups is not None and self.groups > 1:
            return self._run_groups(work, kind, known, self.groups)
        run = Run(self._checkpoint, "only", self._progress)
        mirrored = self.start is None and not run.is_kept and self._is_turned(ballots, gold, known)
        start = State.at(self._first(ballots, mirrored=mirrored), known, settled=self.shrinkage == 0)
        step = em_step(work, kind, self.floor, known, strength=self._strength(), tolerance=self.tolerance)
        reached = top(run.resumed(start, weighed_sets(work, kind)), step, self.max_iterations, run)
        assert reached.statistics is not None
        self._stream = None
        if ballots.multiplicities is None:
            self._stream = Stream.after_fit(ballots, reached.statistics, reached.parameters)
        return rated_estimate(work, reached, sets_from=reached.parameters)

    def _run_groups(self, work: Workload, kind: PriorKind, known: PseudoCounts, groups: int) -> Estimate:
        """One group for all, until it has about settled; from there, groups."""
        check_groups(groups, kind, work.ballots)
        self._stream = None
        without, run = (Run(self._checkpoint, name, self._progress) for name in ("one group", "groups"))
        mirrored = self.start is None and not without.is_kept and self._is_turned(work.ballots, work.gold, known)
        start = State.at(self._first(work.ballots, mirrored=mirrored), known, settled=self.shrinkage == 0)
        step = em_step(work, kind, self.floor, known, strength=self._strength(), tolerance=SETTLED)
        plain = top(without.resumed(start, weighed_sets(work, kind)), step, self.max_iterations, without)
        if plain.status == "interrupted":
            return rated_estimate(work, plain, sets_from=plain.parameters)
        try:
            plain = start = replace(plain, ahead=None)
            if not run.is_kept:
                start = grouped(work, plain, groups, self._strength(), self.floor, np.random.default_rng(self.seed))
            step = group_step(work, self.floor, tolerance=self.tolerance, smallest_gain=SMALLEST_GAIN)
            limit = max(self.max_iterations, plain.n_iterations + 1)
            reached = top(run.resumed(start, weighed_groups(work)), step, limit, run)
        except KeyboardInterrupt:
            return rated_estimate(work, replace(plain, status="interrupted"), sets_from=plain.parameters)
        reached = replace(reached, parameters=largest_first(reached.parameters))
        return rated_estimate(work, reached, sets_from=reached.parameters)

    @property
    def groups_(self) -> Any:
        """The most probable group of every instance, as a dataframe: `instance`, `group` (1 is the largest),
        `probability`; no rows without groups.
        """
        return self._frame(self.estimate_.group_table())

    def partial_fit(self, batch: AnyBallots | Any, gold: Gold | None = None, *, final: bool = False) -> Self:
        """Take in one batch of a stream (online EM); `estimate_` is about this batch, `model_` about all so far.

        New voters, instances and alternatives may appear. Late ballots for an instance seen before join its earlier
        ones and replace its share. `final=True` promises that these instances are complete: they are then forgotten,
        so memory does not grow with them. After `fit`, or after `load_model`, the stream goes on from there, with the
        fitted instances final. Without menus every batch offers all alternatives known so far; priors are per
        alternative until menus or further alternatives appear, and shared from then on. Groups are for `fit` alone.
        """
        self._check()
        if self.groups is not None and self.groups > 1:
            raise InputError("partial_fit does not support groups; leave groups=None, or fit all ballots at once")
        batch = self._as_ballots(batch).in_memory()
        is_fitted = self._stream is None and (self._estimate is not None or self._model is not None)
        if batch.multiplicities is not None or (is_fitted and self.model_.multiplicities is not None):
            raise InputError(
                "partial_fit does not support multiplicities; use ballots.expanded(), also for an earlier fit"
            )
        stream = self._stream or Stream()
        if stream.n_instances == 0 and self._seems_upside_down(batch, gold, PseudoCounts.none(batch.n_voters)):
            stream.start = START[::-1]
        work = stream.add(batch, SizeBounds.of(self.bounds), gold, final=final)
        model = stream.learn(self._stream_kind(stream), self.floor, self._strength())
        self._stream = stream
        parameters = model.parameters_for(work.ballots)
        membership, log_partition = work.expectation(parameters)
        statistics = work.statistics(membership)
        value = marginal_log_likelihood_of(statistics, log_partition, parameters)
        self._estimate = rated_estimate(work, State.known(parameters, statistics, value), sets_from=parameters)
        if upside_down(model.counts):
            warnings.warn(UPSIDE_DOWN, CrowdWarning, stacklevel=2)
        return self

    def _stream_kind(self, stream: Stream) -> PriorKind:
        if not isinstance(self.priors, str):
            raise InputError("partial_fit learns priors; leave priors='auto'")
        if self.priors == "individual" and not stream.one_menu:
            raise InputError("priors='individual' in a stream needs the same alternatives in every batch; use 'auto'")
        return "individual" if stream.one_menu and self.priors != "shared" else "shared"

    @property
    def model_(self) -> Model:
        """What was learnt, by name."""
        if self._stream is None or self._stream.model is None:
            return super().model_
        return self._stream.model

    def _is_turned(self, ballots: AnyBallots, gold: Gold | None, known: PseudoCounts) -> bool:
        """Whether the crowd is upside down: as a fit to more ballots has found, if there was one."""
        self._turn = self._given_turn
        if self._turn is None:
            self._turn = self._seems_upside_down(ballots, gold or None, known)
        return self._turn

    def _seems_upside_down(self, ballots: AnyBallots, gold: Gold | None, known: PseudoCounts) -> bool:
        """Whether voters who tick wrong answers rather than right ones explain (some of) the ballots far better."""
        sample, gold = sampled(ballots, gold)
        work = InMemoryWorkload(sample, SizeBounds.of(self.bounds), gold)
        kind = prior_kind(self.priors, sample)
        step = em_step(work, kind, self.floor, known, strength=1.0, tolerance=PROBE_TOLERANCE)
        starts = (State.at(self._start(sample, mirrored=turned), known, settled=False) for turned in (False, True))
        upright, mirrored = (_probed(start, step, GLANCE_ITERATIONS) for start in starts)
        if mirrored.log_likelihood <= upright.log_likelihood:
            return False
        upright, mirrored = (_probed(state, step, PROBE_ITERATIONS) for state in (upright, mirrored))
        return _explains(work, mirrored.parameters) > _explains(work, upright.parameters) + MIRROR_GAIN

    def _strength(self) -> float | None:
        return None if isinstance(self.shrinkage, str) else float(self.shrinkage)

    def _first(self, ballots: AnyBallots, *, mirrored: bool) -> Parameters:
        """Where a fit begins."""
        if self.start is None:
            return self._start(ballots, mirrored=mirrored)
        check_start(self.start, ballots)
        rates = self.start.overall().changed(per_voter=lambda each: off_the_edges(each, self.floor))
        if isinstance(self.priors, str):
            return rates
        return rates.changed(priors=lambda _: first_priors(self.priors, ballots))

    def _start(self, ballots: AnyBallots, *, mirrored: bool = False) -> Parameters:
        rates = START[::-1] if mirrored else START
        return Parameters.alike(ballots.n_voters, *rates, first_priors(self.priors, ballots))

    def _check(self) -> None:
        check_floor(self.floor)
        check_counts(max_iterations=self.max_iterations)
        check_tolerance(self.tolerance)
        if self.groups is not None:
            check_counts(groups=self.groups)
        number = isinstance(self.shrinkage, (int, float)) and 0 <= self.shrinkage < np.inf
        if self.shrinkage != "auto" and not number:
            raise InputError(f"shrinkage={self.shrinkage!r} must be 'auto' or a number of at least 0")


def _probed(state: State, step: Step, iterations: int) -> State:
    """Where a short run leads to.

    It is not accelerated: of 1,600 simulated crowds with adversaries, accelerated runs got eight more the wrong way up,
    and one more right.
    """
    reached = top(state, lambda before: replace(step(before), ahead=None), iterations)
    if reached.status == "interrupted":
        raise KeyboardInterrupt
    return reached


def weighed_sets(work: Workload, kind: PriorKind) -> Count:
    """The first half of an iteration: all sets, weighed by their probabilities and counted."""

    def count(parameters: Parameters) -> Statistics:
        return work.soft_step(parameters, by_menu=_by_menu(work, kind))[0]

    return count


def em_step(
    work: Workload, kind: PriorKind, floor: float, known: PseudoCounts, *, strength: float | None, tolerance: float
) -> Step:
    """Weigh all sets under the rates, then take the most likely rates under these weights.

    Until it has settled, the belief that voters are like the crowd follows the crowd; then it stays, so that from there
    on one objective rises. Iterations start ahead of where the last one led, unless the objective falls there.
    """

    def moved(state: State) -> State | None:
        start = state.parameters if state.ahead is None else state.ahead.start
        statistics, log_partition = work.soft_step(start, by_menu=_by_menu(work, kind))
        value = marginal_log_likelihood_of(statistics, log_partition, start)
        belief = state.believed.log_density(start, statistics.multiplicities)
        if state.ahead is not None and value + belief < state.objectives[-1]:
            return None
        if not state.settled:
            like_the_crowd = shrinkage(statistics, strength=strength, with_priors=kind == "individual")
            state = replace(state, believed=known + like_the_crowd, settling=state.n_iterations, objectives=())
            belief = state.believed.log_density(start, statistics.multiplicities)
        following = maximise(statistics, start, kind, floor, state.believed)
        after = replace(state, parameters=start).moved(following, statistics, value, belief, tolerance)
        is_quiet = following.distance(start) <= SETTLED or after.n_iterations >= SETTLING_ITERATIONS
        ahead = look_ahead(state.ahead, start, following, floor, statistics.multiplicities)
        return replace(after, settled=state.settled or is_quiet, ahead=ahead)

    def step(state: State) -> State:
        after = moved(state)
        if after is None:
            after = moved(replace(state, ahead=None))
            assert after is not None, "the objective falls only ahead"
        return after

    return step


def _by_menu(work: Workload, kind: PriorKind) -> bool:
    return kind != "shared" and work.ballots.has_menus


def _explains(work: InMemoryWorkload, parameters: Parameters) -> float:
    """The likelihood of the ballots alone: runs that shrink towards different crowds differ in their objective."""
    statistics, log_partition = work.soft_step(parameters)
    return marginal_log_likelihood_of(statistics, log_partition, parameters)
