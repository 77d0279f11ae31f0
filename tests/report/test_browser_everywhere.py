"""The page in a real browser: narrow screens, paper, readers who see or hear it differently, and very many items."""

import re
from itertools import pairwise

import pytest

from epivote import (
    EM,
    MaximumLikelihood,
    reference_crowd,
    write_report,
)
from watched import FIND, INSTANCES, VOTERS, open_instance, opened

# Screens and paper


CONTRAST = """() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; }
  };
  const poor = [];
  for (const e of document.querySelectorAll("body *:not(script):not(style):not(noscript)")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("svg, :disabled, .unseen, .skip, noscript")) continue;
    const [one, other] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((a, b) => b - a);
    if ((one + 0.05) / (other + 0.05) < 4.5) poor.push(e.outerHTML.slice(0, 80));
  }
  return poor;
}"""


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")])
def test_no_sideways_scrolling_and_readable_text_in_light_or_dark(browser, report, scheme, background):
    _, path = report
    with opened(browser, path, color_scheme=scheme) as page:
        open_instance(page, "picture 6")
        for width in (1280, 768, 390, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
        assert page.evaluate(CONTRAST) == []


def test_paper_gets_all_rows(browser, tmp_path):
    crowd = reference_crowd(300, 40, 6, 2)
    path = write_report(EM((1, 2)).fit(crowd.ballots), tmp_path / "r.html")
    with opened(browser, path, color_scheme="dark") as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator(f"{INSTANCES} tbody tr").count() == 300
        assert page.locator(f"{VOTERS} tbody tr").count() == 40
        assert page.locator("details:not([open])").count() == 0
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator(f"{INSTANCES} tbody tr").count() == 25
        assert page.locator("details[open]").count() == 0
        paper = page.pdf(format="A4")
        assert paper.startswith(b"%PDF")
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 6, "the browser itself asks for all rows"
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


# Those who do not see it


def test_landmarks_headings_and_labels(browser, report):
    _, path = report
    with opened(browser, path) as page:
        open_instance(page, "picture 6")
        for landmark in ("header", "nav", "main", "footer"):
            assert page.locator(f"body {landmark}").count() == 1
        assert page.locator("html").get_attribute("lang") == "en"
        levels = [
            int(tag[1])
            for tag in page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(e => e.tagName)")
        ]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for section in page.locator("section").all():
            assert page.locator(f"#{section.get_attribute('aria-labelledby')}").count() == 1
        assert page.evaluate("[...document.querySelectorAll('table')].filter(t => !t.caption).length") == 0
        assert page.evaluate("[...document.querySelectorAll('th')].filter(t => !t.scope).length") == 0
        assert page.evaluate("[...document.querySelectorAll('input')].filter(i => !i.labels.length).length") == 0
        assert page.evaluate("[...document.querySelectorAll('button')].filter(b => !b.textContent.trim()).length") == 0
        assert (
            page.evaluate("[...document.querySelectorAll('svg')].filter(s => !s.getAttribute('aria-label')).length")
            == 0
        )
        assert (
            page.evaluate(
                "[...document.querySelectorAll('.scroller')].filter(s => s.tabIndex || !s.getAttribute('aria-label')).length"
            )
            == 0
        )
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        for link in page.locator("nav a").all():
            assert page.locator(link.get_attribute("href")).count() == 1


def test_the_first_tab_skips_the_navigation(browser, report):
    _, path = report
    with opened(browser, path) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the overview"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0, "it is seen while focused"
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#found"
        page.locator(f"{INSTANCES} thead button").first.focus()
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") in ("solid", "auto")


# Size


@pytest.mark.slow
def test_only_one_page_of_very_many_items_is_in_the_document(browser, tmp_path):
    crowd = reference_crowd(5_000, 200, 10, 3)
    fitted = MaximumLikelihood(crowd.parameters.hit_rates, crowd.parameters.false_alarm_rates, 0.15, bounds=(1, 3))
    path = write_report(fitted.fit(crowd.ballots), tmp_path / "r.html")
    assert path.stat().st_size < 160 * 5_000
    with opened(browser, path) as page:
        page.locator(f"{INSTANCES} tbody tr").first.wait_for()
        assert page.locator("tr").count() < 200
        page.locator(f"{INSTANCES} {FIND}").fill("i77")
        page.locator(f"{INSTANCES} thead button").first.click()
        page.locator(f"{INSTANCES} thead button", has_text="Confidence").click()
        assert page.locator(f"{INSTANCES} [role=status]").inner_text() == "1 to 11 of 11 found of 5,000"
        open_instance(page, "i770")
        assert page.locator("tr.detail").count() == 1
