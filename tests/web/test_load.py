"""Many people at once: no error, and every ballot that was acknowledged is there exactly once."""

import time

import pytest

from asking import Visitor, apart
from benchmarks.kills import killed_under_load, under_load
from benchmarks.load import Plan, differences


def test_a_short_load_loses_nothing(database, tmp_path):
    load, kept = apart(under_load, database, Plan(people=30), 4, tmp_path)
    assert differences(load.acknowledged, kept) == []
    assert kept
    assert load.unanswered == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_ten_power_cuts_lose_nothing(database, tmp_path):
    """Killed at any moment and started again: whoever got an answer finds their ballot, whoever did not sends it again."""
    plan = Plan(people=40, pause=0.05, patience=60)
    load, kept = apart(killed_under_load, database, plan, 10, 1.0, tmp_path)
    assert differences(load.acknowledged, kept) == []
    assert len(kept) > 100
    assert load.unanswered > 10, "the kills came in the middle of requests"


def test_nothing_holds_a_page_back(serve):
    """Headers and body that wait for each other's acknowledgement would take 40 ms."""
    took = []
    with Visitor(serve()) as visitor:
        for _ in range(20):
            began = time.perf_counter()
            visitor.get("/privacy").raise_for_status()
            took.append(time.perf_counter() - began)
    assert min(took) < 0.03


def test_the_comparison_sees_what_is_lost_doubled_and_altered():
    told = {("ann", "a"): frozenset({1}), ("ann", "b"): frozenset(), ("bo", "a"): frozenset({2})}
    fine = [(*place, ticks) for place, ticks in told.items()]
    assert differences(told, fine) == []
    assert differences(told, fine[1:]) == ["ann on a: acknowledged [1], kept nothing"]
    assert differences(told, [*fine, fine[0]]) == ["ann on a: acknowledged [1], kept [1] and [1]"]
    assert differences(told, [*fine[:1], ("ann", "b", frozenset({0})), fine[2]]) == [
        "ann on b: acknowledged [], kept [0]"
    ]
    assert differences(told, [*fine, ("cy", "a", frozenset())]) == ["cy on a: acknowledged nothing, kept []"]
