"""Every usual name of a column that the documentation lists is recognised."""

import re
from pathlib import Path

import pytest

from epivote import read_ballots

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
KINDS, CANONICAL = ["voter", "instance", "ticks"], ["voter", "instance", "alternatives"]


def listed(kind):
    row = re.search(rf"^\| {kind} \| (.*) \|$", PAGE, re.MULTILINE)
    return row[1].split(", ")


@pytest.mark.parametrize("place", range(3))
def test_columns_are_recognised_by_every_usual_name(place, tmp_path):
    kind = KINDS[place]
    assert listed(kind)[0] == CANONICAL[place]
    for name in listed(kind):
        header = [*CANONICAL[:place], name, *CANONICAL[place + 1 :]]
        (tmp_path / "b.csv").write_text(f"{','.join(header)}\nann,q1,cat|owl\nbob,q1,cat\n")
        assert dict(read_ballots(tmp_path / "b.csv").items()) == {
            ("ann", "q1"): {"cat", "owl"},
            ("bob", "q1"): {"cat"},
        }, name


@pytest.mark.parametrize(
    ("kind", "names"), [("voter", "VOTER_COLUMNS"), ("instance", "INSTANCE_COLUMNS"), ("ticks", "LIST_COLUMNS")]
)
def test_the_documentation_lists_all_of_them(kind, names):
    from epivote.data import columns

    assert set(getattr(columns, names)) == set(listed(kind))
