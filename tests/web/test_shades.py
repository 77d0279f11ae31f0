"""Shades of a colour by the formulas of WCAG 2.2 and of HSL, worked out here once more."""

import re
from dataclasses import replace

import pytest

from epivote.web.task import read_task
from epivote.web.views.theme import DARK_INK, DARK_PAPER, LIGHT_GROUND, WHITE, contrast, remarks, shade, style
from small_quiz import write_quiz

COLOURS = ("#ffee00", "#8b1e3f", "#0a0b14", "#0b0a00", "#102030", "#00ff80", "#c0c0c0", "#ff8800", "#3355ff")


def luminance(colour):
    """Relative luminance; the sum of what red, green and blue contribute."""
    total = 0.0
    for share, digits in zip((0.2126, 0.7152, 0.0722), re.findall("..", colour[1:]), strict=True):
        value = int(digits, 16) / 255
        total += share * (value / 12.92 if int(digits, 16) <= 10 else ((value + 0.055) / 1.055) ** 2.4)
    return total


@pytest.mark.parametrize("digits", ["{0:02x}0000", "00{0:02x}00", "0000{0:02x}", "{0:02x}{0:02x}{0:02x}"])
def test_contrast_of_every_red_green_blue_and_grey(digits):
    for value in range(256):
        colour = f"#{digits.format(value)}"
        for other in ("#000000", "#ffffff", "#141414"):
            bright, dark = sorted((luminance(colour), luminance(other)), reverse=True)
            assert contrast(colour, other) == pytest.approx((bright + 0.05) / (dark + 0.05), rel=1e-12), colour


def test_the_same_shades_as_ever():
    """By hundredths of lightness: darker for light pages, lighter for dark ones, as little as needed."""
    assert {colour: (shade(colour, LIGHT_GROUND), shade(colour, DARK_PAPER)) for colour in COLOURS} == {
        "#ffee00": ("#756d00", "#ffee00"),
        "#8b1e3f": ("#8b1e3f", "#df698c"),
        "#0a0b14": ("#0a0b14", "#888ec3"),
        "#0b0a00": ("#0b0a00", "#9f9000"),
        "#102030": ("#102030", "#5d93c9"),
        "#00ff80": ("#007a3d", "#00ff80"),
        "#c0c0c0": ("#6c6c6c", "#c0c0c0"),
        "#ff8800": ("#a35700", "#ff8800"),
        "#3355ff": ("#3355ff", "#7088ff"),
    }


def test_a_shade_is_the_first_that_can_be_read():
    for ground in (LIGHT_GROUND, DARK_PAPER):
        for value in range(0, 256, 5):
            found = shade(f"#{value:02x}{value:02x}{value:02x}", ground)
            grey = int(found[1:3], 16)
            assert found == f"#{grey:02x}{grey:02x}{grey:02x}"
            assert contrast(found, ground) >= 4.5
            if grey != value:
                nearer = grey + (4 if ground == LIGHT_GROUND else -4)
                assert contrast(f"#{nearer:02x}{nearer:02x}{nearer:02x}", ground) < 4.5


def test_the_whole_style_sheet():
    assert style("#FFEE00") == (
        ":root { --accent: #756d00; --on-accent: #ffffff; --tint: #f4f3eb; }\n"
        "@media (prefers-color-scheme: dark) { :root { --accent: #ffee00; --on-accent: #10142b; --tint: #4c4a1b; } }\n"
    )


@pytest.mark.parametrize("chosen", ["", "#8b1e3f", "#8B1E3F", "#000000"])
def test_nothing_is_said_of_a_colour_that_can_be_read(tmp_path, chosen):
    task = replace(read_task(write_quiz(tmp_path)), theme_colour=chosen)
    assert remarks(task) == []


def test_what_is_said_of_a_colour_that_is_hard_to_read(tmp_path):
    task = replace(read_task(write_quiz(tmp_path)), theme_colour="#FFEE00")
    assert remarks(task) == [
        "theme_colour #FFEE00 is hard to read on light pages (contrast 1.1, needed 4.5), so these use #756d00"
    ]


def test_what_stands_on_a_colour_can_be_read():
    for colour in COLOURS:
        assert contrast(shade(colour, LIGHT_GROUND), WHITE) >= 4.5
        assert contrast(shade(colour, DARK_PAPER), DARK_INK) >= 4.5
