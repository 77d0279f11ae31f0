"""Small charts as inline SVG; colours come from the page's style sheet, every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

import numpy as np

from epivote.data.names import FloatArray, IntArray, counted
from epivote.evaluate.calibration import CalibrationBin
from epivote.report.numbers import SizeCounts, Voters

WIDTH, HEIGHT = 400, 220  # of a chart, in units of its view box
LEFT, RIGHT, TOP, BOTTOM = 48, 20, 12, 40  # margins for labels, in the same units
MOST_POINTS = 500  # voters drawn; more would hide each other
MOST_CROSSES = 30  # voters drawn with their intervals; likewise
LONGEST_LABEL = 14  # characters that fit beside a bar


class Frame:
    """A chart's data range, and where its points lie on the picture."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: int = HEIGHT, left: int = LEFT) -> None:
        self.x_range, self.y_range, self.height, self.left = x, y, height, left

    def x(self, value: float) -> float:
        """Picture coordinate of a horizontal value."""
        low, high = self.x_range
        return round(self.left + (value - low) / (high - low) * (WIDTH - self.left - RIGHT), 2)

    def y(self, value: float) -> float:
        """Picture coordinate of a vertical value; up is up."""
        low, high = self.y_range
        return round(self.height - BOTTOM - (value - low) / (high - low) * (self.height - TOP - BOTTOM), 2)

    def axes(
        self, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[tuple[float, str]], x_label: str, y_label: str
    ) -> str:
        """Grid lines, tick labels and titles of both axes."""
        (left, right), (low, high) = self.x_range, self.y_range
        parts = [
            tag("line", "", cls="grid", x1=self.x(left), x2=self.x(right), y1=self.y(v), y2=self.y(v))
            for v, _ in y_ticks
        ]
        parts += [text(label, self.left - 6, self.y(value) + 4, "tick end") for value, label in y_ticks]
        parts += [text(label, self.x(value), self.height - BOTTOM + 15, "tick middle") for value, label in x_ticks]
        parts.append(tag("line", "", cls="axis", x1=self.x(left), x2=self.x(right), y1=self.y(low), y2=self.y(low)))
        parts.append(text(x_label, (self.left + WIDTH - RIGHT) / 2, self.height - 6, "label middle"))
        middle = (self.y(low) + self.y(high)) / 2
        parts.append(
            tag("text", escape(y_label), cls="label middle", transform=f"translate(11 {round(middle, 1)}) rotate(-90)")
        )
        return "".join(parts)


def histogram(counts: IntArray, words: str) -> str:
    """Items by confidence, in equal bins from 0 to 100 %."""
    most = max(int(counts.max()), 1)
    frame = Frame((0, 1), (0, nice_top(most)), height=180)
    bars = []
    for k, count in enumerate(counts):
        left, right = frame.x(k / len(counts)), frame.x((k + 1) / len(counts))
        tip = f"{k / len(counts):.0%} to {(k + 1) / len(counts):.0%}: {count:,}"
        kind = "bar for" if k == len(counts) - 1 else "bar total"
        bars.append(_bar(left + 0.75, frame.y(count), right - left - 1.5, frame.y(0) - frame.y(count), kind, tip))
    axes = frame.axes(_percent_ticks(), number_ticks(most), "confidence", "items")
    return svg(axes + "".join(bars), words, height=frame.height)


def size_bars(counts: SizeCounts, bounds: tuple[int, int], words: str) -> str:
    """Share of ballots and of answers with each size; the bounds are shaded."""
    shares = [part / max(int(part.sum()), 1) for part in (counts.ballots, counts.answers)]
    sizes = len(counts.ballots)
    frame = Frame((-0.5, sizes - 0.5), (0, nice_top(100 * float(max(map(np.max, shares)))) / 100))
    low, high = max(bounds[0] - 0.5, -0.5), min(bounds[1] + 0.5, sizes - 0.5)
    parts = []
    if high > low:
        width = frame.x(high) - frame.x(low)
        parts.append(tag("rect", "", cls="band", x=frame.x(low), y=TOP, width=round(width, 2), height=frame.y(0) - TOP))
    step = frame.x(1) - frame.x(0)
    for which, (name, kind) in enumerate((("ballots", "bar total"), ("answers", "bar for"))):
        for size, share in enumerate(shares[which]):
            left = frame.x(size) - step * 0.38 + which * step * 0.38
            tip = f"{share:.1%} of {name} have {_size_label(size, counts)}"
            bar = (round(left, 2), frame.y(share), round(step * 0.36, 2), frame.y(0) - frame.y(share))
            parts.append(_bar(*bar, kind, tip))
    every = ceil(sizes / 12)
    ticks = [(float(size), _size_label(size, counts)) for size in range(0, sizes, every)]
    top = frame.y_range[1]
    y_ticks = [(top * part, f"{top * part:.0%}") for part in (0, 0.5, 1)]
    return svg(frame.axes(ticks, y_ticks, "number of answers", "share") + "".join(parts), words)


