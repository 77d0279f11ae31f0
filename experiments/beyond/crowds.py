"""Learning curves of all rules on simulated crowds: where each wins and where it fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epivote import Interval, mean_interval, wilcoxon
from experiments.crowds import MIXES
from experiments.measure.crowds import ANSWERS, COMPARED, broken_crowd_accuracies, crowd_accuracies
from experiments.page import style
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Columns, Piece, Results, piece

CURVES = (*COMPARED, "rates known")
BREAKS = {"spammers": "spammers, %", "adversaries": "adversaries, %"}


def pieces(extent: Extent) -> list[Piece]:
    """All kinds of crowds, and crowds that get worse and worse."""
    kinds = [(mix, answers) for mix in MIXES for answers in ANSWERS]
    return [
        *(_crowd(extent, *kind, count) for kind in kinds for count in extent.ballots_each),
        *(_broken(extent, kind, percent) for kind in BREAKS for percent in extent.broken_percent),
    ]


def write(results: Results, extent: Extent, sheet: Sheet) -> None:
    """Two figures, a table of winners, and plain words."""
    sheet.write("## Simulated crowds", KINDS.format(crowds=extent.crowds))
    _learning(results, extent, sheet)
    _winners(results, extent, sheet)
    _duels(results, extent, sheet)
    _breaking(results, extent, sheet)
    sheet.write(PLAINLY)


PLAINLY = """
Plainly:

- **EM** is best or as good as the best nearly everywhere, and close to the ceiling from 8 ballots per instance on. It
  is the only rule that works when there are as many adversaries as honest voters, or more.
- **AMLE** is level with EM from about 12 ballots on. With fewer it falls behind where voters differ much: it chooses
  sets before it can know whom to trust. It fails when four to seven of ten voters are adversaries; when nearly all
  are, the crowd is seen to be upside down, and it recovers.
- **Modal** is the best of the simple rules where voters are polarised, spam or deceive: wrong ballots differ, right
  ones repeat. With three to five voters of whom one knows, it can beat EM.
- **Majority** is good where everybody is fair, and breaks with spammers and adversaries. **Approval** breaks in
  the same way, and on the whole finds fewer.
- No rule finds one expert among three to five voters from so few ballots: there every one stays far below the
  ceiling. Ask more voters, or give gold. (With two voters one of them is the expert, which is why those
  curves begin high.)
