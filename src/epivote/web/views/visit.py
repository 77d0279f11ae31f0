"""One request of one visitor: who it is, in which language, and whether its form may be believed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from epivote.web.kept import kept
from epivote.web.languages import Language, language
from epivote.web.security.headers import address_of, sent_from_here
from epivote.web.security.limits import Rate
from epivote.web.security.signing import new_visit, same_secret
from epivote.web.site import Gate, Site
from epivote.web.store import TroubleError
from epivote.web.store.store import Sheet
from epivote.web.views.errors import PageError, language_code, of_trouble
from epivote.web.views.pages import render

VISIT, PARTICIPANT, ORGANISER = "epivote_visit", "epivote", "epivote_organiser"
HALF_A_YEAR = 180 * 86_400  # in seconds, the unit of cookies
MOST_FIELDS = 500  # of a form: twice the alternatives of a task and some more


class NotJoinedError(Exception):
    """A page for participants was asked for by somebody who is none."""


@dataclass
class Visit:
    """A request and what its cookies say."""

    request: Request
    form: FormData

    @property
    def site(self) -> Site:
        """The task being served."""
        site: Site = self.request.app.state.site
        return site

    @kept
    def language(self) -> Language:
        """The language of this visitor."""
        return language(language_code(self.request))

    @kept
    def visit(self) -> str:
        """A name for this visit, kept in a cookie."""
        return self._said(VISIT) or new_visit()

    @kept
    def token(self) -> str | None:
        """The participant that the cookie names."""
        return self._said(PARTICIPANT)

    @kept
    def organiser(self) -> str | None:
        """The name of the organiser that the cookie was made for, empty for the first one; nothing for anybody else."""
        said = self._said(ORGANISER)
        return None if said is None else self.site.organiser_of(said)

    @property
    def is_organiser(self) -> bool:
        """Whether the cookie was made for a secret that is valid now."""
        return self.organiser is not None

    @kept
    def sheet(self) -> Sheet:
        """Everything this participant has said."""
        found = None if self.token is None else self.site.store.sheet(self.token)
        if found is None:
            raise NotJoinedError
        return found

    @kept
    def settled(self) -> frozenset[str]:
        """Instances that this participant need not be asked any more."""
        return self.site.settled(self.sheet.voter.id)

    @property
    def gate(self) -> Gate:
        """Whether answers are taken now."""
        return self.site.gate(is_closed=self.sheet.is_closed)

    @property
    def may_answer(self) -> bool:
        """Whether this participant has not finished, and answers are taken now."""
        return self.sheet.voter.finished_at is None and self.gate == "open"

    @property
    def csrf(self) -> str:
        """What forms of this visitor carry."""
        return self.site.signer.token("form", self.visit)

    @property
    def who(self) -> str:
        """What stands for the participant in forms."""
        return self.site.signer.token("participant", self.sheet.voter.token)[:32]

    def check_participant(self) -> None:
        """Refuse a form that was made for another participant, who was signed in on this device before."""
        if not same_secret(self.text("who"), self.who):
            raise PageError(409, "error.other-participant", name=self.sheet.voter.name)

    def page(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """A page with what all pages show."""
        shown = {"csrf": self.csrf, "languages": [language(code) for code in self.site.task.languages]}
        return render(self.site, template, self.language, status=status, **shown, **context)

    def set_cookie(self, response: Response, name: str, value: str, seconds: int | None = HALF_A_YEAR) -> None:
        """Give the visitor a signed cookie that scripts cannot read and other sites cannot send along with forms."""
        self.put_cookie(response, name, self.site.signer.seal(name, value), seconds)

    def delete_cookie(self, response: Response, name: str) -> None:
        """Let the browser forget a cookie."""
        self.put_cookie(response, name, "", 0)

    def put_cookie(self, response: Response, name: str, value: str, seconds: int | None) -> None:
        """A cookie of this task only, as it is."""
        response.set_cookie(
            self.site.cookie(name),
            value,
            max_age=seconds,
            expires=0 if seconds == 0 else None,
            path=f"{self.site.root}/",
            httponly=True,
            samesite="lax",
            secure=self.is_encrypted,
        )

    @property
    def is_encrypted(self) -> bool:
        """Whether the request came over HTTPS, which cookies then need as well."""
        return self.request.url.scheme == "https"

    def limit(self, kind: str, who: str, rate: Rate) -> None:
        """Refuse what comes too often."""
        wait = self.site.limiter.take(kind, who, rate)
        if wait:
            raise PageError(429, "error.429", wait=wait)

    @property
    def address(self) -> str:
        """Where the request comes from."""
        return address_of(self.request.scope)

    def check_form(self) -> None:
        """Refuse a form that another site sent, or that was made for another visitor."""
        known = self._said(VISIT) is not None
        if not known or not same_secret(self.text("csrf"), self.csrf) or not sent_from_here(self.request):
            raise PageError(403, "error.form")

    def text(self, name: str) -> str:
        """A field of the form; empty if it is not there."""
        value = self.form.get(name)
        return value if isinstance(value, str) else ""

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Everything that was filled in, as it was sent."""
        return [(name, value) for name, value in self.form.multi_items() if isinstance(value, str)]

    def _said(self, cookie: str) -> str | None:
        return self.site.signer.unseal(cookie, self.request.cookies.get(self.site.cookie(cookie)))


View = Callable[[Visit], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def page(view: View) -> Endpoint:
    """A view that shows something, run beside the other requests."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_shown, view, Visit(request, FormData()))

    return endpoint


def form(view: View) -> Endpoint:
    """A view that changes something: its form must carry the visitor's token."""

    async def endpoint(request: Request) -> Response:
        async with request.form(max_files=0, max_fields=MOST_FIELDS) as fields:
            return await run_in_threadpool(_changed, view, Visit(request, fields))

    return endpoint


def either(shown: Endpoint, changed: Endpoint) -> Endpoint:
    """An address that shows something, and takes its form."""

    async def endpoint(request: Request) -> Response:
        return await (changed if request.method == "POST" else shown)(request)

    return endpoint


def see(path: str) -> Response:
    """Go on to another page."""
    return RedirectResponse(path, 303)


def go_to(visit: Visit, path: str) -> Response:
    """The same for a script that sent the form and goes there itself, so that a lost connection costs it nothing."""
    if visit.request.headers.get("accept") == "application/json":
        return JSONResponse({"next": visit.site.root + path})
    return see(path)


def _shown(view: View, visit: Visit) -> Response:
    try:
        response = view(visit)
    except NotJoinedError:
        return see("/")
    if response.media_type == "text/html" and visit._said(VISIT) is None:
        visit.set_cookie(response, VISIT, visit.visit, None)
    return response


def _changed(view: View, visit: Visit) -> Response:
    visit.check_form()
    try:
        return view(visit)
    except NotJoinedError:
        raise PageError(403, "error.not-joined") from None
    except TroubleError as trouble:
        return of_trouble(visit.request, trouble, again=visit.fields)
