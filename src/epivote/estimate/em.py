"""Exact soft estimation: expectation-maximisation on the marginal likelihood of the ballots."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Estimate, Status
from epivote.data.parameters import Parameters, align_rates
from epivote.errors import InputError
from epivote.estimate.base import RatedEstimator, rated_estimate
from epivote.estimate.history import History, believed
from epivote.estimate.maximise import (
    PriorKind,
    Priors,
    check_counts,
    check_floor,
    check_tolerance,
    maximise,
    prior_kind,
)
from epivote.estimate.model import Model
from epivote.estimate.stream import START, Stream, check_strength
from epivote.estimate.task import Gold, Task
from epivote.model.likelihood import marginal_log_likelihood_of
from epivote.model.pseudo import PseudoCounts, shrinkage
from epivote.model.statistics import Statistics

SETTLING_ITERATIONS = 10
SAMPLE = 1000
CLEARLY = 20.0


class EM(RatedEstimator):
    """Voters and priors that maximise the marginal likelihood; sets are weighed by their exact probabilities.

    Better than `AMLE` when ballots are sparse: few ballots per instance, or voters who answer only a small share.
    A crowd turned upside down is noticed: if voters who tick wrong answers explain the ballots far better, that is
    where it starts, and a `CrowdWarning` says so.

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
    tolerance, max_iterations
        Converged when no rate and no prior changes by more than the tolerance.
    floor
        All rates stay in [floor, 1 - floor].
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
    ) -> None:
        self.bounds = bounds
        self.shrinkage = shrinkage
        self.priors = priors
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.floor = floor

    def _run(self, ballots: Ballots, gold: Gold | None, history: History | None) -> Estimate:
        self._check()
        self._stream = None
        task = Task(ballots, SizeBounds.of(self.bounds), gold)
        kind = prior_kind(self.priors, ballots)
        known = believed(history, ballots)
        start = self._start(ballots, mirrored=self._seems_upside_down(ballots, gold))
        parameters, statistics, objectives, status = self._iterate(task, start, kind, known)
        return rated_estimate(task, task.truth_step(parameters), parameters, statistics, objectives, status)

    def partial_fit(self, batch: Ballots | Any, gold: Gold | None = None, *, final: bool = False) -> Self:
        """Take in one batch of a stream (online EM); `estimate_` is about this batch, `model_` about all so far.

        New voters, instances and alternatives may appear. Late ballots for an instance seen before join its earlier
        ones and replace its share. `final=True` promises that these instances are complete: they are then forgotten,
        so memory does not grow with them. Priors are per alternative as long as every batch has the same alternatives
        and no menus, and shared from then on; give every batch the same `alternatives=[...]` to keep them.
        """
        self._check()
        batch = self._as_ballots(batch)
        if not isinstance(self.priors, str):
            raise InputError("partial_fit learns priors; leave priors='auto'")
        self._stream = self._stream or Stream()
        task = self._stream.add(batch, SizeBounds.of(self.bounds), gold, final=final)
        model = self._stream.learn(self.floor, check_strength(self.shrinkage))
        parameters = model.parameters_for(task.ballots)
        chosen = task.truth_step(parameters)
        membership, log_partition = task.expectation(parameters)
        statistics = task.statistics(membership)
        value = marginal_log_likelihood_of(statistics, log_partition, parameters)
        self._estimate = rated_estimate(task, chosen, parameters, statistics, (value,), "converged")
        return self

    @property
    def model_(self) -> Model:
        """What was learnt, by name."""
        if self._stream is None or self._stream.model is None:
            return super().model_
        return self._stream.model

    def _seems_upside_down(self, ballots: Ballots, gold: Gold | None) -> bool:
        """Whether voters who tick wrong answers rather than right ones explain (some of) the ballots far better."""
        sample = ballots.select(instances=ballots.instances[:SAMPLE]) if ballots.n_instances > SAMPLE else ballots
        known = {name: names for name, names in (gold or {}).items() if name in sample.instance_index}
        task = Task(sample, SizeBounds.of(self.bounds), known or None)
        kind = prior_kind(self.priors, sample)
        none = PseudoCounts.none(sample.n_voters)
        quick = EM(self.bounds, shrinkage=1.0, priors=self.priors, tolerance=1e-2, max_iterations=40, floor=self.floor)
        runs = [quick._iterate(task, self._start(sample, mirrored=turned), kind, none) for turned in (False, True)]
        if any(status == "interrupted" for *_, status in runs):
            raise KeyboardInterrupt
        (_, _, upright, _), (_, _, mirrored, _) = runs
        return mirrored[-1] > upright[-1] + CLEARLY

    def _iterate(
        self, task: Task, parameters: Parameters, kind: PriorKind, known: PseudoCounts
    ) -> tuple[Parameters, Statistics, tuple[float, ...], Status]:
        """Weigh, count, maximise.

        An estimated shrinkage settles during the first iterations and then stays, so that from there on one
        objective rises.
        """
        by_menu = kind != "shared" and task.ballots.menu is not None
        pseudo = known
        objectives: tuple[float, ...] = ()
        reached: Statistics | None = None
        status: Status = "iteration limit"
        try:
            for iteration in range(self.max_iterations):
                membership, log_partition = task.expectation(parameters)
                statistics = task.statistics(membership, by_menu=by_menu)
                settling = self.shrinkage != 0 and iteration < SETTLING_ITERATIONS
                if settling:
                    pseudo = known + self._shrinkage(statistics, kind)
                    objectives = ()
                value = marginal_log_likelihood_of(statistics, log_partition, parameters)
                following = maximise(statistics, parameters, kind, self.floor, pseudo)
                change = following.distance(parameters)
                objectives = (*objectives, value + pseudo.log_density(parameters))
                parameters, reached = following, statistics
                if change <= self.tolerance and not settling:
                    status = "converged"
                    break
        except KeyboardInterrupt:
            if reached is None:
                raise
            status = "interrupted"
        assert reached is not None
        return parameters, reached, objectives, status

    def _shrinkage(self, statistics: Statistics, kind: PriorKind) -> PseudoCounts:
        strength = None if self.shrinkage == "auto" else float(self.shrinkage)
        return shrinkage(statistics, strength=strength, with_priors=kind == "individual")

    def _start(self, ballots: Ballots, *, mirrored: bool = False) -> Parameters:
        priors = 0.5 if isinstance(self.priors, str) else self.priors
        hit_rate, false_alarm_rate = START[::-1] if mirrored else START
        return Parameters(
            np.full(ballots.n_voters, hit_rate),
            np.full(ballots.n_voters, false_alarm_rate),
            align_rates(priors, ballots.alternatives, "priors"),
        )

    def _check(self) -> None:
        check_floor(self.floor)
        check_counts(max_iterations=self.max_iterations)
        check_tolerance(self.tolerance)
        if self.shrinkage != "auto" and not self.shrinkage >= 0:
            raise InputError(f"shrinkage={self.shrinkage!r} must be 'auto' or a number of at least 0")
