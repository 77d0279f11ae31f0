"""Packing in parts: whatever the number of rows read at a time and the size of a part, the same ballots and sentences."""

import polars as pl
import pytest

from epivote import EpivoteError, pack_files, read_export
from epivote.formats import pack

HEADER = "voter,instance,alternatives\n"
VOTES = {
    ("v3", "q2"): {"b"},
    ("v1", "q1"): {"a", "c"},
    ("v1", "q2"): set(),
    ("v2", "q3"): {"c"},
    ("v3", "q1"): {"a"},
    ("v1", "q3"): {"a", "b", "c"},
    ("v4", "q4"): {"b"},
    ("v2", "q5"): set(),
}
ROWS = [f"{voter},{instance},{'|'.join(sorted(ticks))}\n" for (voter, instance), ticks in VOTES.items()]
ALL = 1 << 25


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to_file(name, text):
        (tmp_path / name).write_text(text)
        return name

    return to_file


@pytest.fixture(params=[(1, ALL), (2, 50), (3, 1), (ALL, ALL)], ids=str)
def cut(request, monkeypatch):
    rows, size = request.param
    monkeypatch.setattr(pack, "ROWS_PER_BATCH", rows)
    monkeypatch.setattr(pack, "BYTES_PER_PART", size)
    return size


def counted(packed):
    """Ballots by voter, counted from the ballots themselves."""
    return [sum(voter == name for voter, _ in dict(packed.select().items())) for name in packed.voters]


def refused(*arguments, **options):
    with pytest.raises(EpivoteError) as told:
        pack_files(*arguments, "packed", **options)
    return str(told.value)


def test_one_file_in_parts(write, cut):
    packed = pack_files([write("b.csv", HEADER + "".join(ROWS))], "packed")
    assert dict(packed.select().items()) == VOTES
    assert packed.voters == ("v3", "v1", "v2", "v4")
    assert packed.alternatives == ("a", "b", "c")
    assert (packed.n_ballots, packed.n_instances) == (8, 5)
    assert packed.ballots_per_voter.tolist() == counted(packed) == [2, 3, 2, 1]
    if cut == ALL:
        assert packed.instances == ("q2", "q1", "q3", "q4", "q5"), "small inputs keep their order"
    else:
        assert len(packed.blocks) > 1


def test_several_files_in_parts(write, cut):
    names = [write(f"{number}.csv", HEADER + "".join(ROWS[number::3])) for number in range(3)]
    packed = pack_files(names, "packed")
    assert dict(packed.select().items()) == VOTES
    assert sorted(zip(packed.voters, packed.ballots_per_voter.tolist(), strict=True)) == [
        ("v1", 3), ("v2", 2), ("v3", 2), ("v4", 1)]  # fmt: skip
    assert packed.voters == ("v3", "v2", "v4", "v1"), "in the order of the files"


@pytest.mark.parametrize("duplicates", ["first", "last"])
def test_of_two_ballots_the_first_or_last_of_all_files_counts(write, cut, duplicates):
    names = []
    for number in range(3):
        rows = "".join(f"v,q{row % 3},{number}-{row}\n" for row in range(6))
        names.append(write(f"{number}.csv", HEADER + rows))
    packed = pack_files(names, "packed", duplicates=duplicates)
    file, rows = (0, range(3)) if duplicates == "first" else (2, range(3, 6))
    assert dict(packed.select().items()) == {("v", f"q{row % 3}"): {f"{file}-{row}"} for row in rows}


def test_both_places_of_a_repeated_ballot_name_their_files(write, cut):
    one = write("1.csv", HEADER + "\n\nv,q,a\n\nw,q,b\n")
    two = write("2.csv", HEADER + "x,q,a\n\n\nw,q,b\n")
    assert refused([one, two]).startswith(
        "2.csv, line 5: voter 'w' already has a ballot on instance 'q' (1.csv, line 6); remove one"
    )
    assert refused([two, write("3.csv", HEADER + "y,q,a\n\n,q,a\n")]) == (
        "3.csv, line 4: the voter is blank; give every ballot a voter"
    )
    assert refused([one], alternatives=["a", "c"]).startswith("1.csv, line 6: 'b' is not an alternative")
    columns = {"voter": list("uvwxv"), "instance": ["p"] * 5, "alternatives": ["a"] * 5}
    pl.DataFrame(columns).write_parquet("4.parquet")
    assert refused([one, "4.parquet"]).startswith(
        "4.parquet, row 5: voter 'v' already has a ballot on instance 'p' (4.parquet, row 2)"
    )


def test_a_torn_row_is_found_wherever_it_is(write, cut):
    for place in range(4):
        rows = ["v,q,a\n", "\n", "w,q,b\n", "x,q,\n"]
        path = write("b.csv", HEADER + "".join([*rows[:place], "y,q\n", *rows[place:]]))
        assert refused([path]).startswith(f"b.csv, line {place + 2}: 2 cells where the header has 3; quote a cell")


def test_ticks_and_marks_in_parts(write, cut):
    rows = [f"{v},{z},{tick}\n" for (v, z), ticks in VOTES.items() for tick in (sorted(ticks) or [""])]
    packed = pack_files([write("t.csv", "voter,instance,alternative\n" + "".join(rows))], "ticks")
    assert dict(packed.select().items()) == VOTES
    rows = [f"{v},{z},{','.join(str(int(name in ticks)) for name in 'cab')}\n" for (v, z), ticks in VOTES.items()]
    path = write("i.csv", "voter,instance,c,a,b\n" + "".join(rows) + "v9,q1,,,\n")
    for options in ({}, {"blank": "missing"}):
        packed = pack_files([path], f"marks{len(options)}", **options)
        assert dict(packed.select().items()) == VOTES
        assert packed.alternatives == ("c", "a", "b")
        assert packed.voters == read_export(path, **options).ballots.voters, "who cast no ballot is no voter"
    packed = pack_files([path], "empty", blank="empty")
    assert packed.ballot("v9", "q1") == frozenset()
    packed = pack_files([path], "stated", alternatives=["a", "b", "c", "d"])
    assert packed.alternatives == ("a", "b", "c", "d")


