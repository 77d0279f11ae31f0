"""The most probable sets of one instance, and sets drawn at random, each under size bounds and exactly.

`epivote.model.top_sets` finds the few most probable sets of many instances at once.
"""

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.model.choose import TIE_DECIMALS, choose
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.size_counter import backward, backward_table, end_states, next_state

WeightedSet = tuple[float, tuple[int, ...]]
"""A probability, or a sum of margins, and the members."""


def best_sets(margins: FloatArray, lower: int, upper: int, count: int) -> list[WeightedSet]:
    """The `count` most probable sets of one row with their probabilities, most probable first.

    In order of their margins the best set is a beginning. A set that leaves out an alternative more than `count` places
    before its end, or takes in one as far behind it, has `count` better ones; so only those near the end are varied,
    and for every size the best partial sets are carried along.
    """
    log_partition, _ = log_partition_and_inclusion(margins[None, :], lower, upper)
    order = np.argsort(-np.round(margins, TIE_DECIMALS), kind="stable")
    size = int(choose(margins[None, :], lower, upper).sum())
    sure = order[: max(0, size - count)].tolist()
    candidates = order[len(sure) : size + count].tolist()
    most = min(upper - len(sure), len(candidates))
    by_size: list[list[WeightedSet]] = [[] for _ in range(most + 1)]
    by_size[0].append((float(margins[sure].sum()), tuple(sure)))
    for j in candidates:
        margin = float(margins[j])
        for extra in range(most, 0, -1):
            extended = [(total + margin, (*members, j)) for total, members in by_size[extra - 1]]
            by_size[extra] = _best(by_size[extra] + extended, count)
    allowed = range(max(0, lower - len(sure)), most + 1)
    found = _best([partial for extra in allowed for partial in by_size[extra]], count)
    return [(float(np.exp(min(total - log_partition[0], 0.0))), tuple(sorted(members))) for total, members in found]


def _best(partials: list[WeightedSet], count: int) -> list[WeightedSet]:
    return sorted(partials, key=lambda partial: -partial[0])[:count]


def draw_sets(log_odds: FloatArray, lower: int, upper: int, count: int, rng: np.random.Generator) -> BoolArray:
    """`count` sets with probability proportional to exp(sum of the log-odds of their members), of allowed size.

    Alternative by alternative, each given the size so far.
    """
    m = len(log_odds)
    table = backward_table(log_odds, lower, upper)
    members = np.zeros((count, m), bool)
    size = np.zeros(count, np.int64)
    for j in range(m):
        inside, outside = log_odds[j] + next_state(table[j + 1]), table[j + 1]
        possible = np.isfinite(inside) | np.isfinite(outside)
        chance = np.zeros(len(inside))
        chance[possible] = np.exp(inside[possible] - np.logaddexp(inside, outside)[possible])
        members[:, j] = rng.random(count) < chance[np.minimum(size, len(chance) - 1)]
        size += members[:, j]
    return members


def draw_set_per_row(log_odds: FloatArray, lower: int, upper: int, rng: np.random.Generator) -> BoolArray:
    """One set for every row, with probability proportional to exp(sum of the log-odds of its members)."""
    rows, width = log_odds.shape
    later = [np.repeat(end_states(lower, upper, width)[:, None], rows, axis=1)]
    for weights in log_odds.T[::-1]:
        later.append(backward(later[-1], weights))
    later.reverse()
    members = np.zeros((rows, width), bool)
    size, row, last = np.zeros(rows, np.int64), np.arange(rows), len(later[0]) - 1
    for j, weights in enumerate(log_odds.T):
        state = np.minimum(size, last)
        inside = weights + next_state(later[j + 1])[state, row]
        outside = later[j + 1][state, row]
        members[:, j] = rng.random(rows) < np.exp(inside - np.logaddexp(inside, outside))
        size += members[:, j]
    return members
