"""The map of voters: every dot, interval and line of equal weight where the rates put it."""

from math import log, sqrt

import numpy as np
import pytest

from epivote.report.numbers import Voters
from epivote.report.voter_map import voter_map
from reading import parsed, places

CLOSE = {"abs": 0.0101}  # coordinates are written with two decimals
LEFT, RIGHT, TOP, BOTTOM = 66, 380, 12, 300


def drawn(voters):
    text, number = voter_map(voters, "w")
    return parsed(text).one("svg"), number


def odds(rate) -> float:
    rate = min(max(rate, 0.0005), 0.9995)
    return log(rate / (1 - rate))


def some_voters(count, **changed):
    """Voters with different rates, ballots and flags."""
    k = np.arange(count)
    hits, alarms = 0.9 - 0.5 * k / count, 0.05 + 0.4 * k / count
    values = {
        "names": tuple(f"<v{i}>" for i in k),
        "ballots": 1 + (7 * k) % 5,
        "hit_rates": hits,
        "hit_low": hits - 0.05,
        "hit_high": hits + 0.04,
        "false_alarm_rates": alarms,
        "false_alarm_low": alarms - 0.03,
        "false_alarm_high": alarms + 0.02,
        "weights": hits - alarms,
        "weight_low": hits - alarms - 1,
        "weight_high": hits - alarms + 1,
        "flags": tuple(("odd",) if i % 3 == 1 else () for i in k),
    }
    return Voters(**values | changed)


def axes_of(rates):
    """Ends of an axis: half a unit of log-odds beyond the dots, at least three units in all."""
    low, high = min(map(odds, rates)) - 0.5, max(map(odds, rates)) + 0.5
    missing = max(3 - (high - low), 0) / 2
    return low - missing, high + missing


