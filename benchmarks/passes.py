"""Part `passes`: how many passes over all ballots EM makes, with and without acceleration, and whether sets differ.

`python -m benchmarks.passes NAME` prints JSON for one set of ballots: a reference crowd, the paper's quiz or one of the
real sets. Both fits start from the same rates; a pass that was taken back counts as well. At the usual tolerance they
end a little before the fixed point, and not at the same place; so both are also run until it is reached.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.crowds import CROWDS, as_ballots, columns, same_sets
from benchmarks.methods import whole_sets
from benchmarks.processes import answer_of
from epivote import EM, Ballots, SizeBounds
from epivote.estimate import em
from epivote.estimate.ahead import look_ahead
from epivote.estimate.workload import InMemoryWorkload, Workload
from experiments.quiz import find_quiz, read_quiz
from experiments.real_sets import present, read_real
from experiments.store import Store

QUIZ = "the paper's quiz"
TOLERANCES = (1e-5, 1e-9)
MOST = 20_000  # iterations
CLOSE = 1e-6  # log-odds between the two most probable sets, within which they count as equal
SETTINGS = {"tolerances": TOLERANCES, "close": CLOSE}


def run(store: Store) -> None:
    """Each set of ballots in a process of its own."""
    for name in names():
        store.measured(f"passes.{name}", SETTINGS, partial(answer_of, "passes", name))


def names() -> list[str]:
    """What is at hand."""
    return [*(name for name, crowd in CROWDS.items() if crowd.whole), *([QUIZ] if find_quiz() else []), *present()]


def ballots_of(name: str) -> tuple[Ballots, SizeBounds]:
    """Ballots and size bounds."""
    if name in CROWDS:
        return as_ballots(CROWDS[name], columns(CROWDS[name])), SizeBounds(*CROWDS[name].bounds)
    if name == QUIZ:
        quiz = find_quiz()
        assert quiz is not None
        return read_quiz(quiz)[0], SizeBounds(1, 2)
    ballots, _, bounds = read_real(name)
    return ballots, SizeBounds(*bounds)


def measured(name: str) -> list[dict[str, Any]]:
    """Passes with and without acceleration at every tolerance, how many sets differ, and by how much at most."""
    ballots, bounds = ballots_of(name)
    work, found = InMemoryWorkload(ballots, bounds), []
    for tolerance in TOLERANCES:
        (before, plain), (after, ahead) = (
            fitted(ballots, bounds, tolerance, faster=faster) for faster in (False, True)
        )
        (one,), (other,) = whole_sets(plain), whole_sets(ahead)
        differ = np.flatnonzero(~same_sets(one, other, ballots.n_alternatives))
        found.append(
            {
                "tolerance": tolerance,
                "before": before,
                "after": after,
                "instances": ballots.n_instances,
                "differ": len(differ),
                "apart": max((apart(work, ahead, int(place)) for place in differ), default=0.0),
                "gain": ahead.estimate_.log_likelihoods[-1] - plain.estimate_.log_likelihoods[-1],
            }
        )
    return found


def fitted(ballots: Ballots, bounds: SizeBounds, tolerance: float, *, faster: bool) -> tuple[int, EM]:
    """Passes over all ballots, and the fit."""
    usual = EM(bounds)
    estimator = EM(bounds, tolerance=tolerance, max_iterations=MOST, start=usual._start(ballots))
    with counted_passes() as passes, mock.patch.object(em, "look_ahead", look_ahead if faster else no_look_ahead):
        estimator.fit(ballots)
    return len(passes), estimator


def no_look_ahead(*_: object) -> None:
    """Every iteration starts where the last one ended."""


@contextmanager
def counted_passes() -> Iterator[list[None]]:
    """A list that grows by one with every soft pass."""
    passes: list[None] = []
    step = Workload.soft_step

    def counted(self: Workload, *given: Any, **named: Any) -> Any:
        passes.append(None)
        return step(self, *given, **named)

    with mock.patch.object(Workload, "soft_step", counted):
        yield passes


def apart(work: InMemoryWorkload, fit: EM, place: int) -> float:
    """Log-odds between the two most probable sets of an instance."""
    one = work.part(work.ballots.rows(np.array([place])))
    _, probabilities = one.set_odds(fit.estimate_.parameters)[0].top(2)
    return float(np.log(probabilities[0, 0] / probabilities[0, 1]))


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
