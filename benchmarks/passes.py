"""Part `passes`: how many passes over all ballots EM makes, with and without acceleration, and whether sets differ.

`python -m benchmarks.passes NAME` prints JSON for one set of ballots: a reference crowd, the paper's quiz or one of the
real sets. All fits start from the same rates; a pass that was taken back counts as well. At the usual tolerance they
end a little before the fixed point, and not at the same place; so they are also run until it is reached. What shrinkage
settles at depends on the way there. So sets are compared with those of a fit that is accelerated until shrinkage has
settled and no longer, and, apart from that, with those of a fit that is never accelerated.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args
from unittest import mock

import numpy as np
import numpy.typing as npt

from benchmarks.crowds import CROWDS, as_ballots, columns, same_sets
from benchmarks.methods import whole_sets
from benchmarks.processes import answer_of
from epivote import EM, Ballots, SizeBounds
from epivote.estimate import em
from epivote.estimate.climb import State, Step
from epivote.estimate.workload import InMemoryWorkload, Workload
from experiments.quiz import find_quiz, read_quiz
from experiments.real_sets import present, read_real
from experiments.store import Store

QUIZ = "the paper's quiz"
TOLERANCES = (1e-5, 1e-9)
MOST = 20_000  # iterations
CLOSE = 1e-6  # log-odds between the two most probable sets, within which they count as equal
Accelerated = Literal["never", "while settling", "always"]
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
        (before, plain), (_, settled), (after, ahead) = (
            fitted(ballots, bounds, tolerance, accelerated) for accelerated in get_args(Accelerated)
        )
        differ = differing(settled, ahead)
        found.append(
            {
                "tolerance": tolerance,
                "before": before,
                "after": after,
                "instances": ballots.n_instances,
                "differ": len(differ),
                "apart": max((apart(work, ahead, int(place)) for place in differ), default=0.0),
                "gain": ahead.estimate_.log_likelihoods[-1] - settled.estimate_.log_likelihoods[-1],
                "differ_from_plain": len(differing(plain, ahead)),
            }
        )
    return found


def differing(one: EM, other: EM) -> npt.NDArray[np.int64]:
    """Where two fits to the same ballots find different sets."""
    (sets,), (others,) = whole_sets(one), whole_sets(other)
    return np.flatnonzero(~same_sets(sets, others, len(one.truth_.alternatives)))


def fitted(ballots: Ballots, bounds: SizeBounds, tolerance: float, accelerated: Accelerated) -> tuple[int, EM]:
    """Passes over all ballots, and the fit."""
    usual = EM(bounds)
    estimator = EM(bounds, tolerance=tolerance, max_iterations=MOST, start=usual._start(ballots))
    with counted_passes() as passes, mock.patch.object(em, "em_step", partial(em_step, accelerated)):
        estimator.fit(ballots)
    return len(passes), estimator


def em_step(accelerated: Accelerated, *given: Any, step: Callable[..., Step] = em.em_step, **named: Any) -> Step:
    """A step of EM after which, unless iterations are then accelerated, the next one starts where this one ended."""
    usual = step(*given, **named)

    def plain(state: State) -> State:
        after = usual(state)
        is_ahead = accelerated == "always" or (accelerated == "while settling" and not after.settled)
        return after if is_ahead else replace(after, ahead=None)

    return plain


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
