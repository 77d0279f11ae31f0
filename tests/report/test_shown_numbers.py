"""Every number and word on the page, worked out anew from the ballots and from what the estimator found."""

from dataclasses import replace
from math import sqrt
from statistics import fmean, median

import numpy as np
import pytest

from epivote import (
    EM,
    Ballots,
    Majority,
    MaximumLikelihood,
    Posterior,
    SizeBounds,
    Truths,
    __version__,
    simulate,
    write_report,
)
from reading import Page, numbers, rows, sets_of


def percent(share) -> str:
    return f"{100 * share:.1f}%"


def wilson(kept) -> tuple[float, float]:
    """The 0.95 interval of a share."""
    n, share, z = len(kept), fmean(kept), 1.959963984540054
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


@pytest.fixture(scope="module")
def crowd():
    return simulate(
        instances=60,
        voters=11,
        alternatives=5,
        bounds=(1, 2),
        hit_rates=0.75,
        false_alarm_rates=0.13,
        coverage=0.45,
        spammers=0.3,
        seed=3,
    )


@pytest.fixture(scope="module")
def fitted(crowd):
    return EM((1, 2)).fit(crowd.ballots)


@pytest.fixture(scope="module")
def cast(crowd):
    return {key: set(ticks) for key, ticks in crowd.ballots.items()}


@pytest.fixture(scope="module")
def page(fitted, crowd, tmp_path_factory):
    told = {"File": "crowd.csv", "Read as": "ballots"}
    return Page(write_report(fitted, tmp_path_factory.mktemp("r") / "r.html", gold=crowd.gold, settings=told))


def with_confidence(fitted, values):
    """The same estimator with these confidences."""
    known = fitted.estimate_
    changed = EM(fitted.bounds)
    posterior = Posterior(known.posterior.inclusion, np.array(values))
    changed._estimate = replace(known, compute_posterior=lambda: posterior)
    return changed


def test_the_crowd_is_worth_looking_at(fitted, cast):
    confidence = fitted.confidence_
    assert 20 < (confidence < 0.95).sum() < 60
    assert any(report.flags for report in fitted.reliability())
    assert any(not ticks for ticks in cast.values())


# At a glance


def test_tiles(page, cast, fitted):
    confidence = fitted.confidence_.tolist()
    assert page.tiles() == {
        "items": str(len({z for _, z in cast})),
        "voters": str(len({v for v, _ in cast})),
        "ballots per item": f"{len(cast) / 60:.1f}",
        "sets sure at 95%": str(sum(sure >= 0.95 for sure in confidence)),
        "sets expected exactly right": f"{sum(confidence):.0f}",
        "median confidence": percent(median(confidence)),
    }


def test_the_opening(page, cast, fitted):
    confidence = fitted.confidence_.tolist()
    assert page.section("found").one("p", "lead").text() == (
        f"11 voters cast {len(cast)} ballots on 60 items with 5 alternatives, and every item now has one set of "
        f"answers (1 to 2 right). {sum(sure >= 0.95 for sure in confidence)} of them are sure: exactly right with a "
        f"probability of at least 95%. Of all 60 sets about {sum(confidence):.0f} should be exactly right, if the "
        "stated confidence holds."
    )
    assert page.root.one("h1").text() == "Answers to 60 items"
    assert page.root.one("head").one("title").text() == "Answers to 60 items"


