"""Rules on random batches of voters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from epivote import AMLE, compare
from experiments.measure.ballots import BOUNDS, ballots_of, draw_batch, number_of, seed_of
from experiments.pieces import Columns, Piece, Results, joined, piece
from experiments.rules import Rule, fit_rule

CHUNKS = (0, 20, 60, 200)
"""Where a long run is cut, so that a shorter one is its beginning and nothing is computed twice."""


def fit_batches(data: str, rule: str, size: int, first: int, last: int) -> Columns:
    """Accuracies of a rule on batches first..last-1 of `size` voters; for AMLE also how it got there."""
    ballots, gold = ballots_of(data)
    columns: Columns = {}
    for number in range(first, last):
        batch = draw_batch(ballots, size, number)
        fitted = fit_rule(rule, batch, BOUNDS, number_of(seed_of(size, number, 1)))
        found = compare(fitted.truth_, gold, batch)
        row = {
            "hamming": float(found.hamming.mean()),
            "harmonic": float(found.harmonic.mean()),
            "zero_one": float(found.zero_one.mean()),
            **_way(fitted),
        }
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return columns


def _way(fitted: Rule) -> dict[str, float]:
    if not isinstance(fitted, AMLE):
        return {}
    history = np.array(fitted.log_likelihoods_)
    return {
        "iterations": fitted.n_iter_,
        "converged": float(fitted.converged_),
        "log_likelihood": float(history[-1]),
        "falls": float(np.any(np.diff(history) < -1e-9)),
        "ties": len(fitted.estimate_.ties),
    }


def batch_pieces(data: str, rule: str, size: int, batches: int) -> list[Piece]:
    """The pieces that make the first `batches` batches of one size."""
    edges = [edge for edge in CHUNKS if edge < batches] + [batches]
    return [
        piece(fit_batches, data=data, rule=rule, size=size, first=first, last=last) for first, last in pairwise(edges)
    ]


def batch_numbers(results: Results, data: str, rule: str, size: int, batches: int) -> Columns:
    """What these pieces found, batch after batch."""
    return joined(results, batch_pieces(data, rule, size, batches))


def every(data: str, rules: Sequence[str], sizes: Sequence[int], batches: int) -> list[Piece]:
    """Pieces of all rules and sizes, sizes first, so that the time left is foreseen well."""
    return [each for size in sizes for rule in rules for each in batch_pieces(data, rule, size, batches)]
