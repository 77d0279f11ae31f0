"""What the page's own scripts draw from: numbers packed in columns, every name and every set stored once.

A column is `[kind, base64]` of little-endian numbers; sets are referred to by number, 0 meaning "no set".
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import log_odds
from epivote.estimate.review import Doubt
from epivote.estimate.workload import InMemoryWorkload
from epivote.report.numbers import Alternatives, Voters, gold_sets
from epivote.summary import Summary

MOST_INSTANCES = 50_000  # instances in the page's table, which a browser still sorts at once; a round number
MOST_BALLOTS = 5_000_000  # on these instances, which make a page of about 50 MB; a round number
DRAWN = 10  # of many instances one in so many is drawn at random, however many are doubtful; a round number
SEED = 0  # of these draws
TOP = 4  # sets kept for each instance; as many as `top_sets` finds
CELLS_PER_BLOCK = 4_000_000  # 32 MB of floats at a time

Column = list[str]


class Shown(NamedTuple):
    """The numbers of the instances on the page, ascending, and how many were taken because they are most doubtful."""

    places: IntArray
    n_doubtful: int


def instances_shown(summary: Summary) -> Shown:
    """All instances; of very many the most doubtful ones, which take 9 rows in 10 at most, and a sample of the others.

    Sets with a confidence below the threshold are doubtful; rules that state none have only the sample.
    """
    n, n_ballots = summary.estimate.ballots.n_instances, summary.estimate.ballots.n_ballots
    room = min(MOST_INSTANCES, max(1, MOST_BALLOTS * n // max(n_ballots, 1)))
    if n <= room:
        return Shown(np.arange(n), 0)
    order, n_doubtful = np.arange(n), 0
    if summary.is_rated:
        order = np.argsort(summary.confidence, kind="stable")
        n_doubtful = min(summary.n_doubtful, room - room // DRAWN)
    drawn = np.random.default_rng(SEED).choice(order[n_doubtful:], room - n_doubtful, replace=False)
    return Shown(np.sort(np.concatenate([order[:n_doubtful], drawn])), n_doubtful)


def page_data(
    summary: Summary,
    shown: Shown,
    voters: Voters,
    alternatives: Alternatives,
    majority: Estimate | None = None,
    doubts: Sequence[Doubt] = (),
) -> dict[str, Any]:
    """Everything the scripts need."""
    estimate, sets = summary.estimate, SetTable()
    few = estimate.at(shown.places)
    beside = None if majority is None else majority.at(shown.places).truths
    instances = {
        **instance_data(few, sets),
        "gold": _known_sets(gold_sets(summary), few.ballots, sets),
        "majority": None if beside is None else column(sets.numbers(beside.start, beside.members)),
        "more": _further_ballots(doubts, few.ballots),
    }
    return {
        "rated": summary.is_rated,
        "sure": summary.threshold,
        "calibration": calibration_data(estimate),
        "voters": voter_data(estimate, voters),
        "alternatives": alternative_data(estimate, alternatives),
        "groups": group_data(estimate),
        "instances": instances,
        "sets": sets.columns(),
    }


def instance_data(estimate: Estimate, sets: SetTable) -> dict[str, Any]:
    """Set, confidence, most probable sets, bounds and ballots of the instances of an estimate in memory."""
    ballots, truths, confidence = estimate.ballots.in_memory(), estimate.truths, estimate.confidence
    lower, upper = estimate.bounds.resolve(ballots)
    menu = None
    if ballots.menu is not None:
        menu = column(sets.numbers(ballots.menu.start, ballots.menu.offered))
    top, chances = _top(estimate, ballots, sets)
    tied, names = set(estimate.ties), list(ballots.instances)
    return {
        "names": names,
        "set": column(sets.numbers(truths.start, truths.members)),
        "confidence": None if confidence is None else column(confidence, "f4"),
        "top": None if confidence is None else column(top),
        "chances": None if confidence is None else column(chances, "f4"),
        "taught": [k for k, name in enumerate(names) if name in estimate.gold],
        "ties": [k for k, name in enumerate(names) if name in tied],
        "lower": column(lower),
        "upper": column(upper),
        "menu": menu,
        "ballots": column(ballots.ballots_per_instance),
        "voter": column(ballots.ballot_voter),
        "ticks": column(ballots.ballot_sizes),
        "ticked": column(ballots.approved),
    }


def _known_sets(known: Mapping[str, Iterable[str]], ballots: AnyBallots, sets: SetTable) -> Column | None:
    """Numbers of the gold sets of the instances shown, "no set" where none is known; None if there are none at all."""
    if not known:
        return None
    number = {name: j for j, name in enumerate(ballots.alternatives)}
    found = np.zeros(ballots.n_instances, np.int64)
    for k, name in enumerate(ballots.instances):
        right = known.get(name)
        if right is not None:
            members = np.array(sorted(number[each] for each in right), np.int64)
            found[k] = sets.numbers(np.array([0, len(members)]), members)[0]
    return column(found)


def _further_ballots(doubts: Sequence[Doubt], ballots: AnyBallots) -> list[list[int | None]]:
    """Pairs of a row on the page and about how many further ballots settle it, None for more than looked ahead."""
    row = ballots.places([each.instance for each in doubts])
    return [[row[each.instance], each.more_ballots] for each in doubts if each.instance in row]


def calibration_data(estimate: Estimate) -> dict[str, Any] | None:
    """How log-odds are translated; `only_shares` where the rule itself has none."""
    known = estimate.calibration
    if known is None:
        return None
    return {**known.state(), "offsets": column(known.offsets), "only_shares": estimate.only_shares}


def voter_data(estimate: Estimate, voters: Voters) -> dict[str, Any]:
    """Rates with intervals, and what a tick and a ballot weigh to the last bit."""
    rates = ("hit_rates", "hit_low", "hit_high", "false_alarm_rates", "false_alarm_low", "false_alarm_high")
    shares = {name: column(getattr(voters, name), "f4") for name in (*rates, "weight_low", "weight_high")}
    times = estimate.ballots.multiplicities
    return {
        "names": list(voters.names),
        "ballots": column(voters.ballots),
        "weights": column(estimate.parameters.weights),
        "thresholds": column(estimate.parameters.thresholds),
        "flags": ["; ".join(flags) for flags in voters.flags],
        **shares,
        **({} if times is None else {"times": column(times)}),
    }


def alternative_data(estimate: Estimate, alternatives: Alternatives) -> dict[str, Any]:
    """Priors as log-odds to the last bit, and shares."""
    return {
        "names": list(alternatives.names),
        "prior": column(log_odds(estimate.parameters.priors)),
        "priors": column(alternatives.priors, "f4"),
        "occurrences": column(alternatives.occurrences),
        "offered": column(alternatives.offered),
        "hit_share": column(alternatives.hit_share, "f4"),
        "false_alarm_share": column(alternatives.false_alarm_share, "f4"),
    }


def group_data(estimate: Estimate) -> dict[str, Any] | None:
    """Priors of every group as log-odds, group after group, and logarithms of their shares; None without groups."""
    parameters = estimate.parameters
    if parameters.group_shares is None:
        return None
    return {"prior": column(parameters.group_log_odds.ravel()), "shares": column(np.log(parameters.group_shares))}


def _top(estimate: Estimate, ballots: Ballots, sets: SetTable) -> tuple[IntArray, FloatArray]:
    """Numbers and probabilities of every instance's most probable sets, padded with "no set"."""
    numbers = np.zeros((ballots.n_instances, TOP), np.int64)
    chances = np.zeros((ballots.n_instances, TOP))
    if not estimate.is_rated:
        return numbers, chances
    work = InMemoryWorkload(ballots, estimate.bounds)
    beliefs = work.set_odds(estimate.parameters, estimate.calibration)
    for shard, odds in zip(work.shards, beliefs, strict=True):
        rows = np.arange(len(shard.instances))
        step = max(1, CELLS_PER_BLOCK // (TOP * max(1, shard.width)))
        for block in (rows[begin : begin + step] for begin in range(0, len(rows), step)):
            found, probabilities = odds.top(TOP, block)
            at = shard.instances[block]
            row, rank, cell = np.nonzero(found)
            members = cell if shard.offered is None else shard.offered[block[row], cell]
            counted = np.bincount(row * found.shape[1] + rank, minlength=found.shape[0] * found.shape[1])
            start = np.concatenate([[0], np.cumsum(counted)])
            numbers[at, : found.shape[1]] = sets.numbers(start, members).reshape(found.shape[:2])
            chances[at, : found.shape[1]] = probabilities
    return numbers, chances


class SetTable:
    """Every distinct set once; number 0 is kept for "no set"."""

    def __init__(self) -> None:
        self._number: dict[bytes, int] = {}

    def numbers(self, start: IntArray, members: IntArray) -> IntArray:
        """The numbers of the sets `members[start[r] : start[r + 1]]`."""
        content = np.ascontiguousarray(members, np.int32)
        keys = [content[begin:end].tobytes() for begin, end in pairwise(start.tolist())]
        return np.array([self._number.setdefault(key, len(self._number) + 1) for key in keys], np.int64)

    def columns(self) -> dict[str, Column]:
        """Sizes of all sets, the first standing for "no set", and their members one after the other."""
        members = [np.frombuffer(key, np.int32) for key in self._number]
        return {
            "sizes": column(np.array([0, *map(len, members)])),
            "members": column(np.concatenate([np.zeros(0, np.int32), *members])),
        }


def column(values: IntArray | FloatArray, kind: str = "") -> Column:
    """Numbers as text, in the kind asked for; else floats in full and whole ones as small as they fit."""
    if not kind and values.dtype.kind == "f":
        kind = "f8"
    elif not kind:
        largest = int(values.max(initial=0))
        kind = "u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "u4"
    return [kind, base64.b64encode(values.astype(f"<{kind}").tobytes()).decode("ascii")]


def safe_json(value: object) -> str:
    """JSON that can stand inside a script element: no character that could end it or start a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
