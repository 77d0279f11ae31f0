"""Tables in text files: what separates their cells, which rows are torn, and the line that each sentence names."""

import pytest
from trying import refused

from epivote import BallotError, ColumnError, EpivoteError, FileError, read_ballots, read_export, read_menu, read_truths
from epivote.data.bounds import SizeBounds
from epivote.formats.canonical import read_confidence, read_sizes

HEADER = "voter,instance,alternatives\n"
NAMED = {
    "mturk": "HITId,WorkerId,Answer.birds.labels\n",
    "toloka": "ASSIGNMENT:task_id,ASSIGNMENT:worker_id,OUTPUT:birds\n",
    "forms": "Timestamp,Username,Q1\n",
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Files are named without their folder, so that whole sentences can be compared."""
    monkeypatch.chdir(tmp_path)

    def to_file(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return to_file


# What separates cells


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_separator_is_told_from_the_first_lines(write, mark):
    text = "voter,instance,alternatives\nann,q1,a\nbo,q1,\n".replace(",", mark)
    assert read_export(write("b.csv", text)).ballots.n_ballots == 2
    assert read_export(write("b.txt", f"\n\n{text}")).ballots.n_ballots == 2


@pytest.mark.parametrize(("kind", "column"), [("mturk", "WorkerId"), ("toloka", "ASSIGNMENT:worker_id")])
def test_a_column_that_is_not_there_is_said_before_torn_rows(write, kind, column):
    said = refused(write("b.csv", "voter,instance\nann\nbo,q1,a\n"), format=kind)
    assert said == f"b.csv: there is no column {column!r}; the columns are 'voter', 'instance'"


def test_equally_many_cells_go_before_many_cells(write):
    text = "voter;instance;alternatives, or, what, was, ticked\nann;q1;a, b\nbo;q1;c\n"
    ticks = "alternatives, or, what, was, ticked"
    assert read_export(write("b.csv", text), ticks=ticks, separator=", ").ballots.alternatives == ("a", "b", "c")


def test_of_two_that_cut_equally_the_one_with_more_cells_is_meant(write):
    text = "voter;note,instance,alternatives\nann;x,q1,a\nbo;y,q1,b\n"
    assert read_export(write("b.csv", text), voter="voter;note").ballots.voters == ("ann;x", "bo;y")
    text = "voter,note;instance;alternatives\nann,x;q1;a\nbo,y;q1;b\n"
    assert read_export(write("b.csv", text), voter="voter,note").ballots.voters == ("ann,x", "bo,y")


def test_a_tsv_file_is_cut_at_tabs_whatever_it_holds(write):
    rows = "ann\tq1\ta,b,c,d\nbo\tq1\td,c,b,a\n"
    text = "voter\tinstance\talternatives,1,2,3\n" + rows
    for name in ("b.tsv", "b.TSV"):
        found = read_export(write(name, text), ticks="alternatives,1,2,3", separator=",").ballots
        assert found.ballot("ann", "q1") == {"a", "b", "c", "d"}


def test_a_torn_row_far_down_does_not_change_the_separator(write):
    rows = [f"v{number};x,q1,a" for number in range(30)]
    rows[24] += ",b"
    text = "\n".join(["voter;x,instance,alternatives", *rows]) + "\n"
    path = write("b.csv", text)
    assert refused(path, voter="voter;x", format="ballots").startswith(
        "b.csv, line 26: 4 cells where the header has 3; quote a cell"
    )


def test_an_open_quote_does_not_hide_the_separator(write):
    assert "b.csv, line 3: " in refused(write("b.csv", 'voter;instance;alternatives\nann;q1;a\nbo;q1;"b\n'))


# Torn rows


@pytest.mark.parametrize(
    ("text", "line", "found", "columns"),
    [
        (HEADER + "ann,q1,a\nbo,q1\n", 3, "2 cells", 3),
        (HEADER + "ann,q1,a\n\n\nbo,q1\n", 5, "2 cells", 3),
        (HEADER + "ann,q1,a\nbo\n", 3, "1 cell", 3),
        (HEADER + "ann,q1,a,b\nbo,q1,\n", 2, "4 cells", 3),
        (HEADER + 'ann,q1,"a,b"\nbo,q1\n', 3, "2 cells", 3),
        (HEADER + '"ann,bo","q1\nq2",a\nbo,q1\n', 4, "2 cells", 3),
        (HEADER + "ann,q1,\nbo,q1\ncy,q1,a\n", 3, "2 cells", 3),
        ('voter,instance,alternatives,"a, note"\nann,q1,a,\nbo,q1,a\n', 3, "3 cells", 4),
        ("\n" + HEADER + "\nann,q1,a\nbo,q1\n", 5, "2 cells", 3),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_with_too_few_or_too_many_cells_are_refused_with_their_line(write, text, line, found, columns, end):
    assert refused(write("b.csv", text.replace("\n", end)), format="ballots") == (
        f"b.csv, line {line}: {found} where the header has {columns}; "
        "quote a cell that contains a comma, and write a comma for every empty cell"
    )


@pytest.mark.parametrize(("mark", "word"), [("\t", "tab"), (";", "semicolon")])
def test_the_mark_is_called_by_its_name(write, mark, word):
    text = (HEADER + "ann,q1,a\nbo,q1\n").replace(",", mark)
    assert refused(write("b.csv", text)) == (
        "b.csv, line 3: 2 cells where the header has 3; "
        f"quote a cell that contains a {word}, and write a {word} for every empty cell"
    )


def test_blank_cells_at_the_end_and_marks_within_cells_are_no_torn_rows(write):
    text = '"voter","instance","alternatives","a, note"\nann,q1,a,\n\n"bo, too",q1,"b,c",\ncy,q1,,\n'
    found = read_export(write("b.csv", text))
    assert dict(found.ballots.items()) == {
        ("ann", "q1"): {"a"},
        ("bo, too", "q1"): {"b,c"},
        ("cy", "q1"): frozenset(),
    }


# Lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("gap", [0, 1, 3])
@pytest.mark.parametrize("kind", ["ballots", "ticks", "indicators", "crowd-kit"])
def test_a_mistake_is_named_by_the_line_of_the_file(write, end, gap, kind):
    header, cell = {"ticks": ("alternative", "a"), "indicators": ("a", "1")}.get(kind, ("alternatives", "a"))
    rows = [f"voter,instance,{header}", f'"an\nn",q1,{cell}', *[""] * gap, f"bo,q1,{cell}", *[""] * gap, f",q1,{cell}"]
    line = 1 + 2 + gap + 1 + gap + 1
    text = "\n".join([*[""] * gap, *rows, ""]).replace("\n", end)
    message = refused(write("b.csv", text), format=kind)
    assert message == f"b.csv, line {line + gap}: the voter is blank; give every ballot a voter"


@pytest.mark.parametrize("gap", [0, 2])
@pytest.mark.parametrize("kind", NAMED)
def test_so_is_one_in_an_export_of_a_tool(write, gap, kind):
    blank = "\n" * gap
    rows = [f'q1,"an\nn","[""x""]"\n{blank}', f'q1,bo,"[""x""]"\n{blank}', 'q1,bo,"[""y""]"\n']
    path = write("b.csv", blank + NAMED[kind] + blank + "".join(rows))
    line, first = 5 + 4 * gap, 4 + 3 * gap
    place = f"line {line}, column 'Q1'" if kind == "forms" else f"line {line}"
    where = f"line {first}, column 'Q1'" if kind == "forms" else f"line {first}"
    instance = "Q1" if kind == "forms" else "q1"
    assert refused(path, format=kind) == (
        f"b.csv, {place}: voter 'bo' already has a ballot on instance '{instance}' ({where}); "
        "remove one, or keep one with --duplicates first or last"
    )


def test_both_lines_of_a_repeated_ballot_are_named(write):
    assert refused(write("b.csv", HEADER + "\nann,q1,a\n\nbo,q1,\n\n\nann,q1,b\n")).startswith(
        "b.csv, line 8: voter 'ann' already has a ballot on instance 'q1' (b.csv, line 3); remove one"
    )


@pytest.mark.parametrize("gap", [0, 2])
def test_lines_of_json_are_counted_with_blank_ones(write, gap):
    rows = ['{"voter": "v", "instance": "q", "alternatives": ["a"]}', *[""] * gap]
    rows += ['{"voter": "", "instance": "q", "alternatives": ["a"]}', ""]
    for end in ("\n", "\r\n"):
        path = write("b.jsonl", end.join([*[""] * gap, *rows]))
        assert refused(path) == f"b.jsonl, line {2 * gap + 2}: the voter is blank; give every ballot a voter"
    text = (
        '[{"voter": "v", "instance": "q", "alternatives": ["a"]}, {"voter": null, "instance": "q", "alternatives": []}]'
    )
    assert refused(write("b.json", text)) == "b.json, record 2: the voter is blank; give every ballot a voter"


def test_parquet_counts_rows_and_is_refused_where_it_cannot_be(write, tmp_path):
    import polars as pl

    frame = pl.DataFrame({"voter": ["v", None], "instance": ["q", "q"], "alternatives": ["a", "b"]})
    frame.write_parquet(tmp_path / "b.parquet")
    assert refused("b.parquet") == "b.parquet, row 2: the voter is blank; give every ballot a voter"
    for kind in ("mturk", "toloka", "forms"):
        assert refused("b.parquet", format=kind) == (
            "b.parquet is a Parquet file, but the chosen format is text; correct --format"
        )


# Columns


def test_missing_columns_are_named_with_those_that_are_there(write):
    there = "the columns are 'task', 'worker_', 'Answer.a'"
    path = write("m.csv", "task,worker_,Answer.a\nq,v,x\n")
    assert refused(path, format="mturk") == f"m.csv: there is no column 'WorkerId'; {there}"
    path = write("m.csv", "HITIds,WorkerId,Answer.a\nq,v,x\n")
    assert refused(path, format="mturk") == (
        "m.csv: there is no column 'HITId' (did you mean 'HITIds'?); the columns are 'HITIds', 'WorkerId', 'Answer.a'; "
        "name one with --instances"
    )
    with pytest.raises(ColumnError) as told:
        read_truths(write("g.csv", "riddle,alternatives\nq,a\n"))
    assert str(told.value) == (
        "g.csv: there is no column 'instance' (nor task, item or the like); the columns are 'riddle', 'alternatives'"
    )
    path = write("b.csv", "who,task,label\nv,q,x\n")
    assert refused(path, format="ballots") == (
        "b.csv: there is no column 'voter' (nor worker, annotator or the like); the columns are 'who', 'task', 'label'; "
        "name one with --voter, or say what the file is with --format (forms if a row is a respondent)"
    )
    assert refused(path, format="ballots", voter="whom") == (
        "b.csv: there is no column 'whom' (did you mean 'who'?); the columns are 'who', 'task', 'label'; "
        "name one with --voter, or say what the file is with --format (forms if a row is a respondent)"
    )
    assert "no column 'when'; " in refused(path, format="ballots", voter="who", instances="when")
    assert "name one with --instances, or" in refused(path, format="ballots", voter="who", instances="when")
    assert "name one with --ticks, or" in refused(path, format="ballots", voter="who", ticks="when")
    assert "no column 'alternative' (nor label, class or the like)" in refused(
        write("t.csv", "voter,task,x\nv,q,x\n"), format="ticks"
    )


def test_the_first_of_the_usual_names_is_taken(write):
    text = "task,label,worker,instance,annotator,voter,alternatives,item\nt,l,w,i,a,v,x,o\n"
    found = read_export(write("b.csv", text), format="ballots").ballots
    assert dict(found.items()) == {("v", "i"): {"x"}}
    found = read_export(write("b.csv", text), format="ticks").ballots
    assert dict(found.items()) == {("v", "i"): {"l"}}
    for words in ("worker,task,labels", "annotator,item,classes", "voter,item,class", "worker,instance,label"):
        assert dict(read_export(write("b.csv", f"{words}\nv,q,x|y\n")).ballots.items()) == {("v", "q"): {"x", "y"}}


def test_a_folder_has_no_header(write, tmp_path):
    (tmp_path / "f").mkdir()
    for kind in ("ballots", "mturk", "prodigy", "label-studio", "matrix"):
        assert refused("f", format=kind) == "f is a folder; name a file in it"


# Menus, sets, sizes and confidence


def test_sets_are_refused_with_their_line(write):
    for read, what in ((read_menu, "menu"), (read_truths, "set")):
        with pytest.raises(EpivoteError) as told:
            read(write("s.csv", "instance,alternatives\n\nq1,a|b\n\nq1,b\n"))
        assert str(told.value) == f"s.csv, line 5: instance 'q1' already has a {what}; remove one"
        with pytest.raises(EpivoteError) as told:
            read(write("s.csv", "instance,alternatives\n\nq1,a|b\n\n,b\n"))
        assert str(told.value) == f"s.csv, line 5: the instance is blank; give every {what} an instance"


def test_sets_under_any_usual_name_and_without_blank_alternatives(write):
    path = write("s.csv", "labels,note,task\na||b,x,q1\n,y,q2\n")
    assert read_menu(path) == {"q1": ["a", "b"], "q2": []}
    assert dict(read_truths(path)) == {"q1": {"a", "b"}, "q2": set()}
    assert read_truths(path, alternatives=["c", "b", "a"]).alternatives == ("c", "b", "a")
    assert read_truths(path).alternatives == ("a", "b")


def test_stated_confidence_is_read_where_there_is_any(write):
    path = write("t.csv", "instance,alternatives,confidence\nq1,a,0.25\nq2,b,\nq3,,1\nq4,a,much\n")
    assert read_confidence(path) == {"q1": 0.25, "q3": 1.0}
    assert read_confidence(write("t.csv", "instance,alternatives\nq1,a\n")) == {}


def test_sizes_of_single_instances(write):
    usual = SizeBounds.parse("1..3")
    own = read_sizes(write("s.csv", "instance,size\nq1,2\nq2,1..\nq3,0..2\n"), usual)
    assert own == SizeBounds(1, 3, {"q1": (2, 2), "q2": (1, None), "q3": (0, 2)})
    for row, message in (
        ("q1,many", "s.csv, line 4: "),
        ("q1,", "s.csv, line 4: "),
        ("q0,1", "s.csv, line 4: instance 'q0' is blank or already has a size; remove the row"),
        (",1", "s.csv, line 4: instance None is blank or already has a size; remove the row"),
    ):
        with pytest.raises(EpivoteError) as told:
            read_sizes(write("s.csv", f"instance,size\nq0,1\n\n{row}\n"), usual)
        assert str(told.value).startswith(message)


def test_read_ballots_passes_its_options_on(write):
    path = write("b.csv", HEADER + "ann,q1,a\nann,q1,b\nbo,q2,\n")
    menu = write("menu.csv", "instance,alternatives\nq1,b|a|c\nq2,c\n")
    found = read_ballots(path, alternatives=iter("cba"), menu=menu, duplicates="last")
    assert found.alternatives == ("c", "b", "a")
    assert found.offered("q2") == ("c",)
    assert found.ballot("ann", "q1") == {"b"}
    offered = {"q1": ["a", "b"], "q2": ["b"]}
    assert read_ballots(path, duplicates="first", menu=offered).ballot("ann", "q1") == {"a"}
    with pytest.raises(BallotError, match=r"b\.csv, line 3: voter 'ann' already"):
        read_ballots(path)


def _said(path, **options):
    """The refusal, or nothing."""
    try:
        read_export(path, **options)
    except EpivoteError as error:
        return str(error)
    return ""


def test_text_in_another_encoding_is_refused_wherever_it_is_read(write):
    data = (HEADER + "ann,q1,é\n").encode("latin-1")
    for name, kind in (("b.csv", "ballots"), ("b.cat", "preflib"), ("b.jsonl", "prodigy"), ("b.txt", "matrix")):
        assert refused(write(name, data), format=kind) == (
            f"{name}, line 2: this is not UTF-8 text; if 'ann,q1,é' is right, add --encoding "
            "windows-1252, else save the file with encoding UTF-8"
        )
        assert "UTF-8" not in _said(name, format=kind, encoding="windows-1252")
    half = b"\xff\xfe" + HEADER.encode("utf-16-le") + b"a"
    assert refused(write("b.csv", half)) == ("b.csv begins as UTF-16 text but is damaged; save it with encoding UTF-8")


def test_a_name_that_cannot_be_one_is_refused():
    with pytest.raises(FileError, match=r"^cannot read x{300}\.csv: File name too long$"):
        read_export("x" * 300 + ".csv")


def test_what_only_polars_cannot_read_is_said_in_its_words(write, monkeypatch):
    import polars as pl

    path = write("b.csv", HEADER + "v,q,a\n")

    class Broken:
        def __getattr__(self, name):
            def fails(*_, **__):
                raise pl.exceptions.ComputeError("one\ntwo")

            return fails

    monkeypatch.setattr(pl, "scan_csv", lambda *_, **__: Broken())
    assert refused(path) == "b.csv cannot be read as CSV (one); check the quotes around its cells"
