"""The set of highest expected utility: exactly right, most alternatives right, highest F1 or Jaccard similarity."""

from typing import Literal

import numpy as np

from epivote.data.names import BoolArray, FloatArray
from epivote.model.choose import TIE_DECIMALS, choose
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.size_counter import backward, forward, start_state, weight_with

Utility = Literal["exact", "hamming", "f1", "jaccard"]


def decide(margins: FloatArray, lower: int, upper: int, utility: Utility) -> BoolArray:
    """Membership in the set of highest expected utility for every row.

    `exact` is the most probable set, `hamming` the one with most alternatives expected right, `f1` the one with the
    highest expected F1; each exactly. `jaccard` is the one with the highest expected Jaccard similarity among the sets
    that take the k most probable alternatives, for every allowed k.
    """
    if utility == "exact":
        return choose(margins, lower, upper)
    if utility == "hamming":
        _, inclusion = log_partition_and_inclusion(margins, lower, upper)
        return choose(inclusion - 0.5, lower, upper)
    best = _best_f1 if utility == "f1" else _best_jaccard
    return np.array([best(row, lower, upper) for row in margins]).reshape(margins.shape)


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


def _best_jaccard(margins: FloatArray, lower: int, upper: int) -> BoolArray:
    _, inclusion = log_partition_and_inclusion(margins[None, :], lower, upper)
    order = np.argsort(-np.round(inclusion[0], TIE_DECIMALS), kind="stable")
    rank = np.argsort(order)
    values = [expected_jaccard(margins, rank < k, lower, upper) for k in range(lower, upper + 1)]
    chosen: BoolArray = rank < lower + int(np.argmax(np.round(values, 12)))
    return chosen


def expected_jaccard(margins: FloatArray, members: BoolArray, lower: int, upper: int) -> float:
    """Expected Jaccard similarity of one set with the right one.

    Two counters run over the alternatives: how many right ones are in the set, and how many are not; similarity is the
    first divided by the size of the set and the second together.
    """
    k = int(members.sum())
    counters = np.full((k + 1, upper + 1), -np.inf)
    counters[0, 0] = 0.0
    for inside, margin in zip(members, margins, strict=True):
        after = counters.copy()
        if inside:
            after[1:] = np.logaddexp(after[1:], counters[:-1] + margin)
        else:
            after[:, 1:] = np.logaddexp(after[:, 1:], counters[:, :-1] + margin)
        counters = after
    shared, missed = np.meshgrid(np.arange(k + 1), np.arange(upper + 1), indexing="ij")
    allowed = (shared + missed >= lower) & (shared + missed <= upper)
    weights = np.where(allowed, counters, -np.inf)
    shares = np.exp(weights - weights.max())
    union = k + missed
    similarity = np.divide(shared, union, out=np.ones(shared.shape), where=union > 0)
    return float((shares * similarity).sum() / shares.sum())


def member_and_size(margins: FloatArray, lower: int, upper: int) -> tuple[FloatArray, float]:
    """P(j right and size s) for every alternative and size 0..upper, and the probability of the empty set."""
    m = len(margins)
    joint = np.zeros((m, upper + 1))
    allowed = np.where((np.arange(upper + 1) >= lower), 0.0, -np.inf)
    before = [start_state(upper + 2)]
    for margin in margins:
        before.append(forward(before[-1], float(margin)))
    log_partition = np.logaddexp.reduce(before[-1][:-1] + allowed)
    for s in range(max(lower, 1), upper + 1):
        worth = np.where(np.arange(upper + 2) == s, 0.0, -np.inf)
        for j in range(m - 1, -1, -1):
            inside = weight_with(before[j], worth)
            joint[j, s] = np.exp(inside + margins[j] - log_partition)
            worth = backward(worth, float(margins[j]))
    return joint, float(np.exp(-log_partition)) if lower == 0 else 0.0
