"""Why this set: what prior, voters and size bounds contributed, in log-odds that add up."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.estimate import Estimate
from epivote.data.html import html_table
from epivote.data.names import counted
from epivote.data.numbers import in_percent
from epivote.estimate.workload import InMemoryWorkload

RUNNERS_UP = 4  # sets shown beside the best; a round number
PUSHES_SHOWN = 5  # voters named one by one; the others are summed up
ALTERNATIVES_SHOWN = 8  # strongest ones on a page for people; with two or three lines each they fit a screen
WIDTH = 80  # columns, those of a usual terminal
INDENT = " " * 6  # of the terms below an alternative


@dataclass(frozen=True)
class Account:
    """One alternative's log-odds: the prior, every voter's push and the calibration add up to its margin.

    A tick pushes by ln(p/q), a blank by ln((1-p)/(1-q)), times the number of voters that a voter stands for.
    `calibration` is what the calibration added, 0 without one.
    """

    alternative: str
    prior: float
    pushes: dict[str, float]
    ticked_by: tuple[str, ...]
    calibration: float
    margin: float
    probability: float
    chosen: bool


@dataclass(frozen=True)
class ExplainedGroup:
    """The most probable group of an instance: its number from 1, its probability, and the best set within it."""

    number: int
    probability: float
    answer: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Everything that decided one instance, strongest alternative first.

    Where instances fall into groups, priors and margins are those of the most probable `group`; all probabilities are
    taken over all groups.

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
    group: ExplainedGroup | None = None

    @property
    def bound_effect(self) -> str:
        """What the size bounds changed, in words."""
        added = [name for name in self.answer if name not in self.without_bounds]
        removed = [name for name in self.without_bounds if name not in self.answer]
        if self.gold:
            return "The set was given as gold; probabilities and margins are those from the ballots alone."
        if not self.settled:
            return "The iteration stopped before convergence; its last rates would choose another set."
        if self.group is not None and set(self.answer) != set(self.group.answer):
            return f"Within group {self.group.number} alone {_names(self.group.answer)} would be the most probable set."
        if added:
            least = counted(self.size[0], "alternative")
            return f"The evidence is against {_names(added)}, but a set has at least {least}."
        if removed:
            return (
                f"The evidence is for {_names(removed)}, but a set has at most {counted(self.size[1], 'alternative')}."
            )
        return "The size bounds changed nothing: the set holds every alternative with a margin above 0."

    @property
    def _parts(self) -> str:
        is_calibrated = any(account.calibration for account in self.accounts)
        return "prior, pushes and calibration" if is_calibrated else "prior and pushes"

    @property
    def _shown(self) -> list[Account]:
        """The strongest alternatives, and those of the set."""
        return [each for rank, each in enumerate(self.accounts) if each.chosen or rank < ALTERNATIVES_SHOWN]

    def to_dict(self) -> dict[str, object]:
        """All of it, ready for JSON."""
        return {**asdict(self), "bound_effect": self.bound_effect}

    def _repr_html_(self) -> str:
        """Every alternative with its margin and probability, as a table for notebooks."""
        rows = [
            (each.alternative, "yes" if each.chosen else "no", f"{each.margin:+.2f}", in_percent(each.probability))
            for each in self.accounts
        ]
        title = f"{self.instance}: {_names(self.answer)}, confidence {in_percent(self.confidence)}. {self.bound_effect}"
        return html_table(title, ("alternative", "in the set", "margin (log-odds)", "inclusion probability"), rows)

    def to_text(self) -> str:
        """A page for a person."""
        lines = [
            f"{self.instance}: {_names(self.answer)}  (confidence {in_percent(self.confidence)})",
            self.bound_effect,
            *([] if self.group is None else [_in_group(self.group)]),
            "",
            f"Log-odds of each alternative; {self._parts} add up to the margin.",
            f"({-self.threshold:+.2f} of the pushes is the threshold, which is the same for every alternative.)",
        ]
        for account in self._shown:
            mark = "in " if account.chosen else "out"
            lines.append(
                f"  {mark} {account.alternative}: margin {account.margin:+.2f}, "
                f"inclusion probability {in_percent(account.probability)}"
            )
            lines += _filled([f"= prior {account.prior:+.2f}", *_pushes(account), *_calibration(account)])
        hidden = len(self.accounts) - len(self._shown)
        lines += [f"  and {counted(hidden, 'alternative')} with less evidence"] if hidden else []
        lines += ["", "Most probable sets:"]
        lines += [f"  {in_percent(chance):>8}  {_names(names)}" for names, chance in self.runners_up]
        return "\n".join(lines)


def explain(estimate: Estimate, instance: str) -> Explanation:
    """The account of one instance under the estimated rates."""
    ballots = estimate.ballots.select(instances=[instance])
    (place,) = estimate.ballots.places([str(instance)]).values()
    work = InMemoryWorkload(ballots, estimate.bounds)
    parameters = estimate.parameters
    odds = work.set_odds(parameters, estimate.calibration)[0]
    inclusion, best = odds.inclusion[0], odds.best()[0]
    offered = ballots.offered(instance)
    likely = odds.likely_group(0)
    within, prior_log_odds, group = odds, parameters.prior_log_odds, None
    if likely is not None:
        within, prior_log_odds = likely.odds, parameters.group_log_odds[likely.number]
        alone = tuple(offered[c] for c in np.flatnonzero(within.best()[0]))
        group = ExplainedGroup(likely.number + 1, likely.probability, alone)
    margins = within.log_odds[0]
    sets = odds.best_sets(0, RUNNERS_UP + 1)
    answer = estimate.at(np.array([place])).truths.listed(str(instance))
    counted = parameters.times(ballots.multiplicities)
    weights, thresholds = counted.weights, counted.thresholds
    prior = dict(zip(ballots.alternatives, prior_log_odds.tolist(), strict=True))
    cast = {_label(ballots, int(i)): int(i) for i in ballots.ballot_voter}
    threshold = math.fsum(float(thresholds[i]) for i in cast.values())
    accounts = []
    for c in np.argsort(-margins, kind="stable"):
        name = offered[c]
        ticked = tuple(
            voter for voter, i in cast.items() if name in (ballots.ballot(ballots.voters[i], instance) or ())
        )
        pushes = {
            voter: (float(weights[i]) if voter in ticked else 0.0) - float(thresholds[i]) for voter, i in cast.items()
        }
        if estimate.only_shares:  # a rule without rates, whose share of approvals was calibrated
            prior[name], pushes = 0.0, {}
        margin = math.fsum([prior[name], *pushes.values()])
        shift = 0.0
        if estimate.calibration is not None:
            shift, margin = float(margins[c]) - margin, float(margins[c])
        chance, is_in = float(inclusion[c]), name in answer
        accounts.append(Account(name, prior[name], pushes, ticked, shift, margin, chance, is_in))
    listed = [(tuple(offered[c] for c in members), probability) for probability, members in sets]
    members = np.array([[name in answer for name in offered]])
    return Explanation(
        instance=str(instance),
        answer=tuple(answer),
        confidence=float(odds.probabilities(members)[0]),
        threshold=threshold,
        settled=set(answer) == {offered[c] for c in np.flatnonzero(best)},
        size=(odds.lower, odds.upper),
        without_bounds=tuple(name for name, margin in zip(offered, margins, strict=True) if round(margin, 9) >= 0),
        accounts=tuple(accounts),
        runners_up=tuple(listed),
        gold=str(instance) in estimate.gold,
        group=group,
    )


def _label(ballots: Ballots, i: int) -> str:
    """The voter's name, and how many voters it stands for if it is more than one."""
    times = 1 if ballots.multiplicities is None else int(ballots.multiplicities[i])
    return ballots.voters[i] if times == 1 else f"{ballots.voters[i]} (x {times:,})"


