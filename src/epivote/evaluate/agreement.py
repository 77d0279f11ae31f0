"""How far voters agree beyond chance: Krippendorff's alpha over sets, and over single alternatives.

Alpha is 1 - D_o / D_e. D_o is the expected distance between two ballots on the same instance (take any ballot, then
another one of its instance), D_e that between any two ballots. Ballots that are the only one on their instance do not
count. It is 1 where voters agree entirely, 0 where ballots on one instance are no closer than ballots on different
ones, negative below that, and undefined where all ballots are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots, pairs_in
from epivote.data.ballots import Ballots
from epivote.data.lists import Lists
from epivote.data.names import BoolArray, FloatArray, IntArray, counts_of
from epivote.evaluate.looked_at import looked_at, sampled

MOST_PAIRS = 1_000_000  # pairs of different sets compared, beyond which as many pairs of ballots are drawn; round
PAIRS_PER_CHUNK = 1 << 16  # pairs compared at a time, so that what is in between stays small; a round number


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha of ballots, by several distances; None where it is undefined.

    Attributes
    ----------
    n_instances, n_ballots
        Instances with at least two ballots, and the ballots on them: all others say nothing about agreement.
    nominal
        Two ballots agree if they are equal as sets, and disagree otherwise.
    jaccard
        Their distance is 1 - |A and B| / |A or B|; 0 between two empty ballots.
    masi
        As for Jaccard, but the share is multiplied by 2/3 where one set contains the other and by 1/3 where they only
        overlap (Passonneau 2006).
    approvals
        Every offered alternative of every instance is a unit of its own, ticked or not ticked.
    alternatives
        The same for each alternative by itself, on the instances that offer it.
    drawn_pairs
        None if all pairs of ballots were compared; else how many pairs were drawn to estimate `jaccard` and `masi`.
    sampled
        None if all ballots were looked at; else of how many instances.
    """

    n_instances: int
    n_ballots: int
    nominal: float | None
    jaccard: float | None
    masi: float | None
    approvals: float | None
    alternatives: Mapping[str, float | None]
    drawn_pairs: int | None = None
    sampled: int | None = None

    def in_words(self) -> str:
        """All alphas of sets in a sentence, and how they were found."""
        if self.n_instances == 0:
            return "No instance has two ballots, so agreement among voters cannot be measured."
        found = ", ".join(
            f"{'undefined' if alpha is None else f'{alpha:.2f}'} {what}"
            for alpha, what in (
                (self.nominal, "over whole sets"),
                (self.jaccard, "with Jaccard distance"),
                (self.masi, "with MASI distance"),
                (self.approvals, "over single alternatives"),
            )
        )
        return f"Agreement among voters (Krippendorff's alpha; 1 is perfect, 0 is chance): {found}.{self.caveats}"

    @property
    def caveats(self) -> str:
        """What was estimated from a part of the ballots, a sentence each, with a blank before it; empty if nothing."""
        sentences = []
        if self.sampled is not None:
            sentences.append(f" It is that of a sample of {self.sampled:,} instances.")
        if self.drawn_pairs is not None:
            sentences.append(f" Jaccard and MASI are estimated from {self.drawn_pairs:,} random pairs of ballots.")
        return "".join(sentences)

    def weakest(self, count: int = 3) -> list[tuple[str, float]]:
        """The alternatives on which voters agree least, and their alphas."""
        known = [(name, alpha) for name, alpha in self.alternatives.items() if alpha is not None]
        return sorted(known, key=lambda each: each[1])[:count]


