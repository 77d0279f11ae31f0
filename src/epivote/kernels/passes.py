"""The pass over a shard as compiled loops over one row after the other.

They give the same sets as `epivote.model.passes.ArrayPass` to the last bit, and the same soft counts up to rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.kernels.arguments import (
    LANES,
    MOST_STATES,
    Allowed,
    BallotColumns,
    Blocks,
    Evidence,
    KeptSets,
    Moves,
    Room,
    has_masks,
    states_per_cell,
    tables,
)
from epivote.model.groups import GroupCounts, group_log_weights, group_pass
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.set_odds import SetOdds
from epivote.model.statistics import GoldRows, PassCounts, groups_of


class HardPassState(NamedTuple):
    """What a hard pass chose and counted at these parameters, for the next one to change."""

    parameters: Parameters | None
    kept: KeptSets
    counts: PassCounts

    def moves_to(self, parameters: Parameters) -> Moves:
        """How far voters and priors have moved since."""
        return Moves(np.zeros((0, 2)), 0.0) if self.parameters is None else Moves(*self.parameters.moves_to(parameters))


class CompiledPass:
    """See `epivote.model.passes.Pass`.

    From one hard pass to the next most sets stay, the more so the nearer the end. Rows of up to 64 alternatives are
    chosen anew only where voters and priors have moved far enough since, and counted anew only where the set changed.
    """

    def __init__(self, shard: Shard, gold: GoldRows | None) -> None:
        self.shard, self.gold = shard, gold
        self.ballots, self.allowed = BallotColumns.of(shard), Allowed.of(shard, gold)
        self._has_masks = has_masks(shard)
        self._state: HardPassState | None = None

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        sets = np.empty(self.shard.shape, bool)
        counts = PassCounts.none(len(parameters.hit_rates), len(parameters.priors))
        if self._has_masks:
            from epivote.kernels.masks import sets_of

            sets_of(self._changed(self._start(counts), parameters).kept.insides, sets)
        else:
            self._hard(parameters, counts, sets)
        return sets

    def hard(self, parameters: Parameters, counts: PassCounts) -> None:
        """See `Pass`."""
        if not self._has_masks:
            self._hard(parameters, counts, np.empty((0, self.shard.width), bool))
        elif len(counts.voters) > len(self.shard.ballot_voter):  # what is kept would be larger than the ballots
            self._changed(self._start(counts), parameters)
        else:
            before, self._state = self._state, None  # taken meanwhile, so that two threads never change it both
            state = self._changed(before or self._start(PassCounts.none(*counts.size)), parameters)
            counts.include(state.counts)
            self._state = state

    def margins(self, parameters: Parameters) -> FloatArray:
        """See `Pass`."""
        from epivote.kernels.table_loops import margin_table

        table = np.empty(self.shard.shape)
        evidence = Evidence.of(parameters.times(self.shard.multiplicities))
        margin_table(*self.ballots, evidence.prior_log_odds, evidence.pushes, np.empty(self.shard.width), table)
        return table

    def set_odds(self, log_odds: FloatArray) -> SetOdds:
        """See `Pass`."""
        return SetOdds(log_odds, self.shard.lower, self.shard.upper, weigh=_weighed)

    def soft(self, parameters: Parameters, counts: PassCounts) -> float:
        """See `Pass`."""
        parameters = parameters.times(self.shard.multiplicities)
        occurrences = counts.occurrences[None, :]
        return self._soft(parameters, parameters.prior_log_odds[None, :], np.zeros(1), counts.voters, occurrences)[0]

    def groups(self, parameters: Parameters, n_voters: int) -> GroupCounts:
        """See `Pass`."""
        if self.shard.offered is not None:  # which no fit does
            return group_pass(self.shard, self.gold, parameters, n_voters)
        counts = PassCounts.none(n_voters, len(parameters.priors))
        occurrences = np.zeros(parameters.group_log_odds.shape)
        log_weights = group_log_weights(self.shard, parameters)[:, 0].copy()
        parameters = parameters.times(self.shard.multiplicities)
        value, sizes = self._soft(parameters, parameters.group_log_odds, log_weights, counts.voters, occurrences)
        counts.occurrences[:] = occurrences.sum(axis=0)
        (bounds,) = groups_of(self.shard, by_menu=False)
        return GroupCounts(counts, occurrences, {bounds: sizes}, value)

    def _soft(
        self,
        parameters: Parameters,
        prior_log_odds: FloatArray,
        log_weights: FloatArray,
        voters: FloatArray,
        occurrences: FloatArray,
    ) -> tuple[float, FloatArray]:
        """Weigh all groups and sets, count voters and occurrences; gives the sum of all logarithms and the sizes.

        Priors and occurrences have a row per group.
        """
        from epivote.kernels.soft_loops import soft_pass

        shard, ballots, groups = self.shard, self.ballots, len(log_weights)
        one_by_one = [] if self.gold is None else [self.gold.rows]
        total, sizes = 0.0, np.zeros(groups)
        if shard.width * states_per_cell(*self.allowed[:2], shard.width) > MOST_STATES:
            one_by_one.append(self.blocks.rows[self.blocks.waiting <= 0])
        else:
            prior_odds = np.exp(prior_log_odds)
            room = Room.of(shard, self.blocks, prior_odds)
            menus = (None, None) if shard.offered is None else (prior_odds[0], occurrences[0])
            total = soft_pass(
                *self.blocks,
                *ballots[1:],
                *(shard.lower, shard.upper, shard.width),
                *(parameters.factors, np.exp(log_weights)),
                *room,
                voters,
                *menus,
            )
            sizes += room.shares[groups + 1 :].sum(axis=1)
            if shard.offered is None:
                occurrences += room.seen.reshape(groups, -1, LANES)[:, : shard.width].sum(axis=2)
            if room.left.any():
                one_by_one.append(self.blocks.rows[room.left])
        left = np.concatenate(one_by_one) if one_by_one else ()
        if len(left):
            from epivote.kernels.log_loops import log_pass

            total += log_pass(
                left,
                *ballots,
                *(prior_log_odds, parameters.pushes),
                *self.allowed,
                *(log_weights, sizes, occurrences, voters),
            )
        return float(total), sizes

    @cached_property
    def blocks(self) -> Blocks:
        """Rows side by side, for soft passes."""
        return Blocks.of(self.shard, self.gold)

    def _start(self, counts: PassCounts) -> HardPassState:
        """No set is chosen yet."""
        rows = self.shard.shape[0]
        return HardPassState(None, KeptSets(np.zeros(rows), np.zeros(rows, np.uint64)), counts)

    def _changed(self, before: HardPassState, parameters: Parameters) -> HardPassState:
        """What is chosen at these parameters, as a change of what was chosen before."""
        from epivote.kernels.hard_loops import hard_change

        parameters = parameters.times(self.shard.multiplicities)
        moves, evidence = before.moves_to(parameters), Evidence.of(parameters)
        width = self.shard.width
        room = np.empty(width), np.empty(width), np.empty(width, np.int64)
        hard_change(*self.ballots, *evidence, *self.allowed, *moves, *before.kept, *before.counts, *room)
        return before._replace(parameters=parameters)

    def _hard(self, parameters: Parameters, counts: PassCounts, sets: BoolArray) -> None:
        from epivote.kernels.hard_loops import hard_pass

        evidence = Evidence.of(parameters.times(self.shard.multiplicities))
        hard_pass(*self.ballots, *evidence, *self.allowed, *counts, sets)


def _weighed(log_odds: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """See `epivote.model.posterior.log_partition_and_inclusion`."""
    width, states = log_odds.shape[1], states_per_cell(lower, upper, log_odds.shape[1])
    if width * states > MOST_STATES:
        return log_partition_and_inclusion(log_odds, lower, upper)
    from epivote.kernels.table_loops import weigh_table

    odds, later, *others = tables(width, width * states, width, width)
    later = later.reshape(width, -1, LANES)
    later[:] = 1.0
    found = np.empty(len(log_odds)), np.empty(log_odds.shape)
    left = np.zeros(len(log_odds), bool)
    weigh_table(np.ascontiguousarray(log_odds), lower, upper, odds, later, *others, *found, left)
    if left.any():
        found[0][left], found[1][left] = log_partition_and_inclusion(log_odds[left], lower, upper)
    return found
