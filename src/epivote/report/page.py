"""One self-contained page: the sets, how far to trust them and the voters, what to do next, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from epivote.atomic import write_files
from epivote.data.estimate import Estimate
from epivote.data.names import IntArray, counted
from epivote.errors import InputError
from epivote.estimate.base import Estimator
from epivote.estimate.review import Doubt
from epivote.report import content, overview, svg
from epivote.report.anonymous import without_folders, without_voter_names
from epivote.report.changes import CHANGES_SHOWN, change_rows, majority_in_words
from epivote.report.counts import Counts
from epivote.report.embedded import instances_shown, page_data, safe_json
from epivote.report.numbers import (
    alternatives_of,
    changes,
    confidence_bands,
    flagged_voters,
    majority_of,
    size_counts,
    trust_of,
    voters_of,
)
from epivote.report.voter_map import MOST_CROSSES, voter_map
from epivote.report.written import chosen, spaced
from epivote.summary import Summary, summarize

MOST_FOR_HEAT_MAP = 25  # alternatives whose names fit beside a square
LONGEST_SETTING = 600  # characters of one setting; a round number
SCRIPTS = ("data.js", "table.js", "instance.js", "tip.js", "page.js")


def write_report(
    fitted: Estimator,
    path: str | Path,
    *,
    title: str | None = None,
    gold: Mapping[str, Iterable[str]] | None = None,
    notes: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    anonymize: bool = False,
) -> Path:
    """Write what a fitted estimator found as one HTML file that needs nothing else, not even a network.

    `gold` gives true sets that were not used for fitting; the estimated sets are scored against them. Sets given to
    `fit` are checked in any case. `notes` are shown as warnings, `settings` under "How this was computed". With
    `anonymize` voters are called "voter 1", "voter 2", ... everywhere and settings lose their folders; names of
    instances and alternatives stay, and so does what `title` and `notes` say.
    """
    if not isinstance(fitted, Estimator):
        raise InputError(f"a report needs a fitted estimator such as EM, not {type(fitted).__name__}")
    return write_page(summarize(fitted, gold), path, title, notes, settings or {}, anonymize=anonymize)


def write_page(
    summary: Summary,
    path: str | Path,
    title: str | None,
    notes: Sequence[str],
    settings: Mapping[str, str],
    *,
    anonymize: bool,
) -> Path:
    """`write_report` of what is summed up already."""
    told = {str(label): str(text) for label, text in settings.items()}
    if anonymize:
        summary = replace(summary, estimate=without_voter_names(summary.estimate))
        told = {label: without_folders(text) for label, text in told.items()}
    warnings = content.warnings_of(summary, notes)
    page = render(
        {
            **_parts(summary),
            "sets": overview.sets_found(summary, below_warnings=bool(warnings)),
            **_accuracy(summary),
            "title": title or f"Sets of {counted(summary.estimate.ballots.n_instances, 'instance')}",
            "counts": overview.counts_line(summary),
            "warnings": warnings,
            "n_in_sight": content.warnings_in_sight(warnings),
            "about_confidence": [spaced(sentence) for sentence in summary.about_confidence],
            "rated": summary.is_rated,
            "sure": chosen(summary.threshold),
            "settings": _settings(summary, told, anonymize=anonymize),
        }
    )
    target = Path(path)
    write_files({target: lambda place: place.write_bytes(page.encode("utf-8", "replace"))})
    return target


def render(context: Mapping[str, Any]) -> str:
    """The template filled in; every text is escaped unless it is markup made here."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_file("page.html"))
    scripts = "".join(_file(name) for name in SCRIPTS)
    return template.render(**context, style=_markup(_file("page.css")), script=_markup(scripts))


def _parts(summary: Summary) -> dict[str, Any]:
    """What is worked out once and then shown in several places."""
    estimate = summary.estimate
    _ = summary.held_back  # refuses gold sets of other alternatives before anything is shown
    doubts = summary.review(content.DOUBTS_SHOWN) if summary.is_rated else []
    majority = majority_of(summary) if summary.is_rated else None
    counts = Counts.of(estimate, majority)
    return {
        **_overview(summary, doubts, counts.confused),
        **_majority(summary, majority, counts),
        **_tables(summary, doubts, majority, counts),
        **_alternatives(estimate, counts.confused),
        **_course(estimate, counts),
    }


