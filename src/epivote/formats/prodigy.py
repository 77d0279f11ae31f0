"""Prodigy's JSONL: a `choice` task with several answers, or accept and reject of one label at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from epivote.data.names import listing
from epivote.errors import BallotError, ColumnError, FileError
from epivote.formats.export import Collector, read_json_lines
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile

RecordKind = Literal["choice", "binary", "spans", "bare"]


def read_prodigy(source: SourceFile, reading: Reading) -> Collector:
    """Read `choice` records as ballots, accept and reject of a label as an approval or a rejection of that label."""
    kinds: dict[RecordKind, int] = {}
    for number, record in read_json_lines(source):
        if record.get("answer") != "ignore":
            kinds.setdefault(kind_of(record), number)
    if "choice" in kinds or not kinds:
        return _choices(source, reading)
    if "binary" in kinds or (len(_named(reading)) == 1 and "spans" not in kinds):
        return _labels(source, reading)
    if "spans" in kinds:
        raise FileError(
            f"{source}, line {kinds['spans']}: it marks spans of a text, which are not ballots; only choice tasks and "
            "tasks that accept or reject one label can be read"
        )
    raise FileError(
        f"{source}: no record has options, accept or label, so the label that was accepted is unknown; name it with "
        "--alternatives LABEL, or export a choice task"
    )


def is_prodigy(record: dict[str, Any]) -> bool:
    """Whether a record is one of Prodigy's."""
    answered = record.get("answer") in ("accept", "reject", "ignore") and "accept" not in record
    return bool({"_input_hash", "_task_hash"} & record.keys()) or answered or isinstance(record.get("accept"), list)


def kind_of(record: dict[str, Any]) -> RecordKind:
    """What a record is: a list to tick from, one label to accept or reject, marked spans, or a mere answer."""
    if "options" in record or "accept" in record:
        return "choice"
    if isinstance(record.get("label"), str):
        return "binary"
    return "spans" if record.get("spans") else "bare"


def _choices(source: SourceFile, reading: Reading) -> Collector:
    """`accept` counts as an answer, with nothing accepted as an empty ballot; `ignore` and `reject` as none."""
    found = Collector(source, reading)
    for number, record in read_json_lines(source):
        voter, instance, place = _who_and_what(record, source, number)
        options = found.names([option.get("id") for option in record.get("options") or []], place)
        known = found.menu.get(str(instance), ())
        found.menu[str(instance)] = tuple(dict.fromkeys((*known, *options)))
        answer = record.get("answer", "accept")
        if answer != "accept":
            found.remark(f"an answer {answer!r} counts as a missing ballot")
            continue
        found.add(voter, instance, record.get("accept") or [], place, record.get("_timestamp"))
    answered = {instance for _, instance in found.ballots}
    found.menu = {instance: menu for instance, menu in found.menu.items() if instance in answered and menu}
    if set(found.menu) != answered:
        found.menu = {}
    return found


@dataclass(frozen=True)
class Verdict:
    """Whether a voter accepted a label, when and where the file says so."""

    accepted: bool
    stamp: object
    place: str


Verdicts = dict[tuple[str, str], dict[str, Verdict]]
"""By voter and instance, the verdict on every label that was accepted or rejected."""


def _labels(source: SourceFile, reading: Reading) -> Collector:
    """One ballot per voter and input from all labels it was asked about; labels never asked are not on its menu."""
    found = Collector(source, reading)
    verdicts = _verdicts(found)
    menus: dict[str, dict[str, None]] = {}
    for (_, instance), labels in verdicts.items():
        menus.setdefault(instance, {}).update(dict.fromkeys(labels))
    for (voter, instance), labels in verdicts.items():
        if labels.keys() == menus[instance].keys():
            place = next(iter(labels.values())).place
            found.add(voter, instance, [name for name, verdict in labels.items() if verdict.accepted], place)
        else:
            found.remark(
                "a voter who was asked about only some labels of an instance was left out on that instance; "
                "--alternatives LABEL reads one label alone"
            )
    answered = {instance for _, instance in found.ballots}
    menus = {instance: labels for instance, labels in menus.items() if instance in answered}
    asked = list(dict.fromkeys(name for labels in menus.values() for name in labels))
    if all(len(labels) == len(asked) for labels in menus.values()):
        found.alternatives = dict.fromkeys(asked)
    else:
        found.menu = {instance: tuple(labels) for instance, labels in menus.items()}
        found.remarks["a label is offered only on instances where somebody accepted or rejected it"] = 1
    found.remarks[
        f"accept was taken as a tick of the label ({listing(asked, 5)}) and reject as a ballot without it; sets may be "
        "empty, so --size should begin with 0"
    ] = 1
    return found


def _verdicts(found: Collector) -> Verdicts:
    wanted, seen = _named(found.reading), dict[str, None]()
    verdicts: Verdicts = {}
    for number, record in read_json_lines(found.source):
        voter, instance, place = _who_and_what(record, found.source, number)
        (label,) = found.names(record.get("label") or wanted[:1], place) or (None,)
        answer = record.get("answer", "accept")
        if label is None:
            raise FileError(f"{found.source}, {place}: it does not say which label was accepted or rejected (label)")
        seen[label] = None
        if wanted and label not in wanted:
            found.remark("a record about a label that --alternatives does not name was ignored")
        elif answer not in ("accept", "reject"):
            found.remark(f"an answer {answer!r} counts as a missing ballot")
        else:
            key = found.name(voter, "voter", place), found.name(instance, "instance", place)
            verdict = Verdict(answer == "accept", record.get("_timestamp"), place)
            _keep(found, verdicts.setdefault(key, {}), key, label, verdict)
    if wanted and not seen.keys() & set(wanted):
        raise ColumnError(
            f"{found.source} holds no record about {listing(wanted, 5)}; its labels are {listing(list(seen), 10)}"
        )
    return verdicts


def _keep(found: Collector, labels: dict[str, Verdict], key: tuple[str, str], label: str, new: Verdict) -> None:
    """Of two verdicts the one the user asked for, else the later one; twice the same is one."""
    old = labels.get(label)
    if old is not None and old.accepted != new.accepted and found.reading.duplicates == "error":
        if old.stamp is None or new.stamp is None:
            raise BallotError(
                f"{found.source}, {new.place}: voter {key[0]!r} both accepted and rejected {label!r} on instance "
                f"{key[1]!r} ({old.place}); remove one, or keep one with --duplicates first or last"
            )
        found.remark("earlier answers of a voter about the same label were replaced by later ones")
        if str(new.stamp) < str(old.stamp):
            return
    if old is None or found.reading.duplicates != "first":
        labels[label] = new


def _named(reading: Reading) -> list[str]:
    return [] if reading.alternatives is None else list(reading.alternatives)


def _who_and_what(record: dict[str, Any], source: SourceFile, number: int) -> tuple[object, object, str]:
    """Voter, instance and place of a record."""
    instance = record.get("_input_hash", record.get("_task_hash"))
    voter = record.get("_annotator_id") or record.get("_session_id") or source.stem
    if instance is None:
        raise FileError(f"{source}, line {number}: it has no _input_hash or _task_hash that identifies the instance")
    return voter, instance, f"line {number}"
