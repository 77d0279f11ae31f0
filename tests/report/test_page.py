"""The page as a file: its numbers against the estimator, its words, and what must never be in it."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import (
    AMLE,
    EM,
    Approval,
    Ballots,
    FileError,
    InputError,
    Majority,
    MaximumLikelihood,
    Modal,
    NotFittedError,
    SizeBounds,
    calibration,
    reference_crowd,
    score,
    simulate,
    write_report,
)
from epivote.report import embedded
from epivote.report.anonymous import without_folders, without_voter_names
from strategies import elections

RATED = [EM((1, 2)), AMLE((1, 2)), MaximumLikelihood(0.7, 0.2, 0.3, bounds=(1, 2))]
COUNTING = [Majority((1, 2)), Modal((1, 2)), Approval((1, 2))]


def text_of(path) -> str:
    """What a reader sees, in one line."""
    parts = []

    class Reader(HTMLParser):
        inside = 0

        def handle_starttag(self, tag, _):
            self.inside += tag in ("script", "style")

        def handle_endtag(self, tag):
            self.inside -= tag in ("script", "style")

        def handle_data(self, data):
            if not self.inside:
                parts.append(data)

    Reader().feed(path.read_text(encoding="utf-8"))
    return " ".join(" ".join(parts).split())


def data_of(path) -> dict:
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def numbers(column) -> np.ndarray:
    return np.frombuffer(base64.b64decode(column[1]), f"<{column[0]}")


def members(data, number) -> list[str]:
    ends = np.cumsum(numbers(data["sets"]["sizes"]).astype(int))
    begin = ends[number] - numbers(data["sets"]["sizes"])[number]
    return [data["alternatives"]["names"][j] for j in numbers(data["sets"]["members"])[begin : ends[number]]]


def words(chance) -> str:
    return f"{100 * chance:.1f} %" if chance >= 0.9 else f"{100 * chance:.0f} %"


# Numbers


@given(elections(max_instances=5), st.sampled_from([EM, AMLE]))
@settings(max_examples=25)
def test_the_scripts_get_what_the_estimator_found(tmp_path_factory, election, kind):
    """Menus, bounds per instance, empty sets and single instances come out of the strategy."""
    ballots = election.as_ballots()
    fitted = kind(election.size_bounds, priors=0.3).fit(ballots)
    data = data_of(write_report(fitted, tmp_path_factory.mktemp("page") / "report.html"))
    items = data["instances"]
    assert items["names"] == list(ballots.instances)
    assert numbers(items["confidence"]) == pytest.approx(fitted.confidence_, abs=1e-6)
    assert numbers(data["voters"]["weights"]).tolist() == fitted.parameters_.weights.tolist()
    assert numbers(data["voters"]["thresholds"]).tolist() == fitted.parameters_.thresholds.tolist()
    top, chances = numbers(items["top"]).reshape(-1, 4), numbers(items["chances"]).reshape(-1, 4)
    lower, upper = election.size_bounds.resolve(ballots)
    assert [numbers(items["lower"]).tolist(), numbers(items["upper"]).tolist()] == [lower.tolist(), upper.tolist()]
    ballot = tick = 0
    for z, name in enumerate(ballots.instances):
        assert members(data, numbers(items["set"])[z]) == fitted.truth_.listed(name)
        if ballots.menu is not None:
            assert members(data, numbers(items["menu"])[z]) == list(ballots.offered(name))
        best = fitted.best_sets(name, 4)
        assert np.count_nonzero(top[z]) == len(best), "fewer sets than four where fewer are allowed"
        assert chances[z][: len(best)] == pytest.approx([chance for _, chance in best], abs=1e-6)
        for _ in range(numbers(items["ballots"])[z]):
            voter = ballots.voters[numbers(items["voter"])[ballot]]
            size = numbers(items["ticks"])[ballot]
            ticked = {ballots.alternatives[j] for j in numbers(items["ticked"])[tick : tick + size]}
            assert ticked == ballots.ballot(voter, name)
            ballot, tick = ballot + 1, tick + size
    assert ballot == ballots.n_ballots


def test_voters_have_the_rates_and_flags_of_reliability(birds, tmp_path):
    fitted = EM((1, 2)).fit(birds)
    given_ = data_of(write_report(fitted, tmp_path / "r.html"))["voters"]
    for i, report in enumerate(fitted.reliability()):
        assert given_["names"][i] == report.voter
        assert given_["flags"][i] == "; ".join(report.flags)
        for name, value in (
            ("hit_rates", report.hit_rate),
            ("hit_low", report.hit_rate_interval[0]),
            ("hit_high", report.hit_rate_interval[1]),
            ("false_alarm_rates", report.false_alarm_rate),
            ("false_alarm_low", report.false_alarm_rate_interval[0]),
            ("false_alarm_high", report.false_alarm_rate_interval[1]),
            ("weight_low", report.weight_interval[0]),
            ("weight_high", report.weight_interval[1]),
        ):
            assert numbers(given_[name])[i] == pytest.approx(value, abs=1e-5)


def test_the_opening_says_how_sure(birds, tmp_path):
    fitted = EM((1, 2)).fit(birds)
    text = text_of(write_report(fitted, tmp_path / "r.html"))
    sure = int((fitted.confidence_ >= 0.95).sum())
    assert (
        "24 instances, 5 alternatives, 24 voters, 521 ballots (21.7 per instance); 1 to 2 alternatives in a set" in text
    )
    assert f"{sure} of 24 sets have a confidence of at least 95 %" in text
    assert f"about {fitted.confidence_.sum():.0f} of 24 sets are exactly right" in text
    for doubt in fitted.review(0.95):
        assert f"{doubt.instance} {' , '.join(doubt.answer)} {100 * doubt.confidence:.0f} %" in text
        assert f"{100 * doubt.rival_probability:.0f} % {doubt.ballots} {doubt.more_ballots}" in text


def test_alternatives_and_confusions_are_counted(tmp_path):
    ballots = Ballots.from_mapping(
        {(f"v{i}", "z"): {"a"} for i in range(6)} | {("w", "z"): {"b"}}, alternatives=list("abc")
    )
    path = write_report(MaximumLikelihood(0.8, 0.1, 0.3, bounds=1).fit(ballots), tmp_path / "r.html")
    given_ = data_of(path)["alternatives"]
    assert numbers(given_["hit_share"]).tolist() == pytest.approx([6 / 7, np.nan, np.nan], nan_ok=True)
    assert numbers(given_["false_alarm_share"]).tolist() == pytest.approx([np.nan, 1 / 7, 0], nan_ok=True)
    assert numbers(given_["occurrences"]).tolist() == [1, 0, 0]
    assert "a left out and b approved instead: 1 ballot" in text_of(path)


# Kinds of estimates


@pytest.mark.parametrize("estimator", [*RATED, *COUNTING], ids=lambda each: type(each).__name__)
def test_every_estimator_has_a_page(estimator, birds, birds_gold, tmp_path):
    fitted = estimator.fit(birds)
    path = write_report(fitted, tmp_path / "r.html", gold=birds_gold)
    text, data = text_of(path), data_of(path)
    rated = estimator in RATED
    assert data["rated"] is rated
    assert ("What changed against a majority" in text) is rated
    assert (data["instances"]["confidence"] is not None) is rated
    assert ("so it states no confidence" in text) is not rated
    assert ("was the stated confidence right?" in text) is rated
    assert np.isnan(numbers(data["voters"]["hit_low"])).all() == (not rated)
    assert repr(fitted) in text
    assert ("its confidence is too high" in text) == isinstance(fitted, AMLE)


def test_gold_kept_aside_is_scored(birds, birds_gold, tmp_path):
    fitted = EM((1, 2)).fit(birds)
    text = text_of(write_report(fitted, tmp_path / "r.html", gold=birds_gold))
    scores = score(fitted.truth_, birds_gold, birds)
    assert f"{scores.jaccard.mean:.3f}" in text
    right = [fitted.truth_[name] == birds_gold[name] for name in birds.instances]
    for each in calibration(fitted.confidence_, right):
        assert f"{each.count} {words(each.mean_confidence)} {100 * each.right.mean:.0f} %" in text
    assert "Accuracy" not in text_of(write_report(fitted, tmp_path / "r.html"))


def test_gold_that_taught_is_checked_and_not_scored(birds, birds_gold, tmp_path):
    some = {name: birds_gold[name] for name in list(birds_gold)[:8]}
    fitted = EM((1, 2)).fit(birds, gold=some)
    text = text_of(write_report(fitted, tmp_path / "r.html", gold={**birds_gold, "nowhere": {"wren"}}))
    found, _ = fitted.gold_check()
    assert f"From the ballots alone {sum(found[name] == some[name] for name in some)} of them" in text
    assert "of 16 sets with gold are exactly right" in text
    assert "1 gold set was left out because the instance has no ballots" in text
    assert "8 gold sets were left out because the estimate learnt from them" in text
    assert data_of(tmp_path / "r.html")["instances"]["taught"] == [birds.instances.index(name) for name in some]
    all_taught = EM((1, 2)).fit(birds, gold=birds_gold)
    assert "None of the gold sets could be compared" in text_of(
        write_report(all_taught, tmp_path / "r.html", gold=birds_gold)
    )
    counting = Majority((1, 2)).fit(birds, gold=some)
    assert "Gold sets used for fitting</h3>" not in text_of(write_report(counting, tmp_path / "r.html"))


def test_one_instance_only(tmp_path):
    ballots = Ballots.from_mapping({("ann", "who?"): {"a"}, ("bo", "who?"): set()}, alternatives=["a", "b"])
    text = text_of(write_report(EM(1).fit(ballots), tmp_path / "r.html"))
    assert "1 instance, 2 alternatives, 2 voters, 2 ballots (2.0 per instance); exactly 1 alternative in a set" in text
    assert "Sets of 1 instance" in text
    none = Ballots.from_mapping({("ann", "who?"): set()}, alternatives=["a"])
    text = text_of(write_report(EM((0, 1)).fit(none), tmp_path / "r.html"))
    assert "No ballot left out an alternative of the set and approved another one instead" in text


def test_menus_and_bounds_per_instance(tmp_path):
    crowd = simulate(instances=12, voters=6, alternatives=5, bounds=(1, 2), priors=0.3, seed=2)
    menu = {z: sorted({*crowd.gold[z], *crowd.ballots.alternatives[:3]}) for z in crowd.ballots.instances}
    cast = {key: set(ticks) & set(menu[key[1]]) for key, ticks in crowd.ballots.items()}
    ballots = Ballots.from_mapping(cast, menu=menu, alternatives=crowd.ballots.alternatives)
    bounds = SizeBounds(1, 2, {ballots.instances[0]: (0, 3)})
    text = text_of(write_report(EM(bounds).fit(ballots), tmp_path / "r.html"))
    assert "1 to 2 alternatives in a set (1 instance with size bounds of its own)" in text


@pytest.mark.parametrize(
    ("status", "words"),
    [("interrupted", "Interrupted after"), ("iteration limit", "before convergence; allow more")],
)
def test_a_run_cut_short_says_so(status, words, birds, tmp_path):
    fitted = EM((1, 2)).fit(birds)
    fitted._estimate = replace(fitted.estimate_, status=status)
    text = text_of(write_report(fitted, tmp_path / "r.html"))
    assert text.count(words) == 2, "as a reason to be careful and under convergence"


def test_ties_and_upside_down_crowds_are_reasons_to_be_careful(tmp_path):
    tied = Ballots.from_mapping({("v", "z"): {"a", "b"}}, alternatives=list("abc"))
    fitted = MaximumLikelihood(0.8, 0.1, 0.5, bounds=1).fit(tied)
    text = text_of(write_report(fitted, tmp_path / "r.html", notes=["the file was old"]))
    assert "The file was old." in text
    assert "1 set had equally likely rivals" in text
    crowd = simulate(instances=60, voters=8, alternatives=5, bounds=1, hit_rates=0.1, false_alarm_rates=0.8, seed=1)
    assert "the crowd may be upside down" in text_of(
        write_report(EM(1).fit(crowd.ballots, gold=crowd.gold), tmp_path / "r.html")
    )


def test_of_very_many_items_the_most_doubtful_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "MOST_INSTANCES", 30)
    crowd = reference_crowd(200, 20, 6, 2)
    fitted = EM((1, 2)).fit(crowd.ballots)
    path = write_report(fitted, tmp_path / "r.html")
    kept = data_of(path)["instances"]["names"]
    in_order = [crowd.ballots.instances[z] for z in np.argsort(fitted.confidence_, kind="stable")]
    assert set(in_order[:27]) <= set(kept), "nine rows in ten are for the most doubtful"
    assert len({*kept} - {*in_order[:27]}) == 3, "the others are drawn from the rest"
    assert "holds 30 of 200 instances: the 27 most doubtful and a random sample of 3 others (seed 0)" in text_of(path)
    path = write_report(Majority((1, 2)).fit(crowd.ballots), tmp_path / "r.html")
    assert "holds 30 of 200 instances: a random sample of 30 (seed 0)" in text_of(path)


def test_of_very_many_voters_only_some_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr("epivote.report.voter_map.MOST_POINTS", 7)
    path = write_report(EM((1, 2)).fit(reference_crowd(60, 20, 6, 2).ballots), tmp_path / "r.html")
    assert path.read_text().count("data-voter=") == 7
    assert "Drawn are 7 of 20 voters, those with most ballots" in text_of(path)


# Names and files


def test_no_name_becomes_markup(nasty, tmp_path):
    fitted = EM((0, 3)).fit(nasty)
    path = write_report(
        fitted, tmp_path / "r.html", title="<script>alert(0)</script>", notes=["<b>bold</b>"], settings={"<i>": "<u>"}
    )
    page = path.read_text(encoding="utf-8")
    assert len(re.findall(r"<script", page)) == 2
    assert len(re.findall(r"</script", page)) == 2
    given_ = page[page.index('id="data">') : page.index("</script>")]
    assert "\u2028" not in given_
    assert "\u2029" not in given_

    class Attributes(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag not in ("img", "b", "i", "u")
            assert not [name for name, _ in attributes if name.startswith("on")]

    Attributes().feed(page.replace("<i style=", "<span style=").replace("<b style=", "<span style="))
    data = data_of(path)
    assert data["alternatives"]["names"] == list(nasty.alternatives)
    assert data["instances"]["names"] == list(nasty.instances)
    assert "{{ 7 * 7 }}" in text_of(path)


def test_half_a_character_is_replaced(tmp_path):
    ballots = Ballots.from_mapping({("v\ud800", "z\ud800"): {"a\ud800"}}, alternatives=["a\ud800", "b"])
    assert "v?: hit rate" in write_report(EM(1).fit(ballots), tmp_path / "r.html").read_text(encoding="utf-8")


def test_nothing_comes_from_elsewhere(birds, tmp_path):
    page = write_report(EM((1, 2)).fit(birds), tmp_path / "r.html").read_text()
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:" in page
    assert set(re.findall(r"\w+://[^\s\"')]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|iframe|img|object|embed)\b|@import|url\(|\bfetch\(|XMLHttpRequest|\bsrc=", page)


def test_the_same_page_to_the_byte(birds, birds_gold, tmp_path):
    pages = [
        write_report(EM((1, 2)).fit(birds), tmp_path / f"{k}.html", gold=birds_gold).read_bytes() for k in range(2)
    ]
    assert pages[0] == pages[1]


def test_anonymous_pages_name_no_voter(birds, tmp_path):
    cast = {(f"person {voter}", instance): ticks for (voter, instance), ticks in birds.items()}
    cast |= {("copycat", z): cast["person guesser-3", z] for z in birds.instances if ("person guesser-3", z) in cast}
    fitted = EM((1, 2)).fit(Ballots.from_mapping(cast))
    assert any("near-copy of" in flag for report in fitted.reliability() for flag in report.flags)
    told = {"Command": "epivote report /home/ann/quiz.csv --gold 'C:\\my data\\gold.csv' -o out/r.html"}
    path = write_report(fitted, tmp_path / "r.html", settings=told, anonymize=True)
    page, data = path.read_text(), data_of(path)
    assert "person" not in page
    assert "copycat" not in page
    assert "epivote report quiz.csv --gold gold.csv -o r.html" in text_of(path)
    assert data["voters"]["names"] == [f"voter {k}" for k in range(1, 26)]
    assert any("near-copy of voter " in flag for flag in data["voters"]["flags"])
    weights = np.abs(numbers(data["voters"]["weights"]))
    assert (np.diff(weights) <= 1e-9).all(), "most informative first, not by the alphabet"
    voter, start = numbers(data["instances"]["voter"]).astype(int), 0
    for count in numbers(data["instances"]["ballots"]).tolist():
        assert (np.diff(voter[start : start + count]) > 0).all(), "nor does the order of the ballots tell"
        start += count


def test_rates_given_by_name_are_not_shown_on_anonymous_pages(tmp_path):
    ballots = Ballots.from_mapping({("ann", "z"): {"a"}, ("bo", "z"): {"b"}})
    fitted = MaximumLikelihood({"ann": 0.9, "bo": 0.6}, 0.1, 0.5, bounds=1).fit(ballots)
    assert "ann" in text_of(write_report(fitted, tmp_path / "r.html"))
    assert not re.search(r"\bann\b", text_of(write_report(fitted, tmp_path / "r.html", anonymize=True)))


@given(elections(max_voters=6))
def test_renamed_voters_keep_everything_else(election):
    fitted = EM(election.size_bounds, max_iterations=5).fit(election.as_ballots())
    before, after = fitted.estimate_, without_voter_names(fitted.estimate_)
    assert after.posterior.set_probabilities.tolist() == before.posterior.set_probabilities.tolist()
    rows = [
        sorted(
            (float(each.parameters.hit_rates[i]), float(each.counts.hits[i]), z, tuple(sorted(ticks)))
            for (voter, z), ticks in each.ballots.items()
            for i in [each.ballots.voter_index[voter]]
        )
        for each in (before, after)
    ]
    assert rows[0] == rows[1]


def test_texts_lose_their_folders():
    assert without_folders("a/b.csv x=/c/d.csv '/e f/g.csv' 1..2 plain") == "b.csv x=d.csv g.csv 1..2 plain"


def test_what_cannot_be_reported(birds, tmp_path):
    with pytest.raises(NotFittedError):
        write_report(EM((1, 2)), tmp_path / "r.html")
    with pytest.raises(InputError, match="needs a fitted estimator such as EM, not Ballots"):
        write_report(birds, tmp_path / "r.html")
    with pytest.raises(FileError, match="it is a folder"):
        write_report(EM((1, 2)).fit(birds), tmp_path)
    with pytest.raises(InputError, match="is not among the alternatives"):
        write_report(EM((1, 2)).fit(birds), tmp_path / "r.html", gold={"picture 1": {"penguin"}})
    assert list(tmp_path.iterdir()) == []


def test_very_long_settings_are_cut(birds, tmp_path):
    text = text_of(write_report(EM((1, 2)).fit(birds), tmp_path / "r.html", settings={"Command": "x" * 5000}))
    assert "x" * 600 + " … (cut)" in text
