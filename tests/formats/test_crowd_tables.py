"""MTurk's, Toloka's and forms' tables in detail: which answer is read, how cells are split, what is no ballot."""

import json

import pytest
from trying import refused

from epivote import EpivoteError, read_export

EMPTY = "a submitted answer without ticks counts as an empty ballot; --blank missing leaves it out"
HIT = "HITId,WorkerId,AssignmentStatus,"
TASK = "ASSIGNMENT:task_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\t"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, text):
        (tmp_path / name).write_text(text)
        return name

    return to_file


def ballots_of(path, **options):
    return {key: set(ticks) for key, ticks in read_export(path, **options).ballots.items()}


def quoted(value):
    return '"' + json.dumps(value).replace('"', '""') + '"'


# MTurk


def test_joined_answers_and_their_separator(write):
    path = write("m.csv", "HITId,WorkerId,Answer.q\nh,v,a||b|\nh,w,\nh,x,c;d|\n")
    assert ballots_of(path) == {("v", "h"): {"a", "b"}, ("w", "h"): set(), ("x", "h"): {"c;d"}}
    assert ballots_of(path, separator=";")[("x", "h")] == {"c", "d|"}
    assert read_export(path).notes == (EMPTY,)


def test_only_rejected_assignments_are_left_out(write):
    states = ("Approved", "Rejected", "Submitted", "", "Rejected")
    rows = "".join(f"h,v{number},{state},a\n" for number, state in enumerate(states))
    found = read_export(write("m.csv", HIT + "Answer.q\n" + rows))
    assert found.ballots.voters == ("v0", "v2", "v3")
    assert found.notes == ("a rejected assignment counts as a missing ballot (2 times)",)


def test_lists_of_labels(write):
    rows = ['h,v,"[""a"",""b""]"', 'h,w,"""c"""', "h,x,", "h,y,[]"]
    path = write("m.csv", "\n".join(["HITId,WorkerId,Answer.q.labels,Answer.other", *[f"{row},z" for row in rows], ""]))
    expected = {("v", "h"): {"a", "b"}, ("w", "h"): {"c"}, ("x", "h"): set(), ("y", "h"): set()}
    assert ballots_of(path) == ballots_of(path, question="q") == expected
    assert ballots_of(path, question="other") == {(voter, "h"): {"z"} for voter in "vwxy"}
    long = json.dumps({"a" * 70: 1})
    path = write("m.csv", f"HITId,WorkerId,Answer.q.labels\n\nh,v,[]\nh,w,{quoted(json.loads(long))}\n")
    assert refused(path) == f"m.csv, line 4: {long[:60]!r} is not a list of labels; export the batch again"
    path = write("m.csv", f"HITId,WorkerId,Answer.q.labels\n\nh,v,[]\nh,w,[{'a' * 70}\n")
    assert refused(path) == f"m.csv, line 4: {'[' + 'a' * 59!r} is not JSON; export the batch again"


def test_one_column_per_box(write):
    head = "HITId,WorkerId,Answer.why.not.on,Answer.c.on,Answer.a.on,Answer.note"
    path = write("m.csv", f"{head}\nh,v,true,false,true,x\nh,w,,true,on,y\nh,x,,,,\n")
    assert ballots_of(path) == {("v", "h"): {"why.not", "a"}, ("w", "h"): {"c"}, ("x", "h"): set()}
    assert read_export(path).ballots.alternatives == ("why.not", "c", "a")
    assert ballots_of(path, question="note") == {("v", "h"): {"x"}, ("w", "h"): {"y"}, ("x", "h"): set()}
    assert read_export(path, question="why").ballots.alternatives == ("not",)


