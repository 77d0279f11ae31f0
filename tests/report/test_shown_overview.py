"""Every number and word of the first screen, and of the comparison with a majority, worked out anew from the ballots."""

from itertools import pairwise
from math import log
from statistics import fmean
from types import SimpleNamespace
from urllib.parse import unquote

import numpy as np
import pytest
from test_shown_numbers import percent, wilson, with_confidence

from epivote import (
    AMLE,
    EM,
    Auto,
    Ballots,
    Calibrated,
    Interval,
    Majority,
    MaximumLikelihood,
    simulate,
    summarize,
    write_report,
)
from epivote.estimate.flags import FlagKind
from epivote.report import overview
from epivote.report.counts import differing
from epivote.report.numbers import Flagged, Trust, confidence_bands, flagged_voters, trust_of
from epivote.report.written import NO_BREAK
from reading import Page, percent_of, rows


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
    """Gold is known of every second instance and was not used for fitting."""
    return Page(write_report(fitted, tmp_path_factory.mktemp("r") / "r.html", gold=half(crowd.gold)))


@pytest.fixture(scope="module")
def plain(fitted, tmp_path_factory):
    return Page(write_report(fitted, tmp_path_factory.mktemp("r") / "r.html"))


def half(gold):
    return {name: gold[name] for name in list(gold)[::2]}


# What was read and found


def test_counts_of_input_are_one_line(page, cast):
    assert page.root.one("p", "counts").text() == (
        f"60 instances, 5 alternatives, 11 voters, {len(cast)} ballots ({len(cast) / 60:.1f} per instance); 1 to 2 "
        "alternatives in a set"
    )
    assert page.root.one("h1").text() == page.root.one("head").one("title").text() == "Sets of 60 instances"


def test_the_headline_without_gold(plain, fitted):
    confidence = fitted.confidence_.tolist()
    card = plain.card(0)
    sure = sum(each >= 0.95 for each in confidence)
    assert card.one("p", "headline").text() == f"{sure} of 60 sets have a confidence of at least 95 %"
    assert card.one("p", "muted").text() == (
        f"If the confidence holds, about {sum(confidence):.0f} of 60 sets are exactly right."
    )


def test_the_headline_agrees_with_gold(page, fitted, crowd):
    gold, truth = half(crowd.gold), fitted.truth_
    right = sum(truth[z] == gold[z] for z in gold)
    sure = {z for z, each in zip(truth, fitted.confidence_, strict=True) if each >= 0.95}
    card = page.card(0)
    assert 0 < len(sure & set(gold)) < len(sure)
    assert card.one("p", "headline").text() == f"{right} of 30 sets with gold are exactly right"
    kept = sum(truth[z] == gold[z] for z in sure & set(gold))
    assert card.one("p", "muted").text() == (
        f"{len(sure)} of all 60 sets have a confidence of at least 95 %; {kept} of the {len(sure & set(gold))} with gold "
        "are exactly right."
    )


def test_the_headline_where_all_sets_are_sure(fitted, crowd, tmp_path):
    changed = with_confidence(fitted, [0.99] * 60)
    card = Page(write_report(changed, tmp_path / "r.html", gold=crowd.gold)).card(0)
    right = sum(fitted.truth_[z] == crowd.gold[z] for z in crowd.gold)
    assert card.one("p", "muted").text() == (
        f"All 60 sets have a confidence of at least 95 %; {right} of them are exactly right."
    )


def test_gold_that_was_kept_does_not_count_as_found(crowd, tmp_path):
    some = {z: crowd.gold[z] for z in list(crowd.gold)[:9]}
    fitted = EM((1, 2)).fit(crowd.ballots, gold=some)
    page = Page(write_report(fitted, tmp_path / "r.html"))
    confidence = [c for z, c in zip(fitted.truth_, fitted.confidence_, strict=True) if z not in some]
    card = page.card(0)
    assert card.one("strong").text() == f"{sum(each >= 0.95 for each in confidence)} of 51"
    assert card.one("p", "muted").text() == (
        f"If the confidence holds, about {sum(confidence):.0f} of 51 sets are exactly right. 9 gold sets are kept as given."
    )
    assert not {row[0] for row in rows(card.one("table"))} & set(some)
    counts = [int(each.text()) for each in page.card(1).one("svg").all("text")[::2]]
    assert sum(counts) == 51


