"""The first parts of the soft pass over a shard, to be timed one after the other; importing this loads numba."""

from epivote.kernels.decorators import compiled
from epivote.kernels.lanes import every
from epivote.kernels.soft_loops import count, multiply, weigh


@compiled
def first_parts(
    parts,
    first, waiting, rows,  # Blocks  # noqa: ARG001
    ballot_voter, masks, factors, lower, upper, width,
    left, ballot, unticked, said, priors, odds, later, fewer, within, seen, shares,  # Room  # noqa: ARG001
    voters,
):  # fmt: skip
    """Multiply the odds of every block; with more parts weigh sets, then count hits."""
    for block in range(len(first)):
        multiply(block, first, waiting, ballot_voter, masks, factors, priors, odds, ballot, unticked, said)
        if parts > 1:
            weigh(odds, lower, upper, width, later, fewer, within, 0)
        if parts > 2:
            count(block, waiting, width, within, ballot_voter, ballot, unticked, said, every(1.0), voters)
