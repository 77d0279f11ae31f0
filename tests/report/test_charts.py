"""The page's charts, element by element: every bar, dot, line and label where the numbers put it."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import Ballots, CalibrationBin, Interval, MaximumLikelihood, SizeBounds, reference_crowd, write_report
from epivote.report import svg
from epivote.report.content import band_labels
from epivote.report.numbers import Bands, SizeCounts
from reading import Page, parsed, places

CLOSE = {"abs": 0.0101}  # coordinates are written with two decimals
RIGHT_EDGE = 380
QUARTERS = ["0 %", "25 %", "50 %", "75 %", "100 %"]


def drawn(text):
    assert not re.search(r'\b(x|y|[xy][12]|c[xy]|r|width|height|points)="[^"]*\.\d{3}', text), "two decimals do"
    return parsed(text).one("svg")


def room_for(labels) -> int:
    """The left margin: the title of the axis and its longest label beside each other."""
    return round(28 + 6.3 * max(map(len, labels)))


def check_axes(chart, x_ticks, y_ticks, titles, height=220):
    """`x_ticks` and `y_ticks` are labels with their share of the axis."""
    bottom = height - 40
    left = room_for(label for label, _ in y_ticks)
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


def shown(share) -> str:
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * share:.1f} %" if share < 0.1 or share >= 0.9 else f"{100 * share:.0f} %"


def quarters():
    return [(label, k / 4) for k, label in enumerate(QUARTERS)]


# Confidence


def test_bars_of_confidence_have_their_counts_above_and_their_bands_below():
    bands = Bands((0.0, 0.5, 0.9, 0.95), np.array([2, 0, 1500, 750]), (False, False, False, True))
    labels = band_labels(bands)
    assert labels == ["below 50\u00a0%", "50 to 90\u00a0%", "90 to 95\u00a0%", "95\u00a0% and above"]
    chart = drawn(svg.bands_chart(bands, labels, "<words>"))
    assert (chart["aria-label"], chart["role"], chart["viewbox"]) == ("<words>", "img", "0 0 400 150")
    bars = chart.all("rect")
    assert [bar["class"] for bar in bars] == ["bar against"] * 3 + ["bar for"]
    assert [bar.text() for bar in bars] == [
        "2 sets with a confidence below 50 %",
        "0 sets with a confidence of 50 to 90 %",
        "1,500 sets with a confidence of 90 to 95 %",
        "750 sets with a confidence of 95 % and above",
    ]
    highs = [108 * count / 1500 for count in (2, 0, 1500, 750)]
    assert places(bars, "x", "width", "y", "height") == [
        pytest.approx((100 * k + 3, 94, 128 - high, high), **CLOSE) for k, high in enumerate(highs)
    ]
    texts = chart.all("text")
    assert [each.text() for each in texts] == ["2", "< 50", "0", "50–90", "1,500", "90–95", "750", "≥ 95"]
    assert places(texts[::2], "x", "y") == [
        pytest.approx((100 * k + 50, 123 - high), **CLOSE) for k, high in enumerate(highs)
    ]
    assert places(texts[1::2], "x", "y") == [(100 * k + 50, 143) for k in range(4)]


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (6, [0, 1, 2, 3, 4, 5, 6]),
        (7, [0, 2, 4, 6, 8]),
        (11, [0, 2, 4, 6, 8, 10, 12]),
        (12.5, [0, 2.5, 5, 7.5, 10, 12.5]),
        (31, [0, 10, 20, 30, 40]),
        (61, [0, 20, 40, 60, 80]),
        (100, [0, 20, 40, 60, 80, 100]),
        (12_345, [0, 2500, 5000, 7500, 10_000, 12_500]),
    ],
)
def test_axes_end_soon_above_the_largest_bar(most, ticks):
    found = svg.round_ticks(most)
    assert found == pytest.approx(ticks)
    assert most >= 0.75 * found[-1]


@given(st.floats(1e-6, 1e9))
def test_no_axis_ends_at_twice_its_largest_bar(most):
    found = svg.round_ticks(most)
    assert most * (1 - 1e-9) <= found[-1] <= most / 0.7
    assert 3 <= len(found) <= 7


# Sizes


def check_sizes(chart, counts, band, labels, every=1):
    """Labels stand under all sizes or under every second one, and so on."""
    sizes = len(counts.ballots)
    largest = max(max(counts.ballots) / sum(counts.ballots), max(counts.answers) / sum(counts.answers))
    y_ticks = svg.round_ticks(100 * largest)
    top = y_ticks[-1] / 100
    y_labels = [(f"{value:g} %", value / 100 / top) for value in y_ticks]
    margin = room_for(label for label, _ in y_labels)
    step, bottom = (RIGHT_EDGE - margin) / sizes, 180
    ticks = [(labels[size], (size + 0.5) / sizes) for size in range(0, sizes, every)]
    check_axes(chart, ticks, y_labels, ["number of alternatives", "share"])
    for which, cls, name in ((0, "bar total", "ballots"), (1, "bar for", "sets")):
        bars, part = chart.all("rect", cls), counts[which]
        for size, bar in enumerate(bars):
            share = part[size] / sum(part)
            assert bar.text() == f"{shown(share)} of the {name} have {labels[size]}"
            left = margin + step * (size + 0.5 - 0.38 * (1 - which))
            (where,) = places([bar], "x", "width", "y", "height")
            high = 168 * share / top
            assert where == pytest.approx((left, 0.36 * step, bottom - high, high), abs=0.02)
        assert len(bars) == sizes
    shaded = chart.all("rect", "band")
    if band is None:
        assert shaded == []
    else:
        (where,) = places(shaded, "x", "width", "y", "height")
        assert where == pytest.approx((margin + step * band[0], step * (band[1] - band[0] + 1), 12, 168), abs=0.02)


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
    low = values[0] - values[-1]
    pad = -0.05 * low
    span = -low + 2 * pad
    labels = [f"−{-value:.0f}" if -value >= 10 else f"−{-value:.2g}" for value in (low, low / 2)] + ["0"]
    check_axes(
        chart,
        [(str(k), (k - 1) / (length - 1)) for k in sorted({1, (1 + length) // 2, length})],
        list(zip(labels, [pad / span, 0.5, 1 - pad / span], strict=True)),
        ["iteration", "below the largest (nats)"],
    )
    left = room_for(labels)
    expected = [
        (left + (RIGHT_EDGE - left) * k / (length - 1), 180 - 168 * (value - values[-1] - low + pad) / span)
        for k, value in enumerate(values)
    ]
    curve = chart.one("polyline", "curve")
    points = [tuple(map(float, pair.split(","))) for pair in curve["points"].split()]
    assert points == [pytest.approx(point, **CLOSE) for point in expected]
    dots = chart.all("circle", "dot")
    assert places(dots, "cx", "cy") == (points if length <= 40 else [])
    assert {dot["r"] for dot in dots} <= {"2.5"}


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([-1234.0, -1034.0], ["−200", "−100", "0"]),
        ([-8.0, -7.5], ["−0.5", "−0.25", "0"]),
        ([-8.0, -7.9984], ["−0.0016", "−0.0008", "0"]),
        ([-5.0, -5.0], ["0"]),
    ],
)
def test_the_curve_is_labelled_without_empty_digits(values, labels):
    chart = drawn(svg.line_chart(np.array(values), "w"))
    assert [each.text() for each in chart.all("text", "tick end")] == labels
    if values[0] == values[1]:
        assert places(chart.all("circle"), "cy") == [(96.0,), (96.0,)], "a level line runs through the middle"


# Calibration


def test_stated_confidence_against_what_was_right():
    bins = [
        CalibrationBin(0.2, 0.3, 1, 0.25, Interval(1.0, 0.2, 1.0)),
        CalibrationBin(0.9, 1.0, 1234, 0.96, Interval(0.8, 0.75, 0.85)),
    ]
    chart = drawn(svg.calibration_chart(bins, "w"))
    check_axes(chart, quarters(), quarters(), ["stated confidence", "share of sets right"])
    assert places(chart.all("line", "diagonal"), "x1", "y1", "x2", "y2") == [(60, 180, 380, 12)]
    dots, lines = chart.all("circle", "dot"), chart.all("line", "cross")
    assert [dot.text() for dot in dots] == [
        "1 set: 25 % stated, 100 % right",
        "1,234 sets: 96.0 % stated, 80 % right",
    ]
    assert places(dots, "cx", "cy", "r") == [
        pytest.approx((60 + 320 * each.mean_confidence, 180 - 168 * each.right.mean, 4), **CLOSE) for each in bins
    ]
    assert places(lines, "x1", "x2", "y1", "y2") == [
        pytest.approx((x, x, 180 - 168 * each.right.low, 180 - 168 * each.right.high), **CLOSE)
        for each, x in zip(bins, (140, 367.2), strict=True)
    ]


# Confusions


@pytest.mark.parametrize(
    ("count", "cell"), [(2, 34), (8, 34), (9, 280 / 9), (11, 280 / 11), (12, 280 / 12), (25, 11.2)]
)
def test_cells_of_the_heat_map(count, cell):
    names = ["exactly14chars", "fifteen letters", *(f"<n{k}>" for k in range(2, count))]
    confused = np.arange(count * count).reshape(count, count) % 7
    chart = drawn(svg.heat_map(names, confused, "w"))
    side = cell * count
    assert chart["viewbox"] == f"0 0 {round(max(104 + side + 40, 304))} {round(92 + side + 52)}"
    *cells, _, _, _, _, _ = chart.all("rect", "heat")
    own = chart.all("rect", "same")
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
        assert each.text() == f"{names[k]} left out, {names[j]} approved instead: {times} ballot{'s' * (times != 1)}"
        shade = 0.06 + 0.79 * times / min(6, confused.max()) if times else 0.03
        assert each.number("fill-opacity") == pytest.approx(shade, abs=6e-4)
    short = ["exactly14chars", "fifteen lette…", *names[2:]]
    beside, above = chart.all("text", "tick end"), chart.all("text", "tick")[:-2]
    inside = [str(confused[k, j]) for k, j in off] if cell >= 24 else []
    assert [each.text() for each in chart.all("text", "cell middle")] == inside
    for labels in (beside, above):
        assert [each.one("title").text() for each in labels] == names
        assert [each.inside[-1] for each in labels] == short
    assert places(beside, "x", "y") == [pytest.approx((98, 92 + (k + 0.5) * cell + 4), **CLOSE) for k in range(count)]
    assert places(above, "x", "y", "transform") == [
        (0, 0, f"translate({104 + (k + 0.5) * cell + 4:.1f} 86.0) rotate(-60)") for k in range(count)
    ]


def test_the_heat_map_has_a_scale():
    chart = drawn(svg.heat_map(["a", "b"], np.array([[0, 1], [4, 0]]), "w"))
    once, often, *scale = chart.all("rect", "heat")
    assert [each.number("fill-opacity") for each in scale] == pytest.approx(
        [0.03, 0.2575, 0.455, 0.6525, 0.85], abs=6e-4
    )
    assert (once["fill-opacity"], often["fill-opacity"]) == (scale[1]["fill-opacity"], scale[4]["fill-opacity"])
    assert [each.text() for each in chart.all("text", "tick")[-2:]] == ["0", "4 ballots"]
    lowest = max(each.number("y") for each in chart.all("text", "tick"))
    assert lowest < float(chart["viewbox"].split()[-1]) - 4, "the labels of the scale lie within the picture"


# The charts on the page


def test_crosses_and_words_of_the_map_go_together(tmp_path):
    for voters, words in ((30, "Lines are 95 % intervals."), (31, "Point at a dot to see its 95 % intervals.")):
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
    assert "a0 left out and a1 approved instead: 1 ballot" in section.text()


def test_the_page_draws_the_sizes_allowed_anywhere(tmp_path):
    names = [f"a{j}" for j in range(6)]
    ballots = Ballots.from_mapping({("v", "i1"): set(names), ("v", "i2"): {"a0"}}, alternatives=names)
    bounds = SizeBounds(1, 2, {"i1": (2, 4)})
    fitted = MaximumLikelihood(0.8, 0.1, 0.3, bounds=bounds).fit(ballots)
    (chart,) = Page(write_report(fitted, tmp_path / "r.html")).charts("sizes")
    (band,) = places(chart.all("rect", "band"), "x", "width")
    assert band == pytest.approx((53 + 327 / 7, 4 * 327 / 7), abs=0.02)
