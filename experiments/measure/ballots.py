"""Ballots that batches are drawn from, by name, and how a batch is drawn."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from epivote import Ballots, Truths, read_ballots, read_truths
from experiments.quiz import read_quiz, require_quiz

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BOUNDS = (1, 2)
SEED = 2022


@cache
def ballots_of(data: str) -> tuple[Ballots, Truths]:
    """The paper's quiz (`quiz`), or the simulated bird quiz that comes with the project (`birds`); sizes are 1..2."""
    if data == "birds":
        return read_ballots(EXAMPLES / "birds.csv"), read_truths(EXAMPLES / "birds-gold.csv")
    return read_quiz(require_quiz())


def seed_of(*key: int) -> np.random.SeedSequence:
    """An independent stream of random numbers for every key: size and number of a batch, say."""
    return np.random.SeedSequence(SEED, spawn_key=key)


def number_of(seed: np.random.SeedSequence) -> int:
    """The stream as one number, for estimators that start at random."""
    return int(seed.generate_state(1)[0])


def draw_batch(ballots: Ballots, size: int, number: int) -> Ballots:
    """Batch `number` of that many voters, drawn without replacement: the same for every rule."""
    rng = np.random.default_rng(seed_of(size, number))
    return ballots.select(voters=rng.choice(ballots.voters, size, replace=False))
