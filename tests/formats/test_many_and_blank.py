"""More names than 16 bits can number, and rows that are blank."""

from types import SimpleNamespace

import numpy as np
import pytest

from epivote import Ballots, pack_files, read_export, write_ballots
from epivote.formats import write as writing

MANY = 2**16 + 2


def test_ballots_of_very_many_are_written_as_they_are(tmp_path):
    """As many voters, instances, alternatives and different ballots: each number is told from the one 2^16 below."""
    write_ballots(Ballots.from_mapping({(f"v{k}", f"z{k}"): {f"a{k}"} for k in range(MANY)}), tmp_path / "b.csv")
    lines = (tmp_path / "b.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["voter,instance,alternatives", *(f"v{k},z{k},a{k}" for k in range(MANY))]


@pytest.mark.parametrize("wide", [False, True])
def test_inclusion_in_very_many_instances_and_of_very_many_alternatives(wide):
    several, one = tuple(f"n{k}" for k in range(MANY)), ("only",)
    ballots = SimpleNamespace(
        instances=one if wide else several,
        alternatives=several if wide else one,
        menu_sizes=np.array([MANY]) if wide else np.ones(MANY, int),
        menu=None,
    )
    posterior = SimpleNamespace(inclusion=np.arange(MANY) / MANY)
    (block,) = writing._inclusion_blocks(SimpleNamespace(ballots=ballots, posterior=posterior))
    assert block["alternative" if wide else "instance"].to_list() == list(several)
    assert set(block["instance" if wide else "alternative"].to_list()) == {"only"}


@pytest.mark.parametrize("row", [",,", ",q1,", "cy,q1,", "ann,q2,"])
def test_rows_without_ticks_leave_nothing_behind_if_they_count_as_missing(tmp_path, row):
    (tmp_path / "b.csv").write_text(f"voter,instance,alternatives\nann,q1,a\n{row}\nbo,q2,b\n", encoding="utf-8")
    packed = pack_files([tmp_path / "b.csv"], tmp_path / "packed", blank="missing")
    read = read_export(tmp_path / "b.csv", blank="missing").ballots
    expected = {("ann", "q1"): {"a"}, ("bo", "q2"): {"b"}}
    assert dict(packed.items()) == dict(read.items()) == expected
    assert "" not in packed.voters
    assert "" not in read.voters
    assert set(packed.voters) >= {"ann", "bo"}
