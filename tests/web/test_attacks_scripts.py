"""Script in every text an organiser, a participant or a program can write, and in names and contents of files: none runs."""

import http.server
import json
import threading
from urllib.parse import quote

import pytest

from asking import Visitor, organiser
from in_process import until
from listening import serving_here
from watching import act, device, join

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(2)</script>"
QUOTES = '"\' onmouseover=\'alert(3)\' autofocus onfocus="alert(4)" x="'
ENDS = "</textarea></title></script></style><svg onload=alert(5)>"
TEMPLATE = "{{ 7907*7919 }} {% raw %} ${7907*7919} {{ config }}"
EVERYTHING = f"{IMAGE} {SCRIPT} {QUOTES} {ENDS} {TEMPLATE}"
FILE = "<img src=x onerror=alert(6)>\"' onload='alert(7)'.svg"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload="alert(8)"><script>alert(9)</script>'
    '<a href="javascript:alert(10)"><text y="20">press</text></a><image href="https://evil.example/x.png"/>'
    "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='alert(11)'/></foreignObject></svg>"
)


def nasty_quiz() -> str:
    """A task with script wherever a task may have text; JSON's quotes are TOML's."""
    quoted = json.dumps(EVERYTHING)
    file = json.dumps(FILE)
    alternatives = [f"name = {json.dumps(f'{k} {each}')}" for k, each in enumerate((IMAGE, SCRIPT, QUOTES, ENDS[:60]))]
    return "\n".join(
        [
            f"title = {json.dumps(f'{IMAGE} {SCRIPT} {TEMPLATE}')}",
            f"instructions = {quoted}",
            f"privacy = {quoted}",
            'size = "1..2"',
            "ranking = true",
            *(
                f"[[alternatives]]\n{name}\nhelp = {quoted}\npicture = {file}\npicture_text = {quoted}"
                for name in alternatives
            ),
            *(
                f"[[instances]]\nname = {json.dumps(f'{k} {SCRIPT}{IMAGE}')}\ntext = {quoted}\npicture = {file}\n"
                f"picture_text = {quoted}\nlink = {json.dumps('https://example.org/' + QUOTES.replace(' ', '/') + '<script>')}"
                for k in range(3)
            ),
        ]
    )


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nasty")
    (folder / FILE).write_text(SVG)
    quiz = folder / "quiz.toml"
    quiz.write_text(nasty_quiz())
    with serving_here(quiz, f"sqlite:///{folder / 'quiz.db'}") as running:
        yield running
        assert running.failures == []


NICKNAMES = [IMAGE, SCRIPT, "\"'><svg onload=alert(5)>", "{{ 7907*7919 }}"]


@pytest.mark.slow
def test_nothing_a_task_or_a_person_says_runs(browser, nasty):
    for number, nickname in enumerate(NICKNAMES):
        with device(browser, nasty) as page:
            join(page, nickname)
            assert page.locator("input[name=tick]").count() == 4
            assert page.locator("#question img, main img").first.evaluate(
                "image => image.complete && image.naturalWidth > 0"
            )
            page.locator("label:has(input[name=tick])").nth(number).click()
            act(page, "answer")
            if number == 0:
                act(page, "none")
                act(page, "skip")
            for path in ("/", "/privacy", "/question/1", "/end") if number == 0 else ("/end",):
                page.goto(path)
                assert (
                    page.locator("script:not([src])").count() == page.locator("script[type='application/json']").count()
                )
                assert "62615533" not in page.content()
                page.mouse.move(200, 300)
            with page.expect_navigation():
                page.locator("form[action='/finish'] button").click()
            assert page.url.endswith("/end")
            assert nickname in page.locator("main").inner_text()
            if nickname == NICKNAMES[-1]:
                until(lambda page=page: page.reload() and page.locator("table.leaders").count())
                assert all(each in page.locator("table.leaders").inner_text() for each in NICKNAMES)


def test_nothing_runs_on_the_organisers_page_either(browser, nasty):
    headers = {"authorization": f"Bearer {nasty.key}"}
    with Visitor(nasty) as program:
        for instance in program.get("/api/v1/instances", headers=headers).json():
            path = f"/api/v1/voters/{quote(f'robot {IMAGE}', safe='')}/ballots/{quote(instance['name'], safe='')}"
            program.client.put(path, json={"ticks": []}, headers=headers).raise_for_status()
    with device(browser, nasty) as page:
        page.goto(nasty.organiser)
        page.wait_for_url("**/organiser")
        page.locator("#voters tr", has_text="robot").wait_for(timeout=60_000)
        page.mouse.move(300, 300)
        assert "62615533" not in page.content()
        page.goto("/organiser/report")
        page.wait_for_load_state()
        assert IMAGE in page.locator("body").inner_text()


def test_a_picture_opened_by_itself_runs_nothing(browser, nasty):
    with device(
        browser, nasty, expected=("Content Security Policy", "Blocked script execution", "evil.example")
    ) as page:
        join(page, "opens the picture")
        page.goto(page.locator("main img").first.get_attribute("src"))
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.nodeName") == "svg"


def test_json_is_not_taken_for_a_page(nasty):
    with organiser(nasty) as boss:
        for path in ("/organiser/live", "/api/v1/openapi.json", "/api/v1/task"):
            answered = boss.get(path, headers={"authorization": f"Bearer {nasty.key}"})
            assert answered.headers["content-type"].startswith("application/json")
        for name in ("ballots", "participants", "truth"):
            answered = boss.get(f"/organiser/export/{name}.csv")
            assert answered.headers["content-type"].startswith("text/csv")
            assert answered.headers["content-disposition"].startswith("attachment")


@pytest.fixture
def evil_site(nasty):
    """Another site on this machine whose page sends a form to the quiz by itself."""
    page = f"""<!doctype html><title>win</title><form method=post action="{nasty.address}/question/1">
        <input name=action value=none><input name=tick value=1></form><script>document.forms[0].submit()</script>"""

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_form_on_another_site_answers_for_nobody(browser, nasty, evil_site):
    with device(browser, nasty, expected=(evil_site, "403")) as page:
        join(page, "lured")
        page.goto(evil_site)
        page.wait_for_url("**/question/1")
        assert page.evaluate("performance.getEntriesByType('navigation')[0].responseStatus") == 403
        page.goto("/question")
        assert page.url.endswith("/question/1")


def test_the_quiz_cannot_be_put_into_a_frame(browser, nasty):
    with device(browser, nasty, expected=("frame", "Framing", "ERR_BLOCKED", "chrome-error")) as page:
        page.goto("/")
        page.set_content(f"<iframe src='{nasty.participants}'></iframe>")
        page.wait_for_timeout(500)
        assert all("join" not in (frame.content() if frame.url.startswith("http") else "") for frame in page.frames[1:])
