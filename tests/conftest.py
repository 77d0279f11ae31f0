import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT = Path(__file__).parent.parent
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


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
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no browser to open pages in: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield running
        running.close()
