"""Every number and word of the sections, worked out anew from the ballots and from what the estimator found."""

import re
from dataclasses import replace
from math import sqrt
from statistics import fmean

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
    summarize,
    write_report,
)
from epivote.estimate.base import UPSIDE_DOWN
from epivote.report.content import outcome, warnings_of
from reading import Page, numbers, rows, sets_of


def percent(share) -> str:
    """A counted share, or a probability, as a reader sees it."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if not 0.001 <= share <= 0.999:
        return "> 99.9 %" if share > 0.5 else "< 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.1 or share >= 0.9 else f"{100 * share:.0f} %"


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


def test_doubtful_instances_come_first(page, cast, fitted):
    confidence = fitted.confidence_
    doubtful = [z for z in np.argsort(confidence, kind="stable") if confidence[z] < 0.95]
    section = page.section("instances")
    assert section.one("p").text() == (
        f"{len(doubtful)} of 60 sets have a confidence below 95 %; they come first. The last column estimates for the 20 "
        "most doubtful how many further ballots of an average voter would raise the confidence to 95 %. Open an instance "
        "to see its most probable sets, what every ballot contributed, and all its ballots."
    )
    shown = section.one("tbody").all("tr")
    assert len(shown) == 20
    more = {doubt.instance: doubt.more_ballots for doubt in fitted.review(0.95, most=20, limit=20)}
    for row, z in zip(shown, doubtful, strict=False):
        name = fitted.truth_.instances[z]
        rival = next((names, chance) for names, chance in fitted.best_sets(name, 2) if names != fitted.truth_[name])
        cells = row.all("td")
        assert row.one("th").text() == name
        assert cells[0].chips() == fitted.truth_.listed(name)
        assert set(cells[2].chips()) == rival[0]
        assert [each.text() for each in (cells[1], *cells[3:])] == [
            percent(confidence[z]),
            percent(rival[1]),
            str(sum(item == name for _, item in cast)),
            "more than 64" if more[name] is None else str(more[name]),
        ]
    given = {page.data["instances"]["names"][k]: count for k, count in page.data["instances"]["more"]}
    assert given == more


# Voters, instances and alternatives


def test_voters(page, cast, fitted):
    reports = fitted.reliability()
    shown = sorted((each for each in reports if each.flags), key=lambda each: -each.weight)
    shown += sorted((each for each in reports if not each.flags), key=lambda each: -each.weight)
    table = page.section("voters").all("table")[-1]
    assert [row[0] for row in rows(table)] == [each.voter for each in shown[:10]]
    for row, each in zip(rows(table), shown, strict=False):
        assert row[1:3] == [percent(each.hit_rate), percent(each.false_alarm_rate)]
        assert row[3] == f"{each.weight:+.2f}".replace("-", "−")
        assert row[4:] == [str(each.ballots), "; ".join(each.flags)]
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
        f"{k} left out and {j} approved instead: {count} ballot{'s' * (count != 1)}" for (k, j), count in most_first
    ]
    largest = max(counts.values())
    cells = section.one("svg").all("rect", "heat")[:20]
    pairs = [(k, j) for k in names for j in names if k != j]
    for (k, j), cell in zip(pairs, cells, strict=True):
        assert cell.text() == f"{k} left out, {j} approved instead: {counts[k, j]} ballot{'s' * (counts[k, j] != 1)}"
        shade = 0.03 if counts[k, j] == 0 else 0.06 + 0.79 * counts[k, j] / largest
        assert cell.number("fill-opacity") == pytest.approx(shade, abs=6e-4)
    assert len(section.all("rect", "same")) == 5
    assert [int(each.text()) for each in section.all("text", "cell middle")] == [counts[pair] for pair in pairs]


def test_instances_get_their_best_sets(page, fitted):
    items, known = page.data["instances"], sets_of(page.data)
    for z, top in enumerate(numbers(items["top"]).reshape(60, 4).tolist()):
        best = fitted.best_sets(items["names"][z], 4)
        assert [frozenset(known[number]) for number in top] == [names for names, _ in best]
    assert numbers(items["confidence"]) == pytest.approx(fitted.confidence_, abs=1e-6)
    assert (items["taught"], items["ties"], items["menu"]) == ([], [], None)


def test_instances_get_gold_and_the_sets_of_a_majority(page, crowd, cast):
    items, known = page.data["instances"], sets_of(page.data)
    names = crowd.ballots.alternatives
    for z, name in enumerate(items["names"]):
        assert frozenset(known[numbers(items["gold"])[z]]) == crowd.gold[name]
        ballots = [ticks for (_, item), ticks in cast.items() if item == name]
        counts = {j: sum(j in ticks for ticks in ballots) for j in names}
        by_count = sorted(names, key=lambda j: -counts[j])
        size = min(max(sum(2 * count > len(ballots) for count in counts.values()), 1), 2)
        assert known[numbers(items["majority"])[z]] == sorted(by_count[:size])


def test_the_page_is_rated(page):
    assert (page.data["rated"], page.data["sure"]) == (True, 0.95)


def test_sizes(page, cast, fitted):
    ticks, members = [len(t) for t in cast.values()], [len(s) for s in fitted.truth_.values()]
    outside = fmean(not 1 <= size <= 2 for size in ticks)
    words = (
        f"A ballot has {fmean(ticks):.2f} approvals on average, a set {fmean(members):.2f} alternatives. "
        f"{100 * outside:.0f} % of the ballots have a size outside the size bounds of their instance."
    )
    assert page.section("sizes").one("p").text() == words
    (chart,) = page.charts("sizes")
    assert " ".join(chart["aria-label"].split()) == words
    for kind, of, values in (("bar total", "ballots", ticks), ("bar for", "sets", members)):
        assert [bar.text() for bar in chart.all("rect", kind)] == [
            f"{percent(fmean(size == value for value in values))} of the {of} have {size}" for size in range(6)
        ]


def test_convergence(page, fitted):
    history, settled = fitted.log_likelihoods_, fitted.estimate_.settling_iterations
    assert settled > 0
    assert page.section("convergence").one("p").text() == (
        f"Converged after {settled + len(history)} iterations (the first {settled} chose the strength of shrinkage): the "
        "last one changed no rate by more than the tolerance."
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
    assert section.one("h3").text() == "Scored against gold (not used for fitting)"
    assert section.one("p").text() == f"{sum(kept)} of 60 sets with gold are exactly right."
    table, promises = section.all("table")
    low, high = wilson(kept)
    named = {row[0]: row[1:] for row in rows(table)}
    assert [named["0/1"][0], named["0/1"][2]] == [f"{fmean(kept):.3f}", "sets exactly right"]
    assert [float(end) for end in re.findall(r"[\d.]+", named["0/1"][1])] == pytest.approx([low, high], abs=6e-4)
    assert named["Hamming"][0] == f"{fmean(1 - len(truth[z] ^ gold[z]) / 5 for z in gold):.3f}"
    assert named["Jaccard"][0] == f"{fmean(len(truth[z] & gold[z]) / len(truth[z] | gold[z]) for z in gold):.3f}"
    expected = []
    for k in range(10):
        stated = [(s, right) for s, right in zip(fitted.confidence_, kept, strict=True) if int(s * 10) == k]
        if stated:
            low, high = wilson([right for _, right in stated])
            expected.append(
                [
                    f"{10 * k} to {10 * k + 10} %",
                    str(len(stated)),
                    percent(fmean(sure for sure, _ in stated)),
                    percent(fmean(right for _, right in stated)),
                    f"{100 * low:.0f} to {100 * high:.0f} %",
                ]
            )
    assert rows(promises) == expected


def test_gold_that_taught(crowd, tmp_path):
    some = {z: crowd.gold[z] for z in list(crowd.gold)[:9]}
    fitted = EM((1, 2)).fit(crowd.ballots, gold=some)
    page = Page(write_report(fitted, tmp_path / "r.html"))
    section, (found, sure) = page.section("accuracy"), fitted.gold_check()
    kept = [found[z] == some[z] for z in found]
    assert section.one("h3").text() == "Gold sets used for fitting"
    assert section.one("p").text() == (
        f"9 instances had gold sets, which are kept as given. From the ballots alone {sum(kept)} of them would be exactly "
        "right. The rates were learnt with these sets, which makes this look better than it is."
    )
    assert [row[1] for row in rows(section.one("table"))] == [
        str(sum(int(10 * s) == k for s in sure)) for k in range(10) if any(int(10 * s) == k for s in sure)
    ]
    assert "9 gold sets are kept as given." in page.card(0).text()
    assert page.settings()["Gold sets used for fitting"] == "9"


def test_how_it_was_computed(page, cast, fitted):
    ticks, empty = sum(map(len, cast.values())), sum(not t for t in cast.values())
    assert page.settings() == {
        "File": "crowd.csv",
        "Read as": "ballots",
        "Estimator": "EM(bounds=(1, 2))",
        "Size bounds": "1..2 (1 to 2 alternatives in a set)",
        "Ballots": f"11 voters, 60 instances, 5 alternatives, {len(cast)} ballots ({empty} empty), {ticks} approvals, "
        f"{100 * len(cast) / 660:.0f} % answered",
        "Gold sets used for fitting": "0",
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
    assert page.card(0).one("strong").text() == f"{59 + is_sure} of 60"
    words = page.section("instances").one("p").text()
    if is_sure:
        assert words.startswith("Every set has a confidence of at least 95 %. Open")
    else:
        assert words.startswith(
            "1 of 60 sets has a confidence below 95 %; it comes first. The last column estimates how"
        )
    assert len(page.data["instances"]["more"]) == (not is_sure)


def test_very_many_further_ballots_are_not_counted(tmp_path):
    ballots = Ballots.from_mapping({("ann", "z"): {"a"}, ("bo", "z"): {"b"}})
    fitted = MaximumLikelihood(0.5, 0.49, 0.5, bounds=1).fit(ballots)
    assert fitted.review(0.95)[0].more_ballots is None
    page = Page(write_report(fitted, tmp_path / "r.html"))
    assert rows(page.section("instances").one("table"))[0][-1] == "more than 64"


@pytest.mark.parametrize("doubtful", [19, 20, 21])
def test_twenty_doubtful_instances_are_listed(fitted, tmp_path, doubtful):
    changed = with_confidence(fitted, [0.5] * doubtful + [0.99] * (60 - doubtful))
    section = Page(write_report(changed, tmp_path / "r.html")).section("instances")
    assert len(rows(section.one("table"))) == min(doubtful, 20)
    assert ("for the 20 most doubtful" in section.text()) == (doubtful > 20)
    assert section.one("p").text().startswith(f"{doubtful} of 60 sets have a confidence below 95 %")


def test_one_of_everything(tmp_path):
    ballots = Ballots.from_mapping({("ann", "who?"): {"a"}}, alternatives=["a"])
    fitted = EM(1).fit(ballots)
    page = Page(write_report(fitted, tmp_path / "r.html", gold={"who?": {"a"}, "where?": {"a"}, "when?": {"a"}}))
    assert page.root.one("p", "counts").text() == (
        "1 instance, 1 alternative, 1 voter, 1 ballot (1.0 per instance); exactly 1 alternative in a set"
    )
    assert page.card(0).one("p", "headline").text() == "1 of 1 set with gold is exactly right"
    assert page.card(0).one("p", "muted").text() == (
        "1 of 1 set has a confidence of at least 95 %; 1 of them is exactly right."
    )
    assert page.card(2).one("p", "headline").text() == "1 of 1 voter is flagged"
    assert page.section("accuracy").all("p")[0].text() == (
        "1 of 1 set with gold is exactly right. 2 gold sets were left out because the instance has no ballots."
    )


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (SizeBounds(0, None), "sets of any size"),
        (SizeBounds(1, None), "at least 1 alternative in a set"),
        (SizeBounds(2, 2), "exactly 2 alternatives in a set"),
        (SizeBounds(0, 2), "0 to 2 alternatives in a set"),
        (
            SizeBounds(1, 2, {"i1": (1, 1), "i2": (0, 3), "nowhere": (1, 1)}),
            "1 to 2 alternatives in a set (2 instances with size bounds of their own)",
        ),
    ],
)
def test_sizes_in_words(crowd, tmp_path, bounds, words):
    page = Page(write_report(Majority(bounds).fit(crowd.ballots), tmp_path / "r.html"))
    assert page.root.one("p", "counts").text().endswith(f"; {words}")
    assert page.settings()["Size bounds"].endswith(f" ({words})")


def test_rules_that_count_say_so(crowd, tmp_path):
    page = Page(write_report(Majority((1, 2)).fit(crowd.ballots), tmp_path / "r.html", gold=crowd.gold))
    assert page.card(0).one("p", "muted").text() == "Majority states no confidence."
    assert page.card(1).one("p", "muted").text() == (
        "Majority counts approvals and does not learn who is reliable, so it states no confidence."
    )
    assert page.card(2).text().endswith("Majority gives every voter the same weight.")
    assert page.card(3).all("li")[0].text().startswith("Run again with --method auto or em to learn who is reliable")
    assert page.section("majority") is page.section("confidence") is None
    assert page.charts("found") == page.charts("convergence") == []
    assert (
        page.section("voters")
        .all("p")[0]
        .text()
        .endswith(
            "Majority only counts approvals: these are shares of approvals on its own sets, without intervals, because "
            "this method does not say how likely its sets are to be right."
        )
    )
    caption = page.section("voters").one("figcaption").text()
    assert caption.endswith("Every dot is a voter, its area the number of ballots.")
    assert "Majority gives no rival sets and no reasons." in page.section("instances").text()
    assert page.section("convergence").one("p").text() == (
        "This rule looks at every instance once and by itself, so there was nothing to iterate."
    )
    told = page.settings()
    assert (told["Iterations"], told["Log-likelihood"]) == ("none needed", "–")
    assert page.data["instances"]["top"] is page.data["instances"]["chances"] is None
    assert page.data["instances"]["confidence"] is page.data["instances"]["majority"] is None
    assert len(page.section("accuracy").all("table")) == 1


def test_ties_on_the_page_are_those_of_the_instances_shown(crowd, fitted, tmp_path):
    changed = with_confidence(fitted, fitted.confidence_)
    changed._estimate = replace(changed.estimate_, compute_ties=lambda: ("i3", "i7"), gold=frozenset({"i5"}))
    page = Page(write_report(changed, tmp_path / "r.html"))
    assert page.data["instances"]["ties"] == [2, 6]
    assert page.data["instances"]["taught"] == [4]
    assert page.warnings() == ["2 sets had equally likely rivals; the order of the alternatives decided."]


def test_notes_become_sentences(crowd, tmp_path):
    fitted = Majority((1, 2)).fit(crowd.ballots)
    page = Page(write_report(fitted, tmp_path / "r.html", notes=["one", "two.", "three!", "four?", "f.csv is 5% off"]))
    assert page.warnings() == ["One.", "Two.", "Three!", "Four?", "f.csv is 5 % off."]
    box = page.root.one("div", "careful")
    assert box.one("h3").text() == "Warnings"
    assert box.one("summary").text() == "3 more", "two stay in sight, so that the first screen holds the answers"
    assert len(box.one("details").all("li")) == 3
    page = Page(write_report(fitted, tmp_path / "r.html", notes=["one"]))
    assert page.root.one("div", "careful").one("h3").text() == "Warning"
    assert page.root.one("div", "careful").all("details") == []


def test_what_may_make_all_sets_wrong_comes_first_and_once(fitted, tmp_path):
    changed = with_confidence(fitted, fitted.confidence_)
    changed._estimate = replace(changed.estimate_, compute_ties=lambda: ("i3",), status="interrupted")
    wrong = UPSIDE_DOWN[0].upper() + UPSIDE_DOWN[1:]
    summary = summarize(changed)
    object.__setattr__(summary, "is_upside_down", True)
    found = warnings_of(summary, ["read as ballots", UPSIDE_DOWN])
    assert found == [
        f"{wrong}.",
        outcome(changed.estimate_),
        "Read as ballots.",
        "1 set had equally likely rivals; the order of the alternatives decided.",
    ]


def test_gold_as_truths_or_as_a_mapping(crowd, fitted, tmp_path):
    mapping = {z: set(crowd.gold[z]) for z in crowd.gold}
    assert isinstance(crowd.gold, Truths)
    one, other = (write_report(fitted, tmp_path / f"{k}.html", gold=g) for k, g in enumerate((crowd.gold, mapping)))
    assert one.read_bytes() == other.read_bytes()
