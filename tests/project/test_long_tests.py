"""The list of tests that the quick suite leaves to `make test-long`."""

import ast
import subprocess
import sys
from pathlib import Path

from find_long import LIST, long_tests
from patience import PATIENCE

ROOT = Path(__file__).parents[2]
LISTED = LIST.read_text(encoding="utf-8").split()


def test_every_listed_test_exists():
    for file in {name.partition("::")[0] for name in LISTED}:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        there = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
        listed = {name.partition("::")[2] for name in LISTED if name.startswith(f"{file}::")}
        assert listed <= there, file


def test_tests_are_long_by_their_mean(tmp_path):
    report = tmp_path / "report.xml"
    case = '<testcase file="t.py" name="{}" time="{}"/>'
    times = {"test_a[1]": 0.5, "test_a[2]": 0.2, "test_b[1]": 0.4, "test_b[2]": 0.05, "test_c": 0.25, "test_d": 3}
    report.write_text(f"<s>{''.join(case.format(*each) for each in times.items())}</s>", encoding="utf-8")
    assert long_tests(report) == ["t.py::test_a", "t.py::test_d"]


def test_listed_tests_are_marked_and_no_others():
    file = "tests/model/test_priors.py"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "long", file]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    marked = {line.partition("[")[0] for line in told.splitlines() if line.startswith(file)}
    assert marked == {name for name in LISTED if name.startswith(f"{file}::")}
    assert marked
