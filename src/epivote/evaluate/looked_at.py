"""How many ballots are looked at together: all in memory, of packed ones a sample."""

from __future__ import annotations

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots

MOST_BALLOTS = 1_000_000  # packed ballots that are looked at together, in some 300 MB; a round number


def looked_at(ballots: AnyBallots) -> Ballots:
    """The ballots, or of very many packed ones those of instances chosen by their names, about a million in all."""
    if ballots.is_in_memory:
        return ballots.in_memory()
    return ballots.sample_instances(-(-ballots.n_ballots // MOST_BALLOTS))


def sampled(ballots: AnyBallots, seen: Ballots) -> int | None:
    """None if all ballots were looked at; else of how many instances."""
    return None if seen.n_instances == ballots.n_instances else seen.n_instances
