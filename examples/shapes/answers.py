"""Where the quiz lies and what is right: read by bots and measurements, never by the server."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from epivote import read_truths
from examples.crowd.pages import fingerprint

from .draw import SHAPES

HERE = Path(__file__).parent
QUIZ = HERE / "quiz.toml"


def picture_of(instance: str) -> str:
    """The file that an instance shows: `picture 07` shows pictures/07.svg."""
    return f"pictures/{instance.removeprefix('picture ')}.svg"


@cache
def look_of(instance: str) -> str:
    """What the picture of an instance shows, as somebody who loads it finds out."""
    return fingerprint((HERE / picture_of(instance)).read_bytes())


def indices(shapes: Iterable[str]) -> frozenset[int]:
    """Places of shapes among the alternatives, as the boxes of a page number them; empty names stand for none."""
    return frozenset(SHAPES.index(shape) for shape in shapes if shape)


def answers() -> dict[str, frozenset[int]]:
    """The shapes hidden in each picture, by what it shows."""
    return {look_of(name): indices(shapes) for name, shapes in read_truths(HERE / "gold.csv").items()}
