"""Defects in the C++ loops: what is planted there, and which tests are run on a library that has them."""

import subprocess
import sys
from pathlib import Path

import pytest

from epivote.kernels.library import loops
from mutants import __main__ as program
from mutants import trial
from mutants.loops import loop_defects
from mutants.sample import all_defects, package_of
from mutants.touched import Touched
from mutants.trial import Outcome, covering_tests, make_copy, try_defect

ROOT = Path(__file__).parent.parent.parent
FOLDER = "src/epivote/kernels/loops"
FILE = f"{FOLDER}/hard.cpp"
TEXT = """\
// Not below 0 - or 1.
#define TWICE(number)   \\
    (number * 2)
constexpr double LIMIT = 1e-8; // a small one < 3
constexpr uint64_t FACTOR = 0x0F;

template <class Number>
inline int64_t *count(const Number *text, int64_t size, bool known) {
    int64_t found = -1;
    for (int64_t k = 0; k < size; k += 2) {
        if (text[k] == '1' || !(known && k > 3)) continue;
        found += static_cast<int64_t>(text[k]) << 4;
        merge(found, size, *text, known);
    }
    return size ? found : 7;
}
"""


def planted():
    return {(each.line, each.kind, each.old, each.new) for each in loop_defects(FILE, TEXT)}


@pytest.mark.parametrize(
    ("line", "kind", "old", "new"),
    [
        (4, "constant", "1e-8", "2e-08"),
        (5, "constant", "0x0F", "0x10"),
        (9, "sign dropped", "-", ""),
        (10, "constant", "0", "1"),
        (10, "operator", "<", "<="),
        (11, "operator", "==", "!="),
        (11, "operator", "||", "&&"),
        (11, "condition", "text[k] == '1' || !(known && k > 3)", "!(text[k] == '1' || !(known && k > 3))"),
        (11, "condition", "text[k] == '1' || !(known && k > 3)", "false"),
        (11, "sign dropped", "!", ""),
        (11, "word", "continue", "break"),
        (12, "operator", "+=", "="),
        (12, "operator", "<<", ">>"),
        (12, "statement dropped", "found += static_cast<int64_t>(text[k]) << 4;", ""),
        (13, "statement dropped", "merge(found, size, *text, known);", ""),
        (13, "arguments swapped", "found, size", "size, found"),
        (15, "operator", "?", "|| true ?"),
    ],
)
def test_slips_of_every_kind_are_planted(line, kind, old, new):
    assert (line, kind, old, new) in planted()
    defect = next(
        each
        for each in loop_defects(FILE, TEXT)
        if (each.line, each.kind, each.old, each.new) == (line, kind, old, new)
    )
    before, after = (text.splitlines()[line - 1] for text in (TEXT, defect.planted(TEXT)))
    assert after in {before[:place] + new + before[place + len(old) :] for place in range(len(before))} - {before}
    assert defect.function == ("" if line < 8 else "count")


def test_comments_texts_templates_pointers_and_steps_of_loops_are_left_alone():
    assert {line for line, *_ in planted()} == {4, 5, 9, 10, 11, 12, 13, 15}
    assert {old for line, _, old, _ in planted() if line == 10} == {"0", "<", "2"}
    assert not any(old == "1" for line, _, old, _ in planted() if line == 11)


def test_keys_stay_when_lines_move_and_when_comments_change():
    moved = "\n" + TEXT.replace("// a small one < 3", "// another one")
    assert {each.key for each in loop_defects(FILE, TEXT)} == {each.key for each in loop_defects(FILE, moved)}


def test_every_defect_of_the_loops_has_a_key_of_its_own():
    found = all_defects(ROOT, ["loops"])["loops"]
    assert len({each.key for each in found}) == len(found) > 2000
    assert {Path(each.file).name for each in found} >= {"hard.cpp", "soft.cpp", "weigh.hpp", "texts.cpp"}
    assert not any(each.file.endswith("processor.cpp") for each in found)
    assert package_of(FILE) == "loops"


