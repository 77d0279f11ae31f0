"""Where a rising function meets a target."""

import math

import pytest

from epivote.model.solve import solve_rising


def cubic(x):
    return x**3, 3 * x * x


def flat_at_both_ends(x):
    """Newton's steps leave every bracket from far out."""
    return math.tanh(x), 1 / math.cosh(x) ** 2


def with_a_step(x):
    """Hardly any slope but for a short stretch."""
    return (0.0, 0.0) if x < 1 else (x - 1, 1.0)


@pytest.mark.parametrize(
    ("function", "target", "low", "high", "start", "expected"),
    [
        (cubic, 27.0, -10.0, 10.0, 0.0, 3.0),
        (cubic, 2.0, -10.0, 10.0, 1.0, 2 ** (1 / 3)),
        (cubic, -2.0, -10.0, 10.0, 9.0, -(2 ** (1 / 3))),
        (cubic, 1e-9, -10.0, 10.0, 5.0, 1e-3),
        (cubic, 1e9, -1e4, 1e4, -5.0, 1e3),
        (cubic, 27.0, -10.0, 10.0, 500.0, 3.0),
        (cubic, 27.0, -10.0, 10.0, -500.0, 3.0),
        (flat_at_both_ends, 0.5, -300.0, 300.0, 18.0, math.atanh(0.5)),
        (flat_at_both_ends, -0.9, -300.0, 300.0, 18.0, math.atanh(-0.9)),
        (flat_at_both_ends, 0.9, -300.0, 300.0, -18.0, math.atanh(0.9)),
        (with_a_step, 0.25, -50.0, 50.0, -20.0, 1.25),
        (cubic, 1000.0, -10.0, 10.0, 0.0, 10.0),
        (cubic, 2000.0, -10.0, 10.0, 0.0, 10.0),
        (cubic, -1000.0, -10.0, 10.0, 0.0, -10.0),
        (cubic, -2000.0, -10.0, 10.0, 0.0, -10.0),
    ],
)
def test_the_meeting_point_is_found_from_anywhere(function, target, low, high, start, expected):
    assert solve_rising(function, target, low, high, start) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_the_search_ends_once_the_target_is_met():
    seen = []

    def watched(x):
        seen.append(x)
        return cubic(x)

    assert solve_rising(watched, 8.0, -10.0, 10.0, 2.0) == 2.0
    assert seen == [2.0], "the start, and neither end"
    seen.clear()
    solve_rising(lambda x: (watched(x)[0], 0.0), 7.0, -10.0, 10.0, 2.0)
    assert 40 < len(seen) < 70, "without a slope the bracket is halved"


def test_a_function_that_never_meets_its_target_is_given_up():
    """A jump over the target: the bracket shrinks to it, and the search ends."""
    found = solve_rising(lambda x: (-1.0 if x < 0.3 else 1.0, 0.0), 0.0, 0.0, 1.0, 0.5)
    assert found == pytest.approx(0.3, abs=1e-12)


def test_a_straight_line_is_met_in_one_step():
    seen = []

    def line(x):
        seen.append(x)
        return 2 * x + 1, 2.0

    assert solve_rising(line, 5.0, -16.0, 16.0, 0.0) == 2.0
    assert seen == [0.0, 2.0]


def test_an_end_is_looked_at_once_and_only_where_a_step_leads_there():
    seen = []

    def watched(x):
        seen.append(x)
        return cubic(x)[0], 1e-3

    solve_rising(watched, 500.0, -10.0, 10.0, 0.0)
    assert seen[:4] == [0.0, 10.0, 5.0, 7.5], "steps are far too long, so the bracket is halved"
    assert seen.count(10.0) == 1
    assert -10.0 not in seen
    seen.clear()
    assert solve_rising(watched, 2000.0, -10.0, 10.0, 0.0) == 10.0
    assert seen == [0.0, 10.0]


@pytest.mark.parametrize(("target", "found"), [(1.0, 0.5), (2.0, 4.0), (0.0, -4.0)])
def test_of_a_function_that_does_not_rise_an_end_is_taken(target, found):
    """Or, where it is level with the target, the start."""
    assert solve_rising(lambda _: (1.0, 0.0), target, -4.0, 4.0, 0.5) == found
