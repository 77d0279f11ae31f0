"""Pages that ask first, and pages of old forms, in a browser: readable by everybody, on a phone and without scripts."""

import pytest

from small_quiz import QUIZ
from watching import DESKTOP, PHONE, barriers, device, join, overflow

HIDDEN = (
    "document.querySelectorAll('input[name=shown]').forEach((field) => { field.value = field.value.slice(0, -1); })"
)


@pytest.mark.slow
@pytest.mark.parametrize("window", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_keeps_anybody_from_using_them(browser, serve_here, window, scheme):
    running = serve_here(QUIZ)
    refused = ("status of 409", "status of 403")
    with device(browser, running, expected=refused, color_scheme=scheme, **window) as page:
        join(page, "ann")
        page.locator("label:has(input[name=tick])").nth(1).click()
        page.evaluate(HIDDEN)
        page.locator("button[name=action][value=answer]").click()
        page.locator("#notice").wait_for()
        assert page.locator("input[name=tick]").nth(1).is_checked(), "the ticks are kept"
        assert_fine(page)
        for path in ("/leave", "/forget", "/"):
            page.goto(path)
            assert_fine(page)
        page.goto("/end")
        page.locator("form[action='/finish'] button").click()
        page.locator(".done").wait_for()
        for path in ("/", "/leave", "/organiser"):
            page.goto(path)
            assert_fine(page)
        page.goto(running.organiser)
        page.locator("#close").click()
        page.locator("form[action='/organiser/close'] button").wait_for()
        assert_fine(page)
        page.locator("form[action='/organiser/close'] button").click()
        page.locator("#open").wait_for()


def assert_fine(page):
    assert barriers(page) == [], page.url
    assert overflow(page) <= 0, page.url


@pytest.mark.slow
def test_a_stale_form_works_without_scripts(browser, serve_here):
    running = serve_here(QUIZ)
    with device(browser, running, expected=("status of 409",), java_script_enabled=False) as page:
        join(page, "ann")
        other = page.context.new_page()
        other.goto("/forget")
        other.locator("form[action='/forget'] button").click()
        join(other, "bea")
        page.locator("label:has(input[name=tick])").nth(2).click()
        page.locator("button[name=action][value=answer]").click()
        page.locator("#notice").wait_for()
        assert "You take part as bea now." in page.locator("#notice").inner_text()
        assert page.locator("input[name=tick]").nth(2).is_checked()
        assert running.store.snapshot()[1] == []
        page.locator("button[name=action][value=answer]").click()
        page.wait_for_url("**/question/*")
        assert [(row.voter, row.ticks) for row in running.store.snapshot()[1]] == [("bea", ("owl",))]
