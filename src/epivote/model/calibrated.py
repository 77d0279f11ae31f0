"""Log-odds translated by a calibration, and the share of approvals it may lean on."""

from __future__ import annotations

import numpy as np

from epivote.data.calibration import Calibration
from epivote.data.names import FloatArray, IntArray
from epivote.data.shards import Shard


def approval_log_odds(shard: Shard) -> FloatArray:
    """Log-odds of the share of approvals of every cell, (approvals + 1/2) / (ballots + 1)."""
    approvals = np.bincount(shard.approval_cell, minlength=len(shard.instances) * shard.width).reshape(shard.shape)
    ballots = np.diff(shard.ballot_start)[:, None]
    log_odds: FloatArray = np.log(approvals + 0.5) - np.log(ballots - approvals + 0.5)
    return log_odds


def calibrated(shard: Shard, margins: FloatArray, calibration: Calibration) -> FloatArray:
    """The calibrated log-odds of every cell of a shard."""
    return translated(margins, approval_log_odds(shard), shard.offered, calibration)


def translated(
    margins: FloatArray, shares: FloatArray, offered: IntArray | None, calibration: Calibration
) -> FloatArray:
    """The formula of `Calibration`: scale * (model_weight * margins + share_weight * shares) + offsets."""
    mixed = calibration.model_weight * margins + calibration.share_weight * shares
    offsets = calibration.offsets if offered is None else calibration.offsets[offered]
    return calibration.scale * mixed + calibration.offset + offsets
