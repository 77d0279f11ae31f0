"""Sentences of the page to the letter, and the shaded band of allowed sizes."""

import re

import numpy as np
import pytest

from epivote import EM, Ballots, summarize
from epivote.report import content, svg
from epivote.report.numbers import SizeCounts

CAST = {
    ("ann", "q1"): {"a"},
    ("ann", "q2"): {"a", "b"},
    ("bo", "q1"): set(),
    ("bo", "q2"): {"a", "b", "c"},
}


@pytest.fixture(scope="module")
def summary():
    return summarize(EM((1, 2)).fit(Ballots.from_mapping(CAST, alternatives=["a", "b", "c"])))


def test_words_about_the_map(summary):
    known = "Every dot is a voter, its area the number of ballots. Orange with a ring: worth a look. "
    assert content.map_in_words(summary, 2, crosses=True) == f"{known}Lines are 0.95 intervals."
    some = f"{known}The voter looked at shows its 0.95 intervals as lines. Drawn are 1 of 2 voters, those with most ballots."
    assert content.map_in_words(summary, 1, crosses=False) == some


def test_words_about_agreement(summary):
    """Pairs on one instance: {a} and {}, {a, b} and {a, b, c}; c is ticked once on four ballots."""
    words = content.agreement_in_words(summary)
    assert words.startswith("Agreement among voters (Krippendorff's alpha; 1 is perfect, 0 is chance): 0.00 over whole")
    assert words.endswith(" Lowest for single alternatives: a (0.00), c (0.00), b (1.00).")
    alone = summarize(EM((1, 2)).fit(Ballots.from_mapping({("ann", "q1"): {"a"}}, alternatives=["a", "b", "c"])))
    assert content.agreement_in_words(alone) == (
        "No instance has two ballots, so agreement among voters cannot be measured."
    )


def test_words_about_items(summary):
    whole = "Open an item to see its most probable sets, why it got its set, and all its ballots."
    assert content.items_in_words(summary, 2) == whole
    assert (
        content.items_in_words(summary, 1)
        == f"{whole} The page keeps the 1 most doubtful items; 1 surer ones are left out."
    )


def test_ballots_at_a_bound_are_inside(summary):
    """Of sizes 0, 1, 2 and 3 two are allowed."""
    assert "50% of the ballots have a size that their item's answer may not have." in content.sizes_of_both(
        summary.estimate
    )


@pytest.mark.parametrize(("bounds", "edges"), [((1, 2), (0.5, 2.5)), ((0, 3), (-0.5, 3.5)), ((2, 9), (1.5, 4.5))])
def test_the_band_covers_the_bars_of_allowed_sizes_and_no_others(bounds, edges):
    counts = SizeCounts(np.array([1, 2, 3, 2, 1]), np.array([0, 4, 4, 0, 0]), open_end=False)
    drawing = svg.size_bars(counts, bounds, "words")
    found = re.search(r'<rect class="band" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing)
    left, width = map(float, found.groups())
    frame = svg.Frame((-0.5, 4.5), (0, 1))
    assert left == pytest.approx(frame.x(edges[0]), abs=0.02)
    assert left + width == pytest.approx(frame.x(edges[1]), abs=0.02)
