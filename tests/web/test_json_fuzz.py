"""schemathesis against what the JSON interface says of itself: seeded, bounded, no answer that the description does not know."""

import subprocess
import sys
from pathlib import Path

import pytest

from asking import Visitor

NOT_HERE = {  # checks left out, and why
    "positive_data_acceptance": "a name of the right length may still be unprintable, or not be offered",
    "ignored_auth": "after some wrong keys an address must wait; tests/web/test_attacks_secrets.py tries them",
}
TOOL = Path(sys.executable).parent / "schemathesis"
PATIENCE = 600


def keeps_to_its_description(running, folder, examples):
    """Every edge case of the description, and so many random requests to each operation."""
    where = [f"{running.address}/api/v1/openapi.json", "--header", f"Authorization: Bearer {running.key}"]
    bounds = ["--seed", "2022", "--max-examples", str(examples), "--generation-database", "none", "--no-color"]
    bounds += ["--exclude-checks", ",".join(NOT_HERE)]
    done = subprocess.run(
        [str(TOOL), "run", *where, *bounds], capture_output=True, text=True, cwd=folder, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    with Visitor(running) as visitor:
        assert visitor.get("/health").text.strip() == "ok"


@pytest.mark.slow
def test_the_json_interface_keeps_to_its_description(serve_here, tmp_path):
    keeps_to_its_description(serve_here(), tmp_path, 10)


@pytest.mark.slow
def test_the_json_interface_keeps_to_its_description_for_long(database, serve_here, tmp_path):
    keeps_to_its_description(serve_here(database=database), tmp_path, 100)
