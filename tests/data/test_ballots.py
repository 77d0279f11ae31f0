import numpy as np
import pytest
from hypothesis import given

from epivote import BallotError, Ballots, InputError
from strategies import elections

QUIZ = {("ann", "q1"): {"a", "b"}, ("bo", "q1"): set(), ("ann", "q2"): {"c"}}


@given(elections())
def test_what_goes_in_comes_out(election):
    ballots = election.as_ballots()
    assert dict(ballots.items()) == election.ballots
    for voter in ballots.voters:
        for instance in ballots.instances:
            assert ballots.ballot(voter, instance) == election.ballots.get((voter, instance))
    for instance in ballots.instances:
        assert list(ballots.offered(instance)) == election.menus[instance]


def test_sizes():
    ballots = Ballots.from_mapping(QUIZ)
    assert (ballots.n_voters, ballots.n_instances, ballots.n_alternatives) == (2, 2, 3)
    assert (ballots.n_ballots, ballots.n_approvals, ballots.coverage) == (3, 3, 0.75)
    assert ballots.ballot_sizes.tolist() == [2, 0, 1]
    assert ballots.ballots_per_voter.tolist() == [2, 1]
    assert repr(ballots) == (
        "Ballots(2 voters, 2 instances, 3 alternatives, 3 ballots (1 empty), 3 approvals, 75 % answered)"
    )


def test_menus_show_in_the_repr():
    ballots = Ballots.from_mapping(QUIZ, menu={"q1": ["a", "b"], "q2": ["a", "b", "c"]})
    assert repr(ballots).endswith("75 % answered, menus of 2..3)")


def test_a_menu_that_offers_everything_everywhere_is_no_menu():
    full = Ballots.from_mapping(QUIZ, menu={key: ["a", "b", "c"] for key in ["q1", "q2"]})
    assert full.menu is None
    assert full == Ballots.from_mapping(QUIZ)


def test_columns_are_read_only_and_the_givers_array_stays_writeable():
    ballots = Ballots.from_mapping(QUIZ)
    for column in (ballots.ballot_start, ballots.ballot_voter, ballots.approval_start, ballots.approved):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    mine = np.array([0])
    Ballots(("v",), ("z",), ("a",), np.array([0, 1]), mine, np.array([0, 0]), np.array([], np.uint8))
    mine[0] = 0


def test_empty_and_missing_are_not_the_same():
    empty = Ballots.from_mapping({("ann", "q1"): {"a"}, ("bo", "q1"): set(), ("bo", "q2"): {"a"}})
    missing = Ballots.from_mapping({("ann", "q1"): {"a"}, ("bo", "q2"): {"a"}})
    assert empty != missing
    assert empty.ballot("bo", "q1") == frozenset()
    assert missing.ballot("bo", "q1") is None


def test_alternatives_keep_a_given_order_and_are_sorted_otherwise():
    assert Ballots.from_mapping(QUIZ).alternatives == ("a", "b", "c")
    assert Ballots.from_mapping(QUIZ, alternatives=["c", "x", "b", "a"]).alternatives == ("c", "x", "b", "a")


def test_numbers_as_names_become_text():
    ballots = Ballots.from_mapping({(1, 7): {3}})
    assert (ballots.voters, ballots.instances, ballots.alternatives) == (("1",), ("7",), ("3",))


