"""The numbers that pictures and the page show; both draw the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.estimate import Estimate
from epivote.data.names import BoolArray, FloatArray, IntArray, counts_of
from epivote.data.truths import Truths
from epivote.estimate.baselines import Majority
from epivote.estimate.explain import Account, explain
from epivote.estimate.flags import Flag, FlagKind
from epivote.estimate.reliability import VoterReport
from epivote.evaluate.intervals import Interval, share_interval
from epivote.report.counts import Counts
from epivote.summary import Summary

CONFIDENCE_BINS = 20  # of 5 % each
BAND_EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999)  # lower ends; confidence piles up near 1, so bands narrow there
TOLERATED = 0.02  # by which a mean confidence may be off before it is called wrong, however many sets; a round number
MOST_SIZES = 16  # bars; larger sets share the last one


@dataclass(frozen=True)
class Voters:
    """One row per voter; a rate nothing was seen of is NaN, and so are all intervals of rules without rates."""

    names: tuple[str, ...]
    ballots: IntArray
    hit_rates: FloatArray
    hit_low: FloatArray
    hit_high: FloatArray
    false_alarm_rates: FloatArray
    false_alarm_low: FloatArray
    false_alarm_high: FloatArray
    weights: FloatArray
    weight_low: FloatArray
    weight_high: FloatArray
    flags: tuple[tuple[Flag, ...], ...]


class SizeCounts(NamedTuple):
    """How many ballots and how many answers have each size 0, 1, ...; the last entry may stand for more."""

    ballots: IntArray
    answers: IntArray
    open_end: bool


@dataclass(frozen=True)
class Alternatives:
    """One row per alternative: prior, share of the sets it could be in, and shares of ticks while right and wrong."""

    names: tuple[str, ...]
    priors: FloatArray
    occurrences: IntArray
    offered: IntArray
    hit_share: FloatArray
    false_alarm_share: FloatArray


class Bands(NamedTuple):
    """How many sets have a confidence from each lower end to the next one, and which bands lie above the threshold."""

    lower: tuple[float, ...]
    counts: IntArray
    sure: tuple[bool, ...]


@dataclass(frozen=True)
class Trust:
    """What a confidence was checked with: what was stated or expected, what was found, and what follows.

    `kind` says how: "gold" kept aside, "left out" gold that calibrated and was left out in turn, "taught" gold that the
    rates were learnt from, two "halves" of the voters, or nothing but the "model". For halves `stated` is the agreement
    expected of voters who err independently. `verdict` is "too high", "too low", "supported" or "unchecked".
    """

    kind: str
    count: int
    stated: float
    found: Interval | None
    verdict: str

    @classmethod
    def against_gold(cls, kind: str, stated: float, right: Interval, count: int) -> Trust:
        """Mean confidence against the share of sets that are exactly right."""
        low, high = min(right.low, right.mean - TOLERATED), max(right.high, right.mean + TOLERATED)
        verdict = "too high" if stated > high else "too low" if stated < low else "supported"
        return cls(kind, count, stated, right, verdict)


class Headline(NamedTuple):
    """Counts of sets; gold sets given to `fit` are kept as given and count apart.

    `n_sure` have at least the threshold as confidence, `expected` should be exactly right. Of the `n_compared` sets
    with gold kept aside `n_right` are exactly right; so are `n_sure_right` of the `n_sure_compared` sure ones.
    """

    n_estimated: int
    n_kept: int
    n_sure: int
    expected: float
    n_compared: int
    n_right: int
    n_sure_compared: int
    n_sure_right: int


class Weighing(NamedTuple):
    """Why an alternative is in a set or not, in log-odds that add up to its margin."""

    alternative: str
    chosen: bool
    approvals: int
    ballots: int
    prior: float
    from_approvals: float
    from_others: float
    calibration: float
    margin: float


class Change(NamedTuple):
    """One instance whose set differs from that of a majority, and the evidence on every alternative that changed."""

    instance: str
    found: tuple[str, ...]
    majority: tuple[str, ...]
    confidence: float
    evidence: tuple[Weighing, ...]


class Flagged(NamedTuple):
    """Voters with a flag: those with a reason for doubt, and those who only have too few ballots to judge."""

    suspicious: tuple[VoterReport, ...]
    too_few: tuple[VoterReport, ...]


def voters_of(summary: Summary) -> Voters:
    """Rates, intervals and flags of every voter."""
    estimate = summary.estimate
    known, ballots = estimate.parameters, estimate.ballots
    seen_right, seen_wrong = estimate.counts.winners_seen > 0, estimate.counts.losers_seen > 0
    intervals = np.full((ballots.n_voters, 3, 2), np.nan)
    for i, each in enumerate(summary.voters):
        intervals[i] = each.hit_rate_interval, each.false_alarm_rate_interval, each.weight_interval
    intervals[~seen_right, 0] = intervals[~seen_wrong, 1] = np.nan
    (hit_low, hit_high), (alarm_low, alarm_high), (weight_low, weight_high) = intervals.transpose(1, 2, 0)
    return Voters(
        names=tuple(each.label for each in summary.voters) or ballots.voters,
        ballots=ballots.ballots_per_voter,
        hit_rates=np.where(seen_right, known.hit_rates, np.nan),
        hit_low=hit_low,
        hit_high=hit_high,
        false_alarm_rates=np.where(seen_wrong, known.false_alarm_rates, np.nan),
        false_alarm_low=alarm_low,
        false_alarm_high=alarm_high,
        weights=known.weights,
        weight_low=weight_low,
        weight_high=weight_high,
        flags=tuple(each.flags for each in summary.voters) or ((),) * ballots.n_voters,
    )


def alternatives_of(estimate: Estimate, counts: Counts) -> Alternatives:
    """How often every alternative is right, and how well voters see it."""
    ticks = counts.ticks
    return Alternatives(
        estimate.ballots.alternatives,
        estimate.parameters.priors,
        counts.members,
        counts.offered,
        _share(ticks.right_ticked, ticks.right_seen),
        _share(ticks.wrong_ticked, ticks.wrong_seen),
    )


def confidence_counts(confidence: FloatArray) -> IntArray:
    """How many sets have a confidence of 0..5 %, 5..10 %, ...; the upper edge belongs to the next bin."""
    place = np.floor(np.round(confidence * CONFIDENCE_BINS, 9)).astype(np.int64)
    return np.bincount(np.minimum(place, CONFIDENCE_BINS - 1), minlength=CONFIDENCE_BINS)


def confidence_bands(confidence: FloatArray, threshold: float) -> Bands:
    """How many sets lie in each band of confidence; the threshold is the lower end of one."""
    lower = sorted({*BAND_EDGES, threshold} - {1.0})
    place = np.searchsorted(lower, confidence, side="right") - 1
    sure = tuple(edge >= threshold for edge in lower)
    return Bands(tuple(lower), np.bincount(place, minlength=len(lower)), sure)


def spread_sample(confidence: FloatArray, places: IntArray, count: int) -> IntArray:
    """Of these instances `count` from the most to the least confident, at equal steps of rank."""
    order = places[np.argsort(-confidence[places], kind="stable")]
    ranks = np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(np.int64)
    return order[ranks]


def flagged_voters(summary: Summary) -> Flagged:
    """Voters with a flag, those with most ballots first; too few ballots alone are no reason for doubt."""
    few = [all(flag.kind is FlagKind.TOO_FEW_BALLOTS for flag in each.flags) for each in summary.flagged]
    pairs = list(zip(summary.flagged, few, strict=True))
    return Flagged(tuple(each for each, is_few in pairs if not is_few), tuple(each for each, is_few in pairs if is_few))


def headline_of(summary: Summary) -> Headline:
    """The counts to say first, which agree with all gold that is known; zeros where no confidence is stated."""
    n_instances, right = summary.estimate.ballots.n_instances, right_of(summary)
    estimated = np.zeros(n_instances, bool)
    estimated[summary.estimated_places] = True
    confidence = summary.confidence if summary.is_rated else np.zeros(n_instances)
    sure = estimated & (confidence >= summary.threshold)
    return Headline(
        int(estimated.sum()),
        n_instances - int(estimated.sum()),
        summary.n_sure if summary.is_rated else 0,
        summary.expected_right if summary.is_rated else 0.0,
        len(right),
        sum(right.values()),
        sum(bool(sure[z]) for z in right),
        sum(bool(sure[z]) for z, is_right in right.items() if is_right),
    )


def trust_of(summary: Summary) -> Trust:
    """The best check of the confidence that there is."""
    if summary.held_back is not None:
        right = right_of(summary)
        stated = float(summary.confidence[list(right)].mean())
        return Trust.against_gold("gold", stated, share_interval(sum(right.values()), len(right)), len(right))
    if summary.gold_effect is not None:
        effect = summary.gold_effect
        return Trust.against_gold("left out", effect.after.confidence, effect.after.exact, effect.n_instances)
    if summary.taught is not None and summary.from_ballots_alone is not None:
        check, stated = summary.taught, float(summary.from_ballots_alone[1].mean())
        return Trust.against_gold("taught", stated, share_interval(check.n_right, check.n_instances), check.n_instances)
    if summary.reproducibility is not None:
        halves = summary.reproducibility
        agreed = Interval(halves.agreement, halves.agreement, halves.agreement)
        verdict = "too high" if halves.is_too_sure else "supported"
        return Trust("halves", halves.n_instances, halves.expected_agreement, agreed, verdict)
    return Trust("model", 0, float(summary.confidence.mean()), None, "unchecked")


def right_of(summary: Summary) -> Mapping[int, bool]:
    """Whether the sets with gold kept aside are exactly right, by the place of the instance, in their order."""
    return {} if summary.held_back is None else summary.held_back.right


def gold_sets(summary: Summary) -> dict[str, frozenset[str]]:
    """All gold sets of instances with ballots: those given to `fit`, and those kept aside."""
    return {**summary.estimate.gold_sets, **summary.comparable}


def majority_of(summary: Summary) -> Estimate:
    """A majority with the same size bounds and the same gold."""
    estimate = summary.estimate
    return Majority(estimate.bounds).fit(estimate.ballots, gold=estimate.gold_sets or None).estimate_


def changes(summary: Summary, majority: Estimate, different: BoolArray, limit: int) -> list[Change]:
    """The instances whose sets differ from those of a majority, the most confident ones first."""
    confidence, places = summary.confidence, np.flatnonzero(different)
    places = places[np.argsort(-confidence[places], kind="stable")][:limit]
    if len(places) == 0:
        return []
    few, other = (each.at(np.sort(places)) for each in (summary.estimate, majority))
    names = summary.estimate.ballots.names_at(places)
    sure = confidence[places].tolist()
    return [_change(few, other.truths, *each) for each in zip(names, sure, strict=True)]


def _change(estimate: Estimate, majority: Truths, name: str, confidence: float) -> Change:
    found, other = estimate.truths.listed(name), majority.listed(name)
    accounts = {each.alternative: each for each in explain(estimate, name).accounts}
    moved = [each for each in (*found, *other) if (each in found) != (each in other)]
    cast = estimate.ballots.select(instances=[name])
    evidence = tuple(_evidence(accounts[each], cast) for each in moved)
    return Change(name, tuple(found), tuple(other), confidence, evidence)


def _evidence(account: Account, cast: Ballots) -> Weighing:
    """What approvals and ballots without them weigh; `cast` are the ballots on the instance."""
    approving = sum(push for voter, push in account.pushes.items() if voter in account.ticked_by)
    others = sum(push for voter, push in account.pushes.items() if voter not in account.ticked_by)
    approvals = counts_of(cast.approved, cast.tick_multiplicities, cast.n_alternatives)
    return Weighing(
        account.alternative,
        account.chosen,
        int(approvals[cast.alternatives.index(account.alternative)]),
        int(cast.total_ballots),
        account.prior,
        approving,
        others,
        account.calibration,
        account.margin,
    )


def size_counts(counts: Counts) -> SizeCounts:
    """Ticks per ballot against members per answer."""
    both = counts.ballot_sizes, counts.set_sizes
    largest = int(np.flatnonzero(both[0] + both[1]).max(initial=0))
    last = min(largest, MOST_SIZES)
    ballots, answers = (np.append(each[:last], each[last:].sum()) for each in both)
    return SizeCounts(ballots, answers, largest > last)


def top_pairs(confused: IntArray, count: int) -> list[tuple[int, int, int]]:
    """The most frequent confusions as (right one, taken for, ballots), most frequent first."""
    flat = confused.ravel()
    best = np.argsort(-flat, kind="stable")[:count]
    right, instead = np.unravel_index(best, confused.shape)
    found = zip(right.tolist(), instead.tolist(), flat[best].tolist(), strict=True)
    return [(k, j, ballots) for k, j, ballots in found if ballots > 0]


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    share: FloatArray = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return share
