"""What the commands print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epivote.data.estimate import Estimate
from epivote.data.names import listing
from epivote.evaluate.metrics import Scores

MOST_ROWS = 30
UNSURE = 0.8


def aggregate_tables(estimate: Estimate, method: str, source: Path, files: Sequence[Path]) -> None:
    """What was read, the sets, the voters, and what to do next."""
    console = Console(highlight=False, soft_wrap=True)
    ballots = estimate.ballots
    console.print(f"{source}: {repr(ballots).removeprefix('Ballots(').removesuffix(')')}.", markup=False)
    console.print(_how(estimate, method))
    console.print()
    console.print(_set_table(estimate))
    console.print(_voter_table(estimate))
    if estimate.posterior is not None:
        unsure = int(np.sum(estimate.posterior.set_probabilities < UNSURE))
        console.print(f"{unsure:,} of {ballots.n_instances:,} sets have a confidence below {UNSURE:.0%}.")
    if estimate.ties:
        console.print(
            f"{len(estimate.ties):,} sets had equally likely rivals, and the order of the alternatives decided: "
            f"{listing(estimate.ties, 5)}.",
            markup=False,
        )
    if files:
        console.print(f"Wrote {', '.join(file.name for file in files)} to {files[0].parent}.", markup=False)
    else:
        console.print("Nothing was written; add --out DIR to keep all sets, voters and probabilities as CSV.")


def aggregate_json(estimate: Estimate, method: str) -> None:
    """Everything as one JSON object."""
    history = estimate.log_likelihoods
    _print_json(
        {
            "method": method,
            "size": str(estimate.bounds),
            "status": estimate.status,
            "iterations": estimate.n_iterations,
            "log_likelihood": history[-1] if history else None,
            "ties": list(estimate.ties),
            "truth": _records(estimate.truth_table()),
            "voters": _records(estimate.voter_table()),
            "alternatives": _records(estimate.alternative_table()),
            "inclusion": _records(estimate.inclusion_table()),
        }
    )


def scores_table(scores: Scores, n_truths: int, guessed_alternatives: Sequence[str] | None) -> None:
    """Accuracies with their intervals."""
    console = Console(highlight=False, soft_wrap=True)
    right = round(scores.zero_one.mean * scores.n_instances)
    console.print(f"{right:,} of {scores.n_instances:,} sets are exactly right ({n_truths:,} were estimated).")
    if guessed_alternatives is not None:
        console.print(
            f"Alternatives were taken from both files: {', '.join(guessed_alternatives)}; if there are more, "
            "state them with --alternatives or --menu.",
            markup=False,
        )
    console.print()
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("accuracy")
    table.add_column("mean", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("meaning")
    for name, interval, meaning in (
        ("0/1", scores.zero_one, "sets exactly right"),
        ("Hamming", scores.hamming, "alternatives decided rightly, in or out"),
        ("harmonic", scores.harmonic, "in between: nearly right sets count more than proportionally"),
        ("Jaccard", scores.jaccard, "overlap of estimated and right set"),
    ):
        table.add_row(name, f"{interval.mean:.3f}", f"{interval.low:.3f} to {interval.high:.3f}", meaning)
    table.add_row("micro F1", f"{scores.micro_f1:.3f}", "", "over all members of all sets")
    table.add_row("macro F1", f"{scores.macro_f1:.3f}", "", "mean over alternatives")
    console.print(table)


def scores_json(scores: Scores) -> None:
    """Accuracies as one JSON object."""
    _print_json(asdict(scores))


def _how(estimate: Estimate, method: str) -> str:
    sets = (
        f"sets of {estimate.bounds}"
        if estimate.bounds.upper is not None
        else f"sets of at least {estimate.bounds.lower}"
    )
    if not estimate.log_likelihoods:
        return f"Method {method}, {sets}."
    steps = f"{estimate.n_iterations} iteration{'' if estimate.n_iterations == 1 else 's'}"
    outcome = {
        "converged": f"converged after {steps}",
        "iteration limit": f"stopped at the limit of {steps} before it had settled",
        "interrupted": f"interrupted after {steps}; this is the best reached so far",
    }[estimate.status]
    return f"Method {method}, {sets}: {outcome}, log-likelihood {estimate.log_likelihoods[-1]:.3f}."


def _set_table(estimate: Estimate) -> Table:
    columns = estimate.truth_table()
    table = Table(box=box.SIMPLE_HEAD, title="Sets", title_justify="left", caption=_left_out(len(estimate.truths)))
    table.add_column("instance", overflow="fold")
    table.add_column("right answers", overflow="fold")
    table.add_column("confidence", justify="right")
    rows = zip(columns["instance"], columns["alternatives"], columns["confidence"], strict=True)
    for _, (instance, names, confidence) in zip(range(MOST_ROWS), rows, strict=False):
        listed: Any = names
        table.add_row(Text(str(instance)), Text(", ".join(listed) or "(none)"), _percent(confidence))
    return table


def _voter_table(estimate: Estimate) -> Table:
    columns = estimate.voter_table()
    best_first = np.argsort(-np.abs(estimate.parameters.weights), kind="stable")
    table = Table(
        box=box.SIMPLE_HEAD,
        title="Voters, most informative first",
        title_justify="left",
        caption=_left_out(len(best_first)),
    )
    table.add_column("voter", overflow="fold")
    for name in ("ticks a right one", "ticks a wrong one", "weight", "ballots"):
        table.add_column(name, justify="right", overflow="fold")
    for i in best_first[:MOST_ROWS]:
        table.add_row(
            Text(str(columns["voter"][i])),
            _percent(columns["hit_rate"][i]),
            _percent(columns["false_alarm_rate"][i]),
            f"{columns['weight'][i]:+.2f}",
            f"{columns['ballots'][i]:,}",
        )
    return table


def _left_out(count: int) -> str | None:
    return None if count <= MOST_ROWS else f"and {count - MOST_ROWS:,} more; --out DIR or --json gives all"


def _percent(share: object) -> str:
    return "" if not isinstance(share, float) else f"{share:.1%}"


def _records(columns: dict[str, list[object]]) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=1))
