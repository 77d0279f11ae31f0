"""Why this set: what prior, voters and size bounds contributed, in log-odds that add up."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from epivote.data.estimate import Estimate
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.choose import choose
from epivote.model.posterior import log_partition_and_inclusion
from epivote.model.probable_sets import best_sets

RUNNERS_UP = 4  # sets shown beside the best; a round number
PUSHES_SHOWN = 5  # voters named one by one; the others are summed up


@dataclass(frozen=True)
class Account:
    """One alternative's log-odds: prior plus every voter's push make its margin.

    A tick pushes by ln(p/q), a blank by ln((1-p)/(1-q)).
    """

    alternative: str
    prior: float
    pushes: dict[str, float]
    ticked_by: tuple[str, ...]
    margin: float
    probability: float
    chosen: bool


@dataclass(frozen=True)
class Explanation:
    """Everything that decided one instance, strongest alternative first.

    `confidence` is what the ballots say of the answer, for a gold set too. `settled` is false where the estimate was
    stopped early and its rates would by now choose another set.
    """

    instance: str
    answer: tuple[str, ...]
    confidence: float
    threshold: float
    settled: bool
    size: tuple[int, int]
    without_bounds: tuple[str, ...]
    accounts: tuple[Account, ...]
    runners_up: tuple[tuple[tuple[str, ...], float], ...]
    gold: bool

    @property
    def bound_effect(self) -> str:
        """What the size bounds changed, in words."""
        added = [name for name in self.answer if name not in self.without_bounds]
        removed = [name for name in self.without_bounds if name not in self.answer]
        if self.gold:
            return "The set was given as gold; probability and margins are what the ballots alone say."
        if not self.settled:
            return "The estimate was stopped before it had settled; its rates would by now choose another set."
        if added:
            return f"At least {self.size[0]} must be right, so {_names(added)} came in although more speaks against."
        if removed:
            return f"At most {self.size[1]} can be right, so {_names(removed)} stayed out although more speaks for."
        return "The size bounds changed nothing: every margin above 0 is in, every one below is out."

    def to_dict(self) -> dict[str, object]:
        """All of it, ready for JSON."""
        return {**asdict(self), "bound_effect": self.bound_effect}

    def to_text(self) -> str:
        """A page for a person."""
        lines = [
            f"{self.instance}: {_names(self.answer)}  (probability {self.confidence:.1%})",
            self.bound_effect,
            "",
            "Log-odds that each alternative is right; prior and pushes add up to the margin.",
            f"(Of the pushes, {-self.threshold:+.2f} is the same for every alternative: the threshold.)",
        ]
        for account in self.accounts:
            mark = "in " if account.chosen else "out"
            lines.append(
                f"  {mark} {account.alternative}: margin {account.margin:+.2f} (right with {account.probability:.1%})"
                f" = prior {account.prior:+.2f} {_pushes(account)}"
            )
        lines += ["", "Most probable sets:"]
        lines += [f"  {probability:6.1%}  {_names(names)}" for names, probability in self.runners_up]
        return "\n".join(lines)


def explain(estimate: Estimate, instance: str) -> Explanation:
    """The account of one instance under the estimated rates."""
    ballots = estimate.ballots.select(instances=[instance])
    work = InMemoryWorkload(ballots, estimate.bounds)
    shard, parameters = work.shards[0], estimate.parameters
    margins = work.margins(parameters)[0][0]
    log_partition, inclusion = log_partition_and_inclusion(margins[None, :], shard.lower, shard.upper)
    best = choose(margins[None, :], shard.lower, shard.upper)[0]
    offered = ballots.offered(instance)
    sets = best_sets(margins, shard.lower, shard.upper, RUNNERS_UP + 1)
    answer = estimate.truths.listed(estimate.truths.instances[estimate.ballots.instance_index[str(instance)]])
    weights, thresholds = parameters.weights, parameters.thresholds
    prior = dict(zip(ballots.alternatives, parameters.prior_log_odds.tolist(), strict=True))
    cast = {ballots.voters[i]: int(i) for i in ballots.ballot_voter}
    threshold = math.fsum(float(thresholds[i]) for i in cast.values())
    accounts = []
    for c in np.argsort(-margins, kind="stable"):
        name = offered[c]
        ticked = tuple(voter for voter in cast if name in (ballots.ballot(voter, instance) or ()))
        pushes = {
            voter: (float(weights[i]) if voter in ticked else 0.0) - float(thresholds[i]) for voter, i in cast.items()
        }
        margin = math.fsum([prior[name], *pushes.values()])
        accounts.append(Account(name, prior[name], pushes, ticked, margin, float(inclusion[0, c]), name in answer))
    listed = [(tuple(offered[c] for c in members), probability) for probability, members in sets]
    total = math.fsum(float(margins[c]) for c, name in enumerate(offered) if name in answer)
    return Explanation(
        instance=str(instance),
        answer=tuple(answer),
        confidence=math.exp(min(total - float(log_partition[0]), 0.0)),
        threshold=threshold,
        settled=set(answer) == {offered[c] for c in np.flatnonzero(best)},
        size=(shard.lower, shard.upper),
        without_bounds=tuple(name for name, margin in zip(offered, margins, strict=True) if round(margin, 9) >= 0),
        accounts=tuple(accounts),
        runners_up=tuple(listed),
        gold=str(instance) in estimate.gold,
    )


def _names(names: tuple[str, ...] | list[str]) -> str:
    return "{" + ", ".join(names) + "}"


def _pushes(account: Account) -> str:
    ranked = sorted(account.pushes.items(), key=lambda item: -abs(item[1]))
    shown = " ".join(
        f"{'+' if push >= 0 else '-'} {abs(push):.2f} {voter}{'' if voter in account.ticked_by else ' (no tick)'}"
        for voter, push in ranked[:PUSHES_SHOWN]
    )
    rest = math.fsum(push for _, push in ranked[PUSHES_SHOWN:])
    others = len(ranked) - PUSHES_SHOWN
    return shown + (f" {'+' if rest >= 0 else '-'} {abs(rest):.2f} from {others} others" if others > 0 else "")
