"""Every reader with every way in which the same file may be stored: the same ballots, names, gold and notes each time."""

import codecs
import gzip
import os
import random
import shutil
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from epivote import BallotError, FileError, read_export

CASES = Path(__file__).parent.parent / "cases"
FILES = sorted(path.name for path in CASES.iterdir() if path.is_file())
STORED = {
    "plain": str.encode,
    "byte-order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "UTF-16 big-endian": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "gzip of UTF-16": lambda text: gzip.compress(codecs.BOM_UTF16_LE + text.encode("utf-16-le")),
}
BIRDS = (("ann", "bo"), ("q1", "q2"), ("owl", "robin", "wren"))
PICTURES = ("Which birds are on picture 1?", "Which birds are on picture 2?")
# voters, instances and alternatives in their order, and whether the alternatives were only inferred from ticks
NAMES = {
    "argilla-flat.json": ("argilla", ("6d", "9a", "llm-1"), ("r1", "r2"), ("robin", "wren"), True),
    "argilla-nested.json": ("argilla", ("6d", "9a", "llm-1"), ("r1", "r2"), ("robin", "wren"), True),
    "ballots.csv": ("ballots", *BIRDS, True),
    "ballots.json": ("ballots", *BIRDS, True),
    "ballots.jsonl": ("ballots", *BIRDS, True),
    "ballots.tsv": ("ballots", *BIRDS, True),
    "budget.pb": ("pabulib", ("1", "2", "7"), ("budget",), ("1", "2", "4"), False),
    "crowd-kit.csv": ("crowd-kit", *BIRDS, True),
    "forms.csv": (
        "forms",
        ("ann@example.org", "bo@example.org", "the key"),
        PICTURES,
        ("house sparrow", "robin", "wren"),
        True,
    ),
    "indicators.csv": ("indicators", *BIRDS, False),
    "label-studio-min.json": ("label-studio-min", ("10", "11", "12"), ("1",), ("robin", "wren"), True),
    "label-studio.json": (
        "label-studio",
        ("10", "bo@example.org", "m1"),
        ("1", "2"),
        ("robin", "sparrow", "wren"),
        True,
    ),
    "matrix.txt": ("matrix", *BIRDS, False),
    "mturk.csv": ("mturk", *BIRDS, True),
    "picture.abc.yaml": (
        "abcvoting",
        ("voter 1", "voter 2", "voter 3", "voter 4"),
        ("picture",),
        ("0", "1", "2"),
        False,
    ),
    "preflib.cat": (
        "preflib",
        ("line-1", "line-2", "line-3"),
        ("preflib",),
        ("wren", "robin", "owl"),
        False,
    ),
    "preflib.toc": ("preflib", ("line-1", "line-2"), ("preflib",), ("wren", "robin", "owl"), False),
    "polis.cat": ("preflib", ("line-1", "line-2", "line-3"), ("polis",), ("wren", "robin", "owl"), False),
    "parliament.cat": ("preflib", ("line-1", "line-2", "line-3"), ("parliament",), ("wren", "robin", "owl"), False),
    "validators.cat": ("preflib", ("line-1", "line-2"), ("validators",), ("wren", "robin", "owl"), False),
    "order.soc": ("preflib", ("line-1", "line-2"), ("order",), ("wren", "robin", "owl"), False),
    "order.soi": ("preflib", ("line-1", "line-2"), ("order",), ("wren", "robin", "owl"), False),
    "reviewers.cat": (
        "preflib",
        ("line-1", "line-2"),
        ("reviewers",),
        ("paper a", "paper b", "paper c", "paper d"),
        False,
    ),
    "merged.csv": ("ballots", ("line-1", "line-2", "line-3"), ("q1",), ("owl", "robin", "wren"), True),
    "sets.abc.yaml": ("abcvoting", ("voter 1", "voter 2", "voter 3"), ("sets",), ("0", "1", "2"), False),
    "prodigy.jsonl": ("prodigy", ("set-ann", "set-bo"), ("123", "124"), ("robin", "wren", "owl", "kite"), False),
    "ticks.csv": ("ticks", *BIRDS, True),
    "toloka-boxes.tsv": ("toloka", ("ann", "bo"), ("t1",), ("robin", "wren"), False),
    "toloka.tsv": ("toloka", ("ann", "bo"), ("t1", "t2"), ("owl", "robin", "wren"), True),
}


