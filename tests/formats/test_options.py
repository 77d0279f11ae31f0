"""What the user says about a file: every option where it matters, a note where it does not, and how formats are told."""

import inspect
import json
import re
import shutil
import time
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import polars as pl
import pytest
from trying import refused
from typer.testing import CliRunner

from epivote import Ballots, FileError, read_export
from epivote.cli import app
from epivote.data.packing import write_packed
from epivote.formats import detect
from epivote.formats.reading import Reading

CASES = Path(__file__).parent.parent / "cases"
TABLES = ("ballots", "ticks", "indicators", "crowd-kit")
CROWDS = ("mturk", "toloka", "crowdflower")
USED = {
    "question": {"label-studio", "label-studio-min", "argilla", "forms", *CROWDS},
    "voter": {*TABLES, "forms"},
    "instances": {*TABLES, "forms", *CROWDS},
    "rows": {"matrix"},
    "ticks": set(TABLES),
    "separator": {"ballots", "crowd-kit", "forms", *CROWDS},
    "gold_row": {"forms"},
    "blank": {*TABLES, "forms", "doccano", "label-studio", "label-studio-min", "argilla", *CROWDS},
    "missing": {*TABLES, "forms", *CROWDS},
}
FILES = {
    "ballots": "ballots.csv",
    "ticks": "ticks.csv",
    "indicators": "indicators.csv",
    "crowd-kit": "crowd-kit.csv",
    "forms": "forms.csv",
    "matrix": "matrix.txt",
    "crowdflower": "as-downloaded/crowdflower.csv",
    "label-studio": "label-studio.json",
    "label-studio-min": "label-studio-min.json",
    "prodigy": "prodigy.jsonl",
    "doccano": "doccano",
    "argilla": "argilla-flat.json",
    "mturk": "mturk.csv",
    "toloka": "toloka.tsv",
    "preflib": "preflib.cat",
    "abcvoting": "picture.abc.yaml",
    "pabulib": "budget.pb",
}
# values that fit where the option is of use
FITTING = {
    "question": {"forms": "Which*", **dict.fromkeys(("label-studio", "label-studio-min", "argilla"), "birds")},
    "voter": {"crowd-kit": "worker", "forms": "Username"},
    "instances": {
        "crowd-kit": "task",
        "forms": "Which*",
        "mturk": "HITId",
        "crowdflower": "_unit_id",
        "toloka": "ASSIGNMENT:task_id",
    },
    "ticks": {"ballots": "alternatives", "ticks": "alternative", "indicators": "*", "crowd-kit": "label"},
    "separator": ";",
    "gold_row": "the key",
    "blank": "empty",
    "rows": "voters",
    "missing": "NA",
}
USUAL = {"voter": "voter", "instances": "instance", "question": "birds"}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return name

    return to_file


@pytest.mark.parametrize("kind", FILES)
def test_what_a_format_has_no_use_for_is_noted_and_nothing_else(kind):
    for option, users in USED.items():
        fitting = FITTING[option]
        value = fitting.get(kind, USUAL.get(option, "x")) if isinstance(fitting, dict) else fitting
        notes = read_export(CASES / FILES[kind], format=kind, **{option: value}).notes
        note = f"--{option.replace('_', '-')} does not apply to {kind} files; ignored"
        assert (note in notes) == (kind not in users), option


# Each option where it matters


OPTIONS = [
    ("voter,who,instance,alternatives\nx,v,q,a\n", {"voter": "who"}, {("v", "q"): {"a"}}),
    ("voter,instance,what,alternatives\nv,x,q,a\n", {"instances": "what"}, {("v", "q"): {"a"}}),
    ("voter,instance,tags,alternatives\nv,q,a,x\n", {"ticks": "tags"}, {("v", "q"): {"a"}}),
    ("voter,instance,alternatives\nv,q,a/b\n", {"separator": "/"}, {("v", "q"): {"a", "b"}}),
    ("voter,instance,alternatives\nv,q,None\nw,q,a\n", {"none": "None"}, {("v", "q"): set(), ("w", "q"): {"a"}}),
    ("voter,instance,alternatives\nv,q,a\nw,q,\n", {"blank": "missing"}, {("v", "q"): {"a"}}),
    ("voter,instance,alternatives\nv,q,a\nv,q,b\n", {"duplicates": "first"}, {("v", "q"): {"a"}}),
    ("voter,instance,alternatives\nv,q,a\nv,q,b\n", {"duplicates": "last"}, {("v", "q"): {"b"}}),
    ("voter,instance,label\nv,q,a\nv,q,b\n", {"format": "ticks"}, {("v", "q"): {"a", "b"}}),
    ("Username,Q1\nv,a\nkey,b\n", {"gold_row": "key"}, {("v", "Q1"): {"a"}}),
    ("HITId,WorkerId,Answer.p,Answer.q\nq,v,a,b\n", {"question": "q"}, {("v", "q"): {"b"}}),
    ('Username,Q1\nv,"a, b"\n', {"alternatives": "a, b|c"}, {("v", "Q1"): {"a, b"}}),
]


