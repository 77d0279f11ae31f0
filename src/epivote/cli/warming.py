"""Compiled loops are made ready while a large file is read, so that the fit finds them there."""

from __future__ import annotations

from pathlib import Path

from epivote.formats.plain_text import WORTH_COMPILING
from epivote.formats.source import GZIP, PARQUET, ZIP
from epivote.kernels.compiling import WORTH_LOADING
from epivote.kernels.warm import warm_up

HEAD_BYTES = 1 << 16  # at the beginning of a file, which the rest is judged by: about 2,000 lines; a round number
COMPILED = ("auto", "em", "amle")  # methods that learn about voters, in compiled loops if there are many approvals


def warm_up_for(path: Path, method: str) -> None:
    """Begin to make loops ready if a fit by this method to the ballots of this file will use them."""
    if method in COMPILED and approvals_in(path) >= WORTH_LOADING:
        warm_up(soft=method != "amle", text=path.stat().st_size >= WORTH_COMPILING)


def approvals_in(path: Path) -> int:
    """About how many approvals a table of ballots holds, from its size in bytes and the lines at its beginning.

    A line has one approval, and one more for every `|`. That is right for the files that `convert` writes and for
    one tick a line, too low where ticks are separated otherwise or are columns of 0 and 1, and 0 for anything but a
    table of text: folders, pipes, compressed files, Parquet, JSON. Where it is too low the fit itself loads the loops,
    as it would without this; where it is too high another core has loaded them in vain.
    """
    if not path.is_file():
        return 0
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        size = path.stat().st_size
    except OSError:  # which reading will tell
        return 0
    is_text = not head.startswith((GZIP, ZIP, PARQUET)) and b"\0" not in head
    if not is_text or head.lstrip().startswith((b"{", b"[")):
        return 0
    return (head.count(b"\n") + head.count(b"|")) * size // max(1, len(head))
