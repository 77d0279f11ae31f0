import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epivote import BallotError, Ballots, ColumnError

EXPECTED = {("ann", "q1"): {"a", "b"}, ("bo", "q1"): set(), ("ann", "q2"): {"c"}}
KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}

LISTS = {"voter": ["ann", "bo", "ann"], "instance": ["q1", "q1", "q2"], "alternatives": [["a", "b"], [], ["c"]]}
JOINED = {**LISTS, "alternatives": ["a|b", "", "c"]}
TICKS = {
    "voter": ["ann", "ann", "bo", "ann"],
    "instance": ["q1", "q1", "q1", "q2"],
    "alternative": ["a", "b", None, "c"],
}
INDICATORS = {
    "voter": ["ann", "bo", "ann"],
    "instance": ["q1", "q1", "q2"],
    "a": [1, 0, 0],
    "b": [1, 0, 0],
    "c": [0, 0, 1],
}


@pytest.fixture(params=KINDS)
def frame(request):
    return KINDS[request.param]


def test_lists(frame):
    assert dict(Ballots.from_frame(frame(LISTS)).items()) == EXPECTED


def test_joined_cells(frame):
    assert dict(Ballots.from_frame(frame(JOINED), blank="empty").items()) == EXPECTED
    comma = {**JOINED, "alternatives": ["a, b", "", "c"]}
    assert dict(Ballots.from_frame(frame(comma), separator=", ").items()) == EXPECTED


def test_one_row_per_tick(frame):
    assert dict(Ballots.from_frame(frame(TICKS), layout="ticks").items()) == EXPECTED


def test_one_column_per_alternative(frame):
    ballots = Ballots.from_frame(frame(INDICATORS), layout="indicators")
    assert dict(ballots.items()) == EXPECTED
    booleans = {name: [bool(x) for x in column] if name in "abc" else column for name, column in INDICATORS.items()}
    assert Ballots.from_frame(frame(booleans), layout="indicators") == ballots
    chosen = Ballots.from_frame(
        frame({**INDICATORS, "age": [30, 40, 30]}), layout="indicators", approvals=["a", "b", "c"]
    )
    assert chosen == ballots


def test_one_column_per_alternative_with_a_missing_ballot(frame):
    missing = {**INDICATORS, "a": [1, None, 0], "b": [1, None, 0], "c": [0, None, 1]}
    ballots = Ballots.from_frame(frame(missing), layout="indicators")
    assert dict(ballots.items()) == {key: ticks for key, ticks in EXPECTED.items() if key != ("bo", "q1")}


def test_wide_by_instance_reads_blank_cells_as_told(frame):
    wide = {"voter": ["ann", "bo"], "q1": ["a|b", None], "q2": ["c", "a"]}
    answered = {("ann", "q1"): {"a", "b"}, ("ann", "q2"): {"c"}, ("bo", "q2"): {"a"}}
    assert dict(Ballots.from_frame(frame(wide), layout="wide_instances").items()) == answered
    empty = Ballots.from_frame(frame(wide), layout="wide_instances", blank="empty")
    assert dict(empty.items()) == {**answered, ("bo", "q1"): set()}
    blank_text = {**wide, "q1": ["a|b", ""]}
    assert dict(Ballots.from_frame(frame(blank_text), layout="wide_instances").items()) == answered


def test_wide_by_voter(frame):
    wide = {"item": ["q1", "q2"], "ann": ["a|b", "c"], "bo": [None, "a"]}
    ballots = Ballots.from_frame(frame(wide), layout="wide_voters")
    assert dict(ballots.items()) == {("ann", "q1"): {"a", "b"}, ("ann", "q2"): {"c"}, ("bo", "q2"): {"a"}}


def test_words_of_neighbours_are_understood(frame):
    crowd_kit = {"task": LISTS["instance"], "worker": LISTS["voter"], "label": LISTS["alternatives"]}
    assert dict(Ballots.from_frame(frame(crowd_kit)).items()) == EXPECTED
    own = {"picture": LISTS["instance"], "who": LISTS["voter"], "teams": LISTS["alternatives"]}
    named = Ballots.from_frame(frame(own), voter="who", instance="picture", approvals="teams")
    assert dict(named.items()) == EXPECTED


