"""A pytest plugin with two uses, both told by the environment.

While the suite runs under coverage it names the test that runs, here and in every process the test starts, and notes
how long each took. In a trial it keeps the tests that could notice the defect, those of quick files first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import coverage
import pytest

TEST = "MUTANTS_TEST"  # the test that runs now, for processes it starts
SECONDS = "MUTANTS_SECONDS"  # folder for how long tests took
SELECTED = "MUTANTS_SELECTED"  # file with the tests of a trial, in order

_seconds: dict[str, float] = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Lines that run from here on are this test's."""
    running = coverage.Coverage.current()
    if running is not None:
        running.switch_context(item.nodeid)
        os.environ[TEST] = f"process of {item.nodeid}"
    result = yield
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """How long a test took, with what it set up."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Written by the process that hears of all tests."""
    if SECONDS in os.environ and not hasattr(session.config, "workerinput"):
        Path(os.environ[SECONDS]).write_text(json.dumps(_seconds), encoding="utf-8")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a trial, in its order of files; those of one file stay in the order in which they stand there.

    A test may need what an earlier one of its file has left behind.
    """
    if SELECTED in os.environ:
        wanted = json.loads(Path(os.environ[SELECTED]).read_text(encoding="utf-8"))
        files = [name.partition("::")[0] for name in wanted]
        starts = [not place or files[place] != files[place - 1] for place in range(len(files))]
        rank = dict(zip(wanted, accumulate(starts), strict=True))
        for item in items:  # a file may be named whole
            rank.setdefault(item.nodeid, rank.get(item.nodeid.partition("::")[0], 0))
        items[:] = sorted((each for each in items if rank[each.nodeid]), key=lambda each: rank[each.nodeid])
