"""A check without gold: do two halves of the crowd agree as often as they should, and do mistakes coincide?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.names import BoolArray, IntArray
from epivote.data.numbers import percent
from epivote.errors import InputError
from epivote.estimate.base import RatedEstimator
from epivote.estimate.imitation import coincidence, imitate
from epivote.model.calibrated import approval_log_odds
from epivote.model.gold_fit import Beliefs, GoldTable, Setting, learn_calibration

SPLITS = 3  # random halves of the voters; agreement is averaged over them
IMITATIONS = 2  # simulated crowds for each strength of shared mistakes
STRENGTHS = (0.0, 0.1, 0.3, 0.6)  # shared mistakes tried, from none on; what lies between is interpolated
CLEARLY = 3.0  # standard errors by which mistakes must coincide more than in simulated crowds; flags 1 crowd in 700
LARGEST_SCALE = 0.97  # of log-odds: above it confidence would change by a percent or so, which is not worth saying
FEWEST_INSTANCES = 10  # on which both halves voted; with fewer the check says nothing
BALLOTS_CHECKED = 3000  # about as many as can be fitted twenty times in two seconds
SHARE_CHECKED = 50  # of many ballots one in fifty, so that all of it takes about as long as the fit itself
MOST_CHECKED = 20_000  # of very many, so that it takes seconds however many there are; a round number
MOST_EXPANDED = 50_000  # ballots of voters who stand for several that are simulated one by one; a round number
CHECK_TOLERANCE = 1e-3  # of fits that are only compared: sets and scale came out the same as with 1e-5, in less time
ANY_SCALE = (
    Setting(Beliefs("scale", 3.0, 1e-4, 1e-4, 1e-4), (1.0, 0.0)),
)  # next to no belief about the scale, nothing else may move

Teller = Callable[[str], None]


@dataclass(frozen=True)
class Reproducibility:
    """What two halves of a crowd, and simulated crowds like it, say about its confidence.

    `agreement` is the share of sets on which two random halves of the voters agree; `expected_agreement` what it would
    be if voters erred independently, as confidence assumes. `coincidence` is by how much the mistakes of two voters
    correlate beyond that, with its standard error. If they clearly do (`is_too_sure`), `scale` is the number by which
    log-odds must be multiplied to be right in a simulated crowd whose mistakes coincide as much; else it is 1.
    """

    agreement: float
    expected_agreement: float
    coincidence: float
    coincidence_error: float
    shared_mistakes: float
    scale: float
    n_instances: int
    is_sample: bool

    @property
    def is_too_sure(self) -> bool:
        """Whether confidence is clearly too high."""
        return self.scale < 1

    def __str__(self) -> str:
        """One or two sentences."""
        found, expected = percent(self.agreement), percent(self.expected_agreement)
        line = (
            f"Two halves of this crowd agree on {found} of the sets; if voters erred independently, as stated "
            f"probabilities assume, it would be {expected}"
        )
        if not self.is_too_sure:
            return f"{line}. There is no sign that voters make the same mistakes."
        return f"{line}. Voters make the same mistakes more often than chance explains."


def reproducibility(
    estimator: RatedEstimator,
    ballots: AnyBallots,
    *,
    splits: int = SPLITS,
    errors: float = CLEARLY,
    seed: int | np.random.Generator = 0,
    progress: Teller = lambda _: None,
) -> Reproducibility | None:
    """Check an estimator's confidence without gold.

    Voters are split into random halves, which are fitted separately, and crowds like this one are simulated from the
    fit: first with voters who err independently, then, if the mistakes of the given voters coincide more than theirs,
    with voters who share mistakes, until they coincide as much. In that crowd all true sets are known, which tells by
    how much log-odds have to be scaled.

    Parameters
    ----------
    estimator
        An estimator such as `EM(bounds=(1, 2))`; it need not be fitted, and copies of it are used.
    ballots
        The ballots. Of very many a sample is taken (`is_sample`).
    splits
        How many random halves.
    errors
        Standard errors by which mistakes must coincide more than in simulated crowds for confidence to be too high.
    seed
        Of halves and simulations.
    progress
        Is told what is being done.

    Returns
    -------
    Reproducibility or None
        None where two halves of the voters have fewer than 10 instances in common, and where a few voters stand for so
        many that they cannot be simulated one by one.
    """
    if not isinstance(estimator, RatedEstimator):
        raise InputError(f"{type(estimator).__name__} states no confidence that could be checked; use EM or AMLE")
    rng = np.random.default_rng(seed)
    checked = checked_sample(ballots)
    if checked.n_instances < FEWEST_INSTANCES or (
        checked.multiplicities is not None and checked.total_ballots > MOST_EXPANDED
    ):
        return None
    sample = checked.expanded()
    progress("Checking whether two halves of the voters agree")
    fitted = fitted_copy(estimator, sample)
    found = [halves_agree(fitted, sample, rng) for _ in range(splits)]
    if sum(map(len, found)) < splits * FEWEST_INSTANCES:
        return None
    observed, error = coincidence(fitted)
    tried: list[tuple[float, float, float]] = []
    expected: list[BoolArray] = []
    for strength in STRENGTHS:
        progress(f"Simulating crowds like this one that share {percent(strength)} of their mistakes")
        coincides, tables = 0.0, []
        for _ in range(IMITATIONS):
            drawn, work, truths = imitate(fitted, strength, rng)
            again = fitted_copy(fitted, drawn)
            coincides += coincidence(again)[0] / IMITATIONS
            tables += [
                GoldTable(margins, approval_log_odds(shard), sets, None, shard.lower, shard.upper)
                for shard, margins, sets in zip(work.shards, work.margins(again.parameters_), truths, strict=True)
            ]
            if strength == 0:
                expected.append(halves_agree(fitted, drawn, rng))
        if strength == 0 and observed - coincides <= errors * error * np.sqrt(1 + 1 / IMITATIONS):
            tried = [(0.0, observed, 1.0)]
            break
        learnt = learn_calibration(tables, sample.n_alternatives, ANY_SCALE, with_offsets=False)
        tried.append((strength, coincides, min(learnt.calibration.scale, 1.0)))
        if coincides >= observed:
            break
    shared, scale = _at(observed, tried)
    return Reproducibility(
        agreement=float(np.mean(np.concatenate(found))),
        expected_agreement=float(np.mean(np.concatenate(expected))),
        coincidence=observed - (tried[0][1] if len(tried) > 1 else coincides),
        coincidence_error=error,
        shared_mistakes=shared,
        scale=scale if scale <= LARGEST_SCALE else 1.0,
        n_instances=len(found[0]),
        is_sample=checked.n_instances < ballots.n_instances,
    )


def mistakes_coincide(fitted: RatedEstimator, rng: np.random.Generator, errors: float = CLEARLY) -> bool:
    """Whether the mistakes of two voters coincide more, by so many standard errors, than in crowds simulated from the
    fit whose voters err independently.
    """
    observed, error = coincidence(fitted)
    simulated = [coincidence(fitted_copy(fitted, imitate(fitted, 0.0, rng)[0]))[0] for _ in range(IMITATIONS)]
    return bool(observed - np.mean(simulated) > errors * error * np.sqrt(1 + 1 / IMITATIONS))


def checked_sample(ballots: AnyBallots) -> Ballots:
    """The ballots, or so many of their instances that a check takes seconds or about as long as a fit."""
    most = min(max(BALLOTS_CHECKED, ballots.n_ballots // SHARE_CHECKED), MOST_CHECKED)
    if ballots.is_in_memory and ballots.total_ballots <= 2 * most:
        return ballots.in_memory()
    return ballots.sample_instances(max(1, ballots.total_ballots // most))


def halves_agree(estimator: RatedEstimator, ballots: Ballots, rng: np.random.Generator) -> BoolArray:
    """For every instance on which two random halves of the voters voted, whether both find the same set."""
    if ballots.total_voters < 2:
        return np.zeros(0, bool)
    parts = halves(ballots, rng)
    shared = (np.diff(parts[0].ballot_start) > 0) & (np.diff(parts[1].ballot_start) > 0)
    names = [ballots.instances[z] for z in np.flatnonzero(shared)]
    if not names:
        return np.zeros(0, bool)
    first, second = (fitted_copy(estimator, part.select(instances=names)).truth_ for part in parts)
    return np.array([first[name] == second[name] for name in names])


def halves(ballots: Ballots, rng: np.random.Generator) -> list[Ballots]:
    """The ballots of two random halves of the voters; of those who stand for several, some may be in each."""
    half = ballots.total_voters // 2
    if ballots.multiplicities is None:
        order = rng.permutation(ballots.n_voters)
        parts = (order[:half], order[half:])
        return [ballots.select(voters=[ballots.voters[i] for i in np.sort(some)]) for some in parts]
    first = rng.multivariate_hypergeometric(ballots.multiplicities, half)
    return [_with_multiplicities(ballots, times) for times in (first, ballots.multiplicities - first)]


def _with_multiplicities(ballots: Ballots, times: IntArray) -> Ballots:
    """The same where voters stand for so many; those who stand for nobody are left out."""
    kept = np.flatnonzero(times)
    return replace(ballots.select(voters=[ballots.voters[i] for i in kept]), multiplicities=times[kept])


def fitted_copy(estimator: RatedEstimator, ballots: Ballots) -> RatedEstimator:
    """A copy, fitted until nothing changes by much; what it would warn of is said by the fit to all ballots.

    If the estimator is fitted itself, the copy takes the crowd to be the same way up.
    """
    settings = estimator.get_params(deep=False)
    if "tolerance" in settings:
        settings["tolerance"] = max(settings["tolerance"], CHECK_TOLERANCE)
    copy = type(estimator)(**settings)
    copy._given_turn = estimator._given_turn if estimator._turn is None else estimator._turn
    copy._estimate = copy._run(ballots, None, None)
    if copy._estimate.status == "interrupted":
        raise KeyboardInterrupt
    return copy


def _at(observed: float, tried: list[tuple[float, float, float]]) -> tuple[float, float]:
    """Shared mistakes and scale at which simulated mistakes coincide as much as observed, interpolated."""
    strengths, coincides, scales = (np.array(column) for column in zip(*tried, strict=True))
    rising = np.maximum.accumulate(coincides)
    return float(np.interp(observed, rising, strengths)), float(np.exp(np.interp(observed, rising, np.log(scales))))
