"""Rules that count approvals and know no rates.

Their voters' rates are shares of ticks on the returned sets, for comparison; they state no confidence.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial, reduce
from operator import add
from typing import Any, Literal, get_args

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Estimate, VoterCounts
from epivote.data.names import BoolArray, FloatArray, IntArray, counts_of
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.data.truths import Truths
from epivote.engines.gold import Gold
from epivote.errors import InputError
from epivote.estimate.base import Estimator
from epivote.estimate.history import History, refuse_history
from epivote.estimate.outcome import voter_counts
from epivote.estimate.workload import InMemoryWorkload, Workload, workload
from epivote.model.choose import choose
from epivote.model.voters import voter_step

LEAST_RELIABLE = 1e-3  # keeps the weight of a ballot with one tick finite; as in the authors' program
FLOOR = 1e-4  # smallest rate, as for the other estimators: no voter is ever certain


BallotWeights = Literal["equal", "jaccard", "dice", "euclid", "condorcet"]


class Baseline(Estimator):
    """A rule applied to every instance by itself."""

    def __init__(self, bounds: BoundsLike | None = None) -> None:
        self.bounds = bounds

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        bounds = SizeBounds(0, None) if self.bounds is None else SizeBounds.of(self.bounds)
        refuse_history(self, history)
        work = workload(ballots, bounds, gold)
        statistics = reduce(add, (part.statistics(self._sets(part)) for part in work.parts()))
        unknown = Parameters.alike(ballots.n_voters, 0.5, 0.5, np.full(ballots.n_alternatives, 0.5))
        priors = np.divide(
            statistics.occurrences, statistics.offered, out=unknown.priors.copy(), where=statistics.offered > 0
        )
        parameters = Parameters(*voter_step(statistics, unknown, FLOOR), np.clip(priors, FLOOR, 1 - FLOOR))
        return self._outcome(work, parameters, voter_counts(statistics))

    def _outcome(self, work: Workload, parameters: Parameters, counts: VoterCounts) -> Estimate:
        return Estimate(
            work.ballots,
            work.bounds,
            parameters,
            counts,
            (),
            "converged",
            frozenset(work.gold),
            partial(self._truths, work),
            compute_part=partial(self._part, work, parameters, counts) if work.has_parts else None,
        )

    def _part(self, work: Workload, parameters: Parameters, counts: VoterCounts, ballots: Ballots) -> Estimate:
        return self._outcome(work.part(ballots), parameters, counts)

    def _truths(self, work: Workload) -> Truths:
        return Truths.joined(part.truths(self._sets(part)) for part in work.parts())

    def _sets(self, work: InMemoryWorkload) -> list[BoolArray]:
        return work.with_gold([self._rule(shard) for shard in work.shards])

    def predict(self, ballots: AnyBallots | Any) -> Truths:
        """The rule applied to other ballots; it learns nothing, so this needs no `fit`."""
        return self._run(self._as_ballots(ballots), None, None).truths

    @abstractmethod
    def _rule(self, shard: Shard) -> BoolArray:
        """Membership in the returned sets."""


class Majority(Baseline):
    """Every alternative ticked on more than half of the instance's ballots.

    Without bounds this is the plain rule, which may return empty sets. With bounds it is the paper's variant: too small
    a set is filled up with, too large a one cut down to, the alternatives with most ticks (earlier listed ones first).
    """

    def _rule(self, shard: Shard) -> BoolArray:
        return choose(_majority_margins(shard), shard.lower, shard.upper)


class Approval(Baseline):
    """The alternatives with most ticks, as many as the mean ballot on the instance has, within the bounds.

    With bounds (k, k) this is the classical k-winner approval rule. Equal counts: earlier listed ones first.

    With `weights` other than "equal", a tick on a smaller ballot counts more. The weights are those of Allouche, Lang
    and Yger, "Truth-tracking via approval voting: size matters" (AAAI 2022), each the maximum-likelihood rule for one
    right alternative under a noise model of theirs. A ballot with k of m alternatives weighs

    - "equal": 1;
    - "jaccard": 1 / k, so that every voter has one vote to share out;
    - "dice": 2 / (k + 1);
    - "euclid": sqrt(k + 1) - sqrt(k - 1);
    - "condorcet": ln(p / (1 - p)) with p = (m - 1 - k) / (m - 2), kept within 0.001 and 0.999: the p at which a voter
      who ticks the right alternative with probability p, and each wrong one with 1 - p, ticks k on average. Ballots
      with more than half of the alternatives speak against what they tick; with one or two alternatives all weigh 1.

    Parameters
    ----------
    bounds
        Size bounds; without them any size is allowed.
    weights
        How much a ballot counts by its size.

    Examples
    --------
    >>> from epivote import Ballots
    >>> ballots = Ballots.from_mapping({
    ...     ("ann", "q"): {"a"}, ("bo", "q"): {"b", "c"}, ("cy", "q"): {"b", "c", "d"},
    ... })
    >>> Approval(1).fit_predict(ballots)
    Truths(q: {b})
    >>> Approval(1, weights="jaccard").fit_predict(ballots)
    Truths(q: {a})
    """

    def __init__(self, bounds: BoundsLike | None = None, weights: BallotWeights = "equal") -> None:
        super().__init__(bounds)
        self.weights = weights

    def _run(self, ballots: AnyBallots, gold: Gold | None, history: History | None) -> Estimate:
        if self.weights not in get_args(BallotWeights):
            raise InputError(f"weights={self.weights!r} is not one of {', '.join(map(repr, get_args(BallotWeights)))}")
        return super()._run(ballots, gold, history)

    def _rule(self, shard: Shard) -> BoolArray:
        counts = _counts(shard)
        ballots = np.maximum(_ballots(shard), 1)
        size = np.clip(np.floor(counts.sum(axis=1) / ballots + 0.5), shard.lower, shard.upper)
        scores = counts if self.weights == "equal" else _weighted_counts(shard, self.weights)
        rank: IntArray = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
        taken: BoolArray = rank < size[:, None]
        return taken


class Modal(Baseline):
    """The ballot cast most often on the instance.

    With bounds only ballots of an allowed size compete; where there is none, `Majority` within the bounds decides.
    Among equally frequent ballots the one whose alternatives have more ticks on average wins, then the smaller, then
    the one whose alternatives are listed first.
    """

    def _rule(self, shard: Shard) -> BoolArray:
        chosen = choose(_majority_margins(shard), shard.lower, shard.upper)
        ticked = np.zeros((len(shard.ballot_row), shard.width), bool)
        ticked[_ballot_of_tick(shard), shard.approval_cell % shard.width] = True
        sizes = ticked.sum(axis=1)
        allowed = (sizes >= shard.lower) & (sizes <= shard.upper)
        if allowed.any():
            times = None if shard.ballot_times is None else shard.ballot_times[allowed]
            rows, sets = _most_frequent(shard.ballot_row[allowed], ticked[allowed], times, _counts(shard))
            chosen[rows] = sets
        return chosen


def _most_frequent(
    row: IntArray, ticked: BoolArray, cast: IntArray | None, counts: FloatArray
) -> tuple[IntArray, BoolArray]:
    """The winning ballot of every row that has one."""
    kinds = np.column_stack([row.astype(">u8").view(np.uint8).reshape(len(row), 8), np.packbits(ticked, axis=1)])
    _, first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    times = counts_of(kind.ravel(), cast)
    rows, sets = row[first], ticked[first]
    sizes = sets.sum(axis=1)
    support = (sets * counts[rows]).sum(axis=1) / np.maximum(sizes, 1)
    listed_first = np.arange(len(first))  # unique sorts False before True, so later means listed earlier
    order = np.lexsort((listed_first, -sizes, support, times, rows))
    best = order[np.append(np.diff(rows[order]) > 0, True)]
    return rows[best], sets[best]


def _counts(shard: Shard) -> FloatArray:
    return shard.approvals().astype(float)


def _weighted_counts(shard: Shard, kind: BallotWeights) -> FloatArray:
    """The weights of the ballots that tick each alternative, added up; rounded, so that no order of voters matters."""
    sizes = shard.ticks.lengths()
    weights = _size_weights(np.maximum(sizes, 1), shard.width, kind)
    weights = np.repeat(weights if shard.ballot_times is None else weights * shard.ballot_times, sizes)
    scores = np.bincount(shard.approval_cell, weights, len(shard.instances) * shard.width).astype(float)
    return np.round(scores, 9).reshape(shard.shape)


def _size_weights(ticks: IntArray, offered: int, kind: BallotWeights) -> FloatArray:
    """What ballots weigh by their numbers of ticks, each at least 1."""
    weights = np.ones(len(ticks))
    if kind == "jaccard":
        weights = 1 / ticks
    elif kind == "dice":
        weights = 2 / (ticks + 1)
    elif kind == "euclid":
        weights = np.sqrt(ticks + 1) - np.sqrt(ticks - 1)
    elif kind == "condorcet" and offered > 2:
        reliability = np.clip((offered - 1 - ticks) / (offered - 2), LEAST_RELIABLE, 1 - LEAST_RELIABLE)
        weights = np.log(reliability / (1 - reliability))
    return weights


def _ballots(shard: Shard) -> FloatArray:
    return shard.cast().astype(float)


def _majority_margins(shard: Shard) -> FloatArray:
    """Ticks beyond half of the ballots; a quarter less, so that exactly half is not a majority."""
    return _counts(shard) - _ballots(shard)[:, None] / 2 - 0.25


def _ballot_of_tick(shard: Shard) -> IntArray:
    """The ballot of every tick: ticks follow their ballots, and (row, voter) tells ballots apart."""
    voters = int(shard.ballot_voter.max(initial=0)) + 1
    ballot = shard.ballot_row * voters + shard.ballot_voter
    tick = shard.approval_cell // shard.width * voters + shard.approval_voter
    return np.searchsorted(ballot, tick)
