"""The second half of an iteration: the most likely rates and priors given what is known of the sets."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.names import FloatArray, listing
from epivote.data.parameters import Parameters, RateLike, align_rates, with_priors
from epivote.errors import InputError, RateError
from epivote.kernels.priors import prior_step
from epivote.model.level import Belief
from epivote.model.priors import published_sweep, shared_prior, solved_priors
from epivote.model.pseudo import PseudoCounts
from epivote.model.statistics import Statistics
from epivote.model.voters import voter_step

PriorUpdate = Literal["mle", "solved", "published"]
PriorKind = Literal["individual", "shared", "fixed"]
Priors = Literal["auto", "individual", "shared"] | RateLike


def maximise(
    statistics: Statistics,
    parameters: Parameters,
    kind: PriorKind,
    floor: float,
    pseudo: PseudoCounts,
    update: PriorUpdate = "mle",
    *,
    only_priors: bool = False,
) -> Parameters:
    """Propositions 3 and 2, with believed counts added to those seen; `only_priors` leaves rates as they are."""
    belief = Belief(pseudo.prior_in, pseudo.prior_out)
    priors = _priors(statistics, parameters.priors, kind, floor, belief, update)
    if only_priors:
        return with_priors(parameters, priors)
    return Parameters(*voter_step(statistics, parameters, floor, pseudo), priors)


def _priors(
    statistics: Statistics, priors: FloatArray, kind: PriorKind, floor: float, belief: Belief, update: PriorUpdate
) -> FloatArray:
    if kind == "fixed":
        return priors
    if kind == "shared":
        if update == "published":
            raise InputError("prior_update='published' has no formula for a shared prior; use priors='individual'")
        return np.full_like(priors, shared_prior(statistics, floor))
    if update == "published":
        return published_sweep(statistics, priors, floor)
    step = solved_priors if update == "solved" else prior_step
    return step(statistics, priors, floor, belief)


def first_priors(priors: Priors, ballots: AnyBallots) -> FloatArray:
    """Where priors start: 1/2 if they are to be learnt, else as given."""
    return align_rates(0.5 if isinstance(priors, str) else priors, ballots.alternatives, "priors")


def prior_kind(priors: Priors, ballots: AnyBallots) -> PriorKind:
    """What `priors="auto"` and the other ways to say it mean for these ballots."""
    if not isinstance(priors, str):
        return "fixed"
    if priors not in ("auto", "individual", "shared"):
        raise InputError(f"priors={priors!r} is not 'auto', 'individual', 'shared' or numbers between 0 and 1")
    if ballots.n_instances == 1:
        if priors == "auto":
            return "fixed"
        raise InputError(
            "priors cannot be learnt from one instance; leave priors='auto' or give them, such as priors=0.3"
        )
    if priors == "auto":
        return "shared" if ballots.has_menus else "individual"
    return "shared" if priors == "shared" else "individual"


def check_update(update: str) -> None:
    """Refuse a way to update priors that does not exist."""
    if update not in get_args(PriorUpdate):
        raise InputError(f"prior_update={update!r} is not one of {listing(get_args(PriorUpdate))}")


def check_floor(floor: float) -> None:
    """Refuse a floor that leaves no room between it and its mirror image."""
    if not isinstance(floor, (int, float)) or not 1e-12 <= floor < 0.5:
        raise InputError(f"floor={floor!r} must lie between 1e-12 and 0.5")


def check_start(start: Parameters, ballots: AnyBallots) -> None:
    """Refuse rates and priors of other voters or alternatives than those of the ballots."""
    if len(start.hit_rates) != ballots.n_voters or len(start.priors) != ballots.n_alternatives:
        raise RateError(
            f"the start has rates of {len(start.hit_rates)} voters and priors of {len(start.priors)} alternatives; "
            f"the ballots have {ballots.n_voters} and {ballots.n_alternatives}"
        )


def check_counts(**counts: int) -> None:
    """Refuse a number of repetitions that is not a whole number of at least 1."""
    for name, count in counts.items():
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise InputError(f"{name}={count!r} must be a whole number of at least 1")


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that nothing or everything meets."""
    if not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 1:
        raise InputError(f"tolerance={tolerance!r} must be at least 0 and less than 1")
