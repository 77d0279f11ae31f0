"""What was collected as ordinary files, and the command that finds the same sets in them."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from epivote.web.estimation.collected import gold_to_learn
from epivote.web.estimation.live import Live
from epivote.web.store import BallotRow
from epivote.web.store.columns import BallotSource
from epivote.web.store.store import Participant
from epivote.web.task import Task

LINES_AT_ONCE = 2_000  # of the table of ballots, about 100 KB; a round number


@dataclass
class ExportedBallots:
    """Ballots that fit a task, as CSV in pieces; once all are taken, how many there were, and on which instances."""

    rows: Iterable[BallotRow]
    task: Task
    kept: int = 0
    answered: set[str] = field(default_factory=set)

    def __iter__(self) -> Iterator[str]:
        """The pieces."""
        yield table(("voter", "instance", "alternatives"), ())
        menus = {name: frozenset(instance.menu) for name, instance in self.task.by_name.items()}
        rows = iter(self.rows)
        while part := list(islice(rows, LINES_AT_ONCE)):
            kept = [row for row in part if row.instance in menus and menus[row.instance].issuperset(row.ticks)]
            self.kept += len(kept)
            self.answered.update(row.instance for row in kept)
            yield table((), [(row.voter, row.instance, "|".join(row.ticks)) for row in kept])


NOTHING_FURTHER: Mapping[str, Mapping[str, str]] = {}


@dataclass(frozen=True)
class CollectedFiles:
    """Files in pieces, ballots first; once they are written, the command to aggregate them, and what was left out."""

    name: str
    ballots: ExportedBallots
    total: int

    @property
    def files(self) -> dict[str, Iterable[str]]:
        """By name."""
        return {self.name: self.ballots, **{name: [text] for name, text in task_files(self.ballots.task).items()}}

    @property
    def command(self) -> str:
        """What finds the sets of the live page in these files."""
        return command_for(self.ballots.answered, self.ballots.task, self.name)

    @property
    def left_out(self) -> int:
        """How many ballots do not fit the task as it is now."""
        return self.total - self.ballots.kept


def export(source: BallotSource, task: Task, name: str = "ballots.csv") -> CollectedFiles:
    """Ballots under a name, and beside them what else is needed to find the same sets: menus, sizes and gold sets."""
    return CollectedFiles(name, ExportedBallots(source.rows(task.by_name), task), source.stamp()[0])


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


def participants_table(
    participants: Iterable[Participant], further: Mapping[str, Mapping[str, str]] = NOTHING_FURTHER
) -> str:
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
    """CSV, with a line of heads if there are any."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if heads:
        writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()


def moment_of(microseconds: int) -> str:
    """A moment as files tell it: `2026-11-17T09:00:00+00:00`."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="seconds")
