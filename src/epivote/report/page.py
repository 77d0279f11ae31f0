"""One self-contained page that says what was found, how sure it is, and why."""

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
from epivote.data.names import counted
from epivote.errors import InputError
from epivote.estimate.base import Estimator
from epivote.evaluate.confusion import confusions
from epivote.report import content, svg
from epivote.report.anonymous import without_folders, without_voter_names
from epivote.report.embedded import items_shown, page_data, safe_json
from epivote.report.numbers import alternatives_of, confidence_counts, size_counts, voters_of
from epivote.summary import Summary, summarize

MOST_FOR_HEAT_MAP = 25  # alternatives whose names fit beside a square
MOST_FOR_PAIRS = 2_000  # alternatives; a table of all pairs beyond it takes too much memory
LONGEST_SETTING = 600  # characters of one setting; a round number
SCRIPTS = ("data.js", "table.js", "item.js", "page.js")


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

    `gold` gives right sets that were kept aside, for scoring; sets given to `fit` are checked in any case. `notes` are
    shown as reasons to be careful, `settings` under "How this was computed". With `anonymize` voters are called
    "voter 1", "voter 2", ... everywhere and settings lose their folders; names of items and alternatives stay, and so
    does what `title` and `notes` say.
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
    estimate = summary.estimate
    page = render(
        {
            **_summary(summary, notes),
            **_voters_and_items(summary),
            **_alternatives(estimate),
            **_course(estimate),
            **_accuracy(summary),
            "title": title or f"Answers to {counted(estimate.ballots.n_instances, 'item')}",
            "method": summary.method,
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


def _summary(summary: Summary, notes: Sequence[str]) -> dict[str, Any]:
    """How sure, and which items need more votes."""
    context: dict[str, Any] = {
        "opening": content.opening(summary),
        "tiles": content.tiles(summary),
        "about_confidence": summary.about_confidence,
        "warnings": content.warnings_of(summary, notes),
        "rated": summary.is_rated,
        "sure": f"{summary.threshold:.0%}",
        "confidence_chart": None,
        "doubts": [],
        "doubt_words": "",
    }
    if summary.is_rated:
        counts = confidence_counts(summary.confidence)
        context["confidence_chart"] = _markup(svg.histogram(counts, content.histogram_in_words(counts)))
        context["doubts"] = content.doubts(summary)
        context["doubt_words"] = content.doubts_in_words(summary)
    return context


def _voters_and_items(summary: Summary) -> dict[str, Any]:
    voters, alternatives = voters_of(summary), alternatives_of(summary.estimate)
    words = "Map of voters: hit rate against false-alarm rate. Use the arrow keys to go from voter to voter."
    drawing, drawn = svg.voter_map(voters, words)
    shown = items_shown(summary.estimate)
    return {
        "voter_map": _markup(drawing),
        "voter_words": content.voters_in_words(summary),
        "map_words": content.map_in_words(summary, drawn, crosses=drawn <= svg.MOST_CROSSES),
        "item_words": content.items_in_words(summary, len(shown)),
        "data": _markup(safe_json(page_data(summary, shown, voters, alternatives))),
    }


def _alternatives(estimate: Estimate) -> dict[str, Any]:
    """Which alternatives are confused."""
    names = estimate.ballots.alternatives
    context: dict[str, Any] = {"pairs": [], "heat_map": None, "too_many_alternatives": len(names) > MOST_FOR_PAIRS}
    if len(names) <= MOST_FOR_PAIRS:
        confused = confusions(estimate.ballots, estimate.truths)
        context["pairs"] = content.pairs_in_words(names, confused)
        if 1 < len(names) <= MOST_FOR_HEAT_MAP and confused.any():
            words = "Heat map of confusions; the most frequent ones are listed in words beside it."
            context["heat_map"] = _markup(svg.heat_map(names, confused, words))
    return context


def _course(estimate: Estimate) -> dict[str, Any]:
    """Set sizes and convergence."""
    counts = size_counts(estimate)
    lower, upper = estimate.bounds.resolve(estimate.ballots)
    within = int(lower.min()), int(upper.max())
    words = content.sizes_of_both(estimate)
    values = np.array(estimate.log_likelihoods)
    curve = None
    if len(values) > 1:
        curve = _markup(svg.line_chart(values, content.convergence_in_words(values)))
    return {
        "size_words": words,
        "size_chart": _markup(svg.size_bars(counts, within, words)),
        "outcome": content.outcome(estimate),
        "convergence_chart": curve,
    }


def _accuracy(summary: Summary) -> dict[str, Any]:
    parts = [
        (heading, found)
        for heading, found in (
            ("Against answers kept aside", content.held_back(summary)),
            ("On the gold items", content.taught_gold(summary)),
        )
        if found is not None
    ]
    words = "Share of right sets against stated confidence; the table beside it has the numbers."
    return {
        "accuracies": [
            {
                "heading": heading,
                "sentence": found.sentence,
                "rows": found.rows,
                "bins": [each.row() for each in found.bins],
                "chart": _markup(svg.calibration_chart(found.bins, words)) if found.bins else None,
            }
            for heading, found in parts
        ]
    }


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
