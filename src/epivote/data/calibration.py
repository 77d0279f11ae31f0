"""How the log-odds of a fit translate into true ones, learnt from gold or from two halves of the crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.names import FloatArray, frozen

CalibratedBy = Literal["gold", "halves"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The calibrated log-odds of an alternative are

        scale * (model_weight * m + share_weight * s) + offset + offsets[j],

    where m are the log-odds of the fit and s those of the share of approvals, (approvals + 1/2) / (ballots + 1).
    `offsets` has a number for every alternative. `scale` is how much of a ballot's push remains. `source` says what it
    was learnt from.
    """

    scale: float
    model_weight: float
    share_weight: float
    offset: float
    offsets: FloatArray
    source: CalibratedBy

    def __post_init__(self) -> None:
        """Keep the offsets from being changed."""
        object.__setattr__(self, "offsets", frozen(np.asarray(self.offsets, float)))

    @classmethod
    def identity(cls, n_alternatives: int, source: CalibratedBy = "gold") -> Calibration:
        """The one that changes nothing."""
        return cls.scaled(1.0, n_alternatives, source)

    @classmethod
    def scaled(cls, scale: float, n_alternatives: int, source: CalibratedBy) -> Calibration:
        """All log-odds multiplied by one number."""
        return cls(scale, 1.0, 0.0, 0.0, np.zeros(n_alternatives), source)

    def state(self) -> dict[str, object]:
        """All of it as plain numbers, ready for JSON."""
        return {**vars(self), "offsets": self.offsets.tolist()}

    def with_offsets(self, offsets: ArrayLike) -> Calibration:
        """The same for other alternatives."""
        return Calibration(
            self.scale, self.model_weight, self.share_weight, self.offset, np.asarray(offsets, float), self.source
        )

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        return isinstance(other, Calibration) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]