def test_items_that_need_more_votes(page, cast, fitted):
    confidence = fitted.confidence_
    doubtful = [z for z in np.argsort(confidence, kind="stable") if confidence[z] < 0.95]
    section = page.section("doubts")
    assert section.one("p").text() == (
        f"{len(doubtful)} of 60 sets are less sure than 95%; these are the 20 most doubtful. The last column says "
        "about how many further ballots of an average voter of this crowd should make each one sure."
    )
    shown = section.one("tbody").all("tr")
    assert len(shown) == 20
    more = {doubt.instance: doubt.more_ballots for doubt in fitted.review(0.95, most=20, limit=20)}
    for row, z in zip(shown, doubtful, strict=False):
        name = fitted.truth_.instances[z]
        rival = next((names, chance) for names, chance in fitted.best_sets(name, 2) if names != fitted.truth_[name])
        answer, against = row.all("td")[0], row.all("td")[2]
        assert row.one("th").text() == name
        assert answer.chips() == fitted.truth_.listed(name)
        assert set(against.chips()) == rival[0]
        assert [each.text() for each in row.all("td") if each not in (answer, against)] == [
            percent(confidence[z]),
            percent(rival[1]),
            str(sum(item == name for _, item in cast)),
            "more than 64" if more[name] is None else str(more[name]),
        ]


# Voters, items and alternatives


def test_voters(page, cast, fitted):
    reports = fitted.reliability()
    flagged = sum(bool(report.flags) for report in reports)
    assert f"{flagged} of 11 voters are worth a look." in page.section("voters").all("p")[0].text()
    told = page.data["voters"]
    assert told["names"] == [report.voter for report in reports]
    assert numbers(told["ballots"]).tolist() == [sum(v == name for v, _ in cast) for name in told["names"]]


def test_alternatives(page, cast, fitted):
    told, truth = page.data["alternatives"], fitted.truth_
    names = fitted.estimate_.ballots.alternatives
    assert told["names"] == list(names)
    assert numbers(told["occurrences"]).tolist() == [sum(name in truth[z] for z in truth) for name in names]
    assert numbers(told["offered"]).tolist() == [60] * 5
    priors = fitted.parameters_.priors
    assert numbers(told["priors"]) == pytest.approx(priors, abs=1e-6)
    assert numbers(told["prior"]) == pytest.approx(np.log(priors / (1 - priors)), abs=1e-12)
    for name, hits, alarms in zip(names, numbers(told["hit_share"]), numbers(told["false_alarm_share"]), strict=True):
        assert hits == pytest.approx(fmean(name in t for (_, z), t in cast.items() if name in truth[z]), abs=1e-6)
        assert alarms == pytest.approx(fmean(name in t for (_, z), t in cast.items() if name not in truth[z]), abs=1e-6)


def confused(cast, truth, names):
    return {
        (k, j): sum(k in truth[z] and k not in t and j in t and j not in truth[z] for (_, z), t in cast.items())
        for k in names
        for j in names
    }


def test_confusions_in_words_and_colours(page, cast, fitted):
    names = fitted.estimate_.ballots.alternatives
    counts = confused(cast, fitted.truth_, names)
    most_first = sorted(counts.items(), key=lambda each: -each[1])[:12]
    assert sum(count > 0 for count in counts.values()) > 12
    section = page.section("alternatives")
    (said,) = section.all("ul", "pairs")
    assert [each.text() for each in said.all("li")] == [
        f"{k} left out and {j} ticked instead: {count} ballot{'s' * (count != 1)}" for (k, j), count in most_first
    ]
    largest = max(counts.values())
    cells = section.one("svg").all("rect", "heat")
    pairs = [(k, j) for k in names for j in names if k != j]
    for (k, j), cell in zip(pairs, cells, strict=True):
        assert cell.text() == f"{k} left out, {j} ticked: {counts[k, j]} ballot{'s' * (counts[k, j] != 1)}"
        shade = 0.03 if counts[k, j] == 0 else 0.06 + 0.94 * counts[k, j] / largest
        assert cell.number("fill-opacity") == pytest.approx(shade, abs=6e-4)
    assert len(section.all("rect", "same")) == 5


def test_items_get_their_best_sets(page, fitted):
    items, known = page.data["items"], sets_of(page.data)
    for z, top in enumerate(numbers(items["top"]).reshape(60, 4).tolist()):
        best = fitted.best_sets(items["names"][z], 4)
        assert [frozenset(known[number]) for number in top] == [names for names, _ in best]
    assert numbers(items["confidence"]) == pytest.approx(fitted.confidence_, abs=1e-6)
    assert (items["gold"], items["ties"], items["menu"]) == ([], [], None)
    assert (page.data["rated"], page.data["sure"]) == (True, 0.95)


