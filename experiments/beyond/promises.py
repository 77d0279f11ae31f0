"""Calibration: whether stated confidence is right, on the quiz, on other ballots and on simulated crowds."""

from __future__ import annotations

import numpy as np

from epivote import calibration
from experiments.measure.confidence import stated_on_batches, stated_on_crowds, stated_on_real_set
from experiments.page import style
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Columns, Piece, Results, joined, piece
from experiments.real_sets import present

RULES = ("AMLE", "EM")
BINS = 5


def pieces(extent: Extent) -> list[Piece]:
    """Both rules on every kind of ballots."""
    return [each for rule in RULES for group in _groups(extent, rule).values() for each in group]


def write(results: Results, extent: Extent, sheet: Sheet) -> None:
    """A panel for every kind of ballots, and a table of what was stated and what was so."""
    sheet.write(
        "## Is the stated confidence right?",
        "Every set has a confidence: the probability that it is exactly right. On the diagonal the confidence is "
        "right; below it the rule is overconfident.",
    )
    names = list(_groups(extent, RULES[0]))
    columns = min(3, len(names))
    drawn, axes = style.figure(-(-len(names) // columns), columns, height=2.5 * -(-len(names) // columns) + 0.3)
    rows: list[list[object]] = []
    table = []
    for ax, name in zip(axes, names, strict=False):
        ax.plot([0, 1], [0, 1], color=style.GREY, linestyle="--", linewidth=1, label="right confidence")
        cells: list[object] = [name]
        for rule in RULES:
            found = joined(results, _groups(extent, rule)[name])
            bins = calibration(found["stated"], found["right"], BINS)
            style.points_with_intervals(
                ax,
                rule,
                [each.mean_confidence for each in bins],
                [each.right.mean for each in bins],
                [each.right.low for each in bins],
                [each.right.high for each in bins],
            )
            rows += [
                [name, rule, each.count, each.mean_confidence, each.right.mean, each.right.low, each.right.high]
                for each in bins
            ]
            cells += _said_and_so(found)
        table.append(cells)
        ax.set(title=name, xlim=(0, 1.02), ylim=(0, 1.02), xlabel="stated confidence")
    for ax in axes[::columns]:
        ax.set_ylabel("share of sets right")
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    style.legend_below(drawn, axes[0], 3)
    shows = "Share of sets exactly right against stated confidence, with 0.95 intervals."
    sheet.picture("promises", drawn, shows, ["ballots", "rule", "sets", "stated", "right", "low", "high"], rows)
    sheet.table(["ballots", "AMLE states", "and is right", "EM states", "and is right"], table)
    sheet.write(CONCLUSION)


CONCLUSION = """
On ballots drawn from the model EM's confidence is right within a few hundredths; AMLE's, which rates voters by sets it
chose itself, is too high wherever ballots are few. On real ballots both are overconfident, most of all on the quiz,
presumably because voters make the same mistakes there. So read confidence as an order (which sets to check first)
unless you can check it: with some gold, `epivote aggregate --gold` prints this comparison for your own ballots.
"""


def _said_and_so(found: Columns) -> list[float]:
    return [float(np.mean(found["stated"])), float(np.mean(found["right"]))]


def _groups(extent: Extent, rule: str) -> dict[str, list[Piece]]:
    """Kinds of ballots and the pieces that tell about them."""
    sizes = extent.soft_sizes[1::3]
    quiz = [
        piece(stated_on_batches, data=extent.data, rule=rule, size=size, batches=extent.soft_batches) for size in sizes
    ]
    crowds = {
        f"crowds: {mix}": [piece(stated_on_crowds, mix=mix, rule=rule, ballots_each=5, crowds=extent.crowds // 4)]
        for mix in ("mixed", "polarised")
    }
    real = {name: [piece(stated_on_real_set, name=name, rule=rule)] for name in present()}
    return {extent.data: quiz, **real, **crowds}


SECTION = Section("promises", write, pieces)