def test_boxes_of_several_questions(write):
    names = [f"Answer.{question}.{option}.on" for question in "gcbfead" for option in "xy"]
    path = write("m.csv", f"HITId,WorkerId,{','.join(names)}\nh,v,{','.join(['true', 'false'] * 7)}\n")
    assert refused(path) == (
        "m.csv: choose the question to read with --question; there are 'a', 'b', 'c', 'd', 'e', 'f', 'g'"
    )
    found = read_export(path, question="b").ballots
    assert (dict(found.items()), found.alternatives) == ({("v", "h"): {"x"}}, ("x", "y"))
    one = write("m.csv", "HITId,WorkerId,Answer.q.x.on,Answer.q.y.on\nh,v,true,false\n")
    assert read_export(one).ballots.alternatives == ("q.x", "q.y")
    mixed = write("m.csv", "HITId,WorkerId,Answer.q.x.on,Answer.y.on\nh,v,true,false\n")
    assert read_export(mixed).ballots.alternatives == ("q.x", "y")


def test_crowd_forms(write):
    forms = [
        [{"q": {"b": True, "a": False}, "note": "x"}],
        [{"q": {"a": True, "c": "true", "d": 1}}],
        [],
        {"q": {"a": True}},
        [1],
        [{"q": "a"}],
    ]
    rows = [f"h,v{number},{quoted(form)}" for number, form in enumerate(forms)]
    path = write("m.csv", "\n".join(["HITId,WorkerId,Answer.taskAnswers", *rows, "h,v6,", ""]))
    assert ballots_of(path) == {
        ("v0", "h"): {"b"},
        ("v1", "h"): {"a"},
        **{(f"v{number}", "h"): set() for number in range(2, 7)},
    }
    assert read_export(path).ballots.alternatives == ("b", "a", "c", "d")
    fields = {name: {"a": True} for name in "gcbfed"}
    path = write("m.csv", f"HITId,WorkerId,Answer.taskAnswers\nh,v,{quoted([{**fields, 'z': 'text'}])}\n")
    assert refused(path).endswith("there are 'b', 'c', 'd', 'e', 'f', 'g'")
    assert ballots_of(path, question="c") == {("v", "h"): {"a"}}


def test_which_answer_is_asked_with_all_that_are_there(write):
    names = [f"Answer.q{number}" for number in range(10)]
    path = write("m.csv", f"HITId,WorkerId,{','.join(names)}\nh,v{',x' * 10}\n")
    listed = ", ".join(map(repr, names[:8]))
    assert refused(path) == f"m.csv: choose the question to read with --question; there are {listed} and 2 more"
    assert refused(path, question="q") == refused(path)
    assert ballots_of(path, question="q7") == {("v", "h"): {"x"}}
    two = write("m.csv", "HITId,WorkerId,Answer.a.labels,Answer.b.labels\nh,v,[],[]\n")
    assert "choose the question to read" in refused(two)


# Toloka


def test_states_of_toloka_assignments(write):
    states = ("SUBMITTED", "APPROVED", "ACCEPTED", "REJECTED", "ACTIVE", "EXPIRED", "SKIPPED", "ACTIVE")
    rows = "".join(f"t\tw{number}\t{state}\ta\n" for number, state in enumerate(states))
    found = read_export(write("t.tsv", f"{TASK}OUTPUT:q\n{rows}"))
    assert found.ballots.voters == ("w0", "w1", "w2")
    assert found.notes == (
        "an assignment that is REJECTED counts as a missing ballot",
        "an assignment that is ACTIVE counts as a missing ballot (2 times)",
        "an assignment that is EXPIRED counts as a missing ballot",
        "an assignment that is SKIPPED counts as a missing ballot",
    )
    path = write("t.tsv", "ASSIGNMENT:task_id\tASSIGNMENT:worker_id\tOUTPUT:q\nt\tw\ta\n")
    assert ballots_of(path) == {("w", "t"): {"a"}}, "without states all count"


