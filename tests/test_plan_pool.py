"""Who takes part in a plan: everybody once before anybody twice."""

import numpy as np
import pytest

from epivote import Parameters, plan, planning

ONE_KNOWS = Parameters(np.array([0.999, 0.5, 0.5]), np.array([0.001, 0.5, 0.5]), np.array([0.5, 0.5, 0.5]))


@pytest.mark.parametrize("ballots", [3, 6])
def test_the_one_who_knows_is_asked_as_soon_as_there_are_ballots_for_all(monkeypatch, ballots):
    """If voters were taken from a larger pool, some instances would go without."""
    monkeypatch.setattr(planning, "USUAL", (ballots,))
    found = plan(ONE_KNOWS, 1, target=0.3, instances=500)
    at = next(each for each in found.points if each.ballots == ballots)
    assert at.exact.mean > 0.98


def test_fewer_ballots_than_voters_are_cast_by_some_of_them(monkeypatch):
    monkeypatch.setattr(planning, "USUAL", (1,))
    found = plan(ONE_KNOWS, 1, target=0.3, instances=2000)
    assert found.points[0].exact.mean == pytest.approx((0.998 + 1 / 3 + 1 / 3) / 3, abs=0.045)
