"""Numbers and tables of the page on methods."""

from __future__ import annotations

import sys

import numpy as np

from epivote import Truths, mean_interval


def exact(truths: Truths, gold: Truths) -> float:
    """The share of sets that are exactly right."""
    return float(np.mean([truths.listed(name) == gold.listed(name) for name in gold]))


def with_interval(values: list[float]) -> str:
    """A mean and half the width of its 95 % confidence interval."""
    interval = mean_interval(values)
    return f"{interval.mean:.3f} ± {(interval.high - interval.low) / 2:.3f}"


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    rule = ["---"] * len(columns)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [columns, rule, *rows]) + "\n"


def progress(what: str) -> None:
    """Say what is being measured."""
    print(f"  {what}", file=sys.stderr, flush=True)
