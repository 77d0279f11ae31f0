"""How often a start of AMLE ends at the best optimum that any of many runs reached."""

from __future__ import annotations

import numpy as np

from epivote import AMLE, zero_one
from experiments.measure.ballots import BOUNDS, ballots_of, draw_batch, number_of, seed_of
from experiments.pieces import Columns
from experiments.rules import fit_rule

FORMULAS = ("AMLE", "AMLE as printed")
STARTS = ("Anna Karenina", "uniform", "random")


def starts_against_best(data: str, size: int, number: int, random_starts: int) -> Columns:
    """On one batch: the share of runs from each start, with either formula, that end at the best known optimum.

    Best known are the sets of the run with the best likelihood, among all these and one from where EM ends. Runs are
    compared by their sets, since the printed formula misses the best priors for whatever sets it ends at. Also the
    accuracy of the best run and of the default one.
    """
    ballots, gold = ballots_of(data)
    batch = ballots if size == ballots.n_voters else draw_batch(ballots, size, number)
    seeds = [number_of(seed_of(size, number, 2, k)) for k in range(random_starts)]
    runs: dict[str, list[AMLE]] = {}

    def run(name: str, rule: str, seed: int = 0) -> None:
        fitted = fit_rule(rule, batch, BOUNDS, seed)
        assert isinstance(fitted, AMLE)
        runs.setdefault(name, []).append(fitted)

    run("soft", "AMLE, soft start")
    for formula in FORMULAS:
        run(f"{formula}: Anna Karenina", formula)
        run(f"{formula}: uniform", f"{formula}, uniform start")
        for seed in seeds:
            run(f"{formula}: random", f"{formula}, random start", seed)
    best = max((fitted for found in runs.values() for fitted in found), key=lambda each: each.log_likelihoods_[-1])
    reached = {
        name: [float(np.mean([fitted.truth_ == best.truth_ for fitted in found]))] for name, found in runs.items()
    }
    default = runs["AMLE: Anna Karenina"][0]
    return reached | {
        "zero_one of the best run": [zero_one(best.truth_, gold, batch)],
        "zero_one of AMLE": [zero_one(default.truth_, gold, batch)],
    }
