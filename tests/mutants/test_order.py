"""Which tests a trial runs first: quick ones, those of the same package, and few at the beginning."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mutants import __main__ as program
from mutants import notes, touched, trial
from mutants.defects import defects_in
from mutants.touched import Touched
from mutants.trial import Outcome, covering_tests, make_copy, try_defect
from patience import in_time

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


@pytest.mark.parametrize(("stage", "part"), [("likeliest", slice(1)), ("others", slice(1, None)), ("all", slice(None))])
def test_the_first_seconds_of_tests_come_before_the_others(tmp_path, monkeypatch, stage, part):
    root, ran = project(tmp_path / "project"), []
    make_copy(root, tmp_path / "copy")
    monkeypatch.setattr(trial, "_run", lambda tests, *_: ran.append(tests) or ("killed", "by it"))
    seconds = {"tests/data/test_a.py::test": 0.1, "tests/test_b.py::test": 40.0, "tests/test_c.py::test": 79.0}
    known = Touched({FILE: {2: frozenset(seconds)}}, seconds)
    found = try_defect(defect(), known, root, tmp_path / "copy", stage=stage)
    assert ran == [list(seconds)[part]]
    assert (found.status, found.by, found.tests) == ("killed", "by it", 3)


@pytest.mark.parametrize(("first", "then", "runs"), [("killed", "", 1), ("timeout", "", 1), ("survived", "killed", 2)])
def test_others_are_run_only_where_the_likeliest_notice_nothing(tmp_path, monkeypatch, first, then, runs):
    ran = []

    def try_it(planted, _known, _root, _copy, _new, stage):
        ran.append(stage)
        return Outcome(planted.key, first if stage == "likeliest" else then, "", 1, 0.0)

    monkeypatch.setattr(program, "FOLDER", tmp_path)
    monkeypatch.setattr(program, "make_copy", lambda *_: None)
    monkeypatch.setattr(program, "try_defect", try_it)
    monkeypatch.setattr(program, "_state", lambda: {FILE: "now"})
    for _ in range(2):
        found = program.run([defect()], Touched({}, {}), workers=1, again=False)
        assert ran == ["likeliest", "others"][:runs], "what was found is kept"
        assert found[defect().key].status == (then or first)


def test_no_trial_begins_after_the_minutes_given(tmp_path, monkeypatch):
    planted, clock, tried = defects_in(FILE, TEXT), [0.0], []
    assert len(planted) >= 4

    def try_it(each, *_):
        tried.append(each)
        clock[0] += 30.0
        return Outcome(each.key, "killed", "", 1, 30.0)

    monkeypatch.setattr(program, "FOLDER", tmp_path)
    monkeypatch.setattr(program, "make_copy", lambda *_: None)
    monkeypatch.setattr(program, "try_defect", try_it)
    monkeypatch.setattr(program, "_state", lambda: {FILE: "now"})
    monkeypatch.setattr(program.time, "monotonic", lambda: clock[0])
    for minutes, count in [(0.5, 2), (0.0, 3)]:  # a trial may begin at the last moment
        found = program.run(planted, Touched({}, {}), workers=1, again=False, minutes=minutes)
        assert tried == planted[:count]
        assert list(found) == [each.key for each in planted[:count]], "what was found is kept, in order"


def test_what_make_coverage_found_is_used(tmp_path):
    assert not touched.is_known(tmp_path)
    (tmp_path / "coverage").touch()
    assert touched.is_known(tmp_path)
    (tmp_path / "coverage").unlink()
    (tmp_path / "touched.json").write_text(json.dumps({}))
    assert touched.is_known(tmp_path)


def test_new_files_of_tests_are_added_to_what_is_known(tmp_path, monkeypatch):
    known = {
        tmp_path: Touched({FILE: {2: frozenset(["a::x", "b::y"]), 3: frozenset(["a::x"])}}, {"a::x": 1.0, "b::y": 2.0}),
        tmp_path / "more": Touched(
            {FILE: {3: frozenset(["b::z"])}, "other.py": {1: frozenset(["b::z"])}}, {"b::z": 3.0}
        ),
    }
    ran = []
    with monkeypatch.context() as patch:
        patch.setattr(touched, "read", lambda _root, folder: known[folder])
        patch.setattr(touched, "run_suite", lambda _root, folder, files: ran.append((folder, files)))
        touched.add(tmp_path, tmp_path, ["b"])
    assert ran == [(tmp_path / "more", ["b"])]
    found = touched.read(tmp_path, tmp_path)
    assert found.seconds == {"a::x": 1.0, "b::z": 3.0}
    assert found.lines == {
        FILE: {2: frozenset(["a::x"]), 3: frozenset(["a::x", "b::z"])},
        "other.py": {1: frozenset(["b::z"])},
    }


class Item:
    def __init__(self, nodeid):
        self.nodeid = nodeid


def test_tests_of_a_file_stay_in_its_order(tmp_path, monkeypatch):
    wanted = ["b.py::z", "b.py::x", "a.py::y", "b.py::w", "c.py"]
    (tmp_path / "selected.json").write_text(json.dumps(wanted))
    monkeypatch.setenv(notes.SELECTED, str(tmp_path / "selected.json"))
    items = [
        Item(name) for name in ("a.py::other", "a.py::y", "b.py::w", "b.py::x", "b.py::z", "c.py::one", "c.py::two")
    ]
    notes.pytest_collection_modifyitems(items)
    assert [each.nodeid for each in items] == ["b.py::x", "b.py::z", "a.py::y", "b.py::w", "c.py::one", "c.py::two"]


@pytest.mark.parametrize(("line", "first"), [(1, True), (2, False)])
def test_what_is_looked_for_everywhere_comes_first_where_something_runs_on_import(tmp_path, monkeypatch, line, first):
    root, ran = project(tmp_path / "project"), []
    (root / FILE).write_text("def over(x=2):\n    return x > 3\n")
    for name in trial.EVERYWHERE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    monkeypatch.setattr(trial, "_run", lambda tests, *_: ran.append(tests) or ("killed", ""))
    make_copy(root, tmp_path / "copy")
    planted = next(each for each in defects_in(FILE, (root / FILE).read_text()) if each.line == line)
    known = Touched({FILE: {2: frozenset(["tests/data/test_m.py::test"])}}, {"tests/data/test_m.py::test": 0.1})
    try_defect(planted, known, root, tmp_path / "copy")
    own = ["tests/data/test_m.py::test"]
    assert ran == [[*trial.EVERYWHERE, *own] if first else [*own, *trial.EVERYWHERE]]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell what a process takes")
@pytest.mark.parametrize(
    ("code", "seconds", "waiting", "idle", "ended"),
    [
        ("raise SystemExit(3)", 60.0, 10, 60.0, 3),
        ("while True: pass", 0.2, 1000, 60.0, None),
        ("import time; time.sleep(60)", 0.1, 2, 60.0, None),
        ("import time; time.sleep(60)", 60.0, 1000, 0.3, None),
        ("import time; time.sleep(0.3)", 0.2, 1000, 60.0, 0),
    ],
)
def test_a_test_hangs_if_it_takes_too_much_of_the_processor_or_far_too_long(
    monkeypatch, code, seconds, waiting, idle, ended
):
    monkeypatch.setattr(trial, "WAITING", waiting)
    monkeypatch.setattr(trial, "IDLE", idle)
    with in_time(subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=True)) as run:
        try:
            assert trial._ended(run, seconds) == ended
        finally:
            trial._end(run)
