"""Numbers of the page just below, at and above their limits, against plain loops."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from epivote import Interval
from epivote.report.numbers import (
    Trust,
    confidence_bands,
    confidence_counts,
    size_counts,
    spread_sample,
    top_pairs,
)

EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


def around(value):
    return [each for each in (np.nextafter(value, 0), value, np.nextafter(value, 1)) if 0 <= each <= 1]


# Stated confidence against gold


@pytest.mark.parametrize(
    "right", [Interval(0.5, 0.3, 0.8), Interval(0.5, 0.49, 0.9), Interval(0.5, 0.2, 0.51), Interval(0.75, 0.75, 0.75)]
)
def test_confidence_is_wrong_only_beyond_the_interval_and_two_per_cent(right):
    low, high = min(right.low, right.mean - 0.02), max(right.high, right.mean + 0.02)
    for stated, verdict in (
        (low, "supported"),
        (high, "supported"),
        (right.mean, "supported"),
        (np.nextafter(low, 0), "too low"),
        (np.nextafter(high, 1), "too high"),
        (0.0, "too low"),
        (1.0, "too high"),
    ):
        assert Trust.against_gold("gold", stated, right, 7) == Trust("gold", 7, stated, right, verdict)


# Bands and bins of confidence


@pytest.mark.parametrize("threshold", [0.95, 0.93, 0.5, 0.9995, 1.0])
def test_bands_begin_at_their_lower_ends(threshold):
    lower = sorted({*EDGES, threshold} - {1.0})
    for confidence in (*(value for edge in (*lower, 1.0) for value in around(edge)), 0.3):
        found = confidence_bands(np.array([confidence]), threshold)
        assert found.lower == tuple(lower)
        assert found.counts.tolist() == [
            int(edge <= confidence and (k + 1 == len(lower) or confidence < lower[k + 1]))
            for k, edge in enumerate(lower)
        ]
        assert found.sure == tuple(edge >= threshold for edge in lower)


def test_bins_of_five_per_cent_forgive_rounding():
    for k in range(20):
        assert confidence_counts(np.array([k / 20])).tolist() == [int(b == k) for b in range(20)]
        below = np.array([(k - 3e-10) / 20])
        if k:
            assert confidence_counts(below).tolist() == [int(b == k) for b in range(20)], "as good as the edge"
            assert confidence_counts(np.array([(k - 2e-9) / 20])).tolist() == [int(b == k - 1) for b in range(20)]
    assert confidence_counts(np.array([1.0, 0.95, 1.0])).tolist() == [0] * 19 + [3]
    assert confidence_counts(np.array([0.0])).tolist() == [1, *[0] * 19]


# Samples and orders


def test_a_sample_goes_from_the_most_to_the_least_confident_in_equal_steps():
    rng = random.Random(1)
    for n in range(1, 12):
        confidence = np.array([rng.choice([0.1, 0.5, 0.5, 0.9, 1.0]) for _ in range(n + 3)])
        places = np.array(sorted(rng.sample(range(n + 3), n)))
        order = sorted(places.tolist(), key=lambda z: -confidence[z])
        for count in range(1, 14):
            taken = min(count, n)
            ranks = [0] if taken == 1 else np.linspace(0, n - 1, taken).round().astype(int).tolist()
            assert spread_sample(confidence, places, count).tolist() == [order[rank] for rank in ranks]


def test_equals_keep_their_order_however_many():
    places = np.arange(100)
    confidence = np.tile([0.5, 0.25], 50)
    expected = [*range(0, 100, 2), *range(1, 100, 2)]
    assert spread_sample(confidence, places, 100).tolist() == expected
    confused = np.tile([1, 2], 50).reshape(10, 10)
    found = top_pairs(confused, 100)
    assert [10 * k + j for k, j, _ in found] == [*range(1, 100, 2), *range(0, 100, 2)]


def test_the_most_frequent_confusions():
    rng = random.Random(2)
    for m in (1, 2, 4):
        confused = np.array([[rng.choice([0, 0, 1, 2, 5]) for _ in range(m)] for _ in range(m)])
        pairs = [(k, j, int(confused[k, j])) for k in range(m) for j in range(m)]
        expected = sorted((each for each in pairs if each[2]), key=lambda each: -each[2])
        for count in (1, 3, 20):
            assert top_pairs(confused, count) == expected[:count]


# Sizes


@pytest.mark.parametrize("largest", [0, 1, 3, 15, 16, 17, 20])
@pytest.mark.parametrize("of", ["ballots", "sets", "both"])
def test_sizes_beyond_sixteen_share_a_bar(largest, of):
    rng = random.Random(largest)
    ballots, sets = ([rng.randint(1, 9) for _ in range(largest + 1)] + [0] * 4 for _ in range(2))
    if of == "ballots":
        sets[largest] = 0
    if of == "sets":
        ballots[largest] = 0
    if largest == 0 and of != "both":
        ballots[0] = sets[0] = 1
    found = size_counts(SimpleNamespace(ballot_sizes=np.array(ballots), set_sizes=np.array(sets)))
    last = min(largest, 16)
    assert found.ballots.tolist() == [*ballots[:last], sum(ballots[last:])]
    assert found.answers.tolist() == [*sets[:last], sum(sets[last:])]
    assert found.open_end == (largest > 16)
