"""What the commands print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epivote.data.estimate import Estimate
from epivote.data.names import listing
from epivote.data.truths import Truths
from epivote.estimate.base import Estimator, RatedEstimator
from epivote.estimate.explain import Explanation
from epivote.evaluate.calibration import CalibrationBin, calibration
from epivote.evaluate.metrics import Scores
from epivote.plan import Plan

MOST_ROWS = 30
UNSURE = 0.8


@dataclass(frozen=True)
class Fitted:
    """An estimator that has done its work, and how it came about."""

    estimator: Estimator
    method: str
    reason: str
    remarks: tuple[str, ...]
    notes: tuple[str, ...]
    interrupted: bool
    gold: Truths | None


def aggregate_tables(fitted: Fitted, source: Path, files: Sequence[Path]) -> None:
    """What was read, the sets, the voters, and what to do next."""
    console = Console(highlight=False, soft_wrap=True)
    estimate = fitted.estimator.estimate_
    ballots = estimate.ballots
    say = partial(console.print, markup=False)
    say(f"{source}: {repr(ballots).removeprefix('Ballots(').removesuffix(')')}.")
    say(_how(fitted))
    for remark in fitted.remarks:
        say(f"Note: {remark}.")
    for note in fitted.notes:
        say(f"Careful: {note}.")
    say()
    console.print(_set_table(estimate))
    console.print(_voter_table(fitted))
    if estimate.posterior is not None:
        unsure = int(np.sum(estimate.posterior.set_probabilities < UNSURE))
        say(f"{unsure:,} of {ballots.n_instances:,} sets have a confidence below {UNSURE:.0%}.")
    if estimate.ties:
        say(
            f"{len(estimate.ties):,} sets had equally likely rivals, and the order of the alternatives decided: "
            f"{listing(estimate.ties, 5)}."
        )
    if isinstance(fitted.estimator, RatedEstimator) and fitted.gold is not None:
        _gold_tables(console, fitted)
    if files:
        say(f"Wrote {', '.join(file.name for file in files)} to {files[0].parent}.")
    else:
        say("Nothing was written; add --out DIR to keep all sets, voters and probabilities as CSV.")


def aggregate_json(fitted: Fitted) -> None:
    """Everything as one JSON object."""
    estimate = fitted.estimator.estimate_
    history = estimate.log_likelihoods
    reports = fitted.estimator.reliability() if isinstance(fitted.estimator, RatedEstimator) else []
    _print_json(
        {
            "method": fitted.method,
            "reason": fitted.reason,
            "remarks": list(fitted.remarks),
            "notes": list(fitted.notes),
            "size": str(estimate.bounds),
            "status": estimate.status,
            "iterations": estimate.n_iterations,
            "log_likelihood": history[-1] if history else None,
            "ties": list(estimate.ties),
            "own_sizes": {name: list(pair) for name, pair in estimate.bounds.per_instance.items()},
            "gold": sorted(estimate.gold),
            "gold_calibration": [asdict(each) for each in _gold_bins(fitted)],
            "truth": _records(estimate.truth_table()),
            "voters": _records(estimate.voter_table()),
            "reliability": [asdict(report) for report in reports],
            "alternatives": _records(estimate.alternative_table()),
            "inclusion": _records(estimate.inclusion_table()),
        }
    )


def explanation(told: Explanation, *, as_json: bool) -> None:
    """Why one instance got its set."""
    if as_json:
        _print_json(told.to_dict())
    else:
        print(told.to_text())


def plan(found: Plan, *, as_json: bool) -> None:
    """Accuracy against ballots per instance, with a bar each."""
    if as_json:
        _print_json(asdict(found))
        return
    console = Console(highlight=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("ballots each", justify="right")
    table.add_column("sets exactly right", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("")
    for point in found.points:
        table.add_row(
            f"{point.ballots:,}",
            f"{point.exact.mean:.1%}",
            f"{point.exact.low:.1%} to {point.exact.high:.1%}",
            "█" * round(20 * point.exact.mean),
        )
    console.print(table)
    goal = f"{100 * found.target:g}% exact sets"
    if found.needed is None:
        console.print(f"More than {found.points[-1].ballots} ballots per question are needed for {goal}.")
    else:
        console.print(f"{found.needed} ballots per question give {goal}, once the voters are known.")


def _gold_bins(fitted: Fitted) -> list[CalibrationBin]:
    """What the ballots alone say of the gold instances, against their gold sets."""
    if fitted.gold is None or not isinstance(fitted.estimator, RatedEstimator):
        return []
    truths, confidence = fitted.estimator.gold_check()
    return calibration(confidence, np.array([truths[name] == fitted.gold[name] for name in truths]))


def _gold_tables(console: Console, fitted: Fitted) -> None:
    bins = _gold_bins(fitted)
    right = sum(round(each.right.mean * each.count) for each in bins)
    console.print(
        f"\n{sum(each.count for each in bins):,} instances had gold sets, kept as given. From the ballots alone "
        f"{right:,} of them would be exactly right (their sets taught the rates, so this flatters a little):"
    )
    console.print(_calibration_table(bins))


def _calibration_table(bins: Sequence[CalibrationBin]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("stated confidence", "sets", "mean stated", "were right", "95 % interval"):
        table.add_column(name, justify="right")
    for each in bins:
        table.add_row(
            f"{each.low:.0%} to {each.high:.0%}",
            f"{each.count:,}",
            f"{each.mean_confidence:.1%}",
            f"{each.right.mean:.1%}",
            f"{each.right.low:.0%} to {each.right.high:.0%}",
        )
    return table


def scores_table(
    scores: Scores, n_truths: int, guessed_alternatives: Sequence[str] | None, bins: Sequence[CalibrationBin]
) -> None:
    """Accuracies with their intervals, and whether stated confidence kept its promise."""
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
    if bins:
        console.print("Was the stated confidence right?")
        console.print(_calibration_table(bins))


def scores_json(scores: Scores, bins: Sequence[CalibrationBin]) -> None:
    """Accuracies as one JSON object."""
    _print_json({**asdict(scores), "calibration": [asdict(each) for each in bins]})


def _how(fitted: Fitted) -> str:
    estimate = fitted.estimator.estimate_
    bounds = estimate.bounds
    sets = f"sets of {bounds}" if bounds.upper is not None else f"sets of at least {bounds.lower}"
    own = sum(name in bounds.per_instance for name in estimate.ballots.instances)
    sets += f" ({own:,} instances have sizes of their own)" if own else ""
    method = f"Method {fitted.method}" + (f" ({fitted.reason})" if fitted.reason else "")
    if not estimate.log_likelihoods:
        return f"{method}, {sets}."
    steps = f"{estimate.n_iterations} iteration{'' if estimate.n_iterations == 1 else 's'}"
    outcome = {
        "converged": f"converged after {steps}",
        "iteration limit": f"stopped at the limit of {steps} before it had settled",
        "interrupted": f"interrupted after {steps}; this is the best reached so far",
    }[estimate.status]
    return f"{method}, {sets}: {outcome}, log-likelihood {estimate.log_likelihoods[-1]:.3f}."


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


def _voter_table(fitted: Fitted) -> Table:
    estimate = fitted.estimator.estimate_
    columns = estimate.voter_table()
    flags: dict[str, tuple[str, ...]] = {}
    if isinstance(fitted.estimator, RatedEstimator):
        flags = {report.voter: report.flags for report in fitted.estimator.reliability()}
    best_first = np.argsort(-np.abs(estimate.parameters.weights), kind="stable")
    table = Table(
        box=box.SIMPLE_HEAD,
        title="Voters, most informative first",
        title_justify="left",
        caption=_left_out(len(best_first)),
    )
    table.add_column("voter", overflow="fold", min_width=min(24, max(map(len, estimate.ballots.voters))))
    for name in ("hits", "false alarms", "weight", "ballots"):
        table.add_column(name, justify="right", overflow="fold", min_width=6)
    table.add_column("worth a look" if flags else "", overflow="fold")
    for i in best_first[:MOST_ROWS]:
        voter = str(columns["voter"][i])
        table.add_row(
            Text(voter),
            _percent(columns["hit_rate"][i]),
            _percent(columns["false_alarm_rate"][i]),
            f"{columns['weight'][i]:+.2f}",
            f"{columns['ballots'][i]:,}",
            Text("; ".join(flags.get(voter, ()))),
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