def test_cells_of_toloka(write):
    cells = ["a, b ,,", '"[""a"", ""c, d""]"', "", "b;c"]
    rows = "".join(f"t\tw{number}\tAPPROVED\t{cell}\n" for number, cell in enumerate(cells))
    path = write("t.tsv", f"{TASK}OUTPUT:q\n{rows}")
    expected = {("w0", "t"): {"a", "b"}, ("w1", "t"): {"a", "c, d"}, ("w2", "t"): set()}
    assert ballots_of(path) == {**expected, ("w3", "t"): {"b;c"}}
    assert ballots_of(path, separator=";") == {**expected, ("w0", "t"): {"a, b ,,"}, ("w3", "t"): {"b", "c"}}
    assert read_export(path).notes == (EMPTY,)
    path = write("t.tsv", f"{TASK}OUTPUT:q\n\nt\tv\tAPPROVED\ta\nt\tw\tAPPROVED\t[{'a' * 70}\n")
    assert refused(path) == f"t.tsv, line 4: {'[' + 'a' * 59!r} is not JSON; export the assignments again"


def test_gold_of_toloka_counts_whatever_became_of_the_assignment(write):
    rows = ["t\tv\tREJECTED\ta\tb,c", "t\tw\tAPPROVED\ta\t", "u\tw\tAPPROVED\ta\t", "x\tw\tAPPROVED\ta\ta"]
    path = write("t.tsv", "\n".join([f"{TASK}OUTPUT:q\tGOLDEN:q", *rows, ""]))
    found = read_export(path)
    assert dict(found.gold) == {"t": {"b", "c"}, "x": {"a"}}
    assert found.ballots.alternatives == ("a", "b", "c")
    assert read_export(path, instances="ASSIGNMENT:worker_id", duplicates="last").gold.instances == ("v", "w")
    boxes = ["t\tw\tAPPROVED\ttrue\tfalse\tFALSE\tTRUE", "u\tw\tAPPROVED\ttrue\tfalse\t\t"]
    head = "OUTPUT:x:1\tOUTPUT:OUTPUT:2\tGOLDEN:x:1\tGOLDEN:OUTPUT:2"
    found = read_export(write("t.tsv", "\n".join([f"{TASK}{head}", *boxes, ""])))
    assert found.ballots.alternatives == ("x:1", "OUTPUT:2")
    assert dict(found.gold) == {"t": {"OUTPUT:2"}}
    only = read_export(write("t.tsv", "\n".join([f"{TASK}{head.replace('GOLDEN:x:1', 'GOLDEN:z')}", *boxes, ""])))
    assert only.gold is None, "gold of some boxes only is none"


def test_which_output_is_meant(write):
    head, rows = "OUTPUT:a\tOUTPUT:b\tOUTPUT:c", ["t\tv\tAPPROVED\ttrue\tx\t", "t\tw\tAPPROVED\tfalse\t\t"]
    path = write("t.tsv", "\n".join([f"{TASK}{head}", *rows, ""]))
    assert refused(path) == (
        "t.tsv: choose the question to read with --question; there are 'OUTPUT:a', 'OUTPUT:b', 'OUTPUT:c'"
    )
    assert refused(path, question="d") == refused(path)
    assert ballots_of(path, question="b") == {("v", "t"): {"x"}, ("w", "t"): set()}
    assert ballots_of(path, question="a") == {("v", "t"): {"a"}, ("w", "t"): set()}
    path = write("t.tsv", "\n".join([f"{TASK}OUTPUT:a\tOUTPUT:c\tnote", *[f"{row}" for row in rows], ""]))
    assert "choose the question" in refused(path), "a column that is blank throughout holds no boxes"
    path = write("t.tsv", "ASSIGNMENT:task_id\tASSIGNMENT:worker_id\nt\tw\n")
    assert refused(path, format="toloka") == "t.tsv has no column of answers; check that it is the file you meant"


# Forms


