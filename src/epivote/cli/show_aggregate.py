"""What `aggregate` prints: what was read, what was found, how sure, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epivote.cli.console import left_out, percent, print_json, table, terminal
from epivote.cli.fitting import Fitted
from epivote.cli.show import accuracy_table, calibration_table
from epivote.data.estimate import Estimate
from epivote.data.names import counted, listing
from epivote.errors import InputError
from epivote.estimate.base import RatedEstimator
from epivote.estimate.reliability import VoterReport
from epivote.estimate.review import Doubt
from epivote.evaluate.calibration import CalibrationBin, calibration
from epivote.evaluate.metrics import Scores, score

MOST_ROWS = 30  # rows of a table on the terminal; a round number that fits a tall window
MOST_TO_REVIEW = 10  # rows; a round number
SURE = 0.95  # confidence from which a set needs no second look; the usual 95 %


@dataclass(frozen=True)
class Told:
    """What there is to say, worked out before anything is printed or written."""

    fitted: Fitted
    scores: Scores | None
    bins: list[CalibrationBin]
    seconds: dict[str, float] | None

    @classmethod
    def of(cls, fitted: Fitted, seconds: dict[str, float] | None) -> Told:
        """All of it."""
        return cls(fitted, _scores(fitted), _bins(fitted), seconds)


def aggregate_tables(told: Told, files: Sequence[Path]) -> None:
    """Tables for a person at a terminal."""
    console, fitted = terminal(), told.fitted
    say = partial(console.print, markup=False)
    for line in _opening(fitted):
        say(line)
    say()
    console.print(_set_table(fitted.estimator.estimate_))
    voters(console, fitted)
    _review(console, fitted)
    _gold(console, told)
    estimate = fitted.estimator.estimate_
    if estimate.ties:
        say(
            f"{counted(len(estimate.ties), 'set')} had equally likely rivals, and the order of the alternatives "
            f"decided: {listing(estimate.ties, 5)}."
        )
    for folder in dict.fromkeys(file.parent for file in files):
        names = ", ".join(file.name for file in files if file.parent == folder)
        say(f"Wrote {names} to {'this folder' if folder == Path() else folder}.")
    if not files:
        say("Nothing was written; add --out DIR to keep all sets, voters and probabilities as CSV.")
    if told.seconds is not None:
        say("Seconds: " + ", ".join(f"{name} {spent:.2f}" for name, spent in told.seconds.items()) + ".")


def aggregate_json(told: Told) -> None:
    """Everything as one JSON object."""
    fitted = told.fitted
    estimate = fitted.estimator.estimate_
    history = estimate.log_likelihoods
    rated = fitted.estimator if isinstance(fitted.estimator, RatedEstimator) else None
    print_json(
        {
            "format": fitted.export.format,
            "method": fitted.method,
            "reason": fitted.reason,
            "remarks": list(fitted.export.notes),
            "notes": list(fitted.notes),
            "size": str(estimate.bounds),
            "status": estimate.status,
            "iterations": estimate.n_iterations,
            "log_likelihood": history[-1] if history else None,
            "ties": list(estimate.ties),
            "own_sizes": {name: list(pair) for name, pair in estimate.bounds.per_instance.items()},
            "gold": sorted(estimate.gold),
            "accuracy": None if told.scores is None else asdict(told.scores),
            "calibration": [asdict(each) for each in told.bins],
            "truth": records(estimate.truth_table()),
            "voters": records(estimate.voter_table()),
            "reliability": [asdict(report) for report in rated.reliability()] if rated else [],
            "review": [asdict(doubt) for doubt in rated.review(SURE)] if rated else [],
            "alternatives": records(estimate.alternative_table()),
            "inclusion": records(estimate.inclusion_table()),
            "seconds": told.seconds,
        }
    )


def _opening(fitted: Fitted) -> list[str]:
    ballots = fitted.export.ballots
    name = "standard input" if str(fitted.source) == "-" else fitted.source
    lines = [f"{name}: {ballots.in_words()}."]
    empty = int(np.sum(ballots.ballot_sizes == 0))
    blank = f"{counted(empty, 'ballot')} without a tick {'counts as an answer' if empty == 1 else 'count as answers'}"
    blank = blank if empty else "no ballot is without a tick"
    lines.append(f"Read as {fitted.export.format}; {blank}; who has no ballot on an instance was not asked.")
    if fitted.export.inferred:
        lines.append("Alternatives are those that appear in the file; if more were offered, --alternatives names all.")
    lines.append(how(fitted))
    lines += [f"Note: {remark}." for remark in fitted.export.notes]
    lines += [f"Careful: {note}." for note in fitted.notes]
    return lines


def how(fitted: Fitted) -> str:
    """Method, bounds and how it ended."""
    estimate = fitted.estimator.estimate_
    bounds = estimate.bounds
    sets = f"sets of {bounds}" if bounds.upper is not None else f"sets of at least {bounds.lower}"
    own = sum(name in bounds.per_instance for name in estimate.ballots.instances) if bounds.per_instance else 0
    sets += f" ({counted(own, 'instance')} with sizes of their own)" if own else ""
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
    truths, posterior = estimate.truths, estimate.posterior
    shown = table("Sets", caption=left_out(len(truths), MOST_ROWS))
    shown.add_column("instance", overflow="fold")
    shown.add_column("right answers", overflow="fold")
    shown.add_column("confidence", justify="right")
    for z, instance in enumerate(truths.instances[:MOST_ROWS]):
        sure = None if posterior is None else float(posterior.set_probabilities[z])
        shown.add_row(Text(instance), Text(", ".join(truths.listed(instance)) or "(none)"), percent(sure))
    return shown


def voters(console: Console, fitted: Fitted) -> None:
    """Who is worth a look, and who says most."""
    if not isinstance(fitted.estimator, RatedEstimator):
        return
    reports = fitted.estimator.reliability()
    flagged = sorted((each for each in reports if each.flags), key=lambda each: -each.ballots)
    if flagged:
        console.print(_voter_table(flagged))
    best = sorted(reports, key=lambda each: -each.weight_interval[0])[:3]
    named = ", ".join(
        f"{each.voter} ({each.hit_rate:.0%} hits, {each.false_alarm_rate:.0%} false alarms)" for each in best
    )
    others = f"{len(flagged):,} of {len(reports):,} voters are worth a look." if flagged else "No voter stands out."
    console.print(f"{others} Most informative: {named}.", markup=False)


def _voter_table(reports: Sequence[VoterReport]) -> Table:
    shown = table("Voters worth a look", caption=left_out(len(reports), MOST_ROWS))
    shown.add_column("voter", overflow="fold")
    for name in ("hits", "false alarms", "ballots"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("why", overflow="fold")
    for each in reports[:MOST_ROWS]:
        shown.add_row(
            Text(each.voter),
            percent(each.hit_rate),
            percent(each.false_alarm_rate),
            f"{each.ballots:,}",
            Text("; ".join(each.flags)),
        )
    return shown


def _review(console: Console, fitted: Fitted) -> None:
    if not isinstance(fitted.estimator, RatedEstimator):
        return
    confidence = fitted.estimator.confidence_
    assert confidence is not None
    total, doubtful = len(confidence), int(np.sum(confidence < SURE))
    if not doubtful:
        console.print(f"Every set has a confidence of {SURE:.0%} or more.")
        return
    console.print(_review_table(fitted.estimator.review(SURE, limit=MOST_TO_REVIEW), doubtful))
    have = "has" if doubtful == 1 else "have"
    console.print(f"{doubtful:,} of {total:,} sets {have} a confidence below {SURE:.0%}.")


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


def _gold(console: Console, told: Told) -> None:
    scores, bins = told.scores, told.bins
    if scores is not None:
        right = round(scores.zero_one.mean * scores.n_instances)
        console.print(
            f"\nGold sets are known and were only compared with: {right:,} of {scores.n_instances:,} sets are "
            "exactly right."
        )
        console.print(accuracy_table(scores))
    elif bins:
        right = sum(round(each.right.mean * each.count) for each in bins)
        console.print(
            f"\n{counted(sum(each.count for each in bins), 'instance')} had gold sets, kept as given. From the ballots "
            f"alone {right:,} of them would be exactly right (their sets taught the rates, so this flatters a little):"
        )
    if bins:
        console.print("Was the stated confidence right?")
        console.print(calibration_table(bins))


def _scores(fitted: Fitted) -> Scores | None:
    if fitted.kept_aside is None:
        return None
    known = fitted.estimator.estimate_.truths
    right = {name: names for name, names in fitted.kept_aside.items() if name in known}
    if not right:
        raise InputError(
            f"no gold instance has a ballot; gold has {listing(list(fitted.kept_aside), 3)}, "
            f"the ballots {listing(known.instances, 3)}"
        )
    return score(known, right, fitted.export.ballots)


def _bins(fitted: Fitted) -> list[CalibrationBin]:
    """Stated confidence against gold: of sets found without it, or of what the ballots alone say where it taught."""
    if not isinstance(fitted.estimator, RatedEstimator):
        return []
    if fitted.kept_aside is not None:
        found, stated = fitted.estimator.truth_, fitted.estimator.confidence_
        assert stated is not None
        gold = fitted.kept_aside
        rows = [(stated[z], found[name] == gold[name]) for z, name in enumerate(found) if name in gold.instance_index]
        return calibration([sure for sure, _ in rows], [right for _, right in rows])
    if fitted.gold is None or not fitted.estimator.estimate_.gold:
        return []
    truths, confidence = fitted.estimator.gold_check()
    return calibration(confidence, np.array([truths[name] == fitted.gold[name] for name in truths]))


def records(columns: dict[str, list[object]]) -> list[dict[str, object]]:
    """Rows as JSON objects."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
