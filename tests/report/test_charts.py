"""The page's charts, element by element: every bar, dot, line and label where the numbers put it."""

import re
from math import sqrt

import numpy as np
import pytest

from epivote import Ballots, CalibrationBin, Interval, MaximumLikelihood, SizeBounds, reference_crowd, write_report
from epivote.report import svg
from epivote.report.numbers import SizeCounts, Voters
from reading import Page, parsed, places

CLOSE = {"abs": 0.0101}  # coordinates are written with two decimals
RIGHT_EDGE = 380
QUARTERS = ["0%", "25%", "50%", "75%", "100%"]


def drawn(text):
    assert not re.search(r'\b(x|y|[xy][12]|c[xy]|r|width|height|points)="[^"]*\.\d{3}', text), "two decimals do"
    return parsed(text).one("svg")


def check_axes(chart, x_ticks, y_ticks, titles, left=48, height=220):
    """`x_ticks` and `y_ticks` are labels with their share of the axis."""
    bottom = height - 40
    assert chart["viewbox"] == f"0 0 400 {height}"
    across = [(left + share * (RIGHT_EDGE - left), bottom + 15) for _, share in x_ticks]
    up = [(left - 6, bottom - share * (bottom - 12) + 4) for _, share in y_ticks]
    for cls, ticks, where in (("tick middle", x_ticks, across), ("tick end", y_ticks, up)):
        found = chart.all("text", cls)
        assert [each.text() for each in found] == [label for label, _ in ticks]
        assert places(found, "x", "y") == [pytest.approx(place, **CLOSE) for place in where]
    assert places(chart.all("line", "grid"), "x1", "x2", "y1", "y2") == [
        pytest.approx((left, RIGHT_EDGE, y - 4, y - 4), **CLOSE) for _, y in up
    ]
    assert places(chart.all("line", "axis"), "x1", "x2", "y1", "y2") == [(left, RIGHT_EDGE, bottom, bottom)]
    below, beside = chart.all("text", "label middle")
    assert [below.text(), beside.text()] == titles
    assert (below.number("x"), below.number("y")) == ((left + RIGHT_EDGE) / 2, height - 6)
    assert beside["transform"] == f"translate(11 {(bottom + 12) / 2}) rotate(-90)"


def quarters():
    return [(label, k / 4) for k, label in enumerate(QUARTERS)]


# Histogram


