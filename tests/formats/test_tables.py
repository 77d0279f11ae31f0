"""Tables in JSON, Parquet and CSV: lists in cells, marks, types of cells, and which columns are taken."""

import json

import polars as pl
import pytest
from trying import refused

from epivote import read_export
from epivote.formats.joined import JoinedCells, joining_mark
from epivote.formats.source import SourceFile
from epivote.formats.text_table import TextTable

HEADER = "voter,instance,alternatives\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, content):
        if not isinstance(content, str):
            lines = [json.dumps(record) for record in content]
            content = "\n".join(lines) + "\n" if name.endswith(".jsonl") else f"[{','.join(lines)}]"
        (tmp_path / name).write_text(content)
        return name

    return to_file


def ballots_of(path, **options):
    return {key: set(ticks) for key, ticks in read_export(path, **options).ballots.items()}


def record(voter, ticks, instance="q"):
    return {"voter": voter, "instance": instance, "alternatives": ticks}


# Lists in cells


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ('["a", "b"]', {"a", "b"}),
        ("['a', 'b']", {"a", "b"}),
        ("['a' 'b']", {"a", "b"}),
        ("['a'\n 'b' 'c, d']", {"a", "b", "c, d"}),
        ("('a', 'b')", {"a", "b"}),
        ("('a',)", {"a"}),
        ("{'a', 'b'}", {"a", "b"}),
        ("  ['a']  ", {"a"}),
        ("[1, 2.0]", {"1", "2"}),
        ("[]", set()),
        ("()", set()),
        ("a|b", {"a", "b"}),
        ("a", {"a"}),
        ("[a", {"[a"}),
        ("a]", {"a]"}),
        ('["[a]"]', {"[a]"}),
    ],
)
def test_lists_as_programs_write_them(write, cell, names):
    quoted = cell.replace('"', '""')
    path = write("c.csv", f'task,worker,label\nq,v,"{quoted}"\nq,w,z\n')
    assert ballots_of(path) == {("v", "q"): names, ("w", "q"): {"z"}}


@pytest.mark.parametrize(
    "cell",
    ["[a, b]", "['a', None]", "[1.5]", "{'a': 1}", "{}", "('a')", "[['a']]", "['''a]", "[" * 3000 + "]", "[True]"],
    ids=lambda cell: cell[:12],
)
def test_brackets_that_hold_no_list_are_refused(write, cell):
    path = write("c.csv", f'task,worker,label\n\nq,w,z\nq,v,"{cell}"\n')
    assert refused(path) == (
        f'c.csv, line 4: {cell!r} is not a list of alternatives; write ["a", "b"], or join names by |'
    )


def test_other_separators_than_bars(write):
    path = write("c.csv", "task,worker,label\nq,v,a;b|c\nq,w,\n")
    assert ballots_of(path, separator=";") == {("v", "q"): {"a", "b|c"}, ("w", "q"): set()}
    path = write("b.csv", HEADER + "v,q,a;b|c\nw,q,\n")
    assert ballots_of(path, separator=";") == {("v", "q"): {"a", "b|c"}, ("w", "q"): set()}
    assert ballots_of(path) == {("v", "q"): {"a;b", "c"}, ("w", "q"): set()}


@pytest.mark.parametrize("name", ["[a]", "(a)", "{a}", "[a", "a]", "(a}", "a", "[1]"])
def test_a_name_in_brackets_is_a_name_where_bars_join_ticks(write, name):
    assert ballots_of(write("b.csv", f"{HEADER}v,q,b|{name}\nw,q,{name}\n")) == {
        ("v", "q"): {"b", name},
        ("w", "q"): {name},
    }


# Marks and ticks


def test_columns_of_marks_are_those_the_pattern_matches(write):
    path = write("i.csv", "is_b,voter,is_a,instance,note,iss\n1,v,0,q,x,1\n0,w,1,q,y,1\n")
    found = read_export(path, format="indicators", ticks="is_?")
    assert found.ballots.alternatives == ("is_b", "is_a")
    assert dict(found.ballots.items()) == {("v", "q"): {"is_b"}, ("w", "q"): {"is_a"}}
    assert not found.inferred
    stated = read_export(path, format="indicators", ticks="is_?", alternatives=["is_a", "is_b", "is_c"])
    assert stated.ballots.alternatives == ("is_a", "is_b", "is_c")
    assert refused(path, format="indicators", ticks="are_*") == (
        "i.csv: no 0/1 column is left besides 'voter', 'instance'; name the column of ticks with --ticks"
    )
    path = write("i.csv", "voter,instance\nv,q\n")
    assert refused(path, format="indicators") == (
        "i.csv: no 0/1 column is left besides 'voter', 'instance'; name the column of ticks with --ticks"
    )
    assert refused(write("i.csv", "voter,instance,a\n"), format="indicators") == (
        "i.csv holds no ballots; check that it is the file you meant"
    )