- When eight of ten voters or more spam, every rule falls well below the ceiling.
"""

KINDS = """
Five alternatives, one or two of them right; {crowds} crowds of every kind. *Dense*: ballots of all voters on 30
instances. *Sparse*: 300 instances, each with ballots of a tenth of the voters. *Mixed*: all voters fairly good (hit
rates Beta(6, 3), false-alarm rates Beta(2, 12)). *Polarised*: a quarter experts, the rest poor. *Spammed*: a quarter
experts, the rest tick right and wrong alike. *Adversaries*: a mixed crowd in which three of ten (whole voters: two of
8, four of 12) tick what is wrong. *Rates known* is the ceiling: the best sets if the rates of all voters are known.
"""


def _learning(results: Results, extent: Extent, sheet: Sheet) -> None:
    drawn, axes = style.figure(2, len(MIXES), height=4.6, sharex=True, sharey=True)
    rows: list[list[object]] = []
    panels = [(answers, mix) for answers in ANSWERS for mix in MIXES]
    for ax, (answers, mix) in zip(axes, panels, strict=True):
        for rule in (*CURVES, "auto"):
            points = [_mean(results[_crowd(extent, mix, answers, n)], rule) for n in extent.ballots_each]
            if rule != "auto":
                style.line(ax, rule, extent.ballots_each, [each.mean for each in points])
            rows += [
                [answers, mix, rule, n, each.mean, each.low, each.high]
                for n, each in zip(extent.ballots_each, points, strict=True)
            ]
        ax.set(title=f"{mix}, {answers}", xscale="log", ylim=(0, 1.02))
        ax.set_xticks(extent.ballots_each, [str(n) for n in extent.ballots_each])
        ax.minorticks_off()
    for ax in axes[len(MIXES) :]:
        ax.set_xlabel("ballots per instance")
    for ax in axes[:: len(MIXES)]:
        ax.set_ylabel("sets exactly right, share")
    style.legend_below(drawn, axes[0], 6)
    shows = "Share of sets exactly right against ballots per instance, for eight kinds of crowds."
    sheet.picture("crowds", drawn, shows, ["answers", "crowd", "rule", "ballots", "mean", "low", "high"], rows)


def _winners(results: Results, extent: Extent, sheet: Sheet) -> None:
    """Which rule finds most sets, kind by kind, and which are not clearly behind it."""
    sheet.write("The rule that finds most sets, and after a comma those not clearly behind it (p ≥ .05):")
    rows = [
        [f"{mix}, {answers}", *(_best(results[_crowd(extent, mix, answers, n)]) for n in extent.ballots_each)]
        for mix in MIXES
        for answers in ANSWERS
    ]
    sheet.table(["crowd", *(f"{n} ballots" for n in extent.ballots_each)], rows)


def _best(found: Columns) -> str:
    means = {rule: float(np.mean(found[rule])) for rule in COMPARED}
    order = sorted(COMPARED, key=lambda rule: -means[rule])
    first, others = order[0], order[1:]
    level = [rule for rule in others if wilcoxon(found[first], found[rule]).p_value >= 0.05]
    return ", ".join([f"**{first}**", *level])


def _duels(results: Results, extent: Extent, sheet: Sheet) -> None:
    """EM against AMLE on the same crowds, kind by kind."""
    rows = []
    for mix in MIXES:
        for answers in ANSWERS:
            found = [results[_crowd(extent, mix, answers, n)] for n in extent.ballots_each]
            cells = [_duel(each["EM"], each["AMLE"]) for each in found]
            rows.append([f"{mix}, {answers}", *cells])
    sheet.write(
        "EM minus AMLE in sets exactly right, on the same crowds; bold where Wilcoxon's test leaves no doubt (p < .01):"
    )
    sheet.table(["crowd", *(f"{n} ballots" for n in extent.ballots_each)], rows)
    sheet.write(_about_auto(results, extent))


def _about_auto(results: Results, extent: Extent) -> str:
    """What `auto` loses against EM, kind of answers by kind of answers."""
    lost = {
        answers: np.mean(
            [
                np.subtract(found["auto"], found["EM"])
                for mix in MIXES
                for n in extent.ballots_each
                for found in [results[_crowd(extent, mix, answers, n)]]
            ]
        )
        for answers in ANSWERS
    }
    return (
        "`auto` takes EM in the sparse crowds; in the dense ones (fewer than 50 instances, with all ballots) it takes "
        "AMLE only where that finds other sets and voters share mistakes. "
        f"Against EM everywhere it finds {lost['dense']:+.3f} in the dense and {lost['sparse']:+.3f} in the sparse "
        "crowds on average."
    )


def _duel(soft: Sequence[float], hard: Sequence[float]) -> str:
    test = wilcoxon(soft, hard)
    text = f"{test.mean_difference:+.3f}"
    return f"**{text}**" if test.p_value < 0.01 else text


def _breaking(results: Results, extent: Extent, sheet: Sheet) -> None:
    drawn, axes = style.figure(1, 2, height=3.1, sharey=True)
    rows: list[list[object]] = []
    for ax, (kind, words) in zip(axes, BREAKS.items(), strict=True):
        for rule in CURVES:
            points = [_mean(results[_broken(extent, kind, percent)], rule) for percent in extent.broken_percent]
            style.line(ax, rule, extent.broken_percent, [each.mean for each in points])
            rows += [
                [kind, rule, percent, each.mean, each.low, each.high]
                for percent, each in zip(extent.broken_percent, points, strict=True)
            ]
        ax.set(title=f"20 voters, more and more {kind}", xlabel=words, ylim=(0, 1.02))
    axes[0].set_ylabel("share of sets exactly right")
    style.legend_below(drawn, axes[0], 6)
    shows = "Where rules fail: 20 voters, 30 instances, and more and more voters who guess or tick what is wrong."
    sheet.picture("crowds-broken", drawn, shows, ["kind", "rule", "percent", "mean", "low", "high"], rows)


def _mean(found: Columns, rule: str) -> Interval:
    return mean_interval(found[rule]).within(0, 1)


def _crowd(extent: Extent, mix: str, answers: str, ballots_each: int) -> Piece:
    return piece(crowd_accuracies, mix=mix, answers=answers, ballots_each=ballots_each, first=0, last=extent.crowds)


def _broken(extent: Extent, kind: str, percent: int) -> Piece:
    return piece(broken_crowd_accuracies, kind=kind, percent=percent, first=0, last=extent.crowds)


SECTION = Section("crowds", write, pieces)
