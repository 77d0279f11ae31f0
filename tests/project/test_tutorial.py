"""The tutorial exists once: the notebook is made from the page, runs, and prints what the page shows."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
STALE = "docs/tutorial/tutorial.ipynb is out of date; run: python docs/make_tutorial.py"


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_tutorial", DOCS / "make_tutorial.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def kept(folder):
    return json.loads((folder / "tutorial.ipynb").read_text(encoding="utf-8"))["cells"]


def test_the_notebook_is_the_page(maker):
    story = maker.cells(maker.PAGE.read_text(encoding="utf-8"))
    cells = kept(maker.FOLDER)
    assert [(cell["cell_type"], cell["source"]) for cell in cells] == [(cell.kind, cell.source) for cell in story], (
        STALE
    )
    for cell, told in zip(cells, story, strict=True):
        assert set(told.shown) <= {line.strip() for line in maker.printed(cell).splitlines()}, STALE


def test_the_page_was_understood(maker):
    story = maker.cells(maker.PAGE.read_text(encoding="utf-8"))
    commands = [cell.source.split()[1] for cell in story if cell.source.startswith("!epivote")]
    assert {"inspect", "aggregate", "gold", "review", "explain", "report"} <= set(commands)
    assert sum(bool(cell.shown) for cell in story) > 10
    assert not any("```" in cell.source for cell in story if cell.kind == "code")


def test_blocks_become_cells(maker):
    page = "# T\n\n```console\n$ epivote a\nshown\n...\n$ epivote b\n```\n\nSo.\n\n```pycon\n>>> x = 1\n>>> x\n1\n>>> y = 2\n```\n"
    assert maker.cells(page) == [
        maker.Cell("code", maker.PLAIN),
        maker.Cell("markdown", "# T"),
        maker.Cell("code", "!epivote a", ("shown",)),
        maker.Cell("code", "!epivote b"),
        maker.Cell("markdown", "So."),
        maker.Cell("code", "x = 1\nx", ("1",)),
        maker.Cell("code", "y = 2"),
    ]


@pytest.mark.slow
def test_the_notebook_runs_and_prints_what_it_shows(maker, tmp_path):
    made = subprocess.run(
        [sys.executable, DOCS / "make_tutorial.py", tmp_path], capture_output=True, text=True, timeout=390
    )
    assert made.returncode == 0, made.stderr
    assert [maker.printed(cell) for cell in kept(tmp_path)] == [maker.printed(cell) for cell in kept(maker.FOLDER)], (
        STALE
    )
