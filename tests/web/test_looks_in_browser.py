"""What a participant sees on a small phone, without a connection, and of a picture that is too small."""

import pytest

from epivote.web.site import Settings
from listening import serving_here
from small_quiz import QUIZ, write_quiz
from watching import PHONE, act, barriers, device, join, overflow, ticked

LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen"
WIDE = '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="200"><rect width="800" height="200"/></svg>'
OUT_OF_SIGHT = """() => {
  const seen = (box, inside) => { const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); return inside.contains(at); };
  return [...document.querySelectorAll("label.box, button[name=action]")].filter((each) => {
    each.scrollIntoView({ block: "center" });
    return !seen(each.getBoundingClientRect(), each);
  }).map((each) => each.textContent.trim());
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The small quiz with a long word and a wide picture."""
    folder = tmp_path_factory.mktemp("looks")
    (folder / "wide.svg").write_text(WIDE)
    text = QUIZ.replace('name = "owl"', f'name = "{LONG}"').replace(
        '"dot.svg"\npicture_text = "A ', '"wide.svg"\npicture_text = "A '
    )
    quiz = write_quiz(folder, text)
    with serving_here(quiz, f"sqlite:///{quiz.with_suffix('.db')}") as running:
        yield running
        assert running.failures == []


def with_a_picture(page):
    """Goes to a question that has one."""
    position = next(n for n in range(1, 5) if page.goto(f"/question/{n}") and page.locator(".picture").count())
    return f"/question/{position}"


@pytest.mark.parametrize(("width", "height"), [(320, 568), pytest.param(390, 844, marks=pytest.mark.slow)])
def test_nothing_is_covered_on_a_phone(browser, served, width, height):
    with device(browser, served, **PHONE | {"viewport": {"width": width, "height": height}}) as page:
        join(page, f"covered {width}")
        with_a_picture(page)
        assert page.evaluate(OUT_OF_SIGHT) == []
        fixed = "[...document.querySelectorAll('body *')].filter((each) => /fixed|sticky/.test(getComputedStyle(each).position)).length"
        assert page.evaluate(fixed) == 0
        assert overflow(page) <= 0
        picture = page.locator(".picture img").bounding_box()
        assert picture["width"] / picture["height"] == pytest.approx(4, rel=0.02)
        small = page.locator("label.box img").bounding_box()
        assert small["width"] == small["height"] >= 44
        name = page.locator("label.box", has_text=LONG)
        assert name.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.slow
@pytest.mark.parametrize("code", ["de", "es", "fr"])
def test_long_words_of_other_languages_fit_a_small_phone(browser, served, code):
    with device(browser, served, **PHONE | {"viewport": {"width": 320, "height": 568}}) as page:
        page.goto(f"/language/{code}")
        assert overflow(page) <= 0
        join(page, f"small {code}")
        for path in ("/question/1", "/end", "/privacy", "/leave"):
            page.goto(path)
            assert page.locator("html").get_attribute("lang") == code
            assert (path, overflow(page) <= 0, barriers(page)) == (path, True, [])


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_reminder_to_tick_goes_once_something_is_ticked(browser, served, scripts):
    with device(browser, served, expected=("422",), java_script_enabled=scripts) as page:
        join(page, f"reminded {scripts}")
        page.locator("button[name=action][value=answer]").click()
        page.locator("#wrong").wait_for(state="visible")
        page.locator("label.box").first.click()
        page.locator("#wrong").wait_for(state="hidden", timeout=5_000)


def test_without_a_connection_the_ticks_stay(browser, served):
    with device(browser, served, expected=("ERR_INTERNET_DISCONNECTED",)) as page:
        join(page, "offline")
        page.locator("label.box").nth(1).click()
        page.context.set_offline(True)
        page.locator("button[name=action][value=answer]").click()
        page.get_by_text("There is no connection to the server.").wait_for(timeout=5_000)
        assert ticked(page) == [1]
        assert barriers(page) == []
        page.context.set_offline(False)
        act(page, "answer")
        page.wait_for_url("**/question/2")
        page.goto("/question/1")
        assert ticked(page) == [1]


@pytest.mark.slow
def test_trouble_of_the_server_keeps_the_ticks(browser, served):
    with device(browser, served, expected=("503",)) as page:
        join(page, "trouble")
        page.locator("label.box").nth(0).click()
        page.route("**/question/1", lambda route: route.fulfill(status=503, body="busy"))
        page.locator("button[name=action][value=answer]").click()
        page.get_by_text("The server could not save your answer.").wait_for(timeout=5_000)
        assert ticked(page) == [0]


def test_a_picture_is_enlarged_and_escape_closes_it(browser, served):
    with device(browser, served) as page:
        join(page, "zoom")
        with_a_picture(page)
        page.locator("a.zoom").focus()
        page.keyboard.press("Enter")
        view = page.locator("dialog.larger-view")
        view.wait_for(state="visible")
        assert view.locator("img").bounding_box()["width"] == page.viewport_size["width"]
        assert barriers(page) == []
        page.keyboard.press("1")
        assert ticked(page) == [], "keys do not reach what is behind"
        page.keyboard.press("Escape")
        view.wait_for(state="hidden")
        assert page.evaluate("document.activeElement.className") == "zoom"


@pytest.mark.slow
def test_without_scripts_the_picture_is_a_link(browser, served):
    with device(browser, served, java_script_enabled=False) as page:
        join(page, "link")
        with_a_picture(page)
        with page.context.expect_page() as opened:
            page.locator("a.zoom").click()
        assert "/picture/" in opened.value.url


def test_the_command_is_copied(browser, served):
    with device(browser, served, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(served.organiser)
        page.locator("#copy").click()
        page.get_by_text("Copied.").wait_for(timeout=5_000)
        assert page.evaluate("navigator.clipboard.readText()") == page.locator("#command").inner_text()
        assert page.locator("#sets img.thumb").count() == 2


WISHES = """
theme_colour = "#ffee00"
logo = "dot.svg"
consent = "I agree, see [the terms](https://example.org/)."
completion_code = "C1A2B3"
completion_link = "https://example.org/?cc={code}"
participant_parameter = "pid"
shuffle_alternatives = true
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_everybody_can_use_pages_with_all_wishes(browser, serve_here, scheme, width):
    running = serve_here(WISHES + QUIZ, settings=Settings(is_preview=True))
    with device(browser, running, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        page.goto("/?pid=5f0")
        assert barriers(page) == []
        page.locator("input[name=nickname]").fill("ann")
        page.locator("#consent").check()
        page.locator("form[action='/join'] button").click()
        page.wait_for_url("**/question/1")
        page.locator("label.box").first.click()
        page.wait_for_timeout(300)  # until colours have changed
        assert barriers(page) == []
        page.goto("/end")
        assert barriers(page) == []
        page.locator("form[action='/link'] button").click()
        page.wait_for_url("**/link")
        assert barriers(page) == []
        page.goto(page.locator(".personal a").get_attribute("href"))
        assert barriers(page) == []
        page.goto("/end")
        page.locator("form[action='/finish'] button").click()
        page.locator("#completion").wait_for()
        assert (barriers(page), overflow(page) <= 0) == ([], True)
        page.goto(running.organiser)
        assert (barriers(page), overflow(page) <= 0) == ([], True)
