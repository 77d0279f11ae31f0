"""Ballots under bounds, ready for iteration: the steps of the model applied to every shard and added up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Posterior
from epivote.data.names import BoolArray, FloatArray
from epivote.data.packed import PackedBallots
from epivote.data.parameters import Parameters
from epivote.data.shards import Columns, make_shards
from epivote.data.truths import Truths
from epivote.engines.disk import disk_engine, gold_by_block
from epivote.engines.engine import Engine
from epivote.engines.gold import cell_starts, cells_of, gold_rows, nothing_known, tables_of
from epivote.engines.local import LocalEngine
from epivote.engines.memory import memory_engine
from epivote.errors import InputError, RateError
from epivote.model.choose import tied
from epivote.model.likelihood import log_likelihood_of, marginal_log_likelihood_of
from epivote.model.margins import margins
from epivote.model.passes import weigh
from epivote.model.posterior import log_partition_and_inclusion, set_probabilities
from epivote.model.statistics import Statistics, fixed_counts, tally

Chosen = Sequence[BoolArray]
"""Membership in the sets: one table of cells per shard."""
Gold = Mapping[str, Iterable[str]]
SAMPLE = 1000  # instances that tell which way up a crowd is; a round number


class Steps(ABC):
    """Whole iterations, wherever the ballots are."""

    ballots: Ballots
    bounds: SizeBounds
    gold: Mapping[str, frozenset[str]]

    @property
    @abstractmethod
    def engine(self) -> Engine:
        """What works through the shards."""

    @abstractmethod
    def parts(self) -> Iterator[Task]:
        """The same task in parts that fit in memory, one after the other."""

    def __getstate__(self) -> dict[str, Any]:
        """All but the engine, whose threads stay where they are; it is made again when needed."""
        return {name: value for name, value in self.__dict__.items() if name != "engine"}

    def hard_step(self, parameters: Parameters, *, by_menu: bool = False) -> Statistics:
        """What the most likely set of every instance says about voters and alternatives."""
        return self.engine.fixed_counts(by_menu=by_menu).with_counts(self.engine.hard_sums(parameters))

    def soft_step(self, parameters: Parameters, *, by_menu: bool = False) -> tuple[Statistics, float]:
        """What the probabilities of all sets say about voters and alternatives, and the sum of all log-partitions."""
        counted, log_partition = self.engine.soft_sums(parameters)
        return self.engine.fixed_counts(by_menu=by_menu).with_counts(counted), log_partition


class Task(Steps):
    """Ballots, bounds, and their shards; gold sets stay as given through every step."""

    def __init__(
        self, ballots: Ballots, bounds: SizeBounds, gold: Gold | None = None, cells_per_shard: int | None = None
    ) -> None:
        self.ballots = ballots
        self.bounds = bounds
        self.shards = make_shards(Columns.of(ballots), *bounds.resolve(ballots), cells_per_shard)
        self.gold = {name: frozenset(gold[name]) for name in ballots.instances if name in gold} if gold else {}
        if gold and not self.gold:
            raise nothing_known(gold, ballots.instances)
        self._gold_rows = gold_rows(self.gold, ballots, self.shards)

    @cached_property
    def engine(self) -> LocalEngine:
        """What works through the shards."""
        ballots = self.ballots
        return memory_engine(
            self.shards, self._gold_rows, ballots.n_voters, ballots.n_alternatives, ballots.n_approvals
        )

    def parts(self) -> Iterator[Task]:
        """The task itself."""
        yield self

    # The steps one by one

    def margins(self, parameters: Parameters) -> list[FloatArray]:
        """Log-odds of every cell, shard by shard."""
        return [margins(shard, parameters) for shard in self.shards]

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

    def posterior(self, parameters: Parameters, chosen: Chosen) -> Posterior:
        """How probable every member and every returned set is; a gold set is certain."""
        cell_start = cell_starts(self.ballots)
        inclusion = np.empty(int(cell_start[-1]))
        probabilities = np.empty(self.ballots.n_instances)
        for shard, sets, known in zip(self.shards, chosen, self._gold_rows, strict=True):
            log_odds = margins(shard, parameters)
            log_partition, inside = log_partition_and_inclusion(log_odds, shard.lower, shard.upper)
            probability = set_probabilities(log_odds, sets, log_partition)
            if known is not None:
                inside[known.rows] = known.sets
                probability[known.rows] = 1.0
            probabilities[shard.instances] = probability
            inclusion[cells_of(shard, cell_start)] = inside
        return Posterior(inclusion, probabilities)

    def ties(self, *steps: Parameters) -> tuple[str, ...]:
        """Instances whose set was decided by the tie rule in any of these truth steps; never a gold one."""
        found = np.zeros(self.ballots.n_instances, bool)
        for parameters in steps:
            for shard, sets in zip(self.shards, self.truth_step(parameters), strict=True):
                found[shard.instances] |= tied(margins(shard, parameters), sets, shard.lower)
        return tuple(
            self.ballots.instances[z] for z in np.flatnonzero(found) if self.ballots.instances[z] not in self.gold
        )

    # Between tables of cells and truths

    def truths(self, chosen: Chosen) -> Truths:
        """The sets as truths."""
        rows, members = [], []
        for shard, sets in zip(self.shards, chosen, strict=True):
            row, column = np.nonzero(sets)
            rows.append(shard.instances[row])
            members.append(column if shard.offered is None else shard.offered[row, column])
        instance, member = np.concatenate(rows), np.concatenate(members)
        if np.any(instance[1:] < instance[:-1]):
            member = member[np.argsort(instance, kind="stable")]
        sizes = np.bincount(instance, minlength=self.ballots.n_instances)
        start = np.concatenate([[0], np.cumsum(sizes)])
        return Truths(self.ballots.instances, self.ballots.alternatives, start, member)

    def chosen(self, sets: Gold) -> list[BoolArray]:
        """Sets by instance as tables of cells; instances without one are left empty."""
        return tables_of(sets, self.ballots, self.shards)


class PackedTask(Steps):
    """The same for ballots on disk or on a cluster: iterations where they are, results block by block."""

    def __init__(self, ballots: PackedBallots, bounds: SizeBounds, gold: Gold | None) -> None:
        self.ballots: PackedBallots = ballots
        self.bounds = bounds
        self._gold = gold_by_block(ballots, {name: frozenset(names) for name, names in (gold or {}).items()})
        self.gold = {name: names for part in self._gold for name, names in part.items()}

    @cached_property
    def engine(self) -> Engine:
        """On the workers of a cluster if there is one, else on this machine."""
        if self.ballots.client is None:
            return disk_engine(self.ballots, self.bounds, self._gold)
        from epivote.engines.dask import DaskEngine

        return DaskEngine(self.ballots, self.bounds, self._gold)

    def parts(self) -> Iterator[Task]:
        """One task per block."""
        for block, gold in zip(self.ballots.blocks, self._gold, strict=True):
            yield Task(block.ballots(), self.bounds, gold or None)


def open_task(ballots: Ballots, bounds: SizeBounds, gold: Gold | None) -> Steps:
    """The task for ballots in memory or packed."""
    return PackedTask(ballots, bounds, gold) if isinstance(ballots, PackedBallots) else Task(ballots, bounds, gold)


def sampled(ballots: Ballots, gold: Gold | None) -> tuple[Ballots, Gold | None]:
    """About a thousand instances, gold ones among them, and their gold sets: enough to tell which way up a crowd is."""
    some_gold = list(gold or ())[:SAMPLE]
    sample = ballots.thinned(max(1, ballots.n_instances // SAMPLE), some_gold)
    here = {name: gold[name] for name in some_gold if name in sample.instance_index} if gold else {}
    return sample, here or None


def log_likelihood(ballots: Ballots, truths: Gold, parameters: Parameters, bounds: BoundsLike) -> float:
    """Logarithm of the probability of these sets and these ballots under the model; -inf if a set breaks the bounds.

    AMLE raises it at every step.
    """
    task = Task(ballots, SizeBounds.of(bounds))
    _check_fit(parameters, ballots)
    for instance in ballots.instances:
        if instance not in truths:
            raise InputError(f"instance {instance!r} has ballots but no set; give a set for every instance")
    chosen = task.chosen(truths)
    for shard, sets in zip(task.shards, chosen, strict=True):
        sizes = sets.sum(axis=1)
        if np.any((sizes < shard.lower) | (sizes > shard.upper)):
            return -np.inf
    return log_likelihood_of(task.statistics(chosen, by_menu=priors_differ(parameters)), parameters)


def marginal_log_likelihood(ballots: Ballots, parameters: Parameters, bounds: BoundsLike) -> float:
    """Logarithm of the probability of these ballots under the model, whatever the sets.

    EM without shrinkage raises it at every step.
    """
    task = Task(ballots, SizeBounds.of(bounds))
    _check_fit(parameters, ballots)
    membership, log_partition = task.expectation(parameters)
    statistics = task.statistics(membership, by_menu=priors_differ(parameters))
    return marginal_log_likelihood_of(statistics, log_partition, parameters)


def _check_fit(parameters: Parameters, ballots: Ballots) -> None:
    if len(parameters.hit_rates) != ballots.n_voters or len(parameters.priors) != ballots.n_alternatives:
        raise RateError(
            f"parameters are of {len(parameters.hit_rates)} voters and {len(parameters.priors)} alternatives; "
            f"the ballots have {ballots.n_voters} and {ballots.n_alternatives}"
        )


def priors_differ(parameters: Parameters) -> bool:
    """Whether alternatives have priors of their own."""
    return bool(np.any(parameters.priors != parameters.priors[0]))
