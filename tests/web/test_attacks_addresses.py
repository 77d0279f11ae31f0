"""Addresses, methods and headers: nothing outside the task is shown, no page sends one elsewhere, every page is locked."""

import pytest

from asking import Visitor, organiser, picture, raw
from small_quiz import DOT, QUIZ

OUT = [
    "../quiz.toml",
    "../../etc/passwd",
    "..%2fquiz.toml",
    "%2e%2e/quiz.toml",
    "%2e%2e%2fquiz.toml",
    "%252e%252e%252fquiz.toml",
    "%25252e%25252e/quiz.toml",
    "..%5cquiz.toml",
    "..\\quiz.toml",
    "....//quiz.toml",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc%2fpasswd",
    "%2f%2fetc/passwd",
    "file:///etc/passwd",
    "dot.svg/../../quiz.toml",
    "dot.svg/../quiz.toml",
    "./dot.svg/%2e%2e/quiz.toml",
    "..%c0%afquiz.toml",
    "%00",
    "dot.svg%00.png",
    "quiz.toml%00dot.svg",
    "quiz.toml",
    "quiz.db",
    "quiz.log",
    "log",
    "DOT.SVG",
    "dot.svg/",
    "unlisted.svg",
    "a" * 5_000,
    "",
    ".",
    "%ff",
]


@pytest.mark.parametrize("name", OUT)
@pytest.mark.parametrize("folder", ["picture", "static"])
def test_only_pictures_of_the_task_are_shown(served, folder, name):
    status, headers, body = raw(served, "GET", f"/{folder}/{name}")
    assert status in (303, 307, 400, 403, 404, 414, 431)
    assert b"root:" not in body
    assert b"[[instances]]" not in body
    assert not headers.get("location", "/").startswith("//")


def test_a_picture_of_the_task_is_shown(served):
    status, headers, body = raw(served, "GET", picture(served))
    assert (status, headers["content-type"].split(";")[0], body.decode()) == (200, "image/svg+xml", DOT)


def test_a_link_out_of_the_folder_is_not_followed(serve_here, tmp_path):
    (tmp_path / "secret.svg").write_text("<svg>secret</svg>")
    running = serve_here()
    file = tmp_path / "quiz" / "dot.svg"
    assert raw(running, "GET", picture(running))[0] == 200
    file.unlink()
    file.symlink_to(tmp_path / "secret.svg")
    status, _, body = raw(running, "GET", picture(running))
    assert status == 404
    assert b"secret" not in body


def test_a_picture_that_vanished_is_not_found(serve_here, tmp_path):
    running = serve_here()
    (tmp_path / "quiz" / "dot.svg").unlink()
    assert raw(running, "GET", picture(running))[0] == 404
    with Visitor(running).joined() as visitor:
        assert visitor.answer(1, [0]).status_code == 303


def pages_of(served):
    """Every page, by what is asked; errors among them."""
    with Visitor(served) as visitor, organiser(served) as boss:
        visitor.joined(f"pages of {visitor.address}")
        stranger = Visitor(served)
        answers = [visitor.get(path) for path in ("/", "/question", "/question/1", "/end", "/privacy", "/health")]
        answers += [visitor.get(path) for path in ("/nowhere", "/question/99", "/picture/none", "/static/none")]
        answers += [
            visitor.get(picture(served)),
            visitor.get("/finish"),
            visitor.answer(1, []),
            Visitor(served).join(""),
        ]
        answers += [visitor.post("/finish"), visitor.post("/join", content=b"a" * 5_000_000)]
        answers += [boss.get(f"/organiser{path}") for path in ("", "/live", "/report", "/nowhere")]
        answers += [boss.get(f"/organiser/export/{name}.csv") for name in ("ballots", "participants", "truth")]
        answers += [stranger.get("/organiser"), stranger.get("/question"), stranger.get("/language/fr")]
        answers += [stranger.get("/api/v1/task"), stranger.get("/api/v1/openapi.json"), stranger.get("/api/v1/nowhere")]
        answers += [stranger.client.request("BREW", "/"), stranger.client.options("/")]
        return [(f"{answer.request.method} {answer.request.url.path}", answer) for answer in answers]