@pytest.mark.parametrize("names", [["Red", "Red, dark", "dark"], ["dark", "Red, dark", "Red"], ["Red, dark", "Red"]])
@pytest.mark.parametrize("mark", [", ", ";", " ; ", ","])
def test_the_longest_option_wins(write, names, mark):
    path = write("f.csv", f'Username,Q1,Q2\nv,"Red, dark{mark}Red","Red{mark}Red, dark"\nw,Red,"Red, dark"\n')
    both = {"Red", "Red, dark"}
    assert ballots_of(path, alternatives=names) == {
        ("v", "Q1"): both,
        ("v", "Q2"): both,
        ("w", "Q1"): {"Red"},
        ("w", "Q2"): {"Red, dark"},
    }


def test_options_are_taken_whole_and_as_they_are_written(write):
    path = write("f.csv", 'Username,Q1\nv,"a.b (c)|A.B"\nw,"axb (c)"\n')
    names = ["a.b (c)", "A.B", "a", "b"]
    assert refused(path, alternatives=names, separator="|") == (
        "f.csv, line 3, column 'Q1': 'axb (c)' is not an alternative (did you mean 'a.b (c)'?)"
    )
    path = write("f.csv", 'Username,Q1\nv,"a.b (c)|A.B"\nw,"a | b"\n')
    assert ballots_of(path, alternatives=names, separator="|") == {
        ("v", "Q1"): {"a.b (c)", "A.B"},
        ("w", "Q1"): {"a", "b"},
    }
    path = write("f.csv", 'Username,Q1\n\nv,"a; nothing known; b"\n')
    assert (
        refused(path, alternatives=names, separator=";")
        == "f.csv, line 3, column 'Q1': 'nothing known' is not an alternative"
    )


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["a;b", "b;a", "a"], ";"),
        (["a,b", "b,a", "a"], ","),
        (["a, b;c", "c;a, b", "c"], ";"),
        (["a;b, c", "c, a;b", "c"], ","),
        (["a", "b"], ","),
    ],
)
def test_cells_are_cut_where_ticks_come_back(write, cells, mark):
    rows = "".join(f'v{number},"{cell}"\n' for number, cell in enumerate(cells))
    found = read_export(write("f.csv", f"Username,Q1\n{rows}"), format="forms")
    assert found.notes == (f"cells were split at {mark!r} (override with --separator or --alternatives)",)
    expected = {part.strip() for cell in cells for part in cell.split(mark)}
    assert set(found.ballots.alternatives) == expected
    for options in ({"separator": mark}, {"alternatives": sorted(expected)}):
        assert read_export("f.csv", format="forms", **options).notes == ()


@pytest.mark.parametrize(
    "name", ["Timestamp", "Horodateur", "ZEITSTEMPEL", "Marca temporal", "Email Address", "username"]
)
def test_a_form_is_known_by_its_first_columns(write, name):
    path = write("f.csv", f"{name},Pseudo,Score,Email,Name,Q1\nx,y,z,v,w,a\n")
    found = read_export(path)
    assert found.format == "forms"
    voter = {"Email Address": "x"}.get(name, "v")
    assert dict(found.ballots.items()) == {(voter, "Pseudo"): {"y"}, (voter, "Q1"): {"a"}}


def test_the_respondent_is_found_by_the_first_usual_name(write):
    columns = ["annotator", "worker", "voter", "Name", "Email", "Email Address", "Username"]
    while columns:
        path = write("f.csv", f"Timestamp,{','.join(columns)},Q1\nt,{','.join(columns)},a\n")
        assert columns[-1] in read_export(path, format="forms").ballots.voters
        columns.pop()
    found = read_export(write("f.csv", "Timestamp,Q1\nt,a\nt,b\n"))
    assert found.ballots.voters == ("row 1", "row 2")
    assert "every row counts as a different respondent" in found.notes[0]
    found = read_export("f.csv", voter="Timestamp")
    assert found.ballots.voters == ("t, row 1", "t, row 2")
    assert found.notes[0] == "rows with the same 'Timestamp' count as different respondents"


