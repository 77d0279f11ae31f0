"""How participants ticked, and what the quiz's incentive made of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epivote import Ballots, Truths, rank_participants
from experiments.measure.ballots import ballots_of
from experiments.page import style
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.pieces import Results

KINDS = {1: "pictures with one team", 2: "pictures with two teams"}


def write(_: Results, extent: Extent, sheet: Sheet) -> None:
    """Histograms, those who ticked everything, the ranking."""
    ballots, gold = ballots_of(extent.data)
    sheet.write("## How participants ticked")
    _histograms(ballots, gold, sheet)
    _ranking(ballots, gold, sheet)


def _histograms(ballots: Ballots, gold: Truths, sheet: Sheet) -> None:
    drawn, axes = style.figure(1, 2, height=2.8, sharey=True)
    rows = []
    exact = {}
    for ax, (winners, title) in zip(axes, KINDS.items(), strict=True):
        counts = size_counts(ballots, gold, winners)
        share = counts / counts.sum()
        bars = ax.bar(np.arange(len(counts)), 100 * share, color=style.SKY, edgecolor=style.BLACK, linewidth=0.6)
        bars[winners].set(facecolor=style.BLUE, hatch="//")
        ax.bar_label(bars, [f"{count:,}" for count in counts], fontsize=8, padding=1)
        ax.set(title=title, xlabel="teams ticked on a ballot")
        ax.margins(y=0.12)
        ax.grid(visible=False, axis="x")
        rows += [[winners, size, int(count)] for size, count in enumerate(counts)]
        exact[winners] = share[winners]
    axes[0].set_ylabel("ballots, %")
    shows = "Sizes of ballots; numbers above the bars are ballots, the hatched bar is the true size."
    sheet.picture("ballot-sizes", drawn, shows, ["right teams", "ticked", "ballots"], rows)
    per_voter = np.bincount(ballots.ballot_voter, weights=ballots.ballot_sizes, minlength=ballots.n_voters)
    everything = int(np.sum(per_voter == ballots.ballots_per_voter * ballots.n_alternatives))
    sheet.write(
        f"{exact[1]:.0%} of the ballots on one-team pictures tick exactly one team, {exact[2]:.0%} of those on "
        "two-team pictures exactly two: the commonest size in both cases, but on two-team pictures not what most "
        f"ballots have. {everything} of {ballots.n_voters} participants ticked everything, always."
    )
    sheet.found(
        "Most voters tick exactly as many teams as a picture shows; two tick everything",
        f"{exact[1]:.0%} of the ballots do on one-team pictures, {exact[2]:.0%} on two-team ones; {everything} "
        "participants tick everything, and by the quiz's rule they come first",
    )


def size_counts(ballots: Ballots, gold: Truths, winners: int) -> NDArray[np.int64]:
    """How many ballots have 0, 1, ... ticks, on instances with so many right alternatives."""
    wanted = np.array([len(gold[name]) == winners for name in ballots.instances])
    sizes = ballots.ballot_sizes[wanted[ballots.ballot_instance]]
    return np.bincount(sizes, minlength=ballots.n_alternatives + 1)


def _ranking(ballots: Ballots, gold: Truths, sheet: Sheet) -> None:
    standings = rank_participants(ballots, gold)
    drawn, (ax,) = style.figure(1, 1, height=3.0, width=5)
    first = [each for each in standings if each.rank == 1]
    others = standings[len(first) :]
    ax.scatter(
        [each.ticks for each in others],
        [each.points for each in others],
        color=style.BLUE,
        alpha=0.6,
        s=24,
        label="participants (darker: several)",
    )
    ax.scatter(
        [each.ticks for each in first],
        [each.points for each in first],
        color=style.ORANGE,
        marker="s",
        s=40,
        label=f"rank 1: {len(first)} participants",
    )
    ax.set(xlabel="ticks in all", ylabel="points", ylim=(-0.5, ballots.n_instances + 1))
    ax.set_yticks(range(0, ballots.n_instances + 1, 5))
    style.legend_below(drawn, ax, 2)
    rows = [[each.rank, each.points, each.ticks] for each in standings]
    shows = "Points (ballots that contain every right team) against ticks, one mark per participant."
    sheet.picture("ranking", drawn, shows, ["rank", "points", "ticks"], rows)
    sheet.table(["rank", "points", "ticks"], [[str(value) for value in row] for row in rows[:8]])
    sheet.write(
        "The quiz ranked participants by points, and fewer ticks only broke ties. Whoever ticks everything cannot "
        f"lose a point, so the {len(first)} who did come first, with {first[0].points} of {ballots.n_instances} "
        f"points and {first[0].ticks} ticks; the best of the others has {others[0].points}. If you run such a quiz, "
        "let a needless tick cost something."
    )


SECTION = Section("participants", write)