def agreement(ballots: AnyBallots, *, seed: int | np.random.Generator = 0) -> Agreement:
    """Krippendorff's alpha: how far voters agree beyond chance.

    Missing ballots are missing and not a disagreement; an empty ballot is a value like any other. An alternative counts
    only where it was offered. Where menus share few alternatives, ballots on different instances can hardly be equal;
    `nominal`, `jaccard` and `masi` then correct for almost no chance agreement, and `approvals` is the one to look at.

    Parameters
    ----------
    ballots
        What the voters approved; of very many packed ballots about a million are looked at.
    seed
        For the pairs of ballots that are drawn where more than 1,000,000 pairs of different sets would have to be
        compared; the standard error of each expected distance is then below 0.0005.

    Returns
    -------
    Agreement
        One alpha per distance, and one per alternative.

    Examples
    --------
    >>> from epivote import Ballots
    >>> ballots = Ballots.from_mapping({
    ...     ("ann", 1): {"a"}, ("bo", 1): {"a", "b"}, ("cy", 1): {"a"}, ("ann", 2): {"c"}, ("bo", 2): {"c"},
    ... })
    >>> found = agreement(ballots)
    >>> print(f"{found.nominal:.2f} {found.jaccard:.2f} {found.masi:.2f}")
    0.50 0.71 0.64
    """
    seen = looked_at(ballots)
    together = seen.cast_per_instance >= 2
    compared = _compared(seen, together)
    pairs = _pairs(compared, np.random.default_rng(seed)) if len(compared.kind) else None
    per_alternative, pooled = _ticked_or_not(seen, together)
    return Agreement(
        n_instances=len(compared.cast),
        n_ballots=compared.n_ballots,
        nominal=_nominal(compared),
        jaccard=None if pairs is None else _alpha(pairs.within[0], pairs.across[0]),
        masi=None if pairs is None else _alpha(pairs.within[1], pairs.across[1]),
        approvals=pooled,
        alternatives=dict(zip(ballots.alternatives, per_alternative, strict=True)),
        drawn_pairs=MOST_PAIRS if pairs is not None and pairs.is_drawn else None,
        sampled=sampled(ballots, seen),
    )


def _alpha(observed: float, expected: float) -> float | None:
    return float(1 - observed / expected) if expected > 0 else None


# Sets


class _Compared(NamedTuple):
    """Ballots on instances that have at least two: the different sets, which of them each ballot is, and where.

    `times` says how many voters cast each ballot, None if one did; `cast` counts all of them by instance.
    """

    sets: Lists
    kind: IntArray
    instance: IntArray
    cast: IntArray
    times: IntArray | None

    @property
    def n_ballots(self) -> int:
        """How many ballots were cast there."""
        return int(self.cast.sum())

    def totals(self) -> FloatArray:
        """On how many ballots every set occurs."""
        return counts_of(self.kind, self.times).astype(float)

    def kinds_at(self, places: IntArray) -> IntArray:
        """The sets of ballots with these numbers, when everyone who cast one is counted, instance after instance."""
        if self.times is None:
            return self.kind[places]
        return self.kind[np.searchsorted(np.cumsum(self.times), places, side="right")]

    def counted(self) -> tuple[IntArray, IntArray, IntArray]:
        """Which set occurs where, and on how many ballots: instance, kind, count."""
        n_kinds = len(self.sets.start) - 1
        cells, number = np.unique(self.instance * n_kinds + self.kind, return_inverse=True)
        return *np.divmod(cells, n_kinds), counts_of(number, self.times)


class _Pairs(NamedTuple):
    """Mean Jaccard and MASI distances of two ballots on one instance, and of any two ballots."""

    within: FloatArray
    across: FloatArray
    is_drawn: bool


def _compared(ballots: Ballots, together: BoolArray) -> _Compared:
    kept = np.flatnonzero(together[ballots.ballot_instance])
    sets, kind = Lists(ballots.approval_start, ballots.approved).rows(kept).unique(ballots.n_alternatives)
    instance = (np.cumsum(together) - 1)[ballots.ballot_instance[kept]]
    times = None if ballots.ballot_multiplicities is None else ballots.ballot_multiplicities[kept]
    return _Compared(sets, kind, instance, ballots.cast_per_instance[together], times)


def _nominal(compared: _Compared) -> float | None:
    """Alpha of sets that are equal or not: from counts alone."""
    n = compared.n_ballots
    instance, _, count = compared.counted()
    cast = compared.cast[instance]
    totals = compared.totals()
    observed, expected = count * (cast - count) / (cast - 1) / n, totals * (n - totals) / (n * (n - 1))
    return _alpha(float(observed.sum()), float(expected.sum()))


def _pairs(compared: _Compared, rng: np.random.Generator) -> _Pairs:
    """All pairs of different sets, weighted by their counts; where these are too many, pairs of ballots are drawn."""
    sets, cast, n = compared.sets, compared.cast, compared.n_ballots
    instance, number, count = compared.counted()
    there = np.bincount(instance)
    if max(pairs_in(there), pairs_in(np.array([len(sets.lengths())]))) > MOST_PAIRS:
        weights = np.full(MOST_PAIRS, 1 / MOST_PAIRS)
        within = _mean_distances(sets, *_draw_within(compared, rng), weights)
        return _Pairs(within, _mean_distances(sets, *_draw_across(compared, rng), weights), is_drawn=True)
    one, other = _all_pairs(there)
    weights = 2 * count[one] * count[other] / (cast[instance[one]] - 1) / n
    within = _mean_distances(sets, number[one], number[other], weights)
    one, other = _all_pairs(np.array([len(sets.lengths())]))
    totals = compared.totals()
    across = _mean_distances(sets, one, other, 2 * totals[one] * totals[other] / (n * (n - 1)))
    return _Pairs(within, across, is_drawn=False)