@pytest.mark.parametrize(
    ("text", "options", "ballots"), OPTIONS, ids=[" and ".join(options) for _, options, _ in OPTIONS]
)
def test_every_option_of_reading_in_python_and_in_the_command(write, tmp_path, text, options, ballots):
    path = write("in.csv", text)
    python = {**options, "alternatives": options["alternatives"].split("|")} if "alternatives" in options else options
    found = {key: set(ticks) for key, ticks in read_export(path, **python).ballots.items()}
    assert found == ballots
    said = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    result = CliRunner().invoke(app, ["convert", path, "out.jsonl", *said])
    assert result.exit_code == 0, result.stderr
    written = {key: set(ticks) for key, ticks in read_export("out.jsonl", format="ballots").ballots.items()}
    assert written == ballots


def test_python_and_the_command_take_the_same_options_declared_once():
    parameters = inspect.signature(read_export).parameters
    declared = {field.name: field.default for field in fields(Reading)}
    assert list(parameters) == ["path", *declared]
    assert {name: parameters[name].default for name in declared} == declared
    assert {parameters[name].kind for name in declared} == {inspect.Parameter.KEYWORD_ONLY}
    shown = " ".join(CliRunner().invoke(app, ["convert", "--help"], terminal_width=200).stdout.split())
    for name, hint in get_type_hints(Reading, include_extras=True).items():
        kind, words = get_args(hint)
        assert parameters[name].annotation == kind
        assert re.search(rf"--{name.replace('_', '-')} [^ ]+ {re.escape(words)}", shown), name
    with pytest.raises(TypeError, match="unexpected keyword argument 'voters'"):
        read_export("in.csv", voters="who")


def test_menus_from_a_file_or_a_mapping(write):
    menu = write("menu.csv", "instance,alternatives\nq,b|a|c\np,a\n")
    expected = {"q": ("a", "b", "c"), "p": ("a",)}
    for name, text in (
        ("b.csv", "voter,instance,alternatives\nv,q,a\nv,p,a\n"),
        ("m.csv", "HITId,WorkerId,Answer.x\nq,v,a\np,v,a\n"),
    ):
        path = write(name, text)
        for given in (menu, Path(menu), {"q": ["b", "a", "c"], "p": ["a"]}):
            ballots = read_export(path, menu=given).ballots
            assert {name: ballots.offered(name) for name in ballots.instances} == expected
        assert read_export(path, menu=menu, alternatives=iter("cba")).ballots.alternatives == ("c", "b", "a")
        message = refused(path, menu={"q": ["a", "b"], "p": ["b"]})
        assert "ticked 'a', which the menu of instance 'p' does not offer ('b')" in message


def test_a_menu_of_the_user_goes_before_that_of_the_file(write):
    path = write("p.jsonl", '{"_input_hash": 1, "_annotator_id": "v", "accept": ["a"], "options": [{"id": "a"}]}')
    assert read_export(path, menu={"1": ["a", "b"]}).ballots.alternatives == ("a", "b")
    assert read_export(path, alternatives=["c", "a"]).ballots.offered("1") == ("a",)
    other = write("p.jsonl", '{"_input_hash": 1, "_annotator_id": "v", "accept": ["b"], "options": [{"id": "a"}]}')
    assert read_export(other, menu={"1": ["a", "b"]}).ballots.ballot("v", "1") == {"b"}


def test_none_of_these_leaves_gold_and_menus_too(write):
    text = "Username,Q1,Q2\nv,None,None;a\nw,a;b,b\nkey,None,a\n"
    found = read_export(write("f.csv", text), none="None", gold_row="key")
    assert found.ballots.alternatives == found.gold.alternatives == ("a", "b")
    assert found.ballots.ballot("v", "Q1") == frozenset()
    assert found.ballots.ballot("v", "Q2") == {"a"}
    assert dict(found.gold) == {"Q1": frozenset(), "Q2": {"a"}}
    assert refused("f.csv", none="Nine") == "nobody ticked 'Nine' (did you mean 'None'?); correct --none"
    assert refused("f.csv", none="x") == "nobody ticked 'x'; correct --none"


