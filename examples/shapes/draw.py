"""Pictures with hidden shapes: short strokes along an outline, among as many strokes that lie anyhow.

The eye joins strokes that continue one another, so an outline is seen although its strokes are no closer, darker or
longer than the others. Turning and shifting its strokes, or leaving some out, hides it as well as one likes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIDE = 320
STROKE = 11.0  # length of a stroke
APART = 15.0  # of neighbouring strokes, on outlines and elsewhere
QUARTER = np.pi / 2
SHAPES = ("circle", "cross", "hexagon", "square", "star", "triangle")


def picture(shapes: tuple[str, ...], noise: float, rng: np.random.Generator) -> str:
    """An SVG that hides these shapes; `noise` 0 shows them plainly, at 1 hardly anybody sees them."""
    centres = np.empty((0, 2))
    angles = np.empty(0)
    for place, shape in zip(places(len(shapes), rng), shapes, strict=True):
        middles, tangents = along(outline(shape, rng) + place)
        kept = rng.random(len(middles)) >= 0.06 + 0.24 * noise
        kept &= distance(middles, centres) > 0.6 * APART
        middles, tangents = middles[kept], tangents[kept]
        centres = np.vstack([centres, middles + rng.normal(0, 0.4 + 1.6 * noise, middles.shape)])
        angles = np.concatenate([angles, tangents + rng.normal(0, 0.04 + 0.36 * noise, len(tangents))])
    around = rng.uniform(STROKE, SIDE - STROKE, (4000, 2))
    for point in around:
        if distance(point[None], centres)[0] > 0.85 * APART:
            centres = np.vstack([centres, point])
            angles = np.append(angles, rng.uniform(0, np.pi))
    return svg(centres, angles)


def places(count: int, rng: np.random.Generator) -> Array:
    """Where the shapes stand: one near the middle, two side by side along a random direction."""
    direction = rng.uniform(0, 2 * np.pi)
    apart = rng.uniform(48, 62) * np.array([np.cos(direction), np.sin(direction)])
    offsets = np.array([[0.0, 0.0]]) if count == 1 else np.array([-apart, apart])
    return SIDE / 2 + offsets + rng.uniform(-12, 12, offsets.shape)


def outline(shape: str, rng: np.random.Generator) -> Array:
    """The corners of a shape around 0, turned at random; a circle has many."""
    return rng.uniform(66, 80) * turned(CORNERS[shape], rng.uniform(0, 2 * np.pi))


def turned(corners: Array, angle: float) -> Array:
    """Corners turned around 0."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.asarray(corners @ np.array([[cosine, sine], [-sine, cosine]]))


def regular(corners: int, radii: tuple[float, ...]) -> Array:
    """Corners at equal angles, their radii taken in turn."""
    angles = 2 * np.pi * np.arange(corners) / corners
    return np.asarray(np.resize(radii, corners)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]))


def cross(arm: float) -> Array:
    """Twelve corners: three of each arm, the next arm a quarter turn further."""
    corners = np.array([(1, arm), (1, -arm), (arm, -arm)])
    return np.vstack([turned(corners, -quarters * QUARTER) for quarters in range(4)])


CORNERS: dict[str, Array] = {
    "circle": regular(72, (0.95,)),
    "cross": cross(arm=0.34),
    "hexagon": regular(6, (1.0,)),
    "square": regular(4, (1.1,)),
    "star": regular(10, (1.15, 0.5)),
    "triangle": regular(3, (1.2,)),
}


UPRIGHT = {"circle": 0.0, "cross": 0.0, "hexagon": 0.0, "square": QUARTER / 2, "star": -QUARTER, "triangle": -QUARTER}


def along(corners: Array) -> tuple[Array, Array]:
    """Middles and directions of strokes that divide a closed outline evenly."""
    steps = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*steps.T)
    ends = np.cumsum(lengths)
    count = round(ends[-1] / APART)
    where = (np.arange(count) + 0.5) * ends[-1] / count
    side = np.searchsorted(ends, where)
    share = 1 - (ends[side] - where) / lengths[side]
    return corners[side] + share[:, None] * steps[side], np.arctan2(steps[side, 1], steps[side, 0])


def distance(points: Array, others: Array) -> Array:
    """From each point to the nearest of the others; without others, infinite."""
    between = np.hypot(*(points[:, None] - others[None]).transpose(2, 0, 1))
    return np.asarray(between.min(axis=1, initial=np.inf))


def svg(centres: Array, angles: Array) -> str:
    """All strokes as one path, in an order that gives nothing away."""
    halves = STROKE / 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    starts, ends = np.rint(centres - halves).astype(int), np.rint(centres + halves).astype(int)
    strokes = sorted(np.hstack([starts, ends - starts]).tolist())
    drawn = "".join(f"M{x} {y}l{dx} {dy}" for x, y, dx, dy in strokes)
    return framed(drawn, side=SIDE, width=2.4)


def icon(shape: str, side: int = 64) -> str:
    """A shape drawn plainly, standing upright."""
    corners = (side / 2 + 0.36 * side * turned(CORNERS[shape], UPRIGHT[shape])).round(1).tolist()
    return framed("M" + "L".join(f"{x:g} {y:g}" for x, y in corners) + "Z", side=side, width=4)


def framed(path: str, side: int, width: float) -> str:
    """A square SVG: one path in dark on white, so that it looks the same on a dark page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" viewBox="0 0 {side} {side}">'
        f'<rect width="{side}" height="{side}" fill="#fff"/>'
        f'<path d="{path}" fill="none" stroke="#222" stroke-width="{width}" stroke-linecap="round"/></svg>\n'
    )
