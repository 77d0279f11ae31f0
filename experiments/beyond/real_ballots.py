"""All rules on other published ballots with expert truth."""

from __future__ import annotations

import numpy as np

from epivote import Interval, mean_interval, share_interval, wilcoxon
from experiments.measure.real import real_accuracies
from experiments.page import style
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Columns, Piece, Results, piece
from experiments.real_sets import REAL, present

RULES = ("Majority", "Modal", "Approval", "AMLE", "EM without shrinkage", "EM", "auto")


def pieces(_: Extent) -> list[Piece]:
    """Every rule on every set at hand."""
    return [_piece(name, rule) for name in present() for rule in RULES]


def write(results: Results, _: Extent, sheet: Sheet) -> None:
    """A figure and a table."""
    sheet.write("## Other real ballots")
    if not present():
        sheet.write("None of the other published sets was at hand when this page was written.")
        return
    lacking = [name for name in REAL if name not in present()]
    sheet.write(
        "Published ballots with expert truth, with the size bounds of the task:",
        "\n".join(f"- `{name}`: {REAL[name]}" for name in present()),
    )
    if lacking:
        sheet.write(f"Not at hand when this page was written: {', '.join(lacking)}.")
    _draw(results, sheet)
    _table(results, sheet)


def _draw(results: Results, sheet: Sheet) -> None:
    drawn, axes = style.figure(1, len(present()), height=3.0, sharey=True)
    rows: list[list[object]] = []
    places = np.arange(len(RULES))[::-1]
    for ax, name in zip(axes, present(), strict=True):
        for shift, mark, colour, words, measure in (
            (0.13, "o", style.BLUE, "sets exactly right", _exact),
            (-0.13, "s", style.ORANGE, "mean Jaccard", _jaccard),
        ):
            points = [measure(results[_piece(name, rule)]) for rule in RULES]
            means = np.array([each.mean for each in points])
            spread = [means - [each.low for each in points], [each.high for each in points] - means]
            ax.errorbar(means, places + shift, xerr=spread, fmt=mark, color=colour, capsize=2.5, label=words)
            rows += [[name, r, words, each.mean, each.low, each.high] for r, each in zip(RULES, points, strict=True)]
        ax.set(title=name, xlabel="share, with 0.95 interval")
        ax.set_yticks(places, RULES)
    style.legend_below(drawn, axes[0], 2)
    shows = "Rules on three published sets; intervals are for other instances of the same kind."
    sheet.picture("real-ballots", drawn, shows, ["ballots", "rule", "measure", "mean", "low", "high"], rows)


def _table(results: Results, sheet: Sheet) -> None:
    rows = []
    for rule in RULES:
        cells = [_three(results[_piece(name, rule)]) for name in present()]
        rows.append([rule, *cells])
    sheet.write("Alternatives decided correctly / sets exactly right / mean Jaccard:")
    sheet.table(["rule", *present()], rows)
    lines = []
    for name in present():
        em, majority, amle = (results[_piece(name, rule)]["zero_one"] for rule in ("EM", "Majority", "AMLE"))
        gain, against = wilcoxon(em, majority), wilcoxon(em, amle)
        lines.append(
            f"- `{name}`, sets exactly right: EM minus Majority {gain.mean_difference:+.3f} (p = "
            f"{gain.p_value:.2g}), EM minus AMLE {against.mean_difference:+.3f} (p = {against.p_value:.2g})."
        )
    sheet.write(
        "\n".join(lines),
        "Learning the voters' rates pays on both sets of images, with 78 ballots per instance as with 5; AMLE, EM and "
        "EM without shrinkage are equally good. Where readers are good and most sets are empty (`ecg6`), every rule is "
        "nearly always right.",
    )


def _three(found: Columns) -> str:
    hamming = sum(found["correct"]) / sum(found["offered"])
    return f"{hamming:.3f} / {np.mean(found['zero_one']):.3f} / {np.mean(found['jaccard']):.3f}"


def _exact(found: Columns) -> Interval:
    return share_interval(int(sum(found["zero_one"])), len(found["zero_one"]))


def _jaccard(found: Columns) -> Interval:
    return mean_interval(found["jaccard"]).within(0, 1)


def _piece(name: str, rule: str) -> Piece:
    return piece(real_accuracies, name=name, rule=rule)


SECTION = Section("real-ballots", write, pieces)
