"""Estimates without the names of voters."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.estimate import Estimate, VoterCounts
from epivote.data.names import IntArray

PATH = re.compile(
    r"""(?P<quote>['"])(?:(?!(?P=quote)).)*[\\/](?P<quoted>[^\\/]*?)(?P=quote)|[^\s'"=,;]*[\\/](?P<bare>[^\s'"\\/=,;]*)"""
)


def without_voter_names(estimate: Estimate) -> Estimate:
    """The same estimate with voters called "voter 1", "voter 2", ..., most informative first.

    Voters and ballots are put in the new order as well: an alphabetical one would give the names away.
    """
    weights = np.round(np.abs(estimate.parameters.weights), 9)
    order = np.lexsort((-estimate.ballots.ballots_per_voter, -weights))
    return _renamed(estimate, tuple(f"voter {k}" for k in range(1, len(order) + 1)), order)


def _renamed(estimate: Estimate, names: tuple[str, ...], order: IntArray) -> Estimate:
    own_names, own_order, compute_part = estimate.ballots.voters, np.argsort(order), estimate.compute_part

    def part(ballots: Ballots) -> Estimate:
        assert compute_part is not None
        return _renamed(compute_part(ballots.with_voters(own_names, own_order)), names, order)

    return replace(
        estimate,
        ballots=estimate.ballots.with_voters(names, order),
        parameters=estimate.parameters.changed(per_voter=lambda rates: rates[order]),
        counts=VoterCounts(*(counted[order] for counted in estimate.counts)),
        compute_part=None if compute_part is None else part,
    )


def without_folders(text: str) -> str:
    """The same text with every path cut down to the file's own name."""
    return PATH.sub(lambda found: found["bare"] if found["quote"] is None else found["quoted"], text)
