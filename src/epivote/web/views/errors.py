"""One clear page for every error: what happened, and what to do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from epivote.web.languages import choose, language
from epivote.web.site import Site
from epivote.web.store import InvitationError, NameTakenError, NotOpenError, TroubleError
from epivote.web.views.pages import render

LANGUAGE = "epivote_language"
KNOWN = (400, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503)
INTERFACE = "/api/v1"
LIVE = "/organiser/live"
LOG = logging.getLogger("epivote.collect")
Fields = Sequence[tuple[str, str]]
"""Names and values of what was filled in."""


class PageError(Exception):
    """An answer other than the wished one: its status and the key of its sentence."""

    def __init__(self, status: int, key: str, *, wait: float = 0.0, **values: object) -> None:
        super().__init__(key)
        self.status = status
        self.key = key
        self.wait = wait
        self.values = values


def language_code(request: Request) -> str:
    """The language of a request: the one chosen before, or the best the browser accepts."""
    site: Site = request.app.state.site
    wished = request.cookies.get(site.cookie(LANGUAGE))
    return choose(site.task.languages, wished, request.headers.get("accept-language", ""))


def error_page(
    request: Request, status: int, key: str, wait: float = 0.0, again: Fields = (), **values: object
) -> Response:
    """A page with a sentence on what happened and one on what to do, and the fields of a form to send `again`."""
    say = language(language_code(request))
    told = {"number": status, "what": say(key, **values), "remedy": say(f"remedy.{status}"), "again": again}
    response = render(request.app.state.site, "error.html", say, status=status, **told)
    if wait:
        response.headers["Retry-After"] = str(max(1, round(wait)))
    return response


def refusal(request: Request, status: int, wait: float = 0.0) -> Response:
    """A page, or for programs JSON, that says in general what a status means."""
    if request.url.path.startswith(INTERFACE):
        return problem(status, language("en")(f"error.{status}"), wait)
    return error_page(request, status, f"error.{status}", wait)


def problem(status: int, sentence: str, wait: float = 0.0) -> JSONResponse:
    """The JSON interface's answer to what cannot be done."""
    headers = {"Retry-After": str(max(1, round(wait)))} if wait else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": sentence.encode("utf-8", "replace").decode()}, status, headers)


def _of_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, PageError)
    return error_page(request, error.status, error.key, error.wait, (), **error.values)


def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code if error.status_code in KNOWN else 400
    response = refusal(request, status)
    response.headers.update(error.headers or {})
    return response


def _of_database(request: Request, error: Exception) -> Response:
    LOG.error("a request failed in the database: %s", getattr(error, "orig", error))
    return error_page(request, 503, "error.503", 5.0)


def of_trouble(request: Request, error: Exception, again: Fields = ()) -> Response:
    """A page that holds what was filled in, to be sent again; for the live page what is wrong."""
    assert isinstance(error, TroubleError)
    request.app.state.site.health.note(error)
    if request.url.path.endswith(LIVE):
        return problem(503, f"Ballots cannot be stored: {error.reason}.", 5.0)
    return error_page(request, 503, "error.503", 5.0, again=again)


HANDLERS: Mapping[Any, Callable[[Request, Exception], Response]] = {
    PageError: _of_page,
    HTTPException: _of_http,
    NotOpenError: lambda request, error: error_page(request, 409, f"answers.{error}"),
    NameTakenError: lambda request, _: error_page(request, 409, "name.taken"),
    InvitationError: lambda request, error: error_page(request, 403, f"invitation.{error}"),
    TroubleError: of_trouble,
    DBAPIError: _of_database,
    PoolTimeout: _of_database,
}
