"""Pictures of a whole estimate, the same charts as on the report page; each draws on the axes it is given."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from epivote.errors import InputError
from epivote.estimate.base import Estimator
from epivote.evaluate.confusion import confusions
from epivote.report.axes import AGAINST, FOR, TOTAL, new_axes
from epivote.report.counts import Counts
from epivote.report.numbers import CONFIDENCE_BINS, confidence_counts, size_counts, voters_of
from epivote.summary import summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CROSSES = 30  # voters drawn with their intervals; more would hide each other
MOST_NAMED = 25  # alternatives whose names fit an axis


def plot_voter_map(fitted: Estimator, ax: Axes | None = None) -> Axes:
    """Hit rate against false-alarm rate, area by ballots; orange voters are flagged, few voters have 0.95 intervals."""
    ax = ax or new_axes()
    voters = voters_of(summarize(fitted))
    x, y = voters.false_alarm_rates, voters.hit_rates
    ax.plot([0, 1], [0, 1], color=TOTAL, linestyle="--", linewidth=1, label="guessing")
    if len(voters.names) <= MOST_CROSSES and not np.isnan(voters.hit_low).all():
        across = [x - voters.false_alarm_low, voters.false_alarm_high - x]
        up = [y - voters.hit_low, voters.hit_high - y]
        ax.errorbar(x, y, xerr=across, yerr=up, fmt="none", ecolor=FOR, alpha=0.3, elinewidth=1)
    area = 8 + 72 * voters.ballots / max(int(voters.ballots.max(initial=1)), 1)
    flagged = np.array([bool(flags) for flags in voters.flags], bool)
    for some, colour, edge, label in (
        (~flagged, FOR, "white", "voters"),
        (flagged, AGAINST, "black", "flagged"),
    ):
        if some.any():
            ax.scatter(
                x[some], y[some], s=area[some], color=colour, edgecolors=edge, linewidths=0.6, label=label, zorder=3
            )
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="false-alarm rate", ylabel="hit rate")
    ax.legend(loc="lower right", frameon=False)
    return ax


def plot_confidence(fitted: Estimator, ax: Axes | None = None) -> Axes:
    """How many sets have which confidence; those of at least 95 % in colour."""
    summary = summarize(fitted)
    counts = confidence_counts(summary.confidence)
    ax = ax or new_axes()
    left = np.arange(CONFIDENCE_BINS) / CONFIDENCE_BINS
    colours = [FOR if low >= summary.threshold - 1e-9 else TOTAL for low in left]
    ax.bar(left, counts, width=1 / CONFIDENCE_BINS, align="edge", color=colours, edgecolor="white", linewidth=0.6)
    ax.set(xlim=(0, 1), xlabel="confidence", ylabel="sets")
    return ax


def plot_sizes(fitted: Estimator, ax: Axes | None = None) -> Axes:
    """Ticks per ballot beside members per answer, as shares; the sizes an answer may have are shaded."""
    ax = ax or new_axes()
    found = Counts.of(fitted.estimate_)
    counts, (lower, upper) = size_counts(found), found.widest
    sizes = np.arange(len(counts.ballots))
    ax.axvspan(lower - 0.5, min(upper, len(sizes) - 1) + 0.5, color=FOR, alpha=0.1, linewidth=0)
    for part, shift, colour, label in ((counts.ballots, -0.2, TOTAL, "ballots"), (counts.answers, 0.2, FOR, "answers")):
        ax.bar(sizes + shift, part / max(int(part.sum()), 1), width=0.38, color=colour, label=label)
    labels = [f"{size}+" if counts.open_end and size == sizes[-1] else f"{size}" for size in sizes]
    ax.set_xticks(sizes, labels)
    ax.set(xlim=(-0.6, len(sizes) - 0.4), xlabel="number of answers", ylabel="share")
    ax.legend(frameon=False)
    return ax


def plot_convergence(fitted: Estimator, ax: Axes | None = None) -> Axes:
    """The objective after every iteration: the log-likelihood plus what is believed about voters beforehand."""
    values = fitted.log_likelihoods_
    if not values:
        raise InputError(f"{type(fitted).__name__} does not iterate, so there is no course to draw; use EM or AMLE")
    ax = ax or new_axes()
    ax.plot(np.arange(1, len(values) + 1), values, "o-", color=FOR, markersize=3)
    ax.set(xlabel="iteration", ylabel="objective")
    ax.set_title(fitted.estimate_.status, fontsize=10)
    ax.locator_params(axis="x", integer=True)
    ax.ticklabel_format(axis="y", useOffset=False, style="plain")
    return ax


def plot_confusions(fitted: Estimator, ax: Axes | None = None) -> Axes:
    """How often a right alternative (row) was left out while a wrong one (column) was ticked, in ballots.

    Of more than 25 alternatives those most involved are shown.
    """
    ax = ax or new_axes()
    estimate = fitted.estimate_
    confused = reduce(add, (confusions(part.ballots, part.truths) for part in estimate.parts()))
    involved = np.argsort(-(confused.sum(axis=0) + confused.sum(axis=1)), kind="stable")[:MOST_NAMED]
    shown = np.sort(involved)
    names = [estimate.ballots.alternatives[j] for j in shown]
    picture = ax.imshow(confused[np.ix_(shown, shown)], cmap="Oranges", vmin=0)
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="ticked though not in the set", ylabel="in the set but left out")
    ax.figure.colorbar(picture, ax=ax, label="ballots")
    return ax