@pytest.mark.parametrize("count", [1, 4, 30, 31])
def test_dots_lie_at_the_log_odds_of_their_rates(count):
    voters = some_voters(count)
    chart, number = drawn(voters)
    assert number == count
    assert (chart["role"], chart["viewbox"]) == ("group", "0 0 400 340")
    assert [chart.number(f"data-{side}") for side in ("left", "right", "top", "bottom")] == [LEFT, RIGHT, TOP, BOTTOM]
    (left, right), (low, high) = axes_of(voters.false_alarm_rates), axes_of(voters.hit_rates)
    told = [chart.number(f"data-{end}") for end in ("across-low", "across-high", "up-low", "up-high")]
    assert told == pytest.approx([left, right, low, high], abs=6e-4)

    def across(rate):
        return LEFT + (RIGHT - LEFT) * (min(max(odds(rate), left), right) - left) / (right - left)

    def up(rate):
        return BOTTOM - (BOTTOM - TOP) * (min(max(odds(rate), low), high) - low) / (high - low)

    close = {"abs": 0.12}  # the ends of the axes are written with three decimals
    by_ballots = sorted(range(count), key=lambda i: -voters.ballots[i])
    dots = chart.all("circle")
    assert [int(dot["data-voter"]) for dot in dots] == by_ballots
    assert [dot["tabindex"] for dot in dots] == ["0"] + ["-1"] * (count - 1)
    for dot, i in zip(dots, by_ballots, strict=True):
        x, y = across(voters.false_alarm_rates[i]), up(voters.hit_rates[i])
        radius = 2.5 + 5.5 * sqrt(voters.ballots[i] / max(voters.ballots))
        assert places([dot], "cx", "cy", "r") == [pytest.approx((x, y, radius), **close)]
        assert dot["class"] == ("voter flagged" if i % 3 == 1 else "voter")
        assert dot["aria-label"].startswith(f"<v{i}>: hit rate {100 * voters.hit_rates[i]:.0f}")
        assert dot["aria-label"].endswith("1 ballot" if voters.ballots[i] == 1 else f"{voters.ballots[i]} ballots")
        assert dot["role"] == "img"
    crosses = chart.all("line", "cross faint")
    assert len(crosses) == (2 * count if count <= 30 else 0)
    for k in range(len(crosses) // 2):
        i = by_ballots[k]
        level, upright = places(crosses[2 * k : 2 * k + 2], "x1", "x2", "y1", "y2")
        x, y = across(voters.false_alarm_rates[i]), up(voters.hit_rates[i])
        ends = across(voters.false_alarm_low[i]), across(voters.false_alarm_high[i])
        assert level == pytest.approx((*ends, y, y), **close)
        assert upright == pytest.approx((x, x, up(voters.hit_low[i]), up(voters.hit_high[i])), **close)


def test_voters_near_the_corner_are_spread_over_the_map():
    """On plain axes all of them would lie within a tenth of the left edge."""
    alarms = np.array([0.001, 0.003, 0.01, 0.03, 0.06])
    chart, _ = drawn(some_voters(5, false_alarm_rates=alarms, hit_rates=np.full(5, 0.8)))
    found = sorted(each.number("cx") for each in chart.all("circle"))
    assert found[-1] - found[0] > 0.7 * (RIGHT - LEFT)
    assert min(np.diff(found)) > 25


def test_lines_join_points_of_equal_weight():
    chart, _ = drawn(some_voters(30))
    left, right, low, high = (chart.number(f"data-{end}") for end in ("across-low", "across-high", "up-low", "up-high"))
    lines = {each.text(): each for each in chart.all("text", "contour-label end")}
    assert "guessing (weight 0)" in lines
    found = []
    for line in (*chart.all("line", "contour"), *chart.all("line", "diagonal")):
        x1, y1, x2, y2 = (line.number(name) for name in ("x1", "y1", "x2", "y2"))
        alarm, other_alarm = (left + (x - LEFT) / (RIGHT - LEFT) * (right - left) for x in (x1, x2))
        hit, other_hit = (low + (BOTTOM - y) / (BOTTOM - TOP) * (high - low) for y in (y1, y2))
        assert hit - alarm == pytest.approx(other_hit - other_alarm, abs=1e-3)
        found.append(hit - alarm)
    assert found == pytest.approx([round(weight) for weight in found], abs=1e-3)
    assert found[-1] == pytest.approx(0, abs=1e-3), "the dashed line is that of guessing"
    assert len(found) == len(set(np.round(found))) > 3


def test_ticks_are_round_rates_that_do_not_touch():
    chart, _ = drawn(some_voters(5, false_alarm_rates=np.array([0.001, 0.01, 0.1, 0.5, 0.9])))
    ticks = chart.all("text", "tick middle")
    assert [each.text() for each in ticks] == ["0.1 %", "1 %", "10 %", "50 %", "90 %"]
    assert min(np.diff([each.number("x") for each in ticks])) >= 42
    left, right = chart.number("data-across-low"), chart.number("data-across-high")
    for each, rate in zip(ticks, (0.001, 0.01, 0.1, 0.5, 0.9), strict=True):
        assert each.number("x") == pytest.approx(LEFT + (RIGHT - LEFT) * (odds(rate) - left) / (right - left), **CLOSE)


def test_voters_without_rates_or_intervals():
    hits, alarms = np.array([0.5, np.nan, 0.6, 0.7]), np.array([0.1, 0.2, np.nan, 0.3])
    nothing = np.array([0.4, np.nan, 0.5, np.nan])
    chart, number = drawn(some_voters(4, hit_rates=hits, false_alarm_rates=alarms, hit_low=nothing))
    assert number == 2
    assert sorted(int(dot["data-voter"]) for dot in chart.all("circle")) == [0, 3]
    assert len(chart.all("line", "cross faint")) == 2, "one voter has intervals"
    idle, _ = drawn(some_voters(2, ballots=np.zeros(2, int)))
    assert {dot["r"] for dot in idle.all("circle")} == {"2.5"}
    nobody, number = drawn(some_voters(2, hit_rates=np.full(2, np.nan)))
    assert (number, nobody.all("circle")) == (0, [])


def test_rates_of_0_and_1_lie_on_the_map():
    chart, _ = drawn(some_voters(2, hit_rates=np.array([1.0, 0.5]), false_alarm_rates=np.array([0.0, 0.5])))
    for dot in chart.all("circle"):
        assert LEFT <= dot.number("cx") <= RIGHT
        assert TOP <= dot.number("cy") <= BOTTOM


def test_of_very_many_voters_five_hundred_are_drawn():
    text, number = voter_map(some_voters(501, ballots=np.array([1] + [2] * 500)), "w")
    assert number == 500
    assert 'data-voter="0"' not in text
