"""Log-odds translated by a calibration, and the share of approvals it may lean on."""

from __future__ import annotations

import numpy as np

from epivote.data.calibration import Calibration
from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.data.shards import Shard
from epivote.model.groups import group_log_weights, group_margins
from epivote.model.mixed_odds import MixedSetOdds


def approval_log_odds(shard: Shard) -> FloatArray:
    """Log-odds of the share of approvals of every cell, (approvals + 1/2) / (ballots + 1)."""
    approvals, ballots = shard.approvals(), shard.cast()[:, None]
    log_odds: FloatArray = np.log(approvals + 0.5) - np.log(ballots - approvals + 0.5)
    return log_odds


def mixed_odds(shard: Shard, parameters: Parameters, calibration: Calibration | None = None) -> MixedSetOdds:
    """What is known about the sets of a shard of instances in groups.

    A calibration translates the log-odds of every group; the priors that it leaves are those of proper groups again.
    """
    tables, scale = group_margins(shard, parameters), 1.0
    if calibration is not None:
        tables = np.stack([calibrated(shard, table, calibration) for table in tables])
        scale = calibration.scale * calibration.model_weight
    return MixedSetOdds(tables, shard.lower, shard.upper, group_log_weights(shard, parameters, scale))


def calibrated(shard: Shard, margins: FloatArray, calibration: Calibration) -> FloatArray:
    """The calibrated log-odds of every cell of a shard."""
    shares = approval_log_odds(shard) if calibration.share_weight else 0.0
    return translated(margins, shares, shard.offered, calibration)


def translated(
    margins: FloatArray, shares: FloatArray | float, offered: IntArray | None, calibration: Calibration
) -> FloatArray:
    """The formula of `Calibration`: scale * (model_weight * margins + share_weight * shares) + offsets."""
    log_odds: FloatArray = calibration.model_weight * margins
    log_odds += calibration.share_weight * shares
    log_odds *= calibration.scale
    log_odds += calibration.offset
    log_odds += calibration.offsets if offered is None else calibration.offsets[offered]
    return log_odds
