"""Ballots under bounds, ready for iteration: the steps of the model applied to every shard and added up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from operator import add

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import BoundsLike, SizeBounds
from epivote.data.estimate import Posterior
from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.data.shards import CELLS_PER_SHARD, Shard, make_shards
from epivote.data.truths import Truths
from epivote.errors import InputError
from epivote.model.choose import choose
from epivote.model.likelihood import log_likelihood_of
from epivote.model.margins import margins
from epivote.model.posterior import log_partition_and_inclusion, set_probabilities
from epivote.model.statistics import Statistics, count

Chosen = Sequence[BoolArray]
"""Membership in the sets, one table of cells per shard."""


class Task:
    """Ballots, bounds, and their shards."""

    def __init__(self, ballots: Ballots, bounds: SizeBounds, cells_per_shard: int = CELLS_PER_SHARD) -> None:
        self.ballots = ballots
        self.bounds = bounds
        self.shards = make_shards(ballots, bounds, cells_per_shard)

    def margins(self, parameters: Parameters) -> list[FloatArray]:
        """Log-odds of every cell, shard by shard."""
        return [margins(shard, parameters) for shard in self.shards]

    def truth_step(self, parameters: Parameters) -> Chosen:
        """The most likely set of every instance (Theorem 1)."""
        return [choose(margins(shard, parameters), shard.lower, shard.upper) for shard in self.shards]

    def statistics(self, chosen: Chosen, *, by_menu: bool = False) -> Statistics:
        """What the sets say about voters and alternatives."""
        n, m = self.ballots.n_voters, self.ballots.n_alternatives
        parts = [count(shard, sets, n, m, by_menu=by_menu) for shard, sets in zip(self.shards, chosen, strict=True)]
        return reduce(add, parts)

    def posterior(self, parameters: Parameters, chosen: Chosen) -> Posterior:
        """How probable every member and every returned set is."""
        inclusion = np.empty(int(self.ballots.menu_sizes.sum()))
        probabilities = np.empty(self.ballots.n_instances)
        for shard, sets in zip(self.shards, chosen, strict=True):
            log_odds = margins(shard, parameters)
            log_partition, inside = log_partition_and_inclusion(log_odds, shard.lower, shard.upper)
            probabilities[shard.instances] = set_probabilities(log_odds, sets, log_partition)
            inclusion[self.cell_start[shard.instances][:, None] + np.arange(shard.width)] = inside
        return Posterior(inclusion, probabilities)

    @cached_property
    def cell_start(self) -> IntArray:
        """Where the cells of every instance begin when all are laid out one after the other."""
        return np.concatenate([[0], np.cumsum(self.ballots.menu_sizes, dtype=np.int64)])

    # Between tables of cells and truths

    def truths(self, chosen: Chosen) -> Truths:
        """The sets as truths."""
        rows = [shard.instances[np.nonzero(sets)[0]] for shard, sets in zip(self.shards, chosen, strict=True)]
        members = [_members(shard, sets) for shard, sets in zip(self.shards, chosen, strict=True)]
        instance, alternative = np.concatenate(rows), np.concatenate(members)
        order = np.argsort(instance, kind="stable")
        sizes = np.bincount(instance, minlength=self.ballots.n_instances)
        return Truths(
            self.ballots.instances,
            self.ballots.alternatives,
            np.concatenate([[0], np.cumsum(sizes)]),
            alternative[order],
        )

    def chosen(self, truths: Truths) -> Chosen:
        """Truths of all instances as tables of cells."""
        number = {name: j for j, name in enumerate(self.ballots.alternatives)}
        cell_of: dict[tuple[int, int], int] = {}
        flat = np.zeros(int(self.cell_start[-1]), bool)
        for z, instance in enumerate(self.ballots.instances):
            if instance not in truths.instance_index:
                raise InputError(f"instance {instance!r} has ballots but no set; give a set for every instance")
            offered = self.ballots.offered(instance)
            if self.ballots.menu is not None:
                cell_of = {(z, number[name]): c for c, name in enumerate(offered)}
            for name in truths[instance]:
                j = number.get(name, -1)
                c = cell_of.get((z, j), -1) if self.ballots.menu is not None else j
                if c < 0:
                    raise InputError(f"the set of {instance!r} has {name!r}, which is not offered there")
                flat[self.cell_start[z] + c] = True
        return [flat[self.cell_start[shard.instances][:, None] + np.arange(shard.width)] for shard in self.shards]


def _members(shard: Shard, sets: BoolArray) -> IntArray:
    return np.nonzero(sets)[1] if shard.offered is None else shard.offered[sets]


def log_likelihood(ballots: Ballots, truths: Truths, parameters: Parameters, bounds: BoundsLike) -> float:
    """Ln of the probability of these sets and these ballots under the model; -inf if a set breaks the bounds.

    The one objective: AMLE raises it at every step.
    """
    task = Task(ballots, SizeBounds.of(bounds))
    chosen = task.chosen(truths)
    for shard, sets in zip(task.shards, chosen, strict=True):
        sizes = sets.sum(axis=1)
        if np.any((sizes < shard.lower) | (sizes > shard.upper)):
            return -np.inf
    by_menu = bool(np.any(parameters.priors != parameters.priors[0]))
    return log_likelihood_of(task.statistics(chosen, by_menu=by_menu), parameters)