def test_blank_marks_are_missing_or_empty_as_told(write):
    path = write("i.csv", "voter,instance,a\nv,q,1\nw,q,\n")
    assert ballots_of(path) == ballots_of(path, blank="missing") == {("v", "q"): {"a"}}
    assert ballots_of(path, blank="empty") == {("v", "q"): {"a"}, ("w", "q"): set()}
    for name, text in (("b.csv", HEADER), ("t.csv", "voter,instance,alternative\n"), ("c.csv", "worker,task,label\n")):
        path = write(name, f"{text}v,q,a\nw,q,\n")
        assert ballots_of(path, blank="missing") == {("v", "q"): {"a"}}
        assert ballots_of(path) == ballots_of(path, blank="empty") == {("v", "q"): {"a"}, ("w", "q"): set()}


def test_ticks_of_one_ballot_need_not_stand_together(write):
    path = write("t.csv", "voter,instance,alternative\nv,q,a\nw,q,b\nv,p,a|c\nv,q,b\nw,q,b\n")
    found = read_export(path)
    assert {key: set(ticks) for key, ticks in found.ballots.items()} == {
        ("v", "q"): {"a", "b"},
        ("w", "q"): {"b"},
        ("v", "p"): {"a|c"},
    }
    assert found.notes == (
        "a row is one tick, so voters who ticked nothing have no row and count as not asked; "
        "add a row with a blank alternative for each of their ballots",
    )
    assert found.inferred


def test_one_column_may_name_voter_and_instance(write):
    path = write("b.csv", "id,alternatives\nv,a\nw,b\n")
    options = {"voter": "id", "instances": "id", "format": "ballots"}
    assert ballots_of(path, **options) == {("v", "v"): {"a"}, ("w", "w"): {"b"}}
    assert read_export(write("b.jsonl", [{"id": "v", "alternatives": ["a"]}]), **options).ballots.n_ballots == 1


# JSON


