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
    return every(extent.data, (*RULES, ALSO), extent.sizes, extent.many_batches)


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
    sheet.write("### Is one rule better than another?", _tests(results, extent, sheet))


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


def _tests(results: Results, extent: Extent, sheet: Sheet) -> str:
    """Paired tests at every size; returns what they say."""
    shown, kept = [], []
    for metric, words in METRICS.items():
        values = {
            rule: [batch_numbers(results, extent.data, rule, n, extent.many_batches)[metric] for n in extent.sizes]
            for rule in RULES
        }
        for one, other in combinations(RULES, 2):
            tests = [wilcoxon(a, b) for a, b in zip(values[one], values[other], strict=True)]
            kept += [
                [metric, RULES[one], RULES[other], n, test.mean_difference, test.p_value]
                for n, test in zip(extent.sizes, tests, strict=True)
            ]
            sure = [test.mean_difference for test in tests if test.p_value < 0.05 / len(tests)]
            mean = float(np.mean([test.mean_difference for test in tests]))
            better, worse = sum(gain > 0 for gain in sure), sum(gain < 0 for gain in sure)
            shown.append([words, f"{RULES[one]} − {RULES[other]}", f"{mean:+.3f}", f"{better}", f"{worse}"])
            if metric == "zero_one" and other == "AMLE, free size":
                _claim(sheet, better, worse, mean, extent)
    sheet.numbers("wilcoxon", ["accuracy", "rule", "against", "voters", "mean difference", "p-value"], kept)
    sheet.write(
        f"Wilcoxon's signed-rank test over the {extent.many_batches} batches of each size, paired by batch. The last "
        f"two columns count the sizes, of {len(extent.sizes)}, at which the first rule is better, or worse, beyond "
        "doubt (p < .05 after division by the number of sizes). [All p-values](reproduction/wilcoxon.csv)."
    )
    sheet.table(["accuracy", "rules", "mean difference", "sizes better", "sizes worse"], shown)
    return (
        "The paper's order holds throughout: AMLE_c first, then AMLE_f, then Modal, then Majority. One caution: "
        "batches are drawn from the same participants and pictures and, when large, are nearly the same batch; the "
        "tests speak about this quiz, not about other quizzes."
    )


def _claim(sheet: Sheet, better: int, worse: int, mean: float, extent: Extent) -> None:
    sheet.found(
        "AMLE_c ≥ AMLE_f ≥ modal, majority at every number of voters",
        f"AMLE_c beats AMLE_f (0/1) beyond doubt at {better} of {len(extent.sizes)} sizes, loses at {worse}; "
        f"{mean:+.3f} on average",
    )


SECTION = Section("accuracy", write, pieces)
