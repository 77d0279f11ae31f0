"""The program that plants defects: what it plants, where, and whether it tells a test that notices from one that does not."""

import ast
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from mutants import page
from mutants.defects import defects_in
from mutants.sample import all_defects, chosen, package_of
from mutants.touched import Touched
from mutants.trial import Outcome, covering_tests, make_copy, try_defect

ROOT = Path(__file__).parent.parent.parent
TEXT = '''\
"""A module."""

LIMIT = 3


def share(part: int, whole: int = 1) -> float:
    """Übersicht: not below 0."""
    if part < 0 or whole <= 0:
        raise ValueError(f"{part} of {whole - 1}")
    found = sorted([part, whole], key=abs)
    return min(found[0] / whole, 1.0)
'''


def planted():
    return {(each.kind, each.old, each.new): each for each in defects_in("m.py", TEXT)}


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("constant", "3", "4"),
        ("constant", "1", "0"),
        ("comparison", "<", "<="),
        ("comparison", "<=", ">="),
        ("and/or", " or ", " and "),
        ("condition dropped", "part < 0 or whole <= 0", "part < 0"),
        ("condition negated", "part < 0 or whole <= 0", "not (part < 0 or whole <= 0)"),
        ("check dropped", 'raise ValueError(f"{part} of {whole - 1}")', "pass"),
        ("arithmetic", "-", "+"),
        ("name", "sorted", "list"),
        ("keyword dropped", ", key=abs", ""),
        ("name", "min", "max"),
        ("end", "0", "-1"),
        ("operand dropped", "found[0] / whole", "found[0]"),
        ("constant", "1.0", "2.0"),
    ],
)
def test_slips_of_every_kind_are_planted(kind, old, new):
    defect = planted()[kind, old, new]
    text = defect.planted(TEXT)
    ast.parse(text)
    assert text == TEXT[: defect.start] + new + TEXT[defect.start + len(old) :]
    assert TEXT.splitlines()[defect.line - 1] != text.splitlines()[defect.line - 1]


def test_types_and_docstrings_are_left_alone():
    assert all(each.line not in (1, 7) for each in planted().values())
    assert not any("int" in each.old for each in planted().values() if each.line == 6)


def test_assertions_are_left_alone():
    text = "def pairs(a, b):\n    assert len(a) > 0\n    return list(zip(a, b[1:], strict=True))\n"
    assert {(each.line, each.kind) for each in defects_in("m.py", text)} == {(3, "slice dropped"), (3, "constant")}


@pytest.fixture(scope="module")
def found():
    return all_defects(ROOT)


def test_every_defect_of_this_project_is_valid_python_under_a_name_of_its_own(found):
    keys = [each.key for defects in found.values() for each in defects]
    assert len(set(keys)) == len(keys) > 10_000
    for defects in found.values():
        for each in defects[::397]:
            text = (ROOT / each.file).read_text(encoding="utf-8")
            assert each.planted(text) != text
            if each.file.endswith(".py"):
                ast.parse(each.planted(text))


def test_keys_stay_when_lines_move():
    moved = TEXT.replace("LIMIT = 3\n", "LIMIT = 3\nMORE = None\n")
    keys = {each.key for each in defects_in("m.py", TEXT)}
    assert keys == {each.key for each in defects_in("m.py", moved)}
    assert keys.isdisjoint(each.key for each in defects_in("other.py", TEXT))


def test_a_sample_depends_on_its_seed_and_reaches_every_package(found):
    sample = chosen(found, 300, seed=1)
    assert sample == chosen(found, 300, seed=1) != chosen(found, 300, seed=2)
    assert 290 <= len(sample) <= 400
    assert {package_of(each.file) for each in sample} == set(found)
    assert len({(each.file, each.line) for each in sample}) == len(sample)


def test_the_first_defects_of_a_sample_reach_every_package_and_come_in_random_order(found):
    """The trials may end anywhere."""
    sample = [package_of(each.file) for each in chosen(found, 300, seed=1)]
    least = Counter({package: min(12, len({(each.file, each.line) for each in found[package]})) for package in found})
    first, then = sample[: least.total()], sample[least.total() :]
    assert Counter(first) == least
    assert len(then) > 100
    for part in (first, then):
        assert sum(before != after for before, after in pairwise(part)) > len(part) / 2, "not package by package"


