"""Method, priors and calibration chosen by evidence, and said."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, counted
from epivote.data.numbers import chosen_percent, percent, whole_percent
from epivote.engines.gold import Gold
from epivote.estimate.amle import AMLE
from epivote.estimate.base import RatedEstimator
from epivote.estimate.calibrated import Calibrated, GoldTrial
from epivote.estimate.em import EM
from epivote.estimate.history import History
from epivote.estimate.maximum_likelihood import MaximumLikelihood
from epivote.estimate.objectives import marginal_log_likelihood
from epivote.estimate.outcome import calibrated_estimate
from epivote.estimate.reliability import worse_than_chance
from epivote.estimate.reproducibility import (
    CLEARLY,
    FEWEST_INSTANCES,
    SPLITS,
    Reproducibility,
    checked_sample,
    fitted_copy,
    halves_agree,
    mistakes_coincide,
    reproducibility,
)
from epivote.estimate.stream import START
from epivote.estimate.workload import workload

FEW_INSTANCES = 50  # a round number between the cases that docs/explanation/methods.md compares
NEARLY_ALL = 0.8  # share of instances a voter answers on average; likewise
MANY_AGAINST = 0.2  # share of voters clearly worse than chance from which AMLE is not taken; a round number
# Standard errors by which mistakes must coincide more than chance for AMLE to be taken; chosen over 3 on the quiz.
COINCIDE = 2.0
CLEARLY_MORE = 2.0  # standard errors by which halves must agree more often for another prior to be taken
WORTH_IT = 0.02  # share of sets by which they must agree more often; a round number

# Groups of instances; 4 are tried only if 2 explain the ballots much better. On five simulated crowds 8 found .02 more
# sets than 4 on one, fewer on the others, and they take twice the time.
GROUPS = (2, 4)
# Log-likelihood by which groups must explain a sample better for every prior and share that they add. Akaike's
# criterion asks for 1, BIC for about 3. Chosen on 8 simulated crowds: at most 0.8 where nothing goes together; from 5
# on for 2 groups that exist, from 2.1 on for 4. On 57 others where nothing goes together (shared mistakes, copies,
# difficulty, guessing) no groups were taken; on 15 with groups always, and these found .05 to .19 more sets.
GAIN_PER_PRIOR = 2.0
QUICK_TOLERANCE, QUICK_ITERATIONS = 1e-2, 30  # of fits that only compare groups; round numbers
EQUAL = 1e6  # shrinkage that gives all voters the same rates: many more believed alternatives than voters have seen
FEW_AND_DENSE = "few instances, and nothing shows that voters make the same mistakes"

Suggested = Literal["amle", "em"]


class Auto(RatedEstimator):
    """What the command does by default: method, priors and calibration are chosen by evidence, and said.

    `EM`, or `AMLE` if there are few instances, nearly everybody voted on all of them, it finds other sets, and voters
    make the same mistakes more often than chance explains. With priors per alternative,
    or one for all if two halves of the voters then agree clearly more often, or with groups of instances if
    these explain the ballots much better. With gold sets, log-odds are calibrated
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
        rng = np.random.default_rng(self.seed)
        self._method, why = suggest_method(ballots, self.bounds, quick=self.quick, seed=rng)
        self._choices, self._reproducibility, self._trial = (why,), None, None
        chosen: RatedEstimator = AMLE(self.bounds)
        if self._method == "em":
            assumed = None if gold or history else self._assumed(ballots)
            chosen = assumed or (EM(self.bounds) if self.quick else self._with_priors(EM(self.bounds), ballots, rng))
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
            checked = EM(self.bounds) if isinstance(chosen, EM) and chosen.groups else chosen
            errors = COINCIDE if self._method == "amle" else CLEARLY  # AMLE is taken because mistakes coincide
            self._reproducibility = reproducibility(checked, ballots, errors=errors, seed=rng)
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

    def _assumed(self, ballots: AnyBallots) -> RatedEstimator | None:
        """What to assume of voters where ballots alone cannot show who is reliable; None where they can."""
        if ballots.n_instances == 1:
            return None
        if ballots.cast_per_instance.max() < 2:
            hit, false_alarm = map(chosen_percent, START)
            self._choose(
                f"no instance has two ballots, so every voter is assumed to have a hit rate of {hit} and a false-alarm "
                f"rate of {false_alarm}"
            )
            return MaximumLikelihood(*START, bounds=self.bounds)
        if ballots.total_voters == 2:
            self._choose("both voters are taken as equally reliable, because ballots cannot show which of two is right")
            return EM(self.bounds, shrinkage=EQUAL)
        return None

    def _with_priors(self, usual: EM, ballots: AnyBallots, rng: np.random.Generator) -> EM:
        """The usual priors, one for all alternatives, or groups, as the evidence says."""
        if ballots.has_menus or ballots.n_instances < FEWEST_INSTANCES or ballots.total_voters < 2:
            return usual
        sample, seeds = checked_sample(ballots), rng.integers(1 << 32, size=SPLITS)
        if sample.n_instances < FEWEST_INSTANCES:  # few voters stand for very many
            return usual

        def agreed(estimator: RatedEstimator) -> FloatArray:
            halves = (halves_agree(estimator, sample, np.random.default_rng(int(seed))) for seed in seeds)
            return np.concatenate(list(halves)).astype(float)

        fitted, shared = fitted_copy(usual, sample), EM(self.bounds, priors="shared")
        shared._given_turn = fitted._turn
        before, after = agreed(fitted), agreed(shared)
        if len(before) < SPLITS * FEWEST_INSTANCES:
            return usual
        if _clearly_more(after - before):
            self._choose(
                f"one prior for all alternatives: two halves of the voters then agree on {percent(after.mean())} of "
                f"the sets instead of {percent(before.mean())}"
            )
            return EM(self.bounds, priors="shared")
        groups = best_groups(fitted, sample)
        if groups == 1:
            return usual
        self._choose(f"{groups} groups of instances with priors of their own, which explain the ballots much better")
        return EM(self.bounds, groups=groups)

    def _choose(self, sentence: str) -> None:
        self._choices = (*self._choices, sentence)


