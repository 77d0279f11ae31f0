"""What the page says: words and rows ready to print, so that the template computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epivote.data.estimate import Estimate
from epivote.data.names import FloatArray, IntArray
from epivote.data.truths import Truths
from epivote.estimate.amle import AMLE
from epivote.estimate.base import UPSIDE_DOWN, Estimator, RatedEstimator
from epivote.estimate.reliability import upside_down
from epivote.estimate.review import review
from epivote.evaluate.calibration import CalibrationBin, calibration
from epivote.evaluate.metrics import score
from epivote.report.numbers import SURE, Voters, top_pairs

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


def percent(share: float) -> str:
    """`97.3%`, or a dash for what is not known."""
    return "–" if np.isnan(share) else f"{share:.1%}"


def counted(count: int, noun: str) -> str:
    """`1 item`, `1,234 items`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def kind_of(fitted: Estimator) -> str:
    """The name of the method."""
    return type(fitted).__name__


def opening(fitted: Estimator, estimate: Estimate) -> str:
    """What was found and how sure, in one paragraph."""
    ballots = estimate.ballots
    read = (
        f"{counted(ballots.n_voters, 'voter')} cast {counted(ballots.n_ballots, 'ballot')} on "
        f"{counted(ballots.n_instances, 'item')} with {counted(ballots.n_alternatives, 'alternative')}, and every item "
        f"now has one set of answers ({sizes_in_words(estimate)})."
    )
    if estimate.posterior is None:
        return (
            f"{read} They were found by {kind_of(fitted)}, which counts ticks and knows nothing about who is reliable, "
            "so it cannot say how sure its answers are."
        )
    confidence = estimate.posterior.set_probabilities
    sure = int(np.sum(confidence >= SURE))
    expected = float(confidence.sum())
    return (
        f"{read} {sure:,} of them {'is' if sure == 1 else 'are'} sure: exactly right with a probability of at least "
        f"{SURE:.0%}. Of all {len(confidence):,} sets about {expected:,.1f} should be exactly right, if the voters "
        "make their mistakes independently of each other."
    )


def sizes_in_words(estimate: Estimate) -> str:
    """`1 to 2 right answers each`, and how many items have sizes of their own."""
    bounds = estimate.bounds
    if bounds.upper is None:
        words = "any number of right answers" if bounds.lower == 0 else f"at least {bounds.lower} right"
    elif bounds.lower == bounds.upper:
        words = f"exactly {bounds.lower} right"
    else:
        words = f"{bounds.lower} to {bounds.upper} right"
    own = sum(name in bounds.per_instance for name in estimate.ballots.instances)
    return words + (f"; {counted(own, 'item')} with sizes of their own" if own else "")


def tiles(estimate: Estimate) -> list[Tile]:
    """The most important numbers."""
    ballots = estimate.ballots
    found = [
        Tile(f"{ballots.n_instances:,}", "items"),
        Tile(f"{ballots.n_voters:,}", "voters"),
        Tile(f"{ballots.n_ballots / ballots.n_instances:.1f}", "ballots per item"),
    ]
    if estimate.posterior is not None:
        confidence = estimate.posterior.set_probabilities
        found += [
            Tile(f"{int(np.sum(confidence >= SURE)):,}", f"sets sure at {SURE:.0%}"),
            Tile(f"{float(confidence.sum()):,.1f}", "sets expected exactly right"),
            Tile(percent(float(np.median(confidence))), "median confidence"),
        ]
    return found


def warnings_of(fitted: Estimator, estimate: Estimate, notes: Sequence[str]) -> list[str]:
    """Reasons to be careful, those given first."""
    found = [note if note.endswith((".", "!", "?")) else f"{note}." for note in notes]
    if upside_down(estimate.counts) and not any(UPSIDE_DOWN in note for note in notes):
        found.append(f"{UPSIDE_DOWN[0].upper()}{UPSIDE_DOWN[1:]}.")
    if estimate.status != "converged":
        found.append(outcome(estimate))
    if isinstance(fitted, AMLE):
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


def doubts(estimate: Estimate) -> tuple[list[DoubtRow], int]:
    """The most doubtful items, and how many are below the threshold in all."""
    assert estimate.posterior is not None
    found = review(estimate, SURE, DOUBTS_SHOWN, 0, DOUBTS_SHOWN)
    rows = [
        DoubtRow(
            each.instance,
            each.answer,
            percent(each.confidence),
            each.rival,
            percent(each.rival_probability),
            f"{each.ballots:,}",
            "more than 64" if each.more_ballots is None else f"{each.more_ballots}",
        )
        for each in found
    ]
    return rows, int(np.sum(estimate.posterior.set_probabilities < SURE))


def doubts_in_words(shown: int, doubtful: int, n_items: int) -> str:
    """How many items need more votes."""
    if not doubtful:
        return f"None: every set is right with a probability of at least {SURE:.0%}."
    are = "is" if doubtful == 1 else "are"
    most = f"; these are the {shown} most doubtful" if shown < doubtful else ""
    return (
        f"{doubtful:,} of {counted(n_items, 'set')} {are} less sure than {SURE:.0%}{most}. The last column says about "
        "how many further ballots of an average voter of this crowd should make each one sure."
    )


def voters_in_words(fitted: Estimator, voters: Voters) -> str:
    """What to think of the voters as a whole."""
    flagged = sum(bool(flags) for flags in voters.flags)
    if not isinstance(fitted, RatedEstimator):
        return (
            f"{kind_of(fitted)} only counts ticks: these are shares of ticks on its own answers, without intervals, "
            "because nothing is known about how sure the answers are."
        )
    if not flagged:
        return ""
    return f"{flagged:,} of {counted(len(voters.names), 'voter')} {'is' if flagged == 1 else 'are'} worth a look."


