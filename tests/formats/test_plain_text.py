"""Large files of plain text: the same ballots, notes and errors as by columns of text, whatever the file holds."""

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trying import ballots_of

from epivote import EpivoteError, read_export
from epivote.formats import plain_text, tables
from epivote.formats.plain_text import is_large, plain_columns
from epivote.formats.source import open_source
from epivote.formats.text_table import TextTable

LETTERS = st.sampled_from("abé😀 |;x'")
NAMES, CELLS = st.text(LETTERS, min_size=1, max_size=9), st.text(LETTERS, max_size=20)
ROWS = st.lists(st.tuples(NAMES, NAMES, CELLS, st.just("more")), min_size=1, max_size=30)


@pytest.fixture(autouse=True)
def small_files_are_large(monkeypatch):
    monkeypatch.setattr(plain_text, "LARGE", 0)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
        return "t.csv"

    return write


def columns_of(path, joined_by=None):
    with open_source(path) as source:
        return plain_columns(TextTable(source), ("voter", "instance", "alternatives"), joined_by)


def result(path, **options):
    """Ballots and notes, or the error."""
    try:
        found = read_export(path, **options)
    except EpivoteError as error:
        return type(error), str(error)
    return found.ballots, found.notes, found.inferred


def both(path, monkeypatch, **options):
    """What is read as plain text if it is plain, and what is read in any case."""
    plain = result(path, **options)
    with monkeypatch.context() as context:
        context.setattr(tables, "plain_columns", lambda *_: None)
        return plain, result(path, **options)


SIMPLE = "voter,instance,alternatives\nann,q1,a|b\nbo,q1,\nann,q2,b\n"


def test_columns_are_numbered_in_order_of_first_appearance(write):
    voters, instances, cells = columns_of(write(SIMPLE))
    assert voters.texts == ["ann", "bo"]
    assert voters.number.tolist() == [0, 1, 0]
    assert instances.texts == ["q1", "q2"]
    assert cells.texts == ["a|b", "", "b"]
    assert cells.number.tolist() == [0, 1, 2]


def test_names_in_joined_cells_are_numbered_in_order_of_first_appearance(write):
    _, _, ticks = columns_of(write(SIMPLE + "cy,q1,c||a|\ncy,q2,|\ncy,q3,b|b\n"), joined_by="|")
    assert ticks.texts == ["a", "b", "c"]
    assert ticks.lists.values.tolist() == [0, 1, 1, 2, 0, 1, 1]
    assert ticks.lists.lengths().tolist() == [2, 0, 1, 2, 0, 2]
    assert ticks.n_blank == 1


@pytest.mark.parametrize("n_names", [3, 300, 70_000])
@pytest.mark.parametrize("n_threads", ["1", "3"])
def test_many_different_names_in_joined_cells(write, monkeypatch, n_names, n_threads):
    monkeypatch.setenv("EPIVOTE_THREADS", n_threads)
    monkeypatch.setattr(plain_text, "CHUNK", 5000)
    rng = np.random.default_rng(n_names)
    lists = [rng.permutation(n_names)[:7] for _ in range(300)] + [
        np.arange(k, k + 100) % n_names for k in range(0, n_names, 100)
    ]
    rows = [f"v{k},i,{'|'.join(f'name{a}' for a in ticked)}" for k, ticked in enumerate(lists)]
    path = write("\n".join(["voter,instance,alternatives", *rows]))
    _, _, ticks = columns_of(path, joined_by="|")
    found = [ticks.texts[number] for number in ticks.lists.values]
    assert found == [f"name{a}" for ticked in lists for a in ticked]
    assert ticks.texts == list(dict.fromkeys(found))
    plain, usual = both(path, monkeypatch)
    assert plain == usual


@pytest.mark.parametrize(
    "cells",
    [
        ("a|b", "[c|d]"),
        ("[c|d]", "[d]"),
        ("a | b", "b | c"),
        ("a | b", "b|c"),
        ("a | b", "b |c"),
        ("(a|b", "c"),
        ("a|NA", "NA"),
        (" NA |a", "b"),
        ("a|b", " "),
        ("a|b", ""),
        ("a|a|b", "b"),
        ("a|b", "a;b"),
        ('"a|b"', "b"),
        ("a|b", "bc" * 50 + "|a|" + "d" * 40),
        ("a|b", "x|" * 80),
    ],
)
@pytest.mark.parametrize(
    "options",
    [{}, {"separator": "|"}, {"separator": ";"}, {"missing": "NA"}, {"blank": "missing"}, {"format": "crowd-kit"}],
)
def test_how_cells_are_split_is_told_alike(write, monkeypatch, cells, options):
    for order in (cells, cells[::-1]):
        rows = "".join(f"v{k},q1,{cell}\n" for k, cell in enumerate(order))
        plain, usual = both(write("voter,instance,alternatives\n" + rows), monkeypatch, **options)
        assert plain == usual


