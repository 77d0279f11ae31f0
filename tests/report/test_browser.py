"""The page in a real browser: tables, items, the map, and what must never happen."""

import re
from dataclasses import replace

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    Ballots,
    Majority,
    MaximumLikelihood,
    SizeBounds,
    Truths,
    reference_crowd,
    simulate,
    write_report,
)
from epivote.data.calibration import Calibration
from epivote.estimate.outcome import calibrated_estimate
from epivote.estimate.workload import InMemoryWorkload
from grouped import crowd_in_groups
from watched import FIND, INSTANCES, VOTERS, first_column, open_instance, opened

# Tables


def test_items_sort_by_mouse_and_say_so(browser, report):
    fitted, path = report
    with opened(browser, path) as page:
        head = page.locator(f"{INSTANCES} thead th", has_text="Confidence")
        assert head.get_attribute("aria-sort") == "ascending", "the most doubtful come first"
        names = fitted.truth_.instances
        least_first = [names[z] for z in np.argsort(fitted.confidence_.astype(np.float32), kind="stable")]
        assert first_column(page, INSTANCES) == least_first[:25]
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert first_column(page, INSTANCES)[-1] == least_first[0]
        page.locator(f"{INSTANCES} thead button", has_text="Instance").click()
        assert head.get_attribute("aria-sort") is None
        assert first_column(page, INSTANCES)[:3] == ["picture 1", "picture 2", "picture 3"], "2 comes before 10"


def test_items_filter_and_sort_by_keyboard_alone(browser, report):
    fitted, path = report
    with opened(browser, path) as page:
        page.locator(f"{INSTANCES} {FIND}").focus()
        page.keyboard.type("wren")
        with_wren = [name for name in fitted.truth_ if "wren" in fitted.truth_[name]]
        assert sorted(first_column(page, INSTANCES)) == sorted(with_wren)
        assert (
            page.locator(f"{INSTANCES} .pager [role=status]").inner_text()
            == f"1 to {len(with_wren)} of {len(with_wren)} found of 24"
        )
        page.locator(f"{INSTANCES} thead button").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert first_column(page, INSTANCES) == with_wren[::-1]
        page.locator(f"{INSTANCES} button.open").first.focus()
        page.keyboard.press("Space")
        assert page.locator(f"{INSTANCES} tr.detail").count() == 1
        assert page.locator(f"{INSTANCES} button.open").first.get_attribute("aria-expanded") == "true"
        page.locator(f"{INSTANCES} thead button").first.click()
        button = page.locator(f"{INSTANCES} button.open[aria-expanded=true]")
        assert button.inner_text() == with_wren[-1], "an instance stays open when the table is sorted anew"
        assert page.locator(f"{INSTANCES} tr.detail").count() == 1
        button.press("Space")
        assert page.locator(f"{INSTANCES} tr.detail").count() == 0
        page.locator(f"{INSTANCES} {FIND}").fill("nothing like it")
        assert page.locator(f"{INSTANCES} [role=status]").inner_text() == "No instance found"


def test_boxes_keep_the_doubtful_and_the_flagged(browser, report):
    fitted, path = report
    with opened(browser, path) as page:
        page.get_by_label("below 95").check()
        assert set(first_column(page, INSTANCES)) == {doubt.instance for doubt in fitted.review(0.95)}
        page.get_by_label("flagged").check()
        assert set(first_column(page, VOTERS)) == {each.voter for each in fitted.reliability() if each.flags}


def test_pages_turn(browser, tmp_path):
    crowd = reference_crowd(60, 10, 6, 2)
    with opened(browser, write_report(EM((1, 2)).fit(crowd.ballots), tmp_path / "r.html")) as page:
        status = page.locator(f"{INSTANCES} [role=status]")
        assert status.inner_text() == "1 to 25 of 60"
        assert page.locator(f"{INSTANCES} tbody tr").count() == 25
        for button, shown in (("Next", "26 to 50 of 60"), ("Last", "51 to 60 of 60"), ("Previous", "26 to 50 of 60")):
            page.locator(f"{INSTANCES} .pager button", has_text=button).click()
            assert status.inner_text() == shown
        assert page.locator(f"{INSTANCES} .pager button", has_text="First").is_enabled()