def test_the_sample_goes_from_the_most_to_the_least_confident(page, fitted, crowd):
    gold, truth = half(crowd.gold), fitted.truth_
    order = sorted(range(60), key=lambda z: -fitted.confidence_[z])
    expected = [order[round(59 * k / 7)] for k in range(8)]
    table = page.card(0).one("table")
    assert len(table.one("tbody").all("tr")) == 8
    for row, z in zip(table.one("tbody").all("tr"), expected, strict=True):
        name = truth.instances[z]
        own, known, sure = row.all("td")
        assert row.one("th").text() == name
        assert unquote(row.one("a")["href"]) == f"#instance={name}"
        assert own.chips() == truth.listed(name)
        assert sure.text() == percent(fitted.confidence_[z])
        assert percent_of(sure.one("i")) == pytest.approx(100 * fitted.confidence_[z], abs=0.06)
        if name not in gold:
            assert known.text() == ""
        elif gold[name] == truth[name]:
            assert known.text() == "✓same"
        else:
            assert known.text().startswith("✗")
            assert set(known.chips()) == gold[name]
    narrow = [row.attributes.get("class") is None for row in table.one("tbody").all("tr")]
    assert narrow == [True, False, False, True, False, False, False, True], "what a phone has room for"


def test_the_sample_is_shorter_below_warnings_and_so_are_long_sets(tmp_path):
    names = [f"a{j}" for j in range(7)]
    cast = {(f"v{i}", f"z{k}"): set(names[: 5 + k % 2]) for i in range(4) for k in range(9)}
    fitted = MaximumLikelihood(0.9, 0.1, 0.5, bounds=(0, 7)).fit(Ballots.from_mapping(cast, alternatives=names))
    gold = {"z0": names}
    for notes, count in (([], 8), (["old"], 6)):
        page = Page(write_report(fitted, tmp_path / "r.html", notes=notes, gold=gold))
        table = page.card(0).one("table")
        assert len(table.one("tbody").all("tr")) == count
        for row in table.one("tbody").all("tr"):
            own, known, _ = row.all("td")
            assert own.chips() == names[:4]
            more = "+1" if row.one("th").text() in ("z0", "z2", "z4", "z6", "z8") else "+2"
            assert own.text().endswith(more)
            assert known.text() == "" or known.text().endswith("+3")


# How sure, and whether it can be trusted


def test_stated_confidence_against_gold(page, fitted, crowd):
    gold, truth = half(crowd.gold), fitted.truth_
    kept = [truth[z] == gold[z] for z in gold]
    stated = fmean(c for z, c in zip(truth, fitted.confidence_, strict=True) if z in gold)
    low, high = wilson(kept)
    card = page.card(1)
    assert page.bars(card) == [
        ("Mean confidence", percent(stated), pytest.approx(100 * stated, abs=0.06)),
        (
            "Exactly right",
            f"{percent(fmean(kept))} (95 % CI {100 * low:.0f}-{100 * high:.0f})",
            pytest.approx(100 * fmean(kept), abs=0.06),
        ),
    ]
    assert card.one("b")["style"] == f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"
    verdict = "Too high" if stated > high else "Supported by gold"
    assert card.one("strong").text() == verdict
    assert "Compared with 30 gold sets that were not used for fitting." in card.text()


@pytest.mark.parametrize(
    ("stated", "verdict"), [(0.81, "too high"), (0.8, "supported"), (0.4, "supported"), (0.39, "too low")]
)
def test_outside_the_interval_confidence_is_off(stated, verdict):
    right = SimpleNamespace(mean=0.6, low=0.4, high=0.8)
    assert Trust.against_gold("gold", stated, right, 9).verdict == verdict
    many = SimpleNamespace(mean=stated - 0.019, low=stated - 0.02, high=stated - 0.018)
    assert Trust.against_gold("gold", stated, many, 9999).verdict == "supported", "two points are not worth a word"


