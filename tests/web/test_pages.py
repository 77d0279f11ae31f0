"""A person's way through a quiz in a real browser: desktop and phone, by mouse, keys and touch, with and without scripts."""

import itertools
import wave

import pytest

from asking import Visitor
from in_process import until
from listening import serving_here
from small_quiz import QUIZ, write_quiz
from watching import DESKTOP, PHONE, act, barriers, device, join, overflow, ticked

SEEN_FOCUS = "getComputedStyle(document.activeElement.closest('label') || document.activeElement).outlineStyle"
WIDTHS = {"desktop": DESKTOP, "phone": PHONE}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The small quiz; its pages look the same on both databases."""
    quiz = write_quiz(tmp_path_factory.mktemp("pages"))
    with serving_here(quiz, f"sqlite:///{quiz.with_suffix('.db')}") as running:
        yield running
        assert running.failures == []


def combined(*choices):
    """Of all combinations of choices the quick run tries two in which every choice differs."""
    choices = [list(each) for each in choices]
    quick = {tuple(each[0] for each in choices), tuple(each[-1] for each in choices)}
    return [
        pytest.param(*each, id="-".join(map(str, each)), marks=() if each in quick else pytest.mark.slow)
        for each in itertools.product(*choices)
    ]


@pytest.mark.parametrize(("width", "scripts"), combined(["phone", "desktop"], [True, False]))
def test_a_persons_way(browser, served, width, scripts):
    nickname = f"{width} {scripts}"
    with device(browser, served, java_script_enabled=scripts, **WIDTHS[width]) as page:
        join(page, nickname)
        assert page.locator("[role=progressbar], progress").count() >= 1
        page.locator("label:has(input[name=tick])").nth(0).click()
        page.locator("label:has(input[name=tick])").nth(2).click()
        assert ticked(page) == [0, 2]
        act(page, "answer")
        page.wait_for_url("**/question/2")
        act(page, "none")
        page.wait_for_url("**/question/3")
        act(page, "skip")
        page.wait_for_url("**/question/4")
        page.locator("label:has(input[name=tick])").nth(1).click()
        act(page, "answer")
        page.wait_for_url("**/end")

        page.goto("/question/1")
        assert ticked(page) == [0, 2]
        page.locator("label:has(input[name=tick])").nth(0).click()
        act(page, "answer")
        page.goto("/question/1")
        assert ticked(page) == [2]

        page.goto("/end")
        assert page.locator("#agreement").is_visible()
        page.locator("form[action='/finish'] button").click()
        page.wait_for_url("**/end")
        assert page.locator("#ranking").is_visible()
        assert nickname in page.locator("main").inner_text()
        page.goto("/question/1")
        assert (
            page.locator("button[name=action]").count() == 0 or page.locator("button[name=action]").first.is_disabled()
        )


def test_number_keys_tick_and_enter_goes_on(browser, served):
    with device(browser, served) as page:
        join(page, "keys")
        page.keyboard.press("1")
        page.keyboard.press("3")
        assert ticked(page) == [0, 2]
        page.keyboard.press("1")
        assert ticked(page) == [2]
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.wait_for_url("**/question/2")
        page.keyboard.press("9")
        assert ticked(page) == []


def test_everything_is_reached_by_the_keyboard_alone(browser, served):
    with device(browser, served) as page:
        page.goto("/")
        page.locator("input[name=nickname]").focus()
        page.keyboard.type("tab only 12")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.wait_for_url("**/question/1")
        reached = []
        for _ in range(25):
            page.keyboard.press("Tab")
            reached.append(
                tuple(page.evaluate("[document.activeElement.name || '', document.activeElement.value || '']"))
            )
            if reached[-1][0] in ("tick", "action"):
                assert page.evaluate(SEEN_FOCUS) != "none"
        assert len({value for name, value in reached if name == "tick"}) == 3
        assert {("action", "answer"), ("action", "none"), ("action", "skip")} <= set(reached)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_an_answer_without_a_tick_is_asked_again(browser, served, scripts):
    with device(browser, served, expected=("422",), java_script_enabled=scripts) as page:
        join(page, f"no tick {scripts}")
        page.locator("button[name=action][value=answer]").click()
        page.locator("[role=alert]").wait_for()
        assert "none" in page.locator("[role=alert]").inner_text().lower()
        assert page.url.endswith("/question/1")
        if scripts:
            assert barriers(page) == []


def test_coming_back_later_on_the_same_device(browser, served):
    with device(browser, served) as page:
        join(page, "later")
        page.locator("label:has(input[name=tick])").nth(1).click()
        act(page, "answer")
        kept = page.context.storage_state()
    with device(browser, served, storage_state=kept) as page:
        page.goto("/")
        page.locator("main a[href^='/question']").first.click()
        page.wait_for_url("**/question/2")
        page.goto("/question/1")
        assert ticked(page) == [1]


def test_the_back_button_and_a_second_press_of_the_same_button(browser, served):
    with device(browser, served) as page:
        join(page, "back and twice")
        page.locator("label:has(input[name=tick])").nth(0).click()
        page.locator("button[name=action][value=answer]").dblclick()
        page.wait_for_url("**/question/2")
        page.go_back()
        page.wait_for_url("**/question/1")
        page.reload()
        assert ticked(page) == [0]
        page.locator("label:has(input[name=tick])").nth(2).click()
        act(page, "answer")
        page.goto("/question/1")
        assert ticked(page) == [0, 2]


def test_an_answer_that_got_stuck_can_be_sent_again(browser, served):
    """A bad network: the request hangs, the person stops it and presses once more."""
    with device(browser, served, expected=("ERR_",)) as page:
        page.clock.install()
        join(page, "stuck")
        page.locator("label:has(input[name=tick])").nth(1).click()
        stop = page.context.new_cdp_session(page)
        with served.held_up():
            page.locator("button[name=action][value=answer]").evaluate("button => setTimeout(() => button.click(), 0)")
            page.wait_for_timeout(500)
            stop.send("Page.stopLoading")
        page.clock.fast_forward(4_000)
        page.locator("button[name=action][value=answer]").click()
        page.wait_for_url("**/question/2")


def test_the_buttons_are_large_enough_for_a_thumb(browser, served):
    with device(browser, served, **PHONE) as page:
        join(page, "thumb")
        for found in (page.locator("label:has(input[name=tick])"), page.locator("button[name=action]")):
            for k in range(found.count()):
                assert found.nth(k).bounding_box()["height"] >= 44
        assert overflow(page) <= 0


def test_a_picture_that_never_comes_does_not_block_answering(browser, served):
    with device(browser, served, expected=("ERR_FAILED",)) as page:
        page.route("**/picture/**", lambda route: route.abort())
        join(page, "no picture")
        for _ in range(4):
            page.locator("label:has(input[name=tick])").nth(0).click()
            act(page, "answer")
        page.wait_for_url("**/end")


def test_french(browser, served):
    with device(browser, served, locale="fr-FR") as page:
        page.goto("/")
        assert page.locator("html").get_attribute("lang") == "fr"
        english = page.locator("a[href^='/language/en'], form[action^='/language/en'] button").first
        english.click()
        page.locator("html[lang=en]").wait_for()
        page.goto("/language/fr")
        join(page, "française")
        assert page.locator("html").get_attribute("lang") == "fr"
        words = page.locator("#question").inner_text()
        assert "None of these" not in words
        assert "Aucun" in words


def test_the_language_can_be_changed_on_a_refused_form(browser, served):
    Visitor(served).joined("taken before")
    with device(browser, served, expected=("409",)) as page:
        page.goto("/")
        page.locator("input[name=nickname]").fill("taken before")
        page.locator("form[action='/join'] button").click()
        page.locator("[role=alert]").wait_for()
        assert barriers(page) == []
        page.locator("a[href='/language/fr']").click()
        page.locator("html[lang=fr]").wait_for()
        assert page.locator("input[name=nickname]").is_visible()


def test_forgetting(browser, served):
    with device(browser, served) as page:
        join(page, "forget me")
        act(page, "none")
        page.goto("/end")
        page.locator("a[href='/privacy']").click()
        page.locator("a[href='/forget']").click()
        assert barriers(page) == []
        page.locator("form[action='/forget'] button").click()
        page.wait_for_url(served.participants)
        join(page, "forget me")


def test_sound_link_and_a_menu_of_its_own(browser, serve_here, tmp_path):
    (tmp_path / "quiz").mkdir()
    with wave.open(str(tmp_path / "quiz" / "hoot.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(bytes([128]) * 4_000)
    running = serve_here(QUIZ.split("[[instances]]")[0] + ONE_WITH_SOUND)
    with device(browser, running) as page:
        join(page, "listener")
        until(lambda: page.locator("audio").evaluate("sound => sound.duration > 0.4"))
        assert page.locator("main a[target=_blank]").get_attribute("rel").split() >= ["noopener"]
        assert page.locator("input[name=tick]").count() == 2
        page.keyboard.press("2")
        assert page.locator("input[name=tick]").nth(1).is_checked()
        assert barriers(page) == []
        act(page, "answer")
        page.wait_for_url("**/end")


ONE_WITH_SOUND = """
[[instances]]
name = "night"
text = "Who calls?"
audio = "hoot.wav"
link = "https://example.org/night?a=1&b=2"
alternatives = ["owl", "cat"]
size = "1"
"""


PATHS = {
    "start": "/",
    "question with a picture": "/question/1",
    "question": "/question/2",
    "end": "/end",
    "privacy": "/privacy",
    "not found": "/nowhere",
}


@pytest.mark.parametrize(("width", "scheme", "code"), combined(WIDTHS, ["light", "dark"], ["fr", "en"]))
def test_nothing_serious_keeps_anybody_from_using_the_pages(browser, served, width, scheme, code):
    with device(browser, served, expected=("404", "422"), color_scheme=scheme, **WIDTHS[width]) as page:
        page.goto(f"/language/{code}")
        page.goto("/")
        assert barriers(page) == []
        join(page, f"axe {scheme} {width} {code}")
        for name, path in PATHS.items():
            page.goto(path)
            assert (name, barriers(page)) == (name, [])
            assert (name, overflow(page) <= 0) == (name, True)
        page.goto("/end")
        page.locator("form[action='/finish'] button").click()
        page.wait_for_url("**/end")
        assert barriers(page) == []


def organisers_page(page, served):
    page.goto(served.organiser)
    page.wait_for_url("**/organiser")


def test_the_organisers_page_changes_while_ballots_arrive(browser, served):
    with device(browser, served) as page:
        organisers_page(page, served)
        loads = []
        page.on("framenavigated", lambda frame: loads.append(frame.url))
        before = page.locator("main").inner_text()
        with Visitor(served).joined("just now") as visitor:
            for position in range(1, 5):
                visitor.answer(position, [1])
        row = page.locator("#voters tr", has_text="just now")
        row.get_by_text("false-alarm rate").wait_for(timeout=60_000)
        assert page.locator("main").inner_text() != before
        assert loads == []


@pytest.mark.parametrize(("width", "scheme", "scripts"), combined(WIDTHS, ["light", "dark"], [True, False]))
def test_the_organisers_page_can_be_used_by_everybody(browser, served, width, scheme, scripts):
    Visitor(served).joined(f"seen {scheme} {len(width)} {scripts}").answer(1, [0])
    with device(browser, served, color_scheme=scheme, java_script_enabled=scripts, **WIDTHS[width]) as page:
        organisers_page(page, served)
        if scripts:
            assert barriers(page) == []
        assert overflow(page) <= 0
        for name in ("ballots", "participants", "truth"):
            with page.expect_download() as download:
                page.locator(f"a[href$='/export/{name}.csv']").first.click()
            assert download.value.suggested_filename.endswith(".csv")
        page.goto("/organiser/report")
        assert page.locator("h1").count() == 1
