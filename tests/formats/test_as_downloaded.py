"""Files in the shape in which tools write them, with names of our own: every one is read to the ballots it holds.

Shapes as seen in public repositories: MTurk and CrowdFlower in CrowdTruth/Open-Domain-Relation-Extraction (data/input),
CrowdTruth in CrowdTruth/CrowdTruth-core (tutorial/data), Qualtrics in ropensci/qualtRics (tests/testthat/files),
LimeSurvey in andreldm/cpp-survey, SurveyMonkey in fivethirtyeight's survey on films (IS-87/DataQuest-GP-Star_Wars_Survey),
Toloka in Toloka/docs (result-of-eval.md, adding-tasks-to-the-pool.md), REDCap's headers in redcapAPI's documentation,
one row per annotator with 0/1 columns in emotion-analysis-project/emotion-annotation-aggretaion.
"""

from pathlib import Path

import polars as pl
import pytest
from trying import ballots_of

from epivote import Ballots, EpivoteError, read_export, write_ballots

HERE = Path(__file__).parent.parent / "cases" / "as-downloaded"
NEAR, SING = "2 - Which birds do you know?", "3 - Which of them sing?"
MONKEY = ("Which birds do you know? Please select all that apply.", "Which of them sing?")
CASES = [
    (
        "mturk-download.csv",
        {"question": "Answer.birds"},
        {("ann", "H1"): {"robin", "wren"}, ("bo", "H1"): set(), ("ann", "H2"): {"owl"}},
        "--blank missing leaves it out",
    ),
    (
        "mturk-download.csv",
        {"question": "birds", "instances": "Input.sound|Input.place", "blank": "missing"},
        {("ann", "1.mp3 | wood"): {"robin", "wren"}, ("ann", "2.mp3 | lake"): {"owl"}},
        "a submitted answer without ticks counts as a missing ballot",
    ),
    (
        "toloka-download.tsv",
        {"question": "OUTPUT:result"},
        {
            ("ann", "1.jpg | wood"): {"robin", "wren, small"},
            ("bo", "1.jpg | wood"): set(),
            ("ann", "1.jpg | lake"): {"owl"},
        },
        "instances are told apart by 'INPUT:image', 'INPUT:place'",
    ),
    (
        "crowdflower.csv",
        {},
        {("ann", "7001"): {"robin", "wren"}, ("bo", "7001"): set(), ("ann", "7002"): {"owl"}},
        r"cells were split at '\n'",
    ),
    (
        "crowdtruth.csv",
        {},
        {("ann", "7001"): {"robin", "wren"}, ("bo", "7001"): set(), ("ann", "7002"): {"owl"}},
        "voters are in 'workerId', instances are in 'unitId', ticks are in 'selected_answer'",
    ),
    (
        "qualtrics.csv",
        {},
        {("R_1", "Q2"): {"robin", "wren, small"}, ("R_2", "Q2"): {"robin", "Other"}},
        "1 question read: 'Q2'",
    ),
    (
        "limesurvey.csv",
        {},
        {
            ("1", NEAR): {"robin", "wren"},
            ("2", NEAR): set(),
            ("3", NEAR): {"wren", "Other"},
            ("1", SING): {"robin"},
            ("2", SING): {"wren"},
        },
        "a column per option was read as ticks",
    ),
    ("limesurvey.csv", {"question": SING}, {("1", SING): {"robin"}, ("2", SING): {"wren"}}, "--blank empty"),
    (
        "limesurvey-codes.csv",
        {"blank": "empty"},
        {("1", "birds"): {"SQ001", "SQ002"}, ("2", "birds"): {"SQ001", "other"}, ("3", "birds"): set()},
        "counts as an empty ballot",
    ),
    (
        "surveymonkey.csv",
        {},
        {
            ("1001", MONKEY[0]): {"robin", "wren"},
            ("1003", MONKEY[0]): {"wren", "owl"},
            ("1001", MONKEY[1]): {"robin"},
            ("1003", MONKEY[1]): {"wren"},
        },
        "2 questions read",
    ),
    (
        "kaggle.csv",
        {"question": "Q7"},
        {("row 1", "Q7"): {"robin", "owl"}, ("row 2", "Q7"): {"robin", "wren", "Other"}},
        "every row counts as a different respondent",
    ),
    ("redcap.csv", {}, {("1", "birds"): {"1", "2"}, ("2", "birds"): set(), ("3", "birds"): {"3"}}, "REDCap writes 0"),
    (
        "redcap-labels.csv",
        {},
        {("1", "Which birds?"): {"robin", "wren, small"}, ("2", "Which birds?"): set()},
        "1 question read",
    ),
    (
        "comma-joined.csv",
        {},
        {("ann", "one"): {"cat", "dog"}, ("bo", "one"): {"cat", "dog"}, ("ann", "two"): {"cat"}, ("bo", "two"): set()},
        "cells such as 'cat, dog' were split at ',' (override with --separator)",
    ),
    (
        "line-joined.csv",
        {"separator": r"\n"},
        {("1", "1"): {"0", "1"}, ("2", "1"): {"0", "1"}, ("1", "2"): {"1"}, ("2", "2"): {"0"}},
        "voters are in 'worker_id'",
    ),
    ("semicolon.csv", {}, {("ann", "q1"): {"robin", "wren"}, ("bo", "q1"): set(), ("ann", "q2"): {"owl"}}, "as empty"),
    (
        "windows-1252.csv",
        {"encoding": "windows-1252"},
        {("ann", "q1"): {"gelé", "café"}, ("bo", "q1"): {"“café”"}},
        None,
    ),
    ("numbers.csv", {}, {("ann", "1"): {"1"}, ("bo", "1"): {"0"}}, None),
    (
        "marks-of-instances.csv",
        {},
        {
            ("marks-of-instances", "1"): {"NORM"},
            ("marks-of-instances", "2"): {"MI", "STTC"},
            ("marks-of-instances", "3"): set(),
        },
        "every row counts as an instance of one voter; with --rows voters",
    ),
    (
        "marks-of-instances.csv",
        {"rows": "voters"},
        {("1", "instance 1"): {"NORM"}, ("2", "instance 1"): {"MI", "STTC"}, ("3", "instance 1"): set()},
        None,
    ),
    (
        "two-keys.csv",
        {},
        {("ann", "d1 | 1"): {"a"}, ("ann", "d1 | 2"): {"a", "b"}, ("bo", "d2 | 1"): {"b"}},
        "instances are in 'doc_id', 'sentence_id' together",
    ),
    (
        "two-keys.csv",
        {"instances": "sentence_id|doc_id"},
        {("ann", "1 | d1"): {"a"}, ("ann", "2 | d1"): {"a", "b"}, ("bo", "1 | d2"): {"b"}},
        "voters are in 'annotator'",
    ),
    (
        "emotions.csv",
        {},
        {("ann", "1"): {"happy"}, ("bo", "1"): {"happy", "sad"}, ("ann", "2"): {"sad"}},
        "columns without 0 or 1 were left out: 'text_content'",
    ),
    (
        "missing-words.csv",
        {"missing": "NA"},
        {("ann", "q1"): {"robin", "wren"}, ("cy", "q1"): set()},
        "counted 1 row with NA as missing, 1 row without a value as empty (--blank missing leaves them out)",
    ),
    (
        "nulls.jsonl",
        {},
        {("ann", "q1"): {"robin", "wren"}, ("bo", "q1"): set()},
        "counted 2 rows without a value as missing (--blank empty makes them empty ballots), 1 row with an empty list",
    ),
    (
        "nulls.jsonl",
        {"blank": "empty"},
        {("ann", "q1"): {"robin", "wren"}, **{(voter, "q1"): set() for voter in ("bo", "cy", "di")}},
        "counted 2 rows without a value as empty",
    ),
]


