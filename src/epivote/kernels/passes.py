"""The pass over a shard as compiled loops over one row after the other.

They give the same sets as `epivote.model.passes.ArrayPass` to the last bit, and the same soft counts up to rounding.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.kernels.arguments import Allowed, BallotColumns, Evidence, KeptSets, Moves, has_masks
from epivote.model.groups import GroupCounts, group_log_weights, group_pass
from epivote.model.set_odds import SetOdds
from epivote.model.statistics import GoldRows, PassCounts, groups_of

SORTED_BALLOTS = (1 << 16) - 1  # rows with more ballots are sorted as if they had this many: the key has 16 bits


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
        margin_table(*self.ballots, evidence.prior_log_odds, evidence.pushes, table)
        return table

    def set_odds(self, log_odds: FloatArray) -> SetOdds:
        """See `Pass`."""
        return SetOdds(log_odds, self.shard.lower, self.shard.upper, weigh=_weighed)

    def soft(self, parameters: Parameters, counts: PassCounts) -> float:
        """See `Pass`."""
        from epivote.kernels.soft_loops import soft_pass

        parameters = parameters.times(self.shard.multiplicities)
        evidence = Evidence.of(parameters)
        return float(soft_pass(*self.ballots, *evidence, *self.allowed, *counts, parameters.factors, self._order))

    def groups(self, parameters: Parameters, n_voters: int) -> GroupCounts:
        """See `Pass`."""
        if self.shard.offered is not None:  # which no fit does
            return group_pass(self.shard, self.gold, parameters, n_voters)
        from epivote.kernels.group_loops import group_soft_pass

        counts = PassCounts.none(n_voters, len(parameters.priors))
        occurrences, sizes = np.zeros(parameters.group_log_odds.shape), np.zeros(parameters.n_groups)
        weights = group_log_weights(self.shard, parameters)[:, 0].copy()
        parameters = parameters.times(self.shard.multiplicities)
        evidence = Evidence.of(parameters)._replace(prior_log_odds=parameters.group_log_odds)
        value = group_soft_pass(
            *self.ballots,
            *evidence,
            *self.allowed,
            counts.voters,
            occurrences,
            sizes,
            weights,
            parameters.factors,
            self._order,
        )
        counts.occurrences[:] = occurrences.sum(axis=0)
        (bounds,) = groups_of(self.shard, by_menu=False)
        return GroupCounts(counts, occurrences, {bounds: sizes}, float(value))

    @cached_property
    def _order(self) -> IntArray:
        """Rows, those with most ballots first; beyond some number more make no difference."""
        fewer = SORTED_BALLOTS - np.minimum(np.diff(self.shard.ballot_start), SORTED_BALLOTS)
        return np.argsort(fewer.astype(np.uint16), kind="stable")  # numbers so short are sorted in one sweep

    def _start(self, counts: PassCounts) -> HardPassState:
        """No set is chosen yet."""
        rows = self.shard.shape[0]
        return HardPassState(None, KeptSets(np.zeros(rows), np.zeros(rows, np.uint64)), counts)

    def _changed(self, before: HardPassState, parameters: Parameters) -> HardPassState:
        """What is chosen at these parameters, as a change of what was chosen before."""
        from epivote.kernels.hard_loops import hard_change

        parameters = parameters.times(self.shard.multiplicities)
        moves, evidence = before.moves_to(parameters), Evidence.of(parameters)
        hard_change(*self.ballots, *evidence, *self.allowed, *moves, *before.kept, *before.counts)
        return before._replace(parameters=parameters)

    def _hard(self, parameters: Parameters, counts: PassCounts, sets: BoolArray) -> None:
        from epivote.kernels.hard_loops import hard_pass

        evidence = Evidence.of(parameters.times(self.shard.multiplicities))
        hard_pass(*self.ballots, *evidence, *self.allowed, *counts, sets)


def _weighed(log_odds: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """See `epivote.model.posterior.log_partition_and_inclusion`."""
    from epivote.kernels.table_loops import weigh_table

    log_partition, inclusion = np.empty(len(log_odds)), np.empty(log_odds.shape)
    weigh_table(np.ascontiguousarray(log_odds), lower, upper, log_partition, inclusion)
    return log_partition, inclusion
