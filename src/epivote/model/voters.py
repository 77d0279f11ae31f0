"""Reliability of voters given the sets (Proposition 3)."""

import numpy as np

from epivote.data.names import FloatArray
from epivote.data.parameters import Parameters, off_the_edges
from epivote.model.pseudo import PseudoCounts
from epivote.model.statistics import Statistics


def voter_step(
    statistics: Statistics, parameters: Parameters, floor: float, pseudo: PseudoCounts | None = None
) -> tuple[FloatArray, FloatArray]:
    """Hit and false-alarm rates that maximise the likelihood, times the belief in `pseudo`, on [floor, 1 - floor].

    p_i is the share ticked of the right alternatives on the instances that voter i answered, q_i of the wrong ones.
    Where she saw none (0/0) the likelihood does not depend on the rate, and it keeps its value.
    """
    hits, winners = statistics.hits, statistics.winners_seen
    alarms, losers = statistics.false_alarms, statistics.losers_seen
    if pseudo is not None and pseudo.of_voters:
        hits, winners = hits + pseudo.hits, winners + pseudo.hits + pseudo.misses
        alarms, losers = alarms + pseudo.false_alarms, losers + pseudo.false_alarms + pseudo.rejections
    return (
        _share(hits, winners, parameters.hit_rates, floor),
        _share(alarms, losers, parameters.false_alarm_rates, floor),
    )


def _share(part: FloatArray, whole: FloatArray, previous: FloatArray, floor: float) -> FloatArray:
    share = np.divide(part, whole, out=previous.copy(), where=whole > 0)
    return off_the_edges(share, floor)
