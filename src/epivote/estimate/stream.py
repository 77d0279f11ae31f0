"""Ballots that arrive in batches: online EM (Cappé and Moulines 2009), with replacement of what was revised.

The state is a sum of expected statistics. A new instance enters with a step that shrinks slower than 1/n, so that what
was counted under early, poor rates fades. An instance that comes again, because late ballots arrived or because the
stream is passed over once more, gives back its old share and enters anew with full weight; so several passes are
incremental EM and lead to the optimum of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import VoterCounts
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters
from epivote.errors import InputError
from epivote.estimate.maximise import PriorKind, maximise
from epivote.estimate.model import Model
from epivote.estimate.task import Gold, Task
from epivote.model.pseudo import shrinkage
from epivote.model.statistics import Group, Statistics

STEP_EXPONENT = 0.9
START = (0.7, 0.2)


class Kept(NamedTuple):
    """An instance that may be revised: its ballots, its menu, and the weight and membership it was counted with."""

    ballots: dict[str, tuple[str, ...]]
    menu: tuple[str, ...] | None
    weight: float
    membership: tuple[float, ...]


PER_VOTER = ("hits", "winners_seen", "false_alarms", "losers_seen")
PER_ALTERNATIVE = ("occurrences", "offered")


def _no_sums() -> dict[str, FloatArray]:
    return {name: np.zeros(0) for name in (*PER_VOTER, *PER_ALTERNATIVE)}


@dataclass
class Stream:
    """Everything a stream remembers; its size grows with voters, alternatives and instances not yet final."""

    voters: dict[str, int] = field(default_factory=dict)
    alternatives: dict[str, int] = field(default_factory=dict)
    sums: dict[str, FloatArray] = field(default_factory=_no_sums)
    groups: dict[Group, float] = field(default_factory=dict)
    n_instances: int = 0
    fading: float = 1.0
    one_menu: bool = True
    kept: dict[str, Kept] = field(default_factory=dict)
    model: Model | None = None

    def add(self, batch: Ballots, bounds: SizeBounds, gold: Gold | None, *, final: bool) -> Task:
        """Weigh a batch, joined with earlier ballots of its instances, by the rates so far, and count it."""
        self.one_menu = (
            self.one_menu
            and batch.menu is None
            and (not self.alternatives or tuple(self.alternatives) == batch.alternatives)
        )
        again = [name for name in batch.instances if name in self.kept]
        merged = self._merge(batch, again)
        self._give_back(again, bounds)
        self._make_room(merged)
        task = Task(merged, bounds, gold)
        membership, _ = task.expectation(self._parameters_for(merged))
        self._count(task, membership, set(again), final=final)
        return task

    def learn(self, floor: float, strength: float | None) -> Model:
        """The rates that the sums so far speak for."""
        n, m = len(self.voters), len(self.alternatives)
        priors = np.full(m, 0.5)
        if self.model is not None and len(self.model.alternatives) == m:
            priors = self.model.parameters.priors
        statistics = Statistics(**self.sums, groups=self.groups)
        kind: PriorKind = "individual" if self.one_menu else "shared"
        pseudo = shrinkage(statistics, strength=strength, with_priors=kind == "individual")
        before = Parameters(np.full(n, START[0]), np.full(n, START[1]), priors)
        parameters = maximise(statistics, before, kind, floor, pseudo)
        counts = VoterCounts(*(self.sums[name] for name in PER_VOTER))
        self.model = Model(tuple(self.voters), tuple(self.alternatives), parameters, counts)
        return self.model

    def _parameters_for(self, ballots: Ballots) -> Parameters:
        if self.model is not None:
            return self.model.parameters_for(ballots)
        n, m = ballots.n_voters, ballots.n_alternatives
        return Parameters(np.full(n, START[0]), np.full(n, START[1]), np.full(m, 0.5))

    def _merge(self, batch: Ballots, again: list[str]) -> Ballots:
        """The batch with earlier ballots of its instances; a voter's newer ballot replaces her older one."""
        if not again:
            return batch
        ballots: dict[tuple[str, str], tuple[str, ...] | frozenset[str]] = {}
        menus = {name: batch.offered(name) for name in batch.instances}
        for name in again:
            ballots.update({(voter, name): ticks for voter, ticks in self.kept[name].ballots.items()})
        ballots.update(dict(batch.items()))
        order = {name: position for position, name in enumerate(batch.instances)}
        ordered = dict(sorted(ballots.items(), key=lambda item: order[item[0][1]]))
        return Ballots.from_mapping(
            ordered, alternatives=batch.alternatives, menu=None if batch.menu is None else menus
        )

    def _give_back(self, again: list[str], bounds: SizeBounds) -> None:
        """Take out of the sums what these instances had put in."""
        for name in again:
            kept = self.kept.pop(name)
            ballots = {(voter, name): ticks for voter, ticks in kept.ballots.items()}
            offered = kept.menu if kept.menu is not None else tuple(self.alternatives)
            task = Task(Ballots.from_mapping(ballots, alternatives=offered), bounds)
            part = task.statistics([np.array([kept.membership])])
            self._put(part, task.ballots, -kept.weight * self.fading)
            self.n_instances -= 1

    def _count(self, task: Task, membership: list[FloatArray], again: set[str], *, final: bool) -> None:
        fresh = [name for name in task.ballots.instances if name not in again]
        before, after = self.n_instances + len(again), self.n_instances + len(again) + len(fresh)
        weight = 1.0
        if fresh and before:
            old_share = float(np.exp(np.log1p(-(np.arange(before + 1, after + 1) ** -STEP_EXPONENT)).sum()))
            fade = min(1.0, old_share * after / before)
            weight = max(1.0, (1 - old_share) * after / len(fresh))
            self.fading *= fade
            for name in self.sums:
                self.sums[name] = self.sums[name] * fade
            self.groups = {group: count * fade for group, count in self.groups.items()}
        self.n_instances = after
        whole = task.ballots
        for names, each in ((fresh, weight), (sorted(again), 1.0)):
            if names:
                part = whole if len(names) == whole.n_instances else whole.select(instances=names)
                sub = Task(part, task.bounds)
                rows = _rows_of(task, membership, sub)
                self._put(sub.statistics(rows), part, each)
        if final:
            return
        by_instance = _by_instance(task, membership)
        cast: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in whole.instances}
        for (voter, name), ticks in whole.items():
            cast[name][voter] = tuple(sorted(ticks))
        for name in whole.instances:
            menu = None if whole.menu is None and self.one_menu else whole.offered(name)
            own = weight if name not in again else 1.0
            self.kept[name] = Kept(cast[name], menu, own / self.fading, by_instance[name])

    def _put(self, part: Statistics, ballots: Ballots, weight: float) -> None:
        voters = np.array([self.voters[name] for name in ballots.voters])
        alternatives = np.array([self.alternatives[name] for name in ballots.alternatives])
        for name in PER_VOTER:
            np.add.at(self.sums[name], voters, weight * getattr(part, name))
        for name in PER_ALTERNATIVE:
            np.add.at(self.sums[name], alternatives, weight * getattr(part, name))
        for group, count in part.groups.items():
            left = self.groups.get(group, 0.0) + weight * count
            self.groups[group] = max(left, 0.0)
        for name in (*PER_VOTER, *PER_ALTERNATIVE):
            self.sums[name] = np.maximum(self.sums[name], 0.0)

    def _make_room(self, ballots: Ballots) -> None:
        for names, index, keys in (
            (ballots.voters, self.voters, PER_VOTER),
            (ballots.alternatives, self.alternatives, PER_ALTERNATIVE),
        ):
            for name in names:
                index.setdefault(name, len(index))
            for key in keys:
                self.sums[key] = np.pad(self.sums[key], (0, len(index) - len(self.sums[key])))


def check_strength(strength: float | str) -> float | None:
    """Shrinkage as the stream takes it: a number, or None to estimate it."""
    if strength == "auto":
        return None
    if isinstance(strength, str):
        raise InputError(f"shrinkage={strength!r} must be 'auto' or a number of at least 0")
    return float(strength)


def _by_instance(task: Task, membership: list[FloatArray]) -> dict[str, tuple[float, ...]]:
    return {
        task.ballots.instances[z]: tuple(row.tolist())
        for shard, rows in zip(task.shards, membership, strict=True)
        for z, row in zip(shard.instances, rows, strict=True)
    }


def _rows_of(task: Task, membership: list[FloatArray], part: Task) -> list[FloatArray]:
    if part.ballots is task.ballots:
        return membership
    rows = _by_instance(task, membership)
    return [np.array([rows[part.ballots.instances[z]] for z in shard.instances]) for shard in part.shards]
