"""Runs tests in copies of a process that has imported the libraries, which takes longer than most trials."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest

LIBRARIES = (  # what most tests import; nothing of the project, and nothing that starts threads
    "alembic.command",
    "hypothesis.strategies",
    "numpy",
    "pandas",
    "polars",
    "rich.console",
    "scipy.optimize",
    "scipy.special",
    "sklearn.metrics",
    "sqlalchemy.dialects.postgresql",
    "starlette.testclient",
    "typer.testing",
    "uvicorn",
)
KNOWN = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # some of them are plugins as well


class Run:
    """A run of pytest in a session of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = int(self._line())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code; nothing before the end."""
        assert self._process.stdout is not None
        if self.returncode is None and select.select([self._process.stdout], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        """The exit code, once there is one."""
        if self.returncode is None:
            self.returncode = int(self._line())
        return self.returncode

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class Warm:
    """A process in the folder of a copy of the project that starts tests quickly; it ends with this one."""

    def __init__(self, copy: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mutants.warm"],
            bufsize=0,
            cwd=copy,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def start(self, arguments: Sequence[str], output: Path) -> Run:
        """Start pytest with these arguments; what it says goes to a file."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([str(output), *arguments]).encode() + b"\n")
        return Run(self._process)


def main() -> None:
    """Read arguments from one line each; tell the number of the process that runs the tests, then its exit code."""
    for library in LIBRARIES:
        with suppress(ImportError):
            import_module(library)
    for line in sys.stdin:
        output, *arguments = json.loads(line)
        child = os.fork()
        if not child:
            _run_tests(output, arguments)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run_tests(output: str, arguments: list[str]) -> NoReturn:
    os.setsid()
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (written, 1), (written, 2)):
        os.dup2(source, target)
    sys.exit(pytest.main([*KNOWN, *arguments]))


if __name__ == "__main__":
    main()