def test_alternatives_that_are_not_known_are_refused_with_place_and_remedy(write):
    path = write("m.csv", "HITId,WorkerId,Answer.x\nh,v,a\n\nh,w,rbin\nh,x,robin\n")
    names = ["h", "g", "robin", "a", "c", "b", "f", "e", "d"]
    assert refused(path, alternatives=names) == ("m.csv, line 4: 'rbin' is not an alternative (did you mean 'robin'?)")
    path = write("m.csv", "HITId,WorkerId,Answer.x\nh,v,a\n\nh,w,owl\n")
    assert refused(path, alternatives=names) == (
        "m.csv, line 4: 'owl' is not an alternative; the alternatives are "
        "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 1 more"
    )


def test_ticked_names_come_in_alphabetical_order_after_those_offered(write):
    text = "HITId,WorkerId,Answer.x\nh,v,i|c|g|b|h|d|a|f|e\n"
    assert read_export(write("m.csv", text)).ballots.alternatives == tuple("abcdefghi")
    tasks = [{"id": 1, "annotations": [
        {"completed_by": 1, "result": [{"type": "choices", "from_name": "q", "value": {"choices": list("gce")}}]},
        {"completed_by": 2, "ground_truth": True,
         "result": [{"type": "choices", "from_name": "q", "value": {"choices": list("fbad")}}]}]}]  # fmt: skip
    assert read_export(write("l.json", tasks)).ballots.alternatives == tuple("abcdefg")


# How formats are told


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.json", [{"annotations": []}], "label-studio"),
        ("a.json", [{"completions": []}], "label-studio"),
        ("a.json", [{"annotator": 1, "annotation_id": 2}], "label-studio-min"),
        ("a.json", [{"annotator": 1}], "label-studio-min"),
        ("a.json", [{"responses": {}}], "argilla"),
        ("a.json", [{"id": 1, "q.responses": []}], "argilla"),
        ("a.json", [{"annotator": 1, "item": 2, "labels": ["a"]}], "ballots"),
        ("a.json", [{"annotator": 1, "item": 2, "labels": ["a"], "annotation_id": 3}], "label-studio-min"),
        ("a.json", [{"responses": {}}, {"annotations": []}], "argilla"),
        ("a.json", [{"annotations": []}, {"responses": {}}], "label-studio"),
        ("a.jsonl", '{"label": []}\n{"accept": []}', "doccano"),
        ("a.json", [{"voter": 1, "instance": 2, "alternative": "a"}], "ticks"),
        ("a.jsonl", '{"_input_hash": 1, "voter": "v", "instance": "q"}', "prodigy"),
        ("a.jsonl", '{"_task_hash": 1, "voter": "v"}', "prodigy"),
        ("a.jsonl", '{"accept": [], "voter": "v"}', "prodigy"),
        ("a.jsonl", '{"answer": "reject", "voter": "v"}', "prodigy"),
        ("a.jsonl", '{"answer": "x", "accept": 1, "voter": "v"}', "ballots"),
        ("a.jsonl", '{"q.responses": [], "q.responses.users": [], "voter": "v"}', "argilla"),
        ("a.csv", "q.responses,q.responses.users,label,voter\n", "argilla"),
        ("a.csv", "annotation_id,annotator,lead_time,label\n", "label-studio-min"),
        ("a.jsonl", '{"label": []}', "doccano"),
        ("a.jsonl", '{"labels": []}', "doccano"),
        ("a.jsonl", '{"x": 1}\n{"voter": "v"}', "ballots"),
        ("a.csv", "HITId,WorkerId,task,worker,label\n1,2,3,4,5\n", "mturk"),
        ("a.csv", "HITId,worker,task,label\n1,2,3,4\n", "crowd-kit"),
        ("a.csv", "OUTPUT:x,task,worker,label\n1,2,3,4\n", "toloka"),
        ("a.csv", "worker,task,labels\n1,2,3\n", "ballots"),
        ("a.csv", "worker,task,alternative\n1,2,3\n", "ticks"),
        ("a.csv", "worker,task,owl\n1,2,3\n", "indicators"),
        ("a.csv", "worker,owl\n1,2\n", "ballots"),
        ("a.csv", "task,owl\n1,2\n", "ballots"),
        ("a.csv", "a,b\nx,y\n", "ballots"),
        ("a.pb", "", "pabulib"),
        ("a.cat", "", "preflib"),
        ("a.toc", "", "preflib"),
        ("a.toi", "", "preflib"),
        ("a.abc.yaml", "", "abcvoting"),
    ],
)
def test_formats_are_told_by_name_and_content(write, name, content, kind):
    with detect.open_source(write(name, content)) as source:
        assert detect.detect(source, Reading()) == kind


