import gc
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from epivote.kernels import library

# examples per property: few while somebody waits for the quick tests, more in `make test-slow`, many to search for faults
PROFILES = {"default": 30, "thorough": 100, "search": 2000}
for name, examples in PROFILES.items():
    settings.register_profile(
        name,
        derandomize=name != "search",
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT = Path(__file__).parent.parent
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Those that are looked for. The first opens the same pages with a third of the work: it has no windows to prepare."""
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture
def use_loops(monkeypatch):
    """Decides whether compiled loops do the work, or arrays as on platforms without loops."""

    def decide(wanted):
        monkeypatch.setattr(library, "_libraries", installed if wanted else list)

    installed = library._libraries
    return decide


LONGEST = "test_wheel.py"
"""Builds and installs the project, mostly waiting for the disk and the registries."""
LONG = frozenset((ROOT / "tests" / "long.txt").read_text(encoding="utf-8").split("\n"))
"""Tests that take longer than 0.25 seconds each, as measured; tests/find_long.py writes the list."""


def pytest_itemcollected(item):
    if item.nodeid.partition("[")[0] in LONG:
        item.add_marker(pytest.mark.long)


def pytest_collection_modifyitems(items):
    """Put the longest test first, so that nobody waits for it in the end."""
    items.sort(key=lambda item: item.path.name != LONGEST)


def pytest_collection_finish():
    """Spare the search for garbage from looking through thousands of tests and all libraries again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def numpy_raises():
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with real ballots, which are not part of the project."""
    folder = Path(os.environ.get("EPIVOTE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("real ballots are not here: set EPIVOTE_DATA to a folder with football_quiz/data_quiz_foot.csv")
    return folder


@pytest.fixture(scope="session")
def browser():
    """One browser for each process of tests: a second one could not be driven beside it."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser to open pages in: apt-get install chromium-headless-shell")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield running
        running.close()
