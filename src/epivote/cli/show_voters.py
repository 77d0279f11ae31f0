"""What `aggregate` prints about voters: the suspicious ones, apart from those with too few ballots to say."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from epivote.cli.screen import Page, ScreenColumn
from epivote.data.names import counted
from epivote.data.numbers import percent
from epivote.estimate.flags import FlagKind, some_names
from epivote.estimate.reliability import VoterReport
from epivote.summary import Summary

COLUMNS = (
    ScreenColumn("voter"),
    ScreenColumn("hit rate", "right", is_cut=False),
    ScreenColumn("false-alarm rate", "right", is_cut=False),
    ScreenColumn("ballots", "right", is_cut=False),
    ScreenColumn("why"),
)
MOST_ROWS = 10  # voters on one screen; a round number
TOGETHER = (FlagKind.NEAR_COPY, FlagKind.SAME_MISTAKES)


def voter_lines(page: Page, summary: Summary, room: int | None) -> list[Text]:
    """Suspicious voters in so many lines, or all of them with every flag; groups that err together take one line."""
    suspicious = [each for each in summary.flagged if _is_suspicious(each)]
    few = sum(each.multiplicity for each in summary.flagged if not _is_suspicious(each))
    also = f"; {few:,} cast too few ballots to say" if few else ""
    total = summary.estimate.ballots.total_voters
    if not suspicious:
        lines = page.wrapped(f"No voter is suspicious{also}.")
    else:
        many = sum(each.multiplicity for each in suspicious)
        rows = [_row(each) for each in suspicious] if room is None else _short_rows(summary, suspicious)
        most = len(rows) if room is None else max(min(room - 2, MOST_ROWS), 1)
        are = "is" if many == 1 else "are"
        shown = "" if len(rows) <= most else f" ({most} shown)"
        title = page.wrapped(f"{many:,} of {counted(total, 'voter')} {are} suspicious{shown}{also}.")
        lines = [*title, *page.table(COLUMNS, rows[:most], is_cut=room is not None)]
    return lines if room is not None else [*lines, *_more(page, summary)]


def _is_suspicious(report: VoterReport) -> bool:
    return any(flag.kind is not FlagKind.TOO_FEW_BALLOTS for flag in report.flags)


def _short_rows(summary: Summary, suspicious: Sequence[VoterReport]) -> list[tuple[str, ...]]:
    """One row per group that errs together, then one per voter with another flag."""
    groups = [
        (f"{len(group):,} voters", "", "", "", f"make the same mistakes: {some_names(group, 3)}")
        for group in summary.erring_together
    ]
    alone = [each for each in suspicious if any(_own(flag.kind) for flag in each.flags)]
    return groups + [_row(each) for each in alone]


def _own(kind: FlagKind) -> bool:
    return kind not in (*TOGETHER, FlagKind.TOO_FEW_BALLOTS)


def _row(report: VoterReport) -> tuple[str, ...]:
    return (
        report.label,
        percent(report.hit_rate),
        percent(report.false_alarm_rate),
        f"{report.ballots:,}",
        "; ".join(report.flags),
    )


def _more(page: Page, summary: Summary) -> list[Text]:
    """Who says most, and who errs together."""
    named = ", ".join(
        f"{each.label} (hit rate {percent(each.hit_rate)}, false-alarm rate {percent(each.false_alarm_rate)})"
        for each in summary.most_informative()
    )
    lines = page.wrapped(f"Most informative: {named}.") if named else []
    return lines + (page.wrapped(summary.about_erring_together) if summary.about_erring_together else [])
