"""Single lines of readers that whole files hardly show: order, padding, what is refused, what is offered."""

import json

import polars as pl
import pytest
from trying import ballots_of, refused

from epivote import EpivoteError, read_export
from epivote.formats.joined import JoinedCells, joining_mark, parsed_list


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return name

    return write


# Joined cells


def test_known_names_may_be_padded():
    assert joining_mark(pl.Series([" a,b ", "c;d"]), {"a,b", "c", "d"}) == ";"
    assert joining_mark(pl.Series([" a,b ", "c,d"]), {"a,b", "c", "d"}) == ","
    assert joining_mark(pl.Series(["a;b", " c , d"]), {"a;b", "c", "d"}) == ","
    assert joining_mark(pl.Series([" a,b "]), {"a,b"}) is None


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["a,b", "b"], ","),  # one of two comes back
        (["a,b,c", "b"], None),  # one of three
        (["a,b,c,d", "b", "d"], ","),  # two of four
        (["a,b", "b,a"], ","),
        (["a,b", "c,b"], None),  # at the same place among as many
        (["a,b", "c,b,d"], None),
        (["a,b", "b", "a/b", "b/a"], "/"),
        (["a,", "a"], None),  # nothing is joined
        (["a,b", "b", "x, ", ",y", " ,z"], ","),  # nor by a mark at the end
        (["a,b", "b", "a;b", "b;a"], ";"),
        (["a\tb", "b"], "\t"),
        (["a\nb", "b"], "\n"),
    ],
)
def test_names_that_come_back_tell_the_mark(cells, mark):
    assert joining_mark(pl.Series(cells)) == mark


@pytest.mark.parametrize(("place", "mark"), [(49_999, ","), (50_000, None)])
def test_fifty_thousand_cells_are_looked_at(place, mark):
    cells = ["a,b", *(f"x{number}" for number in range(1, place)), "b"]
    assert cells.index("b") == place
    assert joining_mark(pl.Series(cells)) == mark


def test_bars_are_stripped_only_where_all_of_them_are_padded():
    for cells, names in (
        (["a | b", "c | d | e"], [["a", "b"], ["c", "d", "e"]]),
        (["a | b", "c|d "], [["a ", " b"], ["c", "d "]]),
        (["a|b", " c"], [["a", "b"], [" c"]]),
    ):
        split = JoinedCells(None)
        assert split(pl.Series(cells)).to_list() == names
        assert (split.separator, split.notes) == ("|", ())


def test_how_cells_are_split_is_settled_once():
    split = JoinedCells(None)
    assert split(pl.Series(["a;b", "b"])).to_list() == [["a", "b"], ["b"]]
    assert split(pl.Series(["a|c; d"])).to_list() == [["a|c", "d"]]
    told = JoinedCells(";")
    assert told(pl.Series(["a; b|c", None])).to_list() == [["a", "b|c"], None]
    assert told.notes == ()


def test_lists_beside_joined_cells():
    split = JoinedCells(None)
    cells = pl.Series(["['a', 'b']", "c; d", None, "d", "(x", "{1, 2}", "[x]"])
    assert split(cells).to_list() == [["a", "b"], ["c", "d"], None, ["d"], ["(x"], ["1", "2"], None]
    bars = JoinedCells(None)
    assert bars(pl.Series(["['a', 'b']", "c|d"])).to_list() == [["['a', 'b']"], ["c", "d"]]
    must = JoinedCells("/", lists=True)
    assert must(pl.Series(["['a']", "b/ c"])).to_list() == [["a"], ["b", "c"]]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('["a", 1]', ["a", "1"]),
        (" ['a', 'b'] ", ["a", "b"]),
        ("\u00a0['a', 'b']\u00a0", ["a", "b"]),
        ('\u00a0["a"]', ["a"]),
        ("['a' 'b'\n 'c']", ["a", "b", "c"]),
        ("('a',)", ["a"]),
        ("{'a'}", ["a"]),
        ("[]", []),
        ("[1.5]", None),
        ("[['a']]", None),
        ('{"a": 1}', None),
        ("'a'", None),
        ("[a]", None),
        ("[", None),
        ("['a", None),
    ],
)
def test_lists_in_cells(text, names):
    assert parsed_list(text) == names


