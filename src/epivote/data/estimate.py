"""What an estimator found, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.columns import MULTIPLICITY_COLUMN
from epivote.data.html import MOST_ROWS, html_table
from epivote.data.names import BoolArray, FloatArray, IntArray, counted, row_ranges, starts_of
from epivote.data.numbers import in_percent
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths

Status = Literal["converged", "iteration limit", "interrupted"]


class VoterCounts(NamedTuple):
    """What the estimate rests on, per voter: right alternatives ticked and seen, wrong ones ticked and seen."""

    hits: FloatArray
    winners_seen: FloatArray
    false_alarms: FloatArray
    losers_seen: FloatArray


@dataclass(frozen=True)
class Posterior:
    """How sure: `inclusion[k]` for every offered (instance, alternative), instance after instance, and one
    probability per instance that its whole returned set is right.
    """

    inclusion: FloatArray
    set_probabilities: FloatArray

    def rows(self, places: IntArray, menu_sizes: IntArray) -> Posterior:
        """The same of the instances with these numbers; `menu_sizes` is how many alternatives every instance offers."""
        return Posterior(self.inclusion[row_ranges(starts_of(menu_sizes), places)], self.set_probabilities[places])


@dataclass(frozen=True, repr=False)
class Estimate:
    """Truths, parameters and how they were reached; `gold` names the instances whose sets were given.

    `truths`, `posterior` and `ties` are worked out when first asked for; the posterior is `None` for rules that know no
    rates (`is_rated`). Of packed ballots, take them part by part (`parts`) unless they fit in memory; `compute_part`
    makes the estimate of some of their instances from the ballots on these. With a
    `calibration` sets and posterior follow from calibrated log-odds; `uncalibrated` is then the model's own posterior
    of the same sets. `log_likelihoods` are the objectives after every iteration, each a log-likelihood plus what is
    believed about voters beforehand (shrinkage, a history); `belief` is that part of the last one. Where instances fall
    into groups, `groups` has the probability of each on every instance.
    """

    ballots: AnyBallots
    bounds: SizeBounds
    parameters: Parameters
    counts: VoterCounts
    log_likelihoods: tuple[float, ...]
    status: Status
    gold: frozenset[str]
    compute_truths: Callable[[], Truths]
    compute_posterior: Callable[[], Posterior] | None = None
    compute_ties: Callable[[], tuple[str, ...]] = tuple
    compute_part: Callable[[Ballots], Estimate] | None = None
    settling_iterations: int = 0
    belief: float = 0.0
    calibration: Calibration | None = None
    compute_uncalibrated: Callable[[], Posterior] | None = None
    compute_groups: Callable[[], FloatArray] | None = None
    compute_model_confidence: Callable[[], FloatArray] | None = None

    @property
    def log_likelihood(self) -> float | None:
        """The log-likelihood of the ballots at the end, what is believed about voters left out; None for rules without.

        With `AMLE` and known rates it is that of ballots and sets together, with `EM` that of the ballots alone.
        """
        return self.log_likelihoods[-1] - self.belief if self.log_likelihoods else None

    @property
    def n_iterations(self) -> int:
        """How many iterations were made, those included in which an estimated shrinkage settled."""
        return self.settling_iterations + len(self.log_likelihoods)

    @property
    def converged(self) -> bool:
        """Whether the last iteration changed no parameter by more than the tolerance."""
        return self.status == "converged"

    @property
    def only_shares(self) -> bool:
        """Whether the rule itself knows no log-odds, so that nothing but shares of approvals was calibrated."""
        return self.calibration is not None and self.compute_uncalibrated is None

    @property
    def is_rated(self) -> bool:
        """Whether the rule knows rates, and so can say how sure it is; if not, the posterior is None."""
        return self.compute_posterior is not None

    def parts(self, places: IntArray | None = None) -> Iterator[Estimate]:
        """The estimate itself, or of packed ballots one estimate per block: sets and posterior of its instances.

        With `places`, numbers of instances in ascending order, the same for these instances only.
        """
        if self.compute_part is not None:
            yield from map(self.compute_part, self.ballots.parts(places))
        elif places is None:
            yield self
        elif len(places):
            yield self.at(places)

    def at(self, places: IntArray) -> Estimate:
        """The estimate of the instances with these numbers, in ascending order, in memory."""
        ballots = self.ballots.rows(places)
        if self.compute_part is not None:
            return self.compute_part(ballots)
        if ballots is self.ballots:
            return self
        widths = self.ballots.menu_sizes
        names = frozenset(ballots.instances)

        def rows(found: Posterior | None) -> Posterior:
            assert found is not None
            return found.rows(places, widths)

        return replace(
            self,
            ballots=ballots,
            gold=self.gold & names,
            compute_truths=lambda: self.truths.rows(places),
            compute_posterior=(lambda: rows(self.posterior)) if self.is_rated else None,
            compute_ties=lambda: tuple(name for name in self.ties if name in names),
            compute_uncalibrated=None if self.compute_uncalibrated is None else lambda: rows(self.uncalibrated),
            compute_groups=None if self.compute_groups is None else lambda: self._groups_at(places),
            compute_model_confidence=(
                None if self.compute_model_confidence is None else lambda: self._model_confidence_at(places)
            ),
        )

    @cached_property
    def truths(self) -> Truths:
        """The estimated sets."""
        return self.compute_truths()

    @cached_property
    def posterior(self) -> Posterior | None:
        """Inclusion and set probabilities."""
        return None if self.compute_posterior is None else self.compute_posterior()

    @cached_property
    def uncalibrated(self) -> Posterior | None:
        """Inclusion and set probabilities under the model; None for rules that know no rates.

        The same as the posterior where nothing is calibrated.
        """
        if self.calibration is None:
            return self.posterior
        return None if self.compute_uncalibrated is None else self.compute_uncalibrated()

    @cached_property
    def confidence(self) -> FloatArray | None:
        """The set probabilities alone; of packed ballots the rest of the posterior is not kept."""
        if self.compute_part is None:
            return None if self.posterior is None else self.posterior.set_probabilities
        return _stated(part.posterior for part in self.parts()) if self.is_rated else None

    @cached_property
    def model_confidence(self) -> FloatArray | None:
        """The same under the model; the same as `confidence` where nothing is calibrated."""
        if self.calibration is None:
            return self.confidence
        return None if self.compute_model_confidence is None else self.compute_model_confidence()

    @cached_property
    def gold_sets(self) -> dict[str, frozenset[str]]:
        """The sets that were given, by instance."""
        places = np.array(sorted(self.ballots.places(self.gold).values()), np.int64)
        return {name: part.truths[name] for part in self.parts(places) for name in part.truths}

    @cached_property
    def groups(self) -> FloatArray | None:
        """The probability of every group on every instance, a row for each; None where there are no groups."""
        return None if self.compute_groups is None else self.compute_groups()

    def _groups_at(self, places: IntArray) -> FloatArray:
        assert self.groups is not None
        return self.groups[places]

    def _model_confidence_at(self, places: IntArray) -> FloatArray:
        assert self.model_confidence is not None
        return self.model_confidence[places]

    @cached_property
    def ties(self) -> tuple[str, ...]:
        """Instances where other sets were exactly as likely, at the start or at the end, and the order of the
        alternatives decided.
        """
        return self.compute_ties()

    # Tables: columns by name, ready for a file, a frame or a page

    def __repr__(self) -> str:
        """What was found at a glance."""
        how = f"{self.status} after {self.n_iterations:,} iterations" if self.n_iterations else self.status
        return f"Estimate({counted(self.ballots.n_instances, 'set')} of size {self.bounds}, {how})"

    def _repr_html_(self) -> str:
        """The first sets as a table for notebooks."""
        return html_table(repr(self), ("instance", "set", "confidence"), self.first_rows(), self.ballots.n_instances)

    def first_rows(self, count: int = MOST_ROWS) -> list[tuple[str, str, str]]:
        """Instance, set and confidence of the first instances, ready to print."""
        first = self.at(np.arange(min(count, self.ballots.n_instances)))
        stated = [""] * len(first.truths)
        if first.confidence is not None:
            stated = [in_percent(value) for value in first.confidence.tolist()]
        return [
            (name, ", ".join(first.truths.listed(name)) or "(none)", "gold" if name in self.gold else sure)
            for name, sure in zip(first.truths, stated, strict=True)
        ]

    def truth_table(self) -> dict[str, list[object]]:
        """`instance`, `alternatives` (a list of names), `confidence`; it is None for rules that know no rates.

        If the confidence is calibrated, `model_confidence` stands beside it.
        """
        confidence: list[object] = [None] * len(self.truths)
        if self.confidence is not None:
            confidence = list(self.confidence.tolist())
        columns: dict[str, list[object]] = {
            "instance": list(self.truths.instances),
            "alternatives": [self.truths.listed(instance) for instance in self.truths],
            "confidence": confidence,
        }
        if self.calibration is not None and self.model_confidence is not None:
            columns["model_confidence"] = list(self.model_confidence.tolist())
        return columns

    def voter_table(self) -> dict[str, list[object]]:
        """`voter`, `hit_rate`, `false_alarm_rate`, `weight`, `ballots`; a rate that nothing was seen of is None.

        If some stand for several voters, `multiplicity` says for how many; all else is that of each of them.
        """
        times = self.ballots.multiplicities
        return {
            "voter": list(self.ballots.voters),
            "hit_rate": _where(self.counts.winners_seen > 0, self.parameters.hit_rates),
            "false_alarm_rate": _where(self.counts.losers_seen > 0, self.parameters.false_alarm_rates),
            "weight": self.parameters.weights.tolist(),
            "ballots": self.ballots.ballots_per_voter.tolist(),
            **({} if times is None else {MULTIPLICITY_COLUMN: times.tolist()}),
        }

    def alternative_table(self) -> dict[str, list[object]]:
        """`alternative`, `prior`; with groups also `prior_1` and so on, the prior in each group."""
        of_groups = self.parameters.group_priors if self.parameters.group_priors is not None else ()
        return {
            "alternative": list(self.ballots.alternatives),
            "prior": self.parameters.priors.tolist(),
            **{f"prior_{number}": priors.tolist() for number, priors in enumerate(of_groups, 1)},
        }

    def group_table(self) -> dict[str, list[object]]:
        """`instance`, `group` (from 1), `probability` of the most probable group; no rows without groups."""
        if self.groups is None:
            return {"instance": [], "group": [], "probability": []}
        return {
            "instance": list(self.ballots.instances),
            "group": (np.argmax(self.groups, axis=1) + 1).tolist(),
            "probability": self.groups.max(axis=1).tolist(),
        }

    def inclusion_table(self) -> dict[str, list[object]]:
        """`instance`, `alternative`, `probability`, a row per offered alternative; no rows without a posterior."""
        if self.posterior is None:
            return {"instance": [], "alternative": [], "probability": []}
        ballots = self.ballots.in_memory()
        instance = np.repeat(np.arange(ballots.n_instances), ballots.menu_sizes)
        return {
            "instance": [ballots.instances[z] for z in instance],
            "alternative": [ballots.alternatives[j] for j in offered_everywhere(ballots)],
            "probability": self.posterior.inclusion.tolist(),
        }


def _stated(posteriors: Iterable[Posterior | None]) -> FloatArray:
    return np.concatenate([each.set_probabilities for each in posteriors if each is not None])


def offered_everywhere(ballots: Ballots) -> IntArray:
    """The alternatives offered on every instance, one instance after the other."""
    if ballots.menu is not None:
        return ballots.menu.offered
    return np.tile(np.arange(ballots.n_alternatives), ballots.n_instances)


def _where(seen: BoolArray, rates: FloatArray) -> list[object]:
    return [rate if is_seen else None for rate, is_seen in zip(rates.tolist(), seen, strict=True)]