def test_sizes(page, cast, fitted):
    ticks, members = [len(t) for t in cast.values()], [len(s) for s in fitted.truth_.values()]
    outside = fmean(not 1 <= size <= 2 for size in ticks)
    words = (
        f"A ballot has {fmean(ticks):.2f} ticks on average, an answer {fmean(members):.2f} members. {100 * outside:.0f}% "
        "of the ballots have a size that their item's answer may not have."
    )
    assert page.section("sizes").one("p").text() == words
    (chart,) = page.charts("sizes")
    assert chart["aria-label"] == words
    for kind, of, values in (("bar total", "ballots", ticks), ("bar for", "answers", members)):
        assert [bar.text() for bar in chart.all("rect", kind)] == [
            f"{percent(fmean(size == value for value in values))} of {of} have {size}" for size in range(6)
        ]


def test_convergence(page, fitted):
    history, settled = fitted.log_likelihoods_, fitted.estimate_.settling_iterations
    assert settled > 0
    assert page.section("convergence").one("p").text() == (
        f"Settled after {settled + len(history)} iterations (in the first {settled} the shrinkage settled): the last "
        "one changed no rate beyond the tolerance."
    )
    (chart,) = page.charts("convergence")
    assert chart["aria-label"] == (
        f"Objective from {history[0]:,.2f} to {history[-1]:,.2f} in {len(history)} iterations."
    )


# Against the right answers


def test_accuracy_and_calibration(page, crowd, fitted):
    truth, gold = fitted.truth_, crowd.gold
    kept = [truth[z] == gold[z] for z in gold]
    section = page.section("accuracy")
    assert section.one("h3").text() == "Against answers kept aside"
    assert section.one("p").text() == f"{sum(kept)} of 60 sets with a known answer are exactly right."
    table, promises = section.all("table")
    low, high = wilson(kept)
    named = {row[0]: row[1:] for row in rows(table)}
    assert named["0/1"] == [f"{fmean(kept):.3f}", f"{low:.3f} to {high:.3f}", "sets exactly right"]
    assert named["Hamming"][0] == f"{fmean(1 - len(truth[z] ^ gold[z]) / 5 for z in gold):.3f}"
    assert named["Jaccard"][0] == f"{fmean(len(truth[z] & gold[z]) / len(truth[z] | gold[z]) for z in gold):.3f}"
    expected = []
    for k in range(10):
        stated = [(s, right) for s, right in zip(fitted.confidence_, kept, strict=True) if int(s * 10) == k]
        if stated:
            low, high = wilson([right for _, right in stated])
            expected.append(
                [
                    f"{10 * k}% to {10 * k + 10}%",
                    str(len(stated)),
                    percent(fmean(sure for sure, _ in stated)),
                    percent(fmean(right for _, right in stated)),
                    f"{100 * low:.0f}% to {100 * high:.0f}%",
                ]
            )
    assert rows(promises) == expected


def test_gold_that_taught(crowd, tmp_path):
    some = {z: crowd.gold[z] for z in list(crowd.gold)[:9]}
    fitted = EM((1, 2)).fit(crowd.ballots, gold=some)
    page = Page(write_report(fitted, tmp_path / "r.html"))
    section, (found, sure) = page.section("accuracy"), fitted.gold_check()
    kept = [found[z] == some[z] for z in found]
    assert section.one("h3").text() == "On the gold items"
    assert section.one("p").text() == (
        f"9 items had gold sets, kept as given. From the ballots alone {sum(kept)} of them would be exactly right; the "
        "rates were learnt with these sets, so this flatters a little."
    )
    assert [row[1] for row in rows(section.one("table"))] == [
        str(sum(int(10 * s) == k for s in sure)) for k in range(10) if any(int(10 * s) == k for s in sure)
    ]
    assert "Gold answers of 9 items were given and kept; they count as sure." in page.warnings()
    assert page.settings()["Gold sets taught"] == "9"


