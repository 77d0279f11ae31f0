"""Rules beyond the paper on the quiz: EM with and without shrinkage, and what `auto` takes."""

from __future__ import annotations

import numpy as np

from epivote import wilcoxon
from experiments.measure.batches import batch_numbers, every
from experiments.page import style
from experiments.page.curves import CURVE_COLUMNS, METRICS, accuracy_curve
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Piece, Results

RULES = ("AMLE", "EM", "EM without shrinkage", "Approval", "Majority", "auto")


def pieces(extent: Extent) -> list[Piece]:
    """All rules but `auto`, which is one of them."""
    return every(extent.data, [rule for rule in RULES if rule != "auto"], extent.soft_sizes, extent.soft_batches)


def write(results: Results, extent: Extent, sheet: Sheet) -> None:
    """A figure and what it means."""
    sheet.write(
        "## EM, shrinkage and `auto` on the quiz",
        "EM weighs all allowed sets by their probability where AMLE chooses one; shrinkage draws the rates of voters "
        f"with few ballots towards the crowd's ([how](model.md#em-sets-weighed-not-chosen)). {extent.soft_batches} "
        "batches of every size. `auto` takes one of the two: AMLE where that finds other sets than EM and voters share "
        "mistakes ([which method when](methods.md) says how many sets it then finds).",
    )
    drawn, axes = style.figure(1, 2, height=3.2)
    rows = []
    for ax, metric in zip(axes, ("zero_one", "hamming"), strict=True):
        for rule in RULES[:-1]:
            curve = accuracy_curve(results, extent.data, rule, metric, extent.soft_sizes, extent.soft_batches)
            curve.draw(ax, None, with_band=rule in ("AMLE", "EM"))
            rows += curve.rows()
        ax.set(title=METRICS[metric], xlabel="voters in the batch")
    axes[0].set_ylabel("mean accuracy")
    style.legend_below(drawn, axes[0], 3)
    shows = "Rules beyond the paper on batches of the quiz; bands are the 0.95 intervals of AMLE and EM."
    sheet.picture("quiz-rules", drawn, shows, CURVE_COLUMNS, rows)
    tests = {
        name: [
            wilcoxon(_exact(results, extent, one, size), _exact(results, extent, other, size))
            for size in extent.soft_sizes
        ]
        for name, one, other in (
            ("AMLE − EM", "AMLE", "EM"),
            ("EM − EM without shrinkage", "EM", "EM without shrinkage"),
            ("EM − Approval", "EM", "Approval"),
        )
    }
    sheet.table(
        ["difference in 0/1 (p-value)", *(f"{size} voters" for size in extent.soft_sizes)],
        [
            [name, *(f"{test.mean_difference:+.3f} ({test.p_value:.2g})" for test in found)]
            for name, found in tests.items()
        ],
    )
    mean = np.mean([test.mean_difference for test in tests["AMLE − EM"]])
    shrunk = np.mean([test.mean_difference for test in tests["EM − EM without shrinkage"]])
    counted = np.mean([test.mean_difference for test in tests["EM − Approval"]])
    sheet.write(
        f"On this quiz AMLE finds {mean:.3f} more of the sets than EM on average, and shrinkage changes EM by "
        f"{shrunk:+.3f}; Approval, which only counts ticks, is about level with EM ({counted:+.3f} to EM). That is a "
        "fact about this quiz, where voters share their mistakes; the [simulated crowds](#simulated-crowds) and the "
        "[other ballots](#other-real-ballots) do not repeat it. `auto` was drawn from tables that contain the quiz, "
        "so that it does well here proves nothing about it ([which method when](methods.md))."
    )


def _exact(results: Results, extent: Extent, rule: str, size: int) -> list[float]:
    return batch_numbers(results, extent.data, rule, size, extent.soft_batches)["zero_one"]


SECTION = Section("quiz-rules", write, pieces)