def _all_pairs(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs of numbers that lie in the same of consecutive groups of these sizes, the larger number first."""
    numbers = np.arange(int(sizes.sum()))
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    before = numbers - first
    position = np.arange(int(before.sum())) - np.repeat(np.cumsum(before) - before, before)
    return np.repeat(numbers, before), np.repeat(first, before) + position


def _draw_within(compared: _Compared, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The sets of a ballot and of another ballot on its instance, drawn at random."""
    start = np.cumsum(compared.cast) - compared.cast
    one = rng.integers(compared.n_ballots, size=MOST_PAIRS)
    z = np.searchsorted(start, one, side="right") - 1
    other = start[z] + (one - start[z] + rng.integers(1, compared.cast[z])) % compared.cast[z]
    return compared.kinds_at(one), compared.kinds_at(other)


def _draw_across(compared: _Compared, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The sets of two different ballots, drawn at random."""
    n = compared.n_ballots
    one = rng.integers(n, size=MOST_PAIRS)
    return compared.kinds_at(one), compared.kinds_at((one + rng.integers(1, n, size=MOST_PAIRS)) % n)


def _mean_distances(sets: Lists, one: IntArray, other: IntArray, weights: FloatArray) -> FloatArray:
    """Jaccard and MASI distances of pairs of sets, added up with these weights."""
    total = np.zeros(2)
    for begin in range(0, len(one), PAIRS_PER_CHUNK):
        part = slice(begin, begin + PAIRS_PER_CHUNK)
        total += weights[part] @ _distances(sets.rows(one[part]), sets.rows(other[part]))
    return total


def _distances(one: Lists, other: Lists) -> FloatArray:
    """Jaccard and MASI distance of each pair of sets, one row per pair."""
    size, further = one.lengths(), other.lengths()
    common = _in_common(one, other)
    union = size + further - common
    share = np.divide(common, union, out=np.ones(len(size)), where=union > 0)
    factor = np.where(common < np.minimum(size, further), 1 / 3, np.where(size == further, 1, 2 / 3))
    return 1 - np.stack([share, share * factor], axis=1)


def _in_common(one: Lists, other: Lists) -> IntArray:
    """How many values the lists of each pair have in common; every value occurs once in a list."""
    limit = int(max(one.values.max(initial=0), other.values.max(initial=0))) + 1
    number = np.arange(len(one.start) - 1) * limit
    cells = np.sort(np.concatenate([np.repeat(number, each.lengths()) + each.values for each in (one, other)]))
    return np.bincount(cells[1:][cells[1:] == cells[:-1]] // limit, minlength=len(number))


# Single alternatives


def _ticked_or_not(ballots: Ballots, together: BoolArray) -> tuple[list[float | None], float | None]:
    """Alpha of every alternative where it was offered, and of all of them together."""
    width, cast = ballots.n_alternatives, np.where(together, ballots.cast_per_instance, 0)
    seen = np.full(width, cast.sum(), float)
    if ballots.menu is not None:
        seen = np.bincount(ballots.menu.offered, np.repeat(cast, ballots.menu_sizes), width)
    where = np.repeat(ballots.ballot_instance, ballots.ballot_sizes)
    kept = together[where]
    cells, number = np.unique(where[kept] * width + ballots.approved[kept], return_inverse=True)
    times = ballots.tick_multiplicities
    count = counts_of(number, None if times is None else times[kept])
    ballots_there = cast[cells // width]
    apart = np.bincount(cells % width, 2 * count * (ballots_there - count) / (ballots_there - 1), width)
    ticks = np.bincount(cells % width, count, width)
    alone = [_binary(*each) for each in zip(apart.tolist(), ticks.tolist(), seen.tolist(), strict=True)]
    return alone, _binary(float(apart.sum()), float(ticks.sum()), float(seen.sum()))


def _binary(apart: float, ticks: float, seen: float) -> float | None:
    """Alpha of values that are ticked or not."""
    if seen == 0:
        return None
    return _alpha(apart / seen, 2 * ticks * (seen - ticks) / (seen * (seen - 1)))
