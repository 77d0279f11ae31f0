"""Ballots to and from lists of dicts, a pandas multi-index and indicator matrices; and what notebooks show."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MultiLabelBinarizer

from epivote import (
    EM,
    BallotError,
    Ballots,
    ColumnError,
    Majority,
    Truths,
    ballots_from_indicators,
    ballots_from_pandas,
    ballots_from_records,
    ballots_to_indicators,
    ballots_to_pandas,
    ballots_to_records,
    score,
    truths_to_indicators,
)
from examples import typed_script

CAST = {("ann", "q1"): {"cat", "dog"}, ("bo", "q1"): set(), ("ann", "q2"): {"owl"}}
BALLOTS = Ballots.from_mapping(CAST)


def same(one, other):
    return dict(one.items()) == dict(other.items()) and set(one.alternatives) == set(other.alternatives)


def test_records_there_and_back():
    records = ballots_to_records(BALLOTS)
    assert {(each["voter"], each["instance"]): set(each["alternatives"]) for each in records} == CAST
    assert same(ballots_from_records(records), BALLOTS)
    missing = [*records, {"voter": "bo", "instance": "q2", "alternatives": None}]
    assert same(ballots_from_records(missing), BALLOTS), "None is no ballot"
    missing[-1]["alternatives"] = float("nan")
    assert same(ballots_from_records(missing), BALLOTS), "nor is NaN, which pandas makes of None"


def test_names_are_texts_and_sets_come_in_order():
    numbers = [
        {"voter": 7, "instance": 3, "alternatives": (10, 9, 2, 11)},
        {"voter": 8, "instance": 3, "alternatives": []},
    ]
    ballots = ballots_from_records(numbers)
    assert dict(ballots.items()) == {("7", "3"): {"10", "11", "2", "9"}, ("8", "3"): set()}
    assert [each["alternatives"] for each in ballots_to_records(ballots)] == [["10", "11", "2", "9"], []]
    with pytest.raises(BallotError, match="voter '7' has two ballots on instance '3'"):
        ballots_from_records([*numbers, {"voter": "7", "instance": "3", "alternatives": []}])
    frame = pd.DataFrame([[1, 0], [0, 0]], index=pd.MultiIndex.from_tuples([(7, 3), (8, 3)]), columns=[5, 6])
    assert dict(ballots_from_pandas(frame).items()) == {("7", "3"): {"5"}, ("8", "3"): set()}
    assert ballots_from_pandas(frame).alternatives == ("5", "6")


def test_rows_of_sets_keep_the_order_of_the_instances():
    truths = Truths.from_mapping({"q2": {"b"}, "q1": {"a"}, "q3": {"a", "b"}}, alternatives=["b", "a"])
    order = {name: [int(each in truths[name]) for each in ("b", "a")] for name in truths}
    assert list(order) == ["q2", "q1", "q3"]
    assert truths_to_indicators(truths).tolist() == list(order.values())


def test_pandas_there_and_back():
    frame = ballots_to_pandas(BALLOTS)
    assert frame.index.names == ["voter", "instance"]
    assert frame.loc[("ann", "q1"), "dog"]
    assert not frame.loc[("bo", "q1")].any()
    assert same(ballots_from_pandas(frame), BALLOTS)
    swapped = frame.swaplevel()
    assert same(ballots_from_pandas(swapped), BALLOTS), "levels are known by their names"
    lists = pd.Series([["cat", "dog"], [], ["owl"]], index=pd.MultiIndex.from_tuples(list(CAST)))
    assert same(ballots_from_pandas(lists), BALLOTS)
    for nothing in (None, np.nan):
        lists["bo", "q2"] = nothing
        assert same(ballots_from_pandas(lists), BALLOTS), "a missing ballot is none, not an empty one"


def test_indicators_are_those_of_scikit_learn():
    matrix, keys = ballots_to_indicators(BALLOTS)
    binarizer = MultiLabelBinarizer(classes=list(BALLOTS.alternatives))
    assert np.array_equal(matrix, binarizer.fit_transform([CAST[key] for key in keys]))
    voters, instances = zip(*keys, strict=True)
    assert same(ballots_from_indicators(matrix, voters, instances, binarizer.classes_), BALLOTS)
    truths = Truths.from_mapping({"q1": {"dog"}, "q2": set()}, alternatives=["cat", "dog"])
    assert truths_to_indicators(truths).tolist() == [[0, 1], [0, 0]]
    assert truths_to_indicators(truths, ["dog", "owl"]).tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ballots_from_records([{"voter": "a", "instance": "q"}]), ColumnError, "record 0 has no key 'alternatives'"),
        (lambda: ballots_from_records([{"voter": "a", "instance": "q", "alternatives": "cat"}]), BallotError, "'cat' is not a list"),
        (lambda: ballots_from_records([{"voter": "a", "instance": "q", "alternatives": 5}]), BallotError, "5 is not a list; write [5]"),
        (lambda: ballots_from_records(2 * ballots_to_records(BALLOTS)), BallotError, "has two ballots on instance"),
        (lambda: ballots_from_indicators([[2]], ["a"], ["q"], ["x"]), BallotError, "only 0 and 1"),
        (lambda: ballots_from_indicators([[1]], ["a", "b"], ["q"], ["x"]), BallotError, "shape (1, 1) for 2 voters"),
        (lambda: ballots_from_pandas(pd.Series([["a"]])), ColumnError, "it needs two, voter and instance"),
        (lambda: truths_to_indicators(Truths.from_mapping({"q": {"x"}}), ["y"]), BallotError, "'x' is not one of"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(call, error, words):
    with pytest.raises(error) as refused:
        call()
    assert words in str(refused.value)


# What notebooks show


def test_notebooks_show_small_escaped_tables():
    odd = Ballots.from_mapping({("<b>", "q&a"): {"<script>"}, ("cy", "q&a"): {"x"}})
    fitted = EM((1, 1)).fit(odd)
    shown = [
        odd._repr_html_(),
        fitted._repr_html_(),
        fitted.estimate_._repr_html_(),
        fitted.explain("q&a")._repr_html_(),
        score(fitted.truth_, {"q&a": {"x"}}, odd)._repr_html_(),
    ]
    for html in shown:
        assert html.startswith("<table><caption")
        assert not any(banned in html for banned in ("<script", "<b>", "http", "src="))
    assert "&lt;script&gt;" in shown[0]
    assert "&lt;script&gt;" in shown[3]
    heads = ("alternative", "in the set", "margin (log-odds)", "inclusion probability")
    assert re.findall(r"<th>(.*?)</th>", shown[3]) == list(heads)
    assert "50 %" in shown[1]
    assert EM((1, 1))._repr_html_() == "<pre>EM(bounds=(1, 1))</pre>"
    assert repr(fitted.estimate_) == f"Estimate(1 set of size 1, converged after {fitted.n_iter_} iterations)"
    assert Majority((1, 1)).fit(odd)._repr_html_().count("<tr>") == 2


def test_notebooks_show_the_first_rows():
    many = Ballots.from_mapping({("v", f"q{z}"): {"a"} for z in range(12)})
    assert many._repr_html_().count("<tr>") == 11
    assert many._repr_html_().endswith("<p>and 2 more</p>")


def test_results_as_tables_of_the_kind_given():
    frame = pd.DataFrame({"voter": ["a", "b"], "instance": ["q", "q"], "alternatives": [["x"], ["x", "y"]]})
    fitted = EM((1, 1)).fit(frame)
    assert isinstance(fitted.truth_table_, pd.DataFrame)
    assert list(fitted.truth_table_.columns) == ["instance", "alternatives", "confidence"]
    assert list(fitted.confidence_table_.columns) == ["instance", "confidence"]
    assert fitted.confidence_table_["confidence"].tolist() == fitted.confidence_.tolist()
    assert type(EM((1, 1)).fit(BALLOTS).truth_table_).__module__.startswith("polars")


def test_the_script_that_type_checkers_read_runs():
    assert typed_script.main()[1:] == ["521 ballots, 521 keys", "1 right", "(24, 5)"]
