"""`epivote simulate --crowd`: which options reach a crowd of fixed size."""

from epivote import reference_crowd
from epivote.cli import files
from said import said


def test_what_voters_share_reaches_a_crowd_of_fixed_size(tmp_path, monkeypatch):
    asked = []

    def smaller(*given, **options):
        asked.append((given, options))
        return reference_crowd(6, 6, 4, 2, 0)

    monkeypatch.setattr(files, "reference_crowd", smaller)
    options = ("--copies", 0.2, "--shared-mistakes", 0.3, "--difficulty", 0.4, "--seed", 8)
    said("simulate", "--crowd", "S", "--out", tmp_path, *options)
    said("simulate", "--crowd", "S", "--out", tmp_path)
    assert asked == [
        ((2000, 100, 10, 3, 8), {"copies": 0.2, "shared_mistakes": 0.3, "difficulty": 0.4}),
        ((2000, 100, 10, 3, 0), {"copies": 0.0, "shared_mistakes": 0.0, "difficulty": 0.0}),
    ]
