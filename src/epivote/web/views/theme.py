"""A colour of the organiser's choice, made dark or light enough to be read."""

from __future__ import annotations

from colorsys import hls_to_rgb, rgb_to_hls
from functools import cache

from epivote.web.task import Task

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""
READABLE = 4.5  # contrast of text: WCAG 2.2, level AA
STEP = 0.01  # of lightness, while looking for a readable shade
WHITE, LIGHT_GROUND, DARK_PAPER, DARK_INK = "#ffffff", "#eef0f5", "#242831", "#10142b"
"""Of collect.css: of light pages the darkest and of dark pages the lightest surface that text stands on."""
LIGHT_TINT, DARK_TINT = 0.08, 0.22  # share of the colour in the ground of what is ticked


def style(chosen: str) -> str:
    """A style sheet that gives the pages a colour, in both schemes."""
    light, dark = shade(chosen, LIGHT_GROUND), shade(chosen, DARK_PAPER)
    return (
        f":root {{ --accent: {light}; --on-accent: {WHITE}; --tint: {_mixed(light, WHITE, LIGHT_TINT)}; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ --accent: {dark}; --on-accent: {DARK_INK}; "
        f"--tint: {_mixed(dark, '#191c23', DARK_TINT)}; }} }}\n"
    )


def remarks(task: Task) -> list[str]:
    """What to tell the organiser about the colour: that another shade is used."""
    chosen = task.theme_colour
    if not chosen:
        return []
    light = shade(chosen, LIGHT_GROUND)
    if light == chosen.lower():
        return []
    seen = f"contrast {contrast(chosen, LIGHT_GROUND):.1f}, needed {READABLE}"
    return [f"theme_colour {chosen} is hard to read on light pages ({seen}), so these use {light}"]


@cache
def shade(chosen: str, ground: str) -> str:
    """The colour itself if it can be read on a ground, else the nearest shade of it that can."""
    hue, lightness, saturation = rgb_to_hls(*_parts(chosen))
    step = -STEP if _luminance(ground) > 0.5 else STEP
    found = chosen.lower()
    while contrast(found, ground) < READABLE:  # black and white can be read on every ground of the pages
        lightness += step
        found = _written(hls_to_rgb(hue, lightness, saturation))
    return found


def contrast(one: str, other: str) -> float:
    """How well a colour is told from another, from 1 (not at all) to 21: WCAG's ratio of luminances."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mixed(one: str, other: str, share: float) -> str:
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(_parts(one), _parts(other), strict=True))
    return _written((red, green, blue))


def _parts(colour: str) -> Colour:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


def _written(colour: Colour) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
