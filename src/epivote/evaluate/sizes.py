"""Size bounds and ballots: which bounds the ballots suggest, and whether given ones fit them.

Ballots are not true sets: voters miss alternatives and tick wrong ones, so the size of a ballot may lie outside right
bounds. A suggestion therefore is wide rather than narrow, and a share of ballots outside the bounds is no warning by
itself; that other bounds of the same width would fit far better is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.names import IntArray, counts_of
from epivote.data.numbers import whole_percent
from epivote.evaluate.looked_at import looked_at, sampled

OUTSIDE = 20  # one ballot in so many may be smaller than the suggested sizes, and as many larger; a round number
FAR_BETTER = (
    2  # times as many ballots that other bounds of the same width fit, from which bounds are doubtful; measured
)


@dataclass(frozen=True)
class SizeSuggestion:
    """Size bounds that the ballots suggest, to be checked against what the task allows.

    Attributes
    ----------
    lower, upper
        The suggested bounds.
    least, most
        The middle 90 % of the ballots have `least` to `most` ticks.
    """

    lower: int
    upper: int
    least: int
    most: int

    @property
    def bounds(self) -> SizeBounds:
        """The suggested bounds, as estimators take them."""
        return SizeBounds(self.lower, self.upper)

    @property
    def reason(self) -> str:
        """How they were found."""
        ticks = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        words = f"the middle 90 % of the ballots have {ticks} tick{'' if ticks == '1' else 's'}"
        if self.lower > self.least:
            words += ", and few instances have mostly empty ballots"
        return words


def suggest_size(ballots: AnyBallots) -> SizeSuggestion:
    """Size bounds that the ballots suggest.

    They are the sizes of the middle 90 % of the ballots: fewer than one ballot in twenty is smaller, and at most one in
    twenty is larger. A lower bound of 0 is suggested only if at least half of the ballots are empty on at least one
    instance in twenty; single empty ballots are more likely misses. Ballots contain misses and false alarms, so this is
    where to start, not an estimate: on tasks with many alternatives or careless voters the true sets may be smaller
    than almost every ballot, and only what the task allows can tell.

    Parameters
    ----------
    ballots
        What the voters approved; of very many packed ballots about a million are looked at.

    Returns
    -------
    SizeSuggestion
        The bounds, and how they were found.

    Examples
    --------
    >>> from epivote import reference_crowd
    >>> found = suggest_size(reference_crowd(instances=500, voters=50, alternatives=5, upper=2).ballots)
    >>> print(found.bounds, "because", found.reason)
    1..3 because the middle 90 % of the ballots have 0 to 3 ticks, and few instances have mostly empty ballots
    """
    seen = looked_at(ballots)
    times, is_empty = seen.ballot_multiplicities, seen.ballot_sizes == 0
    up_to = OUTSIDE * np.cumsum(seen.size_counts)
    least = int(np.argmax(up_to >= seen.total_ballots))
    most = int(np.argmax(up_to >= (OUTSIDE - 1) * seen.total_ballots))
    empty = counts_of(seen.ballot_instance[is_empty], None if times is None else times[is_empty], seen.n_instances)
    answered = seen.ballots_per_instance > 0
    mostly_empty = int(np.sum(2 * empty[answered] >= seen.cast_per_instance[answered]))
    lower = 1 if least == 0 < most and OUTSIDE * mostly_empty < answered.sum() else least
    return SizeSuggestion(min(lower, int(seen.menu_sizes.min())), most, least, most)


@dataclass(frozen=True)
class SizeCheck:
    """How ballots fit size bounds, and other bounds of the same width.

    Attributes
    ----------
    bounds
        The bounds that were checked.
    n_ballots, n_inside
        How many ballots there are, and how many of them have a size that the bounds allow.
    shift
        By how much all bounds would have to be raised (negative: lowered) to allow the most ballots.
    n_inside_shifted
        How many ballots bounds raised so would allow.
    sampled
        None if all ballots were looked at; else of how many instances.
    is_likelier
        Whether bounds shifted so also explain the ballots far better under the model; None if that was not asked.
    """

    bounds: SizeBounds
    n_ballots: int
    n_inside: int
    shift: int
    n_inside_shifted: int
    sampled: int | None = None
    is_likelier: bool | None = None

    @property
    def outside(self) -> float:
        """Share of the ballots whose size the bounds forbid."""
        return 1 - self.n_inside / self.n_ballots

    @property
    def is_doubtful(self) -> bool:
        """Whether other bounds of the same width would allow more than twice as many ballots or, if that was asked,
        explain them far better; larger ones must do both.
        """
        far_better = self.n_inside_shifted > FAR_BETTER * self.n_inside
        if self.is_likelier is None:
            return far_better
        return far_better or self.is_likelier if self.shift < 0 else far_better and self.is_likelier

    @property
    def warning(self) -> str | None:
        """One sentence on bounds that are doubtful; None for others."""
        if not self.is_doubtful:
            return None
        sample = "" if self.sampled is None else f", in a sample of {self.sampled:,} instances,"
        allowed = whole_percent(self.n_inside_shifted / self.n_ballots)
        return (
            f"{whole_percent(self.outside)} of the ballots{sample} have a size that the size bounds {self.bounds} "
            f"forbid, while {self._shifted()} would allow {allowed} of them; check the size bounds"
        )

    def _shifted(self) -> str:
        if self.bounds.per_instance:
            return f"bounds {'larger' if self.shift > 0 else 'smaller'} by {abs(self.shift)}"
        lower, upper = max(self.bounds.lower + self.shift, 0), self.bounds.upper
        return f"bounds of {SizeBounds(lower, None if upper is None else upper + self.shift)}"


def check_sizes(ballots: AnyBallots, bounds: BoundsLike) -> SizeCheck:
    """Check size bounds against the sizes of the ballots.

    Even with right bounds many ballots may lie outside, because voters miss alternatives and tick wrong ones. But
    these mistakes rarely make other bounds of the same width fit more than twice as many ballots; where they do, the
    bounds are called doubtful and `warning` says so.

    Parameters
    ----------
    ballots
        What the voters approved; of very many packed ballots about a million are looked at.
    bounds
        The size bounds to check.

    Returns
    -------
    SizeCheck
        The share of ballots outside, what other bounds would give, and a warning if these are far better.

    Examples
    --------
    >>> from epivote import simulate
    >>> crowd = simulate(instances=100, voters=10, alternatives=8, bounds=1, false_alarm_rates=0.02)
    >>> print(check_sizes(crowd.ballots, 1).warning)
    None
    >>> found = check_sizes(crowd.ballots, 3)
    >>> print(f"{found.n_inside} of {found.n_ballots} inside; {found.n_inside_shifted} if shifted by {found.shift}")
    2 of 1000 inside; 562 if shifted by -2
    """
    bounds, seen = SizeBounds.of(bounds), looked_at(ballots)
    lower, upper = bounds.resolve(seen)
    widest = seen.n_alternatives
    changes = _by_distance(seen, upper) - _by_distance(seen, lower - 1)
    inside = np.cumsum(changes)  # how many ballots are inside, by the shift of all bounds plus `widest`
    best = min(np.flatnonzero(inside == inside.max()).tolist(), key=lambda place: abs(place - widest))
    counts = seen.total_ballots, int(inside[widest]), best - widest, int(inside[best])
    return SizeCheck(bounds, *counts, sampled(ballots, seen))


def _by_distance(ballots: Ballots, bounds: IntArray) -> IntArray:
    """How many ballots are larger than the bound of their instance by -m, ..., m + 1."""
    widest = ballots.n_alternatives
    if np.all(bounds == bounds[0]):  # as nearly always: no ballot has to be looked at
        counts: IntArray = np.zeros(2 * widest + 2, np.int64)
        counts[widest - bounds[0] :][: widest + 1] = ballots.size_counts
        return counts
    distance = ballots.ballot_sizes - np.repeat(bounds, ballots.ballots_per_instance) + widest
    return counts_of(distance, ballots.ballot_multiplicities, 2 * widest + 2)
