"""Cookies, languages, errors and files of the pages, with their headers."""

import io
import re
from http.cookies import SimpleCookie

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

from epivote.web.security.limits import Limits, Rate
from epivote.web.security.signing import new_visit
from epivote.web.site import Settings
from epivote.web.store import InvitationError, NameTakenError, NotOpenError
from epivote.web.store.invitations import invite
from epivote.web.views.errors import HANDLERS, refusal
from epivote.web.views.pages import static_address, when
from epivote.web.views.prose import prose
from in_process import fields_of, filled_in, joined, organiser, say, token_in, visitor
from one_moment import NO_LIMITS, program, still_app
from small_quiz import QUIZ

DAY = 86_400


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with still_app(tmp_path_factory.mktemp("quiz"), QUIZ) as made:
        yield made


def cookies_of(response):
    """Every cookie that an answer sets, with its attributes."""
    found = {}
    for line in response.headers.get_list("set-cookie"):
        for name, morsel in SimpleCookie(line).items():
            found[name] = {key: value for key, value in morsel.items() if value} | {"value": morsel.value}
    return found


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_cookies_are_kept_from_scripts_other_sites_and_open_lines(app, scheme):
    """Each as long as it is meant to last; over HTTPS only where pages come over HTTPS."""
    client = TestClient(app, base_url=f"{scheme}://testserver", follow_redirects=False)

    def check(response, name, seconds):
        ((set_name, cookie),) = cookies_of(response).items()
        assert set_name == app.state.site.cookie(name)
        assert cookie.get("httponly") is True
        assert cookie["samesite"] == "lax"
        assert cookie["path"] == "/"
        assert cookie.get("secure", False) == (scheme == "https"), name
        assert cookie.get("max-age") == (None if seconds is None else str(seconds)), name
        return cookie["value"]

    home = client.get("/")
    check(home, "epivote_visit", None)
    assert cookies_of(client.get("/")) == {}, "one name for a visit is enough"
    sent = client.post("/join", data={"csrf": token_in(home), "nickname": f"ann {scheme}"})
    check(sent, "epivote", 180 * DAY)
    check(client.get("/language/fr"), "epivote_language", 180 * DAY)
    sent = client.get(f"/organiser?secret={app.state.site.secrets.organiser}")
    assert sent.headers["location"] == "/organiser"
    check(sent, "epivote_organiser", 30 * DAY)
    gone = client.post("/forget", data=fields_of(client.get("/forget"), "/forget"))
    check(gone, "epivote", 0)
    assert "expires" in cookies_of(gone)[app.state.site.cookie("epivote")]


@pytest.mark.parametrize(("scheme", "told"), [("https", "max-age=15552000"), ("http", None)])
def test_behind_https_browsers_stay_with_it(app, scheme, told):
    client = TestClient(app, base_url=f"{scheme}://testserver", follow_redirects=False)
    for path in ("/", "/question", "/none", "/api/v1/task", "/static/icon.svg"):
        assert client.get(path).headers.get("strict-transport-security") == told, path


def test_only_pages_name_a_visit(app):
    site = app.state.site
    for path in ("/health", site.picture("dot.svg"), "/static/collect.css", "/question", "/language/en", "/none"):
        assert site.cookie("epivote_visit") not in cookies_of(visitor(app).get(path)), path
    for path in ("/", "/privacy"):
        assert site.cookie("epivote_visit") in cookies_of(visitor(app).get(path)), path
    assert len({new_visit() for _ in range(50)}) == 50
    assert len(new_visit()) == 24


def test_whoever_has_not_joined_is_sent_to_the_first_page(app):
    for path in ("/question", "/question/1", "/end"):
        sent = visitor(app).get(path)
        assert (sent.status_code, sent.headers["location"]) == (303, "/")
    client = visitor(app)
    client.get("/")
    for path in ("/question/1", "/finish", "/forget"):
        sent = client.post(path, data={"csrf": token_in(client.get("/")), "action": "none"})
        assert (sent.status_code, "You have not joined" in sent.text) == (403, True)


