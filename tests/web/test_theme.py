"""A colour and a logo of the organiser's choice: always readable."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from epivote.cli import app as command
from epivote.web.task import check_task
from epivote.web.views.theme import DARK_INK, DARK_PAPER, LIGHT_GROUND, READABLE, WHITE, contrast, shade, style
from in_process import joined, visitor
from one_moment import still_app
from small_quiz import QUIZ, write_quiz

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")
THEME = 'theme_colour = "#8B1E3F"\nlogo = "dot.svg"\n'


def test_contrast_as_published():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#ff0000", "#ff0000") == 1


@given(COLOURS)
def test_every_colour_can_be_read_on_both_grounds(colour):
    light, dark = shade(colour, LIGHT_GROUND), shade(colour, DARK_PAPER)
    assert contrast(light, LIGHT_GROUND) >= READABLE
    assert contrast(light, WHITE) >= READABLE
    assert contrast(dark, DARK_PAPER) >= READABLE
    assert contrast(dark, DARK_INK) >= READABLE


def test_a_readable_colour_stays_as_it_is():
    assert shade("#8B1E3F", LIGHT_GROUND) == "#8b1e3f"
    assert shade("#ffffff", DARK_PAPER) == "#ffffff"
    assert "--accent: #8b1e3f;" in style("#8B1E3F")


@pytest.mark.parametrize("colour", ["#000000", "#8b1e3f", "#00ffee", "#ffffff"])
def test_what_is_ticked_stands_on_a_little_of_the_colour(colour):
    """Eight percent of it on white paper, 22 percent on the dark one, which is #191c23."""
    light, dark = shade(colour, LIGHT_GROUND), shade(colour, DARK_PAPER)
    tints = re.findall("--tint: (#[0-9a-f]{6});", style(colour))
    for accent, paper, share, tint in ((light, "#ffffff", 0.08, tints[0]), (dark, "#191c23", 0.22, tints[1])):
        for place in (1, 3, 5):
            own, other, mixed = (int(each[place : place + 2], 16) for each in (accent, paper, tint))
            assert mixed == round(share * own + (1 - share) * other)


@pytest.mark.parametrize(("colour", "is_told"), [("#ffee00", True), ("#8b1e3f", False), ("", False)])
def test_check_tells_of_a_colour_that_is_hard_to_read(tmp_path, colour, is_told):
    quiz = write_quiz(tmp_path, (f'theme_colour = "{colour}"\n' if colour else "") + QUIZ)
    told = CliRunner().invoke(command, ["collect", "check", str(quiz)])
    assert told.exit_code == 0
    found = re.search(
        r"#ffee00 is hard to read on light pages \(contrast 1\.\d, needed 4\.5\), so these use #", told.stdout
    )
    assert bool(found) == is_told


@pytest.mark.parametrize("colour", ["red", "#12345", "#12345g", "123456", "#123456; x"])
def test_what_is_not_a_colour(tmp_path, colour):
    _, (mistake,) = check_task(write_quiz(tmp_path, f'theme_colour = "{colour}"\n{QUIZ}'))
    assert f"theme_colour {colour!r} is not a colour; write six hexadecimal digits" in mistake.sentence


def test_pages_have_the_colour_and_the_logo(tmp_path):
    with still_app(tmp_path, THEME + QUIZ) as app:
        ann = joined(app, "ann")
        logo = f'<img class="logo" src="{app.state.site.picture("dot.svg")}" alt="">'
        for path in ("/", "/question/1", "/end", "/privacy"):
            assert logo in ann.get(path).text
        for path in ("/", "/question/1", "/nowhere"):
            (address,) = re.findall(r'href="(/theme\.css[^"]*)"', ann.get(path).text)
        sent = ann.get(address)
        assert (sent.headers["content-type"], sent.text) == ("text/css; charset=utf-8", style("#8B1E3F"))


def test_a_logo_is_shown_before_the_task_opens_and_nothing_else(tmp_path):
    (tmp_path / "logo.png").touch()
    text = f'opens = 2999-01-01T00:00:00Z\nlogo = "logo.png"\n{QUIZ}'
    with still_app(tmp_path, text) as app:
        assert visitor(app).get(app.state.site.picture("logo.png")).status_code == 200
        assert visitor(app).get(app.state.site.picture("dot.svg")).status_code == 404


def test_without_a_theme_there_is_none(tmp_path):
    with still_app(tmp_path) as app:
        page = visitor(app).get("/").text
        assert "theme.css" not in page
        assert "logo" not in page
        assert visitor(app).get("/theme.css").status_code == 404