def test_what_was_not_split_is_counted():
    for cells, note in (
        (
            ["Paris, France"],
            "1 alternative with ',' inside, such as 'Paris, France', was not split; --separator ',' splits them",
        ),
        (
            ["Rome, Italy", "a", "Paris, France"],
            "2 alternatives with ',' inside, such as 'Rome, Italy', were not split; --separator ',' splits them",
        ),
        (["a/b", "c"], "1 alternative with '/' inside, such as 'a/b', was not split; --separator '/' splits them"),
        (["a/b", "c;d"], "1 alternative with ';' inside, such as 'c;d', was not split; --separator ';' splits them"),
    ):
        split = JoinedCells(None)
        assert split(pl.Series(cells)).to_list() == [[cell] for cell in cells]
        assert split.notes == (note,)


# CrowdFlower


def test_line_breaks_of_crowdflower_join_ticks_unless_told(write):
    head = "_unit_id,_worker_id,a\n"
    broken = read_export(write("c.csv", f'{head}u,w,"x\ny"\nu,v,x\n'))
    assert ballots_of(broken) == {("w", "u"): {"x", "y"}, ("v", "u"): {"x"}}
    assert broken.notes == ("cells were split at '\\n' (override with --separator)",)
    told = read_export("c.csv", separator=";")
    assert ballots_of(told) == {("w", "u"): {"x\ny"}, ("v", "u"): {"x"}}
    assert told.notes == ()
    plain = read_export(write("c.csv", f"{head}u,w,x;y\nu,v,x\n"))
    assert ballots_of(plain) == {("w", "u"): {"x", "y"}, ("v", "u"): {"x"}}
    assert plain.notes == ("cells such as 'x;y' were split at ';' (override with --separator)",)


def test_tainted_judgments_and_gold_of_crowdflower(write):
    text = "_unit_id,_worker_id,_tainted,a,a_gold,b\nu,w,TRUE,x,,1\nu,v,false,x,,1\nt,v,,y,,1\nt,w,true ,y,,1\n"
    found = read_export(write("c.csv", text))
    assert ballots_of(found) == {("v", "u"): {"x"}, ("v", "t"): {"y"}}
    assert found.notes == ("a judgment that is tainted counts as a missing ballot (2 times)",)
    assert found.gold is None
    gold = read_export(write("c.csv", text.replace("x,,1", "x,x,1")))
    assert gold.notes[-1] == "column 'a_gold' lists what test questions accept; it was not read as gold"
    other = read_export("c.csv", question="b")
    assert other.ballots.alternatives == ("1",)


# PrefLib


def test_approved_categories_are_noted_in_the_order_of_the_file(write):
    names = "ABCDEFGHI"
    header = "# NUMBER ALTERNATIVES: 9\n" + "".join(f"# CATEGORY NAME {k}: {name}\n" for k, name in enumerate(names, 1))
    path = write("c.cat", f"{header}1: {', '.join(map(str, range(1, 10)))}\n")
    found = read_export(path, approved="I|b")
    assert found.notes[0] == (
        "categories 'B', 'I' count as approved; 'A', 'C', 'D', 'E', 'F', 'G', 'H' do not (choose with --approved)"
    )
    assert ballots_of(found) == {("line-1", "c"): {"2", "9"}}
    assert read_export(path, approved="9 | 2").notes == found.notes
    most = read_export(path, approved="|".join(names[:8]))
    assert most.notes[0].endswith("; 'I' does not (choose with --approved)")
    every = read_export(path, approved="|".join(names))
    assert every.notes[0] == (
        "categories 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H' and 1 more count as approved (choose with --approved)"
    )


# Label Studio


def task(*results, number=1, **about):
    annotation = {"id": 7, "completed_by": 1, "result": list(results), **about}
    return {"id": number, "annotations": [annotation]}


def choice(chosen, **about):
    return {"from_name": "q", "type": "choices", "value": {"choices": chosen}, **about}


@pytest.mark.parametrize("odd", [[], [[]], None, 1.5, "", ["a", ""], ["a", None], {"a": 1}, True])
def test_choices_that_are_no_names_are_refused(write, odd):
    said = refused(write("t.json", [task(choice(["x", odd]))]))
    assert (
        said == f"t.json, task 1, annotation 7: {odd!r} is neither a choice nor a path of nested ones; export it again"
    )


