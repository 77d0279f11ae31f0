"""Where the alternation starts: first guesses at every voter's rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.lists import Lists
from epivote.data.names import FloatArray, IntArray, sums
from epivote.kernels.library import has_loops
from epivote.kernels.pairs import distances_met

DENSE_CELLS = 20_000_000  # of voters times cells, 160 MB as floats; larger tables are built sparse
NUMBERS_PER_BLOCK = 4_000_000  # 32 MB of pairs of voters at a time
WIDEST_MASK = 64  # alternatives whose ticks fit the bits of one 64-bit number
FEW_BALLOTS = 50  # per instance; with more, listing all pairs of ballots costs more than a product of matrices
FEW_PAIRS = 10_000_000  # of ballots, up to which a compiled loop takes less time than a product; tried up to 7 million
ENOUGH_PAIRS = 1_000_000  # pairs of ballots that a first guess is made from; a round number
PAIRS_PER_VOTER = 100  # likewise for each voter of a large crowd; a round number
MOST_BALLOTS = 20_000_000  # that a first guess looks at where pairs are not listed; a round number
TICK_BITS = 8  # enough to count up to 64 ticks, with room to spare
DENSE_PAIRS = 4_000_000  # of voters: 2,000 squared, 32 MB

Rates = tuple[FloatArray, FloatArray]


def uniform(ballots: AnyBallots) -> Rates:
    """The same rates for everyone, p = .51 and q = .49: every tick counts alike, and hardly."""
    return np.full(ballots.n_voters, 0.51), np.full(ballots.n_voters, 0.49)


def random(ballots: AnyBallots, rng: np.random.Generator) -> Rates:
    """P uniform in (.5, 1) and q uniform in (0, .5), for every voter by herself."""
    edge = 1e-4
    return rng.uniform(0.5, 1 - edge, ballots.n_voters), rng.uniform(edge, 0.5, ballots.n_voters)


def mirrored(ballots: AnyBallots) -> Rates:
    """The same rates for everyone, with wrong answers ticked rather than right ones."""
    return np.full(ballots.n_voters, 0.2), np.full(ballots.n_voters, 0.7)


def tick_too_much(ballots: AnyBallots, bounds: SizeBounds) -> bool:
    """Whether voters tick clearly more than can be right even at the upper bound: they may mean the opposite."""
    offered = ballots.n_alternatives
    if not bounds.per_instance and not ballots.has_menus:  # the same everywhere, so nothing needs to be read
        most = ballots.total_ballots * (offered if bounds.upper is None else min(bounds.upper, offered))
    else:
        most = sum(int(block.cast_per_instance @ bounds.resolve(block)[1]) for block in ballots.blocks)
    return ballots.total_approvals > 1.1 * most


def anna_karenina(ballots: AnyBallots) -> Rates:
    """Those who answer like others are taken to be reliable (appendix of the paper, Algorithm 2).

    Weights run from 1/(n+1) for the voter farthest from all others to n/(n+1) for the closest; p = 1/2, and q gives
    that weight. If all are equally far, all get the same weight, 1/2. Of very many ballots a part is enough.
    """
    few_meet = ballots.most_ballots <= FEW_BALLOTS
    pairs = max(ENOUGH_PAIRS, PAIRS_PER_VOTER * ballots.n_voters)
    step = -(-ballots.n_pairs // pairs) if few_meet else -(-ballots.n_ballots // MOST_BALLOTS)
    weights = anna_karenina_weights(total_distances(ballots.sample_instances(step)), ballots.total_voters)
    return np.full(ballots.n_voters, 0.5), 0.5 * (1 - np.tanh(weights / 2))


def anna_karenina_weights(distances: FloatArray, total_voters: int | None = None) -> FloatArray:
    """Weights from every voter's total distance to all others, of whom there may be more than are listed."""
    n = total_voters or len(distances)
    closeness = 1 / np.maximum(distances, 1e-9)
    low, high = closeness.min(), closeness.max()
    if high - low <= 1e-12 * high:
        return np.full(len(distances), 0.5)
    least, most = 1 / (1 + n), n / (1 + n)
    weights: FloatArray = least + (most - least) * (closeness - low) / (high - low)
    return weights


def total_distances(ballots: Ballots) -> FloatArray:
    """Every voter's Jaccard distance to each other voter, added up.

    The distance of a pair is taken over all ticks on the instances that both answered: ticks of only one of them,
    divided by ticks of either. Two voters who share no instance say nothing about each other: such a pair counts as
    the voter's mean distance to those she does share instances with (and a voter who shares none gets the crowd's
    mean). Memory grows with the number of voters and ballots, not with the square of either.
    """
    n = ballots.n_voters
    total, met = _by_pairs(ballots) if _few_pairs(ballots) else _by_products(ballots)
    mean: FloatArray = np.divide(total, met, out=np.full(n, np.nan), where=met > 0)
    if np.any(met == 0):
        mean[met == 0] = _crowd_mean(mean, ballots) if np.any(met > 0) else 1.0
    return mean * (ballots.total_voters - 1)


def _crowd_mean(mean: FloatArray, ballots: Ballots) -> float:
    """The mean over the voters for whom there is a number."""
    if ballots.multiplicities is None:
        return float(np.nanmean(mean))
    known = ~np.isnan(mean)
    return float(np.average(mean[known], weights=ballots.multiplicities[known]))


def _few_pairs(ballots: Ballots) -> bool:
    """Whether pairs of ballots on the same instance are best taken one by one."""
    if ballots.n_alternatives > WIDEST_MASK:
        return False
    if _has_pair_loop(ballots) and ballots.n_pairs <= FEW_PAIRS:
        return True
    sparse = ballots.n_voters * ballots.n_instances * (1 + ballots.n_alternatives) > DENSE_CELLS
    return sparse and ballots.most_ballots <= FEW_BALLOTS


