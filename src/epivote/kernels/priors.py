"""The step to the most likely priors by a compiled loop: what `epivote.model.priors` says in formulas.

Both give the same priors to the last bit if Python and the loops take `exp` and `log` from the same C library, so that
a fit does not depend on whether there are loops.
"""

from __future__ import annotations

from epivote.data.names import FloatArray
from epivote.data.parameters import log_odds
from epivote.kernels.library import done, has_loops, loops, place
from epivote.model import priors as formulas
from epivote.model.level import NO_BELIEF, Belief, in_box, log_odds_limit
from epivote.model.size_counter import is_plain
from epivote.model.sizes import MAX_PLAIN_STATES
from epivote.model.statistics import Statistics


def prior_step(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief = NO_BELIEF) -> FloatArray:
    """See `epivote.model.priors.prior_step`."""
    swept = _swept(statistics, priors, floor, belief) if has_loops() else None
    return formulas.prior_step(statistics, priors, floor, belief) if swept is None else swept


def _swept(statistics: Statistics, priors: FloatArray, floor: float, belief: Belief) -> FloatArray | None:
    """The same where all instances have the same bounds and plain numbers will do, else None."""
    if len(statistics.groups) != 1:
        return None
    ((group, count),) = statistics.groups.items()
    theta, limit = log_odds(priors), log_odds_limit(floor)
    has_no_level = group.lower == group.upper and belief == NO_BELIEF
    if group.menu or group.width != len(theta) or has_no_level or count <= 0:
        return None
    if group.upper >= MAX_PLAIN_STATES or not is_plain(theta.tolist(), limit):
        return None
    right = statistics.occurrences + belief.present
    total = float(statistics.occurrences.sum()) + belief.present * len(theta)
    reached = loops().sweep_priors(
        *(place(right), total, len(theta), group.lower, group.upper),
        *(float(count), sum(belief), limit, place(theta)),
    )
    done(reached >= 0)
    return in_box(theta, floor) if reached else None
