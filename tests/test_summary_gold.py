"""Gold sets in a summary: what was given is kept as it was given."""

import pytest

from epivote import Ballots, Majority, Truths, summarize

CAST = {("ann", "y"): {"a"}, ("bo", "y"): {"a"}, ("ann", "z"): {"b"}, ("bo", "z"): {"b"}}


@pytest.fixture(scope="module")
def fitted():
    return Majority(1).fit(Ballots.from_mapping(CAST, alternatives=["a", "b"]))


def test_sets_that_are_checked_already_are_not_checked_again(fitted):
    gold = Truths.from_mapping({"y": {"a"}, "z": {"a"}}, alternatives=["c", "a"])
    summary = summarize(fitted, gold)
    assert summary.gold is gold
    assert summary.gold.alternatives == ("c", "a")
    assert (summary.held_back.n_right, summary.held_back.n_instances) == (1, 2)


def test_a_mapping_becomes_sets(fitted):
    summary = summarize(fitted, {"y": ["a"], "elsewhere": ["b"]})
    assert isinstance(summary.gold, Truths)
    assert dict(summary.gold) == {"y": {"a"}, "elsewhere": {"b"}}
    assert summary.comparable == {"y": {"a"}}
    assert summarize(fitted).gold is None
