"""Files that were misread or crashed a reader once, each with the way it showed."""

import json

import pytest
from typer.testing import CliRunner

from epivote import BallotError, EpivoteError, FileError, read_export
from epivote.cli import app

HEADER = "voter,instance,alternatives\n"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def ballots_of(found):
    return {key: set(ticks) for key, ticks in found.ballots.items()}


# Forms


def test_a_respondent_without_a_name_is_not_the_gold_row(write):
    found = read_export(write("f.csv", "Timestamp,Username,Q1\nt,,A\nt,u,B\nt,v,A\n"))
    assert ballots_of(found) == {("row 1", "Q1"): {"A"}, ("u", "Q1"): {"B"}, ("v", "Q1"): {"A"}}
    assert found.gold is None


def test_one_semicolon_in_a_free_answer_does_not_change_the_separator(write):
    text = 'Username,Q1,Q2\na,"Arsenal, Chelsea","Other: x; y"\nb,"Arsenal, PSG",Chelsea\nc,PSG,"PSG, Chelsea"\n'
    found = read_export(write("f.csv", text), format="forms")
    assert set(found.ballots.alternatives) == {"Arsenal", "Chelsea", "PSG", "Other: x; y"}
    assert found.notes[-1] == "cells were split at ',' (override with --separator or --alternatives)"


@pytest.mark.parametrize("mark", [";", ", ", ","])
def test_few_cells_are_enough_to_see_the_separator(write, mark):
    text = f'Username,Q1,Q2\na,"Arsenal{mark}Chelsea",Milan\nb,,"Inter{mark}Milan"\n'
    found = read_export(write("f.csv", text), format="forms")
    assert set(found.ballots.alternatives) == {"Arsenal", "Chelsea", "Inter", "Milan"}


def test_options_with_commas_between_semicolons(write):
    text = 'Username,Q1,Q2\na,"Inter, Milan;PSG",PSG\nb,"Inter, Milan",PSG\n'
    assert set(read_export(write("f.csv", text), format="forms").ballots.alternatives) == {"Inter, Milan", "PSG"}


def test_cells_of_blanks_and_separators_are_blank_and_blank_gold_is_not_known(write):
    path = write("f.csv", 'Username,Q1,Q2\na, ,A\nb,";",A;B\nkey,A,\n')
    found = read_export(path, format="forms", gold_row="key")
    assert set(ballots_of(found)) == {("a", "Q2"), ("b", "Q2")}
    assert dict(found.gold) == {"Q1": {"A"}}


def test_known_alternatives_end_where_a_separator_is(write):
    path = write("f.csv", "Username,Q1\na,A/B\nb,New York\n")
    found = read_export(path, format="forms", separator="/", alternatives=["A", "B", "New York", "New"])
    assert ballots_of(found) == {("a", "Q1"): {"A", "B"}, ("b", "Q1"): {"New York"}}
    with pytest.raises(BallotError, match="'New York' is not an alternative"):
        read_export(path, format="forms", separator="/", alternatives=["A", "B", "New", "York"])


def test_questions_with_brackets_can_be_named(write):
    path = write("f.csv", "Username,Q1 [Row 1],Q1 [Row 2],Q2\na,A,B,C\n")
    assert read_export(path, instances="Q1 [Row*]").ballots.instances == ("Q1 [Row 1]", "Q1 [Row 2]")
    assert read_export(path, instances="Q1 [Row 1]", voter="Username", format="forms").ballots.n_instances == 1


def test_a_question_with_semicolons_does_not_cut_the_table(write):
    path = write("f.csv", 'Timestamp,Username,"Which; teams; are; on; pic?"\nt,a,A\nt,b,"A, B"\n')
    assert read_export(path).ballots.instances == ("Which; teams; are; on; pic?",)


# Names and lists


def test_an_array_printed_by_numpy_is_a_list_of_names(write):
    path = write("c.csv", "task,worker,label\nt1,w1,['house' 'tree']\nt1,w2,\"['a b', 'c']\"\n")
    assert ballots_of(read_export(path)) == {("w1", "t1"): {"house", "tree"}, ("w2", "t1"): {"a b", "c"}}
    with pytest.raises(BallotError, match="is not a list of alternatives"):
        read_export(write("d.csv", "task,worker,label\nt1,w1,\"['a', None]\"\n"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", [{"id": "r1", "responses": {"q": [{"value": "Arsenal", "user_id": "u"}]}}]),
        ("b.json", [{"id": "r1", "q.responses": ["Arsenal"], "q.responses.users": ["u"]}]),
        (
            "c.json",
            [{"id": "r1", "annotations": [{"completed_by": "u", "result": [
                {"type": "choices", "from_name": "q", "value": {"choices": "Arsenal"}}]}]}],
        ),
    ],
)  # fmt: skip
def test_one_answer_given_as_text_is_one_answer(write, name, content):
    assert ballots_of(read_export(write(name, json.dumps(content)))) == {("u", "r1"): {"Arsenal"}}


