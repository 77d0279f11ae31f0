"""Hard alternation in scipy.sparse, as one would write it in an afternoon from docs/explanation/model.md.

It is the yardstick for AMLE.

Everything is a product with one of two sparse matrices, cells against voters (ticks) and instances against voters
(who answered); cells are all (instance, alternative) pairs. It shares no code with epivote.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import expit, logit

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
FLOOR, TOLERANCE, MOST_ITERATIONS, DECIMALS = 1e-4, 1e-5, 100, 9
START = 0.51, 0.49, 0.5


class Matrices(NamedTuple):
    """Ticks: instance x alternative against voters. Answered: instances against voters."""

    ticks: Any
    answered: Any
    n_alternatives: int


class Found(NamedTuple):
    """Membership (instances, alternatives), and the last rates."""

    chosen: Bools
    hit_rates: Floats
    false_alarm_rates: Floats
    priors: Floats
    n_iterations: int


def build(
    ballot_start: npt.NDArray[Any],
    ballot_voter: npt.NDArray[Any],
    approval_start: npt.NDArray[Any],
    approved: npt.NDArray[Any],
    n_voters: int,
    n_alternatives: int,
) -> Matrices:
    """Both matrices from columns sorted by instance."""
    instances = len(ballot_start) - 1
    instance = np.repeat(np.arange(instances), np.diff(ballot_start))
    sizes = np.diff(approval_start)
    cell = np.repeat(instance, sizes) * n_alternatives + approved
    ticks = (np.ones(len(cell)), (cell, np.repeat(ballot_voter, sizes)))
    answered = (np.ones(len(instance)), (instance, ballot_voter))
    return Matrices(
        csr_array(ticks, shape=(instances * n_alternatives, n_voters)),
        csr_array(answered, shape=(instances, n_voters)),
        n_alternatives,
    )


def fit(matrices: Matrices, lower: int, upper: int, start: tuple[float, float, float] = START) -> Found:
    """Sets, voters and priors in turn until no rate and no prior moves."""
    ticks, answered, m = matrices
    instances, n = answered.shape
    p, q, t = np.full(n, start[0]), np.full(n, start[1]), np.full(m, start[2])
    ticked, seen = ticks.sum(axis=0), answered.sum(axis=0) * m
    to_voters, from_answers = ticks.T, answered.T
    chosen = np.zeros((instances, m), bool)
    made = 0
    while made < MOST_ITERATIONS:
        made += 1
        scores = (ticks @ (logit(p) - logit(q))).reshape(instances, m)
        thresholds = answered @ (np.log1p(-q) - np.log1p(-p))
        chosen = choose(scores + (logit(t) - thresholds[:, None]), lower, upper)
        hits = to_voters @ chosen.ravel().astype(float)
        winners = from_answers @ chosen.sum(axis=1).astype(float)
        new_p = rate(hits, winners, p)
        new_q = rate(ticked - hits, seen - winners, q)
        new_t = update_priors(t, chosen.sum(axis=0), instances, lower, upper)
        change = max(np.abs(new - old).max() for new, old in ((new_p, p), (new_q, q), (new_t, t)))
        p, q, t = new_p, new_q, new_t
        if change <= TOLERANCE:
            break
    return Found(chosen, p, q, t, made)


def choose(margins: Floats, lower: int, upper: int) -> Bools:
    """All margins of at least 0; rows whose number breaks a bound are sorted."""
    rounded = np.round(margins, DECIMALS)
    chosen: Bools = rounded >= 0
    sizes = chosen.sum(axis=1)
    rows = np.flatnonzero((sizes < lower) | (sizes > upper))
    wanted = np.clip(sizes[rows], lower, upper)
    order = np.argsort(-rounded[rows], axis=1, kind="stable")
    taken = np.zeros((len(rows), margins.shape[1]), bool)
    np.put_along_axis(taken, order, np.arange(margins.shape[1]) < wanted[:, None], axis=1)
    chosen[rows] = taken
    return chosen


def rate(part: Floats, whole: Floats, previous: Floats) -> Floats:
    """Shares, kept where nothing was seen."""
    return np.clip(np.divide(part, whole, out=previous.copy(), where=whole > 0), FLOOR, 1 - FLOOR)


def update_priors(priors: Floats, occurrences: npt.NDArray[Any], instances: int, lower: int, upper: int) -> Floats:
    """Proposition 2 (corrected), one alternative after the other, then the best common shift of all log-odds."""
    new = priors.copy()
    for j, occ in enumerate(occurrences):
        others = size_distribution(np.delete(new, j))
        without, with_ = others[lower : upper + 1].sum(), others[max(lower - 1, 0) : upper].sum()
        new[j] = np.clip(occ * without / (occ * without + (instances - occ) * with_), FLOOR, 1 - FLOOR)
    total = occurrences.sum() / instances
    sizes = np.arange(lower, upper + 1)
    mass = size_distribution(new)[lower : upper + 1]

    def excess(shift: float) -> float:
        weight = mass * np.exp(sizes * shift)
        return float(sizes @ weight / weight.sum() - total)

    limit = logit(1 - FLOOR)
    low, high = -limit - logit(new).min(), limit - logit(new).max()
    if excess(low) >= 0 or excess(high) <= 0:
        shift = low if excess(low) >= 0 else high
    else:
        shift = brentq(excess, low, high, xtol=1e-12)
    shifted: Floats = np.clip(expit(logit(new) + shift), FLOOR, 1 - FLOOR)
    return shifted


def size_distribution(priors: Floats) -> Floats:
    """P(size = k) of a set that holds every alternative independently with its prior."""
    mass = np.ones(1)
    for prior in priors:
        mass = np.convolve(mass, [1 - prior, prior])
    return mass
