"""Fewer iterations: each one starts where the last few seem to lead (Anderson acceleration).

If an iteration turns the log-odds x of all rates and priors into g(x), the last few results are combined so that the
same combination of their changes g(x) - x is as close to 0 as it can be. Near a fixed point, where g is all but linear,
that combination is all but the fixed point. It may miss: who uses it takes the plain result instead wherever the
objective would fall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import Parameters, from_log_odds, off_the_edges
from epivote.model.products import dots

MEMORY = 5  # earlier iterations that are combined; the usual number
RIDGE = 1e-10  # share of the mean square that is added to the normal equations, so that equal changes do no harm


@dataclass(frozen=True)
class Ahead:
    """Where the next iteration starts, and the log-odds that the last ones started from and led to, a row each."""

    start: Parameters
    starts: FloatArray
    results: FloatArray


def look_ahead(
    earlier: Ahead | None, before: Parameters, after: Parameters, floor: float, multiplicities: IntArray | None = None
) -> Ahead:
    """Where to go on from, once an iteration has turned the parameters `before` into those `after`.

    What happens to a voter counts as often as the `multiplicities` say that she stands for.
    """
    starts, results = _flat(before)[None], _flat(after)[None]
    if earlier is not None:
        starts = np.concatenate([earlier.starts[-MEMORY:], starts])
        results = np.concatenate([earlier.results[-MEMORY:], results])
    return Ahead(_combined(starts, results, before, after, floor, multiplicities), starts, results)


def _combined(
    starts: FloatArray,
    results: FloatArray,
    before: Parameters,
    after: Parameters,
    floor: float,
    multiplicities: IntArray | None,
) -> Parameters:
    changes = results - starts
    differences = np.diff(changes, axis=0)
    counted = differences
    if multiplicities is not None:
        counted = differences * np.concatenate([multiplicities, multiplicities, np.ones(len(after.priors))])
    products = dots(counted, differences)
    mean_square = np.trace(products) / max(1, len(products))
    if mean_square == 0:
        return after
    ridge = RIDGE * mean_square * np.eye(len(products))
    shares = np.linalg.solve(products + ridge, dots(counted, changes[-1:])[:, 0])
    ahead = results[-1] - (shares[:, None] * np.diff(results, axis=0)).sum(axis=0)
    rates = off_the_edges(from_log_odds(ahead), floor)
    hit_rates, false_alarm_rates, priors = np.split(rates, np.cumsum([len(after.hit_rates)] * 2))
    if np.array_equal(before.priors, after.priors):  # kept as given, to the last bit
        priors = after.priors
    return Parameters(hit_rates, false_alarm_rates, priors)


def _flat(parameters: Parameters) -> FloatArray:
    logs = parameters.logs
    return np.concatenate(
        [logs.hit - logs.miss, logs.false_alarm - logs.rejection, logs.present - logs.absent], dtype=float
    )
