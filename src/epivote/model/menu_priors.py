"""Priors per alternative where menus differ: every menu has its own mass, so no closed form exists.

The objective is concave in the log-odds; a bounded quasi-Newton method (L-BFGS-B) climbs it and never ends lower.
"""

from collections.abc import Mapping

import numpy as np

from epivote.data.names import FloatArray
from epivote.data.parameters import from_log_odds, log_odds
from epivote.model.level import NO_BELIEF, Belief, in_box, level_is_free, log_odds_limit, to_mean_size
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.products import dot
from epivote.model.statistics import Group, Statistics


def menu_priors(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """The most likely priors given the sets; where only ratios matter, scaled to the total size seen."""
    from scipy.optimize import minimize

    theta = log_odds(priors)
    free = level_is_free(statistics) and belief == NO_BELIEF
    centre = (theta.max() + theta.min()) / 2 if free else 0.0
    limit = log_odds_limit(floor)

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        value, slope = menu_objective(statistics, at, belief)
        return -value, -slope

    found = minimize(
        loss,
        theta,
        jac=True,
        method="L-BFGS-B",
        bounds=[(centre - limit, centre + limit)] * len(theta),
        options={"maxiter": 500, "ftol": 1e-15, "gtol": 1e-9},
    )
    better = found.fun <= loss(theta)[0]
    reached = found.x if better else theta
    return to_mean_size(reached, statistics) if free else in_box(reached, floor)


def menu_objective(statistics: Statistics, theta: FloatArray, belief: Belief) -> tuple[float, FloatArray]:
    """Prior part of the objective and its slope: what was seen minus what is expected."""
    value = float(np.sum((statistics.occurrences + belief.present) * theta))
    value -= sum(belief) * float(np.logaddexp(0.0, theta).sum())
    slope = statistics.occurrences + belief.present - sum(belief) * from_log_odds(theta)
    for shape, members in _by_shape(statistics.groups).items():
        menus = np.array([menu for menu, _ in members], np.int64).reshape(len(members), shape.width)
        counts = np.array([count for _, count in members])
        log_partition, inclusion = log_partition_and_inclusion(theta[menus], shape.lower, shape.upper)
        value -= dot(counts, log_partition)
        np.subtract.at(slope, menus, counts[:, None] * inclusion)
    return value, slope


def _by_shape(groups: Mapping[Group, float]) -> dict[Group, list[tuple[tuple[int, ...], float]]]:
    shapes: dict[Group, list[tuple[tuple[int, ...], float]]] = {}
    for group, count in groups.items():
        menu = group.menu or tuple(range(group.width))
        shapes.setdefault(group._replace(menu=()), []).append((menu, count))
    return shapes
