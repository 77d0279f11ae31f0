"""Participants whom another site sent: how their address names them, and what they take back there."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urlencode

from epivote.web.exporting import moment_of
from epivote.web.security.signing import Signer
from epivote.web.store.database import Database
from epivote.web.store.details import outside_id_of, people_of
from epivote.web.store.store import now
from epivote.web.task import Task
from epivote.web.task.reading import OWN_CODE
from epivote.web.views.visit import Visit

OUTSIDE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~@-]{0,99}")
"""Names that other sites give: no formula of a spreadsheet, nothing that needs quotes."""
CODE_LENGTH = 10  # hexadecimal digits of a code of one's own: hard to guess, short enough to copy by hand


class Completion(NamedTuple):
    """What a participant who has handed in takes back."""

    code: str
    link: str


def outside_id(visit: Visit) -> str:
    """By which name another site sent this visitor, as the address or the form says; nothing if it is not one."""
    name = visit.site.task.participant_parameter
    if not name:
        return ""
    given = visit.text("outside") or visit.request.query_params.get(name, "")
    return given if OUTSIDE_ID.fullmatch(given) else ""


def kept_query(visit: Visit, invitation: str) -> str:
    """`?invitation=...&PROLIFIC_PID=...`: what the address of the first page has to keep when its language changes."""
    task = visit.site.task
    kept = {"invitation": invitation, task.participant_parameter: outside_id(visit)}
    told = urlencode({name: value for name, value in kept.items() if name and value})
    return f"?{told}" if told else ""


def completion(visit: Visit) -> Completion | None:
    """The code and the way back; nothing before handing in, or where the task gives none."""
    task, voter = visit.site.task, visit.sheet.voter
    if voter.finished_at is None or not (task.completion_code or task.completion_link):
        return None
    code = completion_code(task, visit.site.signer, voter.token)
    filled = {"{code}": code}
    if "{participant}" in task.completion_link:
        filled["{participant}"] = outside_id_of(visit.site.store.database, voter.id)
    link = task.completion_link
    for blank, value in filled.items():
        link = link.replace(blank, quote(value, safe=""))
    return Completion(code, link)


def completion_code(task: Task, signer: Signer, token: str) -> str:
    """The code of a participant: that of the task, or one of their own, which the organiser can work out as well."""
    if task.completion_code != OWN_CODE:
        return task.completion_code
    return signer.token("completion", token)[:CODE_LENGTH].upper()


def handed_in(visit: Visit) -> dict[str, object]:
    """What other programs are told about the participant of this visit, who has just handed in."""
    site, sheet = visit.site, visit.sheet
    return {
        "event": "handed in",
        "task": site.task.title,
        "voter": sheet.voter.name,
        "participant": outside_id_of(site.store.database, sheet.voter.id),
        "completion_code": completion_code(site.task, site.signer, sheet.voter.token),
        "ballots": len(sheet.ballots),
        "at": moment_of(now()),
    }


def further_columns(task: Task, database: Database, signer: Signer) -> dict[str, dict[str, str]]:
    """Columns of `participants.csv` that a task needs, each by the names of participants."""
    if not (task.consent or task.participant_parameter or task.completion_code):
        return {}
    people = people_of(database)
    columns = {}
    if task.consent:
        given = {name: each.details.consented_at for name, each in people.items()}
        columns["consented"] = {name: moment_of(when) for name, when in given.items() if when is not None}
    if task.participant_parameter:
        columns[task.participant_parameter] = {name: each.details.outside_id or "" for name, each in people.items()}
    if task.completion_code:
        codes = {name: completion_code(task, signer, each.token) for name, each in people.items()}
        columns["completion_code"] = codes
    return columns
