"""Every status that a request can end with: its page, its sentence for programs, and when to come back."""

import json
import re

import pytest
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import Request

from epivote.web.languages import language
from epivote.web.store import InvitationError, NameTakenError, NotOpenError
from epivote.web.views.errors import HANDLERS, PageError, problem, refusal
from in_process import visitor
from one_moment import still_app

KNOWN = {400, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503}


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with still_app(tmp_path_factory.mktemp("quiz")) as made:
        yield made


@pytest.fixture
def request_to(app):
    """A request to a path of the app."""

    def made(path="/"):
        headers = [(b"host", b"testserver")]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers, "app": app}
        return Request({**scope, "scheme": "http", "server": ("testserver", 80), "root_path": ""})

    return made


def sentences(response):
    """What a page says, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response.body.decode()))


def in_words(status):
    """The two sentences on a status, as a page holds them."""
    say = language("en")
    return [say(f"{kind}.{status}").replace("'", "&#39;") for kind in ("error", "remedy")]


def test_every_status_has_a_page_of_its_own_or_that_of_400(request_to):
    for status in sorted({near for known in KNOWN for near in (known - 1, known, known + 1)}):
        told = HANDLERS[HTTPException](request_to(), HTTPException(status))
        shown = status if status in KNOWN else 400
        assert told.status_code == shown
        assert all(sentence in sentences(told) for sentence in in_words(shown))
        assert "retry-after" not in told.headers


def test_headers_of_a_refusal_are_kept(request_to):
    told = HANDLERS[HTTPException](request_to(), HTTPException(405, headers={"Allow": "GET"}))
    assert (told.status_code, told.headers["allow"]) == (405, "GET")


@pytest.mark.parametrize("status", [409, 429, 503])
@pytest.mark.parametrize(("wait", "told"), [(0.0, None), (0.2, "1"), (1.4, "1"), (1.6, "2"), (7.0, "7")])
def test_pages_and_programs_are_told_when_to_come_back(request_to, status, wait, told):
    page = refusal(request_to("/end"), status, wait)
    other = refusal(request_to("/api/v1/task"), status, wait)
    for each in (page, other):
        assert (each.status_code, each.headers.get("retry-after")) == (status, told)
    assert page.headers["content-type"].startswith("text/html")
    assert json.loads(other.body) == {"error": language("en")(f"error.{status}")}


def test_without_a_time_nobody_is_told_to_come_back(request_to):
    for told in (
        refusal(request_to(), 429),
        refusal(request_to("/api/v1/task"), 429),
        problem(409, "no"),
        HANDLERS[PageError](request_to(), PageError(409, "answers.closed")),
    ):
        assert "retry-after" not in told.headers


def test_only_a_missing_key_asks_for_one():
    assert problem(401, "no").headers["www-authenticate"] == "Bearer"
    assert all("www-authenticate" not in problem(status, "no").headers for status in (400, 402, 403))


def test_what_cannot_be_written_is_replaced():
    assert json.loads(problem(422, "a \ud800 b").body) == {"error": "a ? b"}


@pytest.mark.parametrize(
    ("error", "status", "key"),
    [
        (NotOpenError("closed"), 409, "answers.closed"),
        (NotOpenError("finished"), 409, "answers.finished"),
        (NotOpenError("enough"), 409, "answers.enough"),
        (NameTakenError("ann"), 409, "name.taken"),
        (InvitationError("unknown"), 403, "invitation.unknown"),
        (InvitationError("expired"), 403, "invitation.expired"),
        (InvitationError("used"), 403, "invitation.used"),
        (PageError(422, "error.422", wait=3.0), 422, "error.422"),
    ],
)
def test_every_error_of_ours_has_its_sentence_and_its_remedy(request_to, error, status, key):
    told = HANDLERS[type(error)](request_to(), error)
    assert told.status_code == status
    say = language("en")
    assert say(key).replace("'", "&#39;") in sentences(told)
    assert say(f"remedy.{status}").replace("'", "&#39;") in sentences(told)
    assert told.headers.get("retry-after") == ("3" if isinstance(error, PageError) else None)


@pytest.mark.parametrize("error", [DBAPIError("SELECT", {}, Exception("gone")), PoolTimeout()])
def test_a_program_is_asked_to_wait_while_the_database_is_away(tmp_path, monkeypatch, error):
    with still_app(tmp_path) as app:
        program = visitor(app, authorization=f"Bearer {app.state.site.secrets.interface}")

        def fails(*_, **__):
            raise error

        monkeypatch.setattr(app.state.site.store, "is_closed", fails)
        refused = program.get("/api/v1/task")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
