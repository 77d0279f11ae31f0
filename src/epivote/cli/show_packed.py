"""What `aggregate` prints about packed ballots: too many sets to show, so how sure they are and whom to look at."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.text import Text

from epivote.cli.console import left_out, percent, print_json, table, terminal
from epivote.cli.fitting import Fitted
from epivote.cli.show_aggregate import confidence_json, how, records, voters
from epivote.data.estimate import Estimate
from epivote.estimate.review import SURE

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


def packed_tables(fitted: Fitted, seen: Seen, files: Sequence[Path], seconds: dict[str, float] | None) -> None:
    """Tables for a person at a terminal."""
    console, ballots = terminal(), fitted.export.ballots
    console.print(
        f"{fitted.source}: {ballots.in_words()}.\n{how(fitted)}",
        markup=False,
    )
    for line in fitted.summary.about_confidence:
        console.print(line, markup=False)
    for note in fitted.notes:
        console.print(f"Careful: {note}.", markup=False)
    if fitted.summary.is_rated:
        voters(console, fitted.summary)
    if seen.doubtful:
        shares = ", ".join(f"{seen.above[step] / seen.sets:.1%} at least {step:.0%}" for step in STEPS)
        console.print(f"How sure the {seen.sets:,} sets are: {shares}.", markup=False)
        shown = table("Most doubtful sets", caption=left_out(seen.sets - seen.above[SURE], MOST_DOUBTFUL, "truth.csv"))
        shown.add_column("instance", overflow="fold")
        shown.add_column("found", overflow="fold")
        shown.add_column("confidence", justify="right")
        for sure, instance, names in seen.doubtful:
            shown.add_row(Text(instance), Text(", ".join(names) or "(none)"), percent(sure))
        console.print(shown)
    if files:
        console.print(f"Wrote {', '.join(file.name for file in files)} to {files[0].parent}.", markup=False)
    else:
        console.print("Nothing was written; add --out DIR to keep all sets and voters as CSV.", markup=False)
    if seconds is not None:
        spent = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
        console.print(f"Seconds: {spent}.", markup=False)


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
