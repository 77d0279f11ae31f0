"""What the page says about sets that differ from those of a majority."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from epivote.data.names import counted
from epivote.report.numbers import Change, Weighing
from epivote.report.overview import link_to
from epivote.report.written import probability, weight
from epivote.summary import Summary

CHANGES_SHOWN = 10  # rows; a round number


class ChangeRow(NamedTuple):
    """One instance whose set differs from that of a majority."""

    instance: str
    link: str
    members: tuple[str, ...]
    majority: tuple[str, ...]
    confidence: str
    percent: str
    reasons: tuple[str, ...]


def majority_in_words(summary: Summary, count: int) -> str:
    """On how many instances the set differs from that of a majority."""
    total = counted(summary.estimate.ballots.n_instances, "instance")
    rule = "alternatives approved on more than half of the ballots, within the same size bounds"
    if not count:
        return f"On all {total} the set is that of a majority ({rule}): here, weighing voters changed nothing."
    most = f" These are the {CHANGES_SHOWN} with the highest confidence." if count > CHANGES_SHOWN else ""
    return (
        f"On {count:,} of {total} the set differs from that of a majority ({rule}).{most} The reasons add up the "
        "evidence in log-odds: positive values speak for an alternative, negative ones against it."
    )


def change_rows(found: Iterable[Change]) -> list[ChangeRow]:
    """Both sets of each such instance, and why the alternatives in only one of them are in or out."""
    return [
        ChangeRow(
            each.instance,
            link_to(each.instance),
            each.found,
            each.majority,
            probability(each.confidence),
            f"{100 * each.confidence:.1f}",
            tuple(_reason(evidence) for evidence in each.evidence),
        )
        for each in found
    ]


def _reason(found: Weighing) -> str:
    without = found.ballots - found.approvals
    parts = [
        (f"{counted(found.approvals, 'approval')} {weight(found.from_approvals)}", bool(found.from_approvals)),
        (f"{counted(without, 'ballot')} without it {weight(found.from_others)}", bool(found.from_others)),
        (f"prior {weight(found.prior)}", bool(found.prior)),
        (f"calibration {weight(found.calibration)}", bool(found.calibration)),
    ]
    is_odd = (found.margin >= 0) != found.chosen
    bounds = "; the size bounds or the other alternatives decide" if is_odd else ""
    added = ", ".join(text for text, is_there in parts if is_there)
    return f"{found.alternative} is {'in' if found.chosen else 'out'}: {added}, in all {weight(found.margin)}{bounds}"
