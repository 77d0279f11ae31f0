"""Which tests run which line: one run of the suite under coverage, kept until source or tests change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from mutants import notes

SETTINGS = """\
[run]
branch = true
parallel = true
concurrency = thread, multiprocessing
sigterm = true
source = {source}
data_file = {data}
context = ${{MUTANTS_TEST-}}
[report]
exclude_also =
    if TYPE_CHECKING:
    \\.\\.\\.$
"""
WANTED = 90.0  # percent of lines and branches of a file; a round number
START = "import coverage\ncoverage.process_startup()\n"


@dataclass(frozen=True)
class Touched:
    """Tests by file and line, and what each of them costs."""

    lines: dict[str, dict[int, frozenset[str]]]
    seconds: dict[str, float]

    def by(self, file: str, lines: Iterable[int]) -> set[str]:
        """The tests that run any of these lines."""
        known = self.lines.get(file, {})
        return set().union(*(known.get(line, frozenset()) for line in lines))

    def by_file(self, file: str) -> set[str]:
        """The tests that run any function of this file."""
        return self.by(file, self.lines.get(file, {}))


def run_suite(root: Path, folder: Path, files: Sequence[str] = ()) -> None:
    """Run the tests of `make test` and `make test-long`, or those of some files, under coverage.

    Processes that they start are covered too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("coverage*"), folder / "touched.json"):
        old.unlink(missing_ok=True)
    settings, starts = folder / "settings.ini", folder / "starts"
    settings.write_text(SETTINGS.format(source=root / "src" / "epivote", data=folder / "coverage"), encoding="utf-8")
    starts.mkdir(exist_ok=True)
    (starts / "sitecustomize.py").write_text(START, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "COVERAGE_PROCESS_START": str(settings),
        "PYTHONPATH": os.pathsep.join(map(str, (root / "src", root, starts))),
        notes.SECONDS: str(folder / "seconds.json"),
    }
    options = ["-q", "-n", "auto", "--dist", "worksteal", "-m", "not slow", "-p", "mutants.notes"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    done = subprocess.run(command, cwd=root, env=environment, check=False)
    if done.returncode:
        raise SystemExit("A test fails without any planted defect: fix it first.")
    subprocess.run(_coverage("combine", folder, "--quiet"), cwd=root, check=True)


def add(root: Path, folder: Path, files: Sequence[str]) -> None:
    """Find what new files of tests run, and add it to what is known of the others."""
    before = read(root, folder)
    run_suite(root, folder / "more", files)
    more = read(root, folder / "more")
    gone = {test for test in before.seconds if test.partition("::")[0] in files}
    seconds = {test: spent for test, spent in before.seconds.items() if test not in gone} | more.seconds
    numbers = {test: number for number, test in enumerate(seconds)}
    lines = {
        file: {
            line: sorted(numbers[test] for test in (before.by(file, [line]) - gone) | more.by(file, [line]))
            for line in before.lines.get(file, {}).keys() | more.lines.get(file, {}).keys()
        }
        for file in before.lines.keys() | more.lines.keys()
    }
    content = {"tests": list(seconds), "seconds": seconds, "lines": lines}
    (folder / "touched.json").write_text(json.dumps(content), encoding="utf-8")


def is_known(folder: Path) -> bool:
    """Whether a run of the suite can be read, `make coverage` for example."""
    return (folder / "touched.json").exists() or (folder / "coverage").exists()


def _coverage(command: str, folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "coverage", command, f"--rcfile={folder / 'settings.ini'}", *options]


def read(root: Path, folder: Path) -> Touched:
    """What the run found; a line that a process started by a test ran counts for all tests of that file of tests."""
    kept = folder / "touched.json"
    if not kept.exists():
        kept.write_text(json.dumps(_combined(root, folder)), encoding="utf-8")
    content = json.loads(kept.read_text(encoding="utf-8"))
    names = content["tests"]
    lines = {
        file: {int(line): frozenset(names[number] for number in numbers) for line, numbers in by_line.items()}
        for file, by_line in content["lines"].items()
    }
    return Touched(lines, content["seconds"])


def _combined(root: Path, folder: Path) -> dict[str, object]:
    data = CoverageData(str(folder / "coverage"))
    data.read()
    seconds = json.loads((folder / "seconds.json").read_text(encoding="utf-8"))
    numbers = {test: number for number, test in enumerate(seconds)}
    of_file: dict[str, list[str]] = {}
    for test in seconds:
        of_file.setdefault(test.partition("::")[0], []).append(test)
    lines = {
        Path(path).relative_to(root).as_posix(): {
            line: sorted(numbers[test] for test in set(_tests(contexts, of_file)) if test in numbers)
            for line, contexts in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    return {"tests": list(seconds), "seconds": seconds, "lines": lines}


def _tests(contexts: Iterable[str], of_file: Mapping[str, list[str]]) -> Iterable[str]:
    for context in contexts:
        before, _, test = context.partition("process of ")
        if test:
            yield from of_file.get(test.partition("::")[0], ())
        elif before:
            yield before


def main() -> None:
    """`make coverage`: run the suite, write pages to look at, name the files that tests reach least."""
    root = Path(__file__).resolve().parent.parent
    folder = root / "build" / "mutants"
    run_suite(root, folder)
    subprocess.run(_coverage("html", folder, "--quiet", f"--directory={root / 'build' / 'coverage'}"), check=True)
    figures = folder / "coverage-figures.json"
    subprocess.run(_coverage("json", folder, "--quiet", "-o", str(figures)), check=True)
    content = json.loads(figures.read_text(encoding="utf-8"))
    shares = {file: each["summary"]["percent_covered"] for file, each in content["files"].items()}
    for file, share in sorted(shares.items(), key=lambda each: each[1]):
        if share < WANTED:
            print(f"{share:5.1f} %  {Path(file).relative_to(root) if Path(file).is_absolute() else file}")
    total = content["totals"]["percent_covered"]
    print(
        f"{total:.1f} % of lines and branches are run by `make test` and `make test-long`; "
        "by line: build/coverage/index.html"
    )


if __name__ == "__main__":
    main()
