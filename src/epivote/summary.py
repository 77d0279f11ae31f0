"""What there is to say about a fit, worked out once; the command, the report and the live page only show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.names import BoolArray, FloatArray, IntArray, counted
from epivote.data.numbers import in_percent, percent
from epivote.data.truths import Truths
from epivote.errors import InputError
from epivote.estimate.auto import Auto
from epivote.estimate.base import Estimator, RatedEstimator
from epivote.estimate.calibrated import Calibrated
from epivote.estimate.flags import FlagKind, some_names
from epivote.estimate.reliability import VoterReport, upside_down, voter_reports
from epivote.estimate.reproducibility import Reproducibility
from epivote.estimate.review import SURE, Doubt, check_threshold
from epivote.estimate.same_mistakes import joined
from epivote.estimate.size_evidence import far_likelier
from epivote.evaluate.agreement import Agreement, agreement
from epivote.evaluate.calibration import CalibrationBin, calibration, calibration_error
from epivote.evaluate.intervals import Interval, share_interval
from epivote.evaluate.metrics import Comparison, Scores, compare, scores_of
from epivote.evaluate.sizes import SizeCheck, check_sizes

GROUPS_NAMED, VOTERS_NAMED = 5, 6  # of groups that make the same mistakes; round numbers that fit a few lines
TOGETHER = (FlagKind.NEAR_COPY, FlagKind.SAME_MISTAKES)


class FoundSet(NamedTuple):
    """The estimated set of one instance; the confidence is None for rules that know no rates."""

    instance: str
    alternatives: tuple[str, ...]
    confidence: float | None
    ballots: int


@dataclass(frozen=True)
class GoldCheck:
    """Estimated sets against gold: how many are exactly right, and whether the stated confidence was right.

    `scores` is None where the rates were learnt from these gold sets; `bins` is empty for rules that know no rates.
    `right` says of every set whether it is exactly right, by the number of its instance.
    """

    n_instances: int
    n_right: int
    scores: Scores | None
    bins: tuple[CalibrationBin, ...]
    right: Mapping[int, bool]


@dataclass(frozen=True)
class Stated:
    """Stated confidence and what was right: share of sets exactly right, mean confidence, calibration error."""

    exact: Interval
    confidence: float
    error: Interval

    @classmethod
    def of(cls, right: BoolArray, confidence: FloatArray) -> Stated:
        """From one outcome and one confidence per set."""
        return cls(
            share_interval(int(right.sum()), len(right)),
            float(confidence.mean()),
            calibration_error(confidence, right.astype(float)),
        )


@dataclass(frozen=True)
class GoldEffect:
    """What calibration did, on gold sets that were left out in turn; before it, rules without rates state nothing."""

    n_instances: int
    before: Stated
    after: Stated

    def __str__(self) -> str:
        """One sentence."""
        before, after = self.before, self.after
        return (
            f"On {counted(self.n_instances, 'gold set')} left out in turn, calibration changed the share of sets "
            f"exactly right from {percent(before.exact.mean)} to {percent(after.exact.mean)} (95 % CI "
            f"{percent(after.exact.low)} to {percent(after.exact.high)}), the mean confidence from "
            f"{in_percent(before.confidence)} to {in_percent(after.confidence)}, and the calibration error from "
            f"{before.error.mean:.2f} to {after.error.mean:.2f} (95 % CI {after.error.low:.2f} to "
            f"{after.error.high:.2f})."
        )


@dataclass(frozen=True)
class Summary:
    """What there is to say about a fit. Everything costly is worked out when first asked for, and then kept.

    `estimate` is that of `fitted`, or the same without the names of voters; `gold` are true sets that were kept aside.
    A set whose confidence is at least `threshold` is called sure, any other doubtful. For rules that know no rates
    (`is_rated`) there are no reports on voters, and asking for confidence raises InputError.
    """

    fitted: Estimator
    estimate: Estimate
    gold: Truths | None = None
    threshold: float = SURE

    @property
    def method(self) -> str:
        """The name of the estimator's class."""
        return type(self.fitted).__name__

    @property
    def is_rated(self) -> bool:
        """Whether the rule knows rates, and so can say how sure it is."""
        return self.estimate.is_rated

    @property
    def n_own_sizes(self) -> int:
        """How many instances have size bounds of their own."""
        return len(self.estimate.ballots.places(self.estimate.bounds.per_instance))

    @cached_property
    def size_check(self) -> SizeCheck:
        """How the ballots fit the size bounds."""
        return weighed_sizes(self.estimate.ballots, self.estimate.bounds)

    @cached_property
    def is_upside_down(self) -> bool:
        """Whether the crowd seems to tick what is wrong."""
        return upside_down(self.estimate.counts, self.estimate.ballots.multiplicities)

    @cached_property
    def agreement(self) -> Agreement:
        """How far voters agree beyond chance, before anything is estimated."""
        return agreement(self.estimate.ballots)

    # Sets and confidence

    def sets(self, limit: int | None = None) -> list[FoundSet]:
        """The estimated sets in the order of the instances; the first `limit` of them if it is given."""
        count = self.estimate.ballots.n_instances
        return self.sets_at(np.arange(count if limit is None else min(limit, count)))

    def sets_at(self, places: IntArray) -> list[FoundSet]:
        """The estimated sets of the instances with these numbers, in that order."""
        order = np.argsort(places, kind="stable")
        confidence = self.confidence[places[order]].tolist() if self.is_rated else [None] * len(places)
        cast = self.estimate.ballots.cast_per_instance[places[order]].tolist()
        parts = self.estimate.parts(places[order])
        sets = ((name, tuple(part.truths.listed(name))) for part in parts for name in part.truths)
        found = [
            FoundSet(name, members, sure, ballots)
            for (name, members), sure, ballots in zip(sets, confidence, cast, strict=True)
        ]
        return [found[rank] for rank in np.argsort(order).tolist()]

    @property
    def confidence(self) -> FloatArray:
        """Probability that each set is exactly right, in the order of the instances."""
        confidence = self._rated.confidence_
        assert confidence is not None
        return confidence

    @cached_property
    def n_sure(self) -> int:
        """How many sets have at least the confidence `threshold`; gold sets that were given do not count."""
        return int(np.sum(self.confidence[self.estimated_places] >= self.threshold))

    @property
    def n_doubtful(self) -> int:
        """How many sets have a confidence below `threshold`."""
        return len(self.estimated_places) - self.n_sure

    @property
    def expected_right(self) -> float:
        """How many sets should be exactly right, if the confidence holds; gold sets that were given do not count."""
        return float(self.confidence[self.estimated_places].sum())

    def review(self, limit: int | None = None) -> list[Doubt]:
        """The doubtful instances, most doubtful first; no more than `limit` if it is given."""
        return self._rated.review(self.threshold, limit=limit)

    @property
    def meaning(self) -> str:
        """What the confidence rests on, in a sentence."""
        known = self.estimate.calibration
        if known is None and self.reproducibility is not None:
            return "Confidence is the probability under the model; two halves of the voters gave no reason to doubt it."
        if known is None:
            return "Confidence is the probability under the model, and too high if voters make the same mistakes."
        if known.source == "gold":
            return f"Confidence is calibrated with {counted(len(self.estimate.gold), 'gold set')}."
        return (
            "Confidence was lowered, because voters make the same mistakes more often than chance explains; "
            "this makes it less wrong, but only gold sets can make it right (epivote gold picks some to answer)."
        )

    @cached_property
    def about_confidence(self) -> tuple[str, ...]:
        """What to know before reading a confidence: what it rests on, what halves of the voters say, what gold did."""
        if not self.is_rated:
            return ()
        lines = [self.meaning]
        if self.reproducibility is not None:
            lines.append(str(self.reproducibility))
        if self.gold_effect is not None:
            lines.append(str(self.gold_effect))
        return tuple(lines)

    @property
    def reproducibility(self) -> Reproducibility | None:
        """What two halves of the voters said, if `fitted` looked."""
        return self.fitted.reproducibility_ if isinstance(self.fitted, Auto) else None

    @cached_property
    def gold_effect(self) -> GoldEffect | None:
        """What calibration did to gold sets that were left out; None if nothing was calibrated with gold."""
        trial = self.fitted.gold_trial_ if isinstance(self.fitted, (Auto, Calibrated)) else None
        if trial is None:
            return None
        return GoldEffect(
            len(trial.instances),
            Stated.of(trial.right_before, trial.confidence_before),
            Stated.of(trial.right_after, trial.confidence_after),
        )

    # Voters

    @cached_property
    def voters(self) -> tuple[VoterReport, ...]:
        """Rates with intervals and flags of every voter, in the order of `estimate.ballots.voters`."""
        return tuple(voter_reports(self.estimate)) if self.is_rated else ()

    @cached_property
    def flagged(self) -> tuple[VoterReport, ...]:
        """Voters with a flag, those with most ballots first."""
        return tuple(sorted((each for each in self.voters if each.flags), key=lambda each: -each.ballots))

    @cached_property
    def erring_together(self) -> tuple[tuple[str, ...], ...]:
        """Groups of voters who make the same mistakes more often than chance explains, the largest first."""
        return tuple(
            joined(
                (each.voter, *(flag.others or (str(flag.other),)))
                for each in self.voters
                for flag in each.flags
                if flag.kind in TOGETHER
            )
        )

    @property
    def about_erring_together(self) -> str:
        """One sentence about these groups; empty if there are none."""
        groups = self.erring_together
        if not groups:
            return ""
        named = "; ".join(some_names(group, VOTERS_NAMED) for group in groups[:GROUPS_NAMED])
        more = f"; and {len(groups) - GROUPS_NAMED:,} more groups" if len(groups) > GROUPS_NAMED else ""
        return f"Voters who make the same mistakes more often than chance explains: {named}{more}."

    def most_informative(self, count: int = 3) -> list[VoterReport]:
        """Voters with the largest lower end of the interval of their weight; those who copy others, or make the same
        mistakes as others, are left out.
        """
        own = [each for each in self.voters if all(flag.kind not in TOGETHER for flag in each.flags)]
        return sorted(own, key=lambda each: -each.weight_interval[0])[:count]

    # Gold

    @cached_property
    def estimated_places(self) -> IntArray:
        """The numbers of the instances whose sets are estimated, and not gold sets given to `fit`."""
        is_estimated = np.ones(self.estimate.ballots.n_instances, bool)
        is_estimated[list(self.estimate.ballots.places(self.estimate.gold).values())] = False
        return np.flatnonzero(is_estimated)

    @cached_property
    def comparable(self) -> dict[str, frozenset[str]]:
        """The gold sets kept aside that can be compared: somebody voted there, and `fit` was not given them."""
        return {name: self.gold[name] for name in self.places if name not in self.estimate.gold} if self.gold else {}

    @cached_property
    def places(self) -> dict[str, int]:
        """The numbers of the instances with gold kept aside on which somebody voted."""
        return self.estimate.ballots.places(self.gold or ())

    @cached_property
    def held_back(self) -> GoldCheck | None:
        """The estimated sets against the gold sets kept aside; None if there is nothing to compare."""
        if not self.comparable:
            return None
        # in the order of the instances: no mean must depend on the order of a gold file
        places = np.array(sorted(self.places[name] for name in self.comparable))
        found = Comparison.joined(
            compare(part.truths, {name: self.comparable[name] for name in part.truths}, part.ballots)
            for part in self.estimate.parts(places)
        )
        scores, right = scores_of(found), found.zero_one == 1
        bins = calibration(self.confidence[places], right) if self.is_rated else []
        outcomes = dict(zip(places.tolist(), right.tolist(), strict=True))
        return GoldCheck(scores.n_instances, int(right.sum()), scores, tuple(bins), outcomes)

    @cached_property
    def from_ballots_alone(self) -> tuple[Truths, FloatArray] | None:
        """Sets of the gold instances as the ballots alone give them, and their confidence; None if there are none."""
        return self._rated.gold_check() if self.is_rated and self.estimate.gold else None

    @cached_property
    def taught(self) -> GoldCheck | None:
        """What the ballots alone say of the gold sets given to `fit`: optimistic, because these sets taught the rates.

        None without such sets, for rules that know no rates, and where `gold_effect` says it better.
        """
        if self.from_ballots_alone is None or self.gold_effect is not None:
            return None
        found, confidence = self.from_ballots_alone
        right = np.array([found[name] == self.estimate.gold_sets[name] for name in found])
        places = self.estimate.ballots.places(found).values()
        outcomes = dict(zip(places, right.tolist(), strict=True))
        return GoldCheck(len(right), int(right.sum()), None, tuple(calibration(confidence, right)), outcomes)

    @property
    def _rated(self) -> RatedEstimator:
        if not isinstance(self.fitted, RatedEstimator):
            raise InputError(f"{self.method} counts ticks and states no confidence; use EM or AMLE")
        return self.fitted


