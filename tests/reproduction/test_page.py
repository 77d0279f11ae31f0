"""The committed page names what is there, and experiments use public names only."""

import ast
import csv
import re
from pathlib import Path

import pytest

import epivote
from experiments.page.front import page, publish
from experiments.page.sheet import Sheet
from experiments.page.style import LOOKS, figure
from experiments.reproduce import PARTS, SECTIONS

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "explanation" / "reproduction.md"
FOLDER = ROOT / "docs" / "explanation" / "reproduction"
ALLOWED_MODULES = {"epivote", "epivote.report.plots"}


def test_every_file_the_page_names_is_there_and_no_other():
    named = set(re.findall(r"\(reproduction/([^)]+)\)", PAGE.read_text()))
    assert named == {path.name for path in FOLDER.iterdir()}


def test_every_picture_has_its_numbers_and_both_kinds():
    pictures = {path.stem for path in FOLDER.glob("*.svg")}
    assert len(pictures) >= 10
    for name in pictures:
        assert (FOLDER / f"{name}.png").is_file()
        assert len((FOLDER / f"{name}.csv").read_text().splitlines()) > 1


def test_the_pictures_stay_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3_000_000


def test_tables_on_the_page_are_the_numbers_beside_it():
    """Table 1 as printed on the page is table1.csv, rounded."""
    text = PAGE.read_text()
    for name, *numbers in list(csv.reader((FOLDER / "table1.csv").read_text().splitlines()))[1:]:
        (row,) = [row for row in text.splitlines() if row.startswith(f"| {name} |") and row.count("|") == 8]
        shown = [float(cell) for cell in row.split("|")[2:8]]
        assert shown == pytest.approx([float(number) for number in numbers], abs=6e-4)


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").rglob("*.py")), ids=lambda path: path.stem)
def test_experiments_use_public_names_only(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "epivote":
            assert node.module in ALLOWED_MODULES
            if node.module == "epivote":
                assert {alias.name for alias in node.names} <= set(epivote.__all__)
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("epivote.") for alias in node.names)


def test_experiments_are_small_modules():
    for path in (ROOT / "experiments").rglob("*.py"):
        assert len(path.read_text().splitlines()) < 300, path.name


def test_every_section_can_be_asked_for_by_name():
    assert list(SECTIONS) == [section.name for part in PARTS.values() for section in part]
    assert len(SECTIONS) == sum(map(len, PARTS.values()))


def test_a_page_is_published_with_its_pictures_and_without_old_ones(tmp_path):
    out, docs = tmp_path / "out", tmp_path / "docs"
    out.mkdir()
    (docs / "reproduction").mkdir(parents=True)
    (docs / "reproduction" / "old.svg").write_text("")
    sheet = Sheet(out)
    drawn, (ax,) = figure(1, 1, height=2)
    ax.plot([0, 1], [0, 1])
    sheet.picture("line", drawn, "A line.", ["x", "y"], [[0, 0], [1, 1]])
    sheet.found("lines are straight", "so they are")
    publish(page({"paper": {"one": sheet}}, {"paper": 1.0}), out, docs)
    assert {path.name for path in (docs / "reproduction").iterdir()} == {"line.svg", "line.png", "line.csv"}
    assert "| lines are straight | so they are |" in (docs / "reproduction.md").read_text()


def test_looks_that_meet_in_one_figure_can_be_told_apart():
    """Also in grey print: two rules never share mark and dashes."""
    from experiments.beyond import crowds, quiz_rules
    from experiments.paper import accuracy, initialisations

    for rules in (accuracy.RULES, initialisations.RULES, crowds.CURVES, quiz_rules.RULES[:-1]):
        grey = [LOOKS[rule][1:] for rule in rules]
        assert len(set(grey)) == len(grey)
        assert len({LOOKS[rule][0] for rule in rules}) == len(grey)