@pytest.mark.parametrize(
    ("most", "top", "ticks"),
    [
        (0, 1, ["0", "1"]),
        (1, 1, ["0", "1"]),
        (2, 2, ["0", "1", "2"]),
        (3, 5, ["0", "5"]),
        (5, 5, ["0", "5"]),
        (6, 10, ["0", "5", "10"]),
        (10, 10, ["0", "5", "10"]),
        (11, 20, ["0", "10", "20"]),
        (21, 25, ["0", "25"]),
        (26, 50, ["0", "25", "50"]),
        (1500, 2000, ["0", "1,000", "2,000"]),
    ],
)
def test_bars_of_the_histogram(most, top, ticks):
    counts = np.array([most, most // 2, *[0] * 17, most // 3])
    chart = drawn(svg.histogram(counts, "<words>"))
    assert chart["aria-label"] == "<words>"
    assert chart["role"] == "img"
    check_axes(
        chart,
        quarters(),
        [(label, float(label.replace(",", "")) / top) for label in ticks],
        ["confidence", "items"],
        height=180,
    )
    bars = chart.all("rect")
    assert [bar["class"] for bar in bars] == ["bar total"] * 19 + ["bar for"]
    assert [bar.text() for bar in bars] == [f"{5 * k}% to {5 * k + 5}%: {count:,}" for k, count in enumerate(counts)]
    for k, (count, bar) in enumerate(zip(counts, places(bars, "x", "width", "y", "height"), strict=True)):
        high = 128 * count / top
        assert bar == pytest.approx((48 + 16.6 * k + 0.75, 16.6 - 1.5, 140 - high, high), **CLOSE)


# Sizes


def check_sizes(chart, counts, band, labels, every=1):
    """Labels stand under all sizes or under every second one, and so on."""
    sizes = len(counts.ballots)
    step, bottom = 332 / sizes, 180
    largest = max(max(counts.ballots) / sum(counts.ballots), max(counts.answers) / sum(counts.answers))
    top = next(top for top in (0.1, 0.2, 0.25, 0.5, 1.0) if top >= largest - 1e-12)
    ticks = [(labels[size], (size + 0.5) / sizes) for size in range(0, sizes, every)]
    check_axes(
        chart, ticks, [(f"{100 * top * part:.0f}%", part) for part in (0, 0.5, 1)], ["number of answers", "share"]
    )
    for which, cls, name in ((0, "bar total", "ballots"), (1, "bar for", "answers")):
        bars, part = chart.all("rect", cls), counts[which]
        for size, bar in enumerate(bars):
            share = part[size] / sum(part)
            assert bar.text() == f"{100 * share:.1f}% of {name} have {labels[size]}"
            left = 48 + step * (size + 0.5 - 0.38 * (1 - which))
            (where,) = places([bar], "x", "width", "y", "height")
            high = 168 * share / top
            assert where == pytest.approx((left, 0.36 * step, bottom - high, high), abs=0.02)
        assert len(bars) == sizes
    shaded = chart.all("rect", "band")
    if band is None:
        assert shaded == []
    else:
        (where,) = places(shaded, "x", "width", "y", "height")
        assert where == pytest.approx((48 + step * band[0], step * (band[1] - band[0] + 1), 12, 168), abs=0.02)


@pytest.mark.parametrize(
    ("bounds", "band"), [((1, 2), (1, 2)), ((0, 0), (0, 0)), ((0, 9), (0, 3)), ((3, 3), (3, 3)), ((4, 5), None)]
)
def test_the_sizes_an_answer_may_have_are_shaded(bounds, band):
    counts = SizeCounts(np.array([3, 0, 2, 1]), np.array([0, 1, 3, 0]), False)
    check_sizes(drawn(svg.size_bars(counts, bounds, "w")), counts, band, ["0", "1", "2", "3"])


@pytest.mark.parametrize(("sizes", "every"), [(12, 1), (13, 2), (17, 2), (25, 3)])
@pytest.mark.parametrize("open_end", [False, True])
def test_labels_of_sizes_are_thinned_out(sizes, every, open_end):
    counts = SizeCounts(np.arange(1, sizes + 1), np.ones(sizes, int), open_end)
    labels = [*map(str, range(sizes - 1)), f"{sizes - 1}{'+' * open_end}"]
    check_sizes(drawn(svg.size_bars(counts, (0, 1), "w")), counts, (0, 1), labels, every)


# Convergence


@pytest.mark.parametrize("length", [2, 3, 40, 41])
def test_the_curve_goes_through_every_iteration(length):
    values = -100.0 - 20 / np.arange(1, length + 1)
    chart = drawn(svg.line_chart(values, "w"))
    low, high = values[0], values[-1]
    pad = 0.05 * (high - low)
    span = high - low + 2 * pad
    middle = (1 + length) // 2
    decimals = 0 if high - low >= 10 else 1
    assert 1 < high - low < 100
    shares = sorted({1, middle, length})
    check_axes(
        chart,
        [(str(k), (k - 1) / (length - 1)) for k in shares],
        [(f"{value:,.{decimals}f}", (value - low + pad) / span) for value in (low, (low + high) / 2, high)],
        ["iteration", ""],
        left=86,
    )
    expected = [(86 + 294 * k / (length - 1), 180 - 168 * (value - low + pad) / span) for k, value in enumerate(values)]
    curve = chart.one("polyline", "curve")
    points = [tuple(map(float, pair.split(","))) for pair in curve["points"].split()]
    assert points == [pytest.approx(point, **CLOSE) for point in expected]
    dots = chart.all("circle", "dot")
    assert places(dots, "cx", "cy") == (points if length <= 40 else [])
    assert {dot["r"] for dot in dots} <= {"2.5"}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([-1234.0, -1034.0], ["-1,234", "-1,134", "-1,034"]),
        ([-8.0, -7.5], ["-8.00", "-7.75", "-7.50"]),
        ([-8.0, -7.9984], ["-8.0000", "-7.9992", "-7.9984"]),
        ([-5.0, -5.0], ["-5.0000000000"] * 3),
        ([0.0, 0.0], ["0.0000000000"] * 3),
    ],
)
def test_small_steps_of_the_curve_get_more_decimals(values, labels):
    chart = drawn(svg.line_chart(np.array(values), "w"))
    assert [each.text() for each in chart.all("text", "tick end")] == labels
    if values[0] == values[1]:
        assert places(chart.all("circle"), "cy") == [(96.0,), (96.0,)], "a level line runs through the middle"


# Calibration