@pytest.mark.parametrize(
    "text",
    [
        SIMPLE,
        SIMPLE.rstrip("\n"),
        SIMPLE.replace("\n", "\r\n"),
        SIMPLE.replace("\n", "\r\n").rstrip(),
        SIMPLE.replace("\n", "\r\n").rstrip("\n"),
        "\ufeff" + SIMPLE,
        "\n\n" + SIMPLE,
        "sep=,\n" + SIMPLE,
        SIMPLE.replace(",", ";"),
        SIMPLE.replace(",", "\t"),
        SIMPLE.replace("ann", "x" * 100),
        SIMPLE.replace("bo", '"bo"'),
        SIMPLE.replace("voter", '"voter"'),
        SIMPLE.replace("bo,q1,", 'bo,q1,""'),
        SIMPLE.replace("q2,b", '"q2","b"').rstrip(),
        SIMPLE.replace("q2,b", '"q2","b"').replace("\n", "\r\n"),
        "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in SIMPLE.splitlines()),
    ],
)
@pytest.mark.parametrize("n_threads", ["1", "2", "5"])
def test_plain_text_is_read_as_such(write, monkeypatch, text, n_threads):
    monkeypatch.setenv("EPIVOTE_THREADS", n_threads)
    path = write(text)
    assert columns_of(path) is not None
    plain, usual = both(path, monkeypatch)
    assert plain == usual
    name = "x" * 100 if "x" * 100 in text else "ann"
    assert ballots_of(read_export(path)) == {(name, "q1"): {"a", "b"}, ("bo", "q1"): set(), (name, "q2"): {"b"}}


@pytest.mark.parametrize(
    "text",
    [
        SIMPLE.replace("bo", '"b""o"'),
        SIMPLE.replace("bo", 'b"o'),
        SIMPLE.replace("bo", 'b"o"'),
        SIMPLE.replace("bo", '"bo" '),
        SIMPLE.replace("bo", ' "bo"'),
        SIMPLE.replace("bo", '"b\no"'),
        SIMPLE.replace("bo", '"b\r\no"'),
        SIMPLE.replace("bo", '"bo'),
        SIMPLE.replace("bo", '"bo').rstrip(),
        SIMPLE.replace("bo", '"bo"""'),
        SIMPLE.replace("bo,q1,", '"","",""'),
        SIMPLE.replace("voter", '"vo\nter"'),
        SIMPLE + "\n",
        SIMPLE.replace("bo,", "\nbo,"),
        SIMPLE.replace("bo,q1,", ",,"),
        SIMPLE.replace("bo,q1,", "bo,q1"),
        SIMPLE.replace("bo,q1,", "bo,q1,,"),
        SIMPLE.replace("bo", "b\ro"),
        SIMPLE + "cy,q1,a\r",
        SIMPLE.encode().replace(b"bo", b"b\xff"),
    ],
)
def test_what_is_not_plain_is_read_or_refused_as_usual(write, monkeypatch, text):
    path = write(text)
    is_plain_after_all = text == SIMPLE + "cy,q1,a\r"  # the line feed that the last row may lack
    assert (columns_of(path) is not None) == is_plain_after_all
    plain, usual = both(path, monkeypatch)
    assert plain == usual


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (SIMPLE.replace("bo,", ","), {}),
        (SIMPLE.replace("q2", ""), {}),
        (SIMPLE + "ann,q1,b\n", {}),
        (SIMPLE + "ann,q1,b\n", {"duplicates": "last"}),
        (SIMPLE, {"alternatives": ["a", "c"]}),
        (SIMPLE, {"alternatives": ["b", "a", "c"]}),
        (SIMPLE, {"blank": "missing"}),
        (SIMPLE.replace("q2,b", "q2, NA "), {"missing": "NA"}),
        (SIMPLE.replace("q2,b", "q2,[]"), {}),
        (SIMPLE.replace("a|b", "[a"), {}),
        (SIMPLE.replace("a|b", "a;b").replace("q2,b", "q2,b;a"), {}),
        (SIMPLE.replace("voter", "annotator"), {}),
        (SIMPLE.replace("alternatives", "labels"), {"voter": "instance", "instances": "voter"}),
        (SIMPLE, {"voter": "voter", "instances": "voter"}),
        ("voter,instance,item,alternatives\nann,q1,i,a\nann,q1,j,b\n", {}),
        ("voter,instance,multiplicity,alternatives\nann,q1,3,a\nbo,q1,1,b\n", {}),
        ("voter,instance,alternative\nann,q1,a\nann,q1,b\n", {}),
        ("voter,instance,a,b\nann,q1,1,0\nbo,q1,0,1\n", {}),
    ],
)
def test_options_and_errors_are_the_usual_ones(write, monkeypatch, text, options):
    plain, usual = both(write(text), monkeypatch, **options)
    assert plain == usual


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.integers(1, 3), st.integers(170, 400), st.sets(st.integers(0, 120)))
def test_any_rows_are_read_alike(tmp_path_factory, rows, line_end, n_threads, chunk, quoted):
    path = tmp_path_factory.mktemp("plain") / "t.csv"
    cells = [cell for row in [("voter", "instance", "alternatives", "more"), *rows] for cell in row]
    cells = [f'"{cell},"' if place in quoted else cell for place, cell in enumerate(cells[:-4])] + cells[-4:]
    cells[:4] = (
        f'"{cell}"' if place in quoted else cell
        for place, cell in enumerate(("voter", "instance", "alternatives", "more"))
    )
    lines = [*(",".join(cells[k : k + 4]) for k in range(0, len(cells), 4)), ""]
    path.write_bytes(line_end.join(lines).encode())
    with pytest.MonkeyPatch.context() as context:
        context.setenv("EPIVOTE_THREADS", str(n_threads))
        context.setattr(plain_text, "CHUNK", chunk)
        plain, usual = both(path, context, duplicates="first")
        assert columns_of(path) is not None
    assert plain == usual