def test_choices_may_be_numbers_bare_texts_and_paths(write):
    tasks = [task(choice([1, 2.0, ["a", "b"], ["c", 3]])), task(choice("d"), number=2)]
    found = read_export(write("t.json", tasks))
    assert ballots_of(found) == {("1", "1"): {"1", "2", "a > b", "c > 3"}, ("1", "2"): {"d"}}
    assert found.notes == ("nested choices are named by their path, its steps joined by '>'",)


def test_an_annotation_of_nobody_is_refused(write):
    said = refused(write("t.json", [task(choice(["a"]), completed_by=None)]))
    assert said == ("t.json, task 1, annotation 7: it does not say who made it; export it again with completed_by")
    gold = read_export(
        write("t.json", [task(choice(["a"]), completed_by=None, ground_truth=True), task(choice(["b"]))])
    )
    assert gold.gold is not None
    assert dict(gold.gold) == {"1": {"a"}}


# Words that tools and people use


APPROVING = [
    *("approved", "approve", "approves", "approval", "approvals", "yes", "y", "for", "in favour", "in favor", "favour"),
    *("favor", "accept", "accepted", "acceptable", "agree", "agreed", "like", "liked", "select", "selected", "chosen"),
    *("vote", "voted", "voted for", "support", "supported", "true", "1", "+1", "oui", "pour", "ja", "si", "sí"),
]


@pytest.mark.parametrize("change", [str, str.upper, "{}/ yes".format])
def test_words_for_approval(write, change):
    names = [*map(change, APPROVING), "no"]
    header = [f"# NUMBER ALTERNATIVES: {len(names)}"]
    header += [f"# CATEGORY NAME {number}: {name}" for number, name in enumerate(names, 1)]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    found = read_export(write("c.cat", "\n".join([*header, f"1: {', '.join(numbers)}"])))
    assert ballots_of(found) == {("line-1", "c"): set(numbers[:-1])}


LABEL_STUDIO = ["annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history", "id", "annotator"]


def test_fields_of_label_studio_are_no_questions(write):
    record = {"id": 1, "annotator": 1, "annotation_id": 1, "q": {"choices": ["a"]}}
    for name in LABEL_STUDIO[1:6]:
        found = read_export(write("m.json", [{**record, name: {"choices": ["b"]} if name != "updated_at" else "1"}]))
        assert ballots_of(found) == {("1", "1"): {"a"}}
    assert refused("m.json", question="lead_time") == "m.json has no field 'lead_time'; its fields are 'q'"


@pytest.mark.parametrize("kind", ["label-studio", "label-studio-min", "argilla"])
@pytest.mark.parametrize("content", ["5", "null", '""', '"text"', "[1]", "[{}, []]"])
def test_json_that_is_no_list_of_records(write, kind, content):
    assert refused(write("j.json", content), format=kind) == (
        "j.json is not a list of records; export it again as JSON"
    )


def test_elections_without_voters(write):
    assert refused(write("e.abc.yaml", "profile: []\n")) == (
        "e.abc.yaml holds no ballots; check that it is the file you meant"
    )
    assert refused(write("e.abc.yaml", "profile: [[]]\n")) == (
        "e.abc.yaml: nobody approves anybody, so num_cand must say how many candidates there are"
    )
    assert read_export(write("e.abc.yaml", "profile: [[], [2]]\n")).ballots.alternatives == ("0", "1", "2")


def test_a_damaged_parquet_file_is_said_wherever_it_shows(write, tmp_path):
    from epivote import pack_files
    from epivote.formats.file_tables import ParquetTable
    from epivote.formats.source import SourceFile

    path = tmp_path / "b.parquet"
    frame = pl.DataFrame(
        {"voter": [f"v{k}" for k in range(2000)], "instance": ["q"] * 2000, "alternatives": ["a"] * 2000}
    )
    frame.write_parquet(path, compression="uncompressed", statistics=False)
    content = bytearray(path.read_bytes())
    content[4:400] = b"\xff" * 396
    path.write_bytes(content)
    table = ParquetTable(SourceFile("b.parquet", path, ".parquet"))
    for ask in (
        lambda: table.select(["voter"]),
        lambda: table.first(["voter"], 5),
        lambda: list(table.batches(["voter"], 9)),
    ):
        with pytest.raises(EpivoteError, match=r"^b\.parquet is damaged Parquet \(.+\); write it again$"):
            ask()
    with pytest.raises(EpivoteError, match=r"^b\.parquet is damaged Parquet \(.+\); write it again$"):
        pack_files([path.name], "packed")
