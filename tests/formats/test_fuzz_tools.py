"""Exports of annotation tools, damaged at random: readers raise nothing but our errors, in one sentence.

`EPIVOTE_FUZZ=400000 pytest -m slow tests/formats/test_fuzz_tools.py` tries as many inputs.
"""

import json
import os
import random
from pathlib import Path

import polars as pl
import pytest

from epivote import EpivoteError, read_export

CASES = Path(__file__).parent.parent / "cases"
NAMES = ("prodigy*", "label-studio*", "argilla*", "tools/prodigy*", "tools/label-studio*", "tools/argilla*")
KINDS = (None, None, None, "prodigy", "label-studio", "label-studio-min", "argilla", "doccano")
TOKENS = (b"", b'"', b"'", b"\n", b",", b"[", b"]", b"{", b"}", b":", b"null", b"1e999", b"[]", b"{}", b"\x00", b"\xff")
VALUES = (None, True, 0, -1, 2.5, "", "x", [], {}, [[]], [None], ["a", ["b", "c"]], {"choices": "a"}, {"user_id": 1})
INPUTS = int(os.environ.get("EPIVOTE_FUZZ", "4000"))  # as many as take about half a minute
PARTS = 4  # so that none runs into the limit on a test


def files():
    found = {path.name: path.read_bytes() for pattern in NAMES for path in CASES.glob(pattern) if path.is_file()}
    for path in (CASES / "tools").glob("doccano-*/*"):
        found[f"{path.parent.name}/{path.name}"] = path.read_bytes()
    return found


def cut(data, chance):
    """Bytes replaced at one to three places."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.choice(TOKENS) + data[at + chance.randint(0, 9) :]
    return data


def bent(value, chance):
    """A JSON value with one part of it replaced, dropped or doubled."""
    if not isinstance(value, (list, dict)) or not value or chance.random() < 0.15:
        return chance.choice(VALUES)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = chance.choice(list(keys))
    copy = dict(value) if isinstance(value, dict) else list(value)
    if chance.random() < 0.15:
        del copy[key]
    elif isinstance(copy, list) and chance.random() < 0.1:
        copy.append(copy[key])
    else:
        copy[key] = bent(copy[key], chance)
    return copy


def mutated(name, data, chance):
    if name.endswith((".json", ".jsonl")) and chance.random() < 0.7:
        if name.endswith(".json"):
            return json.dumps(bent(json.loads(data), chance)).encode()
        lines = data.splitlines()
        at = chance.randrange(len(lines))
        lines[at] = json.dumps(bent(json.loads(lines[at]), chance)).encode()
        return b"\n".join(lines)
    return cut(data, chance)


def options(chance):
    given = {}
    if chance.random() < 0.4:
        given["question"] = chance.choice(["birds", "kind", "traits", "x"])
    if chance.random() < 0.2:
        given["blank"] = chance.choice(["empty", "missing"])
    if chance.random() < 0.2:
        given["duplicates"] = chance.choice(["first", "last"])
    if chance.random() < 0.1:
        given["alternatives"] = chance.choice([["owl"], ["BIRD", "owl"], ["robin", "wren", "owl"]])
    return given


def as_parquet(path):
    """The same records in Parquet, where they fit one table."""
    try:
        pl.read_ndjson(path).write_parquet(path.with_suffix(".parquet"))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return path
    return path.with_suffix(".parquet")


def try_one(seed, folder, originals):
    chance = random.Random(seed)
    name = chance.choice(list(originals))
    path = folder / name
    for each in originals:
        if each == name or ("/" in each and each.startswith(f"{path.parent.name}/")):
            (folder / each).parent.mkdir(exist_ok=True)
            (folder / each).write_bytes(originals[each])
    path.write_bytes(mutated(name, originals[name], chance))
    if name == "argilla.jsonl" and chance.random() < 0.3:
        path = as_parquet(path)
    whole_folder = "/" in name and chance.random() < 0.9
    message = ""
    try:
        read_export(path.parent if whole_folder else path, format=chance.choice(KINDS), **options(chance))
    except EpivoteError as error:
        message = str(error)
    except BaseException as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    assert "\n" not in message, f"seed {seed}: {message}"
    assert len(message) < 2_000, f"seed {seed}: {message}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_exports_of_tools(tmp_path, part):
    originals = files()
    assert len(originals) > 18
    for seed in range(part, INPUTS, PARTS):
        try_one(seed, tmp_path, originals)
