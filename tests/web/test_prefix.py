"""Several quizzes on one host: cookies of their own, and a quiz under a path behind a proxy."""

import re
from dataclasses import replace
from html import unescape
from importlib.resources import files
from urllib.parse import urljoin

import httpx
import pytest
from starlette.testclient import TestClient

from asking import Visitor, organiser
from epivote.web.security.limits import Limits
from epivote.web.site import Settings
from in_process import token_in
from one_moment import NO_LIMITS, still_app
from small_quiz import QUIZ

ROOT = "/quiz1"
UNDER = replace(NO_LIMITS, root=ROOT)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with still_app(tmp_path_factory.mktemp("quiz"), settings=UNDER) as made:
        yield made


def fields_of(page):
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))


def links_of(page, path):
    """Every address that a page names, as a browser understands it that sees the page at a path."""
    found = re.findall(r'(?:href|src|action|data-next)="([^"]*)"', page.text)
    inside = {unescape(each) for each in found if each and not each.startswith(("#", "http"))}
    return {urljoin(path, each) for each in inside}


@pytest.mark.parametrize("passed_on", [ROOT, ""], ids=["whole path passed on", "prefix taken off by the proxy"])
def test_under_a_path_every_address_has_the_prefix(app, passed_on):
    client = TestClient(app, follow_redirects=False)
    nickname = f"ann {passed_on}"
    sent = client.post(
        f"{passed_on}/join",
        data={"csrf": token_in(client.get(f"{passed_on}/")), "nickname": nickname},
        headers={"cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())},
    )
    assert (sent.status_code, sent.headers["location"]) == (303, f"{ROOT}/question")
    client.get(f"{ROOT}/organiser?secret={app.state.site.secrets.organiser}")
    cookies = {"cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
    seen = set()
    for path in ("/", "/question/1", "/question/2", "/question/3", "/end", "/privacy", "/organiser", "/none"):
        page = client.get(f"{passed_on}{path}", headers=cookies)
        seen |= links_of(page, f"{ROOT}{path}")
    assert len(seen) > 20
    assert all(each.startswith(f"{ROOT}/") for each in seen), seen
    for each in sorted(seen):
        if "/organiser/report" not in each:
            assert client.get(each, headers=cookies).status_code in (200, 303, 405), each


def test_redirects_and_cookies_stay_under_the_path(app):
    client = TestClient(app, follow_redirects=False)
    assert client.get(ROOT).headers["location"] == f"{ROOT}/"
    home = client.get(f"{ROOT}/")
    assert f"; Path={ROOT}/;" in home.headers["set-cookie"]
    assert client.get(f"{ROOT}/question").headers["location"] == f"{ROOT}/"
    from_here = {"referer": f"http://testserver{ROOT}/privacy"}
    assert client.get(f"{ROOT}/language/fr", headers=from_here).headers["location"] == f"{ROOT}/privacy"
    assert client.get(f"{ROOT}/api/v1/nowhere").json()["error"]
    sent = {"csrf": token_in(home), "nickname": "told by a script"}
    client.post(f"{ROOT}/join", data=sent)
    sent = {**fields_of(client.get(f"{ROOT}/question/1")), "action": "skip"}
    told = client.post(f"{ROOT}/question/1", data=sent, headers={"accept": "application/json"})
    assert told.json() == {"next": f"{ROOT}/question/2"}
    assert client.get("/quiz10/privacy").status_code == 404, "another path is not ours"


def test_a_served_quiz_under_a_path_is_filled_in(serve_here):
    running = serve_here(settings=Settings(root=ROOT))
    with Visitor(running) as ann:
        assert ann.client.base_url.path == f"{ROOT}/"
        page = ann.page("/")
        form = page.form(f"{ROOT}/join")
        sent = ann.client.post(form.action.removeprefix(ROOT), data={**form.fields, "nickname": "ann"})
        assert sent.headers["location"] == f"{ROOT}/question"
        question = ann.client.get("/question", follow_redirects=True)
        assert question.url.path == f"{ROOT}/question/1"
        assert organiser(running).get("/organiser/live").json()["tiles"][1] == ["1", "voters"]


def test_two_quizzes_on_one_host_do_not_sign_each_other_out(serve_here):
    first, second = serve_here(QUIZ, name="first"), serve_here(QUIZ, name="second")
    with httpx.Client(trust_env=False, verify=False, follow_redirects=True) as browser:
        for quiz, name in ((first, "ann"), (second, "bea")):
            home = browser.get(quiz.participants)
            told = browser.post(f"{quiz.address}/join", data={"csrf": token_in(home), "nickname": name})
            assert told.status_code == 200, told.text
            browser.get(quiz.organiser)
        for quiz, name in ((first, "ann"), (second, "bea")):
            assert f"You take part as {name}." in browser.get(quiz.participants).text
            assert browser.get(f"{quiz.address}/organiser/live").status_code == 200


def test_no_template_or_script_names_an_address_without_the_prefix():
    for folder in ("templates", "static"):
        for file in (files("epivote.web") / folder).iterdir():
            text = file.read_text()
            assert not re.findall(r'(?:href|src|action|fetch\(|url\()\s*=?\s*["\'`]?/[a-z]', text), file.name


@pytest.mark.slow
def test_the_live_page_follows_under_a_path(serve_here, browser):
    running = serve_here(settings=Settings(root=ROOT, limits=Limits()))
    page = browser.new_context().new_page()
    asked = []
    page.on("response", lambda response: asked.append((response.url.removeprefix(running.address), response.status)))
    page.goto(running.organiser)
    with page.expect_response("**/organiser/live"):
        pass
    assert [each for each in asked if each[1] >= 400] == []
    page.context.close()
