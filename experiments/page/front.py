"""The page as a whole: what was found first, then every section."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from experiments.measure.ballots import SEED
from experiments.page.sheet import Sheet

DOCS = Path(__file__).parent.parent.parent / "docs" / "explanation"
KINDS = (".svg", ".png", ".csv")

INTRODUCTION = f"""
# The paper, reproduced

<!-- written by `make reproduce` -->

Every table, figure and example of Tahar Allouche, Jérôme Lang and Florian Yger, *Multi-winner Approval Voting Goes
Epistemic*, recomputed from the ballots of its football quiz, with what differs and why; then what lies beyond the
paper.

    make reproduce                                            # everything, and this page
    python -m experiments.reproduce --only initialisations    # one part, into experiments/out/
    python -m experiments.reproduce --help                    # the names of all parts

The quiz is not part of this project; the command says where its authors publish it and checks that it is that file.
Runs can be interrupted and go on where they stopped. Every random draw comes from the seed {SEED} and the number of
the batch, so that the numbers are the same on every run, on one core or several; only times differ.

AMLE_c is the paper's rule with one or two winners (`AMLE((1, 2))`), AMLE_f the one without size bounds
(`AMLE((0, None))`). Accuracies: *0/1* is the share of sets exactly right, *Hamming* the share of alternatives
decided correctly, in or out, and *harmonic* lies between.
"""


def write_section(sheet: Sheet, path: Path) -> None:
    """A section by itself."""
    path.write_text("\n\n".join(sheet.text) + "\n")


def page(parts: Mapping[str, Mapping[str, Sheet]], core_seconds: Mapping[str, float]) -> str:
    """The whole page."""
    findings = [finding for sheets in parts.values() for sheet in sheets.values() for finding in sheet.findings]
    table = ["| the paper says | found |", "| --- | --- |", *(f"| {each.claim} | {each.found} |" for each in findings)]
    told = "; ".join(f"{part} {seconds:.0f} seconds" for part, seconds in core_seconds.items())
    text = [
        INTRODUCTION.strip(),
        "## What was found",
        "\n".join(table),
        f"Computing all of it takes one core: {told}; two cores take about half as long.",
    ]
    text += [paragraph for sheets in parts.values() for sheet in sheets.values() for paragraph in sheet.text]
    return "\n\n".join(text) + "\n"


def publish(text: str, pictures: Path, docs: Path = DOCS) -> None:
    """The page and, beside it, every picture and table it names."""
    folder = docs / "reproduction"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted(pictures.iterdir()):
        if path.suffix in KINDS and f"reproduction/{path.name}" in text:
            shutil.copyfile(path, folder / path.name)
    (docs / "reproduction.md").write_text(text)
