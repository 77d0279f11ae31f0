"""How much voters' mistakes coincide beyond what independent voters would show."""

from __future__ import annotations

import numpy as np

from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard

CLEAR = 4  # power of |2 pi - 1| by which cells count: those whose membership is open say little; found by trying


def residual_products(shard: Shard, inclusion: FloatArray, parameters: Parameters) -> tuple[FloatArray, FloatArray]:
    """For every row the sum over its cells and pairs of voters of the product of their residuals, and its weight.

    The residual of a ballot in a cell is (ticked - mu) / sqrt(mu (1 - mu)) with mu = pi p + (1 - pi) q, where pi is the
    inclusion probability. If voters err independently given the set, products are 0 on average, apart from what pi owes
    to the ballots themselves. Cells count by |2 pi - 1|^4.
    """
    hit, false_alarm = parameters.hit_rates[shard.ballot_voter], parameters.false_alarm_rates[shard.ballot_voter]
    inside = inclusion[shard.ballot_row]
    expected = inside * hit[:, None] + (1 - inside) * false_alarm[:, None]
    ticked = np.zeros(expected.shape)
    ballot = np.repeat(np.arange(len(expected)), shard.ticks.lengths())
    ticked[ballot, shard.approval_cell % shard.width] = 1.0
    residuals = (ticked - expected) / np.sqrt(expected * (1 - expected))
    starts = shard.ballot_start[:-1]
    ballots = np.diff(shard.ballot_start)
    has_ballots = ballots > 0
    totals, squares = np.zeros(shard.shape), np.zeros(shard.shape)
    totals[has_ballots] = np.add.reduceat(residuals, starts[has_ballots], axis=0)
    squares[has_ballots] = np.add.reduceat(residuals**2, starts[has_ballots], axis=0)
    clear = np.abs(2 * inclusion - 1) ** CLEAR
    pairs = (ballots * (ballots - 1))[:, None]
    products: FloatArray = (clear * (totals**2 - squares)).sum(axis=1)
    weights: FloatArray = (clear * pairs).sum(axis=1)
    return products, weights