def _overview(summary: Summary, doubts: Sequence[Doubt], confused: IntArray | None) -> dict[str, Any]:
    """The first screen."""
    trust = trust_of(summary) if summary.is_rated else None
    flagged = flagged_voters(summary)
    chart = None
    if summary.is_rated:
        bands = confidence_bands(summary.confidence[summary.estimated_places], summary.threshold)
        chart = _markup(svg.bands_chart(bands, content.band_labels(bands), content.bands_in_words(bands)))
    return {
        "check": overview.check_of(summary, trust),
        "bands_chart": chart,
        "suspects": overview.voters_found(summary, flagged),
        "steps": overview.next_steps(summary, doubts, trust, flagged, confused),
    }


def _majority(summary: Summary, majority: Estimate | None, counts: Counts) -> dict[str, Any]:
    """What changed against a majority."""
    if majority is None or counts.differs is None:
        return {"majority_words": None, "changes": []}
    found = changes(summary, majority, counts.differs, CHANGES_SHOWN)
    return {
        "majority_words": majority_in_words(summary, int(counts.differs.sum())),
        "changes": change_rows(found),
    }


def _tables(summary: Summary, doubts: Sequence[Doubt], majority: Estimate | None, counts: Counts) -> dict[str, Any]:
    """Voters and instances, and the numbers that scripts draw from."""
    voters, alternatives = voters_of(summary), alternatives_of(summary.estimate, counts)
    words = "Map of voters: hit rate against false-alarm rate. Use the arrow keys to go from voter to voter."
    drawing, drawn = voter_map(voters, words)
    shown = instances_shown(summary)
    return {
        "voter_map": _markup(drawing),
        "voter_words": content.voters_in_words(summary),
        "voter_rows": content.voter_rows(voters),
        "agreement_words": content.agreement_in_words(summary.agreement),
        "agreement_bars": content.agreement_bars(summary.agreement),
        "weakest_bars": content.weakest_bars(summary.agreement),
        "map_words": content.map_in_words(summary, drawn, crosses=drawn <= MOST_CROSSES),
        "instance_words": content.instances_in_words(summary, shown),
        "instance_rows": content.instance_rows(summary, doubts),
        "data": _markup(safe_json(page_data(summary, shown, voters, alternatives, majority, doubts))),
    }


def _alternatives(estimate: Estimate, confused: IntArray | None) -> dict[str, Any]:
    """Which alternatives are confused."""
    names = estimate.ballots.alternatives
    context: dict[str, Any] = {"pairs": [], "heat_map": None, "too_many_alternatives": confused is None}
    if confused is not None:
        context["pairs"] = content.pairs_in_words(names, confused)
        if 1 < len(names) <= MOST_FOR_HEAT_MAP and confused.any():
            words = "Heat map of confusions; the most frequent ones are listed in words beside it."
            context["heat_map"] = _markup(svg.heat_map(names, confused, words))
    return context


def _course(estimate: Estimate, counts: Counts) -> dict[str, Any]:
    """Set sizes and convergence."""
    words = content.sizes_of_both(counts)
    values = np.array(estimate.log_likelihoods)
    curve = None
    if len(values) > 1:
        curve = _markup(svg.line_chart(values, content.convergence_in_words(values)))
    return {
        "size_words": words,
        "size_chart": _markup(svg.size_bars(size_counts(counts), counts.widest, words)),
        "outcome": content.outcome(estimate),
        "convergence_chart": curve,
    }


def _accuracy(summary: Summary) -> dict[str, Any]:
    parts = [found for found in (content.held_back(summary), content.taught_gold(summary)) if found is not None]
    words = "Share of sets exactly right against stated confidence; the table beside it has the numbers."
    charts = [_markup(svg.calibration_chart(found.bins, words)) if found.bins else None for found in parts]
    return {"accuracies": list(zip(parts, charts, strict=True))}


def _settings(summary: Summary, told: Mapping[str, str], *, anonymize: bool) -> list[tuple[str, str]]:
    rows = content.how_computed(summary, told, version("epivote"))
    if anonymize:
        rows = [(label, summary.method if label == "Estimator" else text) for label, text in rows]
    return [
        (label, text if len(text) <= LONGEST_SETTING else f"{text[:LONGEST_SETTING]} … (cut)") for label, text in rows
    ]


def _file(name: str) -> str:
    return (files("epivote.report") / "template" / name).read_text(encoding="utf-8")


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)
