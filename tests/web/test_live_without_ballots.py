"""What one estimation says while there is nothing to estimate from."""

from pathlib import Path

import pytest

from epivote import SizeBounds
from epivote.web.estimation.estimate import live
from epivote.web.estimation.gathered import gather
from epivote.web.store import BallotRow
from epivote.web.task import Alternative, Instance, Task

ALTERNATIVES = (Alternative("owl"), Alternative("cat"))
TASK = Task("Small", Path(), SizeBounds(1, 1), ALTERNATIVES, (Instance("q", ALTERNATIVES, SizeBounds(1, 1), text="?"),))


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("strangers", [0, 1, 3])
def test_nothing_to_estimate_from_is_told_with_its_moment(is_over, strangers):
    """Else it would be estimated again and again, since the moment of the ballots has not been seen yet."""
    rows = [BallotRow(f"v{number}", True, "another", (), 5) for number in range(strangers)]
    found = live((strangers, 7), gather(rows), TASK, is_over=is_over)
    assert found.stamp == (strangers, 7)
    assert found.counts_gold is is_over
    assert found.left_out == strangers
    assert (found.sets, found.voters, found.places, found.problem) == ({}, (), {}, "")
    assert found.moment > 0
