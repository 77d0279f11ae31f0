"""Words and rows of the page's first screen: the sets, how far to trust them, the voters, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import numpy as np

from epivote.data.names import IntArray, counted
from epivote.data.truths import Truths
from epivote.estimate.review import MOST_BALLOTS, Doubt
from epivote.report.cards import Bar, NextStep, SampleRow, SetsCard, ShortSet, TrustCard, VoterRow, VotersCard
from epivote.report.numbers import (
    Flagged,
    Headline,
    Trust,
    gold_sets,
    headline_of,
    spread_sample,
    top_pairs,
)
from epivote.report.written import NO_BREAK, chosen, probability, share, spaced
from epivote.summary import Summary

SAMPLE = 8  # sets shown; what fits beside the other cards on a screen of 900 lines
SAMPLE_BELOW_WARNINGS = 6  # the same where warnings stand above
NARROW_SAMPLE = 3  # of these on a phone
VOTERS_SHOWN = 3  # flagged voters named; likewise
NAMES_IN_STEP = 3  # voters named in a sentence; a round number
OFTEN_CONFUSED = 0.05  # of all ballots, from which a pair of alternatives is worth rewording; a round number
MOSTLY = 0.5  # share of doubtful sets from which the whole crowd is too small; a round number
ENOUGH_GOLD = 20  # gold sets that calibrate well; as `epivote gold` proposes


def link_to(instance: str) -> str:
    """The address of an instance within the page, as its scripts read it."""
    return f"#instance={quote(instance, safe='', errors='replace')}"


def counts_line(summary: Summary) -> str:
    """What was read, in one line."""
    ballots = summary.estimate.ballots
    per_instance = ballots.total_ballots / ballots.n_instances
    return (
        f"{counted(ballots.n_instances, 'instance')}, {counted(ballots.n_alternatives, 'alternative')}, "
        f"{ballots.voters_in_words()}, {counted(ballots.total_ballots, 'ballot')} "
        f"({per_instance:,.1f} per instance); {sizes_in_words(summary)}"
    )


def sizes_in_words(summary: Summary) -> str:
    """`1 to 2 alternatives in a set`, and how many instances have size bounds of their own."""
    bounds, own = summary.estimate.bounds, summary.n_own_sizes
    if bounds.upper is None:
        words = "sets of any size" if bounds.lower == 0 else f"at least {counted(bounds.lower, 'alternative')} in a set"
    elif bounds.lower == bounds.upper:
        words = f"exactly {counted(bounds.lower, 'alternative')} in a set"
    else:
        words = f"{bounds.lower} to {counted(bounds.upper, 'alternative')} in a set"
    return words + (
        f" ({counted(own, 'instance')} with size bounds of {'its' if own == 1 else 'their'} own)" if own else ""
    )


def sets_found(summary: Summary, *, below_warnings: bool) -> SetsCard:
    """The headline counts and a sample of the sets."""
    head = headline_of(summary)
    rows = _sample(summary, gold_sets(summary), SAMPLE_BELOW_WARNINGS if below_warnings else SAMPLE)
    value, label, sentence = _headline(summary, head)
    caption = (
        "A sample, from the most to the least confident set"
        if summary.is_rated
        else f"The first {counted(len(rows), 'set')}"
    )
    return SetsCard(value, label, sentence, caption, rows, any(row.gold is not None for row in rows))


def _headline(summary: Summary, head: Headline) -> tuple[str, str, str]:
    kept = (
        f" {counted(head.n_kept, 'gold set')} {'is' if head.n_kept == 1 else 'are'} kept as given."
        if head.n_kept
        else ""
    )
    least = chosen(summary.threshold)
    if head.n_compared:
        value, label = (
            f"{head.n_right:,} of {head.n_compared:,}",
            f"{_sets(head.n_compared)} with gold {_are(head.n_right)} exactly right",
        )
        if not summary.is_rated:
            return value, label, f"{summary.method} states no confidence.{kept}"
        sure = f"{_of_all(head.n_sure, head.n_estimated)} {_have(head.n_sure)} a confidence of at least {least}"
        if head.n_sure_compared:
            known = "of them" if head.n_sure_compared == head.n_sure else f"of the {head.n_sure_compared:,} with gold"
            sure += f"; {head.n_sure_right:,} {known} {_are(head.n_sure_right)} exactly right"
        return value, label, f"{sure}.{kept}"
    if not summary.is_rated:
        return f"{head.n_estimated:,}", _sets(head.n_estimated), _no_confidence(summary) + kept
    sentence = f"If the confidence holds, about {head.expected:,.0f} of {head.n_estimated:,} sets are exactly right."
    value = f"{head.n_sure:,} of {head.n_estimated:,}"
    return value, f"sets have a confidence of at least {least}", sentence + kept


def _no_confidence(summary: Summary) -> str:
    return f"{summary.method} counts approvals and does not learn who is reliable, so it states no confidence."


def _sample(summary: Summary, gold: dict[str, frozenset[str]], count: int) -> list[SampleRow]:
    places = summary.estimated_places
    places = spread_sample(summary.confidence, places, count) if summary.is_rated else places[:count]
    if len(places) == 0:
        return []
    narrow = {0, (len(places) - 1) // (NARROW_SAMPLE - 1), len(places) - 1}
    truths = summary.estimate.at(np.sort(places)).truths
    sure = summary.confidence[places].tolist() if summary.is_rated else [None] * len(places)
    every = enumerate(zip(summary.estimate.ballots.names_at(places), sure, strict=True))
    return [_sample_row(truths, name, each, gold.get(name), narrow=k in narrow) for k, (name, each) in every]


def _sample_row(
    truths: Truths, name: str, confidence: float | None, known: frozenset[str] | None, *, narrow: bool
) -> SampleRow:
    return SampleRow(
        name,
        link_to(name),
        ShortSet.of(truths.listed(name)),
        "" if confidence is None else probability(confidence),
        "" if confidence is None else _length(confidence),
        None if known is None else ShortSet.of([each for each in truths.alternatives if each in known]),
        "" if known is None else "right" if known == truths[name] else "wrong",
        narrow,
    )


def check_of(summary: Summary, trust: Trust | None) -> TrustCard:
    """How far the confidence can be trusted."""
    if trust is None:
        return TrustCard("No confidence", "open", _no_confidence(summary), [])
    bars = _bars(trust)
    tone = {"supported": "good", "too high": "bad", "too low": "open", "unchecked": "open"}[trust.verdict]
    return TrustCard(_verdict(trust), tone, _reason(trust), bars)


def _verdict(trust: Trust) -> str:
    by = {"gold": "gold", "left out": "gold", "taught": "gold", "halves": "two halves of the voters"}
    if trust.verdict == "unchecked":
        return "Not checked"
    if trust.verdict == "supported":
        return f"Supported by {by[trust.kind]}"
    if trust.kind == "halves":
        return "Lowered, and still uncertain"
    return "Too high" if trust.verdict == "too high" else "Lower than it could be"


def _bars(trust: Trust) -> list[Bar]:
    if trust.found is None:
        return [Bar("Mean confidence", probability(trust.stated), _length(trust.stated))]
    found = trust.found
    if trust.kind == "halves":
        return [
            Bar("Expected agreement", share(trust.stated), _length(trust.stated)),
            Bar("Agreement found", share(found.mean), _length(found.mean)),
        ]
    return [
        Bar("Mean confidence", probability(trust.stated), _length(trust.stated)),
        Bar(
            "Exactly right",
            f"{share(found.mean)} (95{NO_BREAK}% CI {100 * found.low:.0f}-{100 * found.high:.0f})",
            _length(found.mean),
            _length(found.low),
            _length(found.high - found.low),
        ),
    ]


def _reason(trust: Trust) -> str:
    sets = counted(trust.count, "gold set")
    if trust.kind == "halves" and trust.verdict == "too high":
        return (
            "Two random halves of the voters agree on fewer sets than the confidence implies: they share mistakes. "
            "Only gold can tell how far confidence is still too high."
        )
    return {
        "gold": f"Compared with {sets} that {'was' if trust.count == 1 else 'were'} not used for fitting.",
        "left out": f"Calibrated with {sets}; each was left out in turn to check the result.",
        "taught": f"Compared with {sets} that the estimate learnt from, so this looks better than it is.",
        "halves": (
            "Two random halves of the voters agree on as many sets as the confidence implies. Mistakes that all voters "
            "share would not show here."
        ),
        "model": (
            "These are model probabilities, which are too high if voters make the same mistakes. Only gold can tell."
        ),
    }[trust.kind]


def voters_found(summary: Summary, flagged: Flagged) -> VotersCard:
    """The flagged voters with most ballots, and how many more there are."""
    suspicious, few = flagged
    total = counted(summary.estimate.ballots.total_voters, "voter")
    if not summary.is_rated:
        return VotersCard("Voters are not judged", [], f"{summary.method} gives every voter the same weight.")
    n_few = sum(each.multiplicity for each in few)
    n_flagged = sum(each.multiplicity for each in suspicious)
    unknown = f"{counted(n_few, 'voter')} {_have(n_few)} too few ballots to be judged." if n_few else ""
    if not suspicious:
        return VotersCard(f"None of {total} is flagged", [], unknown)
    rows = [
        VoterRow(each.label, spaced("; ".join(each.flags)), counted(each.ballots, "ballot"))
        for each in suspicious[:VOTERS_SHOWN]
    ]
    more = "Those with most ballots are shown. " if len(suspicious) > VOTERS_SHOWN else ""
    return VotersCard(f"{n_flagged:,} of {total} {_are(n_flagged)} flagged", rows, (more + unknown).strip())


def next_steps(
    summary: Summary, doubts: Sequence[Doubt], trust: Trust | None, flagged: Flagged, confused: IntArray | None
) -> list[NextStep]:
    """What to do now, the most useful step first."""
    if trust is None:
        again = NextStep(
            "Run again with --method auto or em to learn who is reliable and how sure each set is.",
            "computed",
            "Settings",
        )
        return [again, *_about_pairs(summary, confused)]
    steps = [
        *_about_doubts(summary, doubts),
        *_about_trust(trust, summary.estimate.ballots.n_instances),
        *_about_voters(flagged),
        *_about_pairs(summary, confused),
    ]
    return steps or [NextStep("Nothing stands out: the sets can be used as they are.", "instances", "All sets")]


def _about_doubts(summary: Summary, doubts: Sequence[Doubt]) -> list[NextStep]:
    if not doubts:
        return []
    count, looked_at, total = summary.n_doubtful, len(doubts), len(summary.estimated_places)
    if count > looked_at and count > MOSTLY * total:
        below = f"{count:,} of {total:,} sets are below {chosen(summary.threshold)}"
        text = f"Ask for more ballots on every instance: {below}."
        return [NextStep(f"{text} epivote plan estimates how many are needed.", "instances", "Instances")]
    within = [each.more_ballots for each in doubts if each.more_ballots is not None]
    hopeless = looked_at - len(within)
    which = f"the {looked_at:,} most doubtful" if count > looked_at else "it" if count == 1 else "them"
    text = f"Ask for more ballots on {counted(count, 'instance')} below {chosen(summary.threshold)}."
    if within:
        settled = f"{len(within):,} of {which}" if hopeless else which
        text += f" About {counted(sum(within), 'further ballot')} should settle {settled}."
    if hopeless:
        those = "the one that needs" if hopeless == 1 else f"the {hopeless:,} that need"
        text += f" Decide or reword {those} more than {MOST_BALLOTS}."
    return [NextStep(text, "instances", "Instances")]


def _about_trust(trust: Trust, n_instances: int) -> list[NextStep]:
    if trust.kind in ("model", "halves"):
        few = counted(min(ENOUGH_GOLD, max(n_instances // 2, 1)), "instance")
        text = (
            f"Answer {few} yourself (epivote gold chooses them) and run again with --gold to calibrate the confidence."
        )
        return [NextStep(text, "confidence", "Confidence")]
    if trust.kind == "gold" and trust.verdict == "too high":
        text = "Run again with --gold-use learn to calibrate the confidence with the gold sets."
        return [NextStep(text, "confidence", "Confidence")]
    return []


def _about_voters(flagged: Flagged) -> list[NextStep]:
    if not flagged.suspicious:
        return []
    first = ", ".join(each.label for each in flagged.suspicious[:NAMES_IN_STEP])
    left = len(flagged.suspicious) - NAMES_IN_STEP
    names = f"{first} and {left:,} more" if left > 0 else first
    return [
        NextStep(
            f"Check {names} before asking them again; their ballots already count by their weights.", "voters", "Voters"
        )
    ]


def _about_pairs(summary: Summary, confused: IntArray | None) -> list[NextStep]:
    if confused is None:
        return []
    names, ballots = summary.estimate.ballots.alternatives, summary.estimate.ballots.total_ballots
    often = [(k, j, n) for k, j, n in top_pairs(confused, 1) if n >= OFTEN_CONFUSED * ballots]
    return [
        NextStep(
            f"Explain the difference between {names[k]} and {names[j]}: {names[j]} was approved instead of {names[k]} "
            f"on {counted(n, 'ballot')}.",
            "alternatives",
            "Alternatives",
        )
        for k, j, n in often
    ]


def _of_all(part: int, total: int) -> str:
    """`23 of all 24 sets`, `All 24 sets`, `1 of 1 set`."""
    if part == total > 1:
        return f"All {total:,} sets"
    return f"{part:,} of {'all ' if total > 1 else ''}{counted(total, 'set')}"


def _length(value: float) -> str:
    return f"{100 * min(max(value, 0.0), 1.0):.1f}"


def _sets(count: int) -> str:
    return "set" if count == 1 else "sets"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