def whole(found):
    """All that a reader hands over, except how long it took."""
    ballots = found.ballots
    return {
        "format": found.format,
        "ballots": {key: set(ticks) for key, ticks in ballots.items()},
        "names": (ballots.voters, ballots.instances, ballots.alternatives),
        "menu": {name: ballots.offered(name) for name in ballots.instances},
        "gold": None if found.gold is None else (dict(found.gold), found.gold.alternatives),
        "notes": found.notes,
        "inferred": found.inferred,
    }


@pytest.fixture
def write(tmp_path):
    def to_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


@pytest.mark.parametrize("name", FILES)
def test_names_keep_their_order_and_stated_alternatives_are_told_from_inferred_ones(name):
    found = read_export(CASES / name)
    names = (found.ballots.voters, found.ballots.instances, found.ballots.alternatives)
    assert (found.format, *names, found.inferred) == NAMES[name]


@pytest.mark.parametrize("name", FILES)
def test_line_ends_encodings_and_compression_change_nothing(write, name):
    expected = whole(read_export(CASES / name))
    text = (CASES / name).read_text()
    for number, (how, stored) in enumerate(STORED.items()):
        for end in ("\n", ("\r\n", "\r")[number % 2]):
            path = write(f"{name}.gz" if "gzip" in how else name, stored(text.replace("\n", end)))
            assert whole(read_export(path)) == expected, (how, end)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_last_line_needs_no_end_and_may_have_several(write, name, end):
    expected = whole(read_export(CASES / name))
    text = (CASES / name).read_text().rstrip("\n").replace("\n", end)
    for last in ("", end * 3):
        assert whole(read_export(write(name, text + last))) == expected


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("matrix")])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_blank_lines_in_between_change_nothing(write, name, end):
    text = end + (CASES / name).read_text().replace("\n", f"{end}{end}{end}")
    assert whole(read_export(write(name, text))) == whole(read_export(CASES / name))


@pytest.mark.parametrize("name", FILES)
def test_capital_endings_are_endings(write, name):
    stem, dot, ending = name.partition(".")
    path = write(f"{stem}{dot}{ending.upper()}.GZ", gzip.compress((CASES / name).read_bytes()))
    assert whole(read_export(path)) == whole(read_export(CASES / name))


@pytest.mark.parametrize(
    "name", [name for name in FILES if name.endswith((".csv", ".tsv", ".jsonl")) and name != "forms.csv"]
)
def test_the_order_of_rows_does_not_matter(write, name):
    lines = (CASES / name).read_text().splitlines()
    head, rows = ([], lines) if name.endswith("jsonl") else (lines[:1], lines[1:])
    expected = whole(read_export(CASES / name))
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        found = whole(read_export(write(name, "\n".join(head + rows) + "\n")))
        for what in ("ballots", "gold", "inferred", "format"):
            assert found[what] == expected[what]
        assert set(found["notes"]) == set(expected["notes"])
        assert [set(names) for names in found["names"]] == [set(names) for names in expected["names"]]


@pytest.mark.parametrize("name", ["ballots.csv", "ballots.tsv", "ticks.csv", "indicators.csv", "ballots.jsonl"])
@pytest.mark.parametrize(
    "change", [lambda name: f"  {name} ", str.upper, str.title], ids=["padded", "CAPITALS", "Title"]
)
def test_headers_may_be_padded_and_in_any_case(write, name, change):
    text = (CASES / name).read_text()
    for column in ("voter", "instance", "alternatives", "alternative"):
        for mark in (",", "\t", "\n", '"'):
            text = text.replace(f"{column}{mark}", f"{change(column)}{mark}")
    found = whole(read_export(write(name, text)))
    assert found == whole(read_export(CASES / name))


