"""What `aggregate` prints: what was read, what was found, how sure, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from epivote.cli.console import left_out, percent, print_json, table, terminal
from epivote.cli.fitting import Fitted
from epivote.cli.show import accuracy_table, calibration_table
from epivote.data.names import counted, listing
from epivote.estimate.reliability import VoterReport
from epivote.estimate.review import Doubt
from epivote.evaluate.inspection import oddities
from epivote.formats.write import inclusion_blocks
from epivote.summary import Summary

MOST_ROWS = 30  # rows of a table on the terminal; a round number that fits a tall window
MOST_TO_REVIEW = 10  # rows; a round number


def aggregate_tables(
    fitted: Fitted, files: Sequence[Path], predictions: Path | None, seconds: dict[str, float] | None
) -> None:
    """Tables for a person at a terminal."""
    console, summary = terminal(), fitted.summary
    say = partial(console.print, markup=False)
    for line in _opening(fitted):
        say(line)
    say()
    console.print(_set_table(summary))
    if summary.is_rated:
        voters(console, summary)
        _review(console, summary)
    _gold(console, summary)
    ties = summary.estimate.ties
    if ties:
        say(
            f"{counted(len(ties), 'set')} had equally likely rivals, and the order of the alternatives "
            f"decided: {listing(ties, 5)}."
        )
    for folder in dict.fromkeys(file.parent for file in files):
        names = ", ".join(file.name for file in files if file.parent == folder)
        say(f"Wrote {names} to {'this folder' if folder == Path() else folder}.")
    if predictions is not None:
        say(
            f"To add {predictions.name} to the tasks of the same project, send it to Label Studio: curl -X POST "
            "URL/api/projects/ID/import/predictions -H 'Authorization: Token TOKEN' "
            f"-H 'Content-Type: application/json' --data @{predictions}. Importing it as a file makes new tasks, which "
            "is for another project."
        )
    if not files:
        say("Nothing was written; add --out DIR to keep all sets, voters and probabilities as CSV.")
    if seconds is not None:
        say("Seconds: " + ", ".join(f"{name} {spent:.2f}" for name, spent in seconds.items()) + ".")


def aggregate_json(fitted: Fitted, seconds: dict[str, float] | None) -> None:
    """Everything as one JSON object."""
    summary, estimate = fitted.summary, fitted.summary.estimate
    history, check = estimate.log_likelihoods, summary.held_back or summary.taught
    print_json(
        {
            "format": fitted.export.format,
            "method": fitted.method,
            "reasons": list(fitted.reasons),
            "remarks": list(fitted.export.notes),
            "odd": list(oddities(fitted.export.ballots)),
            "notes": list(fitted.notes),
            "size": str(estimate.bounds),
            "status": estimate.status,
            "iterations": estimate.n_iterations,
            "log_likelihood": estimate.log_likelihood,
            "objective": history[-1] if history else None,
            "ties": list(estimate.ties),
            "own_sizes": {name: list(pair) for name, pair in estimate.bounds.per_instance.items()},
            "gold": sorted(estimate.gold),
            "confidence": confidence_json(summary),
            "accuracy": None if check is None or check.scores is None else asdict(check.scores),
            "calibration": [] if check is None else [asdict(each) for each in check.bins],
            "truth": records(estimate.truth_table()),
            "voters": records(estimate.voter_table()),
            "reliability": map(asdict, summary.voters),
            "erring_together": [list(group) for group in summary.erring_together],
            "review": map(asdict, summary.review() if summary.is_rated else ()),
            "alternatives": records(estimate.alternative_table()),
            "inclusion": (row for block in inclusion_blocks(estimate) for row in block.iter_rows(named=True)),
            "seconds": seconds,
        }
    )


def confidence_json(summary: Summary) -> dict[str, object] | None:
    """What confidence rests on, and what halves of the voters and gold say about it."""
    if not summary.is_rated:
        return None
    known, check, effect = summary.estimate.calibration, summary.reproducibility, summary.gold_effect
    return {
        "meaning": summary.meaning,
        "source": "model" if known is None else known.source,
        "calibration": None if known is None else known.state(),
        "reproducibility": None if check is None else {**asdict(check), "is_too_sure": check.is_too_sure},
        "gold_effect": None if effect is None else asdict(effect),
    }


def _opening(fitted: Fitted) -> list[str]:
    ballots = fitted.export.ballots
    name = "standard input" if str(fitted.source) == "-" else fitted.source
    lines = [f"{name}: {ballots.in_words()}."]
    empty = ballots.total_empty
    blank = f"{counted(empty, 'ballot')} without a tick {'counts as an answer' if empty == 1 else 'count as answers'}"
    blank = blank if empty else "no ballot is without a tick"
    lines.append(f"Read as {fitted.export.format}; {blank}; who has no ballot on an instance was not asked.")
    if fitted.export.inferred:
        lines.append("Alternatives are those that appear in the file; if more were offered, --alternatives names all.")
    lines.append(how(fitted))
    lines += fitted.summary.about_confidence
    lines += [f"Note: {remark}." for remark in fitted.export.notes]
    lines += [f"Odd: {odd}." for odd in oddities(ballots)]
    lines += [f"Careful: {note}." for note in fitted.notes]
    return lines


def how(fitted: Fitted) -> str:
    """Method, bounds and how it ended."""
    estimate, own = fitted.summary.estimate, fitted.summary.n_own_sizes
    bounds = estimate.bounds
    sets = f"sets of {bounds}" if bounds.upper is not None else f"sets of at least {bounds.lower}"
    sets += f" ({counted(own, 'instance')} with sizes of their own)" if own else ""
    method = f"Method {fitted.method}" + (f" ({'; '.join(fitted.reasons)})" if fitted.reasons else "")
    if not estimate.log_likelihoods:
        return f"{method}, {sets}."
    steps = f"{estimate.n_iterations} iteration{'' if estimate.n_iterations == 1 else 's'}"
    outcome = {
        "converged": f"converged after {steps}",
        "iteration limit": f"stopped at the limit of {steps} before it had settled",
        "interrupted": f"interrupted after {steps}; this is the best reached so far",
    }[estimate.status]
    return f"{method}, {sets}: {outcome}, log-likelihood {estimate.log_likelihood:.3f}."


def _set_table(summary: Summary) -> Table:
    shown = table("Sets", caption=left_out(len(summary.estimate.truths), MOST_ROWS))
    shown.add_column("instance", overflow="fold")
    shown.add_column("right answers", overflow="fold")
    shown.add_column("confidence", justify="right")
    for each in summary.sets(MOST_ROWS):
        shown.add_row(Text(each.instance), Text(", ".join(each.alternatives) or "(none)"), percent(each.confidence))
    return shown


def voters(console: Console, summary: Summary) -> None:
    """Who is worth a look, and who says most."""
    flagged = summary.flagged
    if flagged:
        console.print(_voter_table(flagged))
    named = ", ".join(
        f"{each.label} ({each.hit_rate:.0%} hits, {each.false_alarm_rate:.0%} false alarms)"
        for each in summary.most_informative()
    )
    n_voters = f"{summary.estimate.ballots.total_voters:,} voters"
    worth = sum(each.multiplicity for each in flagged)
    others = f"{worth:,} of {n_voters} are worth a look." if flagged else "No voter stands out."
    console.print(others + (f" Most informative: {named}." if named else ""), markup=False)
    if summary.about_erring_together:
        console.print(summary.about_erring_together, markup=False)


def _voter_table(reports: Sequence[VoterReport]) -> Table:
    shown = table("Voters worth a look", caption=left_out(len(reports), MOST_ROWS))
    shown.add_column("voter", overflow="fold")
    for name in ("hits", "false alarms", "ballots"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("why", overflow="fold")
    for each in reports[:MOST_ROWS]:
        shown.add_row(
            Text(each.label),
            percent(each.hit_rate),
            percent(each.false_alarm_rate),
            f"{each.ballots:,}",
            Text("; ".join(each.flags)),
        )
    return shown


def _review(console: Console, summary: Summary) -> None:
    doubtful, sure = summary.n_doubtful, f"{summary.threshold:.0%}"
    if not doubtful:
        console.print(f"Every set has a confidence of {sure} or more.")
        return
    console.print(_review_table(summary.review(MOST_TO_REVIEW), doubtful))
    have = "has" if doubtful == 1 else "have"
    console.print(f"{doubtful:,} of {len(summary.confidence):,} sets {have} a confidence below {sure}.")


def _review_table(doubts: Sequence[Doubt], total: int) -> Table:
    shown = table("Items to review, most doubtful first", caption=left_out(total, MOST_TO_REVIEW))
    shown.add_column("instance", overflow="fold")
    shown.add_column("found", overflow="fold")
    shown.add_column("or perhaps", overflow="fold")
    shown.add_column("confidence", justify="right")
    shown.add_column("more ballots", justify="right")
    for each in doubts:
        shown.add_row(
            Text(each.instance),
            Text(", ".join(each.answer) or "(none)"),
            Text(", ".join(each.rival) or "(none)"),
            percent(each.confidence),
            "many" if each.more_ballots is None else f"about {each.more_ballots}",
        )
    return shown


def _gold(console: Console, summary: Summary) -> None:
    check = summary.held_back or summary.taught
    if check is None:
        return
    if check.scores is not None:
        console.print(
            f"\nGold sets are known and were only compared with: {check.n_right:,} of {check.n_instances:,} sets are "
            "exactly right."
        )
        console.print(accuracy_table(check.scores))
    else:
        console.print(
            f"\n{counted(check.n_instances, 'instance')} had gold sets, kept as given. From the ballots alone "
            f"{check.n_right:,} of them would be exactly right (their sets taught the rates, so this flatters a "
            "little):"
        )
    if check.bins:
        console.print("Was the stated confidence right?")
        console.print(calibration_table(check.bins))


def records(columns: dict[str, list[object]]) -> Iterator[dict[str, object]]:
    """Rows as JSON objects, one by one."""
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
