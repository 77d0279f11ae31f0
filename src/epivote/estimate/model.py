"""What an estimator learnt, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.calibration import Calibration
from epivote.data.estimate import Estimate, VoterCounts
from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import Parameters


@dataclass(frozen=True)
class Model:
    """Rates of named voters, priors of named alternatives, and the counts behind the rates.

    `multiplicities` says how many voters each of them stands for; None where everyone stands for herself.
    """

    voters: tuple[str, ...]
    alternatives: tuple[str, ...]
    parameters: Parameters
    counts: VoterCounts
    calibration: Calibration | None = None
    multiplicities: IntArray | None = None

    @classmethod
    def of(cls, estimate: Estimate) -> Model:
        """What the ballots of one estimate taught."""
        ballots = estimate.ballots
        return cls(
            ballots.voters,
            ballots.alternatives,
            estimate.parameters,
            estimate.counts,
            estimate.calibration,
            ballots.multiplicities,
        )

    def parameters_for(self, ballots: AnyBallots) -> Parameters:
        """Parameters in the order of other ballots; strangers get the mean of those known."""

        def of_voters(rates: FloatArray) -> FloatArray:
            mean = None if self.multiplicities is None else float(np.average(rates, weights=self.multiplicities))
            return look_up(ballots.voters, self.voters, rates, mean)

        return self.parameters.changed(
            per_voter=of_voters,
            priors=lambda priors: look_up(ballots.alternatives, self.alternatives, priors),
        )

    def calibration_for(self, ballots: AnyBallots) -> Calibration | None:
        """The calibration in the order of other ballots; alternatives that are not known get no offset of their own."""
        if self.calibration is None:
            return None
        offsets = self.calibration.offsets
        return self.calibration.with_offsets(look_up(ballots.alternatives, self.alternatives, offsets, unknown=0.0))


def look_up(
    names: tuple[str, ...], known: tuple[str, ...], values: FloatArray, unknown: float | None = None
) -> FloatArray:
    """Values by name; for names that are not known the mean, or what is given."""
    by_name = dict(zip(known, values.tolist(), strict=True))
    other = float(values.mean()) if unknown is None else unknown
    return np.array([by_name.get(name, other) for name in names])
