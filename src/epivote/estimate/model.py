"""What an estimator learnt, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.estimate import Estimate, VoterCounts
from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters


@dataclass(frozen=True)
class Model:
    """Rates of named voters, priors of named alternatives, and the counts behind the rates."""

    voters: tuple[str, ...]
    alternatives: tuple[str, ...]
    parameters: Parameters
    counts: VoterCounts

    @classmethod
    def of(cls, estimate: Estimate) -> Model:
        """What the ballots of one estimate taught."""
        ballots = estimate.ballots
        return cls(ballots.voters, ballots.alternatives, estimate.parameters, estimate.counts)

    def parameters_for(self, ballots: AnyBallots) -> Parameters:
        """Parameters in the order of other ballots; strangers get the mean of those known."""
        return self.parameters.changed(
            per_voter=lambda rates: look_up(ballots.voters, self.voters, rates),
            priors=lambda priors: look_up(ballots.alternatives, self.alternatives, priors),
        )


def look_up(names: tuple[str, ...], known: tuple[str, ...], values: FloatArray) -> FloatArray:
    """Values by name, the mean for names that are not known."""
    by_name = dict(zip(known, values.tolist(), strict=True))
    mean = float(values.mean())
    return np.array([by_name.get(name, mean) for name in names])
