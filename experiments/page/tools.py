"""The page docs/explanation/comparison.md, from whatever is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.comparison import DRAWS, GOLD, TIME_LIMIT, TITLES, missing, settings
from experiments.other_tools import PEERS
from experiments.page.comparing import table
from experiments.page.tools_text import ALL_SETS, HOW_TO_READ, INTRODUCTION, OFFERS, TURNED_INTO
from experiments.real_sets import REAL
from experiments.store import Kept

Found = Mapping[tuple[str, str], Kept]
HEAD = [
    "tool",
    "exact sets",
    "within bounds",
    "Jaccard",
    "alternatives",
    "stated",
    "error",
    "time",
]
YARDSTICK = "em"
DASH = "-"


def page(found: Found) -> str:
    """The whole page."""
    sets = [name for name in REAL if (YARDSTICK, name) in found]
    return "\n".join(
        [
            INTRODUCTION,
            "## All sets together\n",
            ALL_SETS.format(len(sets)),
            summary(found, sets),
            HOW_TO_READ.format(gold=GOLD, draws=DRAWS),
            *(part for name in sets for part in (f"## {name}\n", f"{REAL[name]}.\n", one_set(found, name))),
            TURNED_INTO,
            circumstances(found, [name for name in REAL if name not in sets]),
            OFFERS,
        ]
    )


def summary(found: Found, sets: Sequence[str]) -> str:
    """Means over all sets, of the tools that ran on each of them."""
    rows = []
    for tool in TITLES:
        results = [found[tool, name].result for name in sets if (tool, name) in found]
        if results and len(results) == len(sets) and not any("failed" in each for each in results):
            ratios = [seconds(found, tool, name) / seconds(found, YARDSTICK, name) for name in sets]
            rows.append([TITLES[tool], *cells(mean_of(results)), f"{min(ratios):.1f}-{max(ratios):.1f}"])
    return table(HEAD, rows)


def one_set(found: Found, name: str) -> str:
    """Every tool on one set; one that did not run says why."""
    rows = []
    for tool, title in TITLES.items():
        result: Mapping[str, Any] = found[tool, name].result if (tool, name) in found else {"failed": missing(tool)}
        if "seconds" in result:
            rows.append([title, *cells(result), f"{result['seconds'] / seconds(found, YARDSTICK, name):.1f}"])
        elif result["failed"]:
            rows.append([title, f"not run: {result['failed']}", *[""] * (len(HEAD) - 2)])
    return table(HEAD, rows)


def seconds(found: Found, tool: str, name: str) -> float:
    """How long a tool took."""
    return float(found[tool, name].result["seconds"])


def mean_of(results: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Means of what all results have."""
    shared = set.intersection(*(set(each) for each in results))
    return {key: sum(each[key] for each in results) / len(results) for key in shared}


def cells(result: Mapping[str, Any]) -> list[str]:
    """Figures of one tool; a dash for what it does not state."""
    keys = ("exact", "within bounds", "jaccard", "alternatives", "stated", "error")
    return [f"{result[key]:.3f}" if key in result else DASH for key in keys]


def circumstances(found: Found, left_out: Sequence[str]) -> str:
    """Versions, dates, how busy the machine was, and what was not measured."""
    versions = {PEERS[tool].package: settings(tool)["version"] for tool, _ in found if tool in PEERS}
    loads = [kept.result["load"] for kept in found.values() if "load" in kept.result]
    dates = sorted(kept.date for kept in found.values())
    stale = sorted({TITLES[tool] for (tool, _), kept in found.items() if not kept.current})
    lines = [
        "## When and where\n",
        f"Measured {dates[0]} to {dates[-1]} on {os.cpu_count()} cores, which other programs shared (load average "
        f"{min(loads):.1f} to {max(loads):.1f} when a tool started). Times are those of the processor, which waiting "
        f"does not change, and no tool was given more than {TIME_LIMIT // 60} minutes of it on one set. "
        f"Versions: {', '.join(f'{name} {number}' for name, number in sorted(versions.items()))}.",
    ]
    if left_out:
        lines.append(f"\nNot measured yet: {', '.join(f'`{name}`' for name in left_out)}; `make compare` adds them.")
    if stale:
        lines.append(f"Measured with earlier code: {', '.join(stale)}.")
    return "\n".join(lines) + "\n"
