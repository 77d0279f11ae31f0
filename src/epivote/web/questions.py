"""Which question comes next, and which ones nobody needs to be asked any more."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from math import log2

from epivote.web.estimation.live import Live
from epivote.web.store.store import Sheet
from epivote.web.task import Alternative, Instance, Task

REMEMBERED_ORDERS = 1_000  # participants; of 5,000 instances each is 40 KB, and takes 10 ms to work out


def shuffled(task: Task, seed: str) -> list[str]:
    """All instances in an order of the participant's own, the same at every return; new ones are slipped in."""
    return list(_shuffled(task.names, seed))


@lru_cache(maxsize=REMEMBERED_ORDERS)
def _shuffled(names: tuple[str, ...], seed: str) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: sha256(f"{seed}\n{name}".encode()).digest()))


def presented(task: Task, instance: Instance, seed: str) -> tuple[Alternative, ...]:
    """What is offered, in the order it is shown: that of the task, or one of the participant's own on all questions."""
    if not task.shuffle_alternatives:
        return instance.offered
    return tuple(
        sorted(instance.offered, key=lambda each: sha256(f"{seed}\nalternative\n{each.name}".encode()).digest())
    )


def settled(task: Task, live: Live, counts: Mapping[str, int]) -> frozenset[str]:
    """Instances with enough ballots or confidence; gold questions are asked of everybody."""
    most, least = task.most_ballots, task.confidence
    full = set() if most is None else {name for name, count in counts.items() if count >= most}
    sure = {name for name, found in live.sets.items() if found.confidence >= least} if least else set()
    return frozenset(name for name in full | sure if name not in task.gold)


def own_order(task: Task, sheet: Sheet) -> list[str]:
    """The questions of a participant by position; with the most doubtful first, those given so far."""
    if task.order == "shuffled":
        return shuffled(task, sheet.voter.token)
    return [name for name in sheet.asked if name in task.by_name]


def next_open(order: list[str], sheet: Sheet, closed: Collection[str], after: int = 0) -> int | None:
    """The position of the next question neither answered nor skipped nor settled: after a position, else before it."""
    positions: list[int] = [*range(after + 1, len(order) + 1), *range(1, after + 1)]
    for position in positions:
        name = order[position - 1]
        if name not in sheet.ballots and name not in sheet.skips and name not in closed:
            return position
    return None


def most_doubtful(task: Task, sheet: Sheet, live: Live, closed: Collection[str]) -> str | None:
    """The instance to ask next: gold ones where a shuffled order has them, else the one whose set is least sure.

    Doubts of about the same size count as equal and are told apart by the shuffled order, so that a crowd spreads out.
    """
    order = shuffled(task, sheet.voter.token)
    left = [name for name in order if name not in sheet.asked and name not in closed and name not in sheet.ballots]
    if not left:
        return None
    gold = [name for name in left if name in task.gold]
    others = [name for name in left if name not in task.gold]
    position = len(sheet.asked)
    wants_gold = position < len(order) and order[position] in task.gold
    if gold and (wants_gold or not others):
        return gold[0]
    return max(others, key=lambda name: _doubt(live, name))


def _doubt(live: Live, name: str) -> int:
    """How doubtful the set of an instance is: each step down halves the probability that it is wrong."""
    confidence = live.sets[name].confidence if name in live.sets else 0.0
    return round(log2(max(1 - confidence, 1e-12)))