def test_unknown_rates_come_last_either_way(browser, tmp_path):
    ballots = Ballots.from_mapping({("a", "y"): {"x"}, ("b", "y"): set(), ("c", "z"): set()}, alternatives=["x", "w"])
    fitted = MaximumLikelihood({"a": 0.9, "b": 0.8, "c": 0.7}, 0.1, 0.3, bounds=SizeBounds(1, 1, {"z": (0, 0)}))
    with opened(browser, write_report(fitted.fit(ballots), tmp_path / "r.html")) as page:
        head = page.locator(f"{VOTERS} thead button", has_text="Hit rate")
        head.click()
        assert first_column(page, VOTERS) == ["a", "b", "c"]
        head.click()
        assert first_column(page, VOTERS) == ["b", "a", "c"]


# An item opened


DETAIL = """() => {
  const detail = document.querySelector("#instance-table tr.detail");
  const more = detail.querySelector(".falls + button");
  if (more) more.click();
  const words = (e) => e.innerText.replace(/\\s+/g, " ").replaceAll("\u2212", "-").trim();
  const falls = [...detail.querySelectorAll(".fall")].map((fall) => ({
    alternative: fall.dataset.alternative, margin: Number(fall.dataset.margin), chance: Number(fall.dataset.chance),
    caption: words(fall.querySelector("caption")),
    steps: [...fall.querySelectorAll("tr")].map((row) => [words(row.cells[0]), words(row.cells[1])]),
  }));
  const tables = [...detail.querySelectorAll(".halves table")];
  const ballots = [...tables[1].tBodies[0].rows].map((row) => ({
    voter: words(row.cells[0]), ticks: [...row.querySelectorAll(".chip")].map(words), all: words(row.cells[1]),
  }));
  const best = [...tables[0].tBodies[0].rows].map((row) => words(row.cells[1]));
  return {bound: words(detail.querySelector(".bound")), falls, best, ballots};
}"""


def check_item(page, fitted, name) -> None:
    told, shown = fitted.explain(name), page.evaluate(DETAIL)
    assert shown["bound"] == told.bound_effect
    falls = {fall["alternative"]: fall for fall in shown["falls"]}
    assert set(falls) == {account.alternative for account in told.accounts}
    for account in told.accounts:
        fall = falls[account.alternative]
        assert fall["margin"] == pytest.approx(account.margin, abs=1e-9)
        assert fall["chance"] == pytest.approx(account.probability, abs=1e-9)
        verdict = f"{'in' if account.chosen else 'out'}, in the true set with {chance_words(account.probability)}"
        assert fall["caption"] == f"{account.alternative}: {verdict}"
        ranked = sorted(account.pushes.items(), key=lambda item: -abs(item[1]))
        steps = [["prior", written(account.prior)]]
        steps += [
            [f"{'✓' if voter in account.ticked_by else '✗'} {voter}", written(push)] for voter, push in ranked[:8]
        ]
        if len(ranked) > 8:
            steps.append([f"{len(ranked) - 8} others", written(sum(push for _, push in ranked[8:]))])
        if account.calibration:
            steps.append(["calibration", written(account.calibration)])
        assert fall["steps"] == [*steps, ["margin", written(account.margin)]]
    assert shown["best"] == [chance_words(chance) for _, chance in told.runners_up[:4]]
    ballots = fitted.estimate_.ballots
    assert len(shown["ballots"]) == sum(z == name for (_, z), _ in ballots.items())
    for row in shown["ballots"]:
        assert set(row["ticks"]) == ballots.ballot(row["voter"], name)
        assert bool(row["ticks"]) != (row["all"] == "(none)"), "an empty ballot says so"


def chance_words(chance: float) -> str:
    """As a reader sees it: a decimal below 10 % and from 90 % on, bounds beyond 0.1 % and 99.9 %."""
    if not 0.001 <= chance <= 0.999:
        return "> 99.9 %" if chance > 0.5 else "< 0.1 %"
    return f"{100 * chance:.1f} %" if chance < 0.1 or chance >= 0.9 else f"{100 * chance:.0f} %"


