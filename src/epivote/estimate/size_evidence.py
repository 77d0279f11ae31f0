"""Whether other size bounds explain the ballots far better than those given."""

from __future__ import annotations

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.errors import BoundsError
from epivote.estimate.em import EM
from epivote.estimate.objectives import marginal_log_likelihood
from epivote.estimate.reproducibility import fitted_copy

BALLOTS_ASKED = 1000  # about so many, of a sample of instances; enough to tell on simulated crowds
FAR_LIKELIER = 10.0  # in log-likelihood: odds of e^10, a round number


def far_likelier(ballots: AnyBallots, bounds: SizeBounds, shift: int) -> bool:
    """Whether bounds raised by `shift` (negative: lowered), or by 1 in that direction, explain the ballots far better.

    Rates and priors are learnt anew under each of them. Voters who make the same mistakes let sets look too large, so
    that this is evidence for lower bounds rather than for higher ones.
    """
    sample = ballots.sample_instances(max(1, ballots.total_ballots // BALLOTS_ASKED))
    given = _explained(sample, bounds)
    one = 1 if shift > 0 else -1
    return any(_explained(sample, bounds.shifted(by)) > given + FAR_LIKELIER for by in {one, shift})


def _explained(sample: Ballots, bounds: SizeBounds) -> float:
    """The log-likelihood of the ballots under the rates and priors that explain them best; -inf for no such sets."""
    try:
        fitted = fitted_copy(EM(bounds), sample)
    except BoundsError:
        return float("-inf")
    return marginal_log_likelihood(sample, fitted.parameters_, bounds)
