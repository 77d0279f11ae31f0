"""From gathered ballots to those that a task can use, always in one order, so that every reader finds the same sets."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epivote import Ballots
from epivote.web.estimation.gathered import Gathered
from epivote.web.task import Task


def usable(gathered: Gathered, task: Task) -> Gathered:
    """Ballots that fit the task as it is now: on its instances, with ticks that are offered there."""
    menus = {name: frozenset(instance.menu) for name, instance in task.by_name.items()}
    different = {menu: number for number, menu in enumerate(dict.fromkeys(menus.values()))}
    menu_of = np.array([different[menus[name]] if name in menus else -1 for name in gathered.instances], np.int64)
    pairs = menu_of[gathered.instance] * max(1, len(gathered.cells)) + gathered.cell
    seen, which = np.unique(pairs, return_inverse=True)
    offered = list(different)
    fits = [
        bool(pair >= 0) and offered[pair // len(gathered.cells)].issuperset(gathered.cells[pair % len(gathered.cells)])
        for pair in seen.tolist()
    ]
    return gathered if all(fits) else gathered.where(np.array(fits, bool)[which])


def ballots_of(gathered: Gathered, task: Task) -> Ballots | None:
    """Usable ballots, instance after instance in the order of the task; nothing where there are none.

    Voters are listed as they first appear in that order, as they do when the exported file is read.
    """
    if not len(gathered):
        return None
    place = {name: number for number, name in enumerate(task.by_name)}
    places = np.array([place.get(name, -1) for name in gathered.instances])[gathered.instance]
    voters, number_of = _as_they_appear(gathered.voter[np.lexsort((gathered.voter, places))], len(gathered.voters))
    order = np.lexsort((number_of[gathered.voter], places))
    answered, counts = np.unique(places, return_counts=True)
    instances = tuple(task.instances[z].name for z in answered)
    alternatives = [alternative.name for alternative in task.alternatives]
    lengths, ticked = _approvals(gathered, alternatives)
    in_order = gathered.cell[order]
    return Ballots(
        voters=tuple(gathered.voters[number] for number in voters),
        instances=instances,
        alternatives=tuple(alternatives),
        ballot_start=_starts(counts),
        ballot_voter=number_of[gathered.voter[order]].astype(np.int32),
        approval_start=_starts(lengths[in_order]),
        approved=_joined(in_order, lengths, ticked, len(alternatives)),
        menu=None if task.menus is None else _menu(task, instances, alternatives),
    )


def gold_to_learn(answered: Collection[str], task: Task) -> dict[str, frozenset[str]] | None:
    """Gold sets that teach the rest; none where nobody answered them, or where nothing else was answered."""
    gold = {name: right for name, right in task.gold.items() if name in answered}
    return gold if 0 < len(gold) < len(answered) else None


def _as_they_appear(column: NDArray[np.int32], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different numbers in the order of their first appearance, and the place of each among them."""
    seen, first = np.unique(column, return_index=True)
    listed = seen[np.argsort(first)].astype(np.int64)
    place = np.full(limit, -1, np.int64)
    place[listed] = np.arange(len(listed))
    return listed, place


def _approvals(gathered: Gathered, alternatives: list[str]) -> tuple[NDArray[np.int64], list[list[int]]]:
    """How many alternatives of the task each different cell ticks, and which, by number."""
    numbers = {name: number for number, name in enumerate(alternatives)}
    ticked = [sorted({numbers[name] for name in ticks if name in numbers}) for ticks in gathered.cells]
    return np.array([len(each) for each in ticked], np.int64), ticked


def _joined(
    cells: NDArray[np.int32], lengths: NDArray[np.int64], ticked: list[list[int]], limit: int
) -> NDArray[np.integer]:
    """The ticks of one cell after the other, in the smallest type that holds them."""
    kind = np.uint8 if limit <= np.iinfo(np.uint8).max else np.uint16 if limit <= np.iinfo(np.uint16).max else np.int32
    values = np.array([number for each in ticked for number in each], kind)
    begin = (np.cumsum(lengths) - lengths)[cells]
    long = lengths[cells]
    within = np.arange(long.sum()) - np.repeat(np.cumsum(long) - long, long)
    joined: NDArray[np.integer] = values[np.repeat(begin, long) + within]
    return joined


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _menu(task: Task, instances: tuple[str, ...], alternatives: list[str]) -> Any:
    """What is offered on each instance, as ballots keep it."""
    menus = {name: task.by_name[name].menu for name in instances}
    blank = {("nobody", name): () for name in instances}
    return Ballots.from_mapping(blank, alternatives=alternatives, menu=menus).menu
