"""One estimation, from the ballots of a moment to what pages show."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from epivote import AMLE, EM, Auto, Ballots, Calibrated, CrowdWarning, Parameters, SizeBounds, Summary, summarize
from epivote.web.estimation.collected import ballots_of, gold_to_learn, usable
from epivote.web.estimation.gathered import Gathered, Moments
from epivote.web.estimation.live import MANY, Live, SetFound
from epivote.web.ranking import places, reference
from epivote.web.store.counters import Stamp
from epivote.web.store.store import now
from epivote.web.task import Task

MOST_REVIEWED = 100  # rows; a round number
TIME_STEPS = 60  # bars of the chart of ballots over time
MANY_BALLOTS = 50_000  # from which starting from the rates before saves time worth saving; a round number
FEW_NEW = 0.2  # share of voters without rates up to which the others' are a good start; a round number
MINUTE = 60_000_000  # in microseconds, the store's unit of time


class LiveFit(NamedTuple):
    """An estimator that has done its work on ballots, how, and what it noticed."""

    estimator: Auto | Calibrated | EM | AMLE
    ballots: Ballots
    method: str
    warnings: tuple[str, ...]
    is_warm: bool = False


@dataclass
class KnownRates:
    """The rates that an estimate found last, by name, from which the next one may start."""

    voters: dict[str, tuple[float, float]] = field(default_factory=dict)
    priors: dict[str, float] = field(default_factory=dict)

    def start(self, ballots: Ballots) -> Parameters | None:
        """Where to begin with some ballots; nothing where few are known, or where so few ballots are soon fitted."""
        known = [self.voters.get(name) for name in ballots.voters]
        if ballots.n_ballots < MANY_BALLOTS or known.count(None) > FEW_NEW * len(known):
            return None
        if any(name not in self.priors for name in ballots.alternatives):
            return None
        usual = tuple(np.median(list(self.voters.values()), axis=0).tolist())
        hits, false_alarms = np.array([each or usual for each in known]).T
        return Parameters(hits, false_alarms, np.array([self.priors[name] for name in ballots.alternatives]))

    def remember(self, fitted: LiveFit) -> None:
        """Take the rates of a fit."""
        found, ballots = fitted.estimator.parameters_, fitted.ballots
        rates = zip(found.hit_rates.tolist(), found.false_alarm_rates.tolist(), strict=True)
        self.voters = dict(zip(ballots.voters, rates, strict=True))
        self.priors = dict(zip(ballots.alternatives, found.priors.tolist(), strict=True))


def fit(gathered: Gathered, task: Task, before: KnownRates | None = None) -> LiveFit | None:
    """The estimator of a task, fitted on usable ballots, from the rates before if given; nothing without any."""
    ballots = ballots_of(gathered, task)
    if ballots is None:
        return None
    bounds: SizeBounds = task.bounds
    start = before.start(ballots) if before is not None and task.method == "em" else None
    gold = gold_to_learn(ballots.instances, task)
    estimator: Auto | Calibrated | EM | AMLE = Auto(bounds, quick=True)
    if task.method != "auto":
        rule = EM(bounds, start=start) if task.method == "em" else AMLE(bounds)
        estimator = Calibrated(rule) if gold else rule
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", CrowdWarning)
        estimator.fit(ballots, gold=gold)
    told = tuple(str(each.message) for each in noticed if issubclass(each.category, CrowdWarning))
    method = estimator.method_ if isinstance(estimator, Auto) else task.method
    return LiveFit(estimator, ballots, method, told, start is not None)


def live(stamp: Stamp, gathered: Gathered, task: Task, *, is_over: bool, before: KnownRates | None = None) -> Live:
    """All that pages show; once it is over, places count gold sets, before that only what the crowd says.

    With `before` it starts from the rates before, if there are many ballots, and keeps those it finds there.
    """
    began = time.perf_counter()
    kept = usable(gathered, task)
    left_out = len(gathered) - len(kept)
    fitted = fit(kept, task, before)
    if fitted is None:
        return Live(stamp, now(), left_out=left_out, counts_gold=is_over)
    if before is not None:
        before.remember(fitted)
    summary = summarize(fitted.estimator, threshold=task.threshold)
    sets = _sets(summary, task)
    people = {name for name, is_person in zip(kept.voters, kept.are_people, strict=True) if is_person}
    crowd = {name: frozenset(found.crowd) for name, found in sets.items()}
    standing = places(fitted.ballots, people, reference(crowd, task.gold, is_over=is_over), crowd)
    return Live(
        stamp=stamp,
        moment=now(),
        seconds=time.perf_counter() - began,
        method=fitted.method,
        sets=sets,
        voters=summary.voters,
        places=standing,
        leaders=tuple(standing.items())[:10],
        counts_gold=is_over,
        times=_over_time(gathered.cast_at),
        left_out=left_out,
        warnings=fitted.warnings,
        is_warm=fitted.is_warm,
    )


def _sets(summary: Summary, task: Task) -> dict[str, SetFound]:
    reviewed = summary.review(limit=MOST_REVIEWED)
    more = {each.instance: MANY if each.more_ballots is None else each.more_ballots for each in reviewed}
    alone = summary.from_ballots_alone[0] if summary.from_ballots_alone else {}
    found = {}
    for name, answer, confidence, ballots in summary.sets():
        assert confidence is not None
        crowd = task.in_order(alone[name]) if name in alone else answer
        needed = 0 if confidence >= summary.threshold else more.get(name)
        found[name] = SetFound(answer, confidence, ballots, needed, crowd)
    return found


def _over_time(moments: Moments) -> tuple[tuple[int, int], ...]:
    """Ballots in all by the end of equal steps from the first to the last; steps are whole minutes or a few seconds."""
    first, last = int(moments.min()), int(moments.max())
    step = max(MINUTE // 60, -(-(last - first + 1) // TIME_STEPS))
    totals = np.cumsum(np.bincount((moments - first) // step)).tolist()
    ends = [min(first + (number + 1) * step, last) for number in range(len(totals))]
    return ((first, 0), *zip(ends, totals, strict=True))