def test_a_form_needs_a_known_visit_the_right_token_and_this_site(app):
    client = visitor(app)
    csrf = token_in(client.get("/"))

    def status(client, token, **headers):
        return client.post("/join", data={"csrf": token, "nickname": ""}, headers=headers).status_code

    assert status(client, csrf) == 422, "the form is believed, the name is not"
    assert status(client, csrf, origin="http://testserver") == 422
    assert status(client, csrf, origin="http://evil.example") == 403
    assert status(client, csrf[:-1]) == 403
    assert status(client, token_in(visitor(app).get("/"))) == 403
    stranger = visitor(app)
    assert status(stranger, app.state.site.signer.token("form", "")) == 403
    assert "This form is too old" in stranger.post("/join", data={}).text


def test_a_form_has_at_most_five_hundred_fields_and_no_files(app):
    ann = joined(app, "fields")
    fields = filled_in(ann.get("/question/1"), ticks=[0])

    def status(ticks):
        (tick,) = fields["tick"]
        others = [f"{name}={fields[name]}" for name in ("csrf", "shown", "action")]
        body = "&".join([*others, *[f"tick={tick}"] * ticks])
        return ann.post(
            "/question/1", content=body, headers={"content-type": "application/x-www-form-urlencoded"}
        ).status_code

    assert (status(497), status(498)) == (303, 400)
    sent = ann.post("/question/1", data={"csrf": fields["csrf"]}, files={"tick": ("a.txt", io.BytesIO(b"0"))})
    assert sent.status_code == 400


def request_for(app, path="/", **headers):
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": fields, "app": app})


@pytest.mark.parametrize("status", [400, 403, 404, 405, 408, 409, 413, 422, 429, 500, 503])
def test_every_status_has_its_page_in_both_languages_and_its_json(app, status):
    titles = set()
    for code in ("en", "fr"):
        page = HANDLERS[HTTPException](request_for(app, accept_language=code), HTTPException(status))
        assert page.status_code == status
        text = page.body.decode()
        assert f'lang="{code}"' in text
        assert f'<p class="muted">{status}</p>' in text
        titles.add(re.search('role="alert">([^<]+)<', text)[1])
        assert "retry-after" not in page.headers
    assert len(titles) == 2
    told = HANDLERS[HTTPException](request_for(app, "/api/v1/task", accept_language="fr"), HTTPException(status))
    assert (told.status_code, told.media_type) == (status, "application/json")
    assert told.body.decode()[:10] == '{"error":"'


def test_a_status_that_no_page_knows_is_a_bad_request(app):
    for status in (402, 418, 431, 502):
        assert HANDLERS[HTTPException](request_for(app), HTTPException(status)).status_code == 400


def test_what_an_error_says_in_headers_is_kept(app):
    error = HTTPException(405, headers={"Allow": "GET"})
    assert HANDLERS[HTTPException](request_for(app), error).headers["allow"] == "GET"
    assert visitor(app).post("/end").headers["allow"] in ("GET, HEAD", "HEAD, GET")


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (NotOpenError("closed"), 409, "No answers are taken at the moment."),
        (NotOpenError("finished"), 409, "You have handed in"),
        (NameTakenError("ann"), 409, "Somebody already has this name."),
        (InvitationError("unknown"), 403, "This invitation is not known."),
        (InvitationError("used"), 403, "This invitation has been used already."),
        (InvitationError("expired"), 403, "This invitation is too old."),
        (OperationalError("SELECT", {}, Exception()), 503, "The server cannot reach its database."),
        (PoolTimeout(), 503, "The server cannot reach its database."),
    ],
)
def test_errors_of_the_store_are_pages(app, error, status, told):
    (handler,) = [handler for kind, handler in HANDLERS.items() if isinstance(error, kind)]
    page = handler(request_for(app), error)
    assert (page.status_code, told in page.body.decode()) == (status, True)
    assert page.headers.get("retry-after") == ("5" if status == 503 else None)


