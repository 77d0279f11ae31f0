"""The pass over a shard as compiled loops over one row after the other.

They give the same sets as `epivote.model.passes.ArrayPass` to the last bit, and the same soft counts up to rounding.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.kernels.arguments import Arrays, KeptSets, Moves, stands_for_few
from epivote.kernels.library import done, loops, place
from epivote.kernels.masks import sets_of
from epivote.model.groups import GroupCounts, group_log_weights, group_pass
from epivote.model.passes import ArrayPass
from epivote.model.set_odds import SetOdds
from epivote.model.statistics import GoldRows, PassCounts, groups_of


class HardPassState(NamedTuple):
    """What a hard pass chose and counted at these parameters, for the next one to change."""

    parameters: Parameters | None
    kept: KeptSets
    counts: PassCounts

    def moves_to(self, parameters: Parameters) -> Moves:
        """How far voters and priors have moved since."""
        return Moves(None, 0.0) if self.parameters is None else Moves(*self.parameters.moves_to(parameters))


class CompiledPass:
    """See `epivote.model.passes.Pass`.

    From one hard pass to the next most sets stay, the more so the nearer the end. They are chosen anew only where
    voters and priors have moved far enough since, and counted anew only where the set changed, unless keeping sets and
    counts would take more memory than the ballots do.
    """

    def __init__(self, shard: Shard, gold: GoldRows | None) -> None:
        self.shard, self.gold = shard, gold
        self._arrays = Arrays.of(shard, gold)
        self.loop_shard = self._arrays.shard(shard.width, shard.lower, shard.upper)
        self._by_arrays = None if stands_for_few(shard) else ArrayPass(shard, gold)
        self._can_keep_sets = KeptSets.size_of(*shard.shape) <= self._arrays.nbytes
        self._state: HardPassState | None = None

    def sets(self, parameters: Parameters) -> BoolArray:
        """See `Pass`."""
        if self._by_arrays:
            return self._by_arrays.sets(parameters)
        counts = PassCounts.none(len(parameters.hit_rates), len(parameters.priors))
        return sets_of(self._changed(self._start(counts), parameters).kept.sets, self.shard.width)

    def hard(self, parameters: Parameters, counts: PassCounts) -> None:
        """See `Pass`."""
        if self._by_arrays:
            self._by_arrays.hard(parameters, counts)
        elif self._can_keep(counts):
            before, self._state = self._state, None  # taken meanwhile, so that two threads never change it both
            state = self._changed(before or self._start(PassCounts.none(*counts.size)), parameters)
            counts.include(state.counts)
            self._state = state
        else:
            self._changed(self._start(counts), parameters)

    def margins(self, parameters: Parameters) -> FloatArray:
        """See `Pass`."""
        parameters, table = parameters.times(self.shard.multiplicities), np.empty(self.shard.shape)
        evidence = place(parameters.prior_log_odds), place(parameters.pushes)
        done(loops().margin_table(self.loop_shard, *evidence, place(table)))
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
        total, sizes, priors = ctypes.c_double(), np.zeros(len(log_weights)), np.ascontiguousarray(prior_log_odds)
        done(
            loops().soft_pass(
                *(self.loop_shard, place(parameters.factors), place(parameters.pushes), *priors.shape),
                *(place(priors), place(log_weights)),
                *(place(voters), place(occurrences), place(sizes), ctypes.byref(total)),
            )
        )
        return total.value, sizes

    def _can_keep(self, counts: PassCounts) -> bool:
        """Whether neither sets nor counts would take more memory than the ballots."""
        return self._can_keep_sets and len(counts.voters) <= len(self.shard.ballot_voter)

    def _start(self, counts: PassCounts) -> HardPassState:
        """No set is chosen yet."""
        return HardPassState(None, KeptSets.none(*self.shard.shape), counts)

    def _changed(self, before: HardPassState, parameters: Parameters) -> HardPassState:
        """What is chosen at these parameters, as a change of what was chosen before."""
        parameters = parameters.times(self.shard.multiplicities)
        moves, prior_moves = before.moves_to(parameters)
        done(
            loops().hard_change(
                *(self.loop_shard, place(parameters.prior_log_odds), place(parameters.pushes), parameters.largest_push),
                *(place(moves), prior_moves, *map(place, before.kept), *map(place, before.counts)),
            )
        )
        return before._replace(parameters=parameters)


def _weighed(log_odds: FloatArray, lower: int, upper: int) -> tuple[FloatArray, FloatArray]:
    """See `epivote.model.posterior.log_partition_and_inclusion`."""
    log_odds = np.ascontiguousarray(log_odds)
    log_partition, inclusion = np.empty(len(log_odds)), np.empty(log_odds.shape)
    done(loops().weigh_table(place(log_odds), *log_odds.shape, lower, upper, place(log_partition), place(inclusion)))
    return log_partition, inclusion
