"""What rules state about their own sets, and whether it was so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from epivote import Ballots
from experiments.crowds import BOUNDS as CROWD_BOUNDS
from experiments.crowds import MIXES, draw_crowd
from experiments.measure.ballots import BOUNDS, ballots_of, draw_batch, seed_of
from experiments.pieces import Columns
from experiments.real_sets import read_real
from experiments.rules import Bounds, fit_rule


def stated_on_batches(data: str, rule: str, size: int, batches: int) -> Columns:
    """Stated confidence and outcome of every set, over batches of voters."""
    ballots, gold = ballots_of(data)
    return _stated(rule, (draw_batch(ballots, size, number) for number in range(batches)), BOUNDS, gold)


def stated_on_real_set(name: str, rule: str) -> Columns:
    """The same on published ballots with expert truth."""
    ballots, gold, bounds = read_real(name)
    return _stated(rule, [ballots], bounds, gold)


def stated_on_crowds(mix: str, rule: str, ballots_each: int, crowds: int) -> Columns:
    """The same on simulated crowds: 300 questions, each answered by a tenth of the voters."""
    columns: Columns = {"stated": [], "right": []}
    for number in range(crowds):
        rng = np.random.default_rng(seed_of(8, list(MIXES).index(mix), ballots_each, number))
        crowd = draw_crowd(MIXES[mix], rng, voters=10 * ballots_each, instances=300, ballots_per_instance=ballots_each)
        for name, values in _stated(rule, [crowd.ballots], CROWD_BOUNDS, crowd.gold).items():
            columns[name] += values
    return columns


def _stated(rule: str, crowds: Iterable[Ballots], bounds: Bounds, gold: Mapping[str, frozenset[str]]) -> Columns:
    stated: list[float] = []
    right: list[float] = []
    for ballots in crowds:
        fitted = fit_rule(rule, ballots, bounds)
        assert fitted.confidence_ is not None, f"{rule} states no confidence"
        chances = dict(zip(ballots.instances, fitted.confidence_, strict=True))
        stated += [float(chances[instance]) for instance in gold]
        right += [float(fitted.truth_[instance] == frozenset(gold[instance])) for instance in gold]
    return {"stated": stated, "right": right}
