"""One defect in a copy of the project, and the tests that could notice it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal

from epivote.kernels.library import ENDING, loops
from mutants import notes
from mutants.defects import Defect
from mutants.sample import is_loop, package_of
from mutants.touched import Touched
from mutants.warm import Run, Warm

COPIED = ("src", "tests", "docs", "examples", "experiments", "benchmarks", "mutants", ".ci")
EVERYWHERE = (  # what runs on import, decorators for example; what is looked for in the text of every file
    "tests/project/test_signatures.py",
    "tests/project/test_encodings.py",
)
OF_LOOPS = ("tests/kernels/", "tests/engines/", "tests/formats/test_plain_text.py", "tests/estimate/test_starts.py")
QUICK = 0.2  # seconds; such tests of the same package are tried on what runs on import: coverage names one test only
LONG = 1.0  # seconds; longer tests come last
MOST = 120.0  # seconds of tests that are tried at all; a round number
FIRST = 10.0  # seconds of tests that are tried before the others are even imported; a round number
GRACE = 60.0  # seconds beyond three times what the tests usually take, of the processor
WAITING = 10  # times as long by the clock: a machine that is busy otherwise must not make a test look as if it hung
IDLE = 150.0  # seconds without any work after which tests hang; more than a test waits for anything
LOOK = 0.5  # seconds between looks at whether the tests have ended

Stage = Literal["all", "likeliest", "others"]
"""Which of the tests that could notice a defect are run."""

_started: dict[Path, Warm] = {}


@dataclass(frozen=True)
class Outcome:
    """What became of a defect: `killed` by a test, `timeout`, `survived`, or `untested` where no test runs the line;
    `equivalent` if it was not tried because it changes nothing; `uncompiled` if the compiler refused it.
    """

    key: str
    status: str
    by: str
    tests: int
    seconds: float


def covering_tests(defect: Defect, touched: Touched, root: Path) -> list[str]:
    """The tests that run the line; where it runs on import, those that run what uses it.

    Coverage does not see loops in C++: all tests of what calls them are named.
    """
    if is_loop(defect.file):
        return _likely_first({test for test in touched.seconds if test.startswith(OF_LOOPS)}, defect, touched)
    body, found = _lines_of_function(defect, root), set[str]()
    if defect.line in body:
        found = touched.by(defect.file, _lines_of_statement(defect, root))
    if not found:
        found = touched.by(defect.file, body)
    if not found:
        found = touched.by_file(defect.file) | _users(_name(defect, root), touched, root)
    if defect.line not in body:
        found |= {test for test in touched.seconds if _is_own(test, defect) and touched.seconds[test] < QUICK}
    return _likely_first(found, defect, touched)


def _likely_first(tests: set[str], defect: Defect, touched: Touched) -> list[str]:
    """Quick tests before long ones, and among them the package's own before those of quick files.

    Tests of a file stay together and keep its fixtures.
    """
    cost: dict[str, float] = {}
    for test in tests:
        cost[_file(test)] = cost.get(_file(test), 0.0) + touched.seconds.get(test, 0.0)
    rank = {file: (not _is_own(file, defect), seconds, file) for file, seconds in cost.items()}

    def place(test: str) -> tuple[object, ...]:
        seconds = touched.seconds.get(test, 0.0)
        return seconds > LONG, rank[_file(test)], seconds, test

    return sorted(tests, key=place)


def _is_own(test: str, defect: Defect) -> bool:
    return test.startswith("tests/kernels/" if is_loop(defect.file) else f"tests/{package_of(defect.file)}/")


def _at(stage: Stage, tests: list[str], touched: Touched) -> list[str]:
    """The first seconds of tests, or the others: most defects are noticed before all files of tests are imported.

    Where hundreds of tests run a line, the last ones are left out: a test that notices is seldom among them only.
    """
    spent = list(accumulate(touched.seconds.get(test, 0.0) for test in tests))
    cut, end = (sum(seconds <= limit for seconds in spent) for limit in (FIRST, MOST))
    return {"all": tests, "likeliest": tests[:cut], "others": tests[cut:end]}[stage]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _lines_of_statement(defect: Defect, root: Path) -> range:
    """Coverage puts a statement of several lines down to its first."""
    tree = ast.parse((root / defect.file).read_text(encoding="utf-8"))
    holding = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= defect.line <= (node.end_lineno or node.lineno)
    ]
    innermost = max(holding, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    simple = not hasattr(innermost, "body")
    return (
        range(innermost.lineno, (innermost.end_lineno or innermost.lineno) + 1)
        if simple
        else range(defect.line, defect.line + 1)
    )


def _lines_of_function(defect: Defect, root: Path) -> range:
    tree = ast.parse((root / defect.file).read_text(encoding="utf-8"))
    name = defect.function.rpartition(".")[2]
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name != name:
            continue
        if node.lineno <= defect.line <= (node.end_lineno or 0):
            return range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    return range(0)


def _name(defect: Defect, root: Path) -> str:
    """Of the function, class or constant that holds the defect."""
    text = (root / defect.file).read_text(encoding="utf-8").splitlines()[defect.line - 1]
    assigned = re.match(r"([A-Za-z_]\w*)(: [^=]+)? = ", text)
    return defect.function.partition(".")[0] or (assigned.group(1) if assigned else "")


def _users(name: str, touched: Touched, root: Path) -> set[str]:
    """Tests that run a line, anywhere, with this name in it."""
    if not name:
        return set()
    pattern, found = re.compile(rf"\b{re.escape(name)}\b"), set[str]()
    for file in touched.lines:
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        found |= touched.by(file, [place for place, line in enumerate(lines, 1) if pattern.search(line)])
    return found


def make_copy(root: Path, copy: Path) -> None:
    """A copy of the project to plant defects in; compiled code comes along."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for name in COPIED:
        if (root / name).exists():
            shutil.copytree(root / name, copy / name)
    for path in root.iterdir():
        if path.is_file():
            shutil.copy2(path, copy / path.name)


