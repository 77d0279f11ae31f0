import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT = Path(__file__).parent.parent


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