def test_an_exact_header_goes_before_one_that_is_only_alike(write):
    text = "Voter, voter ,instance,alternatives\nx,ann,q1,a\n"
    assert read_export(write("a.csv", text)).ballots.voters == ("x",), "the first of those alike"
    text = "Voter,voter,instance,alternatives\nx,ann,q1,a\n"
    assert read_export(write("b.csv", text)).ballots.voters == ("ann",)
    text = "WHO,who,instance,alternatives\nx,ann,q1,a\n"
    assert read_export(write("c.csv", text), voter="who").ballots.voters == ("ann",)
    assert read_export(write("d.csv", text), voter="Who").ballots.voters == ("x",)


@pytest.mark.parametrize("true", ["true", "True", "TRUE", "tRuE"])
@pytest.mark.parametrize("false", ["false", "False", "FALSE"])
def test_true_and_false_in_any_case(write, true, false):
    table = f"voter,instance,a,b\nann,q1,{true},{false}\nbo,q1,{false},{false}\n"
    boxes = f"HITId,WorkerId,Answer.a.on,Answer.b.on\nq1,ann,{true},{false}\nq1,bo,{false},{false}\n"
    columns = "OUTPUT:a\tOUTPUT:b\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\n"
    toloka = columns + f"{true}\t{false}\tq1\tann\n{false}\t{false}\tq1\tbo\n"
    for name, text in (("i.csv", table), ("m.csv", boxes), ("t.tsv", toloka)):
        found = read_export(write(name, text)).ballots
        assert dict(found.items()) == {("ann", "q1"): {"a"}, ("bo", "q1"): frozenset()}
        assert found.alternatives == ("a", "b")


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_line_ends_within_names_are_kept(write, end, stored):
    name = f"a{end}n"
    text = f'voter,instance,alternatives{end}"{name}","{name}","{name}|b"{end}'
    found = read_export(write("b.csv", stored(text)))
    assert dict(found.ballots.items()) == {(name, name): {name, "b"}}


def test_numbers_are_names_as_they_are_written(write):
    text = "voter,instance,alternatives\n007,1.0,1e3|0x1\n7,1,\n"
    assert dict(read_export(write("b.csv", text)).ballots.items()) == {
        ("007", "1.0"): {"1e3", "0x1"},
        ("7", "1"): frozenset(),
    }


def test_file_names_with_stars_and_brackets_are_names(write):
    for name in ("b[1].csv", "b*.csv", "b?.csv", "b[1].jsonl", "b*.jsonl"):
        read = read_export(write(name, (CASES / f"ballots{Path(name).suffix}").read_bytes()))
        assert read.ballots.n_ballots == 3
    frame = pl.DataFrame({"voter": ["v"], "instance": ["q"], "alternatives": ["a"]})
    for name in ("b[1].parquet", "b*.parquet"):
        frame.write_parquet(write(name, b""))
    other = frame.with_columns(voter=pl.lit("w"))
    other.write_parquet(write("b1.parquet", b""))
    for name in ("b[1].parquet", "b*.parquet"):
        assert read_export(write("x", b"").with_name(name)).ballots.voters == ("v",)


def test_a_pipe_and_standard_input_are_read_like_files(monkeypatch):
    content = (CASES / "preflib.cat").read_bytes()
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(content)
    found = read_export(f"/dev/fd/{reading}", format="preflib")
    os.close(reading)
    assert found.ballots.instances == (str(reading),)
    for data in (content, gzip.compress(content)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(data)))
        found = read_export("-", format="preflib")
        assert found.ballots.total_ballots == 4
        assert found.ballots.instances == ("standard input",)


