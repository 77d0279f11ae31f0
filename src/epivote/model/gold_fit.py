"""How log-odds translate into truth, learnt from gold sets.

The probability of the gold sets under calibrated log-odds is maximised, with Gaussian beliefs around a calibration that
changes nothing. How strong these beliefs should be is told by the evidence for them: the probability of the gold sets
with the calibration integrated out (Laplace's approximation). What is learnt with beliefs of several strengths is
pooled, weighted by their evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.calibration import Calibration
from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.model.posterior import log_partition_and_inclusion

DIFFERENCE = 1e-4  # of each coordinate, for second derivatives by differences of gradients; a round number
SMALLEST_STEP = 1e-7  # in units of the beliefs, below which the minimum is reached; a round number
MOST_STEPS = 50  # of Newton's method, which needs about 6
# Second derivatives count as at least this: the beliefs alone give 1, and products of scale and weights can take away.
LEAST_CURVATURE = 0.05
LEAST_SUPPORT = 0.01  # share of all evidence below which a setting is left out; a round number


class GoldTable(NamedTuple):
    """Gold instances with equally many alternatives and the same bounds: log-odds of the fit and of the share of
    approvals, the gold sets, and which alternative each cell is (None: cell j is alternative j).
    """

    margins: FloatArray
    shares: FloatArray
    sets: BoolArray
    offered: IntArray | None
    lower: int
    upper: int

    def rows(self, chosen: IntArray | BoolArray) -> GoldTable:
        """Some of the instances."""
        return self._replace(
            margins=self.margins[chosen],
            shares=self.shares[chosen],
            sets=self.sets[chosen],
            offered=None if self.offered is None else self.offered[chosen],
        )


class Beliefs(NamedTuple):
    """Standard deviations of the log of the scale, the two weights, the offset, and the offset of each alternative,
    around log-scale 0, the weights given, and offsets 0.
    """

    name: str
    log_scale: float
    weights: float
    offset: float
    offsets: float


# From "change next to nothing" to "change much"; scale and offset also by themselves. Round numbers, tried on crowds
# drawn from the model (where changing nothing is right) and on crowds whose voters share mistakes.
STRENGTHS = (
    Beliefs("next to none", 0.05, 0.02, 0.1, 0.05),
    Beliefs("tight", 0.3, 0.2, 0.5, 0.3),
    Beliefs("middle", 0.7, 0.5, 1.0, 0.5),
    Beliefs("loose", 1.0, 0.5, 1.5, 1.0),
    Beliefs("scale only", 1.0, 0.05, 0.1, 0.05),
    Beliefs("scale and offset", 1.0, 0.2, 1.5, 0.05),
)
# Where the gold sets cannot say how large sets should be.
SIZES_UNKNOWN = tuple(each._replace(offset=0.05) for each in STRENGTHS if each.name in ("next to none", "scale only"))
CENTRES = ((1.0, 0.0), (0.5, 0.5))  # weights of the fit and of the share of approvals that beliefs lie around


# Probability, before any gold set is seen, that next to nothing has to change. Chosen among equal probabilities, .5 and
# .8 on 80 simulated crowds of independent voters with 20 gold sets, where calibration costs .006, .004 and .002 of the
# sets, and on 25 that share mistakes, where it finds .032, .032 and .031 more sets than the fit. The 50 independent
# crowds of docs/explanation/confidence-measured.md are among the 80.
UNCHANGED = 0.8


class Setting(NamedTuple):
    """Beliefs, the weights of the fit and of the share of approvals that they lie around, and how probable all this is
    before any gold set is seen.
    """

    beliefs: Beliefs
    centre: tuple[float, float]
    probability: float = 1.0


def settings_of(strengths: Iterable[Beliefs], centres: Iterable[tuple[float, float]] = CENTRES) -> list[Setting]:
    """Beliefs of every strength around every centre, equally probable beforehand, except for a fit that is right."""
    first, *others = [Setting(beliefs, centre) for centre in centres for beliefs in strengths]
    if first.centre != CENTRES[0]:  # no fit, only a share of approvals: nobody believes that this is right
        return [first, *others]
    share = (1 - UNCHANGED) / max(1, len(others))
    return [first._replace(probability=UNCHANGED), *(each._replace(probability=share) for each in others)]


@dataclass(frozen=True)
class Learnt:
    """A calibration, and the settings it was pooled from with their weights."""

    calibration: Calibration
    weights: Mapping[Setting, float]


def learn_calibration(
    tables: Sequence[GoldTable],
    n_alternatives: int,
    settings: Sequence[Setting] = tuple(settings_of(STRENGTHS)),
    *,
    weights: Mapping[Setting, float] | None = None,
    with_offsets: bool = True,
) -> Learnt:
    """The calibrations of all settings, pooled: the mean of their log-odds, weighted by their evidence.

    `weights` are those of the settings where they are known already. `with_offsets` gives every alternative an offset
    of its own; all tables must then offer all of them.
    """
    line = _Line.through(tables)
    alike = [table._replace(shares=line.at(table.shares)) for table in tables]
    found: dict[Setting, _Minimum] = {}
    for setting in settings if weights is None else weights:
        problem = _Problem(alike, n_alternatives if with_offsets else 0, setting.beliefs, setting.centre)
        found[setting] = problem.minimum()
    weights = weights or _by_evidence(found)
    pooled = sum(weight * found[setting].coefficients for setting, weight in weights.items())
    assert isinstance(pooled, np.ndarray)
    return Learnt(line.calibration(pooled, n_alternatives), weights)


def _by_evidence(found: Mapping[Setting, _Minimum]) -> dict[Setting, float]:
    """The weight of each setting in proportion to its probability and evidence; hardly supported ones are left out."""
    most = max(each.log_evidence for each in found.values())
    evidence = {each: each.probability * float(np.exp(found[each].log_evidence - most)) for each in found}
    kept = {setting: each for setting, each in evidence.items() if each >= LEAST_SUPPORT * sum(evidence.values())}
    return {setting: each / sum(kept.values()) for setting, each in kept.items()}


class _Line(NamedTuple):
    """The log-odds of the fit as the share of approvals predicts them, slope * s + level.

    They are what the fit would say if all voters and alternatives were alike, so that weights of both add up to one.
    """

    slope: float
    level: float

    @classmethod
    def through(cls, tables: Sequence[GoldTable]) -> _Line:
        """Least squares over all cells; the share as it is for a rule that states no log-odds."""
        margins = np.concatenate([table.margins.ravel() for table in tables])
        shares = np.concatenate([table.shares.ravel() for table in tables])
        apart = shares - shares.mean()
        if not margins.any() or not apart.any():
            return cls(1.0, 0.0)
        slope = float(apart @ margins / (apart @ apart))
        return cls(slope, float(margins.mean() - slope * shares.mean()))

    def at(self, shares: FloatArray) -> FloatArray:
        """The log-odds predicted."""
        return self.slope * shares + self.level

    def calibration(self, pooled: FloatArray, n_alternatives: int) -> Calibration:
        """The same in terms of the share itself; the scale is how much of a ballot's push remains."""
        model, share, offset, *offsets = pooled.tolist()
        scale = model + share if model + share > 0 else 1.0
        return Calibration(
            scale=scale,
            model_weight=model / scale,
            share_weight=share * self.slope / scale,
            offset=offset + share * self.level,
            offsets=np.array(offsets) if offsets else np.zeros(n_alternatives),
            source="gold",
        )


