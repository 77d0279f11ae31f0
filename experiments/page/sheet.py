"""What a section hands over: text, pictures and numbers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

Row = Sequence[object]


@dataclass(frozen=True)
class Finding:
    """A claim of the paper and what was found, in one line each."""

    claim: str
    found: str


@dataclass
class Sheet:
    """Collects a section: its text, and beside it in `folder` every picture as SVG and PNG with its numbers as CSV."""

    folder: Path
    text: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def write(self, *paragraphs: str) -> None:
        """Paragraphs of Markdown."""
        self.text += [paragraph.strip() for paragraph in paragraphs]

    def found(self, claim: str, found: str) -> None:
        """A line of the table at the head of the page."""
        self.findings.append(Finding(claim, found))

    def table(self, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """A table; numbers are rounded to three places."""
        lines = [list(columns), ["---"] * len(columns), *([_cell(value) for value in row] for row in rows)]
        self.text.append("\n".join("| " + " | ".join(cells) + " |" for cells in lines))

    def numbers(self, name: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """A CSV file, at full precision."""
        with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)

    def picture(self, name: str, drawn: Figure, shows: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """A picture with the numbers it shows; `shows` says in words what is to be seen."""
        drawn.savefig(self.folder / f"{name}.svg", metadata={"Date": None})
        drawn.savefig(self.folder / f"{name}.png", dpi=110, metadata={"Software": None})
        self.numbers(name, columns, rows)
        files = f"reproduction/{name}"
        self.write(f"![{shows}]({files}.svg)", f"*{shows}* [PNG]({files}.png) · [numbers]({files}.csv)")


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