def _clearly_more(gains: FloatArray) -> bool:
    """Whether agreement rises by much more than chance; the splits are of the same instances, so they count once."""
    error = float(gains.std() / np.sqrt(len(gains) / SPLITS))
    return float(gains.mean()) > max(WORTH_IT, CLEARLY_MORE * error)


def best_groups(fitted: RatedEstimator, sample: Ballots) -> int:
    """How many groups explain a sample much better than half as many do: 1, 2 or 4; `fitted` has none."""
    chosen, bounds = 1, SizeBounds.of(fitted.bounds)
    explained = _explained(fitted, sample, bounds)
    for groups in GROUPS:
        if sample.n_instances < groups * FEWEST_INSTANCES:
            break
        tried = quick_groups(fitted.bounds, groups)
        tried._given_turn = fitted._turn
        further = _explained(fitted_copy(tried, sample), sample, bounds)
        if further - explained < GAIN_PER_PRIOR * (groups - chosen) * (sample.n_alternatives + 1):
            break
        chosen, explained = groups, further
    return chosen


def quick_groups(bounds: BoundsLike, groups: int) -> EM:
    """Groups as they are compared: a few iterations are enough to tell them from none."""
    return EM(bounds, groups=groups, tolerance=QUICK_TOLERANCE, max_iterations=QUICK_ITERATIONS)


def _explained(fitted: RatedEstimator, sample: Ballots, bounds: SizeBounds) -> float:
    """The log-likelihood of the ballots of a sample, under rates and priors learnt from it."""
    return marginal_log_likelihood(sample, fitted.parameters_, bounds)


def suggest_method(
    ballots: AnyBallots,
    bounds: BoundsLike | None = None,
    *,
    quick: bool = False,
    seed: int | np.random.Generator = 0,
) -> tuple[Suggested, str]:
    """`amle` or `em`, and why.

    `em`, unless there are few instances and nearly every voter voted on nearly all of them. With `bounds` both are then
    fitted, and `amle` is taken if it finds other sets and voters make the same mistakes more often than in simulated
    crowds. `quick` leaves that out; `seed` is that of the simulations.
    """
    if ballots.total_voters <= 2:
        return "em", f"{counted(ballots.total_voters, 'voter')} only, and AMLE would be certain who is right"
    if 1 < ballots.n_instances < FEW_INSTANCES and ballots.coverage >= NEARLY_ALL:
        if bounds is None or quick:
            return "em", FEW_AND_DENSE
        return _of_few_dense(ballots.in_memory(), bounds, np.random.default_rng(seed))
    if ballots.n_instances == 1:
        return "em", "one instance only, on which AMLE makes every voter look more reliable than they are"
    if ballots.coverage < NEARLY_ALL:
        return "em", f"voters voted on {whole_percent(ballots.coverage)} of the instances, less than AMLE needs"
    return "em", f"{ballots.n_instances:,} instances are enough for EM, which weighs all possible sets"


def _of_few_dense(ballots: Ballots, bounds: BoundsLike, rng: np.random.Generator) -> tuple[Suggested, str]:
    """AMLE if it finds other sets than EM and voters share mistakes; else EM.

    AMLE starts by trusting voters who agree with others. Where mistakes coincide, as in the paper's quiz, that is worth
    more than the likelihood; where voters err independently EM finds more sets, and among voters who are worse than
    chance that start leads astray. Where both find the same sets EM's confidence is the honest one, since AMLE takes
    its sets for certain when it judges voters.
    """
    soft, hard = fitted_copy(EM(bounds), ballots), fitted_copy(AMLE(bounds), ballots)
    differ = float(np.mean([soft.truth_[name] != hard.truth_[name] for name in ballots.instances]))
    if differ == 0:
        return "em", "few instances, on which AMLE finds the same sets but overstates its confidence"
    than = f"few instances, where AMLE and EM find different sets on {percent(differ)} of them"
    if worse_than_chance(soft.estimate_.counts).mean() > MANY_AGAINST:
        return "em", f"{than}, and AMLE is misled by voters who are worse than chance"
    if mistakes_coincide(soft, rng, COINCIDE):
        return "amle", f"{than}, and voters make the same mistakes more often than chance explains"
    return "em", f"{than}, and nothing shows that voters make the same mistakes"