class _Minimum(NamedTuple):
    """The best calibration of one setting, and the logarithm of the setting's evidence.

    `coefficients` are what multiplies m and s, the offset, and the offsets of alternatives.
    """

    coefficients: FloatArray
    log_evidence: float


class _Problem:
    """The negative logarithm of the probability of the gold sets times the density of the beliefs.

    The coordinates are log-scale, both weights, offset, and offsets of alternatives, each in units of its belief.
    """

    def __init__(
        self, tables: Sequence[GoldTable], n_offsets: int, beliefs: Beliefs, centre: tuple[float, float]
    ) -> None:
        self.tables = tables
        self.centre = np.array([0.0, *centre, 0.0, *np.zeros(n_offsets)])
        _, log_scale, weights, offset, offsets = beliefs
        self.spread = np.array([log_scale, weights, weights, offset, *np.full(n_offsets, offsets)])

    def minimum(self) -> _Minimum:
        """Where it is smallest, by Newton's method, whose steps are halved until they lead down."""
        at = np.zeros(len(self.centre))
        value, gradient, curvature = self._around(at)
        for _ in range(MOST_STEPS):
            values, axes = np.linalg.eigh(curvature)
            step = axes @ ((axes.T @ gradient) / np.maximum(np.abs(values), LEAST_CURVATURE))
            while np.abs(step).max() > SMALLEST_STEP:
                there = self._around(at - step)
                if there[0] < value:
                    break
                step /= 2
            else:
                break
            at, (value, gradient, curvature) = at - step, there
        log_determinant = float(np.log(np.maximum(np.linalg.eigvalsh(curvature), LEAST_CURVATURE)).sum())
        best = self.centre + self.spread * at
        coefficients = np.concatenate([np.exp(best[0]) * best[1:3], best[3:]])
        return _Minimum(coefficients, -value - log_determinant / 2)

    def _around(self, at: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Value, gradient and second derivatives at one point; these are differences of gradients nearby."""
        steps = DIFFERENCE * np.eye(len(at))
        values, gradients = self.values_and_gradients(np.concatenate([[at], at + steps, at - steps]))
        forward, backward = gradients[1 : len(at) + 1], gradients[len(at) + 1 :]
        curvature = (forward - backward) / (2 * DIFFERENCE)
        return float(values[0]), gradients[0], (curvature + curvature.T) / 2

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and gradients at several points at once: what is expected minus what was observed."""
        moved = self.centre + self.spread * points
        scale, model_weight, share_weight, offset = (column[:, None, None] for column in moved.T[:4])
        scale, offsets = np.exp(scale), moved[:, 4:]
        values, gradients = 0.5 * (points**2).sum(axis=1), np.zeros(points.shape)
        for table in self.tables:
            mixed = scale * (model_weight * table.margins + share_weight * table.shares)
            log_odds = mixed + offset
            if offsets.size:
                log_odds += offsets[:, None, :]
            flat = log_odds.reshape(-1, log_odds.shape[2])
            log_partition, inclusion = log_partition_and_inclusion(flat, table.lower, table.upper)
            surplus = inclusion.reshape(log_odds.shape) - table.sets
            values += log_partition.reshape(log_odds.shape[:2]).sum(axis=1)
            values -= np.where(table.sets, log_odds, 0.0).sum(axis=(1, 2))
            for place, effect in enumerate((mixed, scale * table.margins, scale * table.shares, 1.0)):
                gradients[:, place] += (surplus * effect).sum(axis=(1, 2))
            if offsets.size:
                gradients[:, 4:] += surplus.sum(axis=1)
        return values, gradients * self.spread + points