def line_chart(values: FloatArray, words: str) -> str:
    """The objective after every iteration."""
    low, high = float(values.min()), float(values.max())
    pad = max((high - low) * 0.05, abs(high) * 1e-9, 1e-9)
    frame = Frame((1, max(len(values), 2)), (low - pad, high + pad), left=86)
    points = " ".join(f"{frame.x(k)},{frame.y(value)}" for k, value in enumerate(values.tolist(), start=1))
    marks = "".join(
        tag("circle", "", cls="dot", cx=frame.x(k), cy=frame.y(value), r=2.5)
        for k, value in enumerate(values.tolist(), start=1)
        if len(values) <= 40
    )
    x_ticks = [(float(k), f"{k}") for k in sorted({1, (1 + len(values)) // 2, len(values)})]
    decimals = max(0, 1 - floor(log10(max(high - low, 1e-9))))
    y_ticks = [(value, f"{value:,.{decimals}f}") for value in (low, (low + high) / 2, high)]
    axes = frame.axes(x_ticks, y_ticks, "iteration", "")
    return svg(axes + tag("polyline", "", cls="curve", points=points) + marks, words)


def calibration_chart(bins: Sequence[CalibrationBin], words: str) -> str:
    """Share of right sets against stated confidence, with intervals."""
    frame = Frame((0, 1), (0, 1))
    parts = [tag("line", "", cls="diagonal", x1=frame.x(0), y1=frame.y(0), x2=frame.x(1), y2=frame.y(1))]
    for each in bins:
        x = frame.x(each.mean_confidence)
        tip = f"{counted(each.count, 'set')}: {each.mean_confidence:.1%} stated, {each.right.mean:.1%} right"
        parts.append(tag("line", "", cls="cross", x1=x, x2=x, y1=frame.y(each.right.low), y2=frame.y(each.right.high)))
        parts.append(tag("circle", tag("title", escape(tip)), cls="dot", cx=x, cy=frame.y(each.right.mean), r=4))
    axes = frame.axes(_percent_ticks(), _percent_ticks(), "stated confidence", "share of sets right")
    return svg(axes + "".join(parts), words)


def voter_map(voters: Voters, words: str) -> tuple[str, int]:
    """Hit rate against false-alarm rate, a dot per voter, its area by ballots; and how many voters were drawn.

    The dots carry names for hover and keyboard; scripts add the intervals of the voter looked at.
    """
    known = np.flatnonzero(~np.isnan(voters.hit_rates) & ~np.isnan(voters.false_alarm_rates))
    drawn = known[np.argsort(-voters.ballots[known], kind="stable")][:MOST_POINTS]
    frame = Frame((0, 1), (0, 1), height=360)
    parts = [tag("line", "", cls="diagonal", x1=frame.x(0), y1=frame.y(0), x2=frame.x(1), y2=frame.y(1))]
    parts.append(text("guessing", frame.x(0.82), frame.y(0.76), "tick"))
    if len(drawn) <= MOST_CROSSES:
        parts += [_cross(frame, voters, int(i)) for i in drawn if not np.isnan(voters.hit_low[i])]
    largest = max(int(voters.ballots.max(initial=1)), 1)
    for position, i in enumerate(drawn):
        name = voters.names[i]
        told = (
            f"{name}: hits {voters.hit_rates[i]:.1%}, false alarms {voters.false_alarm_rates[i]:.1%}, "
            f"{counted(int(voters.ballots[i]), 'ballot')}"
        )
        parts.append(
            tag(
                "circle",
                tag("title", escape(told)),
                cls="voter" + (" flagged" if voters.flags[i] else ""),
                cx=frame.x(voters.false_alarm_rates[i]),
                cy=frame.y(voters.hit_rates[i]),
                r=round(2 + 6 * float(np.sqrt(voters.ballots[i] / largest)), 2),
                data_voter=int(i),
                tabindex=-1 if position else 0,
                role="img",
                aria_label=escape(told),
            )
        )
    parts.append(tag("g", "", cls="looked-at"))
    axes = frame.axes(_percent_ticks(), _percent_ticks(), "false-alarm rate", "hit rate")
    box = {"data_left": LEFT, "data_right": WIDTH - RIGHT, "data_top": TOP, "data_bottom": frame.height - BOTTOM}
    return svg(axes + "".join(parts), words, height=frame.height, role="group", **box), len(drawn)


def heat_map(names: Sequence[str], confused: IntArray, words: str) -> str:
    """Rows are right alternatives left out, columns wrong ones ticked instead, on some ballot; darker is more often."""
    cell = min(28.0, (WIDTH - 120) / len(names))
    side = cell * len(names)
    most = int(confused.max())
    left, top = 104.0, 92.0
    parts = []
    for k, row in enumerate(names):
        parts.append(_name_label(row, left - 6, top + (k + 0.5) * cell + 4, "tick end"))
        turned = f"translate({left + (k + 0.5) * cell + 4:.1f} {top - 6:.1f}) rotate(-60)"
        parts.append(_name_label(row, 0, 0, "tick", transform=turned))
        for j, column in enumerate(names):
            count = int(confused[k, j])
            tip = tag("title", escape(f"{row} left out, {column} ticked: {counted(count, 'ballot')}"))
            box = {"x": round(left + j * cell, 2), "y": round(top + k * cell, 2)}
            square = {"width": round(cell - 1, 2), "height": round(cell - 1, 2)}
            if k == j:
                parts.append(tag("rect", "", cls="same", **box, **square))
            else:
                shade = {"fill_opacity": round(0.06 + 0.94 * count / most, 3) if count else 0.03}
                parts.append(tag("rect", tip, cls="heat", **box, **square, **shade))
    return svg("".join(parts), words, width=round(left + side + 40), height=round(top + side + 8))


# Parts


def svg(content: str, words: str, *, width: int = WIDTH, height: int = HEIGHT, role: str = "img", **data: int) -> str:
    """A picture that says in words what it shows."""
    told: dict[str, str | float] = {"viewBox": f"0 0 {width} {height}", "role": role, "aria_label": escape(words)}
    return tag("svg", content, **told, **data)


def tag(name: str, content: str, /, **attributes: str | float) -> str:
    """One element; attribute values must be escaped already. `cls` is written `class`."""
    written = {"class" if key == "cls" else key.replace("_", "-"): value for key, value in attributes.items()}
    inside = "".join(f' {key}="{value}"' for key, value in written.items())
    return f"<{name}{inside}>{content}</{name}>"


def text(words: str, x: float, y: float, cls: str) -> str:
    """Text at a place."""
    return tag("text", escape(words), cls=cls, x=round(x, 2), y=round(y, 2))


def nice_top(value: float) -> float:
    """The next round number at or above a value: 1, 2, 5, 10, 20, ..."""
    power: float = 10.0 ** floor(log10(max(value, 1e-9)))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * (1 - 1e-12))


def number_ticks(most: float) -> list[tuple[float, str]]:
    """0, half and top of a count axis."""
    top = nice_top(most)
    return [(top * part, f"{top * part:,.0f}") for part in (0, 0.5, 1) if (top * part) % 1 == 0]


def _percent_ticks() -> list[tuple[float, str]]:
    return [(part / 4, f"{part / 4:.0%}") for part in range(5)]


def _bar(x: float, y: float, width: float, height: float, cls: str, tip: str) -> str:
    size = {"x": round(x, 2), "y": round(y, 2), "width": round(width, 2), "height": round(height, 2)}
    return tag("rect", tag("title", escape(tip)), cls=cls, **size)


def _cross(frame: Frame, voters: Voters, i: int) -> str:
    x, y = frame.x(voters.false_alarm_rates[i]), frame.y(voters.hit_rates[i])
    across = {"x1": frame.x(voters.false_alarm_low[i]), "x2": frame.x(voters.false_alarm_high[i]), "y1": y, "y2": y}
    up = {"x1": x, "x2": x, "y1": frame.y(voters.hit_low[i]), "y2": frame.y(voters.hit_high[i])}
    return tag("line", "", cls="cross faint", **across) + tag("line", "", cls="cross faint", **up)


def _size_label(size: int, counts: SizeCounts) -> str:
    return f"{size}+" if counts.open_end and size == len(counts.ballots) - 1 else f"{size}"


def _name_label(name: str, x: float, y: float, cls: str, **attributes: str) -> str:
    shown = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
    return tag("text", tag("title", escape(name)) + escape(shown), cls=cls, x=round(x, 2), y=round(y, 2), **attributes)
