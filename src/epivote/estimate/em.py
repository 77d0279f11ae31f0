"""Exact soft estimation: expectation-maximisation on the marginal likelihood of the ballots."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Estimate, Status
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters, align_rates
from epivote.errors import CrowdWarning, InputError
from epivote.estimate.base import UPSIDE_DOWN, RatedEstimator
from epivote.estimate.checkpoint import State, as_arrays, parameters_in
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
from epivote.estimate.outcome import rated_estimate
from epivote.estimate.reliability import upside_down
from epivote.estimate.stream import START, Stream
from epivote.estimate.task import Gold, Steps, Task, open_task, sampled
from epivote.model.likelihood import marginal_log_likelihood_of
from epivote.model.pseudo import PseudoCounts, shrinkage
from epivote.model.statistics import Statistics

# After which shrinkage no longer follows the crowd, so that the objective stays one; a round number.
SETTLING_ITERATIONS = 10
SETTLED = 1e-3  # change of rates below which it has settled; a round number
# Log-likelihood by which the mirrored crowd must explain the ballots better; odds of e^20, a round number.
CLEARLY = 20.0
QUICK = 10  # iterations of each of the two short runs that tell which way up a crowd is; a round number
RUN = "only"


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
        task = open_task(ballots, SizeBounds.of(self.bounds), gold)
        kind = prior_kind(self.priors, ballots)
        known = believed(history, ballots)
        kept = self._checkpoint.get(RUN)
        mirrored = kept is None and self._seems_upside_down(ballots, gold, known)
        run = self._iterate(task, self._start(ballots, mirrored=mirrored), kind, known, kept)
        self._stream = Stream.after_fit(ballots, run.statistics, run.parameters)
        reached = run.parameters, run.parameters, run.statistics, run.objectives, run.status
        return rated_estimate(task, *reached, settling_iterations=run.settling)

    def partial_fit(self, batch: Ballots | Any, gold: Gold | None = None, *, final: bool = False) -> Self:
        """Take in one batch of a stream (online EM); `estimate_` is about this batch, `model_` about all so far.

        New voters, instances and alternatives may appear. Late ballots for an instance seen before join its earlier
        ones and replace its share. `final=True` promises that these instances are complete: they are then forgotten,
        so memory does not grow with them. After `fit`, or after `load_model`, the stream goes on from there, with the
        fitted instances final. Without menus every batch offers all alternatives known so far; priors are per
        alternative until menus or further alternatives appear, and shared from then on.
        """
        self._check()
        batch = self._as_ballots(batch)
        stream = self._stream or Stream()
        if stream.n_instances == 0 and self._seems_upside_down(batch, gold, PseudoCounts.none(batch.n_voters)):
            stream.start = START[::-1]
        task = stream.add(batch, SizeBounds.of(self.bounds), gold, final=final)
        model = stream.learn(self._stream_kind(stream), self.floor, self._strength())
        self._stream = stream
        parameters = model.parameters_for(task.ballots)
        membership, log_partition = task.expectation(parameters)
        statistics = task.statistics(membership)
        value = marginal_log_likelihood_of(statistics, log_partition, parameters)
        self._estimate = rated_estimate(task, parameters, parameters, statistics, (value,), "converged")
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

    def _seems_upside_down(self, ballots: Ballots, gold: Gold | None, known: PseudoCounts) -> bool:
        """Whether voters who tick wrong answers rather than right ones explain (some of) the ballots far better."""
        sample, gold = sampled(ballots, gold)
        task = Task(sample, SizeBounds.of(self.bounds), gold)
        kind = prior_kind(self.priors, sample)
        quick = EM(
            self.bounds, shrinkage=1.0, priors=self.priors, tolerance=1e-2, max_iterations=QUICK, floor=self.floor
        )
        upright, mirrored = (
            quick._iterate(task, self._start(sample, mirrored=turned), kind, known) for turned in (False, True)
        )
        if "interrupted" in (upright.status, mirrored.status):
            raise KeyboardInterrupt
        return self._explains(task, mirrored.parameters) > self._explains(task, upright.parameters) + CLEARLY

    def _explains(self, task: Task, parameters: Parameters) -> float:
        """The likelihood of the ballots alone: runs that shrink towards different crowds differ in their objective."""
        statistics, log_partition = task.soft_step(parameters)
        return marginal_log_likelihood_of(statistics, log_partition, parameters)

    def _iterate(
        self, task: Steps, parameters: Parameters, kind: PriorKind, known: PseudoCounts, kept: State | None = None
    ) -> _Run:
        """Weigh, count, maximise; or go on from where a run had got to.

        A shrinkage settles during the first iterations and then stays, so that from there on one objective rises.
        """
        by_menu = kind != "shared" and task.ballots.has_menus
        pseudo = known
        done = settling = 0
        settled = self.shrinkage == 0
        objectives: tuple[float, ...] = ()
        reached: Statistics | None = None
        status: Status = "iteration limit"
        if kept is not None:
            previous, parameters = parameters_in(kept, "previous"), parameters_in(kept, "current")
            pseudo = PseudoCounts(*kept["believed"].reshape(4, -1), *kept["believed_priors"].tolist())
            done, settling, was_settled, converged = kept["progress"].astype(int).tolist()
            settled, objectives = bool(was_settled), tuple(kept["objectives"].tolist())
            reached, _ = task.soft_step(previous, by_menu=by_menu)
            status = "converged" if converged else status
        try:
            for iteration in range(done, 0 if status == "converged" else self.max_iterations):
                statistics, log_partition = task.soft_step(parameters, by_menu=by_menu)
                if not settled:
                    pseudo = known + self._shrinkage(statistics, kind)
                    settling, objectives = iteration, ()
                value = marginal_log_likelihood_of(statistics, log_partition, parameters)
                following = maximise(statistics, parameters, kind, self.floor, pseudo)
                change = following.distance(parameters)
                objectives = (*objectives, value + pseudo.log_density(parameters))
                converged = settled and change <= self.tolerance
                settled = settled or change <= SETTLED or iteration + 1 >= SETTLING_ITERATIONS
                progress = np.array([iteration + 1, settling, settled, converged], float)
                self._keep(parameters, following, pseudo, objectives, progress)
                parameters, reached = following, statistics
                self._progress(iteration + 1, objectives[-1])
                if converged:
                    status = "converged"
                    break
        except KeyboardInterrupt:
            if reached is None:
                raise
            status = "interrupted"
        assert reached is not None
        return _Run(parameters, reached, objectives, settling, status)

    def _keep(
        self,
        previous: Parameters,
        current: Parameters,
        pseudo: PseudoCounts,
        objectives: tuple[float, ...],
        progress: FloatArray,
    ) -> None:
        self._checkpoint.put(
            RUN,
            **as_arrays("previous", previous),
            **as_arrays("current", current),
            believed=np.concatenate([pseudo.hits, pseudo.misses, pseudo.false_alarms, pseudo.rejections]),
            believed_priors=np.array([pseudo.prior_in, pseudo.prior_out]),
            objectives=np.array(objectives),
            progress=progress,
        )

    def _shrinkage(self, statistics: Statistics, kind: PriorKind) -> PseudoCounts:
        return shrinkage(statistics, strength=self._strength(), with_priors=kind == "individual")

    def _strength(self) -> float | None:
        return None if isinstance(self.shrinkage, str) else float(self.shrinkage)

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
        number = isinstance(self.shrinkage, (int, float)) and 0 <= self.shrinkage < np.inf
        if self.shrinkage != "auto" and not number:
            raise InputError(f"shrinkage={self.shrinkage!r} must be 'auto' or a number of at least 0")


class _Run(NamedTuple):
    """Where one run of iterations ended."""

    parameters: Parameters
    statistics: Statistics
    objectives: tuple[float, ...]
    settling: int
    status: Status