def test_promises_against_what_was_kept():
    bins = [
        CalibrationBin(0.2, 0.3, 1, 0.25, Interval(1.0, 0.2, 1.0)),
        CalibrationBin(0.9, 1.0, 1234, 0.96, Interval(0.8, 0.75, 0.85)),
    ]
    chart = drawn(svg.calibration_chart(bins, "w"))
    check_axes(chart, quarters(), quarters(), ["stated confidence", "share of sets right"])
    assert places(chart.all("line", "diagonal"), "x1", "y1", "x2", "y2") == [(48, 180, 380, 12)]
    dots, lines = chart.all("circle", "dot"), chart.all("line", "cross")
    assert [dot.text() for dot in dots] == [
        "1 set: 25.0% stated, 100.0% right",
        "1,234 sets: 96.0% stated, 80.0% right",
    ]
    assert places(dots, "cx", "cy", "r") == [
        pytest.approx((48 + 332 * each.mean_confidence, 180 - 168 * each.right.mean, 4), **CLOSE) for each in bins
    ]
    assert places(lines, "x1", "x2", "y1", "y2") == [
        pytest.approx((x, x, 180 - 168 * each.right.low, 180 - 168 * each.right.high), **CLOSE)
        for each, x in zip(bins, (131, 366.72), strict=True)
    ]


# Map of voters


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