def written(value: float) -> str:
    return "0.00" if f"{abs(value):.2f}" == "0.00" else f"{value:+.2f}"


def test_an_opened_item_says_what_explain_says(browser, report):
    fitted, path = report
    with opened(browser, path) as page:
        for name in ("picture 6", "picture 4"):
            open_instance(page, name)
            check_item(page, fitted, name)


def test_bounds_menus_and_gold_are_explained_alike(browser, tmp_path):
    crowd = simulate(instances=8, voters=5, alternatives=5, bounds=(1, 2), priors=0.3, seed=4)
    names = crowd.ballots.instances
    menu = {z: sorted({*crowd.gold[z], *crowd.ballots.alternatives[: 2 + k % 4]}) for k, z in enumerate(names)}
    cast = {key: set(ticks) & set(menu[key[1]]) for key, ticks in crowd.ballots.items()}
    ballots = Ballots.from_mapping(cast, menu=menu, alternatives=crowd.ballots.alternatives)
    bounds = SizeBounds(1, 2, {names[0]: (0, 0), names[1]: (2, 2), names[2]: (0, 2), names[3]: (1, None)})
    fitted = AMLE(bounds).fit(ballots, gold={names[4]: crowd.gold[names[4]]})
    with opened(browser, write_report(fitted, tmp_path / "r.html")) as page:
        for name in names:
            open_instance(page, name)
            check_item(page, fitted, name)


@pytest.mark.parametrize("scale", [pytest.param(None, marks=pytest.mark.slow), 0.6])
def test_items_in_groups_are_explained_alike(browser, tmp_path, scale):
    crowd, _ = crowd_in_groups(3, instances=60, groups=2)
    names = crowd.ballots.instances
    bounds = SizeBounds(1, 4, {names[0]: (0, 2), names[1]: (2, 2), names[2]: (1, None)})
    gold = {name: crowd.gold[name] for name in names[3:5]}
    fitted = EM(bounds, groups=2).fit(crowd.ballots, gold=gold)
    if scale is not None:
        work = InMemoryWorkload(crowd.ballots, bounds, gold)
        calibration = Calibration(scale, 1.0, 0.2, -0.1, np.linspace(-0.2, 0.2, 8), "gold")
        fitted._estimate = calibrated_estimate(work, fitted.estimate_, calibration)
    told = {name: fitted.explain(name) for name in names[:25]}
    unusual = [name for name, each in told.items() if set(each.answer) != set(each.group.answer)]
    assert unusual
    with opened(browser, write_report(fitted, tmp_path / "r.html")) as page:
        for name in dict.fromkeys([*names[:4], unusual[0]]):
            open_instance(page, name)
            check_item(page, fitted, name)
            group = told[name].group
            words = f"those of group {group.number}, to which it belongs with a probability of {chance_words(group.probability)}."
            assert words in page.locator(".group").inner_text().replace("\u00a0", " ")
            open_instance(page, name)  # closes it again


def test_an_estimate_that_had_not_settled_says_so(browser, birds, tmp_path):
    fitted = EM((1, 2)).fit(birds)
    told = fitted.estimate_.truths
    other = {name: {"wren"} if name == "picture 1" else set(told[name]) for name in told}
    wrong = Truths.from_mapping(other, alternatives=birds.alternatives)
    fitted._estimate = replace(fitted.estimate_, compute_truths=lambda: wrong, status="interrupted")
    with opened(browser, write_report(fitted, tmp_path / "r.html")) as page:
        open_instance(page, "picture 1")
        check_item(page, fitted, "picture 1")
        assert "stopped before convergence" in page.locator(".bound").inner_text()