def test_every_answer_is_locked(served):
    for name, answered in pages_of(served):
        policy = answered.headers["content-security-policy"]
        told = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";") if rule.strip())
        assert told["default-src"] in ("'none'", "'self'"), name
        assert told.get("frame-ancestors") == "'none'", name
        assert told.get("base-uri") == "'none'", name
        assert told.get("form-action") in ("'self'", "'none'"), name
        assert "unsafe-eval" not in policy, name
        if "/organiser/report" not in name:
            assert "unsafe-inline" not in policy, name
        assert "*" not in policy, name
        assert answered.headers["x-content-type-options"] == "nosniff", name
        assert answered.headers["referrer-policy"] in ("no-referrer", "same-origin"), name
        assert "uvicorn" not in answered.headers.get("server", ""), name


def test_pages_about_somebody_are_not_kept_by_caches(served):
    for name, answered in pages_of(served):
        if not name.startswith(("GET /picture", "GET /static", "GET /health", "GET /api/v1/openapi")):
            assert "no-store" in answered.headers.get("cache-control", ""), name


ELSEWHERE = [
    "https://evil.example/x",
    "//evil.example/x",
    "/\\evil.example",
    "javascript:alert(1)",
    "http:evil.example",
]


@pytest.mark.parametrize("target", ELSEWHERE)
def test_no_page_sends_one_to_another_site(served, target):
    with Visitor(served).joined(f"redirect {target}") as visitor:
        for path in ("/language/fr", "/language/en"):
            for query in ("", "next", "to", "back", "url", "return"):
                told = {"params": {query: target}} if query else {}
                answered = visitor.get(path, headers={"referer": target}, **told)
                assert answered.status_code == 303
                assert_own(answered.headers["location"])
        for path in ("/question", "/?next=" + target):
            assert_own(visitor.get(path, headers={"referer": target}).headers.get("location", "/"))


def test_another_host_in_the_request_is_not_where_one_is_sent(served):
    for path in (
        "/question",
        "/language/fr",
        "/organiser/",
        "/question/",
        "/question/1/",
        "//evil.example",
        "//evil.example/",
    ):
        for header in ("Host", "X-Forwarded-Host", "Forwarded"):
            value = "host=evil.example" if header == "Forwarded" else "evil.example"
            status, headers, _ = raw(served, "GET", path, [(header, value)])
            assert status < 500
            assert_own(headers.get("location", "/"))


def assert_own(location):
    assert location.startswith("/"), location
    assert not location.startswith(("//", "/\\")), location


@pytest.mark.parametrize("path", ["/", "/privacy", "/health", "picture"])
def test_head_is_get_without_a_body(served, path):
    status, headers, body = raw(served, "HEAD", picture(served) if path == "picture" else path)
    assert (status, body) == (200, b"")
    assert "content-security-policy" in headers


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "get"])
@pytest.mark.parametrize("path", ["/", "/join", "/question/1", "/organiser", "/organiser/close", "/picture/dot.svg"])
def test_other_methods_are_refused(served, method, path):
    status, headers, _ = raw(served, method, path, [("Content-Length", "0")])
    assert status in (400, 403, 405)
    if status == 405:
        assert headers["allow"]


@pytest.mark.parametrize("path", ["/join", "/finish", "/organiser/leave", "/organiser/open"])
@pytest.mark.parametrize("asking", ["/forget", "/leave", "/organiser/close"])
def test_following_a_link_changes_nothing(served, path, asking):
    with organiser(served) as boss:
        boss.join(f"links {path} {asking}")
        assert boss.get(path).status_code == 405
        assert boss.get(asking).status_code == 200
        assert boss.get("/question/1").status_code == 200
        assert boss.get("/organiser/live").json()["gate"] == "open"


def test_the_cross_site_rules_of_browsers_are_not_loosened(served):
    with Visitor(served) as visitor:
        for path in ("/", "/api/v1/task", "/api/v1/openapi.json"):
            answered = visitor.get(path, headers={"origin": "https://evil.example"})
            assert "access-control-allow-origin" not in answered.headers


def test_files_beside_the_quiz_that_it_does_not_name_stay_hidden(serve_here, tmp_path):
    running = serve_here(QUIZ)
    (tmp_path / "quiz" / "unlisted.svg").write_text(DOT)
    assert raw(running, "GET", "/picture/unlisted.svg")[0] == 404