@pytest.mark.parametrize("text", ["3", '"x"', "[1]", "[]", "[[]]", "null"])
def test_json_without_records_is_of_no_known_tool(write, text):
    assert refused(write("a.json", text)).startswith(
        "a.json is not a known export: it holds no list of records; looked for voter and instance (tables), "
    )


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, "ballots"),
        ({"voter": "who", "instances": "what"}, "indicators"),
        ({"voter": "who", "instances": "what", "ticks": "tagged"}, "ballots"),
        ({"voter": "who", "instances": "what", "ticks": "ta*"}, "indicators"),
        ({"voter": "who", "instances": "w*"}, "forms"),
    ],
)
def test_names_of_columns_help_to_tell(write, options, kind):
    reading = Reading(**options)
    with detect.open_source(write("a.csv", "who,what,tagged\nv,q,a\n")) as source:
        assert detect.detect(source, reading) == kind
    if kind != "forms":
        with detect.open_source(write("a.json", [{"who": "v", "what": "q", "tagged": "a"}])) as source:
            if not options:
                with pytest.raises(
                    FileError, match="is not a known export: its first record has 'who', 'what', 'tagged'"
                ):
                    detect.detect(source, reading)
            else:
                assert detect.detect(source, reading) == kind


def test_folders_and_archives(write, tmp_path, monkeypatch):
    for name, kind in (
        ("x.jsonl", "doccano"),
        ("x.pb", "pabulib"),
        ("x.abc.yaml", "abcvoting"),
        ("x.TOI", "preflib"),
        ("x.toc", "preflib"),
        ("x.cat", "preflib"),
    ):
        write(f"{kind}{name}/{name}", "")
        with detect.open_source(f"{kind}{name}") as source:
            assert detect.detect(source, Reading()) == kind
    write("d/a.txt", "")
    message = "d is a folder, but not a known export; name a file in it, or its format with --format"
    assert refused("d") == message
    (tmp_path / "d" / "inner").mkdir()
    write("d/inner/a.jsonl", '{"id": 1, "label": ["a"]}')
    assert read_export("d").format == "doccano"

    def closed(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "glob", closed)
    assert refused("d") == "cannot look into d: Permission denied"


def test_spreadsheets_are_refused_and_other_archives_are_of_doccano(write, tmp_path):
    shutil.make_archive(str(tmp_path / "x"), "zip", CASES / "doccano")
    for ending in ("xlsx", "ods", "XLSX"):
        shutil.copy("x.zip", f"x.{ending}")
        assert refused(f"x.{ending}") == f"x.{ending} is a spreadsheet; save it as CSV first"
    shutil.copy("x.zip", "x.data")
    assert read_export("x.data").format == "doccano"


def test_packed_ballots_are_opened_as_they_are(tmp_path):
    write_packed([Ballots.from_mapping({("v", "q"): {"a"}})], tmp_path / "packed")
    found = read_export(tmp_path / "packed")
    assert (found.format, found.ballots.n_ballots, found.inferred, found.notes) == ("packed", 1, False, ())


def test_the_time_of_encoding_is_part_of_that_of_reading():
    for name in ("ballots.csv", "mturk.csv"):
        began = time.perf_counter()
        found = read_export(CASES / name)
        assert 0 < found.encode_seconds <= time.perf_counter() - began


# Damage


@pytest.mark.parametrize(
    "error",
    [
        pl.exceptions.ComputeError,
        detect.csv.Error,
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        IndexError,
        RecursionError,
        NotImplementedError,
        OverflowError,
        MemoryError,
        type("PanicException", (BaseException,), {}),
    ],
)
def test_whatever_goes_wrong_in_a_reader_is_said_in_one_sentence(write, monkeypatch, error):
    def fails(*_):
        raise error("much\n " + "x" * 300)

    monkeypatch.setitem(detect.READERS, "prodigy", fails)
    what = f"{error.__name__}: much {'x' * 300}" if error is not KeyError else "KeyError: 'much\\n " + "x" * 300
    sentence = f"p.jsonl is not a prodigy file that can be read ({what[:200]}); name its format with --format"
    path = write("p.jsonl", '{"accept": []}')
    assert refused(path) == refused(path, format="prodigy") == sentence
    monkeypatch.setattr(detect, "_json_lines", fails)
    assert refused(path).startswith("p.jsonl is not a known file that can be read (")


def test_what_is_no_damage_is_not_hidden(write, monkeypatch):
    for error in (KeyboardInterrupt, SystemExit, AssertionError):
        monkeypatch.setitem(detect.READERS, "prodigy", lambda *_, error=error: (_ for _ in ()).throw(error))
        with pytest.raises(error):
            read_export(write("p.jsonl", '{"accept": []}'))
