"""Sentences of the page to the letter, and the shaded band of allowed sizes."""

import re

import numpy as np
import pytest

from epivote import EM, Ballots, summarize
from epivote.report import content, svg
from epivote.report.counts import Counts
from epivote.report.embedded import Shown
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
    known = (
        "Both axes are in log-odds, so that the distance from the dashed line, across or up, is the voter's weight. Every dot is a voter, "
        "its area the number of ballots. Orange with a ring: flagged. "
    )
    assert content.map_in_words(summary, 2, crosses=True) == f"{known}Lines are 95\u00a0% intervals."
    some = f"{known}Point at a dot to see its 95\u00a0% intervals. Drawn are 1 of 2 voters, those with most ballots."
    assert content.map_in_words(summary, 1, crosses=False) == some


def test_words_about_agreement(summary):
    """Pairs on one instance: {a} and {}, {a, b} and {a, b, c}; c is approved once on four ballots."""
    bars = content.agreement_bars(summary.agreement)
    assert [bar.label for bar in bars] == ["Whole sets", "Jaccard distance", "MASI distance", "Single alternatives"]
    assert (bars[0].text, bars[0].percent) == ("0.00", "0.0")
    weakest = content.weakest_bars(summary.agreement)
    assert [(bar.label, bar.text, bar.percent) for bar in weakest] == [
        ("a", "0.00", "0.0"),
        ("c", "0.00", "0.0"),
        ("b", "1.00", "100.0"),
    ]
    assert "1 is perfect agreement, 0 is chance." in content.agreement_in_words(summary.agreement)
    alone = summarize(EM((1, 2)).fit(Ballots.from_mapping({("ann", "q1"): {"a"}}, alternatives=["a", "b", "c"])))
    assert content.agreement_bars(alone.agreement) == content.weakest_bars(alone.agreement) == []
    assert content.agreement_in_words(alone.agreement) == (
        "No instance has two ballots, so agreement among voters cannot be measured."
    )


def test_disagreement_beyond_chance_is_negative_and_has_no_bar():
    cast = {("ann", "q1"): {"a"}, ("bo", "q1"): {"b"}, ("ann", "q2"): {"b"}, ("bo", "q2"): {"a"}}
    found = summarize(EM((1, 2)).fit(Ballots.from_mapping(cast))).agreement
    assert found.nominal < 0
    bar = content.agreement_bars(found)[0]
    assert (bar.text, bar.percent) == (f"−{-found.nominal:.2f}", "0.0")


def test_words_about_instances(summary):
    whole = content.instances_in_words(summary, Shown(np.arange(2), 0))
    assert whole.endswith(
        "Open an instance to see its most probable sets, what every ballot contributed, and all its ballots."
    )
    for n_doubtful, chosen in (
        (1, "the 1 most doubtful"),
        (0, "a random sample of 1 (seed 0)"),
    ):
        words = f"The page holds 1 of 2 instances: {chosen}. All counts and charts are of all instances."
        assert content.instances_in_words(summary, Shown(np.arange(1), n_doubtful)) == f"{whole} {words}"


def test_ballots_at_a_bound_are_inside(summary):
    """Of sizes 0, 1, 2 and 3 two are allowed."""
    assert "50\u00a0% of the ballots have a size outside the size bounds of their instance." in content.sizes_of_both(
        Counts.of(summary.estimate)
    )


@pytest.mark.parametrize(("bounds", "edges"), [((1, 2), (0.5, 2.5)), ((0, 3), (-0.5, 3.5)), ((2, 9), (1.5, 4.5))])
def test_the_band_covers_the_bars_of_allowed_sizes_and_no_others(bounds, edges):
    counts = SizeCounts(np.array([1, 2, 3, 2, 1]), np.array([0, 4, 4, 0, 0]), open_end=False)
    drawing = svg.size_bars(counts, bounds, "words")
    found = re.search(r'<rect class="band" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing)
    left, width = map(float, found.groups())
    frame = svg.Frame((-0.5, 4.5), (0, 1), left=53)  # room for `50 %`
    assert left == pytest.approx(frame.x(edges[0]), abs=0.02)
    assert left + width == pytest.approx(frame.x(edges[1]), abs=0.02)
