"""Small charts as inline SVG; colours come from the page's style sheet, every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

import numpy as np

from epivote.data.names import FloatArray, IntArray, counted
from epivote.evaluate.calibration import CalibrationBin
from epivote.report import written
from epivote.report.numbers import Bands, SizeCounts

WIDTH, HEIGHT = 400, 220  # of a chart, in units of its view box
RIGHT, TOP, BOTTOM = 20, 12, 40  # margins for labels, in the same units
BESIDE_TICKS, PER_CHARACTER = 28, 6.3  # the title of a vertical axis with its gaps, and a character of its labels
MOST_MARKS = 40  # iterations drawn with a dot each; a round number
TWO_DIGITS = 10  # smallest number that has two digits before the decimal point
LONGEST_LABEL = 14  # characters that fit beside a bar
SMALLEST_WITH_NUMBER = 24  # width of a cell that has room for a count
MOST_STEPS = 6  # between ticks of an axis; with it the largest bar fills at least 80 % of the height


class Frame:
    """A chart's data range, and where its points lie on the picture."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: int = HEIGHT, left: int = 48) -> None:
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


def bands_chart(bands: Bands, labels: Sequence[str], words: str) -> str:
    """Sets by bands of confidence, each bar with its count above and its band below."""
    height, bottom, top = 150, 22, 20
    most = max(int(bands.counts.max()), 1)
    step = WIDTH / len(bands.counts)
    parts = []
    for k, (count, label) in enumerate(zip(bands.counts.tolist(), labels, strict=True)):
        high = (height - bottom - top) * count / most
        left, base = k * step + 3, height - bottom
        kind = "bar for" if bands.sure[k] else "bar against"
        tip = f"{counted(count, 'set')} with a confidence {_in_between(label)}"
        parts.append(_bar(left, base - high, step - 6, high, kind, tip))
        parts.append(
            text(f"{count:,}", left + step / 2 - 3, base - high - 5, "count middle" if count else "tick middle")
        )
        parts.append(text(_short_band(label), left + step / 2 - 3, height - 7, "tick middle"))
    parts.append(tag("line", "", cls="axis", x1=0, x2=WIDTH, y1=height - bottom, y2=height - bottom))
    return svg("".join(parts), words, height=height)


def size_bars(counts: SizeCounts, bounds: tuple[int, int], words: str) -> str:
    """Share of ballots and of answers with each size; the bounds are shaded."""
    shares = [part / max(int(part.sum()), 1) for part in (counts.ballots, counts.answers)]
    sizes = len(counts.ballots)
    y_ticks = [(value / 100, percent) for value, percent in percent_ticks_to(100 * float(max(map(np.max, shares))))]
    frame = Frame((-0.5, sizes - 0.5), (0, y_ticks[-1][0]), left=left_margin(y_ticks))
    low, high = max(bounds[0] - 0.5, -0.5), min(bounds[1] + 0.5, sizes - 0.5)
    parts = []
    if high > low:
        width = frame.x(high) - frame.x(low)
        parts.append(tag("rect", "", cls="band", x=frame.x(low), y=TOP, width=round(width, 2), height=frame.y(0) - TOP))
    step = frame.x(1) - frame.x(0)
    for which, (name, kind) in enumerate((("ballots", "bar total"), ("sets", "bar for"))):
        for size, share in enumerate(shares[which]):
            left = frame.x(size) - step * 0.38 + which * step * 0.38
            tip = f"{written.share(float(share))} of the {name} have {_size_label(size, counts)}"
            bar = (round(left, 2), frame.y(share), round(step * 0.36, 2), frame.y(0) - frame.y(share))
            parts.append(_bar(*bar, kind, tip))
    every = ceil(sizes / 12)
    ticks = [(float(size), _size_label(size, counts)) for size in range(0, sizes, every)]
    return svg(frame.axes(ticks, y_ticks, "number of alternatives", "share") + "".join(parts), words)


