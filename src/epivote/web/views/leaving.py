"""Signing out, and deleting one's data; both ask first, for a device may be shared and some clicks are mistakes."""

from __future__ import annotations

from starlette.responses import Response

from epivote.web.views.visit import PARTICIPANT, Visit, see


def ask_leave(visit: Visit) -> Response:
    """Whether to sign out on this device."""
    say, voter = visit.language, visit.sheet.voter
    sentences = [say("leave.what", name=voter.name)]
    if voter.finished_at is None:
        sentences.append(say("leave.back", link=say("link.make")))
    return visit.page(
        "confirm.html",
        title=say("leave.title"),
        sentences=sentences,
        action="/leave",
        button=say("leave.button"),
        is_danger=False,
        who=visit.who,
        back="/end" if voter.finished_at else "/",
    )


def leave(visit: Visit) -> Response:
    """Sign out: the next person on this device is somebody else, also under the same nickname."""
    visit.check_participant()
    visit.site.store.leave(visit.sheet.voter.id)
    return _gone(visit)


def ask_forget(visit: Visit) -> Response:
    """Whether to delete everything."""
    say = visit.language
    return visit.page(
        "confirm.html",
        title=say("forget.title"),
        sentences=[say("forget.what", name=visit.sheet.voter.name), say("privacy.forget-warning")],
        action="/forget",
        button=say("privacy.forget-button"),
        is_danger=True,
        who=visit.who,
        back="/privacy",
    )


def forget(visit: Visit) -> Response:
    """Delete the participant and all their ballots."""
    visit.check_participant()
    visit.site.store.forget(visit.sheet.voter.id)
    return _gone(visit)


def _gone(visit: Visit) -> Response:
    response = see("/")
    visit.delete_cookie(response, PARTICIPANT)
    return response
