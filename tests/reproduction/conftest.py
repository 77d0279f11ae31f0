import csv
import math
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent.parent / "golden"
CLOCKED = "time.csv"


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """A machine that has only the repository."""
    monkeypatch.setenv("EPIVOTE_DATA", str(tmp_path / "nothing"))


@pytest.fixture
def matches_golden():
    """Compares every CSV of a run with the accepted one; what differs is written beside it."""

    def check(folder: Path, name: str) -> None:
        accepted = GOLDEN / name
        found = {path.name: path.read_text() for path in sorted(folder.glob("*.csv")) if path.name != CLOCKED}
        known = {path.name: path.read_text() for path in sorted(accepted.glob("*.csv"))}
        wrong = [each for each in found if each not in known or not same_numbers(found[each], known[each])]
        rejected = GOLDEN / f"{name}.new"
        for each in wrong:
            rejected.mkdir(exist_ok=True)
            (rejected / each).write_text(found[each])
        accept = f"if this is meant: cp tests/golden/{name}.new/*.csv tests/golden/{name}/"
        assert not wrong, f"{', '.join(wrong)} changed; {accept}"
        assert set(found) == set(known), "the run must write exactly the accepted tables"

    return check


def same_numbers(one: str, other: str) -> bool:
    """Equal cell by cell, numbers up to rounding of the last places."""
    rows, others = list(csv.reader(one.splitlines())), list(csv.reader(other.splitlines()))
    return len(rows) == len(others) and all(
        len(a) == len(b) and all(map(_same, a, b)) for a, b in zip(rows, others, strict=True)
    )


def _same(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-9)
    except ValueError:
        return one == other
