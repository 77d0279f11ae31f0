"""Tables at their edges: how far columns are looked at, what tells instances apart, what is counted and noted."""

import polars as pl
import pytest
from trying import ballots_of, refused

from epivote import read_export


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="t.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


@pytest.mark.parametrize("row", [999, 1000, 1001])
def test_a_thousand_rows_tell_which_columns_hold_marks(write, row):
    rows = [f"v{number},q,1,{'later' if number == row else ''}\n" for number in range(1, 1003)]
    path = write("voter,instance,a,remark\n" + "".join(rows))
    if row <= 1000:
        found = read_export(path)
        assert found.ballots.alternatives == ("a",)
        assert found.notes == ("columns without 0 or 1 were left out: 'remark'; --ticks selects others",)
    else:
        assert refused(path).startswith("t.csv, line 1002, column 'remark': 'later' is neither 0 nor 1; ")


def test_columns_of_marks_and_others(write):
    text = "voter,instance,a,b,remark,grade,never\nann,q,1,x,good,2,\nbo,q,0,,NA,3,\n"
    assert refused(write(text)).startswith("t.csv, line 2, column 'grade': '2' is neither 0 nor 1; ")
    text = "voter,instance,a,b,remark,grade\nann,q,1,x,good,1\nbo,q,0,no,NA,0\n"
    found = read_export(write(text))
    assert found.ballots.alternatives == ("a", "b", "grade")
    assert ballots_of(found) == {("ann", "q"): {"a", "b", "grade"}, ("bo", "q"): set()}
    assert found.notes == ("columns without 0 or 1 were left out: 'remark'; --ticks selects others",)
    only = read_export("t.csv", ticks="?")
    assert (only.ballots.alternatives, only.notes) == (("a", "b"), ())
    assert refused(write("voter,instance,multiplicity,why\nann,q,1,so\n"), format="indicators") == (
        "t.csv: no 0/1 column is left besides 'voter', 'instance'; name the column of ticks with --ticks"
    )


def test_words_for_missing_do_not_make_a_column_hold_other_things(write):
    found = read_export(write("voter,instance,a,b\nann,q,NA,NA\nbo,q,NA,NA\ncy,q,NA,NA\n"), missing="NA", blank="empty")
    assert found.ballots.alternatives == ("a", "b")
    assert refused("t.csv").startswith("t.csv: no 0/1 column is left besides 'voter', 'instance'; ")
    answered = read_export(write("voter,instance,a,b\nann,q,1,0\nbo,q,NA,NA\n"), missing="NA")
    assert ballots_of(answered) == {("ann", "q"): {"a"}}


def test_ticks_of_one_instance_are_one_ballot_whatever_else_is_numbered(write):
    found = read_export(write("voter,instance,item,alternative\nann,q,1,a\nann,q,2,b\nbo,q,1,\n"))
    assert ballots_of(found) == {("ann", "q"): {"a", "b"}, ("bo", "q"): set()}


def test_several_columns_tell_instances_apart_only_where_one_does_not(write):
    one = read_export(write("voter,instance,item,alternatives\nann,p,1,a\nann,q,2,b\n"))
    assert one.ballots.instances == ("p", "q")
    both = read_export(write("voter,instance,item,alternatives\nann,q,1,a\nann,q,2,b\n"))
    assert both.ballots.instances == ("q | 1", "q | 2")
    assert both.notes == (
        "judging by column names, voters are in 'voter', instances are in 'instance', 'item' together, ticks are in "
        "'alternatives'; --voter, --instances and --ticks choose other columns",
    )
    neither = "t.csv, line 3: voter 'ann' already has a ballot on instance 'q' (t.csv, line 2); "
    assert refused(write("voter,instance,item,alternatives\nann,q,1,a\nann,q,1,b\n")).startswith(neither)
    told = write("voter,instance,item,alternatives\nann,q,1,a\nann,q,2,b\n")
    assert refused(told, instances="instance").startswith(neither)
    named = read_export(told, instances="item|instance")
    assert named.ballots.instances == ("1 | q", "2 | q")
    assert named.notes == ()


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ("voter,instance,alternatives", None),
        ("worker,task,alternatives", None),
        (" Voter ,INSTANCE,Alternatives", None),
        (
            "rater,instance,alternatives",
            "voters are in 'rater', instances are in 'instance', ticks are in 'alternatives'",
        ),
        ("voter,item,alternatives", "voters are in 'voter', instances are in 'item', ticks are in 'alternatives'"),
        ("voter,instance,tags", "voters are in 'voter', instances are in 'instance', ticks are in 'tags'"),
    ],
)
def test_which_columns_were_taken_is_noted(write, header, note):
    found = read_export(write(f"{header}\nann,q,a\n"))
    after = "; --voter, --instances and --ticks choose other columns"
    assert found.notes == (() if note is None else (f"judging by column names, {note}{after}",))


def test_what_the_user_names_is_not_noted(write):
    path = write("rater,item,tags\nann,q,a\n")
    assert read_export(path, voter="rater", instances="item", ticks="tags").notes == ()
    after = "; --voter, --instances and --ticks choose other columns"
    assert read_export(path, voter="rater", ticks="tags").notes == (
        f"judging by column names, instances are in 'item'{after}",
    )
    marks = write("rater,item,a\nann,q,1\n")
    assert read_export(marks).notes == (
        f"judging by column names, voters are in 'rater', instances are in 'item'{after}",
    )


def test_rows_without_ticks_are_counted_by_what_they_hold(write, tmp_path):
    text = "voter,instance,alternatives\nann,q,a\nbo,q,\ncy,q,NA\ndi,q, NA \ned,q,none\n"
    found = read_export(write(text), missing="NA|none")
    assert ballots_of(found) == {("ann", "q"): {"a"}, ("bo", "q"): set()}
    assert found.notes == (
        "counted 3 rows with NA|none as missing, 1 row without a value as empty (--blank missing leaves them out)",
    )
    missing = read_export("t.csv", missing="NA|none", blank="missing")
    assert ballots_of(missing) == {("ann", "q"): {"a"}}
    assert missing.notes == (
        "counted 3 rows with NA|none as missing, 1 row without a value as missing (--blank empty makes them empty "
        "ballots)",
    )
    frame = pl.DataFrame({"voter": ["ann", "bo", "cy", "di"], "instance": ["q"] * 4})
    frame.with_columns(alternatives=pl.Series([["a"], [], None, []])).write_parquet(tmp_path / "t.parquet")
    lists = read_export("t.parquet")
    assert ballots_of(lists) == {("ann", "q"): {"a"}, ("bo", "q"): set(), ("di", "q"): set()}
    assert lists.notes == (
        "counted 1 row without a value as missing (--blank empty makes them empty ballots), 2 rows with an empty list "
        "as empty",
    )


def test_ticks_without_an_empty_ballot_are_noted(write):
    note = (
        "a row is one tick, so voters who ticked nothing have no row and count as not asked; add a row with a blank "
        "alternative for each of their ballots"
    )
    assert read_export(write("voter,instance,alternative\nann,q,a\n")).notes == (note,)
    assert read_export(write("voter,instance,alternative\nann,q,a\nbo,q,\n")).notes == ()


def test_alternatives_are_inferred_only_where_nothing_states_them(write):
    lists, marks = write("voter,instance,alternatives\nann,q,a\n"), write("voter,instance,a\nann,q,1\n", "m.csv")
    assert read_export(lists).inferred
    assert not read_export(lists, alternatives=["a", "b"]).inferred
    assert not read_export(lists, menu={"q": ["a", "b"]}).inferred
    assert not read_export(marks).inferred
