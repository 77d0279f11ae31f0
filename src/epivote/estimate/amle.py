"""Alternating maximum likelihood estimation (the paper's Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, listing
from epivote.data.parameters import Parameters, off_the_edges
from epivote.engines.gold import Gold
from epivote.errors import InputError
from epivote.estimate import starts
from epivote.estimate.base import RatedEstimator
from epivote.estimate.checkpoint import Checkpoint
from epivote.estimate.climb import Count, Run, State, Step, top
from epivote.estimate.em import EM
from epivote.estimate.history import History, believed
from epivote.estimate.maximise import (
    PriorKind,
    Priors,
    PriorUpdate,
    check_counts,
    check_floor,
    check_start,
    check_tolerance,
    check_update,
    first_priors,
    maximise,
    prior_kind,
)
from epivote.estimate.outcome import rated_estimate
from epivote.estimate.probe import MIRROR_GAIN, PROBE_ITERATIONS, sampled
from epivote.estimate.workload import InMemoryWorkload, Workload, workload
from epivote.model.likelihood import log_likelihood_of

Start = Literal["anna_karenina", "uniform", "random", "soft"]


class AMLE(RatedEstimator):
    """Sets, voters and priors that maximise the joint likelihood, each in turn until nothing changes.

    Parameters
    ----------
    bounds
        Size of the true sets: `2`, `(1, 2)`, `(1, None)`, `"1..2"` or `SizeBounds`. `(0, None)` is the paper's AMLE_f.
    start
        First guess at the voters' rates: `"anna_karenina"`, `"uniform"`, `"random"`, `"soft"` (what `EM` finds), or
        `Parameters`. Where voters tick more than can be right, a crowd turned upside down is tried as well, and kept
        if it explains the ballots far better; a `CrowdWarning` then says so.
    prior_update
        `"mle"`: one sweep of the corrected Proposition 2 per iteration; `"solved"`: swept until nothing moves;
        `"published"`: the formula as printed, which can lower the likelihood.
    priors
        `"individual"`, `"shared"` (one for all alternatives), or rates to keep as given. `"auto"` is individual, shared
        when menus differ between instances, and 1/2 kept when there is only one instance, from which no prior can
        be learnt.
    n_starts
        More than one: further starts are random, and the run with the best likelihood is kept.
    tolerance
        Converged when no rate and no prior changes by more than this.
    max_iterations
        The most iterations; `converged_` is False if they run out.
    floor
        All rates stay in [floor, 1 - floor].
    seed
        For random starts; an integer or a `numpy.random.Generator`.
    """

    def __init__(
        self,
        bounds: BoundsLike,
        start: Start | Parameters = "anna_karenina",
        prior_update: PriorUpdate = "mle",
        *,
        priors: Priors = "auto",
        n_starts: int = 1,
        tolerance: float = 1e-5,
        max_iterations: int = 100,
        floor: float = 1e-4,
        seed: int | np.random.Generator | None = 0,
    ) -> None:
        self.bounds = bounds
        self.start = start
        self.prior_update = prior_update
        self.priors = priors
        self.n_starts = n_starts
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.floor = floor
        self.seed = seed

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        self._check()
        work = workload(ballots, SizeBounds.of(self.bounds), gold)
        kind = prior_kind(self.priors, ballots)
        known = believed(history, ballots)
        step = amle_step(work, kind, self.floor, tolerance=self.tolerance, update=self.prior_update)
        best: State | None = None
        try:
            for number, parameters in enumerate(self._starts(ballots, gold, history)):
                run = Run(self._checkpoint, f"start {number}", self._progress)
                start = run.resumed(State.at(parameters, known), most_likely_sets(work, kind))
                found = top(start, step, self.max_iterations, run)
                if best is None or found.objectives[-1] > best.objectives[-1]:
                    best = found
                if found.status == "interrupted":
                    raise KeyboardInterrupt
            assert best is not None
            best = self._turned(work, best, kind, step)
        except KeyboardInterrupt:
            if best is None:
                raise
            best = replace(best, status="interrupted")
        assert best.previous is not None
        return rated_estimate(work, best, sets_from=best.previous, ties_at=(best.previous, best.first))

    def _turned(self, work: Workload, best: State, kind: PriorKind, step: Step) -> State:
        """Where a crowd that ticks wrong answers leads to, if that is far more likely; else the same state.

        Of very many instances a sample is asked first.
        """
        if isinstance(self.start, Parameters) or not starts.tick_too_much(work.ballots, work.bounds):
            return best
        turned = State.at(self._with_priors(starts.mirrored(work.ballots), work.ballots), best.believed)
        sample, gold = sampled(work.ballots, work.gold)
        if sample is not work.ballots:
            probe = amle_step(InMemoryWorkload(sample, work.bounds, gold), kind, self.floor)
            upright = State.at(best.parameters, best.believed)
            mirrored = _uninterrupted(top(turned, probe, PROBE_ITERATIONS))
            for iterations in (1, PROBE_ITERATIONS):
                if mirrored <= _uninterrupted(top(upright, probe, iterations)) + MIRROR_GAIN:
                    return best
        found = top(turned, step, self.max_iterations, Run(Checkpoint(), "turned", self._progress))
        return found if _uninterrupted(found) > best.objectives[-1] + MIRROR_GAIN else best

    def _starts(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Iterator[Parameters]:
        at_random = self.n_starts - 1
        if isinstance(self.start, Parameters):
            yield self._given_start(self.start, ballots)
        elif self.start == "anna_karenina":
            yield self._with_priors(starts.anna_karenina(ballots), ballots)
        elif self.start == "uniform":
            yield self._with_priors(starts.uniform(ballots), ballots)
        elif self.start == "soft":
            yield EM(self.bounds, priors=self.priors, floor=self.floor).fit(ballots, gold, history).parameters_
        else:
            at_random += 1
        if at_random:
            rng = np.random.default_rng(self.seed)
            for _ in range(at_random):
                yield self._with_priors(starts.random(ballots, rng), ballots)

    def _given_start(self, start: Parameters, ballots: AnyBallots) -> Parameters:
        check_start(start, ballots)
        if isinstance(self.priors, str):
            return start.overall()
        return start.overall().changed(self._clipped, lambda _: first_priors(self.priors, ballots))

    def _with_priors(self, rates: starts.Rates, ballots: AnyBallots) -> Parameters:
        hit_rates, false_alarm_rates = map(self._clipped, rates)
        return Parameters(hit_rates, false_alarm_rates, first_priors(self.priors, ballots))

    def _clipped(self, rates: FloatArray) -> FloatArray:
        return off_the_edges(rates, self.floor)

    def _check(self) -> None:
        if not isinstance(self.start, Parameters) and self.start not in get_args(Start):
            raise InputError(f"start={self.start!r} is not one of {listing(get_args(Start))}, nor Parameters")
        check_update(self.prior_update)
        check_floor(self.floor)
        check_counts(n_starts=self.n_starts, max_iterations=self.max_iterations)
        check_tolerance(self.tolerance)


def most_likely_sets(work: Workload, kind: PriorKind) -> Count:
    """The first half of an iteration: the most likely sets (Theorem 1), counted."""
    return partial(work.hard_step, by_menu=kind != "shared" and work.ballots.has_menus)


def amle_step(
    work: Workload, kind: PriorKind, floor: float, *, tolerance: float = 1e-5, update: PriorUpdate = "mle"
) -> Step:
    """Algorithm 1: the most likely sets under the rates, then the most likely rates under the sets.

    Where the sets are those of the iteration before, so are the rates that follow from them: only priors move.
    """
    count = most_likely_sets(work, kind)

    def step(state: State) -> State:
        statistics = count(state.parameters)
        same_sets = statistics is state.statistics
        following = maximise(statistics, state.parameters, kind, floor, state.believed, update, only_priors=same_sets)
        value = log_likelihood_of(statistics, following)
        belief = state.believed.log_density(following, statistics.multiplicities)
        return state.moved(following, statistics, value, belief, tolerance)

    return step


def _uninterrupted(state: State) -> float:
    """The objective reached by a run that is compared with another, unless it was cut short."""
    if state.status == "interrupted":
        raise KeyboardInterrupt
    return state.objectives[-1]
