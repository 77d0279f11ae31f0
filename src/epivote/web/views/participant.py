"""The pages of a participant: joining, the end, one's own data. The questions are in `question`."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.responses import Response

from epivote.web.questions import next_open, own_order
from epivote.web.store.details import AlreadyHereError, Details
from epivote.web.store.invitations import invited, join_invited
from epivote.web.store.names import LONGEST_NAME, clean_name
from epivote.web.store.rows import InvitationError, NameTakenError, Voter
from epivote.web.store.store import now
from epivote.web.views.completion import completion, handed_in, kept_query, outside_id
from epivote.web.views.errors import LANGUAGE, PageError
from epivote.web.views.visit import HALF_A_YEAR, PARTICIPANT, NotJoinedError, Visit, see

LISTED = 100  # questions on the last page at once, about 10 KB; a round number
PAGES = re.compile(r"/(question/[0-9]{1,6}|end|privacy)?")
"""Where one can go back to after choosing a language."""


def home(visit: Visit) -> Response:
    """What this is about, and the way in; an invitation that was used on this device goes on as whoever used it."""
    invitation = visit.request.query_params.get("invitation", "")
    owner = _owner(visit, invitation)
    if owner is not None and owner.visit == visit.visit and owner.token != visit.token:
        response = see("/")
        visit.set_cookie(response, PARTICIPANT, owner.token)
        return response
    return _home(visit, invitation=invitation)


def join(visit: Visit) -> Response:
    """Become a participant, with an invitation where one is needed; whoever is one already goes on."""
    site, invitation = visit.site, visit.text("invitation")
    if _joined(visit) is not None and not _is_of_another(visit, invitation):
        return see("/question")
    if site.gate(is_closed=site.store.is_closed()) != "open":
        raise PageError(409, "answers.closed")
    name = clean_name(visit.text("nickname"))
    if name is None:
        wrong = visit.language("join.name-wrong", most=LONGEST_NAME)
        return _home(visit, status=422, invitation=invitation, nickname=visit.text("nickname"), wrong=wrong)
    if site.task.consent and visit.text("consent") != "yes":
        wrong = visit.language("join.consent-missing")
        return _home(visit, status=422, invitation=invitation, nickname=name, no_consent=wrong)
    details = Details(now() if site.task.consent else None, outside_id(visit) or None)
    limits = site.settings.limits
    visit.limit("joining", visit.address, limits.joining)
    try:
        if site.task.join == "nickname":
            voter = site.store.join(name, visit.visit, details)
        else:
            voter = join_invited(site.store, name, visit.visit, invitation, details)
    except NameTakenError:
        wrong = visit.language("join.name-taken", name=name)
        return _home(visit, status=409, invitation=invitation, nickname=name, wrong=wrong)
    except AlreadyHereError:
        raise PageError(409, "join.already-here") from None
    except InvitationError:
        # A right invitation always passes; wrong ones from one address are counted.
        visit.limit("invitations", visit.address, limits.wrong_secrets)
        raise
    response = see("/question")
    visit.set_cookie(response, PARTICIPANT, voter.token)
    return response


def end(visit: Visit) -> Response:
    """Thanks, the questions to go back to, and once finished the place and the agreement with the crowd."""
    sheet, site = visit.sheet, visit.site
    live = site.estimation.live
    order = own_order(site.task, sheet)
    questions = _questions(visit, order)
    shown = _part(visit, questions, next_open(order, sheet, visit.settled) or 1)
    place = live.places.get(sheet.voter.name)
    fresh = place is not None and place.counted == len([name for name in sheet.ballots if name in site.task.by_name])
    return visit.page(
        "end.html",
        sheet=sheet,
        who=visit.who,
        gate=visit.gate,
        answered=sum(name in sheet.ballots for name in site.task.by_name),
        is_done=not _is_going_on(visit),
        questions=questions[shown * LISTED : (shown + 1) * LISTED],
        part=shown,
        parts=-(-len(questions) // LISTED),
        place=place if fresh else None,
        leaders=live.leaders,
        final=live.counts_gold,
        completion=completion(visit),
    )


def _questions(visit: Visit, order: list[str]) -> list[tuple[int, str]]:
    """Position and state of the questions that one can go to."""
    ballots, skips, closed = visit.sheet.ballots, visit.sheet.skips, visit.settled
    return [
        (position, _state(name in ballots, name in skips))
        for position, name in enumerate(order, start=1)
        if name in ballots or name not in closed
    ]


def _part(visit: Visit, questions: list[tuple[int, str]], position: int) -> int:
    """Which part of the questions is listed: the one asked for, else that with the next open question."""
    last = max(0, len(questions) - 1) // LISTED
    asked = visit.request.query_params.get("part", "")
    if re.fullmatch("[1-9][0-9]{0,5}", asked):
        return min(int(asked) - 1, last)
    return min(sum(number < position for number, _ in questions) // LISTED, last)


def finish(visit: Visit) -> Response:
    """Hand in: nothing can be changed afterwards."""
    visit.check_participant()
    if visit.site.store.finish(visit.sheet.voter.id):
        visit.site.settings.notifier.tell(handed_in(visit))
    return see("/end")


def privacy(visit: Visit) -> Response:
    """What happens with the data."""
    return visit.page("privacy.html", joined=_joined(visit))


def set_language(visit: Visit) -> Response:
    """Choose a language, and go back to where that was done if it was here."""
    code = visit.request.path_params["code"]
    if code not in visit.site.task.languages:
        raise PageError(404, "error.404")
    kept = kept_query(visit, visit.request.query_params.get("invitation", ""))
    response = see(f"/{kept}" if kept else _own_path(visit))
    visit.put_cookie(response, LANGUAGE, code, HALF_A_YEAR)
    return response


def _home(
    visit: Visit, *, invitation: str, status: int = 200, nickname: str = "", wrong: str = "", no_consent: str = ""
) -> Response:
    site = visit.site
    return visit.page(
        "home.html",
        status=status,
        gate=site.gate(is_closed=site.store.is_closed()),
        joined=None if _is_of_another(visit, invitation) else _joined(visit),
        finished=_finished(visit),
        other=_joined(visit),
        invitation=invitation,
        outside=outside_id(visit),
        kept=kept_query(visit, invitation),
        no_consent=no_consent,
        nickname=nickname,
        wrong=wrong,
        longest=LONGEST_NAME,
    )


def _joined(visit: Visit) -> str | None:
    """The nickname of a visitor who has joined."""
    try:
        return visit.sheet.voter.name
    except NotJoinedError:
        return None


def _finished(visit: Visit) -> bool:
    """Whether the visitor has joined and handed in."""
    return _joined(visit) is not None and visit.sheet.voter.finished_at is not None


def _owner(visit: Visit, invitation: str) -> Voter | None:
    """Who has used an invitation."""
    if not invitation or visit.site.task.join != "invitation":
        return None
    return invited(visit.site.store, invitation)


def _is_of_another(visit: Visit, invitation: str) -> bool:
    """Whether an invitation was opened that is not that of the participant who is signed in."""
    if not invitation or visit.site.task.join != "invitation":
        return False
    owner = _owner(visit, invitation)
    return owner is None or owner.token != visit.token


def _is_going_on(visit: Visit) -> bool:
    """Whether there are questions to be answered yet."""
    said = {*visit.sheet.ballots, *visit.sheet.skips, *visit.settled}
    return visit.may_answer and any(name not in said for name in visit.site.task.by_name)


def _state(is_answered: bool, is_skipped: bool) -> str:
    return "answered" if is_answered else "skipped" if is_skipped else "open"


def _own_path(visit: Visit) -> str:
    """The page before, if it was one of ours."""
    try:
        before = urlsplit(visit.request.headers.get("referer", ""))
    except ValueError:
        return "/"
    path = before.path.removeprefix(visit.site.root)
    is_here = before.netloc == visit.request.url.netloc and PAGES.fullmatch(path)
    return path if is_here else "/"
