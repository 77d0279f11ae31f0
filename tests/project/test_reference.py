"""The reference has every public name once, and nothing else."""

import re
from pathlib import Path

import epivote
from epivote.report import plots

PAGES = sorted((Path(__file__).parent.parent.parent / "docs").rglob("*.md"))
NAMED = [name for page in PAGES for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)]
PLOTS = {f"epivote.report.plots.{name}" for name in plots.__all__ if name.startswith("plot_")}


def test_every_public_name_is_in_the_reference_once():
    public = {f"epivote.{name}" for name in epivote.__all__ if name != "__version__"} | PLOTS
    assert sorted(NAMED) == sorted(public)
