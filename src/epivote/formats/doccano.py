"""doccano's export of a classification project: a folder or zip with one file per member."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from epivote.errors import EpivoteError, FileError
from epivote.formats.export import Collector, read_json, read_json_lines, records
from epivote.formats.reading import Reading
from epivote.formats.source import ZIP, SourceFile
from epivote.formats.text_table import TextTable

MEMBER_ENDINGS = (".jsonl", ".json", ".csv")
LABELS = ("label", "labels", "cats")
"""Fields of labels; `cats` in projects of intent detection, whose `label`, if any, is spans."""
SHARED = "all"
"""The name of the only file of a project whose annotations are shared."""


def read_doccano(source: SourceFile, reading: Reading) -> Collector:
    """A member's labels of an example are a ballot, the file's name is the voter.

    An example without labels may never have been opened: it counts as a missing ballot unless `blank` says it is empty.
    """
    found = Collector(source, reading)
    if source.path.is_dir():
        _members(found, source.path)
    elif source.start(2) == ZIP:
        with TemporaryDirectory(prefix="epivote-") as folder:
            try:
                with zipfile.ZipFile(source.path) as packed:
                    packed.extractall(folder)
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
                raise FileError(f"{source} cannot be unpacked ({error}); download it again") from None
            _members(found, Path(folder))
    else:
        raise FileError(f"{source} is one file without annotators; give the folder or zip with one file per member")
    return found


def is_doccano(folder: Path) -> bool:
    """Whether a folder holds files of members: their first example has labels."""
    return any(_begins_with_example(SourceFile(file.name, file, file.suffix)) for file in _files(folder))


def _begins_with_example(member: SourceFile) -> bool:
    try:
        _, first = next(_examples(member), ("", dict[str, Any]()))
    except EpivoteError:
        return member.suffix == ".jsonl"
    return any(name in first for name in LABELS) or member.suffix == ".jsonl"


def _files(folder: Path) -> list[Path]:
    inside = [*folder.glob("*"), *folder.glob("*/*")]
    return sorted(
        file for file in inside if file.suffix in MEMBER_ENDINGS and not file.name.startswith(".") and file.is_file()
    )


def _members(found: Collector, folder: Path) -> None:
    files = _files(folder)
    if not files:
        raise FileError(f"{found.source} holds no .jsonl, .json or .csv file; export the project again")
    members = [file for file in files if file.stem != SHARED]
    if not members:
        raise FileError(
            f"{found.source} holds only {files[0].name}, which does not say who labelled what; "
            "turn off sharing of annotations, or export the members one by one"
        )
    if len(members) < len(files):
        found.remarks[f"{SHARED}{files[0].suffix} does not say who labelled what and was left out"] = 1
    for file in members:
        member = SourceFile(f"{found.source} ({file.name})", file, file.suffix)
        for place, example in _examples(member):
            _example(found, file.stem, example, f"{file.name}, {place}")


def _examples(member: SourceFile) -> Iterator[tuple[str, dict[str, Any]]]:
    if member.suffix == ".jsonl":
        return ((f"line {number}", record) for number, record in read_json_lines(member))
    if member.suffix == ".json":
        rows = records(read_json(member), member)
        return ((f"record {number}", record) for number, record in enumerate(rows, start=1))
    table = TextTable(member)
    rows = table.frame.to_dicts()
    for row in rows:
        if "label" in row:
            row["label"] = [] if row["label"] is None else row["label"].split("#")
    return ((f"line {line}", row) for line, row in zip(table.lines, rows, strict=True))


def _labels(found: Collector, example: dict[str, Any], place: str) -> list[object]:
    fields = [example[name] for name in ("cats", "label", "labels") if name in example]
    if not fields:
        raise FileError(f"{found.source}, {place}: it has none of {', '.join(LABELS)}; only classification can be read")
    labels = fields[0]
    if not isinstance(labels, list) or any(isinstance(label, (list, dict)) for label in labels):
        raise FileError(f"{found.source}, {place}: {labels!r} is not a list of labels; only classification can be read")
    return labels


def _example(found: Collector, voter: str, example: dict[str, Any], place: str) -> None:
    labels = _labels(found, example, place)
    instance = example.get("id", example.get("text", example.get("filename")))
    if instance is None:
        raise FileError(f"{found.source}, {place}: it has no id, text or filename that identifies the example")
    if not labels:
        if found.reading.blank != "empty":
            found.remark(
                "an example without labels may never have been opened and counts as a missing ballot; to count it as "
                "an empty one, export only confirmed examples and add --blank empty"
            )
            return
        found.remark("an example without labels counts as an empty ballot")
    found.add(voter, instance, labels, place)
