"""A page of lines that fits one screen: sentences wrapped at words, tables with one line per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

SCREEN = 39  # lines; a window of 40 lines with the prompt that follows
CUT = "…"
GAP = 2  # blanks between columns
NARROWEST = 4  # letters that a cut column keeps


class ScreenColumn(NamedTuple):
    """A column of a table; `is_cut` if long cells may be cut, where others take the room they need."""

    name: str
    justify: Literal["left", "right"] = "left"
    is_cut: bool = True


class Page:
    """Turns sentences and tables into lines for a console."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def wrapped(self, sentence: str, most: int | None = None) -> list[Text]:
        """A sentence as lines no wider than the console; a cut one ends in `…`."""
        lines = list(Text(sentence).wrap(self.console, self.console.width))
        for line in lines:
            line.rstrip()
        if most is not None and len(lines) > most:
            lines = lines[:most]
            lines[-1].truncate(self.console.width - 1)
            lines[-1].rstrip()
            lines[-1].append(CUT)
        return lines

    def table(
        self,
        columns: Sequence[ScreenColumn],
        rows: Sequence[Sequence[str]],
        *,
        is_cut: bool = True,
        has_head: bool = True,
    ) -> list[Text]:
        """A header and one line per row; without `is_cut`, long cells are folded instead."""
        cells = [[" ".join(cell.split()) if is_cut else cell for cell in row] for row in rows]
        shown = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_header=has_head)
        for each, width in zip(columns, self._widths(columns, cells, has_head), strict=True):
            overflow: Literal["ellipsis", "fold"] = "ellipsis" if is_cut else "fold"
            shown.add_column(each.name, justify=each.justify, width=width, no_wrap=is_cut, overflow=overflow)
        for row in cells:
            shown.add_row(*map(Text, row))
        lines = self.console.render_lines(shown, pad=False)
        texts = [Text.assemble(*((part.text, part.style or "") for part in line)) for line in lines]
        for text in texts:
            text.rstrip()
        return texts

    def _widths(self, columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], has_head: bool) -> list[int]:
        """What every column needs, the widest of those that may be cut made narrower until all fit."""
        heads = [[each.name for each in columns]] if has_head else []
        widths = [max((cell_len(row[k]) for row in [*heads, *rows]), default=1) for k in range(len(columns))]
        flexible = [k for k, each in enumerate(columns) if each.is_cut]
        excess = sum(widths) + GAP * (len(columns) - 1) - self.console.width
        while excess > 0 and max(widths[k] for k in flexible) > NARROWEST:
            widest = max(flexible, key=lambda k: widths[k])
            taken = min(excess, max(widths[widest] - sorted(widths[k] for k in flexible)[-2], 1))
            widths[widest] -= taken
            excess -= taken
        return widths

    def height(self, lines: Sequence[Text]) -> int:
        """How many lines of the screen these take; those that are too wide take several."""
        return sum(max(1, -(-line.cell_len // self.console.width)) for line in lines)

    def show(self, parts: Sequence[Sequence[Text]]) -> None:
        """Print parts with a blank line between them; empty parts are left out."""
        for number, part in enumerate(filter(None, parts)):
            if number:
                self.console.print()
            for line in part:
                self.console.print(line, soft_wrap=True)
