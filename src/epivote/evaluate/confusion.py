"""Which right alternatives are missed for which wrong ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.names import IntArray, row_ranges
from epivote.data.truths import Truths


class TickCounts(NamedTuple):
    """Per alternative, over ballots: how often it was seen and ticked while right, and while wrong."""

    right_seen: IntArray
    right_ticked: IntArray
    wrong_seen: IntArray
    wrong_ticked: IntArray

    def together(self, other: TickCounts) -> TickCounts:
        """Both added up."""
        return TickCounts(*(one + two for one, two in zip(self, other, strict=True)))


def confusions(ballots: AnyBallots, truths: Mapping[str, Iterable[str]]) -> IntArray:
    """How often k was mistaken for j: entry [k, j] counts the ballots with right k unticked and wrong j ticked.

    Rows and columns are the ballots' alternatives. Only offered alternatives and instances with a set count; a ballot
    that misses two and ticks three counts in all six pairs.
    """
    sets, counted = _as_truths(truths), np.zeros((ballots.n_alternatives, ballots.n_alternatives), np.int64)
    for part in ballots.parts():
        ticks, right = _tables(part, sets)
        both = ticks.multiply(right)
        missed, times = right - both, _times(part, sets)
        if times is not None:
            missed = missed.multiply(times[:, None]).tocsr()
        counted += (missed.T @ (ticks - both)).toarray().astype(np.int64)
    return counted


def tick_counts(ballots: AnyBallots, truths: Mapping[str, Iterable[str]]) -> TickCounts:
    """How often every alternative was seen and ticked, by whether it was right."""
    sets = _as_truths(truths)
    return reduce(TickCounts.together, (_tick_counts(part, sets) for part in ballots.parts()))


def _tick_counts(ballots: Ballots, sets: Truths) -> TickCounts:
    ticks, right = _tables(ballots, sets)
    times = _times(ballots, sets)
    right_seen, right_ticked = _per_column(right, times), _per_column(ticks.multiply(right), times)
    seen = _ballots_offering(ballots, sets)
    return TickCounts(right_seen, right_ticked, seen - right_seen, _per_column(ticks, times) - right_ticked)


def _as_truths(sets: Mapping[str, Iterable[str]]) -> Truths:
    return sets if isinstance(sets, Truths) else Truths.from_mapping(sets)


def _tables(ballots: Ballots, sets: Truths) -> tuple[Any, Any]:
    """Sparse 0/1 tables (ballots on instances with a set, alternatives): what was ticked, what is right and offered."""
    start, members = _right_and_offered(ballots, sets)
    kept = _kept(ballots, sets)
    ticks = _table(ballots.approval_start, ballots.approved, kept, ballots.n_alternatives)
    return ticks, _table(start, members, ballots.ballot_instance[kept], ballots.n_alternatives)


def _kept(ballots: Ballots, sets: Truths) -> IntArray:
    """The ballots on instances with a set."""
    known = np.array([name in sets.instance_index for name in ballots.instances])
    return np.flatnonzero(known[ballots.ballot_instance])


def _times(ballots: Ballots, sets: Truths) -> IntArray | None:
    """How many voters cast each of them; None if one did."""
    times = ballots.ballot_multiplicities
    return None if times is None else times[_kept(ballots, sets)]


def _table(start: IntArray, values: IntArray, rows: IntArray, width: int) -> Any:
    """Rows `values[start[r] : start[r + 1]]` as a sparse 0/1 table."""
    from scipy.sparse import csr_array

    cells = row_ranges(start, rows)
    begin = np.concatenate([[0], np.cumsum(np.diff(start)[rows])])
    return csr_array((np.ones(len(cells), np.int64), values[cells].astype(np.int64), begin), (len(rows), width))


def _right_and_offered(ballots: Ballots, sets: Truths) -> tuple[IntArray, IntArray]:
    """The sets in the order and the numbers of the ballots, without what was not offered: starts and members."""
    number = {name: j for j, name in enumerate(ballots.alternatives)}
    column = np.array([number.get(name, -1) for name in sets.alternatives], np.int64)
    index = sets.instance_index
    present = [(z, index[name]) for z, name in enumerate(ballots.instances) if name in index]
    instances, rows = np.array(present, np.int64).reshape(-1, 2).T
    instance = np.repeat(instances, sets.sizes[rows])
    member = column[sets.members[row_ranges(sets.start, rows)]]
    inside = member >= 0
    if ballots.menu is not None:
        menu_cell = np.repeat(np.arange(ballots.n_instances), ballots.menu_sizes) * ballots.n_alternatives
        inside &= np.isin(instance * ballots.n_alternatives + member, menu_cell + ballots.menu.offered)
    sizes = np.bincount(instance[inside], minlength=ballots.n_instances)
    return np.concatenate([[0], np.cumsum(sizes)]), member[inside]


def _ballots_offering(ballots: Ballots, sets: Truths) -> IntArray:
    """For every alternative the number of ballots on which it was offered, on instances with a set."""
    known = np.array([name in sets.instance_index for name in ballots.instances])
    cast = np.where(known, ballots.cast_per_instance, 0)
    if ballots.menu is None:
        return np.full(ballots.n_alternatives, cast.sum())
    weights = np.repeat(cast, ballots.menu_sizes).astype(float)
    return np.bincount(ballots.menu.offered, weights, ballots.n_alternatives).astype(np.int64)


def _per_column(table: Any, times: IntArray | None) -> IntArray:
    counted = table.sum(axis=0) if times is None else times @ table
    return np.asarray(counted).ravel().astype(np.int64)
