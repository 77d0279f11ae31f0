"""Who errs together: pairs and groups of voters whose mistakes coincide more often than chance explains.

With the inclusion probability pi of every cell, two voters are expected to have made together

    found    = sum of (1 - pi) x x' + pi (1 - x)(1 - x')        false alarms and misses in the same cell
    expected = sum of (1 - pi) q q' + pi (1 - p)(1 - p')        the same if they erred independently

over the cells of the instances that both voted on (x, x': whether they ticked). Under the model both have the same
mean, and what is found varies no more than Poisson counts with that mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from epivote.data.names import FloatArray, IntArray, sums
from epivote.data.parameters import Parameters
from epivote.engines.cells import cell_starts, cells_of
from epivote.estimate.workload import InMemoryWorkload

FEWEST_COMMON = 10  # instances two voters must both have voted on; a round number
FEWEST_MISTAKES = 3.0  # made by both, below which nothing is said; a round number
FALSE_FLAGS = 0.05  # at most so many crowds whose voters err independently have a pair flagged; the usual number
NUMBERS_PER_BLOCK = 4_000_000  # 32 MB of pairs of voters at a time
SPREAD = 1.4826  # standard deviation of a normal distribution in units of its median absolute deviation

Name = TypeVar("Name", int, str)


class Pair(NamedTuple):
    """Two voters (by number) who make the same mistakes: how many in common, and how many chance explains."""

    one: int
    two: int
    found: float
    expected: float


class _PairCounts(NamedTuple):
    """All pairs with enough instances in common."""

    one: IntArray
    two: IntArray
    found: FloatArray
    expected: FloatArray


def same_mistakes(work: InMemoryWorkload, inclusion: FloatArray, parameters: Parameters) -> list[Pair]:
    """Pairs of voters who make the same mistakes clearly more often than other pairs, most striking first.

    `inclusion` are the probabilities of all cells, one instance after the other.

    Every pair's count is turned into a standard normal number; where all voters share mistakes (hard instances,
    alternatives that are easily confused) those numbers are larger and vary more for everybody, so their median and
    spread over all pairs are taken out. The limit then allows for the number of pairs.
    """
    pairs = _all_pairs(work, inclusion, parameters)
    if not len(pairs.one):
        return []
    scores = _normal_scores(pairs.found, pairs.expected)
    middle = max(0.0, float(np.median(scores)))
    spread = max(1.0, SPREAD * float(np.median(np.abs(scores - middle))))
    from scipy.special import ndtri

    limit = -float(ndtri(FALSE_FLAGS / len(scores)))
    striking = (scores - middle) / spread
    chosen = np.flatnonzero((striking > limit) & (pairs.found >= FEWEST_MISTAKES))
    return [
        Pair(int(pairs.one[k]), int(pairs.two[k]), float(pairs.found[k]), float(pairs.expected[k]))
        for k in chosen[np.argsort(-striking[chosen], kind="stable")]
    ]


def joined(linked: Iterable[Iterable[Name]]) -> list[tuple[Name, ...]]:
    """Groups of voters who are linked, directly or by others; the largest first."""
    groups: list[set[Name]] = []
    for voters in linked:
        some = set(voters)
        touched = [group for group in groups if group & some]
        groups = [group for group in groups if not group & some]
        groups.append(some.union(*touched))
    return sorted((tuple(sorted(group)) for group in groups), key=lambda group: (-len(group), group))


def _normal_scores(found: FloatArray, expected: FloatArray) -> FloatArray:
    """What a standard normal number as unlikely would be; counts are compared with a Poisson distribution."""
    from scipy.special import gammainc, ndtri

    chance = np.clip(gammainc(np.maximum(found, 1e-9), expected), 1e-300, 1 - 1e-16)
    scores: FloatArray = -ndtri(chance)
    return scores


def _all_pairs(work: InMemoryWorkload, inclusion: FloatArray, parameters: Parameters) -> _PairCounts:
    """Every two voters with enough instances in common; voters are worked through in blocks.

    The number found is, written out, the sum of x x' + pi - pi x - pi x': ticks in common, and sums per ballot.
    """
    from scipy.sparse import csr_array

    n, ballots = work.ballots.n_voters, _Columns.of(work, inclusion)
    shape = (n, work.ballots.n_instances)

    def per_ballot(values: FloatArray) -> csr_array:
        return csr_array((values, (ballots.voter, ballots.instance)), shape)

    voted, ticked = per_ballot(np.ones(len(ballots.voter))), per_ballot(ballots.ticked_inside)
    inside, outside = per_ballot(ballots.inside), per_ballot(ballots.outside)
    ticks = csr_array((np.ones(len(ballots.tick_voter)), (ballots.tick_voter, ballots.tick_cell)), (n, ballots.n_cells))
    by_instance, by_ticked, by_cell = (each.T.tocsr() for each in (voted, ticked, ticks))
    false_alarm, miss = parameters.false_alarm_rates, 1 - parameters.hit_rates
    parts, step = [], max(1, NUMBERS_PER_BLOCK // n)
    for begin in range(0, n, step):
        common = (voted[begin : begin + step] @ by_instance).tocoo()
        enough = (common.data >= FEWEST_COMMON) & (begin + common.row < common.col)
        rows, one = np.unique(begin + common.row[enough], return_inverse=True)
        two = common.col[enough]
        right, wrong = ((each[rows] @ by_instance).toarray() for each in (inside, outside))
        alone = (ticked[rows] @ by_instance).toarray() + (voted[rows] @ by_ticked).toarray()
        found = (ticks[rows] @ by_cell).toarray() + right - alone
        expected = wrong * np.outer(false_alarm[rows], false_alarm) + right * np.outer(miss[rows], miss)
        parts.append(_PairCounts(rows[one], two, found[one, two], expected[one, two]))
    return _PairCounts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Columns(NamedTuple):
    """Per ballot: voter, instance, inclusion probabilities summed over what was ticked and over all that was offered,
    and the same sum of 1 - pi. Per tick: voter and cell.
    """

    n_cells: int
    voter: IntArray
    instance: IntArray
    ticked_inside: FloatArray
    inside: FloatArray
    outside: FloatArray
    tick_voter: IntArray
    tick_cell: IntArray

    @classmethod
    def of(cls, work: InMemoryWorkload, inclusion: FloatArray) -> _Columns:
        parts, n_cells = [], 0
        starts = cell_starts(work.ballots)
        for shard in work.shards:
            inside = inclusion[cells_of(shard, starts)]
            n_ballots, row = len(shard.ballot_voter), shard.ballot_row
            ballot = np.repeat(np.arange(n_ballots), shard.ticks.lengths())
            ticked = sums(ballot, inside.ravel()[shard.approval_cell], n_ballots)
            total = inside.sum(axis=1)[row]
            cells = n_cells + shard.approval_cell
            parts.append(
                (
                    shard.ballot_voter,
                    shard.instances[row],
                    ticked,
                    total,
                    shard.width - total,
                    shard.approval_voter,
                    cells,
                )
            )
            n_cells += inside.size
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(n_cells, *columns)
