"""Where text comes from: a file, a compressed one, one in UTF-16, a pipe, standard input.

Whatever it was, readers see a plain file in UTF-8 and the name by which the user knows it.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from epivote.errors import FileError, reason

PathLike = str | Path
STANDARD_INPUT = "-"
GZIP, ZIP, PARQUET = b"\x1f\x8b", b"PK", b"PAR1"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
T = TypeVar("T")


@dataclass(frozen=True)
class SourceFile:
    """`name` for messages; `path` of a plain UTF-8 (or binary) file, or of a folder; `suffix` without `.gz`.

    `parsed` holds what `once` was asked for, so that recognising a format and reading it parse the file together once.
    """

    name: str
    path: Path
    suffix: str
    parsed: dict[Callable[[SourceFile], Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, parse: Callable[[SourceFile], T]) -> T:
        """The result of `parse(self)`, computed at the first call and remembered."""
        if parse not in self.parsed:
            self.parsed[parse] = parse(self)
        found: T = self.parsed[parse]
        return found

    @property
    def stem(self) -> str:
        """The name without folders and endings."""
        name = Path(self.name).name
        for ending in (".gz", self.suffix):
            name = name[: -len(ending)] if ending and name.lower().endswith(ending) else name
        return name or self.name

    def __str__(self) -> str:
        """As the user knows it."""
        return self.name

    def start(self, count: int = 4096) -> bytes:
        """The first bytes; none of a folder."""
        return b"" if self.path.is_dir() else _first_bytes(self.path, count)

    def text(self) -> str:
        """All of it, line ends as they are."""
        if self.path.is_dir():
            raise FileError(f"{self.name} is a folder; name a file in it")
        try:
            return self.path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise not_utf8(self) from None


def not_utf8(source: SourceFile) -> FileError:
    """The error for text in another encoding: where it shows, and how it would read as Windows writes text."""
    with source.path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                near = line[max(0, error.start - 12) : error.end + 12].decode("cp1252", errors="replace").strip()
                return FileError(
                    f"{source}, line {number}: this is not UTF-8 text; if {near!r} is right, add --encoding "
                    "windows-1252, else save the file with encoding UTF-8"
                )
    return FileError(f"{source} is not UTF-8 text; save it with encoding UTF-8")


@contextmanager
def open_source(given: str | Path, encoding: str | None = None) -> Iterator[SourceFile]:
    """The source behind a path or `-`; what is not a plain file is copied into one that is gone afterwards."""
    name = "standard input" if str(given) == STANDARD_INPUT else str(given)
    path = Path(given)
    with tempfile.TemporaryDirectory(prefix="epivote-") as folder:
        try:
            plain = _plain(path, name, Path(folder), encoding)
        except FileNotFoundError:
            raise FileError(f"{name} does not exist") from None
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise FileError(f"{name} is compressed but damaged; copy it again") from None
        except OSError as error:
            raise FileError(f"cannot read {name}: {reason(error)}") from None
        yield SourceFile(name, plain, _suffix(path, plain))


def _suffix(path: Path, plain: Path) -> str:
    """The ending of the name; JSON is told from its first letter, whatever it is called."""
    name = path.name.lower().removesuffix(".gz")
    ending = ".abc.yaml" if name.endswith(".abc.yaml") else Path(name).suffix
    if plain.is_dir() or ending in (".csv", ".tsv", ".abc.yaml", ".jsonl", ".ndjson"):
        return ending
    begins = _first_bytes(plain, 4096).removeprefix(codecs.BOM_UTF8).lstrip()
    if begins.startswith(b"{"):
        return ".jsonl"
    return ".json" if re.match(rb"\[\s*[{\]]", begins) else ending


def _plain(path: Path, name: str, folder: Path, encoding: str | None) -> Path:
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            raise FileError("standard input is closed; name a file, or pipe the ballots in")
        path = _copy(sys.stdin.buffer, folder / "input")
    elif not path.is_file() and not path.is_dir():
        with path.open("rb") as pipe:
            path = _copy(pipe, folder / "input")
    if path.is_dir():
        return path
    if _first_bytes(path, 2) == GZIP:
        with gzip.open(path) as packed:
            path = _copy(packed, folder / "unpacked")
    if encoding is not None:
        path = _transcode(path, name, folder / "text", encoding)
    elif _first_bytes(path, 2) in UTF_16:
        path = _transcode(path, name, folder / "text", "utf-16")
    return _with_line_ends(path, folder / "lines")


def _with_line_ends(path: Path, target: Path) -> Path:
    """The same file; lines that end as on old Macintoshes end as everywhere else."""
    begins = _first_bytes(path, 1 << 16)
    if b"\r" not in begins or b"\n" in begins or begins.startswith((ZIP, PARQUET)):
        return path
    target.write_bytes(path.read_bytes().replace(b"\r", b"\n"))
    return target


def _first_bytes(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def _copy(file: IO[bytes] | gzip.GzipFile, target: Path) -> Path:
    with target.open("wb") as copy:
        shutil.copyfileobj(file, copy, 1 << 20)
    return target


def _transcode(path: Path, name: str, target: Path, encoding: str) -> Path:
    try:
        with path.open(encoding=encoding, newline="") as text, target.open("w", encoding="utf-8", newline="") as copy:
            while chunk := text.read(1 << 20):
                copy.write(chunk)
    except LookupError:
        raise FileError(f"there is no encoding {encoding!r}; correct --encoding (such as windows-1252)") from None
    except UnicodeError:
        if encoding == "utf-16":
            raise FileError(f"{name} begins as UTF-16 text but is damaged; save it with encoding UTF-8") from None
        raise FileError(f"{name} is not text in {encoding}; correct --encoding") from None
    return target


def lines_of(source: SourceFile) -> Iterator[tuple[int, str]]:
    """Number and text of every line."""
    return enumerate(io.StringIO(source.text()), start=1)