def test_one_accepted_option_given_as_text(write):
    found = read_export(write("p.jsonl", '{"_input_hash": 1, "_annotator_id": "u", "accept": "Arsenal"}\n'))
    assert ballots_of(found) == {("u", "1"): {"Arsenal"}}


@pytest.mark.parametrize(
    ("name", "text", "alternatives"),
    [
        ("m.csv", "HITId,WorkerId,Answer.a.on,Answer.b.on\nh,w,true,false\n", ("a", "b")),
        (
            "n.csv",
            'HITId,WorkerId,Answer.taskAnswers\nh,w,"[{""q"":{""a"":true,""b"":false}}]"\n',
            ("a", "b"),
        ),
        ("t.tsv", "OUTPUT:a\tOUTPUT:b\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\ntrue\tfalse\tt\tw\n", ("a", "b")),
    ],
)
def test_options_that_nobody_ticked_are_alternatives(write, name, text, alternatives):
    found = read_export(write(name, text))
    assert found.ballots.alternatives == alternatives
    assert not found.inferred


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.csv", "HITId,WorkerId,Answer.c\nH1,,A\n", "m.csv, line 2: the voter is blank; give every ballot a voter"),
        ("n.csv", "HITId,WorkerId,Answer.c\n,w,A\n", "n.csv, line 2: the instance is blank; give every ballot an inst"),
        ("j.json", '[{"voter": "a", "instance": "q", "alternatives": [null]}]', "record 1: .None. in 'alternatives'"),
        ("k.jsonl", '{"voter": "a", "instance": "q", "alternatives": ["\\ud83d"]}\n', "line 1: .* is neither a name"),
    ],
)
def test_what_is_no_name_is_refused(write, name, text, message):
    with pytest.raises(EpivoteError, match=message):
        read_export(write(name, text))


def test_records_need_not_all_have_the_same_fields(write):
    text = '{"voter":"x","instance":"q","a":1}\n{"voter":"y","instance":"q","a":0,"b":1}\n'
    with pytest.raises(EpivoteError, match="line 1: column 'b' is blank but others are not"):
        read_export(write("a.jsonl", text))
    text = '{"instance":"q","voter":"x"}\n{"voter":"y","instance":"q","alternatives":["a"]}\n'
    assert ballots_of(read_export(write("b.jsonl", text))) == {("y", "q"): {"a"}}
    assert ballots_of(read_export(write("b.jsonl", text), blank="empty")) == {("x", "q"): set(), ("y", "q"): {"a"}}


def test_mixed_types_in_json_are_not_taken_for_one_another(write):
    mixed = '{"voter":"x","instance":"q","alternatives":["x"]}\n{"voter":"y","instance":"q","alternatives":"x|y"}\n'
    with pytest.raises(
        FileError, match="line 2: 'x|y' in 'alternatives' is not a list, but other records have lists there"
    ):
        read_export(write("a.jsonl", mixed))
    large = "".join(
        json.dumps({"voter": voter, "instance": "q", "alternatives": ["a"]}) + "\n"
        for voter in (9007199254740993, 9007199254740992, 7.0)
    )
    assert read_export(write("b.jsonl", large)).ballots.voters == ("9007199254740993", "9007199254740992", "7")


def test_json_is_known_by_its_content(write):
    text = '{"voter":"x","instance":"q","alternatives":["a"]}\n{"voter":"y","instance":"q","alternatives":[]}\n'
    for name in ("x", "x.json", "x.dat"):
        assert ballots_of(read_export(write(name, text))) == {("x", "q"): {"a"}, ("y", "q"): set()}


def test_headers_with_capitals_and_true_false_columns(write):
    assert ballots_of(read_export(write("a.csv", "Voter,Instance,Alternatives\nx,q,a|b\n"))) == {("x", "q"): {"a", "b"}}
    assert ballots_of(read_export(write("b.csv", "voter,instance,a,b\nx,q,True,False\n"))) == {("x", "q"): {"a"}}