def test_numbers_stay_whole_even_next_to_blanks(frame):
    ballots = Ballots.from_frame(
        frame({"voter": [1, 2], "instance": [7, 7], "alternatives": [3.0, None]}), blank="empty"
    )
    assert dict(ballots.items()) == {("1", "7"): {"3"}, ("2", "7"): set()}


def test_sets_and_arrays_in_pandas_cells():
    odd = pd.DataFrame({**LISTS, "alternatives": [{"a", "b"}, np.array([], object), ("c",)]})
    assert dict(Ballots.from_frame(odd).items()) == EXPECTED


def test_a_blank_row_is_missing_when_told(frame):
    ballots = Ballots.from_frame(frame({**JOINED, "alternatives": ["a|b", None, "c"]}), blank="missing")
    assert ballots.ballot("ann", "q1") == {"a", "b"}
    assert "bo" not in ballots.voters


def test_two_ballots_are_an_error_unless_told_which_counts(frame):
    twice = frame({"voter": ["ann", "ann"], "instance": ["q", "q"], "alternatives": ["a", "b"]})
    with pytest.raises(BallotError, match=r"row 2: voter 'ann' already has a ballot on instance 'q' \(row 1\); remove"):
        Ballots.from_frame(twice)
    assert Ballots.from_frame(twice, duplicates="first").ballot("ann", "q") == {"a"}
    assert Ballots.from_frame(twice, duplicates="last").ballot("ann", "q") == {"b"}


@pytest.mark.parametrize(
    ("columns", "options", "error", "message"),
    [
        (
            {"votr": ["v"], "instance": ["z"], "alternatives": ["a"]},
            {},
            ColumnError,
            r"there is no column 'voter' \(nor worker, annotator or the like\) \(did you mean 'votr'\?\); the columns are 'votr', 'inst",
        ),
        (
            JOINED,
            {"voter": "who"},
            ColumnError,
            "there is no column 'who'; the columns are 'voter', 'instance', 'alter",
        ),
        (JOINED, {"layout": "long"}, BallotError, "layout='long' is not one of 'lists', 'ticks'"),
        (JOINED, {"blank": "none"}, BallotError, "blank='none' is not one of 'empty', 'missing'"),
        (JOINED, {"duplicates": "all"}, BallotError, "duplicates='all' is not one of"),
        (JOINED, {"alternatives": ["a", "b"]}, BallotError, "row 3: 'c' is not an alternative; the alternatives are"),
        (
            JOINED,
            {"menu": {"q1": ["a", "c"], "q2": ["b", "c"]}},
            BallotError,
            "row 1: voter 'ann' ticked 'b', which the menu of instance 'q1' does not offer",
        ),
        ({**JOINED, "voter": ["ann", None, "ann"]}, {}, BallotError, "row 2: the voter is blank"),
        (
            {**INDICATORS, "b": [1, 2, 0]},
            {"layout": "indicators"},
            BallotError,
            "row 2, column 'b': 2 is neither 0 nor 1",
        ),
        (
            {**INDICATORS, "b": ["w", "y", "z"]},
            {"layout": "indicators"},
            BallotError,
            "row 1, column 'b': 'w' is neither 0 nor 1",
        ),
        (
            {**INDICATORS, "b": [1, None, 0]},
            {"layout": "indicators"},
            BallotError,
            "row 2: column 'b' is blank but others are not",
        ),
        (
            {"voter": ["v"], "q1": ["a"], "q2": ["x"]},
            {"layout": "wide_instances", "alternatives": ["a", "b"]},
            BallotError,
            "row 1, column 'q2': 'x' is not an alternative",
        ),
        ({"voter": ["v"]}, {"layout": "wide_instances"}, ColumnError, "besides 'voter' there is no column left"),
        (JOINED, {"approvals": ["a", "b"]}, ColumnError, "this layout has one column of approvals"),
    ],
)
def test_nonsense_is_refused_with_its_place(frame, columns, options, error, message):
    with pytest.raises(error, match=message):
        Ballots.from_frame(frame(columns), **options)