def map_in_words(fitted: Estimator, voters: Voters, drawn: int, *, crosses: bool) -> str:
    """How to read the map of voters, and what it leaves out."""
    words = "Every dot is a voter, its area the number of ballots."
    if isinstance(fitted, RatedEstimator):
        lines = "Lines are 0.95 intervals." if crosses else "The voter looked at shows its 0.95 intervals as lines."
        words += f" Orange with a ring: worth a look. {lines}"
    if drawn < len(voters.names):
        words += f" Drawn are {drawn:,} of {counted(len(voters.names), 'voter')}, those with most ballots."
    return words


def items_in_words(fitted: Estimator, shown: int, n_items: int) -> str:
    """What opening an item shows, and how many items are left out."""
    rated = isinstance(fitted, RatedEstimator)
    words = (
        "Open an item to see its most probable sets, why it got its set, and all its ballots."
        if rated
        else f"Open an item to see its ticks and all its ballots; {kind_of(fitted)} weighs nothing, so there are no "
        "rival sets and no reasons to show."
    )
    if shown < n_items:
        kept, rest = ("most doubtful", "surer") if rated else ("first", "further")
        words += f" The page keeps the {shown:,} {kept} items; {n_items - shown:,} {rest} ones are left out."
    return words


def pairs_in_words(names: Sequence[str], confused: IntArray) -> list[tuple[str, str, str]]:
    """The most frequent confusions: right one, what was ticked instead, and on how many ballots."""
    return [(names[k], names[j], counted(count, "ballot")) for k, j, count in top_pairs(confused, PAIRS_SHOWN)]


def held_back(estimate: Estimate, gold: Truths) -> Accuracy:
    """Scores against gold sets that were kept aside; items without ballots and those given to `fit` do not count."""
    known = estimate.ballots.instance_index
    counting = {name: gold[name] for name in gold if name in known and name not in estimate.gold}
    strangers = sum(name not in known for name in gold)
    taught = len(gold) - strangers - len(counting)
    left_out = [
        f"{counted(count, 'gold set')} {'was' if count == 1 else 'were'} left out because {reason}"
        for count, reason in ((strangers, "nobody voted there"), (taught, "the estimate was taught with them"))
        if count
    ]
    ending = "".join(f" {text[0].upper()}{text[1:]}." for text in left_out)
    if not counting:
        return Accuracy(f"None of the gold sets could be compared.{ending}", (), ())
    scores = score(estimate.truths, counting, estimate.ballots)
    right = round(scores.zero_one.mean * scores.n_instances)
    are = "is" if right == 1 else "are"
    sentence = f"{right:,} of {counted(scores.n_instances, 'set')} with a known answer {are} exactly right.{ending}"
    bins: tuple[CalibrationBin, ...] = ()
    if estimate.posterior is not None:
        places = [known[name] for name in counting]
        kept = [estimate.truths[name] == right_set for name, right_set in counting.items()]
        bins = tuple(calibration(estimate.posterior.set_probabilities[places], np.array(kept)))
    return Accuracy(sentence, scores.rows(), bins)


def taught_gold(fitted: Estimator, estimate: Estimate) -> Accuracy | None:
    """What the ballots alone say of the gold sets given to `fit`."""
    if not estimate.gold or not isinstance(fitted, RatedEstimator):
        return None
    found, confidence = fitted.gold_check()
    kept = np.array([found[name] == estimate.truths[name] for name in found])
    sentence = (
        f"{counted(len(kept), 'item')} had gold sets, kept as given. From the ballots alone {int(kept.sum()):,} of "
        "them would be exactly right; the rates were learnt with these sets, so this flatters a little."
    )
    return Accuracy(sentence, (), tuple(calibration(confidence, kept)))


def bin_rows(bins: Sequence[CalibrationBin]) -> list[tuple[str, str, str, str, str]]:
    """Stated confidence, sets, mean promise, share kept and its interval."""
    return [
        (
            f"{each.low:.0%} to {each.high:.0%}",
            f"{each.count:,}",
            percent(each.mean_confidence),
            percent(each.right.mean),
            f"{each.right.low:.0%} to {each.right.high:.0%}",
        )
        for each in bins
    ]


def how_computed(
    fitted: Estimator, estimate: Estimate, settings: Mapping[str, str], version: str
) -> list[tuple[str, str]]:
    """Everything needed to repeat it."""
    history = estimate.log_likelihoods
    rows = [
        *settings.items(),
        ("Estimator", repr(fitted)),
        ("Set sizes", f"{estimate.bounds} ({sizes_in_words(estimate)})"),
        ("Ballots", repr(estimate.ballots).removeprefix("Ballots(").removesuffix(")")),
        ("Gold sets taught", f"{len(estimate.gold):,}"),
        ("Iterations", f"{estimate.n_iterations:,}" if history else "none needed"),
        ("Status", estimate.status),
        ("Log-likelihood", f"{history[-1]:,.3f}" if history else "none"),
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
    return f"Log-likelihood from {values[0]:,.2f} to {values[-1]:,.2f} in {counted(len(values), 'iteration')}."


def sizes_of_both(estimate: Estimate) -> str:
    """Mean sizes of ballots and answers, and how many ballots no answer can equal."""
    ballots = estimate.ballots
    lower, upper = estimate.bounds.resolve(ballots)
    ticks, place = ballots.ballot_sizes, ballots.ballot_instance
    outside = np.mean((ticks < lower[place]) | (ticks > upper[place]))
    return (
        f"A ballot has {ticks.mean():.2f} ticks on average, an answer {estimate.truths.sizes.mean():.2f} members. "
        f"{outside:.0%} of the ballots have a size that their item's answer may not have."
    )
