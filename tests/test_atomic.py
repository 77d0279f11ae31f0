"""Files appear whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from epivote import FileError
from epivote.atomic import write_files


def saying(text):
    return lambda path: path.write_text(text)


def test_all_files_are_put_in_place_and_nothing_else(tmp_path):
    (tmp_path / "one").write_text("old")
    write_files({tmp_path / "one": saying("new"), tmp_path / "deep" / "er" / "two": saying("2")})
    assert (tmp_path / "one").read_text() == "new"
    assert (tmp_path / "deep" / "er" / "two").read_text() == "2"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "er", "one", "two"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_files_have_the_rights_new_files_have_and_the_mask_stays(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_files({tmp_path / "one": saying("1")})
        now = os.umask(mask)
    finally:
        os.umask(before)
    assert now == mask
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_a_writer_that_fails_leaves_every_file_as_it_was(tmp_path, error):
    (tmp_path / "one").write_text("old")

    def fail(path):
        path.write_text("half")
        raise error

    expected = FileError if error is OSError else error
    with pytest.raises(expected):
        write_files({tmp_path / "one": saying("new"), tmp_path / "two": fail})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("one", "old")]


def test_a_writer_writes_hidden_beside_the_target(tmp_path):
    seen = []
    write_files({tmp_path / "table.csv": lambda path: (seen.append(path), path.write_text("x"))})
    assert seen[0].parent == tmp_path
    assert seen[0].name.startswith(".table.csv.")


def test_what_stands_in_the_way_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match=r"/file is a file; name a folder for one.csv$"):
        write_files({tmp_path / "file" / "one.csv": saying("1")})
    with pytest.raises(FileError, match=r"^cannot write .*/folder: it is a folder; choose another place$"):
        write_files({tmp_path / "new": saying("1"), tmp_path / "folder": saying("1")})
    with pytest.raises(FileError, match=r"^cannot write .*/file/deep/one: .*[Nn]ot a directory; choose another place$"):
        write_files({tmp_path / "file" / "deep" / "one": saying("1")})

    def full(path):
        raise OSError(28, "No space left on device")

    def odd(path):
        raise OSError("something odd")

    with pytest.raises(FileError, match=r"^cannot write .*/two: No space left on device; choose another place$"):
        write_files({tmp_path / "one": saying("1"), tmp_path / "two": full})
    with pytest.raises(FileError, match=r"^cannot write .*/two: something odd; choose"):
        write_files({tmp_path / "two": odd})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux tells which files are open")
def test_no_file_stays_open(tmp_path):
    write_files({tmp_path / f"{k}.csv": saying("x") for k in range(5)})
    assert [name for name in map(os.path.realpath, Path("/proc/self/fd").iterdir()) if str(tmp_path) in name] == []
