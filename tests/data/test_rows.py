"""Errors that name the row as it was given, and rows on their way to ballots."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epivote import BallotError, Ballots, ColumnError, InputError
from epivote.data import rows as rows_module
from epivote.data.frames import BallotTable, eager_frame, rows_of
from epivote.data.rows import Rows, numbered, split_at

KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=KINDS)
def frame(request):
    return KINDS[request.param]


@pytest.mark.parametrize(
    ("layout", "columns", "options", "message"),
    [
        (
            "lists",
            {"voter": ["u", "v", "w", "w"], "instance": ["z"] * 4, "alternatives": [None, "a", "a", "b"]},
            {"blank": "missing"},
            r"^row 4: voter 'w' already has a ballot on instance 'z' \(row 3\)",
        ),
        (
            "lists",
            {"voter": ["u", "v", "w", "x"], "instance": ["z"] * 4, "alternatives": [None, "a", "a|b", "a|b"]},
            {"blank": "missing", "alternatives": ["a", "c"]},
            r"^row 3: 'b' is not an alternative",
        ),
        (
            "lists",
            {"voter": ["u", None, "", "x"], "instance": ["z"] * 4, "alternatives": [None, None, "a", "a|b"]},
            {"blank": "missing"},
            r"^row 3: the voter is blank; give every ballot a voter$",
        ),
        (
            "lists",
            {"voter": ["u", "v"], "instance": ["z", None], "alternatives": ["a", "b"]},
            {},
            r"^row 2: the instance is blank; give every ballot an instance$",
        ),
        (
            "indicators",
            {"voter": ["u", "v"], "instance": ["z"] * 2, "a": [1, 1], "b": [0, None], "c": [0, None]},
            {},
            r"^row 2: column 'b' is blank but others are not",
        ),
        (
            "lists",
            {"voter": list("uvwxy"), "instance": ["z"] * 5, "alternatives": ["a", "a|x|k", "x", "l|m|n|o|p", "q|r|s"]},
            {"alternatives": ["a"]},
            r"^row 2: 'x' is not an alternative",
        ),
        (
            "ticks",
            {"voter": ["u", "v", "v"], "instance": ["z"] * 3, "alternative": ["a", "b", "c"]},
            {"alternatives": ["a", "b"]},
            r"^row 3: 'c' is not an alternative; the alternatives are 'a', 'b'$",
        ),
        (
            "indicators",
            {
                "voter": ["u", "v", "w"],
                "instance": ["z"] * 3,
                "a": [None, 1, 0],
                "b": [None, 1, None],
                "c": [None, 0, 1],
            },
            {},
            r"^row 3: column 'b' is blank but others are not; write 0 for no tick, or leave the whole ballot blank",
        ),
        (
            "indicators",
            {
                "voter": ["u", "v", "w"],
                "instance": ["z"] * 3,
                "a": [0, 1, 1],
                "b": [1, 1, None],
                "c": [1, None, None],
            },
            {},
            r"^row 2: column 'c' is blank but others are not",
        ),
        (
            "indicators",
            {"voter": ["u", "v", "w", "x"], "instance": ["z"] * 4, "a": [0, 1, 0, 1], "b": ["1", "0", "maybe", "no"]},
            {},
            r"^row 3, column 'b': 'maybe' is neither 0 nor 1; write 1 for a tick, or name the columns of ticks ",
        ),
        (
            "wide_instances",
            {"voter": ["u", "v", "w"], "y": ["a", None, "a"], "z": ["a", "a", "a|x"]},
            {"alternatives": ["a", "b"]},
            r"^row 3, column 'z': 'x' is not an alternative",
        ),
        (
            "wide_voters",
            {"instance": ["x", "y", "y"], "u": [None, "a", None], "v": ["b", "a", "b"]},
            {},
            r"^row 3, column 'v': voter 'v' already has a ballot on instance 'y' \(row 2, column 'v'\)",
        ),
        (
            "wide_instances",
            {"voter": ["u", None], "y": ["a", None], "z": [None, "b"]},
            {},
            r"^row 2, column 'z': the voter is blank",
        ),
    ],
)
def test_errors_name_the_row_as_it_was_given(frame, layout, columns, options, message):
    with pytest.raises(BallotError, match=message):
        Ballots.from_frame(frame(columns), layout=layout, **options)


def test_a_column_that_is_not_there_is_told_with_those_that_are(frame):
    columns = frame({"who": ["v"], "instance": ["z"], "alternatives": ["a"]})
    said = r"^there is no column 'voter' \(nor worker, annotator or the like\); the columns are 'who', 'instance', 'alternatives'; name the voter column$"
    with pytest.raises(ColumnError, match=said):
        Ballots.from_frame(columns)
    with pytest.raises(ColumnError, match=r"^there is no column 'whom' \(did you mean 'who'\?\); the columns are"):
        Ballots.from_frame(columns, voter="whom")
    with pytest.raises(
        ColumnError, match=r"no column 'alternative' \(nor label, class or the like\) \(did you mean 'alternatives'\?\)"
    ):
        Ballots.from_frame(columns, layout="ticks", voter="who")
    with pytest.raises(ColumnError, match="besides 'who', 'instance' there is no column left to hold ticks"):
        Ballots.from_frame(columns, layout="indicators", voter="who", approvals=[])
    with pytest.raises(InputError, match="column 'alternatives' is listed twice"):
        Ballots.from_frame(columns, layout="indicators", voter="who", approvals=["alternatives", "alternatives"])


# Rows


def rows(cells, split=None):
    count = len(cells)
    voters = pl.Series([f"v{i}" for i in range(count)])
    return Rows(
        voters,
        pl.Series(["z"] * count),
        pl.Series(cells, dtype=pl.String),
        lambda row: f"line {row + 5}",
        split or split_at("|"),
    )


def test_every_name_that_is_ticked_somewhere_is_known_before_any_ballot():
    assert sorted(rows(["a|b", None, "", "b|c|", "a|b"]).ticked()) == ["a", "b", "c"]
    marks = pl.DataFrame({"voter": ["v", "w"], "instance": ["z", "z"], "a": [1, 0], "b": [1, 0], "c": [0, 0]})
    table = BallotTable(eager_frame(marks))
    assert sorted(rows_of(table, "indicators", None, None, None, split_at("|"), None).ticked()) == ["a", "b"]


def test_a_cell_that_cannot_be_split_is_told_with_its_first_line():
    def strict(cells):
        return pl.Series(
            [None if cell is None or "?" in cell else cell.split("|") for cell in cells], dtype=pl.List(pl.String)
        )

    with pytest.raises(
        BallotError, match=r"^line 7: 'b\?' is not a list of alternatives; write \[\"a\", \"b\"\], or join"
    ):
        rows(["a", "", "b?", "c?", "b?", "d?", "e?", "f?", "g?", "h?"], strict).ballots(
            alternatives=None, menu=None, duplicates="error"
        )
    plain = rows(["a", "", None, "a|b"], strict).ballots(alternatives=None, menu=None, duplicates="error")
    assert plain.ballot_sizes.tolist() == [1, 0, 0, 2]


def test_voters_may_be_more_than_those_who_voted():
    everybody = ("v9", "v1", "v0")
    found = rows(["a", "b"]).ballots(alternatives=["b", "a"], menu=None, duplicates="error", voters=everybody)
    assert found.voters == everybody
    assert (found.ballot("v0", "z"), found.ballot("v1", "z"), found.ballot("v9", "z")) == ({"a"}, {"b"}, None)
    blank = Rows(
        pl.Series(["v1", ""]), pl.Series(["z", "z"]), pl.Series(["a", "a"]), lambda row: f"line {row}", split_at("|")
    )
    with pytest.raises(BallotError, match="line 1: the voter is blank"):
        blank.ballots(alternatives=None, menu=None, duplicates="error", voters=everybody)


def test_nothing_and_empty_texts_are_blank():
    assert rows(["a", None, "b", "", "x"]).blank.to_list() == [False, True, False, True, False]


def test_kept_rows_know_their_places():
    kept = rows(["a", None, "b", "", "x"]).keep(pl.Series([False, True, True, False, True]))
    assert [kept.place(row) for row in range(3)] == ["line 6", "line 7", "line 9"]
    assert kept.blank.to_list() == [True, False, False]
    assert kept.voter.to_list() == ["v1", "v2", "v4"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pl.LazyFrame({"voter": ["v"]}), "the frame is lazy; collect it first"),
        ("ballots.csv", "'ballots.csv' is a text; read a file with read_ballots first"),
        (np.zeros(3), "a ndarray is neither Ballots nor a dataframe; see Ballots.from_mapping and from_array"),
        (None, "a NoneType is neither Ballots nor a dataframe"),
    ],
)
def test_what_is_no_dataframe_is_refused(given, message):
    with pytest.raises(ColumnError, match=message):
        Ballots.from_frame(given)


@pytest.mark.parametrize(
    "texts",
    [
        ["b", "b", "b", "a", "a", "c", "c", "c", "b", "b"],
        ["b", "a", "b", "c", "a", "é", "", "é", "😀"],
        ["x"],
        ["x", "x"],
        [],
        [f"n{k * 7919 % 501}" for k in range(3000)],
        [f"n{k // 5}" for k in range(3000)],
    ],
)
@pytest.mark.parametrize("by_hash", [False, True])
def test_texts_are_numbered_in_order_of_appearance(texts, by_hash, monkeypatch):
    monkeypatch.setattr(rows_module, "MANY_TEXTS", 0 if by_hash else 10**9)
    names, numbers = numbered(pl.Series(texts, dtype=pl.String))
    assert names.to_list() == list(dict.fromkeys(texts))
    assert [names[int(number)] for number in numbers] == texts


@pytest.mark.parametrize("texts", [["bb", "aa", "b", "aa"] * 3, ["bb", "bb", "bb", "aa", "aa", "aa", "b", "b"]])
def test_texts_with_the_same_hash_are_told_apart(texts, monkeypatch):
    seeds = []

    def hashes(column, seed):
        seeds.append(seed)
        return column.str.len_chars() if seed == 1 else column.hash(seed=seed)

    monkeypatch.setattr(rows_module, "MANY_TEXTS", 0)
    monkeypatch.setattr(rows_module, "_hashes", hashes)
    names, numbers = numbered(pl.Series(texts))
    assert seeds == [1, 2]
    assert names.to_list() == list(dict.fromkeys(texts))
    assert [names[int(number)] for number in numbers] == texts


def test_columns_do_not_share_their_numbers():
    for _ in range(2):
        assert numbered(pl.Series(["y", "x", "y"]))[1].tolist() == [0, 1, 0]
    assert numbered(pl.Series(["x", "z"]))[1].tolist() == [0, 1]
