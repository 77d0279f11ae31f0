"""What an estimator learnt, by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.ballots import Ballots
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

    def parameters_for(self, ballots: Ballots) -> Parameters:
        """Parameters in the order of other ballots; strangers get the mean of those known."""
        known = self.parameters
        return Parameters(
            look_up(ballots.voters, self.voters, known.hit_rates),
            look_up(ballots.voters, self.voters, known.false_alarm_rates),
            look_up(ballots.alternatives, self.alternatives, known.priors),
        )


def look_up(names: tuple[str, ...], known: tuple[str, ...], values: FloatArray) -> FloatArray:
    """Values by name, the mean for names that are not known."""
    by_name = dict(zip(known, values.tolist(), strict=True))
    mean = float(values.mean())
    return np.array([by_name.get(name, mean) for name in names])