def test_how_it_was_computed(page, cast, fitted):
    ticks, empty = sum(map(len, cast.values())), sum(not t for t in cast.values())
    assert page.settings() == {
        "File": "crowd.csv",
        "Read as": "ballots",
        "Estimator": "EM(bounds=(1, 2))",
        "Set sizes": "1..2 (1 to 2 right)",
        "Ballots": f"11 voters, 60 instances, 5 alternatives, {len(cast)} ballots ({empty} empty), {ticks} approvals, "
        f"{100 * len(cast) / 660:.0f}% answered",
        "Gold sets taught": "0",
        "Iterations": str(fitted.n_iter_),
        "Status": "converged",
        "Log-likelihood": f"{fitted.log_likelihood_:,.3f}",
        "epivote": f"version {__version__}",
    }
    assert page.warnings() == []


# Where words change


@pytest.mark.parametrize(("edge", "is_sure"), [(0.95, True), (np.nextafter(0.95, 0), False), (0.9500001, True)])
def test_at_the_threshold_a_set_is_sure(fitted, tmp_path, edge, is_sure):
    changed = with_confidence(fitted, [edge] + [0.99] * 59)
    page = Page(write_report(changed, tmp_path / "r.html"))
    assert page.tiles()["sets sure at 95%"] == str(59 + is_sure)
    words = page.section("doubts").one("p").text()
    if is_sure:
        assert words == "None: every set is right with a probability of at least 95%."
    else:
        assert words.startswith("1 of 60 sets is less sure than 95%. The last column")
    assert len(page.section("doubts").all("table")) == (not is_sure)
    assert "60 of them are sure" in page.source if is_sure else "59 of them are sure" in page.source


def test_very_many_further_ballots_are_not_counted(tmp_path):
    ballots = Ballots.from_mapping({("ann", "z"): {"a"}, ("bo", "z"): {"b"}})
    fitted = MaximumLikelihood(0.5, 0.49, 0.5, bounds=1).fit(ballots)
    assert fitted.review(0.95)[0].more_ballots is None
    page = Page(write_report(fitted, tmp_path / "r.html"))
    assert rows(page.section("doubts").one("table"))[0][-1] == "more than 64"


@pytest.mark.parametrize("doubtful", [19, 20, 21])
def test_twenty_doubtful_items_are_listed(fitted, tmp_path, doubtful):
    changed = with_confidence(fitted, [0.5] * doubtful + [0.99] * (60 - doubtful))
    section = Page(write_report(changed, tmp_path / "r.html")).section("doubts")
    assert len(rows(section.one("table"))) == min(doubtful, 20)
    assert ("these are the 20 most doubtful" in section.text()) == (doubtful > 20)
    assert section.one("p").text().startswith(f"{doubtful} of 60 sets are less sure")


def test_one_of_everything(tmp_path):
    ballots = Ballots.from_mapping({("ann", "who?"): {"a"}}, alternatives=["a"])
    fitted = EM(1).fit(ballots)
    page = Page(write_report(fitted, tmp_path / "r.html", gold={"who?": {"a"}, "where?": {"a"}, "when?": {"a"}}))
    opening = page.section("found").one("p", "lead").text()
    assert opening.startswith(
        "1 voter cast 1 ballot on 1 item with 1 alternative, and every item now has one set of answers (exactly 1 "
        "right). 1 of them is sure"
    )
    assert "1 of 1 voter is worth a look." in page.section("voters").text()
    assert page.section("accuracy").all("p")[0].text() == (
        "1 of 1 set with a known answer is exactly right. 2 gold sets were left out because nobody voted there."
    )


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (SizeBounds(0, None), "any number of right answers"),
        (SizeBounds(1, None), "at least 1 right"),
        (SizeBounds(2, 2), "exactly 2 right"),
        (SizeBounds(0, 2), "0 to 2 right"),
        (
            SizeBounds(1, 2, {"i1": (1, 1), "i2": (0, 3), "nowhere": (1, 1)}),
            "1 to 2 right; 2 items with sizes of their own",
        ),
    ],
)
def test_sizes_in_words(crowd, tmp_path, bounds, words):
    page = Page(write_report(Majority(bounds).fit(crowd.ballots), tmp_path / "r.html"))
    assert f"one set of answers ({words})." in page.section("found").text()
    assert page.settings()["Set sizes"].endswith(f" ({words})")


