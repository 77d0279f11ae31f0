"""Pictures with matplotlib (`pip install epivote[plots]`); every function draws on the axes it is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from epivote.data.numbers import chosen_percent, in_percent
from epivote.estimate.explain import Account, Explanation
from epivote.evaluate.calibration import CalibrationBin
from epivote.planning import Plan, PlanPoint
from epivote.report.axes import AGAINST, FOR, TOTAL, check_picture, new_axes, pyplot, save
from epivote.report.estimate_plots import (
    plot_confidence,
    plot_confusions,
    plot_convergence,
    plot_sizes,
    plot_voter_map,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "check_picture",
    "plot_calibration",
    "plot_confidence",
    "plot_confusions",
    "plot_convergence",
    "plot_plan",
    "plot_sizes",
    "plot_voter_map",
    "plot_waterfall",
    "save_plan",
    "save_waterfall",
]

PUSHES_SHOWN = 8  # voters drawn one by one; the others are summed up


def plot_waterfall(account: Account, ax: Axes | None = None) -> Axes:
    """From prior to margin, one step per voter, strongest first; what is left of 0 speaks against."""
    ax = ax or new_axes()
    ranked = sorted(account.pushes.items(), key=lambda item: -abs(item[1]))
    steps = [("prior", account.prior)]
    steps += [
        (voter if voter in account.ticked_by else f"{voter} (no tick)", push) for voter, push in ranked[:PUSHES_SHOWN]
    ]
    if len(ranked) > PUSHES_SHOWN:
        steps.append((f"{len(ranked) - PUSHES_SHOWN} others", sum(push for _, push in ranked[PUSHES_SHOWN:])))
    heights = np.array([push for _, push in steps])
    starts = np.concatenate([[0.0], np.cumsum(heights)[:-1]])
    rows = np.arange(len(steps))
    ax.use_sticky_edges = False
    ax.margins(x=0.05)
    ax.barh(rows, heights, left=starts, color=[FOR if push >= 0 else AGAINST for push in heights])
    ax.barh([len(steps)], [account.margin], color=TOTAL)
    ax.set_yticks([*rows, len(steps)], [*(name for name, _ in steps), "margin"])
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel("log-odds")
    verdict = "in" if account.chosen else "out"
    ax.set_title(f"{account.alternative}: {verdict}, right with {in_percent(account.probability)}", fontsize=10)
    return ax


def plot_calibration(bins: Sequence[CalibrationBin], ax: Axes | None = None) -> Axes:
    """Share of right sets against stated confidence, with intervals; the diagonal is perfect calibration."""
    ax = ax or new_axes()
    stated = np.array([each.mean_confidence for each in bins])
    right = np.array([each.right.mean for each in bins])
    below = right - np.array([each.right.low for each in bins])
    above = np.array([each.right.high for each in bins]) - right
    ax.plot([0, 1], [0, 1], color=TOTAL, linestyle="--", linewidth=1, label="perfect calibration")
    ax.errorbar(stated, right, yerr=[below, above], fmt="o", color=FOR, capsize=3, label="sets")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="stated confidence", ylabel="share of sets exactly right")
    ax.legend(loc="upper left", frameon=False)
    return ax


def plot_plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """Share of exact sets to expect against ballots per instance, with the target marked.

    Where the plan was checked, what was found is drawn beside what the model says.
    """
    ax = ax or new_axes()
    _plan_curve(ax, plan.points, "model: voters err independently", FOR)
    needed, by = plan.needed, ""
    if plan.check is not None:
        names = {"gold": "checked: right by gold", "the whole crowd": "checked: same set as the whole crowd"}
        _plan_curve(ax, plan.check.points, names[plan.check.against], TOTAL)
        by = " by the model"
    ax.axhline(plan.target, color=TOTAL, linestyle="--", linewidth=1)
    if needed is not None:
        ax.axvline(
            needed, color=AGAINST, linestyle=":", label=f"{needed} ballots reach {chosen_percent(plan.target)}{by}"
        )
    ax.legend(loc="lower right", frameon=False)
    ax.set(xlabel="ballots per instance", ylabel="sets exactly right", ylim=(0, 1.02))
    return ax


def _plan_curve(ax: Axes, points: Sequence[PlanPoint], label: str, color: str) -> None:
    mean = np.array([point.exact.mean for point in points])
    low = mean - np.array([point.exact.low for point in points])
    high = np.array([point.exact.high for point in points]) - mean
    ax.errorbar(
        [point.ballots for point in points], mean, yerr=[low, high], fmt="o-", color=color, capsize=3, label=label
    )


def save_plan(plan: Plan, path: Path) -> None:
    """A picture file of a plan."""
    ax = plot_plan(plan)
    save(ax.get_figure(), path)


def save_waterfall(told: Explanation, path: Path) -> None:
    """A picture file with one waterfall per alternative that matters: all members and the strongest outsiders."""
    shown = [account for account in told.accounts if account.chosen]
    shown += [account for account in told.accounts if not account.chosen][:2]
    figure, axes = pyplot().subplots(len(shown), 1, figsize=(7, 3.2 * len(shown)), squeeze=False, layout="constrained")
    for account, ax in zip(shown, axes[:, 0], strict=True):
        plot_waterfall(account, ax)
    figure.suptitle(f"{told.instance}: {{{', '.join(told.answer)}}}")
    save(figure, path)
