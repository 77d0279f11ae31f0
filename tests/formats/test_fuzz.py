"""Damaged files: whatever is in them, readers raise nothing but our errors, in one sentence."""

import contextlib
import gzip
import shutil
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import EpivoteError, read_export
from epivote.formats.detect import Format

CASES = Path(__file__).parent.parent / "cases"
FILES = sorted(path for path in CASES.rglob("*") if path.is_file())
FORMATS = [None, *get_args(Format)]
junk = st.one_of(
    st.binary(max_size=8),
    st.sampled_from(
        [b"", b'"', b"\n", b"\r\n", b",", b"|", b"[", b"]", b"{", b"}", b"\x00", b"\xff", b"null", b"1e999"]
    ),
)
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), junk), min_size=1, max_size=4)


def damaged(data, edits):
    for place, length, new in edits:
        at = round(place * len(data))
        data = data[:at] + new + data[at + length :]
    return data


def try_to_read(path, **options):
    message = ""
    try:
        read_export(path, **options)
    except EpivoteError as error:
        message = str(error)
    assert "\n" not in message


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(FILES), st.sampled_from(FORMATS), edits)
def test_mutated_case_files(tmp_path_factory, file, kind, edits):
    path = tmp_path_factory.mktemp("fuzz") / file.name
    path.write_bytes(damaged(file.read_bytes(), edits))
    try_to_read(path, format=kind)


@settings(max_examples=settings().max_examples)
@given(
    st.binary(max_size=60), st.sampled_from(FORMATS), st.sampled_from([".csv", ".tsv", ".json", ".jsonl", ".txt", ""])
)
def test_any_bytes(tmp_path_factory, data, kind, ending):
    path = tmp_path_factory.mktemp("fuzz") / f"x{ending}"
    path.write_bytes(data)
    try_to_read(path, format=kind)


@settings(max_examples=settings().max_examples // 2)
@given(edits)
def test_damaged_archives(tmp_path_factory, edits):
    folder = tmp_path_factory.mktemp("fuzz")
    archive = Path(shutil.make_archive(str(folder / "export"), "zip", CASES / "doccano"))
    archive.write_bytes(damaged(archive.read_bytes(), edits))
    try_to_read(archive)
    packed = folder / "b.csv.gz"
    packed.write_bytes(damaged(gzip.compress((CASES / "ballots.csv").read_bytes()), edits))
    try_to_read(packed)


@given(st.text(max_size=80), st.sampled_from(FORMATS))
def test_any_text(tmp_path_factory, text, kind):
    path = tmp_path_factory.mktemp("fuzz") / "x.csv"
    path.write_bytes(b"voter,instance,alternatives\n" + text.encode("utf-8", "surrogatepass"))
    try_to_read(path, format=kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_and_folders(tmp_path, kind):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(EpivoteError):
        read_export(tmp_path / "empty", format=kind)
    (tmp_path / "folder").mkdir()
    with pytest.raises(EpivoteError):
        read_export(tmp_path / "folder", format=kind)
    with pytest.raises(EpivoteError, match="does not exist"):
        read_export(tmp_path / "nowhere", format=kind)


def test_temporary_copies_are_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for data in (gzip.compress((CASES / "ballots.csv").read_bytes()), gzip.compress(b"nothing")):
        (tmp_path / "b.csv.gz").write_bytes(data)
        with contextlib.suppress(EpivoteError):
            read_export(tmp_path / "b.csv.gz")
        assert [path.name for path in tmp_path.iterdir()] == ["b.csv.gz"]
