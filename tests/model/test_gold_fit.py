"""Calibration learnt from gold: against enumeration of all sets, finite differences, and another minimiser."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from epivote.data.calibration import Calibration
from epivote.model.calibrated import translated
from epivote.model.gold_fit import (
    CENTRES,
    SIZES_UNKNOWN,
    STRENGTHS,
    Beliefs,
    GoldTable,
    Setting,
    _Problem,
    learn_calibration,
    settings_of,
)
from epivote.model.set_odds import SetOdds

SOME = Beliefs("some", 0.7, 0.3, 1.0, 0.5)


def random_tables(seed, rows=4, width=4, bounds=((1, 2), (0, 4))):
    rng = np.random.default_rng(seed)
    tables = []
    for lower, upper in bounds:
        sets = np.zeros((rows, width), bool)
        for row in sets:
            row[rng.permutation(width)[: rng.integers(lower, upper + 1)]] = True
        margins, shares = rng.normal(0, 3, (rows, width)), rng.normal(0, 1, (rows, width))
        tables.append(GoldTable(margins, shares, sets, None, lower, upper))
    return tables


def value_by_hand(units, tables, beliefs, centre):
    """Sum over gold instances of -ln P(gold set), all sets written out, plus half the squared distance."""
    log_scale, model, share, offset = (
        c + s * u
        for c, s, u in zip(
            (0, *centre, 0), (beliefs.log_scale, beliefs.weights, beliefs.weights, beliefs.offset), units, strict=False
        )
    )
    offsets = [beliefs.offsets * u for u in units[4:]] or None
    total = 0.5 * sum(u * u for u in units)
    for table in tables:
        for m, s, gold in zip(table.margins, table.shares, table.sets, strict=True):
            odds = [math.exp(log_scale) * (model * a + share * b) + offset for a, b in zip(m, s, strict=True)]
            if offsets:
                odds = [a + b for a, b in zip(odds, offsets, strict=True)]
            weights = [
                math.exp(math.fsum(odds[j] for j in chosen))
                for size in range(table.lower, table.upper + 1)
                for chosen in itertools.combinations(range(len(odds)), size)
            ]
            total += math.log(math.fsum(weights)) - math.fsum(odds[j] for j in np.flatnonzero(gold))
    return total


@pytest.mark.parametrize("n_offsets", [0, 4])
@pytest.mark.parametrize("centre", CENTRES)
def test_value_and_gradient_are_those_of_all_sets_written_out(n_offsets, centre):
    tables = random_tables(3)
    problem = _Problem(tables, n_offsets, SOME, centre)
    rng = np.random.default_rng(1)
    points = rng.normal(0, 0.7, (3, 4 + n_offsets))
    values, gradients = problem.values_and_gradients(points)
    for at, value, gradient in zip(points, values, gradients, strict=True):
        assert value == pytest.approx(value_by_hand(at, tables, SOME, centre), rel=1e-10)
        for j in range(len(at)):
            step = np.eye(len(at))[j] * 1e-5
            slope = (
                value_by_hand(at + step, tables, SOME, centre) - value_by_hand(at - step, tables, SOME, centre)
            ) / 2e-5
            assert gradient[j] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("beliefs", [*STRENGTHS[1:4], SIZES_UNKNOWN[1]], ids=lambda each: f"{each.name} {each.offset}")
def test_the_minimum_is_where_another_minimiser_finds_it(beliefs):
    tables = random_tables(5, rows=6)
    problem = _Problem(tables, 4, beliefs, (0.5, 0.5))
    (model, share, *offsets), log_evidence = problem.minimum()
    other = minimize(value_by_hand, np.zeros(8), (tables, beliefs, (0.5, 0.5)), method="BFGS", options={"gtol": 1e-8})
    spread = np.array([beliefs.log_scale, beliefs.weights, beliefs.weights, beliefs.offset, *[beliefs.offsets] * 4])
    log_scale, *weights = other.x[:3] * spread[:3] + [0, 0.5, 0.5]
    assert (model, share) == pytest.approx(np.exp(log_scale) * np.array(weights), abs=1e-3)
    at = other.x
    assert offsets == pytest.approx(at[3:] * spread[3:], abs=1e-3)
    curvature = np.empty((8, 8))
    h = 1e-3 * np.eye(8)
    for i, j in itertools.product(range(8), repeat=2):
        corners = [at + h[i] + h[j], at + h[i] - h[j], at - h[i] + h[j], at - h[i] - h[j]]
        a, b, c, d = (value_by_hand(each, tables, beliefs, (0.5, 0.5)) for each in corners)
        curvature[i, j] = (a - b - c + d) / 4e-6
    assert log_evidence == pytest.approx(-other.fun - np.linalg.slogdet(curvature)[1] / 2, abs=2e-3)


def effective(calibration):
    """What multiplies m and s, and all offsets."""
    scale = calibration.scale
    return np.array([scale * calibration.model_weight, scale * calibration.share_weight, *calibration.offsets])


def test_what_all_settings_say_is_pooled_by_their_evidence():
    tables = random_tables(7, rows=8)
    every = settings_of(STRENGTHS)
    assert len(every) == 12
    slope, level = np.polyfit(*(np.concatenate([t[k].ravel() for t in tables]) for k in (1, 0)), 1)
    alike = [table._replace(shares=slope * table.shares + level) for table in tables]
    evidence = np.array([_Problem(alike, 4, each.beliefs, each.centre).minimum().log_evidence for each in every])
    weights = np.exp(evidence - evidence.max()) * [0.8, *(11 * [0.2 / 11])]
    weights[weights < 0.01 * weights.sum()] = 0
    weights /= weights.sum()
    assert 1 < np.sum(weights > 0) < 12
    pooled = learn_calibration(tables, 4)
    assert pooled.weights == {s: pytest.approx(w) for s, w in zip(every, weights, strict=True) if w}
    single = [learn_calibration(tables, 4, [each]).calibration for each in every]
    assert effective(pooled.calibration) == pytest.approx(weights @ [effective(each) for each in single])
    assert pooled.calibration.offset == pytest.approx(weights @ [each.offset for each in single])
    again = learn_calibration(tables, 4, weights={every[0]: 0.25, every[9]: 0.75})
    assert effective(again.calibration) == pytest.approx(0.25 * effective(single[0]) + 0.75 * effective(single[9]))


def test_the_share_counts_as_what_it_says_about_the_log_odds_of_the_fit():
    """Half model, half share: halves of numbers of the same size, whatever the number of ballots."""
    rng = np.random.default_rng(3)
    shares = rng.normal(0, 1, (30, 4))
    margins = 8 * shares - 3
    kept = Setting(Beliefs("fixed", 1e-6, 1e-6, 1e-6, 1e-6), (0.5, 0.5))
    table = GoldTable(margins, shares, shares > 0.5, None, 0, 4)
    found = learn_calibration([table], 4, [kept]).calibration
    assert translated(margins, shares, None, found) == pytest.approx(margins, abs=1e-3)
    assert (found.scale, found.model_weight, found.share_weight) == pytest.approx((1, 0.5, 4), abs=1e-4)
    alone = learn_calibration([table._replace(margins=0 * margins)], 4, [kept]).calibration
    assert (alone.scale, alone.share_weight, alone.offset) == pytest.approx((1, 0.5, 0), abs=1e-4)


def test_evidence_prefers_to_change_nothing_where_log_odds_are_true():
    rng = np.random.default_rng(2)
    margins = rng.normal(0, 2, (40, 5))
    sets = rng.random(margins.shape) < 1 / (1 + np.exp(-margins))
    shares = margins / 3 + rng.normal(0, 0.5, margins.shape)
    best = learn_calibration([GoldTable(margins, shares, sets, None, 0, 5)], 5)
    first = max(best.weights, key=best.weights.get)
    assert (first.beliefs.name, first.centre, first.probability) == ("next to none", (1.0, 0.0), 0.8)
    assert best.weights[first] > 0.9
    assert best.calibration.scale == pytest.approx(1, abs=0.1)


def test_a_scale_is_recovered():
    rng = np.random.default_rng(4)
    true = rng.normal(0, 1.5, (200, 5))
    sets = rng.random(true.shape) < 1 / (1 + np.exp(-true))
    found = learn_calibration([GoldTable(4 * true, 0 * true, sets, None, 0, 5)], 5).calibration
    assert found.scale * found.model_weight == pytest.approx(0.25, abs=0.05)
    shifted = rng.random(true.shape) < 1 / (1 + np.exp(-(true - 1)))
    found = learn_calibration([GoldTable(true, 0 * true, shifted, None, 0, 5)], 5).calibration
    assert (found.offset + found.offsets).mean() == pytest.approx(-1, abs=0.3)


def test_an_alternative_that_is_judged_otherwise_gets_an_offset():
    rng = np.random.default_rng(6)
    margins = rng.normal(0, 1.5, (300, 3))
    sets = rng.random(margins.shape) < 1 / (1 + np.exp(-(margins + np.array([2, 0, -2]))))
    found = learn_calibration([GoldTable(margins, 0 * margins, sets, None, 0, 3)], 3).calibration
    assert found.offsets[0] - found.offsets[1] == pytest.approx(2, abs=0.7)
    assert found.offsets[1] - found.offsets[2] == pytest.approx(2, abs=0.7)
    alike = learn_calibration([GoldTable(margins, 0 * margins, sets, None, 0, 3)], 3, with_offsets=False).calibration
    assert alike.offsets.tolist() == [0, 0, 0]


def test_the_identity_changes_nothing_to_the_last_bit():
    rng = np.random.default_rng(0)
    margins, shares = rng.normal(0, 30, (50, 7)), rng.normal(0, 3, (50, 7))
    assert np.array_equal(translated(margins, shares, None, Calibration.identity(7)), margins)
    offered = rng.integers(9, size=(50, 7))
    assert np.array_equal(translated(margins, shares, offered, Calibration.identity(9)), margins)


def test_the_formula_with_menus():
    known = Calibration(2.0, 0.5, 0.25, -1.0, [10.0, 20.0, 30.0], "gold")
    found = translated(np.array([[1.0, 2.0]]), np.array([[4.0, 8.0]]), np.array([[2, 0]]), known)
    assert found.tolist() == [[2 * (0.5 + 1) - 1 + 30, 2 * (1 + 2) - 1 + 10]]
    assert known == Calibration(**known.state())
    assert known != known.with_offsets([10.0, 20.0, 31.0])
    with pytest.raises(ValueError, match="read-only"):
        known.offsets[0] = 1


def test_evidence_is_added_to_one_row():
    odds = SetOdds(np.array([[1.0, -1.0], [0.5, 2.0]]), 0, 1)
    assert odds.with_evidence(1, np.array([[1.0, 0.0], [0.0, -3.0]])).log_odds.tolist() == [[1.5, 2.0], [0.5, -1.0]]


def test_only_a_fit_is_believed_to_be_right_beforehand():
    assert [each.probability for each in settings_of(STRENGTHS)] == pytest.approx([0.8, *(11 * [0.2 / 11])])
    assert {each.probability for each in settings_of(STRENGTHS, [(0.0, 1.0)])} == {1.0}
