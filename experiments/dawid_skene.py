"""crowd-kit's Dawid-Skene on the same ballots: one yes-or-no question per offered alternative, all in one model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from epivote import Ballots

LONG = 50
RUN_ON: dict[str, Any] = {"n_iter": LONG, "tol": -math.inf}
"""Settings that switch its stopping rule off.

The rule looks at a bound that should rise, to which crowd-kit 1.4.2 adds the logarithm of a question's prior once per
ballot instead of once per question: with many ballots per question it falls, and the rule stops at once.
"""


class Answer(NamedTuple):
    """The sets found, and after how many iterations."""

    sets: dict[str, frozenset[str]]
    iterations: int


def dawid_skene(ballots: Ballots, **settings: Any) -> Answer:
    """The more probable answer to every question, crowd-kit's own settings unless others are given."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    rows = [
        (voter, (instance, alternative), alternative in ticked)
        for (voter, instance), ticked in ballots.items()
        for alternative in ballots.offered(instance)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DawidSkene(**settings)
        found = model.fit_predict(pd.DataFrame(rows, columns=["worker", "task", "label"]))
    members: dict[str, set[str]] = {instance: set() for instance in ballots.instances}
    for (instance, alternative), right in found.items():
        if right:
            members[instance].add(alternative)
    return Answer({instance: frozenset(names) for instance, names in members.items()}, len(model.loss_history_))


def run_on(ballots: Ballots) -> Answer:
    """The same with its stopping rule switched off."""
    return dawid_skene(ballots, **RUN_ON)


PEERS: dict[str, Callable[[Ballots], Answer]] = (
    {"Dawid-Skene (crowd-kit), as it stops": dawid_skene, f"Dawid-Skene (crowd-kit), {LONG} iterations": run_on}
    if find_spec("crowdkit")
    else {}
)
WHY_IT_STOPS = (
    "crowd-kit's Dawid-Skene, on yes/no answers pooled over labels, is the model of EM without shrinkage. By itself it "
    "stopped after {} iterations: it goes on while a bound rises, but counts a question's prior once per ballot in "
    "that bound, which then falls. Where the two rows differ, the first has not converged yet.\n"
)