@given(elections(max_voters=4, max_instances=4))
def test_selection_keeps_exactly_the_chosen_ballots(election):
    ballots = election.as_ballots()
    voters, instances = ballots.voters[: (ballots.n_voters + 1) // 2], ballots.instances[1:] or ballots.instances
    expected = {(v, z): b for (v, z), b in election.ballots.items() if v in voters and z in instances}
    if not expected:
        with pytest.raises(BallotError, match="no ballots at all"):
            ballots.select(voters=voters, instances=instances)
        return
    part = ballots.select(voters=voters, instances=instances)
    assert dict(part.items()) == expected
    assert part.instances == instances
    assert part.alternatives == ballots.alternatives
    assert [part.offered(z) for z in instances] == [ballots.offered(z) for z in instances]
    assert ballots.select() == ballots


def test_from_array_reads_nan_and_mask_as_missing():
    nan = np.nan
    cube = np.array([[[1, 0], [nan, nan]], [[0, 0], [1, 1]]])
    ballots = Ballots.from_array(cube)
    assert dict(ballots.items()) == {
        ("voter1", "instance1"): {"alternative1"},
        ("voter1", "instance2"): set(),
        ("voter2", "instance2"): {"alternative1", "alternative2"},
    }
    masked = Ballots.from_array(np.nan_to_num(cube), missing=np.isnan(cube).all(axis=2))
    assert masked == ballots
    named = Ballots.from_array(cube.astype(object), voters="vw", instances="yz", alternatives="ab")
    assert named.ballot("w", "z") == {"a", "b"}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ballots.from_mapping({}), "there are no ballots at all; check that"),
        (lambda: Ballots.from_mapping({("v", "z"): set()}), "no alternative was ever ticked; state them"),
        (lambda: Ballots.from_mapping({("v", "z"): "ab"}), r"ballot \('v', 'z'\) is the text 'ab', not a set"),
        (
            lambda: Ballots.from_mapping({("v", "z"): {"Intre Milan"}}, alternatives=["Inter Milan", "PSG"]),
            r"ballot \('v', 'z'\): 'Intre Milan' is not an alternative \(did you mean 'Inter Milan'\?\)",
        ),
        (
            lambda: Ballots.from_mapping({("v", "z"): {"x"}}, alternatives=["Inter Milan", "PSG"]),
            "'x' is not an alternative; the alternatives are 'Inter Milan', 'PSG'",
        ),
        (lambda: Ballots.from_mapping(QUIZ, alternatives=["a", "b", "c", "a"]), "alternative 'a' is listed twice"),
        (lambda: Ballots.from_mapping({("", "z"): {"a"}}), "voter number 1 has an empty name"),
        (
            lambda: Ballots.from_mapping(QUIZ, menu={"q1": ["a", "c"], "q2": ["b", "c"]}),
            r"ballot \('ann', 'q1'\): voter 'ann' ticked 'b', which the menu of instance 'q1' does not offer \('a', 'c'\)",
        ),
        (lambda: Ballots.from_mapping(QUIZ, menu={"q1": ["a", "b", "c"]}), "instance 'q2' has ballots but no menu"),
        (
            lambda: Ballots.from_mapping(QUIZ, alternatives=["a", "b", "c"], menu={"q1": ["a", "d"], "q2": ["c"]}),
            "menu of instance 'q1': 'd' is not an alternative",
        ),
        (lambda: Ballots.from_mapping(QUIZ, menu={"q1": "abc", "q2": ["c"]}), "the menu of 'q1' is the text 'abc'"),
        (lambda: Ballots.from_array(np.zeros((2, 2))), r"shape \(2, 2\); it needs three axes"),
        (lambda: Ballots.from_array([[[1, 2]]]), r"array\[0, 0, 1\] is 2; write 1 for a tick and 0 for none"),
        (lambda: Ballots.from_array([[[1, np.nan]]]), r"array\[0, 0, 1\] is nan; write 1"),
        (lambda: Ballots.from_array([[[1, 0]]], missing=[True]), r"missing has shape \(1,\); it needs \(1, 1\)"),
        (lambda: Ballots.from_array([[[1, 0]]], voters=["v", "w"]), "2 voter names were given for 1 voters"),
        (lambda: Ballots.from_mapping(QUIZ).ballot("an", "q1"), "'an' is not a voter"),
        (lambda: Ballots.from_mapping(QUIZ).select(instances=["q99"]), "'q99' is not an instance"),
        (
            lambda: Ballots(
                ("v",), ("z",), ("a",), np.array([0, 1]), np.array([3]), np.array([0, 0]), np.array([0])[:0]
            ),
            "ballot_voter must hold numbers from 0 to 0",
        ),
        (
            lambda: Ballots(
                ("v",), ("z",), ("a",), np.array([0, 2]), np.array([0]), np.array([0, 0]), np.array([0])[:0]
            ),
            "ballot_start must rise from 0 to 1 in 2 steps",
        ),
    ],
)
def test_nonsense_is_refused_with_one_clear_sentence(build, message):
    with pytest.raises(InputError, match=message) as refused:
        build()
    assert "\n" not in str(refused.value)
