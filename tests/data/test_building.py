"""From names and ticks in any order to columns, and what stands in the columns."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import BallotError, Ballots, InputError
from epivote.data.blocks import Menu
from epivote.data.build import assemble, without_alternative
from epivote.data.lists import Lists
from epivote.data.names import counted
from patience import PATIENCE
from strategies import elections

QUIZ = {("ann", "q1"): {"a", "b"}, ("bo", "q1"): set(), ("ann", "q2"): {"c"}}


@settings(max_examples=25)
@given(elections(), st.data())
def test_sizes_of_columns_are_counted_from_the_ballots(election, data):
    order = data.draw(st.permutations(list(election.ballots)))
    cast = {key: election.ballots[key] for key in order}
    menu = election.menus if election.has_menus else None
    ballots = Ballots.from_mapping(cast, alternatives=election.alternatives, menu=menu)
    assert ballots.voters == tuple(dict.fromkeys(voter for voter, _ in order))
    assert ballots.instances == tuple(dict.fromkeys(instance for _, instance in order))
    per_instance = [sum(z == each for _, each in cast) for z in ballots.instances]
    assert ballots.ballots_per_instance.tolist() == per_instance
    assert ballots.most_ballots == max(per_instance)
    assert ballots.n_pairs == sum(count * (count - 1) // 2 for count in per_instance)
    assert ballots.ballots_per_voter.tolist() == [sum(v == each for each, _ in cast) for v in ballots.voters]
    assert ballots.menu_sizes.tolist() == [len(election.menus[z]) for z in ballots.instances]
    assert ballots.coverage == pytest.approx(len(cast) / (ballots.n_voters * ballots.n_instances))
    assert ballots.has_menus == any(len(election.menus[z]) < len(election.alternatives) for z in ballots.instances)
    assert [key for key, _ in ballots.items()] == sorted(
        cast, key=lambda key: (ballots.instances.index(key[1]), ballots.voters.index(key[0]))
    )
    assert ballots.instance_index == {name: z for z, name in enumerate(ballots.instances)}
    assert ballots.voter_index == {name: i for i, name in enumerate(ballots.voters)}
    for b in range(ballots.n_ballots):
        ticks = ballots.approved[ballots.approval_start[b] : ballots.approval_start[b + 1]].tolist()
        assert ticks == sorted(ticks)
    some = data.draw(st.sets(st.sampled_from(ballots.voters), min_size=1))
    where = data.draw(st.permutations(ballots.instances))
    left = {(v, z): ticks for (v, z), ticks in cast.items() if v in some}
    if left:
        part = ballots.select(voters=some, instances=where)
        assert (dict(part.items()), part.instances) == (left, ballots.instances)
        assert part.voters == tuple(v for v in ballots.voters if v in some)
        assert part.ballot_voter.dtype == np.int32


@settings(max_examples=20)
@given(elections(max_alternatives=4), st.data())
def test_without_an_alternative_only_that_alternative_is_gone(election, data):
    ballots = election.as_ballots()
    if ballots.n_alternatives == 1:
        return
    gone = data.draw(st.sampled_from(ballots.alternatives))
    rest = without_alternative(ballots, gone)
    assert dict(rest.items()) == {key: ticks - {gone} for key, ticks in election.ballots.items()}
    assert rest.alternatives == tuple(name for name in ballots.alternatives if name != gone)
    assert (rest.voters, rest.instances) == (ballots.voters, ballots.instances)
    for z in ballots.instances:
        assert rest.offered(z) == tuple(name for name in ballots.offered(z) if name != gone)


def assembled(rows, **options):
    """Rows of (voter, instance, ticks) by number."""
    return assemble(
        voters=("ann", "bo", "cy"),
        instances=("x", "y", "z"),
        alternatives=("a", "b", "c", "d"),
        ballot_voter=np.array([voter for voter, _, _ in rows], np.int64),
        ballot_instance=np.array([instance for _, instance, _ in rows], np.int64),
        approvals=Lists.of_lengths(
            np.array([len(ticks) for *_, ticks in rows], np.int64),
            np.array([tick for *_, ticks in rows for tick in ticks], np.int64),
        ),
        **options,
    )


ROWS = [(1, 2, [3, 0]), (0, 0, [1]), (1, 2, [2]), (1, 0, []), (1, 2, [0, 0, 1]), (0, 0, [3]), (2, 1, [2, 1])]


@pytest.mark.parametrize(
    ("options", "ann", "bo"),
    [
        ({"duplicates": "first"}, {"b"}, {"a", "d"}),
        ({"duplicates": "last"}, {"d"}, {"a", "b"}),
        ({"merge": True}, {"b", "d"}, {"a", "b", "c", "d"}),
    ],
)
def test_the_first_the_last_or_all_of_several_rows_count(options, ann, bo):
    found = dict(assembled(ROWS, **options).items())
    assert found == {("ann", "x"): ann, ("bo", "x"): set(), ("cy", "y"): {"b", "c"}, ("bo", "z"): bo}


@pytest.mark.parametrize(("duplicates", "expected"), [("first", 0), ("last", 99)])
def test_of_a_hundred_rows_of_every_ballot_the_right_one_wins(duplicates, expected):
    """Many enough for a sort that keeps no order to show."""
    rng = np.random.default_rng(1)
    rows = [(number % 3, number // 3 % 3, number // 9) for number in range(900)]
    rows = [rows[i] for turn in range(100) for i in 9 * turn + rng.permutation(9)]
    ballots = assemble(
        voters=("ann", "bo", "cy"),
        instances=("x", "y", "z"),
        alternatives=tuple(f"a{turn}" for turn in range(100)),
        ballot_voter=np.array([voter for voter, _, _ in rows]),
        ballot_instance=np.array([instance for _, instance, _ in rows]),
        approvals=Lists.of_lengths(np.ones(900, int), np.array([turn for *_, turn in rows])),
        duplicates=duplicates,
    )
    assert {*ballots.items()} == {((v, z), frozenset({f"a{expected}"})) for v in ballots.voters for z in "xyz"}


def test_two_rows_of_a_ballot_are_an_error_that_names_both():
    with pytest.raises(
        BallotError, match=r"^row 6: voter 'ann' already has a ballot on instance 'x' \(row 2\); remove"
    ):
        assembled(ROWS)
    with pytest.raises(BallotError, match=r"^line <5>: voter 'ann' .* \(line <1>\); remove"):
        assembled(ROWS, place=lambda row: f"line <{row}>")
    with pytest.raises(BallotError, match="duplicates='both' is not one of 'error', 'first', 'last'"):
        assembled(ROWS, duplicates="both")
    with pytest.raises(BallotError, match="there are no ballots at all; check that the file or selection"):
        assembled([])


def test_a_tick_that_was_not_offered_is_told_with_its_own_row():
    menu = {"x": "abcd", "y": ["a", "b", "c", "d"], "z": ["a", "b"]}
    rows = [(1, 2, [0]), (0, 0, [1]), (2, 2, [3]), (0, 2, [0, 3, 2])]
    with pytest.raises(BallotError, match="the menu of 'x' is the text 'abcd'; give a set of alternatives"):
        assembled(rows, menu=menu)
    menu["x"] = ["b"]
    said = r"^row 4: voter 'ann' ticked 'c', which the menu of instance 'z' does not offer \('a', 'b'\); correct the ballot"
    with pytest.raises(BallotError, match=said):
        assembled(rows, menu=menu)
    menu["z"] = ["d", "c", "a", "d"]
    assert assembled(rows, menu=menu).offered("z") == ("a", "c", "d")


def test_menus_say_what_alternatives_there_are():
    menu = {"q1": ["b", "a"], "q2": ["c", "x"], "elsewhere": ["e"]}
    ballots = Ballots.from_mapping(QUIZ, menu=menu)
    assert ballots.alternatives == ("a", "b", "c", "e", "x")
    assert (ballots.offered("q1"), ballots.offered("q2")) == (("a", "b"), ("c", "x"))
    with pytest.raises(
        BallotError, match=r"instance 'q2' has ballots but no menu \(did you mean 'q22'\?\); add its menu"
    ):
        Ballots.from_mapping(QUIZ, menu={"q1": ["a", "b"], "q22": ["c"]})


def test_menus_that_offer_everything_are_none_only_if_all_do():
    assert Ballots.from_mapping(QUIZ, menu={"q1": ["c", "b", "a"], "q2": ["a", "b", "c", "c"]}).menu is None
    assert Ballots.from_mapping(QUIZ, menu={"q1": ["a", "b", "c"], "q2": ["c"]}).menu is not None


# Arrays


def test_an_array_is_read_place_by_place():
    rng = np.random.default_rng(3)
    cube = (rng.random((4, 3, 5)) < 0.4).astype(float)
    missing = rng.random((4, 3)) < 0.3
    cube[1, 2] = np.nan
    names = {"voters": ["u", "v", "w"], "instances": ["p", "q", "r", "s"], "alternatives": list("abcde")}
    expected = {
        (names["voters"][i], names["instances"][z]): {names["alternatives"][j] for j in np.flatnonzero(cube[z, i])}
        for z in range(4)
        for i in range(3)
        if not missing[z, i] and not np.isnan(cube[z, i, 0])
    }
    ballots = Ballots.from_array(cube, missing=missing, **names)
    assert dict(ballots.items()) == expected
    assert [ballots.voters, ballots.instances, ballots.alternatives] == [tuple(each) for each in names.values()]
    menu = {z: ["a", "b", "c", "d", "e"][: 5 - number % 2] for number, z in enumerate("pqrs")}
    cube[:, :, 4] = np.where(np.isnan(cube[:, :, 4]), np.nan, 0)
    assert Ballots.from_array(cube, menu=menu, **names).offered("q") == ("a", "b", "c", "d")
    assert Ballots.from_array(cube).voters == ("voter1", "voter2", "voter3")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ballots.from_array([[[1, 0], [0, 2]]]), r"array\[0, 1, 1\] is 2; write 1 for a tick and 0 for none"),
        (lambda: Ballots.from_array([[[1, 0]], [[0.5, 7]], [[8, 9]]]), r"array\[1, 0, 0\] is 0.5; write 1"),
        (lambda: Ballots.from_array([[[1, np.nan]]]), r"array\[0, 0, 1\] is nan; write 1"),
        (lambda: Ballots.from_array([[[1, -1]]]), r"array\[0, 0, 1\] is -1; write 1"),
        (lambda: Ballots.from_array([[[1]]], missing=[True]), r"missing has shape \(1,\); it needs \(1, 1\)"),
        (lambda: Ballots.from_array([[[1]]], missing=[[True]]), "there are no ballots at all"),
        (lambda: Ballots.from_array(np.zeros((1, 1, 0))), "no alternative was ever ticked"),
        (lambda: Ballots.from_array([[[1]]], voters="ab"), "2 voter names were given for 1 voters of the array"),
        (lambda: Ballots.from_array([[[1]]], instances="ab"), "2 instance names were given for 1 instances"),
        (lambda: Ballots.from_array([[[1]]], alternatives="ab"), "2 alternative names were given for 1 alternatives"),
        (
            lambda: Ballots.from_array([[[1, 1]], [[0, 1]]], menu={"instance1": ["alternative1"], "instance2": []}),
            r"^array\[0, 0\]: voter 'voter1' ticked 'alternative2'",
        ),
        (
            lambda: Ballots.from_array(
                [[[1, 1], [1, 0]], [[0, 0], [0, 1]]],
                voters="vw",
                instances="yz",
                alternatives="ab",
                menu={"y": ["a", "b"], "z": ["a"]},
            ),
            r"^array\[1, 1\]: voter 'w' ticked 'b', which the menu of instance 'z' does not offer \('a'\)",
        ),
        (
            lambda: Ballots.from_mapping(QUIZ, alternatives="abc"),
            "alternatives is the text 'abc'; give a list of names",
        ),
        (lambda: Ballots.from_mapping({("v", "z", "y"): {"a"}}), "must be named by a pair"),
        (lambda: Ballots.from_mapping({"vz": {"a"}}), "ballot 'vz' must be named by a pair"),
        (lambda: Ballots.from_mapping({("v", "z"): {"a", ""}}), "alternative number 1 has an empty name"),
        (lambda: Ballots.from_mapping({("v", ""): {"a"}}), "instance number 1 has an empty name"),
        (lambda: Ballots.from_mapping(QUIZ).ballot("annn", "q1"), r"'annn' is not a voter \(did you mean 'ann'\?\)"),
        (lambda: Ballots.from_mapping(QUIZ).offered("q11"), r"'q11' is not an instance \(did you mean 'q1'\?\)"),
    ],
)
def test_arrays_and_mappings_that_make_no_sense_are_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


# Columns


GOOD = Ballots.from_mapping(QUIZ, menu={"q1": ["a", "b"], "q2": ["b", "c"]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ballot_start": np.array([0, 2])}, r"ballot_start must rise from 0 to 3 in 3 steps; build ballots with"),
        ({"ballot_start": np.array([1, 2, 3])}, "ballot_start must rise from 0 to 3"),
        ({"ballot_start": np.array([0, 2, 2])}, "ballot_start must rise from 0 to 3"),
        ({"ballot_start": np.array([0, 4, 3])}, "ballot_start must rise from 0 to 3"),
        ({"approval_start": np.array([0, 2, 1, 3])}, "approval_start must rise from 0 to 3 in 4 steps"),
        ({"ballot_voter": np.array([0, 2, 0])}, "ballot_voter must hold numbers from 0 to 1; build"),
        ({"ballot_voter": np.array([0, -1, 0])}, "ballot_voter must hold numbers from 0 to 1"),
        ({"approved": np.array([0, 1, 3])}, "approved must hold numbers from 0 to 2"),
        ({"approved": np.array([-1, 1, 2])}, "approved must hold numbers from 0 to 2"),
        ({"menu": Menu(np.array([0, 1]), np.array([0]))}, "menu.start must rise from 0 to 1 in 3 steps"),
        ({"menu": Menu(np.array([0, 1, 3]), np.array([0, 1]))}, "menu.start must rise from 0 to 2"),
        ({"menu": Menu(np.array([0, 1, 2]), np.array([0, 3]))}, "menu.offered must hold numbers from 0 to 2"),
    ],
)
def test_columns_that_do_not_fit_together_are_refused(change, message):
    with pytest.raises(BallotError, match=message):
        replace(GOOD, **change)


def test_ballots_are_equal_only_if_everything_is():
    assert replace(GOOD) == GOOD
    for change in (
        {"voters": ("ann", "be")},
        {"instances": ("q1", "q3")},
        {"alternatives": ("a", "b", "d")},
        {"ballot_start": np.array([0, 1, 3])},
        {"ballot_voter": np.array([0, 1, 1])},
        {"approval_start": np.array([0, 1, 2, 3])},
        {"approved": np.array([0, 1, 1])},
        {"menu": None},
        {"menu": Menu(np.array([0, 3, 4]), np.array([0, 1, 2, 2]))},
        {"menu": Menu(np.array([0, 2, 4]), np.array([0, 1, 0, 2]))},
        {"menu": Menu(np.array([0, 1, 4]), np.array([0, 1, 1, 2]))},
    ):
        assert replace(GOOD, **change) != GOOD, change
    plain = replace(GOOD, menu=None)
    assert not any(one == other for one, other in ((GOOD, plain), (plain, GOOD)))
    assert GOOD != "ballots"
    assert replace(GOOD, menu=None) == replace(GOOD, menu=None)
    with pytest.raises(TypeError, match="unhashable"):
        hash(GOOD)


def test_a_selection_keeps_the_order_of_the_instances():
    many = Ballots.from_mapping({("v", f"z{z}"): {"a"} for z in range(40)})
    assert many.select(instances=["z33", "z8", "z1", "z16", "z8"]).instances == ("z1", "z8", "z16", "z33")


def test_voters_without_a_ballot_are_counted_too():
    silent = Ballots.from_array(np.ones((2, 3, 1)), missing=[[False, True, True]] * 2)
    assert silent.ballots_per_voter.tolist() == [2, 0, 0]
    assert silent.coverage == pytest.approx(1 / 3)


def test_one_of_one_is_everything():
    assert GOOD.sample_instances(1) is GOOD
    assert GOOD.sample_instances(0) is GOOD
    assert GOOD.sample_instances(10**9 + 7).instances == ("q1",)


def test_words_count_empty_ballots_and_thousands():
    assert [counted(count, "voter") for count in (0, 1, 2, 12345)] == [
        "0 voters",
        "1 voter",
        "2 voters",
        "12,345 voters",
    ]
    one = Ballots.from_mapping({("v", "z"): {"a"}})
    assert repr(one) == "Ballots(1 voter, 1 instance, 1 alternative, 1 ballot, 1 approval, 100 % answered)"
    assert GOOD.in_words().endswith("3 ballots (1 empty), 3 approvals, 75 % answered, menus of 2..2")
    many = Ballots.from_mapping({(f"v{i}", "z"): set() for i in range(1200)}, alternatives=["a"])
    assert "1,200 ballots (1,200 empty), 0 approvals" in repr(many)


def test_menu_columns_cannot_be_changed():
    for column in (GOOD.menu.start, GOOD.menu.offered, GOOD.menu_sizes, Ballots.from_mapping(QUIZ).menu_sizes):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_nothing_depends_on_the_order_in_which_sets_are_walked():
    code = (
        "from epivote import Ballots, Truths, compare\n"
        "names = {'tit', 'wren', 'owl', 'jay', 'rook', 'kite'}\n"
        "cast = {('v', 'y'): names, ('w', 'y'): {'owl', 'jay'}, ('v', 'z'): set()}\n"
        "menu = {'y': names, 'z': names | {'gull', 'tern'}}\n"
        "for each in (Ballots.from_mapping(cast), Ballots.from_mapping(cast, menu=menu)):\n"
        "    print(each.alternatives, each.approved.tolist(), each.offered('z'))\n"
        "gold = Truths.from_mapping({'y': names, 'z': {'owl', 'jay'}})\n"
        "print(gold, gold.alternatives, gold.members.tolist())\n"
        "found = compare(dict(gold), gold, menu)\n"
        "print(found.alternatives, found.alternative_hits.tolist())\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=PATIENCE,
        ).stdout
        for seed in ("0", "1")
    ]
    assert said[0] == said[1]
    assert said[0].count("\n") == 4