def _names(names: tuple[str, ...] | list[str]) -> str:
    return "{" + ", ".join(names) + "}"


def _in_group(group: ExplainedGroup) -> str:
    belongs = f"to which it belongs with {in_percent(group.probability)}"
    return f"Priors and margins are those of group {group.number}, {belongs}."


def _calibration(account: Account) -> list[str]:
    return [f"{_signed(account.calibration)} calibration"] if account.calibration else []


def _pushes(account: Account) -> list[str]:
    """The strongest pushes by voter, then the sum of the others."""
    ranked = sorted(account.pushes.items(), key=lambda item: -abs(item[1]))
    shown = [
        f"{_signed(push)} {voter}{'' if voter in account.ticked_by else ' (no tick)'}"
        for voter, push in ranked[:PUSHES_SHOWN]
    ]
    others = [push for _, push in ranked[PUSHES_SHOWN:]]
    return [*shown, f"{_signed(math.fsum(others))} from {counted(len(others), 'other')}"] if others else shown


def _signed(number: float) -> str:
    return f"{'+' if number >= 0 else '-'} {abs(number):.2f}"


def _filled(terms: list[str]) -> list[str]:
    """As many terms on every line as fit its width."""
    lines = [INDENT + terms[0]]
    for term in terms[1:]:
        longer = f"{lines[-1]} {term}"
        if len(longer) <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(INDENT + term)
    return lines
