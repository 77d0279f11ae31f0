"""How much is measured: once for the page, once small for the tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.page.sheet import Sheet
from experiments.pieces import Piece, Results


@dataclass(frozen=True)
class Extent:
    """Data, sizes of batches and numbers of repeats."""

    data: str = "quiz"
    sizes: Sequence[int] = range(10, 75)
    paper_batches: int = 20
    many_batches: int = 200
    formula_batches: int = 60
    bird_sizes: Sequence[int] = (5, 8, 12, 16, 20)
    start_sizes: Sequence[int] = (10, 20, 30, 40, 50, 60, 70)
    random_starts: int = 10
    random_starts_on_all: int = 200
    timed_sizes: Sequence[int] = range(10, 75, 4)
    timed_crowds: Sequence[int] = (100, 300, 1000, 3000)
    timed_repeats: int = 10
    timed_crowd_repeats: int = 4
    soft_sizes: Sequence[int] = (5, 10, 15, 20, 30, 40, 50, 60, 70)
    soft_batches: int = 60
    ballots_each: Sequence[int] = (2, 3, 5, 8, 12, 20, 30)
    broken_percent: Sequence[int] = range(0, 100, 10)
    crowds: int = 40


@dataclass(frozen=True)
class Section:
    """A part of the page: what it must have measured, what must be timed alone, and how it is written."""

    name: str
    write: Callable[[Results, Extent, Sheet], None]
    pieces: Callable[[Extent], list[Piece]] = lambda _: []
    timed: Callable[[Extent], list[Piece]] = lambda _: []