@pytest.mark.parametrize("name", ["b.jsonl", "b.json", "b.ndjson"])
def test_fields_of_every_record_are_columns(write, name):
    rows = [{"voter": "v", "instance": "q"}, record("w", ["a"]), {**record("x", None), "note": {"z": [1]}}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path = write(name, lines if name.endswith(".ndjson") else rows)
    assert ballots_of(path) == {("w", "q"): {"a"}}
    assert ballots_of(path, blank="empty") == {("v", "q"): set(), ("w", "q"): {"a"}, ("x", "q"): set()}


@pytest.mark.parametrize("name", ["b.jsonl", "b.json"])
@pytest.mark.parametrize(
    ("voters", "names"),
    [
        ((1, 2), ("1", "2")),
        ((1, "a"), ("1", "a")),
        ((1.0, 2), ("1", "2")),
        ((2**53 + 1, 2**53), ("9007199254740993", "9007199254740992")),
        ((2**70, 1), (str(2**70), "1")),
        (("[a]", "{b}"), ("[a]", "{b}")),
        (("a\0b", "a"), ("a\0b", "a")),
        (("01", "1"), ("01", "1")),
        (("true", "null"), ("true", "null")),
        (("2026-01-01", "2026-01-02"), ("2026-01-01", "2026-01-02")),
    ],
)
def test_names_in_json_stay_what_they_are(write, name, voters, names):
    path = write(name, [record(voter, ["x"]) for voter in voters])
    assert read_export(path).ballots.voters == names
    path = write(name, [record("v", list(voters))])
    assert read_export(path).ballots.ballot("v", "q") == set(names)


@pytest.mark.parametrize("name", ["b.jsonl", "b.json"])
def test_ticks_in_json_may_be_text(write, name):
    path = write(name, [record("v", "a|b"), record("w", None), record("x", "")])
    assert ballots_of(path) == {("v", "q"): {"a", "b"}, ("x", "q"): set()}
    assert ballots_of(path, blank="empty") == {("v", "q"): {"a", "b"}, ("w", "q"): set(), ("x", "q"): set()}
    assert ballots_of(path, blank="missing") == {("v", "q"): {"a", "b"}}
    path = write(name, [record("v", ["a"]), record("w", []), record("x", None)])
    assert ballots_of(path, blank="missing") == {("v", "q"): {"a"}, ("w", "q"): set()}
    path = write(name, [record("v", "['a', 'b']"), record("w", '["c"]')])
    assert ballots_of(path, format="crowd-kit") == {("v", "q"): {"a", "b"}, ("w", "q"): {"c"}}


@pytest.mark.parametrize("name", ["b.jsonl", "b.json"])
def test_marks_in_json_may_be_true_and_false(write, name):
    rows = [
        {"voter": "v", "instance": "q", "a": True, "b": 0},
        {"voter": "w", "instance": "q", "a": False, "b": 1},
        {"voter": "x", "instance": "q", "a": None, "b": None},
        {"voter": "y", "instance": "q", "a": "true", "b": 1.0},
    ]
    path = write(name, rows)
    assert read_export(path).format == "indicators"
    assert ballots_of(path) == {("v", "q"): {"a"}, ("w", "q"): {"b"}, ("y", "q"): {"a", "b"}}


@pytest.mark.parametrize(("name", "place"), [("b.jsonl", "line 2"), ("b.json", "record 2")])
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["a"], "b", "'b' in 'alternatives' is not a list, but other records have lists there; make it a list"),
        (["a"], True, "True in 'alternatives' is not a list, but other records have lists there; make it a list"),
        (["a"], [["b"]], "[['b']] in 'alternatives' is neither a name nor a list of names"),
        (["a"], [1.5], "[1.5] in 'alternatives' is neither a name nor a list of names"),
        ("a", {"b": 1}, "{'b': 1} in 'alternatives' is neither a name nor a list of names"),
        ("a", 1.5, "1.5 in 'alternatives' is neither a name nor a list of names"),
    ],
)
def test_cells_that_are_no_names_are_refused(write, name, place, first, second, message):
    path = write(name, [record("v", first), record("w", second)])
    if second in ([1.5], 1.5) and name == "b.jsonl":  # numbers beside texts become texts there
        assert read_export(path).ballots.alternatives == ("1.5", "a")
    else:
        assert refused(path) == f"{name}, {place}: {message}"


def test_json_that_is_no_table(write):
    assert refused(write("b.json", "{} x"), format="ballots") == ("b.json, line 1: not JSON (Extra data at column 4)")
    assert refused(write("b.json", '[1, {"voter": "v"}]'), format="ballots") == (
        "b.json is not a list of records; export it again as JSON"
    )
    assert refused(write("b.json", "[\n{,"), format="ballots").startswith(
        "b.json, line 2: not JSON (Expecting property"
    )
    for kind in ("ballots", "label-studio"):
        message = "b.json cannot be read: its lists are nested too deeply"
        assert refused(write("b.json", "[" * 100_000), format=kind) == message
    long = json.dumps(["x" * 50])
    assert refused(write("b.jsonl", f'\n{{"voter": "v"}}\n\n{long}\n'), format="ballots") == (
        f"b.jsonl, line 4: {long[:40]!r} is not an object; each line must be one record"
    )
    assert refused(write("b.jsonl", '{"voter": "v"}\n\n{"voter":,}\n'), format="ballots") == (
        "b.jsonl, line 3: not JSON (Expecting value at column 10)"
    )


@pytest.mark.parametrize(("name", "place"), [("b.jsonl", "line 2"), ("b.json", "record 2")])
def test_half_a_character_is_refused_where_polars_would_read_another_one(write, name, place):
    half = [record("v", ["a"]), record("\ud800", ["a"])]
    assert refused(write(name, half)) == f"{name}, {place}: '\\ud800' in 'voter' is neither a name nor a list of names"
    half = [record("v", ["a"]), record("w", ["a", "b\ud800"])]
    assert refused(write(name, half)).startswith(f"{name}, {place}: ['a', 'b\\ud800'] in 'alternatives' is neither")
    assert read_export(write(name, [record("v\0", ["a"])])).ballots.voters == ("v\0",)


# Parquet


