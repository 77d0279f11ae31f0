"""What `aggregate` prints, on one screen: what was found and how sure, warnings, doubtful instances, suspicious voters,
files, and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.text import Text

from epivote.cli.again import Again
from epivote.cli.console import terminal
from epivote.cli.fitting import Fitted
from epivote.cli.screen import SCREEN, Page, ScreenColumn
from epivote.cli.show import accuracy_table, calibration_table
from epivote.cli.show_voters import voter_lines
from epivote.data.any_ballots import AnyBallots
from epivote.data.names import counted, listing
from epivote.data.numbers import chosen_percent, in_percent, with_interval
from epivote.data.ordering import at_ranks
from epivote.estimate.review import Doubt
from epivote.evaluate.inspection import oddities
from epivote.summary import FoundSet, Summary

MOST_DOUBTFUL = 10  # rows; a round number
LEAST_SETS = 5  # rows of sets if not all fit; a round number
LEAST_WARNINGS = 4  # lines; so many are shown before voters and sets take the room
MOST_SETS = 24  # rows of sets if there are no more than that; else only a sample is shown
LEAST_VOTERS = 2  # rows of voters that are shown before sets take the room
SHORT = 67  # letters of a reason that fits a line of 80 with what precedes it
MISREAD = ("not split", "no alternative in common")  # notes of readers that often mean that a file was misread
NONE = "(none)"
SET_COLUMNS = (ScreenColumn("instance"), ScreenColumn("set"), ScreenColumn("confidence", "right", is_cut=False))
DOUBT_COLUMNS = (
    ScreenColumn("most doubtful"),
    ScreenColumn("set"),
    ScreenColumn("or perhaps"),
    ScreenColumn("confidence", "right", is_cut=False),
    ScreenColumn("more ballots", "right", is_cut=False),
)


@dataclass(frozen=True)
class Told:
    """What `aggregate` did besides estimating: files it wrote, how long it took, and how it was called."""

    again: Again
    files: Sequence[Path]
    predictions: Path | None = None
    seconds: dict[str, float] | None = None


def aggregate_tables(fitted: Fitted, told: Told, *, everything: bool) -> None:
    """One screen for a person at a terminal; all rows and remarks if `everything` is wanted."""
    page, summary = Page(terminal()), fitted.summary
    if everything:
        _everything(page, fitted, told)
        return
    found, end = _found(page, fitted), ending(page, told, *next_command(summary, told))
    doubtful = _doubtful(page, summary) if summary.is_rated else []
    room = SCREEN - sum(page.height(part) + 1 for part in (found, doubtful, end) if part)
    least = min(len(summary.estimate.truths), LEAST_SETS) + 2, (LEAST_VOTERS + 3 if summary.is_rated else 0)
    warned = fit_in(page, warnings_of(fitted), max(room - sum(least) - 1, LEAST_WARNINGS))
    room -= len(warned) + bool(warned)
    voters = voter_lines(page, summary, room - least[0] - 1) if summary.is_rated else []
    room -= len(voters) + bool(voters)
    page.show([found, _sample(page, summary, room), warned, doubtful, voters, end])


def _everything(page: Page, fitted: Fitted, told: Told) -> None:
    """The same without limits, and how the file was read, how sets were found, how confidence fares."""
    summary = fitted.summary
    sets = page.table(SET_COLUMNS, [_set_row(summary, each) for each in summary.sets()], is_cut=False)
    warned = [line for warning in warnings_of(fitted, everything=True) for line in page.wrapped(warning)]
    doubtful = _doubtful(page, summary, everything=True) if summary.is_rated else []
    voters = voter_lines(page, summary, None) if summary.is_rated else []
    page.show([_found(page, fitted, everything=True), sets, warned, doubtful, voters])
    _gold_tables(page, summary)
    page.console.print()
    page.show([ending(page, told, *next_command(summary, told))])


# What was found and how sure


def _found(page: Page, fitted: Fitted, *, everything: bool = False) -> list[Text]:
    summary, ballots = fitted.summary, fitted.export.ballots
    lines = page.wrapped(headline(summary))
    if summary.held_back is not None:
        lines += page.wrapped(scored(summary))
    for sentence in summary.about_confidence if everything else short_confidence(summary):
        lines += page.wrapped(sentence)
    if everything:
        lines += page.wrapped(f"{_source(fitted)}: {ballots.in_words()}.")
        return lines + page.wrapped(how(fitted, everything=True))
    return lines + page.wrapped(f"{_source(fitted)}: {_counts(ballots)}.", 2) + page.wrapped(how(fitted), 2)


def _source(fitted: Fitted) -> str:
    """The name of the file, and its format if it is not the plain one."""
    name = "standard input" if str(fitted.source) == "-" else fitted.source.name
    return name if fitted.export.format == "ballots" else f"{name} (format {fitted.export.format})"


def _counts(ballots: AnyBallots) -> str:
    cast = counted(ballots.total_ballots, "ballot") + (
        f" ({ballots.total_empty:,} empty)" if ballots.total_empty else ""
    )
    instances, alternatives = counted(ballots.n_instances, "instance"), counted(ballots.n_alternatives, "alternative")
    return ", ".join([ballots.voters_in_words(), instances, alternatives, cast])


def headline(summary: Summary) -> str:
    """How many sets were found, and how many of them can be relied on; gold sets count apart."""
    return headline_of(summary, len(summary.estimated_places), summary.n_sure if summary.is_rated else None)


def headline_of(summary: Summary, n_sets: int, n_sure: int | None) -> str:
    """The same for these counts; `n_sure` is None where no confidence is stated."""
    n_gold = summary.estimate.ballots.n_instances - n_sets
    kept = f"{counted(n_gold, 'gold set')} {'is' if n_gold == 1 else 'are'} kept as given."
    if not n_sets:
        return kept
    found, sure = f"Found {counted(n_sets, 'set')} {sizes_of(summary)}", ""
    if n_sure is not None:
        least = f"with a confidence of {chosen_percent(summary.threshold)} or more"
        every = f", {'all ' if n_sets > 1 else ''}{least}"
        sure = every if n_sure == n_sets else f": {n_sure:,} {least}, {n_sets - n_sure:,} doubtful"
    return f"{found}{sure}." + (f" {kept}" if n_gold else "")


def short_confidence(summary: Summary) -> tuple[str, ...]:
    """How many sets should be right, what that rests on, and what gold says about it."""
    if not summary.is_rated:
        return ()
    known, right = summary.estimate.calibration, f"About {round(summary.expected_right):,} should be exactly right"
    if known is None and summary.reproducibility is None:
        return (f"{right}, if voters err independently.",)
    basis = "is the probability under the model" if known is None else "was lowered for shared mistakes"
    if known is not None and known.source == "gold":
        basis = f"is calibrated with {counted(len(summary.estimate.gold), 'gold set')}"
    return f"{right}; confidence {basis}.", *short_gold(summary)


def sizes_of(summary: Summary) -> str:
    """`of size 1..2`, and how many instances have other bounds."""
    bounds, own = summary.estimate.bounds, summary.n_own_sizes
    size = f"of size {bounds}" if bounds.upper is not None else f"of size {bounds.lower} or more"
    return size + (f" ({counted(own, 'instance')} with other size bounds)" if own else "")


def how(fitted: Fitted, *, everything: bool = False) -> str:
    """The method and why it was chosen: the first reason if it is short, or all."""
    estimate, reasons = fitted.summary.estimate, fitted.reasons
    if everything:
        method = f"Method {fitted.method}" + (f": {'; '.join(reasons)}" if reasons else "")
        return f"{method}; {_outcome(fitted)}." if estimate.log_likelihoods else f"{method}."
    if not reasons:
        return f"Method {fitted.method}."
    return (
        f"Method {fitted.method}: {reasons[0]}."
        if len(reasons[0]) < SHORT
        else f"Method {fitted.method} (--all says why)."
    )


def _outcome(fitted: Fitted) -> str:
    estimate = fitted.summary.estimate
    steps = counted(estimate.n_iterations, "iteration")
    return {
        "converged": f"converged after {steps}",
        "iteration limit": f"stopped at the limit of {steps} before it converged",
        "interrupted": f"interrupted after {steps}; these are the best sets so far",
    }[estimate.status]


def short_gold(summary: Summary) -> tuple[str, ...]:
    """What calibration with gold did, in one line."""
    effect = summary.gold_effect
    if effect is None:
        return ()
    right = effect.after.exact
    return (
        f"Gold sets left out in turn: {with_interval(right.mean, right.low, right.high)} exactly right, stated "
        f"{effect.after.confidence:.2f}.",
    )


def scored(summary: Summary) -> str:
    """How many sets with gold kept aside are exactly right."""
    check = summary.held_back
    assert check is not None
    assert check.scores is not None
    right = check.scores.zero_one
    return (
        f"Scored against gold (not used for fitting): {check.n_right:,} of {check.n_instances:,} sets are exactly "
        f"right, {with_interval(right.mean, right.low, right.high)}."
    )


def _sample(page: Page, summary: Summary, room: int) -> list[Text]:
    """Sets from the most to the least confident: all if they fit, else a few that stand for all."""
    n_sets = summary.estimate.ballots.n_instances
    if n_sets <= min(room - 2, MOST_SETS):
        ranks = np.arange(n_sets)
        title = "Sets, most confident first" if summary.is_rated and n_sets > 1 else "Sets"
    else:
        count = max(min(LEAST_SETS, room - 2), 1)
        ranks = ((np.arange(count) + 0.5) / count * n_sets).astype(int)
        spread = ", most to least confident" if summary.is_rated else ""
        title = f"A sample of the sets ({count} of {n_sets:,}{spread}; --all shows the rest)"
    places = at_ranks(-summary.confidence, ranks) if summary.is_rated else ranks
    rows = [_set_row(summary, each) for each in summary.sets_at(places)]
    return [*page.wrapped(title), *page.table(SET_COLUMNS, rows, has_head=False)]


def _set_row(summary: Summary, found: FoundSet) -> tuple[str, str, str]:
    sure = "" if found.confidence is None else in_percent(found.confidence)
    sure = "gold" if found.instance in summary.estimate.gold else sure
    return found.instance, ", ".join(found.alternatives) or NONE, sure


# Warnings


def warnings_of(fitted: Fitted, *, everything: bool = False) -> list[str]:
    """What to know before the sets are used, the gravest first; what `inspect` finds is one sentence that names it."""
    estimate, found = fitted.summary.estimate, warnings_of_fit(fitted)
    if estimate.ties:
        found.append(
            f"Warning: {counted(len(estimate.ties), 'tie')}, decided by the order of the alternatives: "
            f"{listing(estimate.ties, 5 if everything else 1)}."
        )
    misread = [note for note in fitted.export.notes if any(sign in note for sign in MISREAD)]
    notes = [note for note in fitted.export.notes if note not in misread]
    odd = [*misread, *oddities(fitted.export.ballots)]
    if everything:
        return [*found, *(f"Odd: {each}." for each in odd), *(f"Note: {note}." for note in read_notes(fitted, notes))]
    if odd:
        found.append(f"epivote inspect shows {counted(len(odd), 'remark')} on this file: {'; '.join(odd)}.")
    return [*found, *(f"Note: {note}." for note in notes)]


def warnings_of_fit(fitted: Fitted) -> list[str]:
    """What went wrong or looks doubtful in the fit itself."""
    stopped = [] if fitted.summary.estimate.status == "converged" else [f"Warning: {_outcome(fitted)}."]
    return [*stopped, *(f"Warning: {note}." for note in fitted.notes)]


def read_notes(fitted: Fitted, notes: Sequence[str]) -> list[str]:
    """What was noted when the file was read, and how missing and empty ballots count."""
    empty = fitted.export.ballots.total_empty
    said = (
        [f"{counted(empty, 'empty ballot')} speak{'s' if empty == 1 else ''} against every alternative"]
        if empty
        else []
    )
    said.append("voters without a ballot on an instance count as not asked")
    if fitted.export.inferred:
        said.append(
            "alternatives are those that appear in the file; if more were offered, name all with --alternatives"
        )
    return [*notes, *said]


def fit_in(page: Page, sentences: Sequence[str], room: int, rest_by: str = "--all shows all") -> list[Text]:
    """As many sentences as there is room for, each in two lines at most; then how many are left out."""
    lines: list[Text] = []
    for number, sentence in enumerate(sentences):
        rest = len(sentences) - number
        left = room - len(lines) - (rest > 1)
        if left < 1:
            return [*lines, Text(f"and {counted(rest, 'more remark')}; {rest_by}")]
        lines += page.wrapped(sentence, min(left, 2))
    return lines


# Doubtful instances


def _doubtful(page: Page, summary: Summary, *, everything: bool = False) -> list[Text]:
    """The least confident sets with their strongest rivals; nothing if no set is doubtful."""
    if not summary.n_doubtful:
        return []
    return doubt_table(page, summary.review(None if everything else MOST_DOUBTFUL), is_cut=not everything)


def doubt_table(page: Page, doubts: Sequence[Doubt], *, is_cut: bool) -> list[Text]:
    """One line per doubtful instance."""
    rows = [
        (
            each.instance,
            ", ".join(each.answer) or NONE,
            other(each.answer, each.rival),
            in_percent(each.confidence),
            "many" if each.more_ballots is None else f"about {each.more_ballots}",
        )
        for each in doubts
    ]
    return page.table(DOUBT_COLUMNS, rows, is_cut=is_cut)


def other(found: Sequence[str], rival: Sequence[str]) -> str:
    """A rival set by what is different: `with wren`, `without owl`, `wren, not owl`."""
    if not set(found) & set(rival):
        return ", ".join(rival) or NONE
    more, less = ", ".join(x for x in rival if x not in found), ", ".join(x for x in found if x not in rival)
    if more and less:
        return f"{more}, not {less}"
    return f"with {more}" if more else f"without {less}"


# Gold, files and what is next


def _gold_tables(page: Page, summary: Summary) -> None:
    check = summary.held_back or summary.taught
    if check is None:
        return
    page.console.print()
    if check.scores is not None:
        page.console.print(accuracy_table(check.scores))
    else:
        page.console.print(
            f"{counted(check.n_instances, 'instance')} had gold sets, kept as given. From the ballots alone "
            f"{check.n_right:,} of them would be exactly right; this is optimistic, because the rates were learnt from "
            "these sets."
        )
    if check.bins:
        page.console.print("Was the stated confidence right?")
        page.console.print(calibration_table(check.bins))


def ending(page: Page, told: Told, why: str, command: str) -> list[Text]:
    """Files that were written, seconds, and the next command to try."""
    lines: list[Text] = []
    for folder in dict.fromkeys(file.parent for file in told.files):
        names = ", ".join(file.name for file in told.files if file.parent == folder)
        lines += page.wrapped(f"Wrote {names} to {'this folder' if folder == Path() else folder}.")
    if told.predictions is not None:
        lines += _sending(page, told.predictions)
    if told.seconds is not None:
        spent = ", ".join(f"{name} {value:.2f}" for name, value in told.seconds.items())
        lines += page.wrapped(f"Seconds: {spent}.")
    return [*lines, *page.wrapped(f"Next, {why}:"), Text(f"  {command}")]


def next_command(summary: Summary, told: Told) -> tuple[str, str]:
    """What helps most now, and the command for it."""
    again = told.again
    if not told.files:
        return "write all sets, voters and probabilities as CSV", again.command("aggregate", more="--out result")
    if summary.is_rated and summary.n_doubtful:
        if not summary.estimate.gold and summary.gold is None:
            return "pick instances to answer yourself, to calibrate the confidence", again.command(
                "gold", more="-o to-answer.csv"
            )
        return "list all doubtful instances", again.command("review", more="-o review.csv")
    return "write a page to look at and pass on", again.command("report", more="-o report.html")


def _sending(page: Page, predictions: Path) -> list[Text]:
    """How predictions get to Label Studio."""
    send = (
        "  curl -X POST URL/api/projects/ID/import/predictions -H 'Authorization: Token TOKEN' "
        f"-H 'Content-Type: application/json' --data @{predictions}"
    )
    return [
        *page.wrapped(
            f"{predictions.name} adds predictions to the tasks of the same Label Studio project, if sent as below; "
            "importing it as a file makes new tasks, for another project."
        ),
        Text(send),
    ]