def test_questions_by_pattern(write):
    path = write("f.csv", "who,Image 1,Image 12,image 3,Image [4],Other\nv,a,b,c,d,e\n")
    for pattern, found in (
        ("Image*", ("Image 1", "Image 12", "Image [4]")),
        ("Image ?", ("Image 1",)),
        ("Image [4]", ("Image [4]",)),
        ("*age 3", ("image 3",)),
        ("?mage*", ("Image 1", "Image 12", "image 3", "Image [4]")),
    ):
        assert read_export(path, voter="who", instances=pattern, format="forms").ballots.instances == found
    assert refused(path, voter="who", instances="Picture*") == (
        "f.csv: no column matches 'Picture*'; correct --instances; there are "
        "'Image 1', 'Image 12', 'image 3', 'Image [4]', 'Other'"
    )


@pytest.mark.parametrize(
    ("header", "options", "kind"),
    [
        ("who,Q1,Q2", {"voter": "who", "format": "forms"}, "forms"),
        ("voter,instance,Q1", {"voter": "voter"}, "indicators"),
        ("voter,task,Q1", {"voter": "voter"}, "indicators"),
        ("voter,item,Q1", {"voter": "voter"}, "indicators"),
        ("voter,x,Q1", {"voter": "voter", "instances": "x"}, "indicators"),
        ("voter,x,Q1", {"instances": "Q*"}, "forms"),
        ("who,x,Q1", {"instances": "P*", "voter": "who"}, "forms"),
        ("voter,x,alternatives", {"instances": "x"}, "ballots"),
        ("Timestamp,x,tags", {"instances": "x", "voter": "Timestamp", "ticks": "tags"}, "ballots"),
        ("voter,instance,alternatives", {"gold_row": "v"}, "forms"),
        ("Username,instance,alternatives", {"voter": "Username"}, "ballots"),
    ],
)
def test_what_was_said_tells_forms_from_other_tables(write, header, options, kind):
    path = write("f.csv", f"{header}\nv,q,1\n")
    try:
        found = read_export(path, **options).format
    except EpivoteError as error:
        found = "forms" if "no column matches" in str(error) or "holds no ballots" in str(error) else str(error)
    assert found == kind


def test_gold_blank_cells_and_unnamed_respondents(write):
    path = write("f.csv", 'who,Q1,Q2\n,a," ; "\nkey,b,\nv,;a;,c\n,c,c\n')
    found = read_export(path, voter="who", gold_row="key", format="forms")
    assert dict(found.ballots.items()) == {
        ("row 1", "Q1"): {"a"},
        ("v", "Q1"): {"a"},
        ("v", "Q2"): {"c"},
        ("row 4", "Q1"): {"c"},
        ("row 4", "Q2"): {"c"},
    }
    assert dict(found.gold) == {"Q1": {"b"}}
    assert found.notes == (
        "a question without ticks counts as a missing ballot; --blank empty counts it as an empty one",
        "a blank cell of the gold row counts as not known",
        "2 questions read: 'Q1', 'Q2'; --question or --instances selects others",
        "cells were split at ';' (override with --separator or --alternatives)",
    )
    found = read_export(path, voter="who", gold_row="key", format="forms", blank="empty", separator=";")
    assert found.ballots.ballot("row 1", "Q2") == frozenset()
    assert dict(found.gold) == {"Q1": {"b"}}
    assert found.notes == (
        "a question without ticks counts as an empty ballot; --blank missing counts it as a missing one",
        "a blank cell of the gold row counts as not known",
        "2 questions read: 'Q1', 'Q2'; --question or --instances selects others",
    )
    assert refused(path, voter="who", gold_row="keys") == (
        "f.csv: no row of column 'who' is 'keys' (did you mean 'key'?); correct --gold-row"
    )
    assert "no row of column 'who' is 'None'; correct" in refused(path, voter="who", gold_row="None")
