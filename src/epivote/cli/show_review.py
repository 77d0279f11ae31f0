"""What `review` prints and writes: doubtful instances, most doubtful first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl
from rich.text import Text

from epivote.atomic import write_files
from epivote.cli.again import Again
from epivote.cli.console import print_json, terminal
from epivote.cli.fitting import Fitted
from epivote.cli.screen import SCREEN, Page
from epivote.cli.show_aggregate import doubt_table
from epivote.data.names import counted
from epivote.data.numbers import chosen_percent
from epivote.errors import InputError
from epivote.estimate.review import Doubt
from epivote.formats.joined import SEPARATOR

MOST_AHEAD = 500  # instances for which further ballots are worked out; a few seconds, a round number
COLUMNS = {
    "instance": pl.String,
    "alternatives": pl.String,
    "confidence": pl.Float64,
    "rival": pl.String,
    "rival_probability": pl.Float64,
    "ballots": pl.Int64,
    "more_ballots": pl.Int64,
}


def review_table(doubts: Sequence[Doubt]) -> pl.DataFrame:
    """Doubtful instances as they are written; `more_ballots` is empty where more than 64 or not worked out."""
    rows = [
        (
            each.instance,
            SEPARATOR.join(each.answer),
            each.confidence,
            SEPARATOR.join(each.rival),
            each.rival_probability,
            each.ballots,
            each.more_ballots,
        )
        for each in doubts
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def write_review(doubts: Sequence[Doubt], path: Path) -> None:
    """Write them as CSV; sets are joined by `|`."""
    broken = [name for each in doubts for name in (*each.answer, *each.rival) if SEPARATOR in name]
    if broken:
        raise InputError(f"alternative {broken[0]!r} contains {SEPARATOR!r}, which separates alternatives; use --json")
    write_files({path: review_table(doubts).write_csv})


def show_review(
    fitted: Fitted, doubts: Sequence[Doubt], threshold: float, output: Path | None, again: Again, *, as_json: bool
) -> None:
    """Doubtful instances on one screen, where all of them are, and how to see why one is doubtful."""
    if as_json:
        n_instances = fitted.export.ballots.n_instances
        print_json({"threshold": threshold, "instances": n_instances, "review": map(asdict, doubts)})
        return
    n_sets, sure = len(fitted.summary.estimated_places), chosen_percent(threshold)
    page = Page(terminal())
    if not doubts:
        page.show([page.wrapped(f"No instance is doubtful: all {n_sets:,} sets have a confidence of {sure} or more.")])
        return
    have = "has" if len(doubts) == 1 else "have"
    opening = page.wrapped(f"{len(doubts):,} of {counted(n_sets, 'set')} {have} a confidence below {sure}.")
    opening += page.wrapped(fitted.summary.meaning)
    kept = "-o review.csv writes all of them as CSV." if output is None else f"Wrote all of them to {output}."
    command = again.command("explain", doubts[0].instance)
    end = [*page.wrapped(kept), *page.wrapped("Next, see why the first one is doubtful:"), Text(f"  {command}")]
    room = max(SCREEN - page.height(opening) - page.height(end) - 3, 1)
    page.show([opening, doubt_table(page, doubts[:room], is_cut=True), end])
