"""Prodigy's JSONL of a `choice` task with several answers, one record per annotation."""

from __future__ import annotations

from epivote.errors import FileError
from epivote.formats.export import Collector, read_json_lines
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile


def read_prodigy(source: SourceFile, reading: Reading) -> Collector:
    """`accept` counts as an answer, with nothing accepted as an empty ballot; `ignore` and `reject` as none."""
    found = Collector(source, reading)
    for number, record in read_json_lines(source):
        instance = record.get("_input_hash", record.get("_task_hash"))
        voter = record.get("_annotator_id") or record.get("_session_id") or source.stem
        if instance is None:
            raise FileError(f"{source}, line {number}: there is neither _input_hash nor _task_hash to tell the item by")
        options = found.names([option.get("id") for option in record.get("options") or []], f"line {number}")
        known = found.menu.get(str(instance), ())
        found.menu[str(instance)] = tuple(dict.fromkeys((*known, *options)))
        answer = record.get("answer", "accept")
        if answer != "accept":
            found.remark(f"an answer {answer!r} was taken as no ballot")
            continue
        found.add(voter, instance, record.get("accept") or [], f"line {number}", record.get("_timestamp"))
    answered = {instance for _, instance in found.ballots}
    found.menu = {instance: menu for instance, menu in found.menu.items() if instance in answered and menu}
    if set(found.menu) != answered:
        found.menu = {}
    return found