def test_halves_of_the_voters(tmp_path):
    shared = simulate(instances=60, voters=10, alternatives=4, bounds=(1, 2), priors=0.3, shared_mistakes=0.6, seed=3)
    fitted = Auto((1, 2)).fit(shared.ballots)
    found = fitted.reproducibility_
    assert found.is_too_sure
    page = Page(write_report(fitted, tmp_path / "r.html"))
    card = page.card(1)
    assert card.one("strong").text() == "Lowered, and still uncertain"
    assert page.bars(card) == [
        (
            "Expected agreement",
            percent(found.expected_agreement),
            pytest.approx(100 * found.expected_agreement, abs=0.06),
        ),
        ("Agreement found", percent(found.agreement), pytest.approx(100 * found.agreement, abs=0.06)),
    ]
    assert "agree on fewer sets than the confidence implies" in card.text()
    assert any("epivote gold chooses them" in step.text() for step in page.card(3).all("li"))


def test_kinds_of_checks(crowd, fitted):
    some = {z: crowd.gold[z] for z in list(crowd.gold)[:12]}
    model = trust_of(summarize(fitted))
    assert (model.kind, model.verdict, model.stated) == ("model", "unchecked", fitted.confidence_.mean())
    taught = EM((1, 2)).fit(crowd.ballots, gold=some)
    found, sure = taught.gold_check()
    check = trust_of(summarize(taught))
    assert (check.kind, check.count, check.stated) == ("taught", 12, sure.mean())
    assert check.found.mean == fmean(found[z] == some[z] for z in some)
    calibrated = Calibrated(EM((1, 2))).fit(crowd.ballots, gold=some)
    trial, check = calibrated.gold_trial_, trust_of(summarize(calibrated))
    assert (check.kind, check.count) == ("left out", 12)
    assert (check.stated, check.found.mean) == (trial.confidence_after.mean(), trial.right_after.mean())


REASONS = {
    ("gold", "supported"): "Compared with 8 gold sets that were not used for fitting.",
    ("left out", "supported"): "Calibrated with 8 gold sets; each was left out in turn to check the result.",
    (
        "taught",
        "supported",
    ): "Compared with 8 gold sets that the estimate learnt from, so this looks better than it is.",
    ("halves", "supported"): "Two random halves of the voters agree on as many sets as the confidence implies. ",
    ("halves", "too high"): "Two random halves of the voters agree on fewer sets than the confidence implies: ",
    ("model", "unchecked"): "These are model probabilities, which are too high if voters make the same mistakes. ",
}


@pytest.mark.parametrize(
    ("kind", "verdict", "said", "tone"),
    [
        ("gold", "supported", "Supported by gold", "good"),
        ("gold", "too high", "Too high", "bad"),
        ("gold", "too low", "Lower than it could be", "open"),
        ("left out", "supported", "Supported by gold", "good"),
        ("left out", "too high", "Too high", "bad"),
        ("taught", "supported", "Supported by gold", "good"),
        ("taught", "too low", "Lower than it could be", "open"),
        ("halves", "supported", "Supported by two halves of the voters", "good"),
        ("halves", "too high", "Lowered, and still uncertain", "bad"),
        ("model", "unchecked", "Not checked", "open"),
    ],
)
def test_every_check_has_its_verdict(fitted, kind, verdict, said, tone):
    found = None if kind == "model" else Interval(0.95, 0.9, 1.0)
    card = overview.check_of(summarize(fitted), Trust(kind, 8, 0.5, found, verdict))
    assert (card.verdict, card.tone) == (said, tone)
    assert card.sentence.startswith(REASONS.get((kind, verdict)) or REASONS[kind, "supported"])
    assert len(card.bars) == (1 if kind == "model" else 2)
    if kind in ("gold", "left out", "taught"):
        assert card.bars[1].text.replace(NO_BREAK, " ") == "95.0 % (95 % CI 90-100)"


def test_bands_of_confidence(plain, fitted):
    edges = [0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.1]
    expected = [sum(low <= each < high for each in fitted.confidence_) for low, high in pairwise(edges)]
    chart = plain.card(1).one("svg")
    assert [int(each.text()) for each in chart.all("text")[::2]] == expected
    assert [bar["class"] for bar in chart.all("rect")] == ["bar against"] * 4 + ["bar for"] * 3
    assert " ".join(chart["aria-label"].split()) == (
        f"Number of sets by confidence: {expected[0]} below 50 %, {expected[1]} 50 to 80 %, {expected[2]} 80 to 90 %, "
        f"{expected[3]} 90 to 95 %, {expected[4]} 95 to 99 %, {expected[5]} 99 to 99.9 %, {expected[6]} 99.9 % and above."
    )


