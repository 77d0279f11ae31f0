"""Small tables for notebooks: escaped, without scripts, styles or anything from outside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

MOST_ROWS = 10  # rows of a table in a notebook; a round number


def html_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], total: int | None = None) -> str:
    """A table with a caption; `total` says how many rows there are if only the first are given."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    more = "" if total is None or total <= len(rows) else f"<p>and {total - len(rows):,} more</p>"
    caption = f'<caption style="text-align: left">{escape(title)}</caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