@pytest.mark.parametrize("cell", ['"a,nn"', '","', '"ann,"', '",,,"'])
def test_separators_inside_quotes_are_part_of_a_name(write, monkeypatch, cell):
    path = write(SIMPLE.replace("ann", cell))
    voters, _, _ = columns_of(path)
    assert voters.texts == [cell.strip('"'), "bo"]
    plain, usual = both(path, monkeypatch)
    assert plain == usual


def test_rows_longer_than_what_is_read_at_a_time_are_left_to_others(write, monkeypatch):
    monkeypatch.setattr(plain_text, "CHUNK", 40)
    assert columns_of(write(SIMPLE)) is not None
    assert columns_of(write(SIMPLE.replace("ann", "a" * 40))) is None


def test_many_rows_in_many_pieces(write, monkeypatch):
    monkeypatch.setattr(plain_text, "CHUNK", 1000)
    rng = np.random.default_rng(5)
    rows = [
        f"v{rng.integers(300)},i{k // 4},{'|'.join(f'a{a}' for a in rng.permutation(9)[: k % 5])}"
        for k in range(20_000)
    ]
    plain, usual = both(write("\n".join(["voter,instance,alternatives", *rows])), monkeypatch, duplicates="first")
    assert plain == usual
    assert plain[0].n_ballots > 19_000


@pytest.mark.parametrize("text", ["voter,instance,alternatives", "voter,instance,alternatives\n"])
def test_a_file_without_rows_is_left_to_others(write, text):
    assert columns_of(write(text)) is None


def test_small_files_and_files_without_loops_are_left_to_others(write, monkeypatch):
    with open_source(write(SIMPLE)) as source:
        table = TextTable(source)
        monkeypatch.setattr(plain_text, "has_loops", lambda: False)
        assert not is_large(table)
        monkeypatch.setattr(plain_text, "has_loops", lambda: True)
        monkeypatch.setattr(plain_text, "LARGE", len(SIMPLE))
        assert is_large(table)
        monkeypatch.setattr(plain_text, "LARGE", len(SIMPLE) + 1)
        assert not is_large(table)


def test_an_interrupt_does_not_wait_for_the_rest_of_the_file(write, monkeypatch):
    monkeypatch.setattr(plain_text, "CHUNK", 40)
    monkeypatch.setenv("EPIVOTE_THREADS", "2")
    path = write(SIMPLE + "ann,q3,b\nann,q4,b\n" * 10_000)
    added, usual = [], plain_text._FilePart.add

    def add(part, buffer, length):
        added.append(length)
        if len(added) == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.001)  # so that the main thread has its turn
        return usual(part, buffer, length)

    monkeypatch.setattr(plain_text._FilePart, "add", add)
    with pytest.raises(KeyboardInterrupt):
        columns_of(path)
    assert len(added) < 2_000  # of about 9,000
