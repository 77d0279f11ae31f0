"""What is worked out before threads begin, and on machines that cannot fork."""

import importlib.util
import os
from types import SimpleNamespace

import numpy as np
import pytest

from epivote import Parameters, reference_crowd
from epivote.engines import local
from epivote.estimate import starts


class Nothing:
    """A pass that finds nothing."""

    def hard(self, parameters, counted):
        pass


def rates(hit_rate):
    return Parameters(np.full(3, hit_rate), np.full(3, 0.2), np.full(2, 0.3))


@pytest.mark.parametrize("threads", [1, 2])
def test_moves_since_the_last_pass_are_known_before_threads_ask(monkeypatch, threads):
    asked = []
    known = Parameters.moves_to
    monkeypatch.setattr(
        Parameters, "moves_to", lambda one, other: asked.append((one, other)) or known(one, other), raising=True
    )
    engine = local.LocalEngine([lambda: (Nothing(),)] * 2, 3, 2, threads=threads)
    passes = [rates(hit_rate) for hit_rate in (0.5, 0.6, 0.7)]
    for each in passes:
        engine.hard_sums(each)
    expected = [(passes[0], passes[1]), (passes[1], passes[2])] if threads > 1 else []
    assert [tuple(map(id, pair)) for pair in asked] == [tuple(map(id, pair)) for pair in expected]


def test_it_works_where_nothing_forks(monkeypatch):
    monkeypatch.delattr(os, "register_at_fork", raising=False)
    spec = importlib.util.spec_from_file_location("local_without_fork", local.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again.threads() >= 1


@pytest.mark.parametrize(
    ("most", "worth", "compiled"), [(49, True, True), (48, True, False), (50, True, True), (49, False, False)]
)
def test_pairs_of_voters_are_counted_in_a_table_only_where_it_is_small(monkeypatch, use_loops, most, worth, compiled):
    ballots = reference_crowd(12, 7, 4, 3, seed=2).ballots
    used = SimpleNamespace(compiled=False)
    sorted_way = starts._met_sorted

    def noted(given):
        used.compiled = True
        return sorted_way(given)

    monkeypatch.setattr(starts, "DENSE_CELLS", 0)
    monkeypatch.setattr(starts, "DENSE_PAIRS", most)
    use_loops(worth)
    monkeypatch.setattr(starts, "distances_met", noted)
    assert ballots.n_voters == 7
    starts.total_distances(ballots)
    assert used.compiled == compiled
