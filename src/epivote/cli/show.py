"""What `explain`, `evaluate` and `plan` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from epivote.cli.console import print_json, table, terminal
from epivote.data.estimate import Estimate
from epivote.data.names import counted, listing
from epivote.data.numbers import percent, with_interval
from epivote.estimate.explain import Explanation
from epivote.evaluate.calibration import CalibrationBin
from epivote.evaluate.metrics import Scores
from epivote.planning import Plan, PlanCheck

ALTERNATIVES_SHOWN = 10  # names in a sentence; a round number


def explanation(told: Explanation, *, as_json: bool) -> None:
    """Why one instance got its set."""
    if as_json:
        print_json(told.to_dict())
    else:
        print(told.to_text())


def report(path: Path, estimate: Estimate, *, as_json: bool) -> None:
    """Where the page is."""
    if as_json:
        counts = {"instances": estimate.ballots.n_instances, "voters": estimate.ballots.total_voters}
        print_json({"files": [str(path)], "status": estimate.status, **counts})
    else:
        if estimate.status == "interrupted":
            print(f"Interrupted after {estimate.n_iterations} iterations; the page shows the best sets so far.")
        terminal().print(
            f"Wrote {path}. Open it in a browser; it needs no network and can be sent to others.", markup=False
        )


def plan(found: Plan, *, as_json: bool) -> None:
    """Accuracy against ballots per instance, with a bar each: what was checked on ballots, else what the model says."""
    if as_json:
        told = {**asdict(found), "assumes": "voters who err independently"}
        if found.check is not None:
            told["check"] |= {"against": found.check.against, "needed": found.check.needed(found.target)}
        print_json(told)
    elif found.check is None:
        _model_plan(found)
    else:
        _checked_plan(found, found.check)


def _model_plan(found: Plan) -> None:
    console = terminal()
    shown = table()
    shown.add_column("ballots per instance", justify="right")
    shown.add_column("sets exactly right", justify="right")
    shown.add_column("95 % CI", justify="right")
    shown.add_column("")
    for point in found.points:
        shown.add_row(
            f"{point.ballots:,}",
            percent(point.exact.mean),
            f"{percent(point.exact.low)} to {percent(point.exact.high)}",
            "█" * round(20 * point.exact.mean),
        )
    console.print(shown)
    console.print(_by_the_model(found))
    console.print(
        "With voters who make the same mistakes, fewer sets are right; --ballots FILE checks the plan on real ballots."
    )


def _by_the_model(found: Plan) -> str:
    goal = f"{100 * found.target:g} % exactly right sets"
    if found.needed is None:
        most = found.points[-1].ballots
        return f"More than {most} ballots per instance are needed for {goal}, even if voters err independently."
    ballots = counted(found.needed, "ballot")
    return (
        f"{ballots} per instance {_give(found.needed)} {goal}, once the voters are known and if they err independently."
    )


def _give(ballots: int) -> str:
    return "gives" if ballots == 1 else "give"


def _checked_plan(found: Plan, check: PlanCheck) -> None:
    console = terminal()
    shown = table()
    shown.add_column("ballots per instance", justify="right")
    shown.add_column("exactly right" if check.gold else "same as all ballots", justify="right")
    shown.add_column("95 % CI", justify="right")
    shown.add_column("", no_wrap=True)
    shown.add_column("model", justify="right")
    checked = {point.ballots: point.exact for point in check.points}
    model = {point.ballots: point.exact for point in found.points}
    for ballots in sorted({*checked, *model}):
        share = checked.get(ballots)
        shown.add_row(
            f"{ballots:,}",
            "" if share is None else percent(share.mean),
            "" if share is None else f"{percent(share.low)} to {percent(share.high)}",
            "" if share is None else "█" * round(20 * share.mean),
            percent(model[ballots].mean) if ballots in model else "",
        )
    console.print(shown)
    for line in _about_the_check(found, check):
        console.print(line)


def _about_the_check(found: Plan, check: PlanCheck) -> list[str]:
    """What was checked, how it compares with the model, and how many ballots are needed."""
    if not check.points:
        return ["Not checked: too many instances have a single ballot.", _by_the_model(found)]
    share = f"{100 * found.target:g} %"
    goal = f"{share} exactly right sets" if check.gold else f"the same set as all ballots on {share} of the instances"
    of = "" if check.n_instances == check.n_in_file else f" of {check.n_in_file:,}"
    compared = f", and {counted(check.n_compared, 'set')} compared with gold" if check.gold else ""
    lines = [
        f"Checked by leaving out ballots: {check.n_instances:,}{of} instances with {check.available:,} or more ballots "
        f"were estimated again with fewer{compared}."
    ]
    if not check.gold:
        lines.append("All ballots together may be wrong too; --gold FILE checks against known true sets.")
    last, needed = check.points[-1].ballots, check.needed(found.target)
    lines.append(
        f"For more than {counted(last, 'ballot')} per instance, only the model gives figures; it assumes that voters "
        "err independently."
    )
    if needed is not None:
        return [*lines, f"{counted(needed, 'ballot')} per instance {_give(needed)} {goal} in this check."]
    lines.append(f"None of the numbers that could be checked gives {goal}.")
    return [*lines, f"By the model: {_by_the_model(found)}"]


def scores_table(
    scores: Scores, n_truths: int, guessed_alternatives: Sequence[str] | None, bins: Sequence[CalibrationBin]
) -> None:
    """Accuracies with their intervals, and whether the stated confidence was right."""
    console = terminal()
    right = round(scores.zero_one.mean * scores.n_instances)
    exact = scores.zero_one
    console.print(
        f"{right:,} of {scores.n_instances:,} sets are exactly right, "
        f"{with_interval(exact.mean, exact.low, exact.high)}; {n_truths:,} were estimated."
    )
    if guessed_alternatives is not None:
        names = listing(guessed_alternatives, ALTERNATIVES_SHOWN)
        console.print(
            f"Alternatives found in both files: {names}. If more were offered, name all with --alternatives or --menu.",
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
    shown.add_column("95 % CI", justify="right")
    shown.add_column("meaning")
    for row in scores.rows():
        shown.add_row(*row)
    return shown


def calibration_table(bins: Sequence[CalibrationBin]) -> Table:
    """Stated confidence against the share of sets that were right."""
    shown = table()
    for name in ("stated confidence", "sets", "mean stated", "were right", "95 % CI"):
        shown.add_column(name, justify="right")
    for each in bins:
        shown.add_row(*each.row())
    return shown


def picked(names: Sequence[str], output: Path, then: str, *, as_json: bool) -> None:
    """Which instances to answer, and the command for `then`."""
    if as_json:
        print_json({"file": str(output), "instances": list(names)})
        return
    console = terminal()
    console.print(
        f"Wrote {len(names):,} instances to {output}, drawn at random from all levels of confidence.", markup=False
    )
    console.print(
        "Replace each ? by the true set, joined by |, or leave the cell empty if no alternative is right; rows that "
        "still have ? are ignored. Then run:",
        markup=False,
    )
    console.print(f"  {then}", markup=False, soft_wrap=True)
