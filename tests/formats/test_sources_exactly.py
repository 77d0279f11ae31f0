"""How far a file is looked into before it is read: to the last byte and line."""

from pathlib import Path

import pytest
from trying import refused

from epivote import read_export
from epivote.formats.source import SourceFile, lines_of, open_source
from epivote.formats.text_table import TextTable


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


@pytest.mark.parametrize(("blanks", "suffix"), [(0, ".jsonl"), (4095, ".jsonl"), (4096, ".txt")])
def test_the_first_letter_of_json(write, blanks, suffix):
    with open_source(write("j.txt", " " * blanks + '{"a": 1}')) as source:
        assert source.suffix == suffix


@pytest.mark.parametrize(
    ("content", "suffix"),
    [("[{}]", ".json"), ("[\n {", ".json"), ("[]", ".json"), ("[1]", ".txt"), ("x{", ".txt"), ("\ufeff {", ".jsonl")],
)
def test_lists_of_records_are_json(write, content, suffix):
    with open_source(write("j.txt", content)) as source:
        assert source.suffix == suffix
    for name in ("j.csv", "j.tsv", "j.ndjson", "j.abc.yaml", "J.CSV"):
        with open_source(write(name, content)) as source:
            assert source.suffix == name.lower().partition(".")[1] + name.lower().partition(".")[2]


@pytest.mark.parametrize(
    ("content", "converted"),
    [
        (b"a\rb", True),
        (b"a\rb\n", False),
        (b"x" * 65535 + b"\ra", True),
        (b"x" * 65536 + b"\ra", False),
        (b"\r" + b"x" * 65534 + b"\n", False),
        (b"\r" + b"x" * 65535 + b"\n", True),
        (b"PKa\rb", False),
        (b"PAR1a\rb", False),
    ],
)
def test_line_ends_of_old_macintoshes(write, content, converted):
    with open_source(write("l.txt", content)) as source:
        assert source.path.read_bytes() == (content.replace(b"\r", b"\n") if converted else content)


@pytest.mark.parametrize("place", [4095, 4096])
def test_a_binary_file_is_known_by_its_beginning(write, place):
    text = "voter,instance,alternatives\n" + "v,q,a\n" * 800
    content = text.encode()[:place] + b"\0" + text.encode()[place + 1 :]
    assert ("b.csv is a binary file of an unknown format" in refused(write("b.csv", content))) == (place < 4096)


def test_text_of_another_encoding_is_shown_with_what_stands_around_it(write):
    letters = b"abcdefghijklmnopqrstuvwxyz"
    head = b"voter,instance,alternatives\n"
    for before, after, near in (
        (letters, letters, "opqrstuvwxyz\xe9abcdefghijkl"),
        (b"xyz", b"abc", "xyz\xe9abc"),
        (b" ", b"\t", "\xe9"),
    ):
        assert refused(write("l.csv", head + before + b"\xe9" + after + b"\n")) == (
            f"l.csv, line 2: this is not UTF-8 text; if {near!r} is right, add --encoding windows-1252, else save the "
            "file with encoding UTF-8"
        )


@pytest.mark.parametrize("torn", [2, 19, 20, 21])
def test_twenty_lines_tell_what_separates_cells(write, torn):
    lines = ["a;b;c,d" if number != torn else "a;b,d" for number in range(1, 25)]
    table = TextTable(SourceFile("s.csv", Path(write("s.csv", "\n".join(lines))), ".csv"))
    assert table.separator == ("," if torn <= 20 else ";")


def test_blank_lines_do_not_count_among_them(write):
    lines = [line for number in range(1, 25) for line in ("a;b;c,d" if number != 20 else "a;b,d", "")]
    assert TextTable(SourceFile("s.csv", Path(write("s.csv", "\n".join(lines))), ".csv")).separator == ","


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a/b.csv", "b"),
        ("b.csv.gz", "b"),
        ("b.CSV.GZ", "b"),
        ("b.x.csv", "b.x"),
        (".csv", ".csv"),
        ("a/.csv", "a/.csv"),
        ("b", "b"),
        ("b.txt", "b.txt"),
    ],
)
def test_the_name_of_a_source_without_its_endings(tmp_path, name, stem):
    assert SourceFile(name, tmp_path, ".csv").stem == stem


def test_lines_are_counted_from_one(write):
    with open_source(write("l.txt", "a\nb\r\n\nc")) as source:
        assert list(lines_of(source)) == [(1, "a\n"), (2, "b\r\n"), (3, "\n"), (4, "c")]


def test_encodings(write):
    text = "voter,instance,alternatives\nv,q,\xe9\n"
    assert read_export(write("e.csv", text.encode("cp1252")), encoding="windows-1252").ballots.alternatives == ("\xe9",)
    for encoding in ("utf-16", "utf-16-le", "utf-8-sig"):
        content = text.encode(encoding)
        given = {"encoding": encoding} if encoding == "utf-16-le" else {}
        assert read_export(write("e.csv", content), **given).ballots.alternatives == ("\xe9",)
    assert refused("e.csv", encoding="nothing") == (
        "there is no encoding 'nothing'; correct --encoding (such as windows-1252)"
    )
    assert refused(write("e.csv", b"\xff\xfea")) == (
        "e.csv begins as UTF-16 text but is damaged; save it with encoding UTF-8"
    )
    assert refused(write("e.csv", b"\xff"), encoding="ascii") == "e.csv is not text in ascii; correct --encoding"