def test_rules_that_count_say_so(crowd, tmp_path):
    page = Page(write_report(Majority((1, 2)).fit(crowd.ballots), tmp_path / "r.html", gold=crowd.gold))
    assert list(page.tiles()) == ["items", "voters", "ballots per item"]
    assert page.section("doubts") is None
    assert page.charts("found") == page.charts("convergence") == []
    assert (
        page.section("voters")
        .all("p")[0]
        .text()
        .endswith(
            "Majority only counts ticks: these are shares of ticks on its own answers, without intervals, because nothing "
            "is known about how sure the answers are."
        )
    )
    assert (
        page.section("voters")
        .one("figcaption")
        .text()
        .startswith("Every dot is a voter, its area the number of ballots. Point at a dot")
    )
    assert "Majority weighs nothing, so there are no rival sets and no reasons to show." in page.section("items").text()
    assert page.section("convergence").one("p").text() == (
        "This rule looks at every item once and by itself; nothing had to settle."
    )
    told = page.settings()
    assert (told["Iterations"], told["Log-likelihood"]) == ("none needed", "none")
    assert page.data["items"]["top"] is page.data["items"]["chances"] is page.data["items"]["confidence"] is None
    assert len(page.section("accuracy").all("table")) == 1


def test_the_histogram_in_words(fitted, tmp_path):
    values = [0.2, 0.49, 0.5, 0.7, 0.8, 0.94, 0.95] + [0.97] * 53
    (chart,) = Page(write_report(with_confidence(fitted, values), tmp_path / "r.html")).charts("found")
    assert chart["aria-label"] == "Number of items by confidence: 2 below 50%, 4 from 50% to 95%, 54 at 95% or more."
    tips = [bar.text() for bar in chart.all("rect")]
    assert [tip for tip in tips if not tip.endswith(": 0")] == [
        "20% to 25%: 1",
        "45% to 50%: 1",
        "50% to 55%: 1",
        "70% to 75%: 1",
        "80% to 85%: 1",
        "90% to 95%: 1",
        "95% to 100%: 54",
    ]
    assert len(tips) == 20


def test_ties_on_the_page_are_those_of_the_items_shown(crowd, fitted, tmp_path):
    changed = with_confidence(fitted, fitted.confidence_)
    changed._estimate = replace(changed.estimate_, compute_ties=lambda: ("i3", "i7"), gold=frozenset({"i5"}))
    page = Page(write_report(changed, tmp_path / "r.html"))
    assert page.data["items"]["ties"] == [2, 6]
    assert page.data["items"]["gold"] == [4]
    assert page.warnings() == [
        "2 sets had equally likely rivals; there the order of the alternatives decided.",
        "Gold answers of 1 item were given and kept; they count as sure.",
    ]


def test_notes_end_like_sentences(crowd, tmp_path):
    fitted = Majority((1, 2)).fit(crowd.ballots)
    page = Page(write_report(fitted, tmp_path / "r.html", notes=["one", "two.", "three!", "four?"]))
    assert page.warnings() == ["one.", "two.", "three!", "four?"]


def test_gold_as_truths_or_as_a_mapping(crowd, fitted, tmp_path):
    mapping = {z: set(crowd.gold[z]) for z in crowd.gold}
    assert isinstance(crowd.gold, Truths)
    one, other = (write_report(fitted, tmp_path / f"{k}.html", gold=g) for k, g in enumerate((crowd.gold, mapping)))
    assert one.read_bytes() == other.read_bytes()