def test_parquet_of_any_kind(tmp_path):
    base = {"voter": [7, 8], "instance": [1.0, 2.0]}
    pl.DataFrame({**base, "alternatives": [[3], []]}).write_parquet(tmp_path / "b.parquet")
    assert ballots_of(tmp_path / "b.parquet") == {("7", "1"): {"3"}, ("8", "2"): set()}
    pl.DataFrame({**base, "alternative": ["a", None]}).write_parquet(tmp_path / "t.parquet")
    assert read_export(tmp_path / "t.parquet").format == "ticks"
    pl.DataFrame({**base, "a": [True, False], "b": [0, 1]}).write_parquet(tmp_path / "i.parquet")
    assert ballots_of(tmp_path / "i.parquet") == {("7", "1"): {"a"}, ("8", "2"): {"b"}}
    for name in ("i.csv", "i.tsv", "i.jsonl", "i"):
        (tmp_path / name).write_bytes((tmp_path / "i.parquet").read_bytes())
        assert ballots_of(tmp_path / name) == {("7", "1"): {"a"}, ("8", "2"): {"b"}}
    pl.DataFrame({**base, "alternatives": ["a", "b"]})[:0].write_parquet(tmp_path / "b.parquet")
    assert refused(tmp_path / "b.parquet").endswith("holds no ballots; check that it is the file you meant")


def test_alternatives_are_inferred_unless_said(write):
    path = write("b.csv", HEADER + "v,q,a\n")
    assert read_export(path).inferred
    assert not read_export(path, alternatives=["a", "b"]).inferred
    assert not read_export(path, menu={"q": ["a", "b"]}).inferred
    path = write("m.csv", "HITId,WorkerId,Answer.q\nq,v,a\n")
    assert read_export(path).inferred
    assert not read_export(path, alternatives=["a", "b"]).inferred
    found = read_export(path, menu={"q": ["b", "a"]})
    assert (found.inferred, found.ballots.alternatives) == (False, ("a", "b"))


# Once


def test_a_file_is_parsed_once_whatever_is_asked_of_it(write, monkeypatch):
    opened, loaded, header, loads = [], [], TextTable._header, json.loads
    monkeypatch.setattr(TextTable, "_header", lambda table: opened.append(table) or header(table))
    assert ballots_of(write("a.csv", HEADER + "v,q,a\n")) == {("v", "q"): {"a"}}
    assert ballots_of(write("f.csv", "Username,Q1\nv,a\n")) == {("v", "Q1"): {"a"}}
    assert len(opened) == 2
    records = [record(f"v{i}", ["a"]) for i in range(10)]
    monkeypatch.setattr(json, "loads", lambda text: loaded.append(text) or loads(text))
    assert len(ballots_of(write("a.json", records))) == 10
    assert len(loaded) == 1
    assert len(ballots_of(write("a.jsonl", records))) == 10
    assert len(loaded) == 1 + 1 + 10, "the first line tells the format, then every line is checked"


@pytest.mark.parametrize(
    ("cells", "known", "mark"),
    [
        (["Paris, France", "Paris"], {"Paris, France", "Paris", "France"}, None),
        (["Red, dark", "Blue, Red"], {"Red, dark", "Red", "Blue"}, ","),
        (["Red, dark ", "Blue"], {"Red, dark", "Red", "Blue"}, None),
        (["Red, dark", "Blue, dark"], {"Red, dark", "Red", "Blue"}, None),
    ],
)
def test_a_known_name_with_a_mark_in_it_is_not_taken_apart(cells, known, mark):
    assert joining_mark(pl.Series(cells), known) == mark


def test_parts_of_a_file_are_asked_for_in_their_order(tmp_path, monkeypatch):
    """Whether they come in order by themselves depends on how busy the machine is."""
    asked, collect = [], pl.LazyFrame.collect_batches
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", lambda *of, **how: asked.append(how) or collect(*of, **how))
    path = tmp_path / "ballots.csv"
    path.write_text("voter,instance,alternatives\n" + "".join(f"v{k},z,a\n" for k in range(9)))
    found = [
        frame["voter"].to_list() for frame, _ in TextTable(SourceFile(path.name, path, ".csv")).batches(["voter"], 4)
    ]
    assert [name for part in found for name in part] == [f"v{k}" for k in range(9)]
    assert [each["maintain_order"] for each in asked] == [True]


@pytest.mark.parametrize("length", [59, 60, 61])
@pytest.mark.parametrize("splits", [True, False])
def test_of_a_long_cell_sixty_letters_are_shown(length, splits):
    cell = f"a, {'b' * (length - 3)}"
    cells = JoinedCells(None)
    cells.settle(pl.Series([cell, "a", "b" * (length - 3)] if splits else [cell]))
    (note,) = cells.notes
    assert f"such as {cell[:60]!r}" in note
    assert ("were split at ','" in note) == splits
