"""What the page says: words and rows ready to print, so that the template computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, IntArray, counted
from epivote.estimate.amle import AMLE
from epivote.estimate.base import UPSIDE_DOWN
from epivote.evaluate.calibration import CalibrationBin
from epivote.report.numbers import top_pairs
from epivote.summary import Summary

DOUBTS_SHOWN = 20  # rows; a round number
PAIRS_SHOWN = 12  # rows; a round number


class Tile(NamedTuple):
    """One number at a glance."""

    value: str
    label: str


class DoubtRow(NamedTuple):
    """One item that needs more votes."""

    item: str
    answer: tuple[str, ...]
    confidence: str
    rival: tuple[str, ...]
    rival_probability: str
    ballots: str
    more: str


@dataclass(frozen=True)
class Accuracy:
    """Estimated against right sets: a sentence, rows of accuracies, and whether confidence kept its promise."""

    sentence: str
    rows: tuple[tuple[str, str, str, str], ...]
    bins: tuple[CalibrationBin, ...]


def opening(summary: Summary) -> str:
    """What was found and how sure, in one paragraph."""
    ballots = summary.estimate.ballots
    read = (
        f"{ballots.voters_in_words()} cast {counted(ballots.total_ballots, 'ballot')} on "
        f"{counted(ballots.n_instances, 'item')} with {counted(ballots.n_alternatives, 'alternative')}, and every item "
        f"now has one set of answers ({sizes_in_words(summary)})."
    )
    if not summary.is_rated:
        return (
            f"{read} They were found by {summary.method}, which counts ticks and knows nothing about who is reliable, "
            "so it cannot say how sure its answers are."
        )
    sure, expected = summary.n_sure, summary.expected_right
    return (
        f"{read} {sure:,} of them {'is' if sure == 1 else 'are'} sure: exactly right with a probability of at least "
        f"{summary.threshold:.0%}. Of all {ballots.n_instances:,} sets about {expected:,.0f} should be exactly right, "
        "if the stated confidence holds."
    )


def sizes_in_words(summary: Summary) -> str:
    """`1 to 2 right answers each`, and how many items have sizes of their own."""
    bounds, own = summary.estimate.bounds, summary.n_own_sizes
    if bounds.upper is None:
        words = "any number of right answers" if bounds.lower == 0 else f"at least {bounds.lower} right"
    elif bounds.lower == bounds.upper:
        words = f"exactly {bounds.lower} right"
    else:
        words = f"{bounds.lower} to {bounds.upper} right"
    return words + (f"; {counted(own, 'item')} with sizes of their own" if own else "")


def tiles(summary: Summary) -> list[Tile]:
    """The most important numbers."""
    ballots = summary.estimate.ballots
    found = [
        Tile(f"{ballots.n_instances:,}", "items"),
        Tile(f"{ballots.total_voters:,}", "voters"),
        Tile(f"{ballots.total_ballots / ballots.n_instances:,.1f}", "ballots per item"),
    ]
    if summary.is_rated:
        found += [
            Tile(f"{summary.n_sure:,}", f"sets sure at {summary.threshold:.0%}"),
            Tile(f"{summary.expected_right:,.0f}", "sets expected exactly right"),
            Tile(f"{np.median(summary.confidence):.1%}", "median confidence"),
        ]
    return found


def warnings_of(summary: Summary, notes: Sequence[str]) -> list[str]:
    """Reasons to be careful, those given first."""
    estimate = summary.estimate
    found = [note if note.endswith((".", "!", "?")) else f"{note}." for note in notes]
    if summary.is_upside_down and not any(UPSIDE_DOWN in note for note in notes):
        found.append(f"{UPSIDE_DOWN[0].upper()}{UPSIDE_DOWN[1:]}.")
    doubtful = summary.size_check.warning
    if doubtful is not None and not any(doubtful in note for note in notes):
        found.append(f"{doubtful[0].upper()}{doubtful[1:]}.")
    if not estimate.converged:
        found.append(outcome(estimate))
    if isinstance(summary.fitted, AMLE):
        found.append(
            "AMLE takes its own sets for certain while it learns about the voters, so its confidence runs high; EM's "
            "keeps its promises on ballots drawn from the model."
        )
    if estimate.ties:
        found.append(
            f"{counted(len(estimate.ties), 'set')} had equally likely rivals; there the order of the alternatives "
            "decided."
        )
    if estimate.gold:
        found.append(f"Gold answers of {counted(len(estimate.gold), 'item')} were given and kept; they count as sure.")
    return found


def outcome(estimate: Estimate) -> str:
    """How the iteration ended."""
    if not estimate.log_likelihoods:
        return "This rule looks at every item once and by itself; nothing had to settle."
    steps = counted(estimate.n_iterations, "iteration")
    if estimate.settling_iterations:
        steps += f" (in the first {estimate.settling_iterations} the shrinkage settled)"
    return {
        "converged": f"Settled after {steps}: the last one changed no rate beyond the tolerance.",
        "iteration limit": f"Stopped at the limit of {steps} before it had settled; allow more and run again.",
        "interrupted": f"Interrupted after {steps}; the page shows the best reached so far.",
    }[estimate.status]


def doubts(summary: Summary) -> list[DoubtRow]:
    """The most doubtful items."""
    return [
        DoubtRow(
            each.instance,
            each.answer,
            f"{each.confidence:.1%}",
            each.rival,
            f"{each.rival_probability:.1%}",
            f"{each.ballots:,}",
            "more than 64" if each.more_ballots is None else f"{each.more_ballots}",
        )
        for each in summary.review(DOUBTS_SHOWN)
    ]


def doubts_in_words(summary: Summary) -> str:
    """How many items need more votes."""
    doubtful, sure = summary.n_doubtful, f"{summary.threshold:.0%}"
    if not doubtful:
        return f"None: every set is right with a probability of at least {sure}."
    are = "is" if doubtful == 1 else "are"
    most = f"; these are the {DOUBTS_SHOWN} most doubtful" if doubtful > DOUBTS_SHOWN else ""
    return (
        f"{doubtful:,} of {counted(summary.estimate.ballots.n_instances, 'set')} {are} less sure than {sure}{most}. "
        "The last column says about how many further ballots of an average voter of this crowd should make each one "
        "sure."
    )


def voters_in_words(summary: Summary) -> str:
    """What to think of the voters as a whole."""
    flagged = sum(each.multiplicity for each in summary.flagged)
    if not summary.is_rated:
        return (
            f"{summary.method} only counts ticks: these are shares of ticks on its own answers, without intervals, "
            "because nothing is known about how sure the answers are."
        )
    if not flagged:
        return ""
    voters = counted(summary.estimate.ballots.total_voters, "voter")
    words = f"{flagged:,} of {voters} {'is' if flagged == 1 else 'are'} worth a look."
    return f"{words} {summary.about_erring_together}".rstrip()


def agreement_in_words(summary: Summary) -> str:
    """How far voters agree, and on which alternatives least."""
    found = summary.agreement
    least = ", ".join(f"{name} ({alpha:.2f})" for name, alpha in found.weakest())
    return found.in_words() + (f" Lowest for single alternatives: {least}." if least else "")


def map_in_words(summary: Summary, drawn: int, *, crosses: bool) -> str:
    """How to read the map of voters, and what it leaves out."""
    n_voters = summary.estimate.ballots.n_voters
    words = "Every dot is a voter, its area the number of ballots."
    if summary.is_rated:
        lines = "Lines are 0.95 intervals." if crosses else "The voter looked at shows its 0.95 intervals as lines."
        words += f" Orange with a ring: worth a look. {lines}"
    if drawn < n_voters:
        words += f" Drawn are {drawn:,} of {counted(n_voters, 'voter')}, those with most ballots."
    return words


def items_in_words(summary: Summary, shown: int) -> str:
    """What opening an item shows, and how many items are left out."""
    rated, n_items = summary.is_rated, summary.estimate.ballots.n_instances
    words = (
        "Open an item to see its most probable sets, why it got its set, and all its ballots."
        if rated
        else f"Open an item to see its ticks and all its ballots; {summary.method} weighs nothing, so there are no "
        "rival sets and no reasons to show."
    )
    if shown < n_items:
        kept, rest = ("most doubtful", "surer") if rated else ("first", "further")
        words += f" The page keeps the {shown:,} {kept} items; {n_items - shown:,} {rest} ones are left out."
    return words


def pairs_in_words(names: Sequence[str], confused: IntArray) -> list[tuple[str, str, str]]:
    """The most frequent confusions: right one, what was ticked instead, and on how many ballots."""
    return [(names[k], names[j], counted(count, "ballot")) for k, j, count in top_pairs(confused, PAIRS_SHOWN)]


def held_back(summary: Summary) -> Accuracy | None:
    """Scores against gold sets that were kept aside; items without ballots and those given to `fit` do not count."""
    if summary.gold is None:
        return None
    strangers = sum(name not in summary.estimate.ballots.instance_index for name in summary.gold)
    taught = len(summary.gold) - strangers - len(summary.comparable)
    left_out = [
        f"{counted(count, 'gold set')} {'was' if count == 1 else 'were'} left out because {reason}"
        for count, reason in ((strangers, "nobody voted there"), (taught, "the estimate was taught with them"))
        if count
    ]
    ending = "".join(f" {text[0].upper()}{text[1:]}." for text in left_out)
    check = summary.held_back
    if check is None or check.scores is None:
        return Accuracy(f"None of the gold sets could be compared.{ending}", (), ())
    are = "is" if check.n_right == 1 else "are"
    sets = f"{check.n_right:,} of {counted(check.n_instances, 'set')}"
    return Accuracy(f"{sets} with a known answer {are} exactly right.{ending}", check.scores.rows(), check.bins)


def taught_gold(summary: Summary) -> Accuracy | None:
    """What the ballots alone say of the gold sets given to `fit`."""
    check = summary.taught
    if check is None:
        return None
    sentence = (
        f"{counted(check.n_instances, 'item')} had gold sets, kept as given. From the ballots alone {check.n_right:,} "
        "of them would be exactly right; the rates were learnt with these sets, so this flatters a little."
    )
    return Accuracy(sentence, (), check.bins)


def how_computed(summary: Summary, settings: Mapping[str, str], version: str) -> list[tuple[str, str]]:
    """Everything needed to repeat it."""
    estimate = summary.estimate
    history = estimate.log_likelihoods
    rows = [
        *settings.items(),
        ("Estimator", repr(summary.fitted)),
        ("Set sizes", f"{estimate.bounds} ({sizes_in_words(summary)})"),
        ("Ballots", repr(estimate.ballots).removeprefix("Ballots(").removesuffix(")")),
        ("Gold sets taught", f"{len(estimate.gold):,}"),
        ("Iterations", f"{estimate.n_iterations:,}" if history else "none needed"),
        ("Status", estimate.status),
        ("Log-likelihood", "none" if estimate.log_likelihood is None else f"{estimate.log_likelihood:,.3f}"),
        ("epivote", f"version {version}"),
    ]
    return [(label, str(text)) for label, text in rows]


def histogram_in_words(counts: IntArray) -> str:
    """The histogram of confidence for those who do not see it."""
    half = len(counts) // 2
    return (
        f"Number of items by confidence: {counts[:half].sum():,} below 50%, {counts[half:-1].sum():,} from 50% to 95%, "
        f"{counts[-1]:,} at 95% or more."
    )


def convergence_in_words(values: FloatArray) -> str:
    """The course of the objective for those who do not see it."""
    return f"Objective from {values[0]:,.2f} to {values[-1]:,.2f} in {counted(len(values), 'iteration')}."


def sizes_of_both(estimate: Estimate) -> str:
    """Mean sizes of ballots and answers, and how many ballots no answer can equal."""
    ballots = estimate.ballots
    lower, upper = estimate.bounds.resolve(ballots)
    ticks, place = ballots.ballot_sizes, ballots.ballot_instance
    times = ballots.ballot_multiplicities
    outside = np.average((ticks < lower[place]) | (ticks > upper[place]), weights=times)
    return (
        f"A ballot has {np.average(ticks, weights=times):.2f} ticks on average, an answer "
        f"{estimate.truths.sizes.mean():.2f} members. "
        f"{outside:.0%} of the ballots have a size that their item's answer may not have."
    )
