"""The same ballots in every layout and every kind of dataframe, with each option, and errors that name the row."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from epivote import BallotError, Ballots, ColumnError, CrowdWarning

KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}
CAST = {
    ("ann", "q1"): {"red", "dark red"},
    ("bo", "q1"): {"blue"},
    ("ann", "q2"): {"blue"},
    ("cy", "q2"): {"dark red"},
    ("bo", "q3"): {"red", "blue"},
}
NAMES = ("blue", "dark red", "red")
KEYS = {"voter": [voter for voter, _ in CAST], "instance": [instance for _, instance in CAST]}


@pytest.fixture(params=KINDS)
def frame(request):
    return KINDS[request.param]


def in_layout(layout):
    """The ballots as columns of this layout."""
    joined = {key: "|".join(sorted(ticks)) for key, ticks in CAST.items()}
    if layout == "lists":
        return {**KEYS, "alternatives": list(joined.values())}
    if layout == "ticks":
        rows = [(voter, instance, name) for (voter, instance), ticks in CAST.items() for name in sorted(ticks)]
        return dict(zip(("voter", "instance", "alternative"), map(list, zip(*rows, strict=True)), strict=True))
    if layout == "indicators":
        return {**KEYS, **{name: [int(name in ticks) for ticks in CAST.values()] for name in NAMES}}
    voters, instances = ["ann", "bo", "cy"], ["q1", "q2", "q3"]
    if layout == "wide_instances":
        cells = {z: [joined.get((v, z)) for v in voters] for z in instances}
        return {"voter": voters, **cells}
    return {"instance": instances, **{v: [joined.get((v, z)) for z in instances] for v in voters}}


LAYOUTS = ["lists", "ticks", "indicators", "wide_instances", "wide_voters"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_holds_the_same_ballots(frame, layout):
    ballots = Ballots.from_frame(frame(in_layout(layout)), layout=layout)
    assert dict(ballots.items()) == CAST
    assert ballots.alternatives == NAMES
    assert sorted(ballots.voters) == ["ann", "bo", "cy"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_alternatives_and_menus_are_taken_in_every_layout(frame, layout):
    names = ["red", "green", "dark red", "blue"]
    menu = {"q1": names, "q2": ["blue", "dark red"], "q3": ["red", "blue"]}
    ballots = Ballots.from_frame(frame(in_layout(layout)), layout=layout, alternatives=names, menu=menu)
    assert (dict(ballots.items()), ballots.alternatives) == (CAST, tuple(names))
    assert (ballots.offered("q1"), ballots.offered("q2")) == (tuple(names), ("dark red", "blue"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_may_have_any_name_if_told(frame, layout):
    columns = in_layout(layout)
    renamed = {{"voter": "who", "instance": "where", "alternatives": "what", "alternative": "what"}.get(name, name): cells for name, cells in columns.items()}  # fmt: skip
    options = {"voter": "who", "instance": "where", "approvals": "what"}
    if layout not in ("lists", "ticks"):
        options["approvals"] = [name for name in renamed if name not in ("who", "where")]
        renamed["age"] = [7] * len(next(iter(renamed.values())))
    if layout.startswith("wide"):
        options.pop("voter" if layout == "wide_voters" else "instance")
    ballots = Ballots.from_frame(frame(renamed), layout=layout, **options)
    assert dict(ballots.items()) == CAST
    for missing in ("voter", "instance"):
        if missing in options:
            with pytest.raises(ColumnError, match=f"there is no column '{missing}' .*; name the {missing} column"):
                Ballots.from_frame(frame(renamed), layout=layout, **{**options, missing: None})


def test_one_of_the_two_key_columns_may_have_its_usual_name(frame):
    marks = in_layout("indicators")
    who = {"who": marks.pop("voter"), **marks}
    assert dict(Ballots.from_frame(frame(who), layout="indicators", voter="who").items()) == CAST


@pytest.mark.parametrize("voter", ["voter", "worker", "annotator"])
@pytest.mark.parametrize("instance", ["instance", "task", "item"])
def test_usual_names_are_found_and_the_first_of_them_wins(voter, instance):
    columns = {voter: KEYS["voter"], instance: KEYS["instance"]}
    cells = ["|".join(sorted(ticks)) for ticks in CAST.values()]
    for name in ("alternatives", "labels", "label", "classes", "class"):
        assert dict(Ballots.from_frame(pl.DataFrame({**columns, name: cells})).items()) == CAST
    ticks = in_layout("ticks")
    for name in ("alternative", "label", "class"):
        given = {voter: ticks["voter"], instance: ticks["instance"], name: ticks["alternative"]}
        assert dict(Ballots.from_frame(pl.DataFrame(given), layout="ticks").items()) == CAST
    both = {"class": ["wrong"] * 5, "label": cells, "annotator": ["x"] * 5, "item": ["y"] * 5, **columns}
    if voter != "annotator" and instance != "item":
        assert dict(Ballots.from_frame(pl.DataFrame(both)).items()) == CAST


def test_one_column_may_be_named_alone_in_wide_layouts(frame):
    columns = {"voter": ["ann", "bo"], "q1": ["a", "b"], "age": ["7", "8"]}
    ballots = Ballots.from_frame(frame(columns), layout="wide_instances", approvals="q1")
    assert dict(ballots.items()) == {("ann", "q1"): {"a"}, ("bo", "q1"): {"b"}}
    with pytest.raises(ColumnError, match=r"there is no column 'q9' \(did you mean 'q1'\?\)|there is no column 'q9'"):
        Ballots.from_frame(frame(columns), layout="wide_instances", approvals=["q1", "q9"])
    with pytest.raises(ColumnError, match="besides 'voter' there is no column left to hold ticks"):
        Ballots.from_frame(frame(columns), layout="wide_instances", approvals=[])


@pytest.mark.parametrize(
    ("layout", "blank", "kept"),
    [
        ("lists", None, False),
        ("lists", "missing", False),
        ("lists", "empty", True),
        ("ticks", None, True),
        ("ticks", "missing", False),
        ("indicators", None, False),
        ("indicators", "empty", True),
        ("wide_instances", None, False),
        ("wide_instances", "empty", True),
        ("wide_voters", None, False),
        ("wide_voters", "empty", True),
    ],
)
def test_a_blank_cell_is_a_ballot_or_none_as_its_layout_or_the_caller_says(frame, layout, blank, kept):
    columns = {
        "lists": {"voter": ["v", "w"], "instance": ["z", "z"], "alternatives": ["a", None]},
        "ticks": {"voter": ["v", "w"], "instance": ["z", "z"], "alternative": ["a", None]},
        "indicators": {"voter": ["v", "w"], "instance": ["z", "z"], "a": [1, None], "b": [0, None]},
        "wide_instances": {"voter": ["v", "w"], "z": ["a", None]},
        "wide_voters": {"instance": ["z"], "v": ["a"], "w": [None]},
    }[layout]
    ballots = Ballots.from_frame(frame(columns), layout=layout, **({"blank": blank} if blank else {}))
    assert dict(ballots.items()) == {("v", "z"): {"a"}} | ({("w", "z"): set()} if kept else {})


@pytest.mark.parametrize("duplicates", ["first", "last"])
@pytest.mark.parametrize("layout", ["lists", "indicators", "wide_instances"])
def test_which_of_two_ballots_counts_is_told_in_any_layout(frame, layout, duplicates):
    columns = {
        "lists": {"voter": ["v", "w", "v"], "instance": ["z"] * 3, "alternatives": ["a", "c", "b"]},
        "indicators": {"voter": ["v", "w", "v"], "instance": ["z"] * 3, "a": [1, 0, 0], "b": [0, 0, 1], "c": [0, 1, 0]},
        "wide_instances": {"voter": ["v", "w", "v"], "z": ["a", "c", "b"]},
    }[layout]
    ballots = Ballots.from_frame(frame(columns), layout=layout, duplicates=duplicates)
    assert dict(ballots.items()) == {("v", "z"): {"a" if duplicates == "first" else "b"}, ("w", "z"): {"c"}}


def test_rows_of_one_ballot_are_joined_only_where_a_row_is_a_tick(frame):
    ticks = {"voter": ["v", "w", "v", "v"], "instance": ["z"] * 4, "alternative": ["a", "c", "b", "a"]}
    assert Ballots.from_frame(frame(ticks), layout="ticks").ballot("v", "z") == {"a", "b"}
    with pytest.raises(BallotError, match=r"^row 3: voter 'v' already has a ballot on instance 'z' \(row 1\)"):
        Ballots.from_frame(frame(ticks), approvals="alternative")


def test_separators_split_and_nothing_else_does(frame):
    columns = {"voter": ["v", "w"], "instance": ["z", "z"], "alternatives": ["a|b;c", ";c;"]}
    assert Ballots.from_frame(frame(columns)).ballot("v", "z") == {"a", "b;c"}
    split = Ballots.from_frame(frame(columns), separator=";")
    assert (split.ballot("v", "z"), split.ballot("w", "z")) == ({"a|b", "c"}, {"c"})
    ticks = Ballots.from_frame(frame(columns), layout="ticks", approvals="alternatives")
    assert ticks.ballot("v", "z") == {"a|b;c"}


# Kinds of cells


@pytest.mark.parametrize("true", ["true", "TRUE", " True ", "1", "1.0"])
@pytest.mark.parametrize("false", ["false", "FALSE", "False ", "0", "0.0"])
def test_marks_may_be_words_or_numbers(frame, true, false):
    columns = {"voter": ["v", "w"], "instance": ["z", "z"], "a": [true, false], "b": [false, true]}
    ballots = Ballots.from_frame(frame(columns), layout="indicators")
    assert dict(ballots.items()) == {("v", "z"): {"a"}, ("w", "z"): {"b"}}


@pytest.mark.parametrize("marks", [[1, 0, None], [1.0, 0.0, None], [True, False, None], ["1", "0", None]])
def test_marks_of_every_type_know_blanks(frame, marks):
    columns = {"voter": ["v", "w", "x"], "instance": ["z", "z", "z"], "a": marks, "b": marks}
    ballots = Ballots.from_frame(frame(columns), layout="indicators")
    assert dict(ballots.items()) == {("v", "z"): {"a", "b"}, ("w", "z"): set()}


def test_numbers_dates_and_categories_are_names(frame):
    day = datetime.date(2024, 5, 1)
    columns = {"voter": [1.0, 2.5], "instance": [day, day], "alternatives": [7, 8]}
    ballots = Ballots.from_frame(frame(columns))
    assert {voter for voter, _ in dict(ballots.items())} == {"1", "2.5"}
    assert ballots.instances[0].startswith("2024-05-01")
    assert ballots.alternatives == ("7", "8")
    for kind in (pl.Categorical, pl.Enum(["v", "w"])):
        named = pl.DataFrame({"voter": pl.Series(["w", "v"], dtype=kind), "instance": ["z", "z"], "label": ["a", "b"]})
        assert Ballots.from_frame(named).voters == ("w", "v")
    ticks = pl.Series([["a", "b"], []], dtype=pl.List(pl.Categorical))
    lists = pl.DataFrame({"voter": ["v", "w"], "instance": ["z", "z"], "labels": ticks})
    assert Ballots.from_frame(lists).ballot("v", "z") == {"a", "b"}
    arrays = lists.with_columns(labels=pl.Series([["a", "b"], ["b", "c"]], dtype=pl.Array(pl.String, 2)))
    assert Ballots.from_frame(arrays).ballot("w", "z") == {"b", "c"}


def test_cells_of_several_types_in_one_column_are_names_each():
    mixed = pd.DataFrame({"voter": [1, "ann", 2.5], "instance": ["z"] * 3, "label": ["a", 7, "b"]})
    assert dict(Ballots.from_frame(mixed).items()) == {("1", "z"): {"a"}, ("ann", "z"): {"7"}, ("2.5", "z"): {"b"}}


def test_numbers_beyond_whole_ones_are_names_too(frame):
    ballots = Ballots.from_frame(frame({"voter": [1e300, 3.0], "instance": ["z", "z"], "label": ["a", "b"]}))
    assert float(ballots.voters[0]) == 1e300
    assert ballots.voters[1] == "3"


def test_voters_and_instances_stand_in_the_order_of_their_first_appearance(frame):
    rng = np.random.default_rng(0)
    voters, instances = ([f"{kind}{number}" for number in rng.permutation(30)] for kind in "vz")
    columns = {"voter": voters + voters, "instance": instances + instances[::-1], "label": ["a"] * 60}
    ballots = Ballots.from_frame(frame(columns), duplicates="first")
    assert (ballots.voters, ballots.instances) == (tuple(voters), tuple(instances))


def test_ballots_may_all_be_empty_if_alternatives_are_stated(frame):
    columns = {"voter": ["v", "w"], "instance": ["z", "z"], "alternatives": [None, None]}
    ballots = Ballots.from_frame(frame(columns), alternatives=["a"], blank="empty")
    assert dict(ballots.items()) == {("v", "z"): set(), ("w", "z"): set()}
    with pytest.raises(BallotError, match="there are no ballots at all"):
        Ballots.from_frame(frame(columns), alternatives=["a"], blank="missing")


def test_lists_of_numbers_with_blanks_stay_whole(frame):
    columns = {"voter": ["v", "w"], "instance": ["z", "z"], "alternatives": [[1.0, 2.5], [3.0, None]]}
    ballots = Ballots.from_frame(frame(columns))
    assert dict(ballots.items()) == {("v", "z"): {"1", "2.5"}, ("w", "z"): {"3"}}
    nothing = {**columns, "alternatives": [[1, 2], None]}
    assert Ballots.from_frame(frame(nothing), blank="empty").ballot("w", "z") == frozenset()
    assert Ballots.from_frame(frame(nothing), blank="missing").voters == ("v",)


def test_nan_is_blank_wherever_it_stands():
    columns = {"voter": ["v", "w"], "instance": ["z", "z"], "alternatives": [3.0, float("nan")]}
    for make in (pl.DataFrame, pd.DataFrame):
        found = Ballots.from_frame(make(columns), blank="empty")
        assert dict(found.items()) == {("v", "z"): {"3"}, ("w", "z"): set()}
        marks = {**KEYS, "a": [1.0, float("nan"), 0, 1, 1], "b": [0.0, float("nan"), 1, 1, 1]}
        assert Ballots.from_frame(make(marks), layout="indicators").n_ballots == 4


def test_wide_columns_may_hold_lists_and_texts_side_by_side():
    columns = pl.DataFrame({"voter": ["v", "w"], "y": [["a", "b"], None], "z": ["b|c", "a"]})
    ballots = Ballots.from_frame(columns, layout="wide_instances")
    assert dict(ballots.items()) == {("v", "y"): {"a", "b"}, ("v", "z"): {"b", "c"}, ("w", "z"): {"a"}}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([{"a": 1}], "Struct"),
        ([b"a"], "Binary"),
        ([datetime.timedelta(1)], "Duration"),
        ([[["a"]]], "List"),
        ([[{"a": 1}]], "Struct"),
        (pl.Series([object()], dtype=pl.Object), "Object"),
    ],
)
def test_cells_that_hold_no_names_are_refused(cells, kind):
    frame = pl.DataFrame({"voter": ["v"], "instance": ["z"], "alternatives": cells})
    with pytest.raises(
        ColumnError, match=rf"column 'alternatives' holds .*{kind}.* cells; make them text, numbers or lists"
    ):
        Ballots.from_frame(frame)


def test_lists_where_a_name_belongs_are_refused(frame):
    columns = {"voter": [["v"], ["w"]], "instance": ["z", "z"], "alternatives": ["a", "b"]}
    with pytest.raises(ColumnError, match="column 'voter' holds lists; it must hold one name per row"):
        Ballots.from_frame(frame(columns))
    marks = {"voter": ["v", "w"], "instance": ["z", "z"], "a": [["x"], ["y"]]}
    with pytest.raises(ColumnError, match="^column 'a' holds lists; it must hold 0 or 1$"):
        Ballots.from_frame(frame(marks), layout="indicators")


@pytest.mark.parametrize("cells", [[["a"], [], None], ["a", "", None]])
def test_null_is_missing_beside_empty_cells_and_a_warning_tells(frame, cells):
    columns = {"voter": ["v", "w", "x"], "instance": ["z", "z", "z"], "alternatives": cells}
    with pytest.warns(CrowdWarning, match=r"1 row without a value .* is taken as missing; blank='empty' makes") as told:
        ballots = Ballots.from_frame(frame(columns))
    assert [each.filename for each in told] == [__file__], "whoever called it is named"
    assert dict(ballots.items()) == {("v", "z"): {"a"}, ("w", "z"): set()}
    assert Ballots.from_frame(frame(columns), blank="empty").ballot("x", "z") == frozenset()
