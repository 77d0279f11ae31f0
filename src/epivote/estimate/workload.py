"""Ballots under size bounds, ready for iteration: the steps of the model over all shards, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.estimate import Posterior
from epivote.data.names import BoolArray, FloatArray, sealed
from epivote.data.parameters import Parameters
from epivote.data.shards import make_shards
from epivote.data.truths import Truths
from epivote.engines.cells import cell_starts, put_cells, tables_of, truths_of
from epivote.engines.engine import Engine
from epivote.engines.gold import Gold, gold_by_block, gold_rows
from epivote.engines.local import LocalEngine
from epivote.engines.memory import memory_engine
from epivote.engines.where import block_engine
from epivote.model.calibrated import calibrated, mixed_odds
from epivote.model.groups import GroupCounts, group_chances
from epivote.model.passes import Pass, weigh
from epivote.model.set_odds import SetOdds
from epivote.model.statistics import FixedCounts, PassCounts, Statistics, fixed_counts, tally

SetTables = Sequence[BoolArray]
"""Membership in the sets: one table of cells per shard."""


def workload(ballots: AnyBallots, bounds: SizeBounds, gold: Gold | None) -> Workload:
    """What a fit iterates over."""
    if ballots.is_in_memory:
        return InMemoryWorkload(ballots.in_memory(), bounds, gold)
    return Workload(ballots, bounds, gold)


class LastHardStep(NamedTuple):
    """What the last most likely sets said."""

    fixed: FixedCounts
    counts: PassCounts
    statistics: Statistics


class BestSets(NamedTuple):
    """The most probable sets, and what they follow from."""

    parameters: Parameters
    calibration: Calibration | None
    tables: list[BoolArray]


class Workload:
    """Whole iterations over all blocks, on this machine or on a cluster; gold sets stay as given through every step."""

    has_parts = True
    _last_hard: LastHardStep | None = None
    _last_best: BestSets | None = None

    def __init__(self, ballots: AnyBallots, bounds: SizeBounds, gold: Gold | None = None) -> None:
        self.ballots = ballots
        self.bounds = bounds
        self._gold_by_block = gold_by_block(ballots, gold)
        self.gold = {name: names for part in self._gold_by_block for name, names in part.items()}

    @cached_property
    def engine(self) -> Engine:
        """What works through the shards."""
        return block_engine(self.ballots, self.bounds, self._gold_by_block)

    def parts(self) -> Iterator[InMemoryWorkload]:
        """The same in parts that fit in memory, one after the other: a block each."""
        return map(self.part, self.ballots.parts())

    def part(self, ballots: Ballots) -> InMemoryWorkload:
        """The same for ballots on some of the instances."""
        gold = {name: self.gold[name] for name in ballots.instances if name in self.gold} if self.gold else None
        return InMemoryWorkload(ballots, self.bounds, gold)

    def __getstate__(self) -> dict[str, Any]:
        """All but the engine, whose threads stay where they are, and what it last found, which are made again."""
        remade = ("engine", "_last_hard", "_last_best")
        return {name: value for name, value in self.__dict__.items() if name not in remade}

    def hard_step(self, parameters: Parameters, *, by_menu: bool = False) -> Statistics:
        """What the most likely set of every instance says about voters and alternatives.

        The same object as the time before if nothing was counted that differs, which can be told by `is`.
        """
        fixed, counts = self.engine.fixed_counts(by_menu=by_menu), self.engine.hard_sums(parameters)
        last = self._last_hard
        if last is None or last.fixed is not fixed or not last.counts.equal(counts):
            last = self._last_hard = LastHardStep(fixed, counts, fixed.with_counts(counts))
        return last.statistics

    def soft_step(self, parameters: Parameters, *, by_menu: bool = False) -> tuple[Statistics, float]:
        """What the probabilities of all sets say about voters and alternatives, and the sum of all log-partitions."""
        counted, log_partition = self.engine.soft_sums(parameters)
        return self.engine.fixed_counts(by_menu=by_menu).with_counts(counted), log_partition

    def group_step(self, parameters: Parameters) -> tuple[Statistics, GroupCounts]:
        """What the probabilities of all sets and groups say about voters and alternatives, and about each group."""
        found = self.engine.group_sums(parameters)
        return self.engine.fixed_counts(by_menu=False).with_counts(found.counts), found


class InMemoryWorkload(Workload):
    """The same with all shards in memory, so that the sets themselves can be had, shard by shard."""

    ballots: Ballots
    has_parts = False

    def __init__(
        self, ballots: Ballots, bounds: SizeBounds, gold: Gold | None = None, cells_per_shard: int | None = None
    ) -> None:
        self.shards = make_shards(ballots.columns(), *bounds.resolve(ballots), cells_per_shard)
        super().__init__(ballots, bounds, gold)
        self._gold_rows = gold_rows(self.gold, ballots, self.shards)

    @cached_property
    def engine(self) -> LocalEngine:
        """What works through the shards."""
        ballots = self.ballots
        return memory_engine(self.shards, self._gold_rows, ballots.n_voters, ballots.n_alternatives)

    def parts(self) -> Iterator[InMemoryWorkload]:
        """Itself, in one part."""
        yield self

    # The steps one by one

    def margins(self, parameters: Parameters) -> list[FloatArray]:
        """Log-odds of every cell, shard by shard; those in the most probable group of each instance."""
        if parameters.n_groups:
            return [mixed_odds(shard, parameters).in_likely_groups() for shard in self.shards]
        return self.engine.each(lambda _, one: one.margins(parameters))

    def truth_step(self, parameters: Parameters) -> list[BoolArray]:
        """The most likely set of every instance (Theorem 1)."""
        return [one.sets(parameters) for source in self.engine.sources for one in source()]

    def with_gold(self, chosen: list[BoolArray]) -> list[BoolArray]:
        """The same sets, with the gold ones put in their place."""
        for sets, known in zip(chosen, self._gold_rows, strict=True):
            if known is not None:
                sets[known.rows] = known.sets
        return chosen

    def expectation(self, parameters: Parameters) -> tuple[list[FloatArray], float]:
        """Probability of every cell to be right, and the sum of all log-partitions (EM's first half)."""
        found = [weigh(shard, parameters, known) for shard, known in zip(self.shards, self._gold_rows, strict=True)]
        return [inside for inside, _ in found], sum(log_partition for _, log_partition in found)

    def statistics(self, membership: Sequence[BoolArray | FloatArray], *, by_menu: bool = False) -> Statistics:
        """What membership in the sets, certain or probable, says about voters and alternatives."""
        n, m = self.ballots.n_voters, self.ballots.n_alternatives
        parts = (
            fixed_counts(shard, n, m, by_menu=by_menu).with_counts(tally(shard, sets, n, m))
            for shard, sets in zip(self.shards, membership, strict=True)
        )
        return reduce(add, parts)

    # What is known of the sets in the end

    def set_odds(self, parameters: Parameters, calibration: Calibration | None = None) -> list[SetOdds]:
        """What the ballots say about the sets, shard by shard: under the model, or as calibrated."""
        return self.engine.each(lambda _, one: _set_odds(one, parameters, calibration))

    def best_sets(self, parameters: Parameters, calibration: Calibration | None = None) -> list[BoolArray]:
        """The most probable set of every instance; a gold set stays as given.

        The last ones are kept, since sets, probabilities and ties are mostly asked for one after the other.
        """
        last = self._last_best
        if last is None or last.parameters is not parameters or last.calibration is not calibration:
            tables = self._best_sets(parameters, calibration)
            last = self._last_best = BestSets(parameters, calibration, [sealed(sets) for sets in tables])
        return last.tables

    def _best_sets(self, parameters: Parameters, calibration: Calibration | None) -> list[BoolArray]:
        if calibration is None and not parameters.n_groups:
            return self.truth_step(parameters)
        return self.with_gold(self.engine.each(lambda _, one: _set_odds(one, parameters, calibration).best()))

    def posterior(self, parameters: Parameters, chosen: SetTables, calibration: Calibration | None = None) -> Posterior:
        """How probable every member and every returned set is; a gold set is certain."""
        cell_start = cell_starts(self.ballots)
        inclusion = np.empty(int(cell_start[-1]))
        probabilities = np.empty(self.ballots.n_instances)

        def fill_in(number: int, one: Pass) -> None:
            odds, known = _set_odds(one, parameters, calibration), self._gold_rows[number]
            inside = odds.inclusion
            if known is not None:
                inside[known.rows] = known.sets
            probabilities[one.shard.instances] = self._probabilities(odds, number, chosen)
            put_cells(inclusion, one.shard, cell_start, inside)

        self.engine.each(fill_in)
        return Posterior(inclusion, probabilities)

    def set_probabilities(self, parameters: Parameters, chosen: SetTables) -> FloatArray:
        """How probable every returned set is under the model, and nothing else of the posterior."""
        probabilities = np.empty(self.ballots.n_instances)

        def fill_in(number: int, one: Pass) -> None:
            odds = _set_odds(one, parameters, None)
            probabilities[one.shard.instances] = self._probabilities(odds, number, chosen)

        self.engine.each(fill_in)
        return probabilities

    def _probabilities(self, odds: SetOdds, number: int, chosen: SetTables) -> FloatArray:
        """How probable the returned sets of one shard are; a gold set is certain."""
        probabilities, known = odds.probabilities(chosen[number]), self._gold_rows[number]
        if known is not None:
            probabilities[known.rows] = 1.0
        return probabilities

    def group_probabilities(self, parameters: Parameters, calibration: Calibration | None = None) -> FloatArray:
        """The probability of every group on every instance: a row for each, where gold sets count as well."""
        probabilities = np.empty((self.ballots.n_instances, parameters.n_groups))
        for shard, known in zip(self.shards, self._gold_rows, strict=True):
            odds = mixed_odds(shard, parameters, calibration)
            chances = odds.group_probabilities.copy()
            if known is not None:
                inside = np.where(known.sets, odds.log_odds[:, known.rows], 0.0).sum(axis=2)
                chances[known.rows] = group_chances(odds.log_weights[:, known.rows] + inside)[0].T
            probabilities[shard.instances] = chances
        return probabilities

    def ties(self, *steps: Parameters, calibration: Calibration | None = None) -> tuple[str, ...]:
        """Instances whose set was decided by the tie rule in any of these truth steps; never a gold one."""
        found = np.zeros(self.ballots.n_instances, bool)
        for parameters in steps:
            chosen = self.best_sets(parameters, calibration)
            for shard, tied in zip(self.shards, self._tied(parameters, chosen, calibration), strict=True):
                found[shard.instances] |= tied
        names = (self.ballots.instances[z] for z in np.flatnonzero(found))
        return tuple(name for name in names if name not in self.gold)

    def _tied(self, parameters: Parameters, chosen: SetTables, calibration: Calibration | None) -> list[BoolArray]:
        return self.engine.each(lambda number, one: _set_odds(one, parameters, calibration).tied(chosen[number]))

    def truths(self, chosen: SetTables) -> Truths:
        """The sets as truths."""
        return truths_of(chosen, self.ballots, self.shards)

    def tables(self, sets: Gold) -> list[BoolArray]:
        """Sets by instance as tables of cells; instances without one are left empty."""
        return tables_of(sets, self.ballots, self.shards)


def _set_odds(one: Pass, parameters: Parameters, calibration: Calibration | None) -> SetOdds:
    """What the ballots of a shard say about the sets: under the model, or as calibrated."""
    if parameters.n_groups:
        return mixed_odds(one.shard, parameters, calibration)
    table = one.margins(parameters)
    return one.set_odds(table if calibration is None else calibrated(one.shard, table, calibration))
