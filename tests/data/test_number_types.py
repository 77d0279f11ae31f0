"""Counts at the edge of an integer type: what is numbered last is not taken for what is numbered first."""

import numpy as np
import pytest

from epivote import Ballots, Truths, write_packed
from epivote.data.any_ballots import pairs_in
from epivote.data.build import assemble, without_alternative
from epivote.data.lists import Lists
from epivote.data.names import smallest_integers

EDGES = [64, 65, 255, 256, 257, 65_536]


@pytest.mark.parametrize(
    ("limit", "kind"),
    [
        (0, np.uint8),
        (254, np.uint8),
        (255, np.uint8),
        (256, np.uint16),
        (65_535, np.uint16),
        (65_536, np.int32),
        (2**31 - 1, np.int32),
    ],
)
def test_the_smallest_type_holds_the_limit_itself(limit, kind):
    found = smallest_integers(np.array([0, limit]), limit)
    assert found.dtype == kind
    assert found.tolist() == [0, limit]


def named(kind, count):
    return tuple(f"{kind}{number}" for number in range(count))


@pytest.mark.parametrize("count", EDGES)
def test_the_last_of_many_alternatives_is_ticked_offered_and_packed(tmp_path, count):
    names = named("a", count)
    first, last, before = names[0], names[-1], names[-2]
    cast = {("v", "y"): {last}, ("w", "y"): {first, before}, ("v", "z"): {before, last}, ("w", "z"): set()}
    ballots = Ballots.from_mapping(cast, alternatives=names)
    assert dict(ballots.items()) == cast
    menu = {"y": [first, before, last], "z": [before, last]}
    offered = Ballots.from_mapping(cast, alternatives=names, menu=menu)
    assert dict(offered.items()) == cast
    assert {z: set(offered.offered(z)) for z in menu} == {z: set(each) for z, each in menu.items()}
    for each in (ballots, offered, ballots.select(instances=["z", "y"])):
        assert write_packed([each], tmp_path / f"{len(list(tmp_path.iterdir()))}") == each
    assert dict(without_alternative(ballots, first).items()) == {key: ticks - {first} for key, ticks in cast.items()}
    gone = without_alternative(offered, before)
    assert dict(gone.items()) == {key: ticks - {before} for key, ticks in cast.items()}
    assert {z: set(gone.offered(z)) for z in menu} == {"y": {first, last}, "z": {last}}


@pytest.mark.parametrize("count", [256, 257, 65_537])
def test_the_last_of_many_voters_keeps_their_ballots(tmp_path, count):
    first, last = "v0", f"v{count - 1}"
    cast = {(voter, "y"): {"a"} for voter in named("v", count)} | {(last, "z"): {"b"}, (first, "z"): {"a", "b"}}
    ballots = Ballots.from_mapping(cast)
    packed = write_packed([ballots], tmp_path / "packed")
    for each in (ballots, packed):
        assert (each.ballot(last, "z"), each.ballot(first, "z")) == ({"b"}, {"a", "b"})
        assert (each.n_voters, each.n_ballots, each.most_ballots) == (count, count + 2, count)
        assert each.n_pairs == count * (count - 1) // 2 + 1
        assert each.ballots_per_voter[[0, 1, -1]].tolist() == [2, 1, 2]
        assert each.ballots_per_instance.tolist() == [count, 2]
    assert packed == ballots
    few = ballots.select(voters=[last, first])
    assert dict(few.items()) == {key: ticks for key, ticks in cast.items() if key[0] in (first, last)}


@pytest.mark.parametrize("count", [256, 257, 65_536])
def test_a_ballot_may_have_very_many_ticks_and_a_menu_very_many_places(tmp_path, count):
    names = named("a", count + 1)
    cast = {("v", "y"): set(names[:count]), ("w", "y"): {names[count - 1]}, ("v", "z"): {names[count]}}
    menu = {"y": names[:count], "z": names[count:]}
    for given in (None, menu):
        ballots = Ballots.from_mapping(cast, alternatives=names, menu=given)
        packed = write_packed([ballots], tmp_path / f"{given is None}")
        assert packed == ballots
        assert packed.ballot("w", "y") == {names[count - 1]}
        assert len(packed.ballot("v", "y")) == count
        assert packed.blocks[0].menu_sizes.tolist() == ballots.menu_sizes.tolist()
        assert [len(packed.offered(z)) for z in "yz"] == ([count, 1] if given else [count + 1] * 2)


def test_a_part_that_offers_very_many_alternatives_goes_with_one_that_offers_few(tmp_path):
    names = named("a", 32_770)
    full = Ballots.from_mapping({("v", "y"): {names[-1], names[0]}}, alternatives=names)
    few = Ballots.from_mapping({("v", "z"): {names[-2]}}, alternatives=names, menu={"z": names[-3:]})
    packed = write_packed([full, few], tmp_path / "packed")
    assert packed.has_menus
    assert (packed.offered("y"), packed.offered("z")) == (names, names[-3:])
    assert dict(packed.items()) == {("v", "y"): {names[-1], names[0]}, ("v", "z"): {names[-2]}}


def test_more_pairs_of_voter_and_instance_than_32_bits_are_told_apart():
    voters, instances = named("v", 70_000), named("z", 70_000)
    assert len(voters) * len(instances) > 2**32
    rows = [(69_999, 69_999), (0, 0), (69_998, 69_999), (5, 61_356), (7, 0)]
    ballots = assemble(
        voters=voters,
        instances=instances,
        alternatives=named("a", 5),
        ballot_voter=np.array([voter for voter, _ in rows], np.int32),
        ballot_instance=np.array([instance for _, instance in rows], np.int32),
        approvals=Lists.of_lengths(np.ones(5, np.int64), np.arange(5)),
    )
    for number, (voter, instance) in enumerate(rows):
        assert ballots.ballot(f"v{voter}", f"z{instance}") == {f"a{number}"}


def test_lists_may_be_longer_together_than_32_bits_count():
    many = Lists.of_lengths(np.array([2**31 - 1, 0, 7, 2**31], np.uint32), np.zeros(0, np.uint8))
    assert many.start.tolist() == [0, 2**31 - 1, 2**31 - 1, 2**31 + 6, 2**32 + 6]


def test_pairs_are_counted_beyond_32_bits():
    assert pairs_in(np.array([70_000, 1, 0, 3])) == 70_000 * 69_999 // 2 + 3


def test_truths_number_many_alternatives():
    names = named("a", 65_537)
    truths = Truths.from_mapping({"y": {names[-1], names[0]}, "z": {names[256]}}, alternatives=names)
    assert dict(truths) == {"y": {names[0], names[-1]}, "z": {names[256]}}
