"""What `aggregate` prints about packed ballots: too many sets to show, so how sure they are and whom to look at."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.text import Text

from epivote.cli.aggregate_json import accuracy_json, confidence_json, records
from epivote.cli.console import print_json, terminal
from epivote.cli.fitting import Fitted
from epivote.cli.screen import SCREEN, Page
from epivote.cli.show_aggregate import (
    LEAST_VOTERS,
    NONE,
    SET_COLUMNS,
    Told,
    ending,
    fit_in,
    headline_of,
    how,
    scored,
    warnings_of_fit,
)
from epivote.cli.show_voters import voter_lines
from epivote.data.estimate import Estimate
from epivote.data.numbers import chosen_percent, in_percent
from epivote.estimate.review import SURE
from epivote.summary import Summary

MOST_DOUBTFUL = 10  # rows; a round number
STEPS = (0.5, 0.8, SURE, 0.99)  # confidences at which sets are counted; round numbers around SURE


@dataclass
class Seen:
    """What is remembered of blocks of sets that went by."""

    sets: int = 0
    above: dict[float, int] = field(default_factory=lambda: dict.fromkeys(STEPS, 0))
    doubtful: list[tuple[float, str, list[str]]] = field(default_factory=list)

    def watch(self, part: Estimate) -> None:
        """Take note of one block."""
        self.sets += len(part.truths)
        if part.posterior is None:
            return
        sure = part.posterior.set_probabilities
        for step in STEPS:
            self.above[step] += int(np.sum(sure >= step))
        worst = np.argsort(sure, kind="stable")[:MOST_DOUBTFUL]
        here = [(float(sure[z]), part.truths.instances[z], part.truths.listed(part.truths.instances[z])) for z in worst]
        self.doubtful = heapq.nsmallest(MOST_DOUBTFUL, [*self.doubtful, *here])


def packed_tables(fitted: Fitted, seen: Seen, told: Told) -> None:
    """One screen for a person at a terminal."""
    page, summary = Page(terminal()), fitted.summary
    found = page.wrapped(_headline(summary, seen))
    if summary.held_back is not None:
        found += page.wrapped(scored(summary))
    found += page.wrapped(f"{fitted.source} (packed): {fitted.export.ballots.in_words()}.", 3)
    found += page.wrapped(how(fitted), 2)
    for sentence in summary.about_confidence[:1]:
        found += page.wrapped(sentence)
    doubtful = _doubtful(page, seen) if seen.doubtful else []
    end = ending(page, told, *next_of_packed(seen, told))
    room = SCREEN - sum(page.height(part) + 1 for part in (found, doubtful, end) if part)
    warned = fit_in(page, warnings_of_fit(fitted), max(room - LEAST_VOTERS - 3, 2), "--json gives all")
    room -= len(warned) + bool(warned)
    voters = voter_lines(page, summary, room) if summary.is_rated else []
    page.show([found, warned, doubtful, voters, end])


def _headline(summary: Summary, seen: Seen) -> str:
    n_sets = len(summary.estimated_places)
    return headline_of(summary, n_sets, seen.above[SURE] - (seen.sets - n_sets) if seen.doubtful else None)


def _doubtful(page: Page, seen: Seen) -> list[Text]:
    rows = [(name, ", ".join(found) or NONE, in_percent(sure)) for sure, name, found in seen.doubtful]
    below = seen.sets - seen.above[SURE]
    have = "has" if below == 1 else "have"
    title = f"Least confident sets ({len(rows)}; {below:,} {have} a confidence below {chosen_percent(SURE)})"
    return [*page.wrapped(title), *page.table(SET_COLUMNS, rows)]


def next_of_packed(seen: Seen, told: Told) -> tuple[str, str]:
    """What helps most now, and the command for it."""
    if not told.files:
        return "write all sets and voters as CSV", told.again.command("aggregate", more="--out result")
    if seen.doubtful:
        return "see why a set is doubtful", told.again.command("explain", seen.doubtful[0][1])
    return "write a page to look at and pass on", told.again.command("report", more="-o report.html")


def packed_json(fitted: Fitted, seen: Seen, files: Sequence[Path], seconds: dict[str, float] | None) -> None:
    """The same as one JSON object; sets are in the files."""
    estimate, ballots = fitted.estimator.estimate_, fitted.export.ballots
    print_json(
        {
            "format": "packed",
            "method": fitted.method,
            "reasons": list(fitted.reasons),
            "notes": list(fitted.notes),
            "size": str(estimate.bounds),
            "status": estimate.status,
            "iterations": estimate.n_iterations,
            "log_likelihood": estimate.log_likelihood,
            "objective": estimate.log_likelihoods[-1] if estimate.log_likelihoods else None,
            "confidence": confidence_json(fitted.summary),
            "accuracy": accuracy_json(fitted.summary),
            "instances": ballots.n_instances,
            "ballots": ballots.total_ballots,
            "approvals": ballots.total_approvals,
            "blocks": len(ballots.blocks),
            "sets_at_least_this_sure": {str(step): count for step, count in seen.above.items()}
            if seen.doubtful
            else None,
            "most_doubtful": [
                {"instance": name, "alternatives": found, "confidence": sure} for sure, name, found in seen.doubtful
            ],
            "voters": records(estimate.voter_table()),
            "alternatives": records(estimate.alternative_table()),
            "files": [str(file) for file in files],
            "seconds": seconds,
        }
    )