def some_defect():
    return loop_defects(FILE, TEXT)[0]


def test_all_tests_of_what_calls_the_loops_are_tried_quick_ones_first(tmp_path):
    seconds = {
        "tests/kernels/test_a.py::test_long": 2.0,
        "tests/engines/test_b.py::test": 0.1,
        "tests/kernels/test_a.py::test": 0.3,
        "tests/web/test_c.py::test": 0.1,
    }
    assert covering_tests(some_defect(), Touched({}, seconds), tmp_path) == [
        "tests/kernels/test_a.py::test",
        "tests/engines/test_b.py::test",
        "tests/kernels/test_a.py::test_long",
    ]


@pytest.mark.parametrize(("code", "status"), [(0, "killed"), (1, "uncompiled")])
def test_tests_are_run_if_the_loops_compile_and_the_library_is_put_back(tmp_path, monkeypatch, code, status):
    root, copy, name, compiled = tmp_path / "project", tmp_path / "copy", Path(loops()._name).name, []
    (root / FOLDER).mkdir(parents=True)
    (root / FILE).write_text(TEXT)
    for library in ("loops_other.so", name):
        (root / FOLDER / library).write_text("as it was")
    make_copy(root, copy)

    def compile_it(command, cwd, **_):
        compiled.append(command[3:])
        assert (cwd / FILE).read_text() != TEXT
        (cwd / FOLDER / name).write_text("with a defect")
        return subprocess.CompletedProcess(command, code, stderr="hard.cpp:3:1: error: unknown\n" if code else "")

    monkeypatch.setattr(trial.subprocess, "run", compile_it)
    monkeypatch.setattr(trial, "_run", lambda *_: ("killed", "by it"))
    found = try_defect(some_defect(), Touched({}, {"tests/kernels/test_a.py::test": 0.1}), root, copy)
    assert (found.status, found.by, compiled) == (status, "by it" if code == 0 else "", [[name]])
    assert (copy / FILE).read_text() == TEXT
    assert (copy / FOLDER / name).read_text() == "as it was"


def test_trials_end_where_there_is_no_compiler(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, stderr="No module named ziglang\n")
    monkeypatch.setattr(trial.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(SystemExit, match="No module named ziglang"):
        trial._compile(["loops.so"], tmp_path)


def test_vectors_are_compiled_for_all_processors(tmp_path):
    (tmp_path / FOLDER).mkdir(parents=True)
    names = [f"{FOLDER}/{name}.{trial.ENDING}" for name in ("loops_v2", "loops_v3")]
    for name in names:
        (tmp_path / name).touch()
    assert trial._loops_with(loop_defects(f"{FOLDER}/lanes.hpp", TEXT)[0], tmp_path) == names


def test_what_the_compiler_refuses_is_tried_once_and_does_not_count(tmp_path, monkeypatch, capsys):
    ran = []

    def try_it(defect, *_):
        ran.append(defect)
        return Outcome(defect.key, "uncompiled", "", 1, 0.0)

    monkeypatch.setattr(program, "FOLDER", tmp_path)
    monkeypatch.setattr(program, "make_copy", lambda *_: None)
    monkeypatch.setattr(program, "try_defect", try_it)
    monkeypatch.setattr(program, "all_defects", lambda *_: {"loops": [some_defect()]})
    monkeypatch.setattr(program.touched, "is_known", lambda _: True)
    monkeypatch.setattr(program.touched, "read", lambda *_: Touched({}, {}))
    monkeypatch.setattr(sys, "argv", ["mutants", "--count", "1"])
    assert program.main() == 0
    assert ran == [some_defect()]
    assert "0 of 0 noticed" in capsys.readouterr().out


def test_the_page_is_not_written_for_a_part_of_the_source(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mutants", "--page", "--package", "loops"])
    with pytest.raises(SystemExit):
        program._options()
    assert "--page is for samples of the whole source" in capsys.readouterr().err
