"""Compiled loops made ready by a thread, while a large file is still being read.

The first use after an installation compiles them, for several seconds; later ones load numba and what was kept on disk,
for about one. Neither has to wait for the ballots: a loop is compiled for the types of its arguments, and those of any
few ballots are those of all. So passes over four ballots make ready what a fit will use.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread

import numpy as np

from epivote.data.ballots import Ballots
from epivote.data.bounds import SizeBounds
from epivote.data.lists import Lists
from epivote.data.parameters import Parameters
from epivote.data.shards import make_shards
from epivote.kernels import compiling
from epivote.kernels.passes import CompiledPass
from epivote.kernels.texts import BEYOND, Texts
from epivote.model.statistics import PassCounts


def warm_up(*, soft: bool, text: bool = False) -> Thread | None:
    """Begin to make the loops ready that a fit to ballots in memory uses: those of EM if `soft`, else those of AMLE.

    If `text`, those that read plain text come first: whoever reads waits for them, since only one thread can compile.

    These are the ones for ballots without menus and gold on at most 64 alternatives; others are compiled where they are
    needed. Gives the thread, or None if there is nothing to do. A thread that fails leaves everything to the fit, which
    then fails with a message, or does not. A fit that needs a loop earlier waits for it at numba's own lock.
    """
    if compiling.loaded() or not compiling.can_compile():
        return None
    compiling.nobody_loads.clear()
    thread = Thread(target=_make_ready, args=(soft, text), name="epivote-warm-up", daemon=True)
    thread.start()
    return thread


def _make_ready(soft: bool, text: bool) -> None:
    with suppress(Exception):
        try:
            import_module("epivote.kernels.decorators")
        finally:
            compiling.nobody_loads.set()
        if text:
            use_text_loops()
        use_all(few_ballots(), soft=soft)


def few_ballots() -> Ballots:
    """Two voters on two instances with two alternatives."""
    return Ballots.from_array(np.array([[[1, 0], [1, 1]], [[0, 1], [0, 1]]]))


def use_text_loops() -> None:
    """Call every loop once that reading plain text calls."""
    from epivote.kernels.gather import gathered
    from epivote.kernels.text_loops import split_rows

    text, places, texts = np.zeros(1 + BEYOND, np.uint8), np.zeros((2, 1, 1), np.int64), Texts()
    split_rows(text, 1, text, np.zeros(1, np.int64), *places)
    numbers = texts.number(text, *places[:, 0])
    gathered(Lists(np.zeros(2, np.int64), text[:0]), numbers)


def use_all(ballots: Ballots, *, soft: bool) -> None:
    """Call every loop once that a fit to such ballots calls, in the order in which it needs them."""
    (shard,) = make_shards(ballots.columns(), *SizeBounds(1, 1).resolve(ballots))
    one, counts = CompiledPass(shard, None), PassCounts.none(ballots.n_voters, ballots.n_alternatives)
    parameters = Parameters.alike(ballots.n_voters, 0.7, 0.2, np.full(ballots.n_alternatives, 0.5))
    if soft:
        one.soft(parameters, counts)
    else:
        _count_pairs(ballots)
        one.hard(parameters, counts)
    one.sets(parameters)
    _ = one.set_odds(one.margins(parameters)).inclusion


def _count_pairs(ballots: Ballots) -> None:
    """As for the first guess of AMLE, whose counts have 32 bits unless a voter cast very many ballots."""
    from epivote.kernels.masks import masks_of
    from epivote.kernels.pairs import distances_met

    masks, n = masks_of(ballots.approval_start, ballots.approved), ballots.n_voters
    room = np.zeros((n, n), np.uint32), np.zeros((2, n)), np.zeros((2, n))
    distances_met(ballots.ballot_start, ballots.ballot_voter, masks, *room)