def test_the_threshold_is_the_end_of_a_band():
    bands = confidence_bands(np.array([0.0, 0.5, 0.69, 0.7, 0.94, 1.0]), 0.7)
    assert bands.lower == (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
    assert bands.counts.tolist() == [1, 2, 1, 0, 1, 0, 0, 1]
    assert bands.sure == (False, False, True, True, True, True, True, True)


# Whom not to trust


def test_flagged_voters_are_named_and_those_with_few_ballots_apart(plain, fitted):
    reports = sorted(fitted.reliability(), key=lambda each: -each.ballots)
    few = [each for each in reports if each.flags and {flag.kind for flag in each.flags} == {FlagKind.TOO_FEW_BALLOTS}]
    suspicious = [each for each in reports if each.flags and each not in few]
    assert suspicious
    card = plain.card(2)
    assert card.one("p", "headline").text() == f"{len(suspicious)} of 11 voters are flagged"
    assert [each.text() for each in card.all("li")] == [
        f"{each.voter} {'; '.join(each.flags)} ({each.ballots} ballots)" for each in suspicious[:3]
    ]


@pytest.mark.parametrize("count", [3, 4])
def test_not_all_flagged_voters_are_named(count):
    voters = [SimpleNamespace(label=f"v{i}", flags=("odd",), ballots=9 - i, multiplicity=2) for i in range(count)]
    ballots = SimpleNamespace(total_voters=20)
    summary = SimpleNamespace(is_rated=True, estimate=SimpleNamespace(ballots=ballots))
    card = overview.voters_found(summary, Flagged(tuple(voters), (voters[0],)))
    assert card.headline == f"{2 * count} of 20 voters are flagged"
    assert [row.name for row in card.rows] == ["v0", "v1", "v2"]
    told = "2 voters have too few ballots to be judged."
    assert card.rest == (f"Those with most ballots are shown. {told}" if count == 4 else told)


def test_too_few_ballots_are_no_reason_for_doubt():
    def voter(name, *kinds):
        return SimpleNamespace(label=name, flags=[SimpleNamespace(kind=kind) for kind in kinds], multiplicity=1)

    few, both, guess = (
        voter("a", FlagKind.TOO_FEW_BALLOTS),
        voter("b", FlagKind.TOO_FEW_BALLOTS, FlagKind.TICKS_NOTHING),
        voter("c", FlagKind.GUESSING),
    )
    found = flagged_voters(SimpleNamespace(flagged=(few, both, guess)))
    assert (found.suspicious, found.too_few) == ((both, guess), (few,))


# What to do next


@pytest.mark.parametrize("doubtful", [1, 20, 25, 30])
def test_steps_count_the_ballots_still_needed(fitted, tmp_path, doubtful):
    changed = with_confidence(fitted, [0.5] * doubtful + [0.99] * (60 - doubtful))
    page = Page(write_report(changed, tmp_path / "r.html"))
    doubts = changed.review(0.95, most=20, limit=20)
    needed = [each.more_ballots for each in doubts]
    assert None not in needed
    steps = [each.text() for each in page.card(3).all("li")]
    which = "the 20 most doubtful" if doubtful > 20 else "it" if doubtful == 1 else "them"
    assert steps[0] == (
        f"Ask for more ballots on {doubtful} instance{'s' * (doubtful != 1)} below 95 %. About {sum(needed)} further "
        f"ballots should settle {which}. Instances"
    )
    assert steps[1].startswith("Answer 20 instances yourself (epivote gold chooses them) and run again with --gold")
    for link in page.card(3).all("a"):
        assert page.section(link["href"].removeprefix("#")) is not None


def test_where_most_sets_are_doubtful_the_crowd_is_too_small(plain, fitted):
    count = sum(each < 0.95 for each in fitted.confidence_)
    assert count > 30
    assert plain.card(3).all("li")[0].text() == (
        f"Ask for more ballots on every instance: {count} of 60 sets are below 95 %. epivote plan estimates how many are "
        "needed. Instances"
    )


def test_steps_without_anything_to_do():
    nobody = SimpleNamespace(suspicious=(), too_few=())
    calm = Trust("gold", 9, 0.9, None, "supported")
    ballots = SimpleNamespace(n_instances=60, total_ballots=100, alternatives=("a", "b"))
    summary = SimpleNamespace(estimate=SimpleNamespace(ballots=ballots))
    (only,) = overview.next_steps(summary, [], calm, nobody, np.zeros((2, 2), int))
    assert only.text == "Nothing stands out: the sets can be used as they are."
    for count, steps in ((4, 0), (5, 1)):
        confused = np.array([[0, count], [0, 0]])
        found = overview.next_steps(summary, [], calm, nobody, confused)
        assert sum("difference between a and b" in step.text for step in found) == steps
    high = Trust("gold", 9, 0.9, None, "too high")
    (learn,) = overview.next_steps(summary, [], high, nobody, None)
    assert "--gold-use learn" in learn.text


def test_instances_that_many_ballots_would_not_settle_are_for_rewording(tmp_path):
    ballots = Ballots.from_mapping({("ann", "z"): {"a"}, ("bo", "z"): {"b"}})
    page = Page(write_report(MaximumLikelihood(0.5, 0.49, 0.5, bounds=1).fit(ballots), tmp_path / "r.html"))
    assert page.card(3).all("li")[0].text() == (
        "Ask for more ballots on 1 instance below 95 %. Decide or reword the one that needs more than 64. Instances"
    )


# Against a majority


def majority_set(cast, name, names):
    """More than half of the ballots, one alternative at least and two at most, those with most approvals."""
    ballots = [ticks for (_, z), ticks in cast.items() if z == name]
    counts = {j: sum(j in ticks for ticks in ballots) for j in names}
    size = min(max(sum(2 * count > len(ballots) for count in counts.values()), 1), 2)
    return set(sorted(names, key=lambda j: -counts[j])[:size])


def test_sets_that_differ_from_a_majority_and_why(plain, cast, fitted):
    names, truth, known = fitted.estimate_.ballots.alternatives, fitted.truth_, fitted.parameters_
    different = [z for z in truth if truth[z] != majority_set(cast, z, names)]
    assert len(different) > 3
    section = plain.section("majority")
    assert (
        section.one("p")
        .text()
        .startswith(f"On {len(different)} of 60 instances the set differs from that of a majority")
    )
    confidence = dict(zip(truth, fitted.confidence_, strict=True))
    shown = sorted(different, key=lambda z: -confidence[z])[:10]
    voters = fitted.estimate_.ballots.voter_index
    for row, z in zip(section.one("tbody").all("tr"), shown, strict=True):
        own, other, sure, why = row.all("td")
        assert (row.one("th").text(), sure.text()) == (z, percent(confidence[z]))
        assert (set(own.chips()), set(other.chips())) == (truth[z], majority_set(cast, z, names))
        reasons = {each.text().split(" is ")[0]: each.text() for each in why.all("span", "reason")}
        assert set(reasons) == truth[z] ^ majority_set(cast, z, names)
        for j, told in reasons.items():
            for_it = against = 0.0
            approvals = 0
            for (voter, item), ticks in cast.items():
                p, q = known.hit_rates[voters[voter]], known.false_alarm_rates[voters[voter]]
                if item == z and j in ticks:
                    for_it, approvals = for_it + log(p / q), approvals + 1
                elif item == z:
                    against += log((1 - p) / (1 - q))
            prior = known.priors[names.index(j)]
            prior = log(prior / (1 - prior))
            assert f"is {'in' if j in truth[z] else 'out'}: " in told
            if approvals:
                assert f"{approvals} approval{'s' * (approvals != 1)} {signed(for_it)}, " in told
            assert (
                f"without it {signed(against)}, prior {signed(prior)}, in all {signed(for_it + against + prior)}"
                in told
            )


def signed(value) -> str:
    return "0.00" if f"{abs(value):.2f}" == "0.00" else f"{value:+.2f}".replace("-", "−")


def test_a_page_where_nothing_changed(tmp_path):
    ballots = Ballots.from_mapping({(f"v{i}", f"z{k}"): {"ab"[k]} for i in range(5) for k in range(2)})
    section = Page(write_report(AMLE(1).fit(ballots), tmp_path / "r.html")).section("majority")
    assert section.one("p").text().startswith("On all 2 instances the set is that of a majority")
    assert section.all("table") == []


def test_differing_sets_are_found(crowd, fitted):
    other = Majority((1, 2)).fit(crowd.ballots).estimate_.truths
    found = differing(fitted.estimate_.truths, other)
    assert found.tolist() == [fitted.truth_[z] != other[z] for z in fitted.truth_]
    assert not differing(other, other).any()
