"""What the live page shows, in words and numbers ready to print; the same for the page and for what it asks later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from epivote import FlagKind, VoterReport, in_percent
from epivote.web.estimation.live import MANY, Live, SetFound
from epivote.web.exporting import command_for, task_files
from epivote.web.site import Gate
from epivote.web.store.store import Participant
from epivote.web.task import Instance, Task
from epivote.web.timing import TIMES
from epivote.web.views.looking import USUAL, Look, PageOf
from epivote.web.views.pages import when

MOST_DOTS = 300  # voters on the map, about 5 KB compressed: flagged ones first, then those with most ballots
GATES = {
    "open": "Open: ballots are accepted.",
    "early": "Not open yet: the opening time of the task has not come.",
    "over": "Closed: the closing time of the task has passed.",
    "closed": "Closed by you: no ballots are accepted until you open it again.",
}


def board_of(
    task: Task,
    live: Live,
    participants: Sequence[Participant],
    settled: Collection[str],
    gate: Gate,
    picture: Callable[[str], str] = str,
    look: Look = USUAL,
) -> dict[str, Any]:
    """The numbers about everything, and those rows of the tables that are looked at.

    `picture` tells where a file of the task is served.
    """
    sets = PageOf.of(_found(task, live, look), look.page)
    voters = PageOf.of([each for each in participants if look.matches(each.name)], look.voters)
    reports = {each.voter: each for each in live.voters}
    total = sum(each.ballots for each in participants)
    to_find = [each.name for each in task.instances if each.gold is None]
    sure = sum(name in live.sets and live.sets[name].confidence >= task.threshold for name in to_find)
    return {
        "gate": gate,
        "gate_words": GATES[gate],
        "problem": f"The estimation has a problem: {live.problem}" if live.problem else "",
        "warnings": [*live.warnings, *left_out_in_words(live.left_out)],
        "as_of": _as_of(live, total),
        "tiles": [
            [f"{total:,}", "ballots"],
            [f"{len(participants):,}", "voters"],
            [f"{sum(not each.is_person for each in participants):,}", "programs among them"],
            [f"{sum(each.finished_at is not None for each in participants):,}", "handed in"],
            [f"{sure:,} of {len(to_find):,}", "sets sure, gold aside"],
            [f"{len(settled):,}", "instances no longer asked"],
        ],
        "times": [list(point) for point in live.times],
        "sets": [_set_row(each, live.sets.get(each.name), each.name in settled, picture) for each in sets.rows],
        "sets_page": sets.told(look, "page"),
        "voters_page": voters.told(look, "voters"),
        "map": _dots(live.voters),
        "voters": [
            {
                "name": each.name,
                "ballots": each.ballots,
                "tags": [*([] if each.is_person else ["program"]), *(["handed in"] if each.finished_at else [])],
                **_rates(reports.get(each.name)),
            }
            for each in voters.rows
        ],
        "files": ["ballots.csv", *task_files(task), "participants.csv", TIMES, "truth.csv"],
        "command": command_for(live.sets, task),
    }


def _as_of(live: Live, total: int) -> str:
    """When the sets were found and from how many ballots, so that they add up to those there are."""
    if not live.method:
        return "not yet"
    counted = sum(found.ballots for found in live.sets.values())
    left_out = f", {live.left_out:,} left out" if live.left_out else ""
    newer = total - counted - live.left_out
    waiting = f", {newer:,} newer ones not counted yet" if newer > 0 else ""
    words = f"from {counted:,} ballot{'' if counted == 1 else 's'}{left_out}{waiting}"
    return f"{when(live.moment)}, {words}, by {live.method} in {live.seconds:.2f} s"


def _found(task: Task, live: Live, look: Look) -> list[Instance]:
    """Instances that are searched for, sorted as asked for; by doubt, those without any ballot come last."""
    found = [each for each in task.instances if look.matches(each.name, each.text, *_answer(live, each))]
    if look.sort == "doubt":
        return sorted(found, key=lambda each: live.sets[each.name].confidence if each.name in live.sets else 2.0)
    if look.sort == "ballots":
        return sorted(found, key=lambda each: live.sets[each.name].ballots if each.name in live.sets else 0)
    return found


def _answer(live: Live, instance: Instance) -> tuple[str, ...]:
    return live.sets[instance.name].answer if instance.name in live.sets else ()


def _dots(reports: Sequence[VoterReport]) -> list[dict[str, Any]]:
    """Voters on the map."""
    chosen = sorted(reports, key=lambda each: (not _is_flagged(each), -each.ballots))[:MOST_DOTS]
    return [
        {
            "name": each.voter,
            "ballots": each.ballots,
            "hits": round(each.hit_rate, 2),
            "false_alarms": round(each.false_alarm_rate, 2),
            "flagged": _is_flagged(each),
        }
        for each in chosen
    ]


def _is_flagged(report: VoterReport) -> bool:
    """Whether somebody should look; too few ballots only ask to wait."""
    return any(flag.kind is not FlagKind.TOO_FEW_BALLOTS for flag in report.flags)


def _set_row(
    instance: Instance, found: SetFound | None, is_settled: bool, picture: Callable[[str], str]
) -> dict[str, Any]:
    row = {
        "name": instance.name,
        "thumb": picture(instance.picture) if instance.picture else "",
        "gold": instance.gold is not None,
        "settled": is_settled,
        "answer": None,
        "confidence": None,
        "confidence_words": "–",
        "ballots": 0,
        "more": "–",
    }
    if found is not None:
        row["answer"] = list(found.answer)
        row["confidence"] = found.confidence
        row["confidence_words"] = "gold" if _is_gold(instance, found) else in_percent(found.confidence)
        row["ballots"] = found.ballots
        row["more"] = _more_in_words(found.more)
        if found.crowd != found.answer:
            row["crowd"] = list(found.crowd)
    return row


def _is_gold(instance: Instance, found: SetFound) -> bool:
    """Whether a set was told by the organiser rather than found."""
    return instance.gold is not None and found.confidence == 1 and frozenset(found.answer) == instance.gold


def _more_in_words(more: int | None) -> str:
    if more is None:
        return "–"
    return "none" if more == 0 else f"about {more}" if more < MANY else f"more than {MANY - 1}"


def _rates(found: VoterReport | None) -> dict[str, Any]:
    if found is None:
        return {"hits": None, "false_alarms": None, "rates": "–", "flags": [], "flagged": False}
    rates = f"hit rate {in_percent(found.hit_rate)}, false-alarm rate {in_percent(found.false_alarm_rate)}"
    return {
        "hits": found.hit_rate,
        "false_alarms": found.false_alarm_rate,
        "rates": rates,
        "flags": list(found.flags),
        "flagged": _is_flagged(found),
    }


def left_out_in_words(count: int) -> list[str]:
    """That some ballots do not fit the task as it is now."""
    if not count:
        return []
    return [f"{count:,} of the ballots are left out: their instance or a ticked alternative is no longer in the task"]
