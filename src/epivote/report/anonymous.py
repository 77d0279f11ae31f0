"""Estimates without the names of voters."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from epivote.data.estimate import Estimate, VoterCounts
from epivote.data.names import row_ranges

PATH = re.compile(
    r"""(?P<quote>['"])(?:(?!(?P=quote)).)*[\\/](?P<quoted>[^\\/]*?)(?P=quote)|[^\s'"=,;]*[\\/](?P<bare>[^\s'"\\/=,;]*)"""
)


def without_voter_names(estimate: Estimate) -> Estimate:
    """The same estimate with voters called "voter 1", "voter 2", ..., most informative first.

    Voters and ballots are put in the new order as well: an alphabetical one would give the names away.
    """
    ballots, counts, known = estimate.ballots, estimate.counts, estimate.parameters
    order = np.lexsort((-ballots.ballots_per_voter, -np.round(np.abs(known.weights), 9)))
    new_number = np.argsort(order)
    rows = np.lexsort((new_number[ballots.ballot_voter], ballots.ballot_instance))
    renamed = replace(
        ballots.in_memory(),
        voters=tuple(f"voter {k}" for k in range(1, ballots.n_voters + 1)),
        ballot_voter=new_number[ballots.ballot_voter[rows]].astype(ballots.ballot_voter.dtype),
        approval_start=np.concatenate([[0], np.cumsum(ballots.ballot_sizes[rows], dtype=np.int64)]),
        approved=ballots.approved[row_ranges(ballots.approval_start, rows)],
    )
    return replace(
        estimate,
        ballots=renamed,
        parameters=known.changed(per_voter=lambda rates: rates[order]),
        counts=VoterCounts(*(part[order] for part in counts)),
    )


def without_folders(text: str) -> str:
    """The same text with every path cut down to the file's own name."""
    return PATH.sub(lambda found: found["bare"] if found["quote"] is None else found["quoted"], text)