@pytest.fixture
def project(tmp_path):
    """A package of one module with a test for one of its two functions."""
    root = tmp_path / "project"
    (root / "src" / "epivote").mkdir(parents=True)
    (root / "tests").mkdir()
    shutil.copytree(ROOT / "mutants", root / "mutants")
    (root / "src" / "epivote" / "__init__.py").touch()
    (root / "src" / "epivote" / "m.py").write_text(
        "def over(x):\n    return x > 3\n\n\ndef idle(x):\n    return x + 1\n"
    )
    (root / "tests" / "test_m.py").write_text(
        "from epivote.m import idle, over\n\n\ndef test_over():\n    assert over(4)\n    assert not over(3)\n\n\n"
        "def test_idle():\n    idle(1)\n"
    )
    return root


@pytest.mark.slow
def test_a_trial_tells_what_was_noticed_and_by_which_test(project, tmp_path):
    tests = ["tests/test_m.py::test_over", "tests/test_m.py::test_idle"]
    lines = {2: frozenset(tests[:1]), 6: frozenset(tests[1:])}
    touched = Touched({"src/epivote/m.py": lines}, dict.fromkeys(tests, 0.1))
    make_copy(project, tmp_path / "copy")
    text = (project / "src/epivote/m.py").read_text()
    by_place = {(each.line, each.old, each.new): each for each in defects_in("src/epivote/m.py", text)}
    noticed, missed = by_place[2, ">", ">="], by_place[6, "+", "-"]
    assert covering_tests(noticed, touched, project) == tests[:1]
    first = try_defect(noticed, touched, project, tmp_path / "copy")
    assert (first.status, first.by, first.tests) == ("killed", tests[0], 1)
    second = try_defect(missed, touched, project, tmp_path / "copy")
    assert (second.status, second.tests) == ("survived", 1)
    assert (tmp_path / "copy" / "src/epivote/m.py").read_text() == text
    nobody = try_defect(missed, Touched({}, {}), project, tmp_path / "copy")
    assert nobody.status == "untested"


def test_the_page_counts_by_package_and_gives_reasons():
    found = [each for each in defects_in("src/epivote/data/m.py", TEXT) if each.kind == "comparison"][:4]
    assert len(found) == 4
    states = ["killed", "timeout", "survived", "survived"]
    outcomes = {each.key: Outcome(each.key, status, "", 5, 1.0) for each, status in zip(found, states, strict=True)}
    text = page.page(found, outcomes, {found[3].key: "it is the same"}, page.which_sample(5))
    assert "| data | 4 | 1 | 2 | 1 | 66.7% |" in text
    assert "| **all** | 4 | 1 | 2 | 1 | 66.7% |" in text
    assert "This run: 4 defects, seed 5, which no test was written from.\n" in text
    assert page.which_sample(2022) == "seed 2022, which tests were also written from"
    missed, same = text.split("## Not noticed")[1].split("## Equivalent")
    assert found[2].key in missed
    assert found[3].key not in missed
    assert "it is the same" in same


def test_the_page_lists_defects_in_reading_order():
    found = [each for each in defects_in("src/epivote/data/m.py", TEXT) if each.kind in ("check dropped", "name")]
    found += [each for each in defects_in("src/epivote/data/n.py", TEXT) if each.kind == "check dropped"]
    outcomes = {each.key: Outcome(each.key, "survived", "", 5, 1.0) for each in found}
    text = page.page(found[::-1], outcomes, {}, page.which_sample(5))
    places = [text.index(each.key) for each in found]
    assert places == sorted(places)


def test_what_runs_on_import_is_tried_with_the_tests_that_use_it(tmp_path):
    """Coverage puts a constant and a default down to whoever happened to import the module."""
    file, text = "src/epivote/m.py", "LIMIT = 3\n\n\ndef over(x, limit=7):\n    return x > min(LIMIT, limit)\n"
    (tmp_path / "src" / "epivote").mkdir(parents=True)
    (tmp_path / file).write_text(text)
    lines = {1: frozenset(["tests/test_a.py::importing"]), 4: frozenset(["tests/test_a.py::importing"])}
    touched = Touched({file: lines | {5: frozenset(["tests/test_m.py::using"])}}, {})
    for defect in defects_in(file, text):
        expected = {"tests/test_m.py::using"} | ({"tests/test_a.py::importing"} if defect.line == 1 else set())
        assert set(covering_tests(defect, touched, tmp_path)) == expected, defect
