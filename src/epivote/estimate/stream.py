"""Ballots that arrive in batches: online EM (Cappé and Moulines 2009), with replacement of what was revised.

The state is a sum of expected statistics. A new instance enters with a step that shrinks slower than 1/n, so that what
was counted under early, poor rates fades. An instance that comes again, because late ballots arrived or because the
stream is given once more, gives back its old share and enters anew with full weight; so several passes are
incremental EM and lead to the optimum of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import VoterCounts
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters
from epivote.engines.gold import Gold
from epivote.estimate.maximise import PriorKind, maximise
from epivote.estimate.model import Model
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.pseudo import shrinkage
from epivote.model.statistics import Group, Statistics

STEP_EXPONENT = 0.9  # steps n^-.9: above 1/2 and at most 1, as Cappé and Moulines (2009) require
START = (0.7, 0.2)  # hit and false-alarm rate of a voter never seen, until the crowd is known; round numbers
PER_VOTER = ("hits", "winners_seen", "false_alarms", "losers_seen")
PER_ALTERNATIVE = ("occurrences", "offered")


class Kept(NamedTuple):
    """An instance that may be revised: ballots, what it offered, bounds, gold set, and how it was counted."""

    ballots: dict[str, tuple[str, ...]]
    menu: tuple[str, ...]
    bounds: tuple[int, int]
    gold: tuple[str, ...] | None
    weight: float
    membership: tuple[float, ...]


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
    start: tuple[float, float] = START
    model: Model | None = None

    @classmethod
    def after_fit(cls, ballots: AnyBallots, statistics: Statistics, parameters: Parameters) -> Stream:
        """A stream that goes on from a finished fit, whose instances are final."""
        stream = cls(one_menu=not ballots.has_menus, n_instances=ballots.n_instances)
        stream._make_room(ballots.voters, ballots.alternatives)
        stream._put(statistics, ballots, 1.0)
        counts = VoterCounts(*(stream.sums[name] for name in PER_VOTER))
        stream.model = Model(ballots.voters, ballots.alternatives, parameters, counts)
        return stream

    def add(self, batch: Ballots, bounds: SizeBounds, gold: Gold | None, *, final: bool) -> InMemoryWorkload:
        """Weigh a batch, joined with earlier ballots of its instances, by the rates so far, and count it.

        All that can be refused is built first; only then does the stream change.
        """
        again = [name for name in batch.instances if name in self.kept]
        merged = self._merged(batch, again)
        known = {name: self.kept[name].gold or () for name in again if self.kept[name].gold is not None}
        known |= {name: tuple(gold[name]) for name in batch.instances if gold is not None and name in gold}
        work = InMemoryWorkload(merged, bounds, known or None)
        membership, _ = work.expectation(self._parameters_for(merged))

        grown = bool(self.alternatives) and any(name not in self.alternatives for name in merged.alternatives)
        self.one_menu = self.one_menu and merged.menu is None and not grown
        for name in again:
            self._give_back(name)
        self._make_room(merged.voters, merged.alternatives)
        self._count(work, membership, set(again), final=final)
        return work

    def learn(self, kind: PriorKind, floor: float, strength: float | None) -> Model:
        """The rates that the sums so far speak for."""
        m = len(self.alternatives)
        priors = np.full(m, 0.5)
        if self.model is not None and len(self.model.alternatives) == m:
            priors = self.model.parameters.priors
        statistics = Statistics(**self.sums, groups=self.groups, multiplicities=None)
        pseudo = shrinkage(statistics, strength=strength, with_priors=kind == "individual")
        before = Parameters.alike(len(self.voters), *self.start, priors)
        parameters = maximise(statistics, before, kind, floor, pseudo)
        counts = VoterCounts(*(self.sums[name] for name in PER_VOTER))
        self.model = Model(tuple(self.voters), tuple(self.alternatives), parameters, counts)
        return self.model

    def _parameters_for(self, ballots: AnyBallots) -> Parameters:
        if self.model is not None:
            return self.model.parameters_for(ballots)
        return Parameters.alike(ballots.n_voters, *self.start, np.full(ballots.n_alternatives, 0.5))

    def _merged(self, batch: Ballots, again: list[str]) -> Ballots:
        """The batch with earlier ballots of its instances; a voter's newer ballot replaces her older one.

        Without menus every instance offers all alternatives known so far and those of the batch.
        """
        names = tuple(dict.fromkeys((*self.alternatives, *batch.alternatives)))
        if not again and names == batch.alternatives:
            return batch
        ballots: dict[tuple[str, str], Iterable[str]] = {}
        menus = {name: batch.offered(name) for name in batch.instances}
        for name in again:
            ballots.update({(voter, name): ticks for voter, ticks in self.kept[name].ballots.items()})
            menus[name] = tuple(dict.fromkeys((*self.kept[name].menu, *menus[name])))
        ballots.update(dict(batch.items()))
        order = {name: position for position, name in enumerate(batch.instances)}
        ordered = dict(sorted(ballots.items(), key=lambda item: order[item[0][1]]))
        return Ballots.from_mapping(ordered, alternatives=names, menu=None if batch.menu is None else menus)

    def _give_back(self, name: str) -> None:
        """Take out of the sums what one instance had put in."""
        kept = self.kept.pop(name)
        ballots = {(voter, name): ticks for voter, ticks in kept.ballots.items()}
        work = InMemoryWorkload(Ballots.from_mapping(ballots, alternatives=kept.menu), SizeBounds(*kept.bounds))
        part = work.statistics([np.array([kept.membership])])
        self._put(part, work.ballots, -kept.weight * self.fading)
        self.n_instances -= 1

    def _count(self, work: InMemoryWorkload, membership: list[FloatArray], again: set[str], *, final: bool) -> None:
        fresh = [name for name in work.ballots.instances if name not in again]
        before, after = self.n_instances + len(again), self.n_instances + len(again) + len(fresh)
        weight = 1.0
        if fresh and before:
            old_share = float(np.exp(np.log1p(-(np.arange(before + 1, after + 1) ** -STEP_EXPONENT)).sum()))
            weight = max(1.0, (1 - old_share) * after / len(fresh))
            self._fade(min(1.0, old_share * after / before))
        self.n_instances = after
        for names, each in ((fresh, weight), (sorted(again), 1.0)):
            if names:
                whole = len(names) == work.ballots.n_instances
                part = work if whole else InMemoryWorkload(work.ballots.select(instances=names), work.bounds)
                rows = membership if whole else _rows_of(work, membership, part)
                self._put(part.statistics(rows), part.ballots, each)
        if not final:
            self._keep(work, membership, {name: 1.0 if name in again else weight for name in work.ballots.instances})

    def _fade(self, factor: float) -> None:
        self.fading *= factor
        self.sums = {name: array * factor for name, array in self.sums.items()}
        self.groups = {group: count * factor for group, count in self.groups.items()}

    def _keep(self, work: InMemoryWorkload, membership: list[FloatArray], weights: dict[str, float]) -> None:
        ballots = work.ballots
        cast: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in ballots.instances}
        for (voter, name), ticks in ballots.items():
            cast[name][voter] = tuple(sorted(ticks))
        for shard, rows in zip(work.shards, membership, strict=True):
            for z, row in zip(shard.instances, rows, strict=True):
                name = ballots.instances[z]
                gold = tuple(sorted(work.gold[name])) if name in work.gold else None
                self.kept[name] = Kept(
                    cast[name],
                    ballots.offered(name),
                    (shard.lower, shard.upper),
                    gold,
                    weights[name] / self.fading,
                    tuple(row.tolist()),
                )

    def _put(self, part: Statistics, ballots: AnyBallots, weight: float) -> None:
        voters = np.array([self.voters[name] for name in ballots.voters])
        alternatives = np.array([self.alternatives[name] for name in ballots.alternatives])
        for keys, rows in ((PER_VOTER, voters), (PER_ALTERNATIVE, alternatives)):
            for name in keys:
                np.add.at(self.sums[name], rows, weight * getattr(part, name))
                self.sums[name] = _without_rounding(self.sums[name])
        for group, count in part.groups.items():
            key = group._replace(menu=())
            left = float(_without_rounding(np.array(self.groups.get(key, 0.0) + weight * count)))
            self.groups.pop(key, None)
            if left > 0:
                self.groups[key] = left

    def _make_room(self, voters: Iterable[str], alternatives: Iterable[str]) -> None:
        for names, index, keys in (
            (voters, self.voters, PER_VOTER),
            (alternatives, self.alternatives, PER_ALTERNATIVE),
        ):
            for name in names:
                index.setdefault(name, len(index))
            for key in keys:
                self.sums[key] = np.pad(self.sums[key], (0, len(index) - len(self.sums[key])))


def _without_rounding(sums: FloatArray) -> FloatArray:
    """What is left after giving back may miss 0 by rounding, but by no more."""
    assert np.all(sums > -1e-6), "a stream gave back more than it had taken"
    return np.where(np.abs(sums) < 1e-9, 0.0, np.maximum(sums, 0.0))


def _rows_of(work: InMemoryWorkload, membership: list[FloatArray], part: InMemoryWorkload) -> list[FloatArray]:
    """Membership of some of the instances, in the shards of those alone."""
    rows = {
        work.ballots.instances[z]: row
        for shard, table in zip(work.shards, membership, strict=True)
        for z, row in zip(shard.instances, table, strict=True)
    }
    return [np.array([rows[part.ballots.instances[z]] for z in shard.instances]) for shard in part.shards]
