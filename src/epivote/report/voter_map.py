"""The map of voters: hit rate against false-alarm rate on log-odds axes, where distance from guessing is weight."""

from __future__ import annotations

from html import escape

import numpy as np

from epivote.data.names import FloatArray, IntArray, counted
from epivote.data.parameters import log_odds
from epivote.report import written
from epivote.report.numbers import Voters
from epivote.report.svg import BOTTOM, RIGHT, TOP, WIDTH, Frame, left_margin, svg, tag

HEIGHT = 340  # of the map, in units of its view box
MOST_POINTS = 500  # voters drawn; more would hide each other
MOST_CROSSES = 30  # voters drawn with their intervals; likewise
EDGE = 0.0005  # rates nearer to 0 or 1 are drawn there: log-odds of 7.6
MARGIN, SHORTEST = 0.5, 3.0  # around the dots, and the least length of an axis, in log-odds
TICKS = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.02, 0.98, 0.05, 0.95, 0.2, 0.8, 0.3, 0.7)  # the first that fit
CONTOURS = (1.0, 2.0, 4.0)  # steps between lines of equal weight
MOST_CONTOURS = 5  # on either side of guessing; a round number
SHORTEST_LABELLED = 90  # length of such a line that has room for a label, in units of the view box


def voter_map(voters: Voters, words: str) -> tuple[str, int]:
    """A dot per voter, its area by ballots; and how many voters were drawn.

    The dots carry names for hover and keyboard; scripts add the intervals of the voter looked at.
    """
    known = np.flatnonzero(~np.isnan(voters.hit_rates) & ~np.isnan(voters.false_alarm_rates))
    drawn = known[np.argsort(-voters.ballots[known], kind="stable")][:MOST_POINTS]
    across, up = _range(voters.false_alarm_rates[drawn]), _range(voters.hit_rates[drawn])
    y_ticks = _ticks(up, (HEIGHT - TOP - BOTTOM), apart=22)
    frame = Frame(across, up, height=HEIGHT, left=left_margin([*y_ticks, (0.0, "99.9 %")]))
    x_ticks = _ticks(across, WIDTH - frame.left - RIGHT, apart=42)
    lines, labels = _contours(frame)
    parts = [*lines]
    if len(drawn) <= MOST_CROSSES:
        parts += [_cross(frame, voters, int(i)) for i in drawn if not np.isnan(voters.hit_low[i])]
    parts += [*_dots(frame, voters, drawn), *labels]
    parts.append(tag("g", "", cls="looked-at"))
    axes = frame.axes(x_ticks, y_ticks, "false-alarm rate (log-odds scale)", "hit rate (log-odds scale)")
    edges = {"data_left": frame.left, "data_right": WIDTH - RIGHT, "data_top": TOP, "data_bottom": HEIGHT - BOTTOM}
    ends = {"data_across_low": across[0], "data_across_high": across[1], "data_up_low": up[0], "data_up_high": up[1]}
    return svg(axes + "".join(parts), words, WIDTH, HEIGHT, "group", **edges, **ends), len(drawn)


def odds(rate: float) -> float:
    """Log-odds of a rate, of those that are too near to 0 or 1 the last that is drawn."""
    return float(log_odds(np.clip(rate, EDGE, 1 - EDGE)))


def _range(rates: FloatArray) -> tuple[float, float]:
    places = [odds(float(rate)) for rate in rates] or [0.0]
    low, high = min(places) - MARGIN, max(places) + MARGIN
    missing = max(SHORTEST - (high - low), 0.0) / 2
    return round(low - missing, 3), round(high + missing, 3)


def _ticks(ends: tuple[float, float], length: float, apart: float) -> list[tuple[float, str]]:
    """Round rates within the ends, as many as have room: `length` is that of the axis, `apart` that of a label."""
    scale, found = length / (ends[1] - ends[0]), dict[float, str]()
    for rate in TICKS:
        place = odds(rate)
        if ends[0] <= place <= ends[1] and all(abs(place - other) * scale >= apart for other in found):
            found[place] = f"{100 * rate:g}{written.NO_BREAK}%"
    return sorted(found.items())


def _contours(frame: Frame) -> tuple[list[str], list[str]]:
    """Lines of equal weight, that of weight 0 dashed, and their labels."""
    (left, right), (low, high) = frame.x_range, frame.y_range
    first, last = low - right, high - left
    step = next((each for each in CONTOURS if (last - first) / each <= 2 * MOST_CONTOURS), CONTOURS[-1])
    lines, labels = [], []
    for k in range(int(np.ceil(first / step)), int(np.floor(last / step)) + 1):
        weight = k * step
        begin, end = max(left, low - weight), min(right, high - weight)
        if end - begin >= MARGIN:
            x1, y1, x2, y2 = frame.x(begin), frame.y(begin + weight), frame.x(end), frame.y(end + weight)
            lines.append(tag("line", "", cls="contour" if weight else "diagonal", x1=x1, y1=y1, x2=x2, y2=y2))
            if np.hypot(x2 - x1, y2 - y1) >= SHORTEST_LABELLED:
                turned = f"translate({x2} {y2}) rotate({-np.degrees(np.arctan2(y1 - y2, x2 - x1)):.1f})"
                words = f"weight {weight:g}".replace("-", "−") if weight else "guessing (weight 0)"
                labels.append(tag("text", words, cls="contour-label end", x=-8, y=-4, transform=turned))
    return lines, labels


def _dots(frame: Frame, voters: Voters, drawn: IntArray) -> list[str]:
    largest = max(int(voters.ballots.max(initial=1)), 1)
    parts = []
    for position, i in enumerate(drawn):
        told = (
            f"{voters.names[i]}: hit rate {written.share(float(voters.hit_rates[i]))}, false-alarm rate "
            f"{written.share(float(voters.false_alarm_rates[i]))}, {counted(int(voters.ballots[i]), 'ballot')}"
        )
        parts.append(
            tag(
                "circle",
                "",
                cls="voter" + (" flagged" if voters.flags[i] else ""),
                cx=frame.x(odds(voters.false_alarm_rates[i])),
                cy=frame.y(odds(voters.hit_rates[i])),
                r=round(2.5 + 5.5 * float(np.sqrt(voters.ballots[i] / largest)), 2),
                data_voter=int(i),
                tabindex=-1 if position else 0,
                role="img",
                aria_label=escape(told),
            )
        )
    return parts


def _cross(frame: Frame, voters: Voters, i: int) -> str:
    """Both intervals, as far as they lie within the map."""
    x, y = frame.x(odds(voters.false_alarm_rates[i])), frame.y(odds(voters.hit_rates[i]))
    left, right = (
        frame.x(np.clip(odds(rate), *frame.x_range)) for rate in (voters.false_alarm_low[i], voters.false_alarm_high[i])
    )
    low, high = (frame.y(np.clip(odds(rate), *frame.y_range)) for rate in (voters.hit_low[i], voters.hit_high[i]))
    across = tag("line", "", cls="cross faint", x1=left, x2=right, y1=y, y2=y)
    return across + tag("line", "", cls="cross faint", x1=x, x2=x, y1=low, y2=high)
