"""Accuracy against the number of voters: the paper's figures, with its 20 batches and with 200."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from epivote import wilcoxon
from experiments.measure.batches import batch_numbers, every
from experiments.page import style
from experiments.page.curves import CURVE_COLUMNS, METRICS, accuracy_curve
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Piece, Results

RULES = {"AMLE": "AMLE_c", "AMLE, free size": "AMLE_f", "Modal, plain": "Modal", "Majority": "Majority"}
ALSO = "Majority, plain"


def pieces(extent: Extent) -> list[Piece]:
    """Every rule on every batch."""
    rules = (*RULES, ALSO)
    return [
        each
        for batches in (extent.paper_batches, extent.many_batches)
        for each in every(extent.data, rules, extent.sizes, batches)
    ]


def write(results: Results, extent: Extent, sheet: Sheet) -> None:
    """Two figures and the tests between rules."""
    sheet.write(
        "## Accuracy against the number of voters",
        f"Random batches of {extent.sizes[0]} to {extent.sizes[-1]} of the quiz's participants, the same batches for "
        "every rule. Lines are means over batches, bands their 0.95 intervals. *Majority* is repaired to one or two "
        "winners, as the paper's text says; the plain rule is in the numbers.",
    )
    for batches, name in ((extent.paper_batches, "accuracy-paper"), (extent.many_batches, "accuracy-many")):
        _draw(results, extent, sheet, batches, name)
    sheet.write("### Is one rule better than another?")
    _tests(results, extent, sheet)
    _ties(results, extent, sheet)


def _draw(results: Results, extent: Extent, sheet: Sheet, batches: int, name: str) -> None:
    drawn, axes = style.figure(1, 3, height=3.1)
    rows = []
    for ax, (metric, words) in zip(axes, METRICS.items(), strict=True):
        for rule in (*RULES, ALSO):
            curve = accuracy_curve(results, extent.data, rule, metric, extent.sizes, batches)
            rows += curve.rows()
            if rule != ALSO:
                curve.draw(ax, RULES[rule])
        ax.set(title=words, xlabel="voters in the batch")
    axes[0].set_ylabel("mean accuracy")
    style.legend_below(drawn, axes[0], 4)
    sheet.picture(name, drawn, f"Accuracies over {batches} batches of every size.", CURVE_COLUMNS, rows)


def _tests(results: Results, extent: Extent, sheet: Sheet) -> None:
    """Paired tests at every size, and where the order of the means is the other way round."""
    shown, kept = [], []
    for metric, words in METRICS.items():
        values = {
            rule: [batch_numbers(results, extent.data, rule, n, extent.many_batches)[metric] for n in extent.sizes]
            for rule in RULES
        }
        for one, other in combinations(RULES, 2):
            tests = [wilcoxon(a, b) for a, b in zip(values[one], values[other], strict=True)]
            gains = [test.mean_difference for test in tests]
            kept += [
                [metric, RULES[one], RULES[other], n, test.mean_difference, test.p_value]
                for n, test in zip(extent.sizes, tests, strict=True)
            ]
            sure = [test.mean_difference > 0 for test in tests if test.p_value < 0.05 / len(tests)]
            lower = [n for n, gain in zip(extent.sizes, gains, strict=True) if gain < 0]
            shown.append(
                [
                    words,
                    f"{RULES[one]} − {RULES[other]}",
                    f"{np.mean(gains):+.3f}",
                    str(sum(sure)),
                    str(len(sure) - sum(sure)),
                    f"{len(lower)} ({lower[0]} to {lower[-1]} voters)" if lower else "0",
                ]
            )
    sheet.numbers("wilcoxon", ["accuracy", "rule", "against", "voters", "mean difference", "p-value"], kept)
    sheet.write(
        f"Wilcoxon's signed-rank test over the {extent.many_batches} batches of each size, paired by batch. *Sure*: "
        f"sizes, of {len(extent.sizes)}, at which the first rule is better, or worse, beyond doubt (p < .05 divided "
        "by the number of sizes). *Lower mean*: sizes at which the first rule's mean is the lower one. "
        "[All p-values](reproduction/wilcoxon.csv)."
    )
    sheet.table(["accuracy", "rules", "mean difference", "sure better", "sure worse", "lower mean"], shown)
    sheet.write(CAUTION)
    (against_free,) = [row for row in shown if row[0] == METRICS["zero_one"] and row[1] == "AMLE_c − AMLE_f"]
    (free,) = [row for row in shown if row[0] == METRICS["hamming"] and row[1] == "AMLE_f − Modal"]
    sheet.found(
        "AMLE_c ≥ AMLE_f ≥ modal, majority at every number of voters",
        f"AMLE_c beats AMLE_f (0/1) beyond doubt at {against_free[3]} of {len(extent.sizes)} sizes, "
        f"{against_free[2]} on average. AMLE_f ≥ Modal does not hold with the fewest voters: sizes at which AMLE_f has "
        f"the lower mean Hamming accuracy: {free[5]}",
    )


CAUTION = """
The paper's order is that of the means over all sizes. With the fewest voters it does not hold in full: there AMLE_f,
which has no size bounds to lean on, has a lower mean than Modal, in Hamming accuracy also than Majority, though not
beyond doubt. In Hamming accuracy AMLE_c and AMLE_f are level between about 40 and 60 voters. One caution: batches
come from the same participants and pictures and, when large, are nearly the same batch; the tests speak about this
quiz, not about other quizzes. The zigzag of Majority is that of even and odd numbers: exactly half is no majority.
"""


def _ties(results: Results, extent: Extent, sheet: Sheet) -> None:
    """The paper says that none occurred."""
    runs = {
        name: [
            ties
            for n in extent.sizes
            for ties in batch_numbers(results, extent.data, rule, n, extent.many_batches)["ties"]
        ]
        for rule, name in RULES.items()
        if name.startswith("AMLE")
    }
    told = " and ".join(f"{sum(tie > 0 for tie in ties):,} of {len(ties):,} {name} runs" for name, ties in runs.items())
    sheet.write(f"Sets exactly as likely as the chosen one, at the start or the end of a run, occurred in {told}.")
    sheet.found("No ties between sets occurred", f"ties in {told}; where they occur, they are reported")


SECTION = Section("accuracy", write, pieces)
