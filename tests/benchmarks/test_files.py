"""The page about large files: what it says follows from what was measured."""

import pytest

from benchmarks.files import median, report

RUNS = {
    "alone": [{"read": 2.0, "CPU": 2.0, "memory": 1.0, "all": 3.0}],
    "reading": [{"read": 1.0, "encode": 4.0, "CPU": 6.0, "memory": 2.5, "all": 6.0}],
    "bare": [{"read": 5.0, "write": 4.0, "CPU": 12.0, "memory": 2.0, "all": 10.0}],
    "quoted alone": [{"read": 3.0, "CPU": 3.0, "memory": 1.0, "all": 4.0}],
    "quoted": [{"read": 5.0, "encode": 10.0, "CPU": 18.0, "memory": 4.5, "all": 16.0}],
    "quick": [{"read": 1.0, "encode": 4.0, "fit": 7.0, "write": 6.0, "CPU": 30.0, "memory": 3.0, "all": 21.0}],
    "whole": [{"read": 1.0, "encode": 4.0, "fit": 9.0, "write": 6.0, "CPU": 35.0, "memory": 3.5, "all": 23.0}],
}


@pytest.mark.parametrize(("encode", "verdict"), [(4.0, "met"), (5.0, "met"), (5.1, "not met")])
def test_parts_and_ratios(encode, verdict):
    reading = [{**RUNS["reading"][0], "encode": encode}]
    page = report(33_000_000, 10**9, {**RUNS, "reading": reading})
    assert f"| split cells, sort ballots | {encode:.1f} | | {encode / 2:.1f} |" in page
    assert "| checks of priors and confidence | 2.0 | | 1.0 |" in page
    assert "| write | 6.0 | 4.0 | 3.0 |" in page
    assert "| start and print | 3.0 |" in page
    assert "only read, 3 times in turns" in page
    assert f"3 times as long: {verdict}." in page
    assert "takes 15.0 s, 5.0 times `read_csv` on that file, with a peak of 4.5 GB" in page


def test_medians_are_of_sums():
    runs = [{"a": 1.0, "b": 9.0}, {"a": 2.0, "b": 2.0}, {"a": 3.0, "b": 3.0}]
    assert median(runs, "a", "b") == 6.0
