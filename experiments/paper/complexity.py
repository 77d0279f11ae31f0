"""Time and number of iterations of AMLE_c and AMLE_f against the number of voters, with the growth fitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epivote import mean_interval
from experiments.measure.batches import batch_numbers, every
from experiments.measure.timing import time_batches, time_crowds
from experiments.page import style
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Piece, Results, piece

RULES = {"AMLE": "AMLE_c", "AMLE, free size": "AMLE_f"}


def pieces(extent: Extent) -> list[Piece]:
    """Iterations come from the batches of the accuracy figure."""
    return every(extent.data, tuple(RULES), extent.sizes, extent.paper_batches)


def timed(extent: Extent) -> list[Piece]:
    """Clocked runs, on the quiz and on larger simulated crowds."""
    return [
        *(_on_quiz(extent, rule, size) for size in extent.timed_sizes for rule in RULES),
        *(_on_crowd(extent, rule, voters) for voters in extent.timed_crowds for rule in RULES),
    ]


def write(results: Results, extent: Extent, sheet: Sheet) -> None:
    """Two figures: iterations are numbers that repeat, times are the machine's."""
    sheet.write("## Iterations and time")
    _iterations(results, extent, sheet)
    _times(results, extent, sheet)


def _iterations(results: Results, extent: Extent, sheet: Sheet) -> None:
    drawn, (ax,) = style.figure(1, 1, height=2.9, width=5)
    rows = []
    slopes = {}
    for rule, label in RULES.items():
        found = [batch_numbers(results, extent.data, rule, n, extent.paper_batches)["iterations"] for n in extent.sizes]
        points = [mean_interval(values) for values in found]
        style.band(ax, rule, extent.sizes, [each.low for each in points], [each.high for each in points])
        style.line(ax, rule, extent.sizes, [each.mean for each in points], label=label, marks=7)
        rows += [[label, n, each.mean, each.low, each.high] for n, each in zip(extent.sizes, points, strict=True)]
        slopes[label] = np.polynomial.Polynomial.fit(extent.sizes, [each.mean for each in points], 1).convert().coef[1]
    ax.set(xlabel="voters in the batch", ylabel="iterations until converged", ylim=(0, None))
    style.legend_below(drawn, ax, 2)
    shows = f"Iterations until nothing moves by more than 1e-5, mean over {extent.paper_batches} batches."
    sheet.picture("iterations", drawn, shows, ["rule", "voters", "mean", "low", "high"], rows)
    trend = ", ".join(f"{label} {10 * slope:+.2f}" for label, slope in slopes.items())
    sheet.write(f"A straight line through the means says, for ten more voters: {trend} iterations.")
    sheet.found("The number of iterations does not grow with the number of voters", f"per ten more voters: {trend}")


def _times(results: Results, extent: Extent, sheet: Sheet) -> None:
    drawn, axes = style.figure(1, 2, height=3.1)
    rows = []
    growth: dict[str, list[float]] = {}
    axes[0].set_title("batches of the quiz")
    axes[1].set_title("simulated crowds")
    for rule, label in RULES.items():
        for ax, sizes, make in (
            (axes[0], extent.timed_sizes, _on_quiz),
            (axes[1], extent.timed_crowds, _on_crowd),
        ):
            seconds = [float(np.median(results[make(extent, rule, size)]["seconds"])) for size in sizes]
            style.line(ax, rule, sizes, [1000 * each for each in seconds], label=label)
            rows += [[ax.get_title(), label, n, each] for n, each in zip(sizes, seconds, strict=True)]
            growth.setdefault(label, []).append(exponent(sizes, seconds))
    axes[0].set(ylabel="milliseconds a fit, median", ylim=(0, None))
    axes[1].set(xscale="log", yscale="log")
    for ax in axes:
        ax.set_xlabel("voters")
    style.legend_below(drawn, axes[0], 2)
    shows = "Time of one fit (one thread). These are the machine's: they differ from run to run."
    sheet.picture("time", drawn, shows, ["ballots", "rule", "voters", "seconds"], rows)
    said = "; ".join(f"{label} {quiz:.2f} and {crowd:.2f}" for label, (quiz, crowd) in growth.items())
    sheet.write(
        f"Fitted as time = c · voters^b, b is, on the quiz and on crowds of {extent.timed_crowds[0]:,} to "
        f"{extent.timed_crowds[-1]:,} voters: {said}. Up to the quiz's size fixed costs hide the growth. In "
        "large crowds b is about 1 or a little more: an iteration passes over the ballots once, and the start "
        "compares all pairs of voters. Of the rise around 40 voters that the paper reports there is nothing to be seen."
    )
    sheet.found("The time of AMLE grows with the number of voters, above all from 40 on", f"time ~ voters^b: {said}")


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of the straight line through the logarithms."""
    return float(np.polynomial.Polynomial.fit(np.log(sizes), np.log(seconds), 1).convert().coef[1])


def _on_quiz(extent: Extent, rule: str, size: int) -> Piece:
    return piece(time_batches, data=extent.data, rule=rule, size=size, batches=extent.timed_repeats)


def _on_crowd(extent: Extent, rule: str, voters: int) -> Piece:
    return piece(time_crowds, rule=rule, voters=voters, batches=extent.timed_crowd_repeats)


SECTION = Section("complexity", write, pieces, timed)
