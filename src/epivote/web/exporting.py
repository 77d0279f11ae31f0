"""What was collected as ordinary files, and the command that finds the same sets in them."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from epivote.web.estimation.collected import gold_to_learn, usable
from epivote.web.estimation.live import Live
from epivote.web.store import BallotRow
from epivote.web.store.store import Participant
from epivote.web.task import Task


@dataclass(frozen=True)
class CollectedFiles:
    """Files by name, ballots first, the command to aggregate them, and what had to be left out."""

    files: dict[str, str]
    command: str
    left_out: int


def export(rows: Sequence[BallotRow], task: Task, name: str = "ballots.csv") -> CollectedFiles:
    """Ballots under a name, and beside them what else is needed to find the same sets: menus, sizes and gold sets."""
    kept = usable(rows, task)
    place = {instance.name: number for number, instance in enumerate(task.instances)}
    ordered = sorted(kept, key=lambda row: place[row.instance])
    lines = [(row.voter, row.instance, "|".join(row.ticks)) for row in ordered]
    files = {name: table(("voter", "instance", "alternatives"), lines), **task_files(task)}
    return CollectedFiles(files, command_for({row.instance for row in kept}, task, name), len(rows) - len(kept))


def task_files(task: Task) -> dict[str, str]:
    """Menus, sizes and gold sets, where the task has any."""
    files = {}
    if task.menus is not None:
        files["menu.csv"] = sets_table(task.menus.items())
    if task.bounds.per_instance:
        own = [(each.name, str(each.size)) for each in task.instances if each.size != task.size]
        files["sizes.csv"] = table(("instance", "size"), own)
    if task.gold:
        files["gold.csv"] = sets_table((name, task.in_order(right)) for name, right in task.gold.items())
    return files


def command_for(answered: Collection[str], task: Task, name: str = "ballots.csv") -> str:
    """The command that finds the live page's sets in the exported files, given which instances were answered."""
    alternatives = "|".join(each.name for each in task.alternatives)
    command = ["epivote", "aggregate", name, "--size", str(task.size), "--alternatives", alternatives]
    if task.menus is not None:
        command += ["--menu", "menu.csv"]
    if task.bounds.per_instance:
        command += ["--sizes", "sizes.csv"]
    if gold_to_learn(answered, task):
        command += ["--gold", "gold.csv", "--gold-use", "learn"]
    return shlex.join([*command, "--method", task.method])


def participants_table(participants: Iterable[Participant], further: Mapping[str, Mapping[str, str]]) -> str:
    """Everybody with the times of coming and going and the number of ballots; `further` columns tell more of some."""
    rows = [
        (
            each.name,
            "person" if each.is_person else "program",
            moment_of(each.joined_at),
            "" if each.finished_at is None else moment_of(each.finished_at),
            each.ballots,
            *(told.get(each.name, "") for told in further.values()),
        )
        for each in participants
    ]
    return table(("voter", "kind", "joined", "finished", "ballots", *further), rows)


def truth_table(live: Live) -> str:
    """The live sets as `epivote aggregate` writes them."""
    rows = [(name, "|".join(found.answer), found.confidence) for name, found in live.sets.items()]
    return table(("instance", "alternatives", "confidence"), rows)


def sets_table(sets: Iterable[tuple[str, Iterable[str]]]) -> str:
    """A set per instance."""
    return table(("instance", "alternatives"), [(name, "|".join(members)) for name, members in sets])


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()


def moment_of(microseconds: int) -> str:
    """A moment as files tell it: `2026-11-17T09:00:00+00:00`."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="seconds")
