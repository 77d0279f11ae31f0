"""The page on the design names what exists."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
MODULES = sorted(set(re.findall(r"`(epivote(?:\.[a-z_]+)+)`", PAGE)))
STEPS = re.findall(r"^\| \d+ \| `(epivote[\w.]+)` \| `([\w.]+)` \|", PAGE, re.MULTILINE)
PATHS = sorted(set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.(?:py|md))?)`", PAGE)))
PLACES = (ROOT, ROOT / "src", ROOT / "src" / "epivote")


def test_the_page_was_understood():
    assert len(MODULES) > 15
    assert len(STEPS) == 14 + 5
    assert len(PATHS) > 15


@pytest.mark.parametrize("name", MODULES)
def test_every_module_exists(name):
    importlib.import_module(name)


@pytest.mark.parametrize(("module", "function"), STEPS)
def test_every_function_on_the_way_of_a_ballot_exists(module, function):
    found = importlib.import_module(module)
    for part in function.split("."):
        found = getattr(found, part)
    assert callable(found)


@pytest.mark.parametrize("path", PATHS)
def test_every_file_and_folder_exists(path):
    assert any((place / path).exists() for place in PLACES)


def test_every_package_is_in_the_table_of_layers():
    packages = {each.parent.name for each in (ROOT / "src" / "epivote").glob("*/__init__.py")}
    assert packages <= {name.split(".")[1] for name in MODULES}


@pytest.mark.parametrize(
    "package", ["data", "model", "kernels", "engines", "estimate", "evaluate", "formats", "report", "cli"]
)
def test_the_map_of_a_package_names_its_modules_and_no_others(package):
    folder = ROOT / "src" / "epivote" / package
    said = importlib.import_module(f"epivote.{package}").__doc__
    assert set(re.findall(r"\b[a-z_]+\.py\b", said)) == {each.name for each in folder.glob("[a-z]*.py")}