def try_defect(
    defect: Defect, touched: Touched, root: Path, copy: Path, new: Sequence[str] = (), stage: Stage = "all"
) -> Outcome:
    """Plant it, run the tests until one fails, and take it out again; `new` are files of tests to run as well."""
    tests = [*new, *_tests(defect, touched, root)]
    some = _at(stage, tests, touched)
    if not some:
        return Outcome(defect.key, "survived" if tests else "untested", "", len(tests), 0.0)
    target = copy / defect.file
    text = (root / defect.file).read_text(encoding="utf-8")
    began = time.monotonic()
    target.write_text(defect.planted(text), encoding="utf-8")
    libraries = _loops_with(defect, root)
    try:
        compiled = not libraries or _compile(libraries, copy)
        status, by = _run(some, touched, root, copy) if compiled else ("uncompiled", "")
    finally:
        for file in (defect.file, *libraries):
            shutil.copy2(root / file, copy / file)
    return Outcome(defect.key, status, by, len(tests), round(time.monotonic() - began, 1))


def _tests(defect: Defect, touched: Touched, root: Path) -> list[str]:
    """The tests that could notice it, in order."""
    likely, everywhere = covering_tests(defect, touched, root), [each for each in EVERYWHERE if (root / each).exists()]
    if is_loop(defect.file):
        return likely
    on_import = defect.line not in _lines_of_function(defect, root)
    return [*everywhere, *likely] if on_import else [*likely, *everywhere]


def _loops_with(defect: Defect, root: Path) -> list[str]:
    """The libraries to compile anew: the one that is loaded here, and all where each has other vectors."""
    if not is_loop(defect.file):
        return []
    folder = Path(defect.file).parent
    names = sorted(path.name for path in (root / folder).glob(f"*.{ENDING}"))
    return [(folder / name).as_posix() for name in names if name == Path(loops()._name).name or "lanes" in defect.file]


def _compile(libraries: Sequence[str], copy: Path) -> bool:
    """Whether the loops of a copy compile, without a warning."""
    command = [sys.executable, "-m", "mutants.compiling", *(Path(library).name for library in libraries)]
    done = subprocess.run(command, cwd=copy, capture_output=True, check=False, text=True)
    if done.returncode and "error:" not in done.stderr:
        raise SystemExit(f"The loops cannot be compiled, whatever is planted:\n{done.stderr}")
    return done.returncode == 0


def _run(tests: list[str], touched: Touched, root: Path, copy: Path) -> tuple[str, str]:
    selected = copy / "selected.json"
    selected.write_text(json.dumps(tests), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (copy / "src", copy))),
        "PYTHONDONTWRITEBYTECODE": "",  # a planted file is newer than what was compiled of it, and compiled anew
        "EPIVOTE_DATA": os.environ.get("EPIVOTE_DATA", str(root.parent / "shared" / "data")),
        notes.SELECTED: str(selected),
    }
    files = list(dict.fromkeys(map(_file, tests)))
    options = ["-q", "-x", "-p", "mutants.notes", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE"]
    usual = sum(touched.seconds.get(test, 0.0) for test in tests)
    if copy not in _started:
        _started[copy] = Warm(copy, environment)
    arguments, limit = [*options, *files], 3 * usual + GRACE
    code = _watched(_started[copy].start(arguments, copy / "output"), limit)
    if code is None:  # a copy of a process may hang by itself, so that only a new one shows whether the tests do
        with (copy / "output").open("wb") as output:
            command = [sys.executable, "-m", "pytest", *arguments]
            new = subprocess.Popen(
                command,
                cwd=copy,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            code = _watched(new, limit)
    said = (copy / "output").read_text(errors="replace")
    if code is None:
        return "timeout", ""
    if code in (0, 5):
        return "survived", ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return "killed", failed.group(1) if failed else "crash" if code < 0 else "collection"


def _watched(run: Run | subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return _ended(run, seconds)
    finally:
        _end(run)


def _ended(run: Run | subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code; nothing if the tests took more than these seconds of the processor, or did nothing for long."""
    late, spent, since = time.monotonic() + WAITING * seconds, 0.0, time.monotonic()
    while run.poll() is None:
        before, spent = spent, _spent(run.pid)
        since = since if spent == before else time.monotonic()
        if spent > seconds or time.monotonic() > min(late, since + IDLE):
            return None
        time.sleep(LOOK)
    return run.returncode


def _spent(session: int) -> float:
    """Seconds of the processor that the processes of a session took, where the system tells (Linux)."""
    ticks = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _end(run: Run | subprocess.Popen[bytes]) -> None:
    """End what the tests started, however they ended."""
    with suppress(ProcessLookupError):
        os.killpg(run.pid, 9)
    run.wait()
