"""One look for all figures: colours that colour-blind readers tell apart, marks and dashes that grey print keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

mpl.use("Agg")
mpl.rcParams.update(
    {
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "figure.constrained_layout.use": True,
        "svg.hashsalt": "epivote",
    }
)

BLACK, BLUE, ORANGE, GREEN, PINK, SKY, GREY = (
    "#000000",
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#777777",
)
LOOKS: dict[str, tuple[str, str, str]] = {
    "AMLE": (BLUE, "o", "-"),
    "EM": (ORANGE, "s", "-"),
    "AMLE, free size": (SKY, "D", "--"),
    "AMLE as printed": (PINK, "v", "--"),
    "AMLE, uniform start": (ORANGE, "s", "--"),
    "AMLE, random start": (GREEN, "^", ":"),
    "EM without shrinkage": (SKY, "v", "-."),
    "auto": (BLACK, "x", ":"),
    "rates known": (GREY, "", "-"),
    "Modal": (GREEN, "^", "-."),
    "Modal, plain": (GREEN, "^", "-."),
    "Approval": (PINK, "P", "--"),
    "Majority": (BLACK, "x", ":"),
    "Majority, plain": (GREY, "+", ":"),
}
"""Colour, mark and dashes of every rule; no two that meet in one figure share two of them."""


def figure(rows: int, columns: int, *, height: float, width: float = 7.4, **shared: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure, its axes row by row; sizes in inches, as printed."""
    drawn = Figure(figsize=(width, height))
    axes = drawn.subplots(rows, columns, squeeze=False, **shared)
    return drawn, list(axes.ravel())


def line(ax: Axes, look: str, x: ArrayLike, y: ArrayLike, *, label: str | None = None, marks: int = 1) -> None:
    """A curve in its rule's look, with a mark at every `marks`-th point."""
    colour, mark, dashes = LOOKS[look]
    ax.plot(x, y, color=colour, marker=mark, linestyle=dashes, markevery=marks, label=label or look)


def band(ax: Axes, look: str, x: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
    """The 0.95 interval around a curve."""
    ax.fill_between(np.asarray(x), np.asarray(low), np.asarray(high), color=LOOKS[look][0], alpha=0.15, linewidth=0)


def legend_below(drawn: Figure, ax: Axes, columns: int) -> None:
    """One legend for all axes, below them, where it covers nothing."""
    handles, labels = ax.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=columns)


def points_with_intervals(
    ax: Axes, look: str, x: Sequence[float], mean: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> None:
    """Points of a rule, each with its interval."""
    colour, mark, _ = LOOKS[look]
    y = np.array(mean)
    spread = [np.maximum(y - low, 0), np.maximum(np.array(high) - y, 0)]
    ax.errorbar(x, y, yerr=spread, fmt=mark or "o", color=colour, capsize=2.5, linestyle="none", label=look)
