"""What the sections of the page say: words and rows ready to print, so that the template computes nothing.

The first screen has its words in overview.py, the comparison with a majority in changes.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, IntArray, counted
from epivote.estimate.amle import AMLE
from epivote.estimate.base import UPSIDE_DOWN
from epivote.estimate.review import MOST_BALLOTS, Doubt
from epivote.evaluate.agreement import Agreement
from epivote.evaluate.calibration import CalibrationBin
from epivote.report.cards import Bar
from epivote.report.counts import Counts
from epivote.report.embedded import SEED, Shown
from epivote.report.numbers import Bands, Voters, top_pairs
from epivote.report.overview import sizes_in_words
from epivote.report.written import UNKNOWN, chosen, probability, share, spaced, weight, whole
from epivote.summary import GoldCheck, Summary

MOST_LETTERS = 260  # of warnings in sight: two lines beside each other on a screen of 1440 px
DOUBTS_SHOWN = 20  # rows; a round number
VOTERS_LISTED = 10  # rows on a page without scripts; likewise
PAIRS_SHOWN = 12  # rows; likewise
WEAKEST_SHOWN = 4  # alternatives on which voters agree least; likewise


class InstanceRow(NamedTuple):
    """One instance in the table of a page without scripts."""

    instance: str
    members: tuple[str, ...]
    confidence: str
    percent: str
    rival: tuple[str, ...] | None
    rival_probability: str
    ballots: str
    more: str


@dataclass(frozen=True)
class Accuracy:
    """Estimated sets against gold: a sentence, rows of accuracies, rows on the stated confidence, and its bins."""

    heading: str
    sentence: str
    rows: tuple[tuple[str, str, str, str], ...]
    stated: list[tuple[str, str, str, str, str]]
    bins: tuple[CalibrationBin, ...]


def warnings_of(summary: Summary, notes: Sequence[str]) -> list[str]:
    """Reasons to be careful: what may make all sets wrong first, then the notes given, then ties."""
    estimate = summary.estimate
    found = [UPSIDE_DOWN] if summary.is_upside_down else []
    if summary.size_check.warning is not None:
        found.append(summary.size_check.warning)
    given = [note for note in notes if not any(each in note for each in found)]
    if not estimate.converged:
        found.append(outcome(estimate))
    if isinstance(summary.fitted, AMLE):
        found.append(
            "AMLE treats its own sets as certain while it learns about the voters, so its confidence is too high"
        )
    found += given
    if estimate.ties:
        sets = counted(len(estimate.ties), "set")
        found.append(f"{sets} had equally likely rivals; the order of the alternatives decided")
    return [spaced(_sentence(each)) for each in found]


def warnings_in_sight(warnings: Sequence[str]) -> int:
    """How many are shown at once: two, or one if two would push the other cards off the first screen."""
    return 2 if sum(map(len, warnings[:2])) <= MOST_LETTERS else 1


def _sentence(words: str) -> str:
    """With a capital letter, unless the first word is no plain word but, for instance, a file; and with a full stop."""
    first = words.split(" ", 1)[0].rstrip(".!?,:;")
    begun = f"{words[:1].upper()}{words[1:]}" if first.isalpha() else words
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."


def outcome(estimate: Estimate) -> str:
    """How the iteration ended."""
    if not estimate.log_likelihoods:
        return "This rule looks at every instance once and by itself, so there was nothing to iterate."
    steps = counted(estimate.n_iterations, "iteration")
    if estimate.settling_iterations:
        steps += f" (the first {estimate.settling_iterations} chose the strength of shrinkage)"
    return {
        "converged": f"Converged after {steps}: the last one changed no rate by more than the tolerance.",
        "iteration limit": f"Stopped at the limit of {steps} before convergence; allow more iterations and run again.",
        "interrupted": f"Interrupted after {steps}; the page shows the best estimate up to then.",
    }[estimate.status]


# Instances


def instance_rows(summary: Summary, doubts: Sequence[Doubt]) -> list[InstanceRow]:
    """The most doubtful instances; where none is, or no confidence is stated, the first ones."""
    if doubts:
        return [
            InstanceRow(
                each.instance,
                each.answer,
                probability(each.confidence),
                f"{100 * each.confidence:.1f}",
                each.rival,
                probability(each.rival_probability),
                f"{each.ballots:,}",
                more_ballots(each),
            )
            for each in doubts
        ]
    return [
        InstanceRow(
            each.instance,
            each.alternatives,
            "" if each.confidence is None else probability(each.confidence),
            "0" if each.confidence is None else f"{100 * each.confidence:.1f}",
            None,
            "",
            f"{each.ballots:,}",
            "",
        )
        for each in summary.sets(DOUBTS_SHOWN)
    ]


def more_ballots(doubt: Doubt) -> str:
    """About how many further ballots settle a set."""
    return f"more than {MOST_BALLOTS}" if doubt.more_ballots is None else f"{doubt.more_ballots}"


def instances_in_words(summary: Summary, shown: Shown) -> str:
    """How many sets are doubtful, what opening an instance shows, and how many instances are left out."""
    rated, n_instances = summary.is_rated, summary.estimate.ballots.n_instances
    if rated:
        words = (
            f"{_doubtful(summary)} Open an instance to see its most probable sets, what every ballot contributed, and "
            "all its ballots."
        )
    else:
        words = (
            f"Open an instance to see its approvals and ballots. {summary.method} gives no rival sets and no reasons."
        )
    if len(shown.places) < n_instances:
        words += f" The page holds {len(shown.places):,} of {n_instances:,} instances: {_chosen(shown)}."
    return words


def _chosen(shown: Shown) -> str:
    """How the instances on the page were chosen."""
    parts, n_drawn = [], len(shown.places) - shown.n_doubtful
    if shown.n_doubtful:
        parts.append(f"the {shown.n_doubtful:,} most doubtful")
    if n_drawn:
        parts.append(f"a random sample of {n_drawn:,}{' others' if shown.n_doubtful else ''} (seed {SEED})")
    return f"{' and '.join(parts)}. All counts and charts are of all instances"


def _doubtful(summary: Summary) -> str:
    least, count = chosen(summary.threshold), summary.n_doubtful
    if not count:
        return f"Every set has a confidence of at least {least}."
    first = "it comes" if count == 1 else "they come"
    most = f" for the {DOUBTS_SHOWN} most doubtful" if count > DOUBTS_SHOWN else ""
    return (
        f"{count:,} of {counted(len(summary.estimated_places), 'set')} {'has' if count == 1 else 'have'} a "
        f"confidence below {least}; {first} first. The last column estimates{most} how many further ballots of an "
        f"average voter would raise the confidence to {least}."
    )


# Voters


def voters_in_words(summary: Summary) -> str:
    """What to think of the voters as a whole."""
    if not summary.is_rated:
        return (
            f"{summary.method} only counts approvals: these are shares of approvals on its own sets, without "
            "intervals, because this method does not say how likely its sets are to be right."
        )
    return spaced(summary.about_erring_together)


def map_in_words(summary: Summary, drawn: int, *, crosses: bool) -> str:
    """How to read the map of voters, and what it leaves out."""
    n_voters = summary.estimate.ballots.n_voters
    words = (
        "Both axes are in log-odds, so that the distance from the dashed line, across or up, is the voter's weight. "
        "Every dot is a voter, its area the number of ballots."
    )
    if summary.is_rated:
        lines = "Lines are 95\u00a0% intervals." if crosses else "Point at a dot to see its 95\u00a0% intervals."
        words += f" Orange with a ring: flagged. {lines}"
    if drawn < n_voters:
        words += f" Drawn are {drawn:,} of {counted(n_voters, 'voter')}, those with most ballots."
    return words


def voter_rows(voters: Voters) -> list[tuple[str, str, str, str, str, str]]:
    """The first rows of the table on a page without scripts: flagged voters first, then by weight."""
    order = sorted(range(len(voters.names)), key=lambda i: (not voters.flags[i], -voters.weights[i]))
    return [
        (
            voters.names[i],
            share(float(voters.hit_rates[i])),
            share(float(voters.false_alarm_rates[i])),
            weight(float(voters.weights[i])),
            f"{voters.ballots[i]:,}",
            "; ".join(voters.flags[i]),
        )
        for i in order[:VOTERS_LISTED]
    ]


def agreement_in_words(found: Agreement) -> str:
    """How far voters agree, in a sentence or two."""
    if found.n_instances == 0:
        return "No instance has two ballots, so agreement among voters cannot be measured."
    return (
        "Krippendorff's alpha compares ballots on the same instance with ballots on different ones, before anything is "
        "estimated: 1 is perfect agreement, 0 is chance. Values of 0.80 and above are usually called reliable, values "
        f"below 0.67 unreliable.{found.caveats}"
    )


def agreement_bars(found: Agreement) -> list[Bar]:
    """Alpha by each distance."""
    kinds = (
        ("Whole sets", found.nominal),
        ("Jaccard distance", found.jaccard),
        ("MASI distance", found.masi),
        ("Single alternatives", found.approvals),
    )
    return [_alpha(label, alpha) for label, alpha in kinds] if found.n_instances else []


def weakest_bars(found: Agreement) -> list[Bar]:
    """Alpha for the alternatives on which voters agree least, if there are enough to choose from."""
    known = [alpha for alpha in found.alternatives.values() if alpha is not None]
    return [_alpha(name, alpha) for name, alpha in found.weakest(WEAKEST_SHOWN)] if len(known) > 1 else []


def _alpha(label: str, alpha: float | None) -> Bar:
    text = "undefined" if alpha is None else f"{alpha:.2f}".replace("-", "−")
    return Bar(label, text, f"{100 * min(max(alpha or 0.0, 0.0), 1.0):.1f}")


# Confidence and accuracy


def bands_in_words(bands: Bands) -> str:
    """Alt text of the chart of confidence."""
    parts = [f"{count:,} {label}" for label, count in zip(band_labels(bands), bands.counts.tolist(), strict=True)]
    return f"Number of sets by confidence: {', '.join(parts)}."


def band_labels(bands: Bands) -> list[str]:
    """`below 50 %`, `50 to 80 %`, ..., `99.9 % and above`."""
    ends = [f"{100 * edge:g}" for edge in bands.lower]
    between = [f"{low} to {high}\u00a0%" for low, high in pairwise(ends[1:])]
    return [f"below {ends[1]}\u00a0%", *between, f"{ends[-1]}\u00a0% and above"]


def held_back(summary: Summary) -> Accuracy | None:
    """Scores against gold sets kept aside; instances without ballots and those given to `fit` do not count."""
    if summary.gold is None:
        return None
    heading = "Scored against gold (not used for fitting)"
    strangers = len(summary.gold) - len(summary.places)
    taught = len(summary.gold) - strangers - len(summary.comparable)
    left_out = [
        f" {counted(count, 'gold set')} {'was' if count == 1 else 'were'} left out because {reason}."
        for count, reason in ((strangers, "the instance has no ballots"), (taught, "the estimate learnt from them"))
        if count
    ]
    ending = "".join(left_out)
    check = summary.held_back
    if check is None or check.scores is None:
        return Accuracy(heading, f"None of the gold sets could be compared.{ending}", (), [], ())
    are = "is" if check.n_right == 1 else "are"
    sets = f"{check.n_right:,} of {counted(check.n_instances, 'set')}"
    return Accuracy(
        heading, f"{sets} with gold {are} exactly right.{ending}", check.scores.rows(), _stated(check), check.bins
    )


def taught_gold(summary: Summary) -> Accuracy | None:
    """What the ballots alone say of the gold sets given to `fit`."""
    check = summary.taught
    if check is None:
        return None
    sentence = (
        f"{counted(check.n_instances, 'instance')} had gold sets, which are kept as given. From the ballots alone "
        f"{check.n_right:,} of them would be exactly right. The rates were learnt with these sets, which makes this "
        "look better than it is."
    )
    return Accuracy("Gold sets used for fitting", sentence, (), _stated(check), check.bins)


def _stated(check: GoldCheck) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            f"{100 * each.low:.0f} to {whole(each.high)}",
            f"{each.count:,}",
            probability(each.mean_confidence),
            share(each.right.mean),
            f"{100 * each.right.low:.0f} to {whole(each.right.high)}",
        )
        for each in check.bins
    ]


# The rest


def pairs_in_words(names: Sequence[str], confused: IntArray) -> list[tuple[str, str, str]]:
    """The most frequent confusions: the true one, what was approved instead, and on how many ballots."""
    return [(names[k], names[j], counted(count, "ballot")) for k, j, count in top_pairs(confused, PAIRS_SHOWN)]


def how_computed(summary: Summary, settings: Mapping[str, str], version: str) -> list[tuple[str, str]]:
    """Everything needed to repeat it."""
    estimate = summary.estimate
    history = estimate.log_likelihoods
    rows = [
        *settings.items(),
        ("Estimator", repr(summary.fitted)),
        ("Size bounds", f"{estimate.bounds} ({sizes_in_words(summary)})"),
        ("Ballots", estimate.ballots.in_words()),
        ("Gold sets used for fitting", f"{len(estimate.gold):,}"),
        ("Iterations", f"{estimate.n_iterations:,}" if history else "none needed"),
        ("Status", estimate.status),
        ("Log-likelihood", UNKNOWN if estimate.log_likelihood is None else f"{estimate.log_likelihood:,.3f}"),
        ("epivote", f"version {version}"),
    ]
    return [(label, spaced(str(text))) for label, text in rows]


def convergence_in_words(values: FloatArray) -> str:
    """Alt text of the chart of the objective."""
    return f"Objective from {values[0]:,.2f} to {values[-1]:,.2f} in {counted(len(values), 'iteration')}."


def sizes_of_both(counts: Counts) -> str:
    """Mean sizes of ballots and sets, and how many ballots no set can equal."""
    sizes = np.arange(len(counts.ballot_sizes))
    approvals, members = (np.average(sizes, weights=each) for each in (counts.ballot_sizes, counts.set_sizes))
    outside = counts.n_outside / int(counts.ballot_sizes.sum())
    return (
        f"A ballot has {approvals:.2f} approvals on average, a set {members:.2f} alternatives. {share(outside)} of the "
        "ballots have a size outside the size bounds of their instance."
    )
