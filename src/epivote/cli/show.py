"""What `explain`, `evaluate` and `plan` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from epivote.cli.console import print_json, table, terminal
from epivote.data.estimate import Estimate
from epivote.estimate.explain import Explanation
from epivote.evaluate.calibration import CalibrationBin
from epivote.evaluate.metrics import Scores
from epivote.planning import Plan


def explanation(told: Explanation, *, as_json: bool) -> None:
    """Why one instance got its set."""
    if as_json:
        print_json(told.to_dict())
    else:
        print(told.to_text())


def report(path: Path, estimate: Estimate, *, as_json: bool) -> None:
    """Where the page is."""
    if as_json:
        counts = {"instances": estimate.ballots.n_instances, "voters": estimate.ballots.n_voters}
        print_json({"files": [str(path)], "status": estimate.status, **counts})
    else:
        if estimate.status == "interrupted":
            print(f"Interrupted after {estimate.n_iterations} iterations; the page shows the best reached so far.")
        terminal().print(f"Wrote {path}; open it in a browser. It needs no network and can be passed on.", markup=False)


def plan(found: Plan, *, as_json: bool) -> None:
    """Accuracy against ballots per instance, with a bar each."""
    if as_json:
        print_json(asdict(found))
        return
    console = terminal()
    shown = table()
    shown.add_column("ballots each", justify="right")
    shown.add_column("sets exactly right", justify="right")
    shown.add_column("95 % interval", justify="right")
    shown.add_column("")
    for point in found.points:
        shown.add_row(
            f"{point.ballots:,}",
            f"{point.exact.mean:.1%}",
            f"{point.exact.low:.1%} to {point.exact.high:.1%}",
            "█" * round(20 * point.exact.mean),
        )
    console.print(shown)
    goal = f"{100 * found.target:g}% exact sets"
    if found.needed is None:
        console.print(f"More than {found.points[-1].ballots} ballots per question are needed for {goal}.")
    else:
        console.print(f"{found.needed} ballots per question give {goal}, once the voters are known.")


def scores_table(
    scores: Scores, n_truths: int, guessed_alternatives: Sequence[str] | None, bins: Sequence[CalibrationBin]
) -> None:
    """Accuracies with their intervals, and whether stated confidence kept its promise."""
    console = terminal()
    right = round(scores.zero_one.mean * scores.n_instances)
    console.print(f"{right:,} of {scores.n_instances:,} sets are exactly right ({n_truths:,} were estimated).")
    if guessed_alternatives is not None:
        console.print(
            f"Alternatives were taken from both files: {', '.join(guessed_alternatives)}; if there are more, "
            "state them with --alternatives or --menu.",
            markup=False,
        )
    console.print()
    console.print(accuracy_table(scores))
    if bins:
        console.print("Was the stated confidence right?")
        console.print(calibration_table(bins))


def scores_json(scores: Scores, bins: Sequence[CalibrationBin]) -> None:
    """Accuracies as one JSON object."""
    print_json({**asdict(scores), "calibration": [asdict(each) for each in bins]})


def accuracy_table(scores: Scores) -> Table:
    """Every accuracy with its interval and its meaning."""
    shown = table()
    shown.add_column("accuracy")
    shown.add_column("mean", justify="right")
    shown.add_column("95 % interval", justify="right")
    shown.add_column("meaning")
    for row in scores.rows():
        shown.add_row(*row)
    return shown


def calibration_table(bins: Sequence[CalibrationBin]) -> Table:
    """Stated confidence against the share of sets that were right."""
    shown = table()
    for name in ("stated confidence", "sets", "mean stated", "were right", "95 % interval"):
        shown.add_column(name, justify="right")
    for each in bins:
        shown.add_row(*each.row())
    return shown


def picked(names: Sequence[str], output: Path, ballots: Path, size: str, *, as_json: bool) -> None:
    """Which instances to answer, and what to do then."""
    if as_json:
        print_json({"file": str(output), "instances": list(names)})
        return
    console = terminal()
    console.print(
        f"Wrote {len(names):,} instances to {output}, drawn at random over all degrees of confidence.", markup=False
    )
    console.print(
        "Replace each ? by the right alternatives, joined by |, or by nothing if none is right; rows left at ? are "
        "ignored. Then run:",
        markup=False,
    )
    console.print(f"  epivote aggregate {ballots} --size {size} --gold {output}", markup=False, soft_wrap=True)