def test_a_list_in_a_canonical_cell_is_read(write):
    found = read_export(write("a.csv", HEADER + "w,q,\"['a', 'b']\"\n"))
    assert ballots_of(found) == {("w", "q"): {"a", "b"}}


def test_none_of_these_is_an_empty_ballot_when_said(write):
    path = write("a.csv", HEADER + "v,q,NONE\nw,q,a|b\nx,q,a|NONE\n")
    found = read_export(path, none="NONE")
    assert found.ballots.alternatives == ("a", "b")
    assert ballots_of(found) == {("v", "q"): set(), ("w", "q"): {"a", "b"}, ("x", "q"): {"a"}}
    with pytest.raises(BallotError, match="nobody ticked 'NOE' .did you mean 'NONE'"):
        read_export(path, none="NOE")


def test_what_a_format_has_no_use_for_is_said(write):
    found = read_export(write("a.csv", HEADER + "w,q,a\n"), question="x")
    assert found.notes == ("--question does not apply to ballots files; ignored",)


def test_ticks_without_instances_ask_for_them(write):
    path = write("a.csv", "user,riddle,answer\nu,q,a\n")
    with pytest.raises(EpivoteError, match="there is no column 'instance'"):
        read_export(path, voter="user", ticks="answer")


# Gold


def test_gold_may_name_what_nobody_ticked(write):
    task = {
        "id": 1,
        "annotations": [
            {"completed_by": 1, "result": [{"type": "choices", "from_name": "q", "value": {"choices": ["A"]}}]},
            {
                "completed_by": 2,
                "ground_truth": True,
                "result": [{"type": "choices", "from_name": "q", "value": {"choices": ["B"]}}],
            },
        ],
    }
    found = read_export(write("l.json", json.dumps([task])))
    assert found.ballots.alternatives == ("A", "B")
    assert dict(found.gold) == {"1": {"B"}}
    ballots, gold = write("b.csv", HEADER + "v,q,A\nw,q,A\n"), write("g.csv", "instance,alternatives\nq,B\n")
    result = run("aggregate", ballots, "--size", "1", "--gold", gold)
    assert "0 of 1 sets are exactly right" in result.stdout


def test_gold_that_nobody_voted_on_is_refused_before_anything_is_written(write, tmp_path):
    ballots, gold = write("b.csv", HEADER + "v,q,A\nw,q,A\n"), write("g.csv", "instance,alternatives\np,A\n")
    result = run("aggregate", ballots, "--size", "1", "--gold", gold, "--gold-use", "score", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "no gold instance has a ballot; gold has 'p', the ballots 'q'" in result.stderr
    assert not (tmp_path / "out").exists()


# Label Studio


def test_predictions_that_do_not_answer_and_annotators_known_twice(write):
    def choices(*names, question="q"):
        return [{"type": "choices", "from_name": question, "value": {"choices": list(names)}}]

    tasks = [
        {
            "id": 1,
            "annotations": [{"completed_by": {"id": 1, "email": "a@example.org"}, "result": choices("A")}],
            "predictions": [12, {"result": choices("B", question="other")}, {"result": choices("B")}],
        },
        {
            "id": 2,
            "annotations": [{"completed_by": 1, "result": choices("A")}],
            "predictions": [{"result": choices("A")}, {"result": choices("B")}],
        },
        {"id": 3, "annotations": [{"completed_by": {"id": 5, "email": None}, "result": choices("A")}]},
    ]
    assert ballots_of(read_export(write("l.json", json.dumps(tasks)), question="q")) == {
        ("a@example.org", "1"): {"A"},
        ("model", "1"): {"B"},
        ("a@example.org", "2"): {"A"},
        ("model 1", "2"): {"A"},
        ("model 2", "2"): {"B"},
        ("5", "3"): {"A"},
    }


# MTurk


def test_several_groups_of_boxes_are_asked_about(write):
    text = "HITId,WorkerId,Answer.t.a.on,Answer.t.b.on,Answer.c.x.on\nh,w,true,false,true\n"
    with pytest.raises(EpivoteError, match="choose the question to read"):
        read_export(write("m.csv", text))
    found = read_export(write("m.csv", text), question="t")
    assert (found.ballots.alternatives, ballots_of(found)) == (("a", "b"), {("w", "h"): {"a"}})
    text = 'HITId,WorkerId,Answer.taskAnswers\nh,w,"[{""p"":{""a"":true}}]"\nh,v,"[{""q"":{""a"":true}}]"\n'
    with pytest.raises(EpivoteError, match="choose the question to read"):
        read_export(write("n.csv", text))
