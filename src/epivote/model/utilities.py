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
    alone = np.ones(1)
    found = [best_of_mixture(alone, row[None, :], lower, upper, utility) for row in margins]
    return np.array(found).reshape(margins.shape)


def best_of_mixture(weights: FloatArray, margins: FloatArray, lower: int, upper: int, utility: Utility) -> BoolArray:
    """Membership in the set of highest expected F1 or Jaccard similarity of one instance.

    The instance belongs to each group with some probability; `margins` has a row for each group.
    """
    best = _best_f1 if utility == "f1" else _best_jaccard
    return best(weights, margins, lower, upper)


def _best_f1(weights: FloatArray, margins: FloatArray, lower: int, upper: int) -> BoolArray:
    """Exact maximiser of expected F1.

    A set of k members has expected F1 = sum over its members j of sum over sizes s of 2 P(j right, size s) / (k + s),
    so for every k the best set takes the k largest such sums.
    """
    joint, empty = np.zeros((margins.shape[1], upper + 1)), 0.0
    for weight, row in zip(weights.tolist(), margins, strict=True):
        of_members, of_none = member_and_size(row, lower, upper)
        joint, empty = joint + weight * of_members, empty + weight * of_none
    sizes = np.arange(joint.shape[1])
    best, value = np.zeros(len(joint), bool), empty if lower == 0 else -1.0
    for k in range(max(lower, 1), upper + 1):
        gains = joint @ (2.0 / (k + sizes))
        top = np.argsort(-np.round(gains, 12), kind="stable")[:k]
        if gains[top].sum() > value + 1e-12:
            value = float(gains[top].sum())
            best = np.zeros(len(joint), bool)
            best[top] = True
    return best


def _best_jaccard(weights: FloatArray, margins: FloatArray, lower: int, upper: int) -> BoolArray:
    _, inclusion = log_partition_and_inclusion(margins, lower, upper)
    order = np.argsort(-np.round(weights @ inclusion, TIE_DECIMALS), kind="stable")
    rank = np.argsort(order)
    values = [
        sum(
            weight * expected_jaccard(row, rank < k, lower, upper)
            for weight, row in zip(weights.tolist(), margins, strict=True)
        )
        for k in range(lower, upper + 1)
    ]
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
