"""The page in a real browser: the first screen, addresses of instances, rows saved as CSV, and pages without scripts."""

import csv
import io
import time
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe

from epivote import EM, Ballots, Majority, reference_crowd, write_report
from watched import FIND, INSTANCES, VOTERS, first_column, opened

DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
BOTTOM = "selector => document.querySelector(selector).getBoundingClientRect().bottom + scrollY"
TOP = "selector => document.querySelector(selector).getBoundingClientRect().top + scrollY"


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_first_screen_answers_four_questions_and_the_table_follows(browser, report, screen):
    _, path = report
    with opened(browser, path, viewport=screen) as page:
        headings = page.locator(".card h3").all_text_contents()
        assert headings == [
            "What are the sets?",
            "How sure, and can that be trusted?",
            "Whom not to trust?",
            "What to do next?",
        ]
        assert page.evaluate(BOTTOM, ".cards") <= screen["height"]
        assert page.evaluate(TOP, "#instance-table tbody") <= 2 * screen["height"]
        assert page.locator(".sample .meter").first.is_visible(), "a picture of confidence"
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]


def test_charts_use_the_width_of_a_desktop(browser, report):
    _, path = report
    with opened(browser, path, viewport=DESKTOP) as page:
        for one, other in (
            (".map", "#voters .bars"),
            ("#alternative-table", "#alternatives figure"),
            ("#sizes", "#convergence"),
        ):
            left, right = (page.locator(each).first.bounding_box() for each in (one, other))
            assert left["x"] + left["width"] <= right["x"]
            assert right["x"] < 760 < right["x"] + right["width"], f"{other} starts in the right half"


@pytest.mark.parametrize("size", [(1, 2), (0, None)])
def test_four_long_warnings_leave_the_answers_on_the_first_screen(browser, birds, tmp_path, size):
    notes = [f"{number}: {'something to be careful about, ' * 7}and what to do" for number in range(4)]
    fitted = EM(size).fit(birds)
    with opened(browser, write_report(fitted, tmp_path / "r.html", notes=notes), viewport=DESKTOP) as page:
        assert page.evaluate(BOTTOM, ".cards") <= DESKTOP["height"]
        assert page.locator(".careful summary").inner_text() == "3 more"


def test_warnings_stand_on_top(browser, birds, tmp_path):
    path = write_report(EM((1, 2)).fit(birds), tmp_path / "r.html", notes=["the file was old"])
    with opened(browser, path, viewport=PHONE) as page:
        assert page.evaluate(BOTTOM, ".careful") < page.evaluate(TOP, ".cards")


def test_the_navigation_stays_and_marks_the_section(browser, report):
    _, path = report
    with opened(browser, path, reduced_motion="reduce") as page:
        page.get_by_role("link", name="Voters").first.click()
        page.locator("nav [aria-current]", has_text="Voters").wait_for()
        assert page.locator("nav").bounding_box()["y"] == 0
        assert page.locator("#voters-title").bounding_box()["y"] >= page.locator("nav").bounding_box()["height"]


# Addresses


def test_an_address_opens_its_instance(browser, report):
    _, path = report
    with opened(browser, path, reduced_motion="reduce") as page:
        page.goto(f"{path.as_uri()}#instance=picture%204")
        page.reload()
        assert page.locator(f"{INSTANCES} button.open[aria-expanded=true]").inner_text() == "picture 4"
        assert page.locator("tr.detail a").get_attribute("href") == "#instance=picture%204"
        page.locator(f"{INSTANCES} {FIND}").fill("nothing like it")
        page.locator(".sample a", has_text="picture 6").click()
        page.locator("tr.detail").nth(1).wait_for()
        assert page.evaluate("document.activeElement.textContent") == "picture 6", "found although a filter hid it"
        page.evaluate("location.hash = '#instance=nowhere'")
        page.evaluate("location.hash = '#instance=%E0%A4%A'")
        assert page.locator("tr.detail").count() == 2


def test_an_address_turns_to_the_page_of_its_instance(browser, tmp_path):
    crowd = reference_crowd(60, 10, 6, 2)
    path = write_report(Majority((1, 2)).fit(crowd.ballots), tmp_path / "r.html")
    last = crowd.ballots.instances[-1]
    with opened(browser, path) as page:
        page.evaluate(f"location.hash = '#instance={last}'")
        page.locator("tr.detail").wait_for()
        assert page.locator(f"{INSTANCES} [role=status]").inner_text() == "51 to 60 of 60"


