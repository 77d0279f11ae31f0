"""Damaged tables, surveys and crowd files, many of them and always the same: readers raise nothing but our errors.

`EPIVOTE_FUZZ=400000 pytest tests/formats/test_fuzz_tables.py` reads that many.
"""

import os
import random
from pathlib import Path

import pytest

from epivote import EpivoteError, read_export

CASES = Path(__file__).parent.parent / "cases"
FILES = [path for path in sorted(CASES.rglob("*")) if path.suffix in (".csv", ".tsv", ".txt") and path.is_file()]
FILES += [CASES / "ballots.json", CASES / "ballots.jsonl", CASES / "as-downloaded" / "nulls.jsonl"]
FORMATS = (
    *[None] * 20,
    "ballots",
    "ticks",
    "indicators",
    "matrix",
    "forms",
    "crowd-kit",
    "crowdflower",
    "mturk",
    "toloka",
)
PIECES = (
    b",",
    b";",
    b"|",
    b"\t",
    b'"',
    b'""',
    b"\n",
    b"\r\n",
    b"\r",
    b"/",
    b" ",
    b"[",
    b"]",
    b"[]",
    b"{}",
    b"\x00",
    b"\xff",
    b"\xe9",
)
PIECES += (
    b"sep=;\n",
    b"NA",
    b"Yes",
    b"x",
    b"1",
    b"0",
    b'{"ImportId":1}',
    b"_Part_1",
    b" - ",
    b"(choice=a)",
    b"___1",
    b"[a]",
    b"null",
)
PIECES += (
    b"voter",
    b"instance",
    b"labels",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\xa6\x89",
    b"e\xcc\x81",
    b"1e999",
    b"\\,",
    b"Approve,Reject",
)
OPTIONS = {
    "question": ("birds", "Answer.birds", "OUTPUT:result", "Q2", "*", "[", ""),
    "voter": ("voter", "WorkerId", "nobody"),
    "instances": ("instance", "text|labels", "INPUT:image|INPUT:place", "Q*", "?", "|", ""),
    "rows": ("voters", "instances"),
    "ticks": ("labels", "*", "alternatives"),
    "separator": (",", r"\n", ";", " ", "|", r"\t"),
    "none": ("robin",),
    "gold_row": ("ann",),
    "blank": ("missing", "empty"),
    "missing": ("NA", "|", "NA|n/a", "robin"),
    "encoding": ("windows-1252", "latin-1", "utf-16", "utf-8", "nonsense"),
    "alternatives": (["robin", "wren", "owl"], ["a, b", "a"]),
    "duplicates": ("first", "last"),
}
COUNT = int(os.environ.get("EPIVOTE_FUZZ", "1500"))  # files; as many as take some seconds


def damaged(data, draw):
    """A file with pieces put in, cut out, doubled or moved."""
    for _ in range(draw.choice((0, 1, 1, 2, 3, 6))):
        at, length = draw.randrange(len(data) + 1), draw.choice((0, 0, 1, 2, 5, 20, 80))
        piece = draw.choice(PIECES) if draw.random() < 0.8 else data[at : at + length]
        to = draw.randrange(len(data) + 1) if draw.random() < 0.2 else at
        data = data[:at] + data[at + length :] if draw.random() < 0.3 else data[:to] + piece + data[to + length :]
    if draw.random() < 0.1:
        lines = data.split(b"\n")
        draw.shuffle(lines)
        data = b"\n".join(lines)
    return data


@pytest.mark.slow
def test_damaged_tables_are_read_or_refused_in_one_sentence(tmp_path):
    draw = random.Random(18)
    texts = {path: path.read_bytes() for path in FILES}
    for number in range(COUNT):
        file = draw.choice(FILES)
        path = tmp_path / file.name
        path.write_bytes(damaged(texts[file], draw))
        options = {name: draw.choice(values) for name, values in OPTIONS.items() if draw.random() < 0.04}
        kind = draw.choice(FORMATS)
        said = ""
        try:
            read_export(path, format=kind, **options)
        except EpivoteError as error:
            said = str(error)
        except BaseException as error:
            pytest.fail(f"file {number}: {type(error).__name__}: {error}; {kind}, {options}, {path.read_bytes()!r}")
        assert "\n" not in said, number
