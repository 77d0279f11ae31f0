"""The most probable sets, and the set of highest expected utility."""

from typing import Literal

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.model.choose import TIE_DECIMALS, choose
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.sizes import backward, forward, start_state

Utility = Literal["exact", "hamming", "f1"]
Partial = tuple[float, tuple[int, ...]]


def best_sets(margins: FloatArray, lower: int, upper: int, count: int) -> list[tuple[float, tuple[int, ...]]]:
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
    by_size: list[list[Partial]] = [[] for _ in range(most + 1)]
    by_size[0].append((float(margins[sure].sum()), tuple(sure)))
    for j in candidates:
        margin = float(margins[j])
        for extra in range(most, 0, -1):
            extended = [(total + margin, (*members, j)) for total, members in by_size[extra - 1]]
            by_size[extra] = _best(by_size[extra] + extended, count)
    allowed = range(max(0, lower - len(sure)), most + 1)
    found = _best([partial for extra in allowed for partial in by_size[extra]], count)
    return [(float(np.exp(min(total - log_partition[0], 0.0))), tuple(sorted(members))) for total, members in found]


def _best(partials: list[Partial], count: int) -> list[Partial]:
    return sorted(partials, key=lambda partial: -partial[0])[:count]


def decide(margins: FloatArray, lower: int, upper: int, utility: Utility) -> BoolArray:
    """Membership in the set of highest expected utility for every row.

    `exact` is the most probable set, `hamming` the one with most alternatives expected right, `f1` the one with the
    highest expected F1, which rewards overlap much as Jaccard does (whose expectation has no such exact maximiser).
    """
    if utility == "exact":
        return choose(margins, lower, upper)
    if utility == "hamming":
        _, inclusion = log_partition_and_inclusion(margins, lower, upper)
        return choose(inclusion - 0.5, lower, upper)
    return np.array([_best_f1(row, lower, upper) for row in margins]).reshape(margins.shape)


def _best_f1(margins: FloatArray, lower: int, upper: int) -> BoolArray:
    """Exact maximiser of expected F1.

    A set of k members has expected F1 = sum over its members j of sum over sizes s of 2 P(j right, size s) / (k + s),
    so for every k the best set takes the k largest such sums.
    """
    joint, empty = member_and_size(margins, lower, upper)
    sizes = np.arange(joint.shape[1])
    best, value = np.zeros(len(margins), bool), empty if lower == 0 else -1.0
    for k in range(max(lower, 1), upper + 1):
        gains = joint @ (2.0 / (k + sizes))
        top = np.argsort(-np.round(gains, 12), kind="stable")[:k]
        if gains[top].sum() > value + 1e-12:
            value = float(gains[top].sum())
            best = np.zeros(len(margins), bool)
            best[top] = True
    return best


def member_and_size(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, float]:
    """P(j right and size s) for every alternative and size 0..upper, and the probability of the empty set."""
    m = len(margins)
    joint = np.zeros((m, upper + 1))
    allowed = np.where((np.arange(upper + 1) >= lower), 0.0, -np.inf)
    before = [start_state(upper + 2)]
    for margin in margins:
        before.append(forward(before[-1], float(margin), 0.0))
    log_partition = np.logaddexp.reduce(before[-1][:-1] + allowed)
    for s in range(max(lower, 1), upper + 1):
        worth = np.where(np.arange(upper + 2) == s, 0.0, -np.inf)
        for j in range(m - 1, -1, -1):
            inside = np.logaddexp.reduce(before[j][:-1] + worth[1:])
            joint[j, s] = np.exp(inside + margins[j] - log_partition)
            worth = backward(worth, float(margins[j]), 0.0)
    return joint, float(np.exp(-log_partition)) if lower == 0 else 0.0