@pytest.mark.slow
def test_addresses_of_nasty_names(browser, nasty, tmp_path):
    path = write_report(EM((0, 3)).fit(nasty), tmp_path / "r.html")
    with opened(browser, path) as page:
        for name in nasty.instances:
            page.evaluate("hash => { location.hash = hash }", f"#instance={quote(name, safe='')}")
            opened_names = page.locator("#instance-table [aria-expanded=true]")
            end = time.monotonic() + 30
            while name not in opened_names.all_text_contents():
                assert time.monotonic() < end, name
                page.wait_for_timeout(20)


# Rows as CSV


def saved(page, table) -> list[dict]:
    with page.expect_download() as waiting:
        page.locator(f"{table} .save").click()
    content = waiting.value.path().read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_shown_rows_are_saved_in_their_order(browser, report, birds_gold):
    fitted, path = report
    with opened(browser, path) as page:
        page.locator(f"{INSTANCES} {FIND}").fill("wren")
        rows = saved(page, INSTANCES)
        assert [row["instance"] for row in rows] == first_column(page, INSTANCES)
        assert "Download 5 rows (CSV)" in page.locator(f"{INSTANCES} .save").inner_text()
        majority = Majority((1, 2)).fit(fitted.estimate_.ballots).truth_
        for row in rows:
            name = row["instance"]
            z = fitted.truth_.instances.index(name)
            assert row["alternatives"] == "|".join(fitted.truth_.listed(name))
            assert row["gold"] == "|".join(sorted(birds_gold[name]))
            assert row["majority"] == "|".join(majority.listed(name))
            assert float(row["confidence"]) == pytest.approx(fitted.confidence_[z], abs=1e-6)
        voters = saved(page, VOTERS)
        assert {row["voter"] for row in voters} == set(fitted.estimate_.ballots.voters)
        reports = {each.voter: each for each in fitted.reliability()}
        assert all(float(row["weight"]) == pytest.approx(reports[row["voter"]].weight) for row in voters)
        assert {row["flags"] for row in voters} == {"; ".join(each.flags) for each in reports.values()}


def test_names_with_commas_quotes_and_lines_survive(browser, tmp_path):
    odd = 'say "a,b"\nand go'
    ballots = Ballots.from_mapping({("v", odd): {"x,y"}, ("w", odd): {"x,y"}}, alternatives=["x,y", "z"])
    with opened(browser, write_report(EM(1).fit(ballots), tmp_path / "r.html")) as page:
        (row,) = saved(page, INSTANCES)
        assert (row["instance"], row["alternatives"]) == (odd, "x,y")


# Filters


def test_gold_and_majority_in_filters_and_details(browser, report, birds_gold):
    fitted, path = report
    majority = Majority((1, 2)).fit(fitted.estimate_.ballots).truth_
    with opened(browser, path) as page:
        for label, other in (("different from gold", birds_gold), ("different from majority", majority)):
            box = page.get_by_label(label)
            box.check()
            assert set(first_column(page, INSTANCES)) == {z for z in other if fitted.truth_[z] != other[z]}
            box.uncheck()
        page.locator(f"{INSTANCES} button.open", has_text="picture 6").click()
        told = page.locator(".comparisons li")
        assert told.nth(0).locator(".chip").all_inner_texts() == sorted(birds_gold["picture 6"])
        assert told.nth(0).inner_text().endswith("(the set is not exactly right)")
        assert told.nth(1).locator(".chip").all_inner_texts() == majority.listed("picture 6")
        assert told.nth(1).inner_text().endswith("(a different set)")
        cast = [ticks for (_, z), ticks in fitted.estimate_.ballots.items() if z == "picture 6"]
        same = sum(ticks == fitted.truth_["picture 6"] for ticks in cast)
        assert told.nth(2).inner_text() == f"{same} of {len(cast)} ballots approve exactly this set."


# Everybody


def test_without_scripts_the_main_content_stands(browser, report):
    fitted, path = report
    with opened(browser, path, java_script_enabled=False) as page:
        assert page.locator(".card").count() == 4
        assert first_column(page, INSTANCES) == [doubt.instance for doubt in fitted.review(0.95)]
        flagged = {each.voter for each in fitted.reliability() if each.flags}
        assert set(first_column(page, VOTERS)) <= flagged
        assert page.locator("svg").count() >= 5
        assert page.locator("noscript p").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, report, scheme):
    _, path = report
    with opened(browser, path, color_scheme=scheme, viewport=PHONE if scheme == "dark" else DESKTOP) as page:
        page.evaluate("location.hash = '#instance=picture%206'")
        page.locator("tr.detail").wait_for()
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in found] == []
