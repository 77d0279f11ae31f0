"""Arrays and names in one file that is checked whenever it is read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from epivote.data.names import IntArray
from epivote.errors import FileError, reason

# numpy has a header parsed by Python, which up to 3.11 may fail with SystemError in several threads at once
# (https://github.com/python/cpython/issues/106905).
ONE_HEADER_AT_A_TIME = Lock()


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """One `.npz` file; `numpy.load` opens it too."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            npy.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            file.writestr(f"{name}.npy", buffer.getbuffer())


def read_arrays(path: Path, *names: str) -> list[NDArray[Any]]:
    """Some arrays of such a file; their checksums are compared before anything is believed."""
    with _opened(path, "pack the ballots again") as file:
        return [_array(file.read(f"{name}.npy")) for name in names]


def read_all(path: Path, remedy: str) -> dict[str, NDArray[Any]]:
    """All arrays of such a file; `remedy` says what to do if it is damaged."""
    with _opened(path, remedy) as file:
        return {name.removesuffix(".npy"): _array(file.read(name)) for name in file.namelist()}


def stored_checksums(path: Path) -> list[tuple[str, int, int]]:
    """Name, size and checksum of every array of such a file, as its table of contents has them; no array is read."""
    with _opened(path, "pack the ballots again") as file:
        return [(entry.filename, entry.file_size, entry.CRC) for entry in file.infolist()]


@contextmanager
def _opened(path: Path, remedy: str) -> Iterator[zipfile.ZipFile]:
    """The file, and whatever goes wrong with it in words."""
    try:
        with zipfile.ZipFile(path) as file:
            yield file
    except FileNotFoundError as error:
        raise FileError(f"{path} is missing; {remedy}") from error
    except (zipfile.BadZipFile, KeyError, EOFError, ValueError, NotImplementedError) as error:
        raise FileError(f"{path} is damaged ({_reason(error)}); {remedy}") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}") from error


def names_as_arrays(what: str, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Names as one long text and the length of each."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    return {
        f"{what}_text": np.frombuffer(b"".join(encoded), np.uint8),
        f"{what}_length": np.fromiter(map(len, encoded), np.uint32, len(encoded)),
    }


def read_names(path: Path, what: str, rows: IntArray | None = None) -> tuple[str, ...]:
    """Names written so, or some of them."""
    text, length = read_arrays(path, f"{what}_text", f"{what}_length")
    whole, end = text.tobytes(), np.cumsum(length, dtype=np.int64)
    begin = end - length
    if rows is not None:
        begin, end = begin[rows], end[rows]
    pairs = zip(begin.tolist(), end.tolist(), strict=True)
    return tuple(whole[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairs)


def _array(data: bytes) -> NDArray[Any]:
    stream = io.BytesIO(data)
    npy.read_magic(stream)
    with ONE_HEADER_AT_A_TIME:
        shape, fortran, kind = npy.read_array_header_1_0(stream)
    if fortran or kind.hasobject:
        raise ValueError("not an array of numbers")
    return np.frombuffer(data, kind, offset=stream.tell()).reshape(shape)


def _reason(error: Exception) -> str:
    if "CRC" in str(error):
        return "its checksum does not match"
    return "it is cut short or is not a packed file" if isinstance(error, zipfile.BadZipFile) else str(error)
