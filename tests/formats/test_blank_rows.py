"""Rows that are blank, in part or altogether."""

import pytest

from epivote import pack_files, read_export


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
