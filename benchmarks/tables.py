"""Markdown tables and numbers that read well in them."""

from __future__ import annotations


def table(columns: list[str], rows: list[list[str]], *, left: int = 1) -> str:
    """A Markdown table; the first `left` columns hold words, the others numbers, to the right."""
    rule = ["---"] * left + ["---:"] * (len(columns) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [columns, rule, *rows]) + "\n"


def seconds(value: float) -> str:
    """Three figures, never in powers of ten."""
    return figures(value) if value < 100 else f"{value:,.0f}"


def figures(value: float, count: int = 3) -> str:
    """So many significant figures, written out."""
    if value == 0:
        return "0"
    from math import floor, log10

    places = max(0, count - 1 - floor(log10(abs(value))))
    return f"{value:,.{places}f}"


def times(value: float) -> str:
    """A ratio."""
    return f"{value:,.0f}" if value >= 100 else figures(value)