def line_chart(values: FloatArray, words: str) -> str:
    """By how much the objective after every iteration lies below its largest value."""
    below = values - values.max()
    low, iterations = float(below.min()), len(values)
    y_ticks = [(part * low, _two_digits(part * low)) for part in ((1, 0.5, 0) if low else (0,))]
    pad = max(-low * 0.05, 1e-9)
    frame = Frame((1, max(iterations, 2)), (low - pad, pad), left=left_margin(y_ticks))
    points = [(frame.x(k), frame.y(value)) for k, value in enumerate(below.tolist(), start=1)]
    marks = "".join(tag("circle", "", cls="dot", cx=x, cy=y, r=2.5) for x, y in points if iterations <= MOST_MARKS)
    x_ticks = [(float(k), f"{k}") for k in sorted({1, (1 + iterations) // 2, iterations})]
    axes = frame.axes(x_ticks, y_ticks, "iteration", "below the largest (nats)")
    curve = tag("polyline", "", cls="curve", points=" ".join(f"{x},{y}" for x, y in points))
    return svg(axes + curve + marks, words)


def calibration_chart(bins: Sequence[CalibrationBin], words: str) -> str:
    """Share of right sets against stated confidence, with intervals."""
    frame = Frame((0, 1), (0, 1), left=left_margin(_percent_ticks()))
    parts = [tag("line", "", cls="diagonal", x1=frame.x(0), y1=frame.y(0), x2=frame.x(1), y2=frame.y(1))]
    for each in bins:
        x = frame.x(each.mean_confidence)
        stated, right = written.probability(each.mean_confidence), written.share(each.right.mean)
        tip = f"{counted(each.count, 'set')}: {stated} stated, {right} right"
        parts.append(tag("line", "", cls="cross", x1=x, x2=x, y1=frame.y(each.right.low), y2=frame.y(each.right.high)))
        parts.append(tag("circle", tag("title", escape(tip)), cls="dot", cx=x, cy=frame.y(each.right.mean), r=4))
    axes = frame.axes(_percent_ticks(), _percent_ticks(), "stated confidence", "share of sets right")
    return svg(axes + "".join(parts), words)


def heat_map(names: Sequence[str], confused: IntArray, words: str) -> str:
    """Rows are true alternatives left out, columns those approved instead; a stronger colour means more ballots."""
    cell = min(34.0, (WIDTH - 120) / len(names))
    side, most = cell * len(names), int(confused.max())
    left, top = 104.0, 92.0
    parts = []
    for k, row in enumerate(names):
        parts.append(_name_label(row, left - 6, top + (k + 0.5) * cell + 4, "tick end"))
        turned = f"translate({left + (k + 0.5) * cell + 4:.1f} {top - 6:.1f}) rotate(-60)"
        parts.append(_name_label(row, 0, 0, "tick", transform=turned))
        for j, column in enumerate(names):
            count, x, y = int(confused[k, j]), left + j * cell, top + k * cell
            if k == j:
                parts.append(_square(x, y, cell, "same", ""))
                continue
            tip = f"{row} left out, {column} approved instead: {counted(count, 'ballot')}"
            parts.append(_square(x, y, cell, "heat", tip, _shade(count, most)))
            if cell >= SMALLEST_WITH_NUMBER:
                parts.append(text(f"{count:,}", x + (cell - 1) / 2, y + cell / 2 + 3.5, "cell middle"))
    parts.append(_scale(left, top + side + 14, most))
    return svg("".join(parts), words, width=round(max(left + side + 40, left + 200)), height=round(top + side + 52))


def _scale(left: float, top: float, most: int) -> str:
    """Five shades from 0 to the largest count."""
    parts = [_square(left + 18 * k, top, 18, "heat", "", _shade(most * k / 4, most)) for k in range(5)]
    parts.append(text("0", left, top + 30, "tick"))
    parts.append(text(counted(most, "ballot"), left + 72, top + 30, "tick"))
    return "".join(parts)


def _shade(count: float, most: int) -> float:
    return round(0.06 + 0.79 * count / most, 3) if count else 0.03


def _square(x: float, y: float, cell: float, cls: str, tip: str, shade: float | None = None) -> str:
    place = {"x": round(x, 2), "y": round(y, 2), "width": round(cell - 1, 2), "height": round(cell - 1, 2)}
    told = tag("title", escape(tip)) if tip else ""
    return tag("rect", told, cls=cls, **place, **({} if shade is None else {"fill_opacity": shade}))


# Parts


def svg(
    content: str, words: str, width: float = WIDTH, height: float = HEIGHT, role: str = "img", **data: float
) -> str:
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


def left_margin(y_ticks: Sequence[tuple[float, str]]) -> int:
    """Room for the labels of the vertical axis beside its title."""
    return round(BESIDE_TICKS + PER_CHARACTER * max(len(label) for _, label in y_ticks))


def round_ticks(most: float) -> list[float]:
    """0 and at most six equal round steps up to the first one that reaches `most`."""
    power = 10.0 ** floor(log10(max(most, 1e-9)))
    steps = (step * power * scale for scale in (0.1, 1) for step in (1, 2, 2.5, 5, 10))
    step = next(step for step in steps if most / step <= MOST_STEPS * (1 + 1e-12))
    return [step * k for k in range(ceil(most / step * (1 - 1e-12)) + 1)]


def percent_ticks_to(most: float) -> list[tuple[float, str]]:
    """Ticks up to a percentage."""
    return [(value, f"{value:g}{written.NO_BREAK}%") for value in round_ticks(most)]


def _percent_ticks() -> list[tuple[float, str]]:
    return [(part / 4, written.whole(part / 4)) for part in range(5)]


def _bar(x: float, y: float, width: float, height: float, cls: str, tip: str) -> str:
    size = {"x": round(x, 2), "y": round(y, 2), "width": round(width, 2), "height": round(height, 2)}
    return tag("rect", tag("title", escape(tip)), cls=cls, **size)


def _size_label(size: int, counts: SizeCounts) -> str:
    return f"{size}+" if counts.open_end and size == len(counts.ballots) - 1 else f"{size}"


def _name_label(name: str, x: float, y: float, cls: str, **attributes: str) -> str:
    shown = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
    return tag("text", tag("title", escape(name)) + escape(shown), cls=cls, x=round(x, 2), y=round(y, 2), **attributes)


def _two_digits(value: float) -> str:
    """`−1,240`, `−3.1`, `−0.0016`, `0`."""
    digits = f"{abs(value):,.0f}" if abs(value) >= TWO_DIGITS else f"{abs(value):.2g}"
    return f"−{digits}" if value < 0 else digits


def _short_band(label: str) -> str:
    """`below 50 %` as `< 50`, `50 to 80 %` as `50–80`, `99.9 % and above` as `≥ 99.9`."""
    label = label.replace(f"{written.NO_BREAK}%", "")
    return label.replace("below ", "< ").replace(" to ", "–") if "above" not in label else f"≥ {label.split()[0]}"


def _in_between(label: str) -> str:
    return f"of {label}" if label[0].isdigit() else label
