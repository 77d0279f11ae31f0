"""Rules on simulated crowds, whose truth and rates are known."""

from __future__ import annotations

import numpy as np

from epivote import MaximumLikelihood, Simulation, compare
from experiments.crowds import BOUNDS, MIXES, PRIOR, adversarial, draw_crowd, spamming
from experiments.measure.ballots import seed_of
from experiments.pieces import Columns
from experiments.rules import chosen_by_auto, fit_rule

COMPARED = ("Majority", "Modal", "Approval", "AMLE", "EM")
ANSWERS = {"dense": {"instances": 30}, "sparse": {"instances": 300}}
SHARE_ANSWERED = 0.1


def crowd_accuracies(mix: str, answers: str, ballots_each: int, first: int, last: int) -> Columns:
    """Share of sets exactly right, crowd after crowd, with so many ballots on every question.

    Dense: so many voters answer all 30 questions. Sparse: ten times as many voters, each question goes to a tenth of
    them at random, 300 questions.
    """
    columns: Columns = {}
    for number in range(first, last):
        rng = np.random.default_rng(seed_of(list(MIXES).index(mix), answers == "sparse", ballots_each, number))
        voters = ballots_each if answers == "dense" else round(ballots_each / SHARE_ANSWERED)
        crowd = draw_crowd(MIXES[mix], rng, voters=voters, ballots_per_instance=ballots_each, **ANSWERS[answers])
        _add(columns, crowd)
    return columns


def broken_crowd_accuracies(kind: str, percent: int, first: int, last: int) -> Columns:
    """The same for 20 voters who answer all 30 questions, so many per cent of them spammers or adversaries."""
    mix = {"adversaries": adversarial, "spammers": spamming}[kind](percent / 100)
    columns: Columns = {}
    for number in range(first, last):
        rng = np.random.default_rng(seed_of(9, kind == "spammers", percent, number))
        _add(columns, draw_crowd(mix, rng, voters=20, instances=30))
    return columns


def _add(columns: Columns, crowd: Simulation) -> None:
    known = crowd.parameters
    truths = {rule: fit_rule(rule, crowd.ballots, BOUNDS).truth_ for rule in COMPARED}
    truths["auto"] = truths[chosen_by_auto(crowd.ballots, BOUNDS)]
    oracle = MaximumLikelihood(known.hit_rates, known.false_alarm_rates, PRIOR, BOUNDS)
    truths["rates known"] = oracle.fit(crowd.ballots).truth_
    for name, found in truths.items():
        columns.setdefault(name, []).append(float(compare(found, crowd.gold, crowd.ballots).zero_one.mean()))
