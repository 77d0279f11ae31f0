"""The numbers that pictures and the page show; both draw the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, IntArray, counts_of
from epivote.estimate.flags import Flag
from epivote.evaluate.confusion import tick_counts
from epivote.summary import Summary

CONFIDENCE_BINS = 20  # of 5 % each
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


def alternatives_of(estimate: Estimate) -> Alternatives:
    """How often every alternative is right, and how well voters see it."""
    ballots, truths = estimate.ballots, estimate.truths
    offered: IntArray = np.full(ballots.n_alternatives, ballots.n_instances)
    if ballots.menu is not None:
        offered = np.bincount(ballots.menu.offered, minlength=ballots.n_alternatives)
    counts = tick_counts(ballots, truths)
    return Alternatives(
        ballots.alternatives,
        estimate.parameters.priors,
        np.bincount(truths.members, minlength=ballots.n_alternatives),
        offered,
        _share(counts.right_ticked, counts.right_seen),
        _share(counts.wrong_ticked, counts.wrong_seen),
    )


def confidence_counts(confidence: FloatArray) -> IntArray:
    """How many sets have a confidence of 0..5 %, 5..10 %, ...; the upper edge belongs to the next bin."""
    place = np.floor(np.round(confidence * CONFIDENCE_BINS, 9)).astype(np.int64)
    return np.bincount(np.minimum(place, CONFIDENCE_BINS - 1), minlength=CONFIDENCE_BINS)


def size_counts(estimate: Estimate) -> SizeCounts:
    """Ticks per ballot against members per answer."""
    ticks, members, times = estimate.ballots.ballot_sizes, estimate.truths.sizes, estimate.ballots.ballot_multiplicities
    largest = int(max(ticks.max(initial=0), members.max(initial=0)))
    last = min(largest, MOST_SIZES)
    return SizeCounts(
        counts_of(np.minimum(ticks, last), times, last + 1),
        np.bincount(np.minimum(members, last), minlength=last + 1),
        largest > last,
    )


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
