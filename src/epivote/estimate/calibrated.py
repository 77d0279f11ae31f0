"""Any estimator, with its log-odds translated into truth by gold sets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.estimate import Estimate
from epivote.data.names import BoolArray, FloatArray, IntArray, counted
from epivote.engines.gold import Gold
from epivote.errors import CrowdWarning, InputError
from epivote.estimate.base import Estimator, RatedEstimator
from epivote.estimate.history import History
from epivote.estimate.outcome import calibrated_estimate
from epivote.estimate.workload import InMemoryWorkload, workload
from epivote.model.calibrated import approval_log_odds, translated
from epivote.model.gold_fit import CENTRES, SIZES_UNKNOWN, STRENGTHS, GoldTable, learn_calibration, settings_of
from epivote.model.set_odds import SetOdds

FEWEST_GOLD = 3  # gold sets from which anything can be learnt; with fewer the beliefs alone would speak
MOST_GOLD = 5000  # gold sets used; more change no digit that is shown, and cost memory
MOST_OFFSETS = 50  # alternatives up to which each has an offset of its own; a round number, second derivatives cost n^2
FOLDS = 5  # in which gold is left out to see what calibration does; the usual number
TAUGHT = 0.1  # share of gold among the instances from which it also teaches voters; a round number


@dataclass(frozen=True)
class GoldTrial:
    """What would have been said of each gold instance if its own gold set had not been known.

    For every instance: whether the set was right and the confidence stated, without calibration and with it.
    """

    instances: tuple[str, ...]
    right_before: BoolArray
    confidence_before: FloatArray
    right_after: BoolArray
    confidence_after: FloatArray


class Calibrated(RatedEstimator):
    """An estimator whose log-odds are translated into truth with the help of some gold sets.

    Voters who err together make every model of independent voters too sure. A few gold sets (10 help, 20 are good) tell
    how sure it may be: the log-odds of an alternative become `scale * (model_weight * m + share_weight * s) + offset +
    offsets[j]`, where m are the log-odds of the fit and s those of the share of approvals. How far this may depart from
    changing nothing is chosen by the evidence, so that little is lost where the model is right.

    Parameters
    ----------
    estimator
        What finds voters and priors, such as `EM(bounds=(1, 2))`. For `Majority` and the other rules that count
        approvals, which state no log-odds, the share of approvals alone is calibrated.

    Attributes
    ----------
    estimator_
        The fitted copy of `estimator`. It is not taught by the gold sets unless they are at least a tenth of all
        instances; then they are left out in turn to find what to calibrate.
    calibration_
        What was learnt, or None if the gold sets were too few or all alike; a `CrowdWarning` then says so, and gold
        only teaches the estimator.
    gold_trial_
        What would have been said of each gold instance without its own gold set, before and after calibration.

    Examples
    --------
    >>> from epivote import EM, simulate
    >>> crowd = simulate(instances=200, voters=12, alternatives=4, bounds=(1, 2), shared_mistakes=0.5, seed=1)
    >>> gold = {name: crowd.gold[name] for name in list(crowd.gold)[:20]}
    >>> fitted = Calibrated(EM(bounds=(1, 2))).fit(crowd.ballots, gold=gold)
    >>> bool(fitted.confidence_[20:].mean() < fitted.model_confidence_[20:].mean())
    True
    """

    _trial: GoldTrial | None = None
    _fitted: Estimator | None = None

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    @property
    def bounds(self) -> Any:
        """The size bounds of the estimator."""
        bounds = getattr(self.estimator, "bounds", None)
        return (0, None) if bounds is None else bounds

    @property
    def estimator_(self) -> Estimator:
        """The fitted copy of the estimator."""
        _ = self.estimate_
        assert self._fitted is not None
        return self._fitted

    @property
    def calibration_(self) -> Calibration | None:
        """How log-odds are translated; None if gold could not say."""
        return self.model_.calibration

    @property
    def gold_trial_(self) -> GoldTrial | None:
        """What would have been said of each gold instance without its own gold set; None without calibration."""
        _ = self.estimate_
        return self._trial

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The estimator, and with `deep` its own parameters as `estimator__name`."""
        own = super().get_params()
        return own | {f"estimator__{key}": each for key, each in self.estimator.get_params().items()} if deep else own

    def set_params(self, **values: Any) -> Self:
        """Change the estimator, or its parameters as `estimator__name`."""
        inner = {key.removeprefix("estimator__"): values.pop(key) for key in list(values) if "__" in key}
        super().set_params(**values)
        self.estimator.set_params(**inner)
        return self

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        if not isinstance(self.estimator, Estimator) or isinstance(self.estimator, Calibrated):
            raise InputError(f"Calibrated wraps an estimator such as EM(bounds=(1, 2)), not {self.estimator!r}")
        if not gold:
            raise InputError(
                "Calibrated needs gold sets: give gold={instance: set} for at least 3 instances, better 20"
            )
        work = workload(ballots, SizeBounds.of(self.bounds), gold)
        self._trial, trouble = None, _why_not(work.gold)
        is_taught = len(work.gold) >= TAUGHT * ballots.n_instances and isinstance(self.estimator, RatedEstimator)
        estimate = self._fit_copy(ballots, gold if trouble or is_taught else None, history, kept=True)
        if trouble:
            warnings.warn(trouble, CrowdWarning, stacklevel=3)
            return estimate
        names = sorted(work.gold)
        names = names[:: -(-len(names) // MOST_GOLD)]
        fold = {name: place % FOLDS for place, name in enumerate(names)}
        rows: list[_GoldRows] = []
        for left_out in range(FOLDS) if is_taught else (None,):
            source, chosen = estimate, names
            if left_out is not None:
                chosen = [name for name in names if fold[name] == left_out]
                others = {name: names for name, names in work.gold.items() if fold.get(name) != left_out}
                source = self._fit_copy(ballots, others, history) if chosen else estimate
            rows += _gold_rows(source, ballots, {name: work.gold[name] for name in chosen}, SizeBounds.of(self.bounds))
        calibration, self._trial = _learnt(rows, fold, ballots, rated=estimate.is_rated, gold=work.gold)
        return calibrated_estimate(work, estimate, calibration)

    def _fit_copy(
        self, ballots: AnyBallots, gold: Gold | None, history: History | None, *, kept: bool = False
    ) -> Estimate:
        """What a copy of the estimator finds; the one that is `kept` also tells its progress and keeps a checkpoint."""
        copy = type(self.estimator)(**self.estimator.get_params(deep=False))
        if kept:
            copy._progress, copy._checkpoint, self._fitted = self._progress, self._checkpoint, copy
        copy._estimate = copy._run(ballots, gold, history)
        return copy._estimate


class _GoldRows(NamedTuple):
    table: GoldTable
    names: list[str]


def _why_not(gold: Mapping[str, frozenset[str]]) -> str:
    """Why these gold sets cannot calibrate; empty if they can."""
    instead = "used for fitting only, and confidence stays that of the model"
    if len(gold) < FEWEST_GOLD:
        few, is_used = counted(len(gold), "gold set"), "it is" if len(gold) == 1 else "they are"
        return f"{few} cannot calibrate confidence ({FEWEST_GOLD} are needed, 20 are better): {is_used} {instead}"
    if len(set(gold.values())) == 1:
        return f"all {len(gold)} gold sets are the same, which cannot calibrate confidence: they are {instead}"
    return ""


def _gold_rows(
    estimate: Estimate, ballots: AnyBallots, gold: Mapping[str, frozenset[str]], bounds: SizeBounds
) -> list[_GoldRows]:
    """Log-odds of the gold instances, under rates that were not taught by them, and their sets."""
    if not gold:
        return []
    sample = ballots.select(instances=gold)
    work = InMemoryWorkload(sample, bounds)
    every = zip(work.shards, work.margins(estimate.parameters), work.tables(gold), strict=True)
    return [
        _GoldRows(
            GoldTable(
                margins if estimate.is_rated else np.zeros_like(margins),
                approval_log_odds(shard),
                sets,
                shard.offered,
                shard.lower,
                shard.upper,
            ),
            [sample.instances[z] for z in shard.instances],
        )
        for shard, margins, sets in every
    ]


def _learnt(
    rows: list[_GoldRows],
    fold: Mapping[str, int],
    ballots: AnyBallots,
    *,
    rated: bool,
    gold: Mapping[str, frozenset[str]],
) -> tuple[Calibration, GoldTrial]:
    """The calibration, and what it does to gold sets that it has not seen.

    The trial keeps the weights that beliefs have by the evidence of all gold sets.
    """
    tables = [table for table, _ in rows]
    sizes = {len(names) for names in gold.values()}
    one_size = len(sizes) == 1 and any(table.lower < table.upper for table in tables)
    if one_size:
        warnings.warn(
            f"all gold sets have {counted(sizes.pop(), 'alternative')}, although the size bounds allow other sizes: "
            "they calibrate the confidence, but not the size of sets",
            CrowdWarning,
            stacklevel=4,
        )
    with_offsets = not ballots.has_menus and ballots.n_alternatives <= MOST_OFFSETS and not one_size
    centres = CENTRES if rated else ((0.0, 1.0),)
    settings = settings_of(SIZES_UNKNOWN if one_size else STRENGTHS, centres)
    n = ballots.n_alternatives
    learnt = learn_calibration(tables, n, settings, with_offsets=with_offsets)
    places = [np.array([fold[name] for name in names]) for _, names in rows]
    trials: dict[str, tuple[bool, float, bool, float]] = {}
    unchanged = Calibration.identity(n) if rated else Calibration(1.0, 0.0, 1.0, 0.0, np.zeros(n), "gold")
    for left_out in range(FOLDS):
        seen = [table.rows(place != left_out) for table, place in zip(tables, places, strict=True)]
        after = learn_calibration(seen, n, weights=learnt.weights, with_offsets=with_offsets).calibration
        for (table, names), place in zip(rows, places, strict=True):
            own: IntArray = np.flatnonzero(place == left_out)
            judged = (_judge(table.rows(own), each) for each in (unchanged, after))
            for number, values in zip(own, zip(*(pair for both in judged for pair in both), strict=True), strict=True):
                trials[names[number]] = values
    judged_names = tuple(sorted(trials))
    columns = zip(*(trials[name] for name in judged_names), strict=True)
    return learnt.calibration, GoldTrial(judged_names, *map(np.array, columns))


def _judge(table: GoldTable, calibration: Calibration) -> tuple[BoolArray, FloatArray]:
    """Whether the set of each row is right under a calibration, and the confidence stated."""
    log_odds = translated(table.margins, table.shares, table.offered, calibration)
    odds = SetOdds(log_odds, table.lower, table.upper)
    best = odds.best()
    right: BoolArray = np.all(best == table.sets, axis=1)
    return right, odds.probabilities(best)