def test_a_name_that_is_nothing_but_an_ending_is_a_name(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(".gz", gzip.compress((CASES / "preflib.cat").read_bytes()))
    assert read_export(".gz", format="preflib").ballots.instances == (".gz",)


def test_binary_files_are_not_taken_for_lines(write, tmp_path):
    name = "v\r" + "w" * 70_000
    frame = pl.DataFrame({"voter": [name], "instance": ["q"], "alternatives": ["a"]})
    frame.write_parquet(tmp_path / "b.parquet", compression="uncompressed", statistics=False)
    data = (tmp_path / "b.parquet").read_bytes()[: 1 << 16]
    assert b"\r" in data
    assert b"\n" not in data, "so that it looks like a file with the line ends of old Macintoshes"
    assert read_export(tmp_path / "b.parquet").ballots.voters == (name,)
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo("ann.jsonl", (2026, 1, 1, 1, 1, 2)), '{"id": 1,\r"label": ["x"]}')
    data = (tmp_path / "d.zip").read_bytes()
    assert b"\r" in data
    assert b"\n" not in data
    assert dict(read_export(tmp_path / "d.zip").ballots.items()) == {("ann", "1"): {"x"}}


@pytest.mark.parametrize("kind", ["zip", "folder", "folder in a zip"])
def test_members_of_doccano_however_they_are_packed(tmp_path, kind):
    for folder in (tmp_path / "out", tmp_path / "out" / "inner"):
        folder.mkdir()
    inside = tmp_path / "out" / ("inner" if kind == "folder in a zip" else "")
    for file in (CASES / "doccano").iterdir():
        shutil.copy(file, inside)
    (inside / ".hidden.jsonl").write_text("no JSON")
    (inside / "notes.txt").write_text("no JSON")
    path = tmp_path / "out" if kind == "folder" else shutil.make_archive(str(tmp_path / "x"), "zip", tmp_path / "out")
    assert whole(read_export(path)) == whole(read_export(CASES / "doccano"))


def test_what_looks_like_json_is_not_always_json(write):
    for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
        text = "{x},voter,instance,alternatives\n1,ann,q1,a\n{2},bo,q1,a\n".replace(",", mark)
        assert read_export(write(name, text)).ballots.n_ballots == 2
    assert read_export(write("a.abc.yaml", "{profile: [[0], [1]], num_cand: 2}")).ballots.n_ballots == 2
    for name in ("a.jsonl", "a.ndjson"):
        with pytest.raises(FileError, match="line 1: .* is not an object; each line must be one record"):
            read_export(write(name, '[{"voter": "v", "instance": "q", "alternatives": ["a"]}]'))
    assert read_export(write("pasted", "[a] [b]\n1 0\n")).ballots.alternatives == ("[a]", "[b]")


@pytest.mark.parametrize("name", ["x", "x.JSON"])
@pytest.mark.parametrize("before", ["", "\n \t", "\ufeff", "\ufeff\n"])
def test_json_is_known_by_its_first_letters_whatever_it_is_called(write, name, before):
    for case in ("ballots.json", "ballots.jsonl", "prodigy.jsonl", "label-studio.json"):
        found = read_export(write(name, before + (CASES / case).read_text()))
        assert whole(found) == whole(read_export(CASES / case))
    assert read_export(write(name, before + "[ \n " + (CASES / "ballots.json").read_text()[1:])).ballots.n_ballots == 3
    with pytest.raises(FileError, match="this JSON is of no known tool"):
        read_export(write(name, f"{before}[\n ]"))


def test_files_that_hold_no_ballot_say_so(write):
    for name, text in (
        ("a.jsonl", '{"_input_hash": 1, "_annotator_id": "v", "answer": "ignore"}\n'),
        ("a.csv", "voter,instance,alternatives\n\n\n"),
    ):
        with pytest.raises(BallotError, match=rf"{name} holds no ballots; check that it is the file you meant"):
            read_export(write(name, text))