def test_marks_of_several_files_are_alternatives_of_all(write, cut):
    one, two = write("1.csv", "voter,instance,a,b\nv,q,1,0\n"), write("2.csv", "voter,instance,c,b\nw,p,1,1\n")
    packed = pack_files([one, two], "packed")
    assert packed.alternatives == ("a", "b", "c")
    assert dict(packed.select().items()) == {("v", "q"): {"a"}, ("w", "p"): {"b", "c"}}


def test_lists_and_text_are_not_mixed(write):
    path = write("b.csv", HEADER + "v,q,a\n")
    pl.DataFrame({"voter": ["w"], "instance": ["q"], "alternatives": [["a"]]}).write_parquet("l.parquet")
    remedy = "convert one of them first (epivote convert)"
    assert refused([path, "l.parquet"]) == f"l.parquet has lists of ticks where b.csv has text; {remedy}"
    assert refused(["l.parquet", path]) == f"b.csv has text of ticks where l.parquet has lists; {remedy}"
    assert pack_files(["l.parquet"], "packed").n_ballots == 1


def test_menus_none_and_separators_in_parts(write, cut):
    path = write("b.csv", HEADER + "".join(ROWS).replace("|", ";") + "v9,q1,x\n")
    menu = {f"q{number}": ["a", "b", "c", "x"] for number in range(1, 6)} | {"q4": ["x", "b"]}
    packed = pack_files([path], "packed", separator=";", none="x", menu=menu)
    assert dict(packed.select().items()) == {**VOTES, ("v9", "q1"): frozenset()}
    assert packed.alternatives == ("a", "b", "c")
    assert packed.offered("q4") == ("b",)
    assert packed.offered("q1") == ("a", "b", "c")
    packed = pack_files([path], "missing", separator=";", blank="missing", alternatives=["x", "c", "b", "a"])
    assert dict(packed.select().items()) == {key: ticks for key, ticks in VOTES.items() if ticks} | {
        ("v9", "q1"): {"x"}
    }
    assert packed.alternatives == ("x", "c", "b", "a")
    assert packed.voters == ("v3", "v1", "v2", "v4", "v9")
    path = write("e.csv", HEADER + "v,p,\nv,q,\n")
    with pytest.raises(EpivoteError, match="there are no ballots at all"):
        pack_files([path], "nothing", blank="missing")


def test_how_far_it_is_is_told(write, monkeypatch):
    monkeypatch.setattr(pack, "ROWS_PER_BATCH", 3)
    names = [write("0.csv", HEADER + "".join(ROWS)), write("1.csv", HEADER + "v9,q9,a\n")]
    said = []
    pack_files(names, "packed", told=said.append)
    assert said[-2:] == ["Reading 1.csv: 9 rows so far", "Packing part 1 of 1"]
    assert said[-3] == "Reading 0.csv: 8 rows so far"
    size = len(HEADER + "".join(ROWS))
    for bytes_per_part, parts in ((size, 1), (size - 1, 2), (size // 2, 2 if size % 2 == 0 else 3)):
        monkeypatch.setattr(pack, "BYTES_PER_PART", bytes_per_part)
        said.clear()
        pack_files(names[:1], f"packed{bytes_per_part}", told=said.append)
        assert {line.rpartition(" ")[2] for line in said if line.startswith("Packing")} == {str(parts)}
    said.clear()
    write("b.jsonl", '{"voter": "v", "instance": "q", "alternatives": ["a"]}\n')
    pack_files(["b.jsonl"], "lines", told=said.append)
    assert said == ["Reading b.jsonl"]


def test_what_cannot_be_packed_together(write, tmp_path):
    one, ticks = write("b.csv", HEADER + "v,q,a\n"), write("t.csv", "voter,instance,alternative\nw,q,a\n")
    lines = write("b.jsonl", '{"voter": "v", "instance": "q", "alternatives": ["a"]}\n')
    turk = write("m.csv", "HITId,WorkerId,Answer.x\nh,v,a|b\n")
    remedy = "pack it by itself, or convert it to CSV first (epivote convert)"
    for paths, what in (
        ([one, ticks], "t.csv was read as ticks"),
        ([one, lines], "b.jsonl was read as ballots"),
        ([lines, one], "b.jsonl was read as ballots"),
        ([one, turk], "m.csv was read as mturk"),
    ):
        assert refused(paths) == f"{what}, which cannot be packed together with other files; {remedy}"
    assert pack_files([turk], "alone", question="x", duplicates="last").ballot("v", "h") == {"a", "b"}
    assert refused([write("e.csv", HEADER)]) == "e.csv holds no ballots; check that it is the file you meant"
    assert refused([write("e.csv", HEADER), one, write("f.csv", HEADER + "v\n")], format="ballots").startswith(
        "f.csv, line 2: 1 cell where the header has 3"
    )
    assert [path.name for path in tmp_path.glob(".*")] == [], "nothing is left behind"
    (tmp_path / "packed").mkdir()
    assert refused([one]) == "packed already exists; remove it or choose another folder"
    write("file", "")
    with pytest.raises(EpivoteError, match=r"^cannot write file/packed: .*; nothing was packed$"):
        pack_files([one], "file/packed")
    assert pack_files([one], "new/folder/packed").n_ballots == 1
    assert pack_files([write("e.csv", HEADER), one], "some").n_ballots == 1
