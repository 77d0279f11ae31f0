"""Which tests a trial runs first: quick ones, those of the same package, and few at the beginning."""

import json

import pytest

from mutants import touched, trial
from mutants.defects import defects_in
from mutants.touched import Touched
from mutants.trial import covering_tests, make_copy, try_defect

FILE, TEXT = "src/epivote/data/m.py", "def over(x):\n    return x > 3\n"


def defect():
    return next(each for each in defects_in(FILE, TEXT) if each.new == ">=")


def project(folder):
    (folder / "src" / "epivote" / "data").mkdir(parents=True)
    (folder / FILE).write_text(TEXT)
    return folder


def test_quick_tests_come_first_and_the_packages_own_before_others(tmp_path):
    seconds = {
        "tests/data/test_m.py::test_long": 1.5,
        "tests/data/test_m.py::test_quick": 0.2,
        "tests/data/test_m.py::test_quicker": 0.1,
        "tests/web/test_cheap.py::test": 0.01,
        "tests/web/test_dear.py::test": 0.9,
        "tests/web/test_dear.py::test_longest": 9.0,
    }
    known = Touched({FILE: {2: frozenset(seconds)}}, seconds)
    assert covering_tests(defect(), known, project(tmp_path)) == [
        "tests/data/test_m.py::test_quicker",
        "tests/data/test_m.py::test_quick",
        "tests/web/test_cheap.py::test",
        "tests/web/test_dear.py::test",
        "tests/data/test_m.py::test_long",
        "tests/web/test_dear.py::test_longest",
    ]


def test_what_runs_on_import_is_tried_with_quick_tests_of_the_same_package(tmp_path):
    file, text = "src/epivote/data/n.py", "LIMIT = 3\n"
    (project(tmp_path) / file).write_text(text)
    seconds = {"tests/data/test_a.py::test": 0.1, "tests/data/test_b.py::test": 0.3, "tests/web/test_c.py::test": 0.1}
    tried = covering_tests(defects_in(file, text)[0], Touched({file: {1: frozenset()}}, seconds), tmp_path)
    assert tried == ["tests/data/test_a.py::test"]


@pytest.mark.parametrize(("outcomes", "runs"), [(["killed"], 1), (["timeout"], 1), (["survived", "killed"], 2)])
def test_later_tests_are_run_only_where_the_first_notice_nothing(tmp_path, monkeypatch, outcomes, runs):
    root, ran, coming = project(tmp_path / "project"), [], iter(outcomes)
    make_copy(root, tmp_path / "copy")

    def run(tests, *_):
        ran.append(tests)
        return next(coming), ""

    monkeypatch.setattr(trial, "_run", run)
    seconds = {"tests/data/test_a.py::test": 0.1, "tests/test_b.py::test": 60.0, "tests/test_c.py::test": 61.0}
    found = try_defect(defect(), Touched({FILE: {2: frozenset(seconds)}}, seconds), root, tmp_path / "copy")
    assert ran == [list(seconds)[:1], list(seconds)[1:]][:runs]
    assert (found.status, found.tests) == (outcomes[-1], 3)


def test_what_make_coverage_found_is_used(tmp_path):
    assert not touched.is_known(tmp_path)
    (tmp_path / "coverage").touch()
    assert touched.is_known(tmp_path)
    (tmp_path / "coverage").unlink()
    (tmp_path / "touched.json").write_text(json.dumps({}))
    assert touched.is_known(tmp_path)
