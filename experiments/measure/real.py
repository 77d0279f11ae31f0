"""Rules on published ballots with expert truth."""

from __future__ import annotations

from epivote import compare
from experiments.pieces import Columns
from experiments.real_sets import read_real
from experiments.rules import fit_rule


def real_accuracies(name: str, rule: str) -> Columns:
    """Per instance with known truth: alternatives offered and decided rightly, 0/1 and Jaccard."""
    ballots, gold, bounds = read_real(name)
    found = compare(fit_rule(rule, ballots, bounds).truth_, gold, ballots)
    return {
        "offered": [float(width) for width in found.widths],
        "correct": [float(count) for count in found.correct],
        "zero_one": found.zero_one.tolist(),
        "jaccard": found.jaccard.tolist(),
    }