def test_many_alternatives_unfold_by_and_by(browser, tmp_path):
    names = [f"a{j}" for j in range(200)]
    ballots = Ballots.from_mapping({("v", "z"): {"a7"}, ("w", "z"): {"a7", "a9"}}, alternatives=names)
    path = write_report(MaximumLikelihood(0.8, 0.1, 0.01, bounds=1).fit(ballots), tmp_path / "r.html")
    with opened(browser, path) as page:
        open_instance(page, "z")
        assert page.locator(".fall").count() == 3, "the member and the two strongest outsiders"
        more = page.get_by_role("button", name=re.compile("^Show .*other"))
        for shown in (63, 123, 183, 200):
            more.click()
            assert page.locator(".fall").count() == shown
        assert more.count() == 0


def test_rules_that_count_show_ticks_instead(browser, birds, tmp_path):
    with opened(browser, write_report(Majority((1, 2)).fit(birds), tmp_path / "r.html")) as page:
        open_instance(page, "picture 6")
        assert page.locator(".fall").count() == 0
        ticks = [ticks for (_, z), ticks in birds.items() if z == "picture 6"]
        wren = sum("wren" in each for each in ticks)
        assert f"{wren} of {len(ticks)}" in page.locator("tr.detail tr", has_text="wren").first.inner_text()


# The map


BESIDE = """() => {
  const dot = document.querySelector(".map .voter:hover") || document.activeElement;
  const [mark, tip] = [dot, document.querySelector(".tip")].map((each) => each.getBoundingClientRect());
  const apart = (low, high, from, to) => Math.max(low - to, from - high, 0);
  return Math.hypot(apart(mark.left, mark.right, tip.left, tip.right), apart(mark.top, mark.bottom, tip.top, tip.bottom));
}"""


def test_the_map_names_voters_beside_the_dot_on_hover_and_focus(browser, report):
    fitted, path = report
    reports = fitted.reliability()
    with opened(browser, path) as page:
        dots, tip = page.locator(".map .voter"), page.locator(".tip")
        assert dots.count() == 24
        dots.nth(5).hover(force=True)
        voter = reports[int(page.locator(".map .voter:hover").get_attribute("data-voter"))]
        words = " ".join(tip.inner_text().split())
        assert words.startswith(f"{voter.voter} hit rate {chance_words(voter.hit_rate)} (95 % CI ")
        assert f"weight {written(voter.weight)}".replace("-", "−") in words
        assert page.evaluate(BESIDE) <= 12, "the words stand beside the dot"
        assert page.locator(".looked-at line").count() == 2
        assert page.locator(".map .voter[tabindex='0']").count() == 1, (
            "one stop for the tab key, arrows go on from there"
        )
        dots.first.focus()
        page.keyboard.press("ArrowRight")
        focused = page.evaluate("document.activeElement.dataset.voter")
        assert focused == dots.nth(1).get_attribute("data-voter")
        assert tip.inner_text().startswith(reports[int(focused)].voter)
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.dataset.voter") == dots.last.get_attribute("data-voter")
        page.keyboard.press("Escape")
        assert tip.is_hidden()


def test_bars_and_cells_tell_what_they_stand_for(browser, report):
    _, path = report
    with opened(browser, path) as page:
        for mark, words in (
            (".card rect.bar >> nth=-1", "with a confidence of 99.9"),
            ("#sizes rect.bar >> nth=1", "of the ballots have 1"),
        ):
            page.locator(mark).hover(force=True)
            assert words in page.locator(".tip").inner_text()
        assert page.locator("figure rect > title").count() == 0, "the browser would show its own as well"


# Names


def test_names_stay_text(browser, nasty, tmp_path):
    fitted = EM((0, 3)).fit(nasty)
    path = write_report(fitted, tmp_path / "r.html", title="<script>alert(0)</script>", notes=["<img src=x>"])
    with opened(browser, path) as page:
        for button in page.locator(f"{INSTANCES} button.open").all():
            button.click()
        for dot in page.locator(".map .voter").all():
            dot.focus()
        assert page.locator("h1").inner_text() == "<script>alert(0)</script>"
        assert page.locator("img").count() == 0
        assert set(first_column(page, INSTANCES)) == set(nasty.instances)
        assert set(page.locator("tr.detail .chip").all_text_contents()) == set(nasty.alternatives)
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