@pytest.mark.parametrize(("wait", "told"), [(0.0, None), (0.01, "1"), (1.4, "1"), (1.6, "2"), (99.7, "100")])
def test_how_long_to_wait_is_told_in_whole_seconds(app, wait, told):
    for path in ("/", "/api/v1/task"):
        assert refusal(request_for(app, path), 429, wait).headers.get("retry-after") == told


def test_guesses_of_a_secret_are_counted_and_others_are_not(tmp_path):
    """Right ones cost nothing and always pass; of wrong links, keys and invitations each kind has a count."""
    rate = NO_LIMITS.limits.requests
    limits = Limits(rate, rate, rate, rate, wrong_secrets=Rate(1, 0.01))
    with still_app(tmp_path, f'join = "invitation"\n{QUIZ}', Settings(limits=limits)) as app:
        client, limiter = visitor(app), app.state.site.limiter
        now = limiter.clock()
        limiter.clock = lambda: now
        for _ in range(5):
            organiser(app)
            assert program(app).get("/api/v1/task").status_code == 200
            assert client.get("/api/v1/task").status_code == 401, "no key is no guess"
        assert client.get("/organiser?secret=x").status_code == 403
        assert client.get("/api/v1/task", headers={"authorization": "Bearer x"}).status_code == 401
        sent = client.post("/join", data={"csrf": token_in(client.get("/?invitation=x")), "nickname": "a"})
        assert (sent.status_code, "This invitation is not known." in sent.text) == (403, True)
        for refused in (
            client.get("/organiser?secret=y"),
            client.get("/api/v1/task", headers={"authorization": "Bearer y"}),
            client.post("/join", data={"csrf": token_in(client.get("/?invitation=y")), "nickname": "a"}),
        ):
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "100")
        assert client.get(f"/organiser?secret={app.state.site.secrets.organiser}").status_code == 303
        assert program(app).get("/api/v1/task").status_code == 200
        (right,) = invite(app.state.site.store, 1, 1)
        fields = {**fields_of(client.get(f"/?invitation={right}"), "/join"), "nickname": "a"}
        assert client.post("/join", data=fields).status_code == 303, "a right invitation passes as well"
        limiter.clock = lambda: now + 101
        assert client.get("/organiser?secret=x").status_code == 403
        assert client.get("/organiser?secret=x").status_code == 429


def test_limits(tmp_path):
    limits = Limits(joining=Rate(2, 0.01), answering=Rate(1, 0.01), wrong_secrets=Rate(2, 0.01))
    with still_app(tmp_path, QUIZ, Settings(limits=limits)) as app:
        ann, _ = joined(app, "ann"), joined(app, "bo")
        new = visitor(app)
        refused = new.post("/join", data={"csrf": token_in(new.get("/")), "nickname": "cy"})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "100")
        say(ann, "/question/1", ticks=[0])
        assert ann.post("/question/2", data={"csrf": token_in(ann.get("/end")), "action": "none"}).status_code == 429
        guesses = [new.get(f"/organiser?secret={number}").status_code for number in range(3)]
        assert guesses == [403, 403, 429]
        assert new.get(f"/organiser?secret={app.state.site.secrets.organiser}").status_code == 303
        key = {"authorization": f"Bearer {app.state.site.secrets.interface}"}
        assert new.get("/api/v1/task", headers=key).status_code == 200


def test_pages_of_the_organiser_are_for_nobody_else(app):
    joined(app, "nosy")
    for path in ("", "/live", "/report", "/export/ballots.csv", "/export/participants.csv", "/export/truth.csv"):
        refused = visitor(app).get(f"/organiser{path}")
        assert (refused.status_code, "This page is for the organiser only." in refused.text) == (403, True), path
    assert organiser(app).get("/organiser/export/none.csv").status_code == 404