def _has_pair_loop(ballots: Ballots) -> bool:
    """Whether a compiled loop counts the pairs of these voters; it counts everyone once."""
    return ballots.multiplicities is None and ballots.n_voters**2 <= DENSE_PAIRS and has_loops()


def _by_pairs(ballots: Ballots) -> tuple[FloatArray, FloatArray]:
    """Distances added up, and numbers of voters met, from all pairs of ballots on the same instance."""
    total, met = distances_met(ballots) if _has_pair_loop(ballots) else _met_sorted(ballots)
    return total.sum(axis=0), met.sum(axis=0) + _met_alike(ballots)


def _met_alike(ballots: Ballots) -> FloatArray | float:
    """How many voters with the same ballots everyone meets, at distance 0."""
    if ballots.multiplicities is None:
        return 0.0
    return np.where(ballots.ballots_per_voter > 0, ballots.multiplicities - 1.0, 0.0)


def _met_sorted(ballots: Ballots) -> tuple[FloatArray, FloatArray]:
    """The same by sorting, for any number of voters.

    A pair of ballots is one number: the two voters, then the ticks they share, then those of either, so that sorting
    brings the pairs of the same two voters together.
    """
    n, cast = ballots.n_voters, ballots.ballots_per_instance
    masks = Lists(ballots.approval_start, ballots.approved).masks()
    found = []
    for count in np.unique(cast):
        one, other = np.triu_indices(count, 1)
        first = ballots.ballot_start[:-1][cast == count][:, None]
        a, b = (first + one).ravel(), (first + other).ravel()
        key = ballots.ballot_voter[a].astype(np.int64) * n + ballots.ballot_voter[b]
        shared = np.bitwise_count(masks[a] & masks[b]).astype(np.int64)
        found.append((key << 2 * TICK_BITS) | (shared << TICK_BITS) | np.bitwise_count(masks[a] | masks[b]))
    pairs = np.sort(np.concatenate(found))
    key = pairs >> 2 * TICK_BITS
    begin = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, np.int64)
    mask = (1 << TICK_BITS) - 1
    both, either = (np.add.reduceat(ticks, begin) for ticks in ((pairs >> TICK_BITS) & mask, pairs & mask))
    distance = 1 - np.divide(both, either, out=np.ones(len(begin)), where=either > 0)
    ends = np.divmod(key[begin], n)
    times = np.ones(n) if ballots.multiplicities is None else ballots.multiplicities.astype(float)
    others = [(end, times[other]) for end, other in zip(ends, ends[::-1], strict=True)]
    return (
        np.stack([sums(end, distance * weight, n) for end, weight in others]),
        np.stack([sums(end, weight, n) for end, weight in others]),
    )


def _by_products(ballots: Ballots) -> tuple[FloatArray, FloatArray]:
    """The same from products of voters' incidences, in blocks of voters."""
    ticks, answered, sizes = _incidence(ballots)
    n = ballots.n_voters
    times = None if ballots.multiplicities is None else ballots.multiplicities.astype(float)
    total, met = np.zeros(n), np.zeros(n)
    step = max(1, NUMBERS_PER_BLOCK // n)
    for begin in range(0, n, step):
        block = slice(begin, min(begin + step, n))
        both = _dense(ticks[block] @ ticks.T)
        either = _dense(sizes[block] @ answered.T) + _dense(answered[block] @ sizes.T) - both
        shared = _dense(answered[block] @ answered.T) > 0
        shared[np.arange(shared.shape[0]), np.arange(block.start, block.stop)] = False
        apart = np.where(shared & (either > 0), 1 - both / np.maximum(either, 1.0), 0.0)
        total[block] = apart.sum(axis=1) if times is None else apart @ times
        met[block] = shared.sum(axis=1) if times is None else shared @ times
    return total, met + _met_alike(ballots)


def _incidence(ballots: Ballots) -> tuple[Any, Any, Any]:
    """Voters against ticked cells, against instances answered, and against instances with the number of ticks."""
    instance, sizes = ballots.ballot_instance, ballots.ballot_sizes
    voter = ballots.ballot_voter.astype(np.intp)
    cell = np.repeat(instance * ballots.n_alternatives, sizes) + ballots.approved
    n_cells = ballots.n_instances * ballots.n_alternatives
    if n_cells > len(cell):  # some have no tick: left out
        cells, cell = np.unique(cell, return_inverse=True)
        n_cells = len(cells)
    shapes = ((ballots.n_voters, n_cells), (ballots.n_voters, ballots.n_instances))
    entries = (
        (np.repeat(voter, sizes), cell, 1.0, shapes[0]),
        (voter, instance, 1.0, shapes[1]),
        (voter, instance, sizes, shapes[1]),
    )
    if ballots.n_voters * (n_cells + ballots.n_instances) <= DENSE_CELLS:
        return tuple(_dense_matrix(*entry) for entry in entries)  # type: ignore[return-value]
    from scipy.sparse import csr_array

    return tuple(csr_array((np.full(len(row), value), (row, column)), shape) for row, column, value, shape in entries)


def _dense_matrix(row: IntArray, column: IntArray, value: Any, shape: tuple[int, int]) -> FloatArray:
    matrix = np.zeros(shape[0] * shape[1])
    matrix[row * shape[1] + column] = value  # by one number each, which is quicker than by two
    return matrix.reshape(shape)


def _dense(product: Any) -> FloatArray:
    dense: FloatArray = product if isinstance(product, np.ndarray) else product.toarray()
    return dense