@pytest.mark.parametrize("count", [1, 4, 30, 31])
def test_dots_of_the_map(count):
    voters = some_voters(count)
    text, number = svg.voter_map(voters, "w")
    chart = drawn(text)
    assert number == count
    check_axes(chart, quarters(), quarters(), ["false-alarm rate", "hit rate"], height=360)
    assert chart["role"] == "group"
    box = [chart.number(f"data-{side}") for side in ("left", "right", "top", "bottom")]
    assert box == [48, 380, 12, 320]
    assert places(chart.all("line", "diagonal"), "x1", "y1", "x2", "y2") == [(48, 320, 380, 12)]
    (guessing,) = chart.all("text", "tick")
    assert guessing.text() == "guessing"
    assert (guessing.number("x"), guessing.number("y")) == pytest.approx((48 + 332 * 0.82, 320 - 308 * 0.76), **CLOSE)
    by_ballots = sorted(range(count), key=lambda i: -voters.ballots[i])
    dots = chart.all("circle")
    assert [int(dot["data-voter"]) for dot in dots] == by_ballots
    assert [dot["tabindex"] for dot in dots] == ["0"] + ["-1"] * (count - 1)
    across, up = lambda share: 48 + 332 * share, lambda share: 320 - 308 * share
    for dot, i in zip(dots, by_ballots, strict=True):
        x, y = across(voters.false_alarm_rates[i]), up(voters.hit_rates[i])
        radius = 2 + 6 * sqrt(voters.ballots[i] / max(voters.ballots))
        assert places([dot], "cx", "cy", "r") == [pytest.approx((x, y, radius), **CLOSE)]
        assert dot["class"] == ("voter flagged" if i % 3 == 1 else "voter")
        many = "1 ballot" if voters.ballots[i] == 1 else f"{voters.ballots[i]} ballots"
        told = (
            f"<v{i}>: hits {100 * voters.hit_rates[i]:.1f}%, "
            f"false alarms {100 * voters.false_alarm_rates[i]:.1f}%, {many}"
        )
        assert (dot.text(), dot["aria-label"], dot["role"]) == (told, told, "img")
    crosses = chart.all("line", "cross faint")
    assert len(crosses) == (2 * count if count <= 30 else 0)
    for k in range(len(crosses) // 2):
        i = by_ballots[k]
        level, upright = places(crosses[2 * k : 2 * k + 2], "x1", "x2", "y1", "y2")
        x, y = across(voters.false_alarm_rates[i]), up(voters.hit_rates[i])
        assert level == pytest.approx(
            (across(voters.false_alarm_low[i]), across(voters.false_alarm_high[i]), y, y), **CLOSE
        )
        assert upright == pytest.approx((x, x, up(voters.hit_low[i]), up(voters.hit_high[i])), **CLOSE)


def test_voters_without_rates_or_intervals():
    hits, alarms = np.array([0.5, np.nan, 0.6, 0.7]), np.array([0.1, 0.2, np.nan, 0.3])
    nothing = np.array([0.4, np.nan, 0.5, np.nan])
    voters = some_voters(4, hit_rates=hits, false_alarm_rates=alarms, hit_low=nothing)
    text, number = svg.voter_map(voters, "w")
    assert number == 2
    assert sorted(int(dot["data-voter"]) for dot in drawn(text).all("circle")) == [0, 3]
    assert len(drawn(text).all("line", "cross faint")) == 2, "one voter has intervals"
    idle = some_voters(2, ballots=np.zeros(2, int))
    assert {dot["r"] for dot in drawn(svg.voter_map(idle, "w")[0]).all("circle")} == {"2.0"}


def test_of_very_many_voters_five_hundred_are_drawn():
    voters = some_voters(501, ballots=np.array([1] + [2] * 500))
    text, number = svg.voter_map(voters, "w")
    assert number == 500
    assert 'data-voter="0"' not in text


# Confusions


@pytest.mark.parametrize(("count", "cell"), [(2, 28), (10, 28), (11, 280 / 11), (25, 11.2)])
def test_cells_of_the_heat_map(count, cell):
    names = ["exactly14chars", "fifteen letters", *(f"<n{k}>" for k in range(2, count))]
    confused = np.arange(count * count).reshape(count, count) % 7
    chart = drawn(svg.heat_map(names, confused, "w"))
    side = cell * count
    assert chart["viewbox"] == f"0 0 {round(104 + side + 40)} {round(92 + side + 8)}"
    cells, own = chart.all("rect", "heat"), chart.all("rect", "same")
    off = [(k, j) for k in range(count) for j in range(count) if k != j]
    where = [(k, j, each) for (k, j), each in zip(off, cells, strict=True)]
    where += [(k, k, each) for k, each in enumerate(own)]
    assert len(own) == count
    for k, j, each in where:
        assert places([each], "x", "y", "width", "height") == [
            pytest.approx((104 + j * cell, 92 + k * cell, cell - 1, cell - 1), **CLOSE)
        ]
    for k, j, each in where[:-count]:
        times = int(confused[k, j])
        assert each.text() == f"{names[k]} left out, {names[j]} ticked: {times} ballot{'s' * (times != 1)}"
        shade = 0.06 + 0.94 * times / min(6, confused.max()) if times else 0.03
        assert each.number("fill-opacity") == pytest.approx(shade, abs=6e-4)
    short = ["exactly14chars", "fifteen lette…", *names[2:]]
    beside, above = chart.all("text", "tick end"), chart.all("text", "tick")
    for labels in (beside, above):
        assert [each.one("title").text() for each in labels] == names
        assert [each.inside[-1] for each in labels] == short
    assert places(beside, "x", "y") == [pytest.approx((98, 92 + (k + 0.5) * cell + 4), **CLOSE) for k in range(count)]
    assert places(above, "x", "y", "transform") == [
        (0, 0, f"translate({104 + (k + 0.5) * cell + 4:.1f} 86.0) rotate(-60)") for k in range(count)
    ]


def test_a_single_confusion_is_as_dark_as_can_be():
    (once, never) = drawn(svg.heat_map(["a", "b"], np.array([[0, 1], [0, 0]]), "w")).all("rect", "heat")
    assert (once["fill-opacity"], never["fill-opacity"]) == ("1.0", "0.03")


# The charts on the page


def test_crosses_and_words_of_the_map_go_together(tmp_path):
    for voters, words in ((30, "Lines are 0.95 intervals."), (31, "The voter looked at shows its 0.95 intervals")):
        crowd = reference_crowd(40, voters, 4, 2)
        page = Page(
            write_report(MaximumLikelihood(0.7, 0.1, 0.3, bounds=(1, 2)).fit(crowd.ballots), tmp_path / "r.html")
        )
        assert words in page.section("voters").one("figcaption").text()
        assert "Drawn are" not in page.section("voters").text()


@pytest.mark.parametrize("count", [25, 26])
def test_up_to_25_alternatives_have_a_heat_map(count, tmp_path):
    names = [f"a{j}" for j in range(count)]
    cast = {(f"v{i}", "z"): {"a0"} for i in range(5)} | {("w", "z"): {"a1"}}
    fitted = MaximumLikelihood(0.8, 0.1, 0.3, bounds=1).fit(Ballots.from_mapping(cast, alternatives=names))
    section = Page(write_report(fitted, tmp_path / "r.html")).section("alternatives")
    assert len(section.all("svg")) == (count == 25)
    assert "a0 left out and a1 ticked instead: 1 ballot" in section.text()


def test_the_page_draws_the_sizes_allowed_anywhere(tmp_path):
    names = [f"a{j}" for j in range(6)]
    ballots = Ballots.from_mapping({("v", "i1"): set(names), ("v", "i2"): {"a0"}}, alternatives=names)
    bounds = SizeBounds(1, 2, {"i1": (2, 4)})
    fitted = MaximumLikelihood(0.8, 0.1, 0.3, bounds=bounds).fit(ballots)
    (chart,) = Page(write_report(fitted, tmp_path / "r.html")).charts("sizes")
    (band,) = places(chart.all("rect", "band"), "x", "width")
    assert band == pytest.approx((48 + 332 / 7, 4 * 332 / 7), abs=0.02)