@pytest.mark.parametrize(("name", "options", "expected", "said"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_what_tools_write_is_read_to_the_ballots_it_holds(name, options, expected, said):
    found = read_export(HERE / name, **options)
    assert ballots_of(found) == expected
    if said is None:
        assert found.notes == ()
    else:
        assert any(said in note for note in found.notes), found.notes


def test_every_case_is_expected():
    assert {path.name for path in HERE.iterdir()} == {case[0] for case in CASES}


def test_questions_offer_their_own_options():
    found = read_export(HERE / "limesurvey.csv").ballots
    assert (found.offered(NEAR), found.offered(SING)) == (("robin", "wren", "Other"), ("robin", "wren"))


def test_gold_of_toloka_has_the_instances_of_its_inputs():
    assert dict(read_export(HERE / "toloka-download.tsv", question="result").gold) == {"1.jpg | lake": {"owl"}}


def test_a_wrong_question_is_told_those_there_are():
    with pytest.raises(EpivoteError, match=r"no column matches 'Q9'.*; correct --question; there are .*'Q1', 'Q2'"):
        read_export(HERE / "qualtrics.csv", question="Q9")


def test_null_in_parquet_is_missing_and_an_empty_list_is_empty(tmp_path):
    frame = pl.DataFrame({"voter": ["ann", "bo", "cy"], "instance": ["q", "q", "q"]})
    frame.with_columns(alternatives=pl.Series([["a"], [], None])).write_parquet(tmp_path / "a.parquet")
    frame.with_columns(alternatives=pl.Series(["a", "", None])).write_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet"):
        assert ballots_of(read_export(tmp_path / name)) == {("ann", "q"): {"a"}, ("bo", "q"): set()}
        assert ballots_of(read_export(tmp_path / name, blank="empty"))["cy", "q"] == set()


@pytest.mark.parametrize(
    ("cells", "mark", "names"),
    [
        (["cat, dog", "dog, cat", "cat"], ",", {"cat", "dog"}),
        (["cat;dog", "dog", "cow;cat;dog"], ";", {"cat", "dog", "cow"}),
        (["cat / dog", "dog / cat"], "/", {"cat", "dog"}),
        (["cat\ndog", "dog"], "\n", {"cat", "dog"}),
        (["cat, small;dog", "dog;cat, small", "dog"], ";", {"cat, small", "dog"}),
        (["Paris, France", "Lyon, France", "Rome, Italy"], None, {"Paris, France", "Lyon, France", "Rome, Italy"}),
        (["Paris, France", "Lyon, France", "Paris, Texas"], None, {"Paris, France", "Lyon, France", "Paris, Texas"}),
        (["and/or", "N/A"], None, {"and/or", "N/A"}),
        (["a,b|c", "c,a"], "|", {"a,b", "c", "c,a"}),
        (["a | b", "b"], "|", {"a", "b"}),
        (['["a", "b"]', "[]", "['b']"], None, {"a", "b"}),
        (["[IS_A]\n[CAUSES]", "[CAUSES]"], "\n", {"[IS_A]", "[CAUSES]"}),
    ],
)
def test_what_joins_ticks_is_told_from_the_whole_column(tmp_path, cells, mark, names):
    rows = pl.DataFrame({"voter": [f"v{n}" for n in range(len(cells))], "instance": "q", "alternatives": cells})
    rows.write_csv(tmp_path / "b.csv")
    found = read_export(tmp_path / "b.csv")
    assert set(found.ballots.alternatives) == names
    told = [note for note in found.notes if "were split at" in note]
    assert bool(told) == (mark not in (None, "|"))
    assert all(f"were split at {mark!r}" in note for note in told)
    unsplit = any("not split; --separator ',' splits them" in note for note in found.notes)
    assert unsplit == ("Paris, France" in cells)


@pytest.mark.parametrize("names", [("a,b", "b,a"), ("[1]", "[2]"), ("a/b", "b/a")])
def test_names_with_marks_survive_where_nobody_ticked_two(tmp_path, names):
    cast = {("ann", "q"): {names[0]}, ("bo", "q"): {names[1]}, ("cy", "q"): set()}
    write_ballots(Ballots.from_mapping(cast), tmp_path / "b.csv")
    assert ballots_of(read_export(tmp_path / "b.csv")) == cast


def test_stated_alternatives_tell_what_joins_them(tmp_path):
    (tmp_path / "b.csv").write_text('voter,instance,alternatives\nann,q,"salt, pepper;oil"\n')
    found = read_export(tmp_path / "b.csv", alternatives=["salt, pepper", "oil"])
    assert ballots_of(found) == {("ann", "q"): {"salt, pepper", "oil"}}
