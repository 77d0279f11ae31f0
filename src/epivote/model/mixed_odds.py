"""What is known about sets where instances fall into groups, each with log-odds of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.model.choose import TIE_DECIMALS, choose
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.probable_sets import WeightedSet, best_sets, draw_set_per_row, draw_sets
from epivote.model.set_odds import ALL, LikelyGroup, SetOdds
from epivote.model.top_sets import MAX_SETS, top_sets
from epivote.model.utilities import Utility, best_of_mixture

BITS_PER_WORD = 62  # members that one 64-bit number keeps in their order
MOST_LISTED = 256  # sets of a group that are looked at to be sure that none is more probable; a round number


@dataclass(frozen=True)
class MixedSetOdds(SetOdds):
    """P(S and group k) is proportional to exp(log_weights[k] + sum of log_odds[k] in S).

    `log_odds` has a table for every group, `log_weights` a row; both have the instances in the same order. Further
    evidence about an instance adds to the log-odds of all groups alike.
    """

    log_weights: FloatArray

    def best(self) -> BoolArray:
        """See `SetOdds`."""
        return self.top(1)[0][:, 0]

    def tied(self, sets: BoolArray) -> BoolArray:  # noqa: ARG002
        """See `SetOdds`."""
        _, chances = self.top(2)
        with np.errstate(divide="ignore"):
            logs = np.round(np.log(chances), TIE_DECIMALS)
        rivals: BoolArray = logs[:, 0] == logs[:, -1] if chances.shape[1] > 1 else np.zeros(len(chances), bool)
        return rivals

    def decide(self, utility: Utility) -> BoolArray:
        """See `SetOdds`."""
        if utility == "exact":
            return self.best()
        if utility == "hamming":
            return choose(self.inclusion - 0.5, self.lower, self.upper)
        rows = zip(self.group_probabilities, self.log_odds.swapaxes(0, 1), strict=True)
        found = [best_of_mixture(weights, margins, self.lower, self.upper, utility) for weights, margins in rows]
        return np.array(found, bool).reshape(self.log_odds.shape[1:])

    @cached_property
    def inclusion(self) -> FloatArray:
        """See `SetOdds`."""
        return mixed(self.group_probabilities, self._by_group[1])

    @cached_property
    def group_probabilities(self) -> FloatArray:
        """The probability of every group in every row: a table of rows and groups."""
        return np.exp(self._log_group_probabilities).T

    def probabilities(self, sets: BoolArray) -> FloatArray:
        """See `SetOdds`."""
        return np.exp(self._log_probabilities(sets[:, None, :])[:, 0])

    def best_sets(self, row: int, count: int) -> list[WeightedSet]:
        """See `SetOdds`."""
        members, chances = self._rows([row])._searched(count)
        found = zip(chances.tolist(), members, strict=True)
        return [(chance, tuple(int(c) for c in np.flatnonzero(inside))) for chance, inside in found]

    def top(self, count: int, rows: IntArray | slice = ALL) -> tuple[BoolArray, FloatArray]:
        """See `SetOdds`; the first is the most probable set of all, the others are so among the best of every group.

        A set that is on no group's list of its best can be no more probable than the last ones of all lists together.
        Where that leaves room for another first one, longer lists are made.
        """
        here = self._rows(rows)
        listed = [top_sets(table, self.lower, self.upper, MAX_SETS) for table in here.log_odds]
        candidates = np.concatenate([members for members, _ in listed], axis=1)
        members, chances = here._ranked(candidates, min(count, listed[0][0].shape[1]))
        if listed[0][0].shape[1] == MAX_SETS:
            unlisted = sum(
                share * last[:, -1] for share, (_, last) in zip(here.group_probabilities.T, listed, strict=True)
            )
            for row in np.flatnonzero(chances[:, 0] < unlisted):
                found = here._rows([int(row)])._searched(count)
                members[row], chances[row] = found[0], found[1]
        return members, chances

    def likely_group(self, row: int) -> LikelyGroup:
        """See `SetOdds`."""
        number = int(np.argmax(self.group_probabilities[row]))
        odds = SetOdds(self.log_odds[number, [row]], self.lower, self.upper)
        return LikelyGroup(number, float(self.group_probabilities[row, number]), odds)

    def draw(self, row: int, count: int, rng: np.random.Generator) -> BoolArray:
        """See `SetOdds`."""
        shares = self.group_probabilities[row]
        groups = rng.choice(len(shares), size=count, p=shares / shares.sum())
        sets = np.empty((count, self.log_odds.shape[2]), bool)
        for group, log_odds in enumerate(self.log_odds[:, row]):
            places = np.flatnonzero(groups == group)
            sets[places] = draw_sets(log_odds, self.lower, self.upper, len(places), rng)
        return sets

    def draw_each(self, rng: np.random.Generator) -> BoolArray:
        """See `SetOdds`."""
        drawn: FloatArray = rng.random((self.log_odds.shape[1], 1))
        passed = drawn > np.cumsum(self.group_probabilities, axis=1)[:, :-1]
        return draw_set_per_row(self._in_groups(passed.sum(axis=1)), self.lower, self.upper, rng)

    def in_likely_groups(self) -> FloatArray:
        """The log-odds of every row in its most probable group."""
        return self._in_groups(np.argmax(self.group_probabilities, axis=1))

    def _in_groups(self, groups: IntArray) -> FloatArray:
        return self.log_odds[groups, np.arange(len(groups))]

    def with_evidence(self, row: int, log_odds: FloatArray) -> MixedSetOdds:
        """See `SetOdds`."""
        after = self.log_odds[:, [row]] + log_odds
        return MixedSetOdds(after, self.lower, self.upper, np.repeat(self.log_weights[:, [row]], len(log_odds), axis=1))

    def _rows(self, rows: IntArray | Sequence[int] | slice) -> MixedSetOdds:
        return MixedSetOdds(self.log_odds[:, rows], self.lower, self.upper, self.log_weights[:, rows])

    @cached_property
    def _by_group(self) -> tuple[FloatArray, FloatArray]:
        found = [log_partition_and_inclusion(table, self.lower, self.upper) for table in self.log_odds]
        return np.stack([partition for partition, _ in found]), np.stack([inside for _, inside in found])

    @cached_property
    def _log_group_probabilities(self) -> FloatArray:
        joint = self.log_weights + self._by_group[0]
        log_shares: FloatArray = joint - np.logaddexp.reduce(joint)
        return log_shares

    def _log_probabilities(self, sets: BoolArray) -> FloatArray:
        """Of several sets in every row."""
        by_group = [
            np.where(sets, table[:, None, :], 0.0).sum(axis=2) + (share - partition)[:, None]
            for table, share, partition in zip(
                self.log_odds, self._log_group_probabilities, self._by_group[0], strict=True
            )
        ]
        total: FloatArray = np.minimum(np.logaddexp.reduce(by_group), 0.0)
        return total

    def _ranked(self, candidates: BoolArray, count: int) -> tuple[BoolArray, FloatArray]:
        """The most probable candidates of every row, each once; of equally probable ones, in the order of `choose`."""
        values = self._log_probabilities(candidates)
        words = _words(candidates)
        order = np.lexsort((*(-word for word in words[::-1]), -candidates.sum(axis=2), -np.round(values, TIE_DECIMALS)))
        again = np.zeros(values.shape, bool)
        ordered = [np.take_along_axis(word, order, axis=1) for word in words]
        again[:, 1:] = np.all([word[:, 1:] == word[:, :-1] for word in ordered], axis=0)
        first = np.take_along_axis(order, np.argsort(again, axis=1, kind="stable")[:, :count], axis=1)
        chances = np.exp(np.take_along_axis(values, first, axis=1))
        return np.take_along_axis(candidates, first[:, :, None], axis=1), chances

    def _searched(self, count: int) -> tuple[BoolArray, FloatArray]:
        """The most probable sets of the only row, from lists of every group that grow until the first is certain."""
        length = max(count, MAX_SETS)
        while True:
            listed = [best_sets(table[0], self.lower, self.upper, length) for table in self.log_odds]
            sets = {members for each in listed for _, members in each}
            candidates = np.zeros((1, len(sets), self.log_odds.shape[2]), bool)
            for place, each in enumerate(sorted(sets)):
                candidates[0, place, list(each)] = True
            members, chances = self._ranked(candidates, count)
            shares = zip(self.group_probabilities[0], listed, strict=True)
            unlisted = sum(share * each[-1][0] for share, each in shares if len(each) == length)
            if chances[0, 0] >= unlisted or length >= MOST_LISTED:
                return members[0], chances[0]
            length *= 4


def mixed(group_probabilities: FloatArray, inclusion: FloatArray) -> FloatArray:
    """Inclusion in every row, whatever its group."""
    total: FloatArray = np.einsum("rk,krc->rc", group_probabilities, inclusion)
    return np.minimum(total, 1.0)


def _words(sets: BoolArray) -> list[IntArray]:
    """Sets as numbers, larger for those with earlier members; as many numbers as they need."""
    width = sets.shape[2]
    words = []
    for begin in range(0, max(width, 1), BITS_PER_WORD):
        part = sets[:, :, begin : begin + BITS_PER_WORD]
        words.append(part @ (1 << np.arange(BITS_PER_WORD - part.shape[2], BITS_PER_WORD, dtype=np.int64))[::-1])
    return words
