"""How long a fit takes; run alone, since clocks are shared."""

from __future__ import annotations

import time

import numpy as np

from epivote import Ballots
from experiments.crowds import draw_crowd, polarised
from experiments.measure.ballots import BOUNDS, ballots_of, draw_batch, seed_of
from experiments.pieces import Columns
from experiments.rules import fit_rule


def time_batches(data: str, rule: str, size: int, batches: int) -> Columns:
    """Seconds that a rule takes on batches of the quiz."""
    ballots, _ = ballots_of(data)
    return _timed(rule, [draw_batch(ballots, size, number) for number in range(batches)])


def time_crowds(rule: str, voters: int, batches: int) -> Columns:
    """The same on simulated, polarised crowds of more voters than the quiz has: 15 instances, everybody answers all."""
    streams = [np.random.default_rng(seed_of(voters, number, 3)) for number in range(batches)]
    return _timed(rule, [draw_crowd(polarised, rng, voters=voters, instances=15).ballots for rng in streams])


def _timed(rule: str, crowds: list[Ballots]) -> Columns:
    """For every crowd the fastest of three fits: what else the machine does only ever adds."""
    return {"seconds": [min(_seconds(rule, ballots) for _ in range(3)) for ballots in crowds]}


def _seconds(rule: str, ballots: Ballots) -> float:
    begun = time.perf_counter()
    fit_rule(rule, ballots, BOUNDS)
    return time.perf_counter() - begun
