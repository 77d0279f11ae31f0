"""How often a start of AMLE ends at the best likelihood that any of many runs reached."""

from __future__ import annotations

import numpy as np

from epivote import AMLE, compare
from experiments.measure.ballots import BOUNDS, ballots_of, draw_batch, number_of, seed_of
from experiments.pieces import Columns
from experiments.rules import fit_rule

CLOSE = 1e-3
"""Runs whose log-likelihoods differ by less ended at the same optimum, up to the tolerance they stop at."""
FORMULAS = ("AMLE", "AMLE as printed")
STARTS = ("Anna Karenina", "uniform", "random")


def starts_against_best(data: str, size: int, number: int, random_starts: int) -> Columns:
    """On one batch: the share of runs from each start, with either formula, that reach the best known likelihood.

    Best known is the best of all these runs and of one from where EM ends. Also the accuracy of the best run and of the
    default one.
    """
    ballots, gold = ballots_of(data)
    batch = ballots if size == ballots.n_voters else draw_batch(ballots, size, number)
    seeds = [number_of(seed_of(size, number, 2, k)) for k in range(random_starts)]
    runs: dict[str, list[tuple[float, float]]] = {}

    def run(name: str, rule: str, seed: int = 0) -> None:
        fitted = fit_rule(rule, batch, BOUNDS, seed)
        assert isinstance(fitted, AMLE)
        exact = float(compare(fitted.truth_, gold, batch).zero_one.mean())
        runs.setdefault(name, []).append((fitted.log_likelihoods_[-1], exact))

    run("soft", "AMLE, soft start")
    for formula in FORMULAS:
        run(f"{formula}: Anna Karenina", formula)
        run(f"{formula}: uniform", f"{formula}, uniform start")
        for seed in seeds:
            run(f"{formula}: random", f"{formula}, random start", seed)
    best = max(max(found) for found in runs.values())
    reached = {
        name: float(np.mean([likelihood >= best[0] - CLOSE for likelihood, _ in found])) for name, found in runs.items()
    }
    return {name: [share] for name, share in reached.items()} | {
        "zero_one of the best run": [best[1]],
        "zero_one of AMLE": [runs["AMLE: Anna Karenina"][0][1]],
    }