def test_files_of_the_task_have_their_kind_and_stay_alone(tmp_path):
    kinds = {
        "png": "image/png",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "gif": "image/gif",
        "webp": "image/webp",
        "avif": "image/avif",
        "SVG": "image/svg+xml",
        "mp3": "audio/mpeg",
        "ogg": "audio/ogg",
        "oga": "audio/ogg",
        "opus": "audio/ogg",
        "wav": "audio/wav",
        "m4a": "audio/mp4",
        "flac": "audio/flac",
    }
    largest = 1 << 20
    sizes = [largest, largest + 1, *[100] * 6, largest + 1, *[100] * 5]
    text = QUIZ
    for number, (ending, kind) in enumerate(kinds.items()):
        (tmp_path / f"file.{ending}").write_bytes(b"x" * sizes[number])
        key = "picture" if kind.startswith("image") else "audio"
        text += f'[[instances]]\nname = "{ending}"\n{key} = "file.{ending}"\n'
    with still_app(tmp_path, text) as app:
        client = visitor(app)
        for number, (ending, kind) in enumerate(kinds.items()):
            address = app.state.site.picture(f"file.{ending}")
            sent = client.get(address)
            assert (sent.status_code, sent.headers["content-type"]) == (200, kind)
            assert len(sent.content) == sizes[number]
            assert sent.headers["cache-control"] == "private, max-age=3600"
            assert "sandbox" in sent.headers["content-security-policy"]
            in_pieces = client.get(address, headers={"range": "bytes=0-9"})
            assert len(in_pieces.content) == (10 if sizes[number] > largest else sizes[number]), (
                "only large ones are sent in pieces"
            )
            same = client.get(address, headers={"if-none-match": sent.headers["etag"]})
            assert sizes[number] > largest or (same.status_code, same.headers["etag"]) == (304, sent.headers["etag"])
        for path in ("quiz.toml", "quiz.db", "none.png", "../quiz.toml", "file.png"):
            assert client.get(f"/picture/{path}").status_code == 404
        (tmp_path / "file.png").unlink()
        assert client.get(app.state.site.picture("file.png")).status_code == 404
        (tmp_path / "file.gif").unlink()
        (tmp_path / "file.gif").symlink_to("/etc/hostname")
        assert client.get(app.state.site.picture("file.gif")).status_code == 404


def test_files_of_ours_are_kept_for_a_year_under_an_address_of_their_content(app):
    for name, kind in (("collect.css", "text/css"), ("question.js", "text/javascript"), ("icon.svg", "image/svg+xml")):
        assert re.fullmatch(rf"/static/{re.escape(name)}\?[0-9a-f]{{12}}", static_address(name))
        sent = visitor(app).get(static_address(name))
        assert sent.headers["content-type"].split(";")[0] == kind
        assert sent.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_texts_and_times_as_pages_show_them():
    assert prose("a\nb\n \n\n c \n\n\n") == "<p>a<br />\nb</p>\n<p>c</p>"
    assert prose("") == ""
    assert when(1_800_000_000_000_000) == "2027-01-15 08:00 UTC"


def test_the_language_of_a_page_is_the_one_chosen_before(app):
    client = visitor(app, **{"accept-language": "en"})
    assert 'lang="en"' in client.get("/").text
    client.get("/language/fr")
    assert 'lang="fr"' in client.get("/").text
    assert 'lang="fr"' in client.get("/none").text
    assert '<html lang="en">' in organiser(app).get("/organiser", headers={"accept-language": "fr"}).text


def test_one_language_offers_no_choice(tmp_path):
    with still_app(tmp_path, f'languages = ["fr"]\nprivacy = "Chez nous.\\n\\nAu revoir."\n{QUIZ}') as app:
        page = visitor(app).get("/privacy").text
        assert 'lang="fr"' in page
        assert "/language/" not in page
        assert '<div class="prose"><p>Chez nous.</p>\n<p>Au revoir.</p></div>' in page
        assert visitor(app).get("/language/en").status_code == 404
