"""Going on on another device: a secret link, made when asked for, which replaces the one before."""

from __future__ import annotations

from markupsafe import Markup
from starlette.responses import Response

from epivote.web.addresses import qr_inline
from epivote.web.store.details import new_link, whose_link
from epivote.web.views.errors import PageError
from epivote.web.views.visit import PARTICIPANT, Visit, see


def make(visit: Visit) -> Response:
    """Show a new personal link; it is shown once, for only its hash is kept."""
    voter = visit.sheet.voter
    visit.limit("links", voter.token, visit.site.settings.limits.answering)
    token = new_link(visit.site.store.database, voter.id)
    here = visit.request.url
    address = visit.site.store.address() or f"{here.scheme}://{here.netloc}{visit.site.root}/"
    link = f"{address}resume/{token}"
    return visit.page("link.html", link=link, code=Markup(qr_inline(link)), name=voter.name)


def ask(visit: Visit) -> Response:
    """Ask whether to go on here; opening the link alone changes nothing, for other programs open links too."""
    token = visit.request.path_params["token"]
    name, _ = _whose(visit, token)
    return visit.page("resume.html", token=token, name=name)


def resume(visit: Visit) -> Response:
    """Go on as the participant whose link it is; whoever took part here before is signed out."""
    _, token = _whose(visit, visit.text("token"))
    response = see("/question")
    visit.set_cookie(response, PARTICIPANT, token)
    return response


def _whose(visit: Visit, token: str) -> tuple[str, str]:
    """Nickname and token behind a link; wrong ones are counted like other wrong secrets."""
    limits = visit.site.settings.limits
    found = whose_link(visit.site.store.database, token)
    if found is None:
        visit.limit("personal links", visit.address, limits.wrong_secrets)
        raise PageError(404, "error.link")
    return found
