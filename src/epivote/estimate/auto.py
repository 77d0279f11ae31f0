"""Method, priors and calibration chosen by evidence, and said."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, counted
from epivote.engines.gold import Gold
from epivote.estimate.amle import AMLE
from epivote.estimate.base import RatedEstimator
from epivote.estimate.calibrated import Calibrated, GoldTrial
from epivote.estimate.em import EM
from epivote.estimate.history import History
from epivote.estimate.outcome import calibrated_estimate
from epivote.estimate.reproducibility import (
    FEWEST_INSTANCES,
    SPLITS,
    Reproducibility,
    checked_sample,
    halves_agree,
    reproducibility,
)
from epivote.estimate.workload import workload

FEW_INSTANCES = 50  # a round number between the cases that docs/methods.md compares
NEARLY_ALL = 0.8  # share of instances a voter answers on average; likewise
CLEARLY_MORE = 2.0  # standard errors by which halves must agree more often for another prior to be taken
WORTH_IT = 0.02  # share of sets by which they must agree more often; a round number

Suggested = Literal["amle", "em"]


class Auto(RatedEstimator):
    """What the command does by default: method, priors and calibration are chosen by evidence, and said.

    `EM`, or `AMLE` if there are few instances and nearly everybody voted on all of them. With priors per alternative,
    or one for all if two halves of the voters then agree clearly more often. With gold sets, log-odds are calibrated
    (see `Calibrated`). Without, simulated crowds tell whether voters make the same mistakes more often than chance
    explains, and confidence is lowered if they do (see `reproducibility`); that makes it less wrong, not right, which
    only gold can do.

    Parameters
    ----------
    bounds
        Size of the true sets: `2`, `(1, 2)`, `(1, None)`, `"1..2"` or `SizeBounds`.
    quick
        Leave out all that needs halves of the voters or simulated crowds.
    seed
        For halves and simulated crowds.

    Attributes
    ----------
    method_
        `"em"` or `"amle"`.
    choices_
        What was chosen and why, a sentence each.
    estimator_
        The fitted estimator that was chosen.
    reproducibility_
        What two halves of the voters said; None with `quick`, with gold, and where there were too few ballots.
    gold_trial_
        What calibration did to gold sets that were left out; None without gold.

    Examples
    --------
    >>> from epivote import reference_crowd
    >>> crowd = reference_crowd(instances=50, voters=20, alternatives=5, upper=2)
    >>> fitted = Auto(bounds=(1, 2)).fit(crowd.ballots)
    >>> fitted.method_
    'em'
    """

    _method: Suggested = "em"
    _choices: tuple[str, ...] = ()
    _fitted: RatedEstimator | None = None
    _reproducibility: Reproducibility | None = None
    _trial: GoldTrial | None = None

    def __init__(self, bounds: BoundsLike, *, quick: bool = False, seed: int | np.random.Generator = 0) -> None:
        self.bounds = bounds
        self.quick = quick
        self.seed = seed

    @property
    def method_(self) -> Suggested:
        """`"em"` or `"amle"`."""
        _ = self.estimate_
        return self._method

    @property
    def choices_(self) -> tuple[str, ...]:
        """What was chosen and why, a sentence each."""
        _ = self.estimate_
        return self._choices

    @property
    def estimator_(self) -> RatedEstimator:
        """The fitted estimator that was chosen."""
        _ = self.estimate_
        assert self._fitted is not None
        return self._fitted

    @property
    def reproducibility_(self) -> Reproducibility | None:
        """What two halves of the voters said."""
        _ = self.estimate_
        return self._reproducibility

    @property
    def gold_trial_(self) -> GoldTrial | None:
        """What calibration did to gold sets that were left out."""
        _ = self.estimate_
        return self._trial

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        self._method, why = suggest_method(ballots)
        self._choices, self._reproducibility, self._trial = (why,), None, None
        rng = np.random.default_rng(self.seed)
        chosen: RatedEstimator = AMLE(self.bounds) if self._method == "amle" else EM(self.bounds)
        if not self.quick and self._method == "em":
            chosen = self._with_priors(chosen, ballots, rng)
        fitted = Calibrated(chosen) if gold else chosen
        fitted._progress, fitted._checkpoint, self._fitted = self._progress, self._checkpoint, fitted
        fitted._estimate = estimate = fitted._run(ballots, gold, history)
        if estimate.status == "interrupted":
            return estimate
        if isinstance(fitted, Calibrated) and fitted.calibration_ is not None:
            self._trial = fitted.gold_trial_
            self._choose(f"confidence calibrated with {counted(len(estimate.gold), 'gold set')}")
            return estimate
        if self.quick:
            return estimate
        try:
            self._reproducibility = reproducibility(chosen, ballots, seed=rng)
        except KeyboardInterrupt:
            return replace(estimate, status="interrupted")
        return self._scaled(estimate, gold)

    def _scaled(self, estimate: Estimate, gold: Gold | None) -> Estimate:
        """The estimate with confidence lowered, if it is clearly too high."""
        check = self._reproducibility
        if check is None or not check.is_too_sure:
            return estimate
        self._choose("confidence lowered, because voters make the same mistakes more often than chance explains")
        work = workload(estimate.ballots, SizeBounds.of(self.bounds), gold)
        return calibrated_estimate(
            work, estimate, Calibration.scaled(check.scale, estimate.ballots.n_alternatives, "halves")
        )

    def _with_priors(self, usual: RatedEstimator, ballots: AnyBallots, rng: np.random.Generator) -> RatedEstimator:
        """The usual priors, or one for all alternatives if halves of the voters then agree clearly more often."""
        if ballots.has_menus or ballots.n_instances < FEWEST_INSTANCES or ballots.total_voters < 2:
            return usual
        sample, seeds = checked_sample(ballots), rng.integers(1 << 32, size=SPLITS)
        shared = EM(self.bounds, priors="shared")
        agreed = [
            [halves_agree(each, sample, np.random.default_rng(int(seed))).astype(float) for seed in seeds]
            for each in (usual, shared)
        ]
        before, after = (np.concatenate(each) for each in agreed)
        if len(before) < SPLITS * FEWEST_INSTANCES or not _clearly_more(after - before):
            return usual
        self._choose(
            f"one prior for all alternatives: two halves of the voters then agree on {after.mean():.0%} of the sets "
            f"instead of {before.mean():.0%}"
        )
        return shared

    def _choose(self, sentence: str) -> None:
        self._choices = (*self._choices, sentence)


def _clearly_more(gains: FloatArray) -> bool:
    """Whether agreement rises by much more than chance; the splits are of the same instances, so they count once."""
    error = float(gains.std() / np.sqrt(len(gains) / SPLITS))
    return float(gains.mean()) > max(WORTH_IT, CLEARLY_MORE * error)


def suggest_method(ballots: AnyBallots) -> tuple[Suggested, str]:
    """`amle` or `em`, and why."""
    if 1 < ballots.n_instances < FEW_INSTANCES and ballots.coverage >= NEARLY_ALL:
        return "amle", "few instances, and nearly every voter voted on nearly all of them"
    if ballots.n_instances == 1:
        return "em", "one instance only, where hard choices make every voter look more reliable than they are"
    if ballots.coverage < NEARLY_ALL:
        return "em", f"voters voted on {ballots.coverage:.0%} of the instances on average, which leaves sets doubtful"
    return "em", f"{ballots.n_instances:,} instances are enough to weigh sets instead of choosing them"