def weighed_sizes(ballots: AnyBallots, bounds: SizeBounds) -> SizeCheck:
    """`check_sizes` and, where other bounds would allow more ballots, whether these also explain them far better."""
    check = check_sizes(ballots, bounds)
    return replace(check, is_likelier=far_likelier(ballots, bounds, check.shift)) if check.shift else check


def summarize(
    fitted: Estimator, gold: Mapping[str, Iterable[str]] | None = None, *, threshold: float = SURE
) -> Summary:
    """Sum up a fit: sets and confidence, voters and flags, what to review, scores against gold.

    Parameters
    ----------
    fitted
        An estimator after `fit`.
    gold
        True sets that were kept aside, for scoring; instances without ballots and those given to `fit` do not count.
    threshold
        Confidence from which a set is called sure.

    Returns
    -------
    Summary
        Its properties are worked out when first asked for.

    Examples
    --------
    >>> from epivote import EM, reference_crowd
    >>> crowd = reference_crowd(instances=50, voters=20, alternatives=5, upper=2)
    >>> summary = summarize(EM((1, 2)).fit(crowd.ballots), crowd.gold)
    >>> print(f"{summary.n_sure} of {summary.n_sure + summary.n_doubtful} sets are sure")
    13 of 50 sets are sure
    >>> print(f"{summary.held_back.n_right} of {summary.held_back.n_instances} sets are exactly right")
    38 of 50 sets are exactly right
    """
    if not isinstance(fitted, Estimator):
        raise InputError(f"a summary needs a fitted estimator such as EM, not {type(fitted).__name__}")
    check_threshold(threshold)
    aside = gold if gold is None or isinstance(gold, Truths) else Truths.from_mapping(gold)
    return Summary(fitted, fitted.estimate_, aside, threshold)
