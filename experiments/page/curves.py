"""Curves over the number of voters: means with intervals, as numbers and as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from epivote import Interval, mean_interval
from experiments.measure.batches import batch_numbers
from experiments.page import style
from experiments.pieces import Results

METRICS = {"zero_one": "sets exactly right (0/1)", "hamming": "Hamming accuracy", "harmonic": "harmonic accuracy"}


@dataclass(frozen=True)
class Curve:
    """A rule's mean accuracy at every size."""

    rule: str
    metric: str
    sizes: Sequence[int]
    points: Sequence[Interval]

    def draw(self, ax: Axes, label: str | None = None, *, with_band: bool = True) -> None:
        """The line, with its 0.95 band."""
        if with_band:
            style.band(
                ax, self.rule, self.sizes, [point.low for point in self.points], [point.high for point in self.points]
            )
        marks = max(1, len(self.sizes) // 9)
        style.line(ax, self.rule, self.sizes, [point.mean for point in self.points], label=label, marks=marks)

    def rows(self) -> list[list[str | float]]:
        """Rule, metric, voters, mean and interval."""
        return [
            [self.rule, self.metric, size, point.mean, point.low, point.high]
            for size, point in zip(self.sizes, self.points, strict=True)
        ]


CURVE_COLUMNS = ["rule", "accuracy", "voters", "mean", "low", "high"]


def accuracy_curve(results: Results, data: str, rule: str, metric: str, sizes: Sequence[int], batches: int) -> Curve:
    """Mean accuracy over batches, with Student's interval."""
    found = [batch_numbers(results, data, rule, size, batches)[metric] for size in sizes]
    return Curve(rule, metric, sizes, [mean_interval(values).within(0, 1) for values in found])
