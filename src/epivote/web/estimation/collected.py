"""From rows of the store to ballots, always in the same order, so that every reader of them finds the same sets."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from epivote import Ballots
from epivote.web.store import BallotRow
from epivote.web.task import Task


def usable(rows: Iterable[BallotRow], task: Task) -> list[BallotRow]:
    """Ballots that fit the task as it is now: on its instances, with ticks that are offered there."""
    menus = {instance.name: frozenset(instance.menu) for instance in task.instances}
    return [row for row in rows if row.instance in menus and menus[row.instance].issuperset(row.ticks)]


def ballots_of(rows: Iterable[BallotRow], task: Task) -> Ballots | None:
    """Usable rows as ballots, instance after instance in the order of the task; nothing where there are none."""
    place = {instance.name: number for number, instance in enumerate(task.instances)}
    ordered = sorted(rows, key=lambda row: place[row.instance])
    if not ordered:
        return None
    answered = {row.instance for row in ordered}
    menus = None if task.menus is None else {name: menu for name, menu in task.menus.items() if name in answered}
    return Ballots.from_mapping(
        {(row.voter, row.instance): row.ticks for row in ordered},
        alternatives=[alternative.name for alternative in task.alternatives],
        menu=menus,
    )


def gold_to_learn(answered: Collection[str], task: Task) -> dict[str, frozenset[str]] | None:
    """Gold sets that teach the rest; none where nobody answered them, or where nothing else was answered."""
    gold = {name: right for name, right in task.gold.items() if name in answered}
    return gold if 0 < len(gold) < len(answered) else None
