"""Every sentence of the page's first screen, for one and for many, just below and at its limits."""

from types import SimpleNamespace

import numpy as np
import pytest

from epivote import Doubt, Interval, SizeBounds
from epivote.report import overview
from epivote.report.cards import Bar, NextStep, ShortSet, VoterRow, VotersCard
from epivote.report.numbers import Flagged, Headline, Trust
from epivote.report.overview import check_of, next_steps, voters_found

BREAK = "\u00a0"


def summary(**given):
    usual = {"is_rated": True, "method": "Majority", "threshold": 0.95, "n_doubtful": 0, "n_own_sizes": 0}
    return SimpleNamespace(**usual | given)


@pytest.mark.parametrize(
    ("members", "shown"),
    [("", ((), "")), ("abc", (tuple("abc"), "")), ("abcd", (tuple("abcd"), "")), ("abcde", (tuple("abcd"), "+1")),
     ("abcdefg", (tuple("abcd"), "+3"))],
)  # fmt: skip
def test_long_sets_are_shortened(members, shown):
    assert ShortSet.of(members) == shown


@pytest.mark.parametrize(
    ("bounds", "own", "words"),
    [
        ((0, None), 0, "sets of any size"),
        ((1, None), 0, "at least 1 alternative in a set"),
        ((2, None), 1, "at least 2 alternatives in a set (1 instance with size bounds of its own)"),
        ((1, 1), 0, "exactly 1 alternative in a set"),
        ((0, 1), 2, "0 to 1 alternative in a set (2 instances with size bounds of their own)"),
        ((1, 3), 0, "1 to 3 alternatives in a set"),
    ],
)
def test_size_bounds(bounds, own, words):
    estimate = SimpleNamespace(bounds=SizeBounds(*bounds))
    assert overview.sizes_in_words(summary(estimate=estimate, n_own_sizes=own)) == words


@pytest.mark.parametrize(
    ("rated", "head", "expected"),
    [
        (True, Headline(1500, 0, 1200, 1399.6, 0, 0, 0, 0),
         ("1,200 of 1,500", f"sets have a confidence of at least 95{BREAK}%",
          "If the confidence holds, about 1,400 of 1,500 sets are exactly right.")),
        (True, Headline(9, 1, 2, 3.2, 0, 0, 0, 0),
         ("2 of 9", f"sets have a confidence of at least 95{BREAK}%",
          "If the confidence holds, about 3 of 9 sets are exactly right. 1 gold set is kept as given.")),
        (True, Headline(9, 2, 2, 3.2, 4, 1, 0, 0),
         ("1 of 4", "sets with gold is exactly right",
          f"2 of all 9 sets have a confidence of at least 95{BREAK}%. 2 gold sets are kept as given.")),
        (True, Headline(9, 0, 1, 3.2, 4, 2, 1, 1),
         ("2 of 4", "sets with gold are exactly right",
          f"1 of all 9 sets has a confidence of at least 95{BREAK}%; 1 of them is exactly right.")),
        (True, Headline(9, 0, 9, 3.2, 4, 2, 4, 2),
         ("2 of 4", "sets with gold are exactly right",
          f"All 9 sets have a confidence of at least 95{BREAK}%; 2 of the 4 with gold are exactly right.")),
        (True, Headline(1, 0, 1, 1.0, 1, 0, 1, 0),
         ("0 of 1", "set with gold are exactly right",
          f"1 of 1 set has a confidence of at least 95{BREAK}%; 0 of them are exactly right.")),
        (False, Headline(9, 1, 0, 0.0, 4, 2, 0, 0),
         ("2 of 4", "sets with gold are exactly right", "Majority states no confidence. 1 gold set is kept as given.")),
        (False, Headline(1, 0, 0, 0.0, 0, 0, 0, 0),
         ("1", "set",
          "Majority counts approvals and does not learn who is reliable, so it states no confidence.")),
        (False, Headline(1000, 3, 0, 0.0, 0, 0, 0, 0),
         ("1,000", "sets",
          "Majority counts approvals and does not learn who is reliable, so it states no confidence. 3 gold sets are kept "
          "as given.")),
    ],
)  # fmt: skip
def test_the_headline(rated, head, expected):
    assert overview._headline(summary(is_rated=rated), head) == expected


# How far to trust the confidence


@pytest.mark.parametrize("kind", ["gold", "left out", "taught", "halves", "model"])
@pytest.mark.parametrize("verdict", ["supported", "too high", "too low"])
def test_verdicts(kind, verdict):
    if kind == "model":
        trust = Trust(kind, 0, 0.625, None, "unchecked")
    else:
        trust = Trust(kind, 1, 0.625, Interval(0.5, 0.25, 0.75), verdict)
    card = check_of(summary(), trust)
    by = "two halves of the voters" if kind == "halves" else "gold"
    wrong = {"too high": "Too high", "too low": "Lower than it could be"}
    expected = {
        "unchecked": ("Not checked", "open"),
        "supported": (f"Supported by {by}", "good"),
        "too high": ("Lowered, and still uncertain" if kind == "halves" else wrong["too high"], "bad"),
        "too low": ("Lowered, and still uncertain" if kind == "halves" else wrong["too low"], "open"),
    }
    assert (card.verdict, card.tone) == expected[trust.verdict]
    stated = Bar("Mean confidence", f"62{BREAK}%", "62.5")
    assert card.bars == {
        "model": [stated],
        "halves": [Bar("Expected agreement", f"62{BREAK}%", "62.5"), Bar("Agreement found", f"50{BREAK}%", "50.0")],
    }.get(kind, [stated, Bar("Exactly right", f"50{BREAK}% (95{BREAK}% CI 25-75)", "50.0", "25.0", "50.0")])
    assert (
        card.sentence
        == {
            "gold": "Compared with 1 gold set that was not used for fitting.",
            "left out": "Calibrated with 1 gold set; each was left out in turn to check the result.",
            "taught": "Compared with 1 gold set that the estimate learnt from, so this looks better than it is.",
            "model": (
                "These are model probabilities, which are too high if voters make the same mistakes. Only gold can tell."
            ),
            "halves": (
                "Two random halves of the voters agree on fewer sets than the confidence implies: they share mistakes. "
                "Only gold can tell how far confidence is still too high."
                if verdict == "too high"
                else "Two random halves of the voters agree on as many sets as the confidence implies. Mistakes that all "
                "voters share would not show here."
            ),
        }[kind]
    )


def test_more_of_the_same():
    trust = Trust("gold", 2, 0.5, Interval(0.5, -0.25, 1.5), "supported")
    assert check_of(summary(), trust).sentence == "Compared with 2 gold sets that were not used for fitting."
    assert check_of(summary(), trust).bars[1][2:] == ("50.0", "0.0", "100.0"), "bars stay within their frame"
    none = check_of(summary(), None)
    assert (none.verdict, none.tone, none.bars) == ("No confidence", "open", [])


# Voters


def voter(name, ballots=1234, multiplicity=1):
    label = name if multiplicity == 1 else f"{name} (x {multiplicity})"
    return SimpleNamespace(label=label, flags=("ticks 9 % only", "odd"), ballots=ballots, multiplicity=multiplicity)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("few", [0, 1, 2])
def test_flagged_voters(count, few):
    flagged = Flagged(tuple(voter(f"v{k}") for k in range(count)), tuple(voter("f") for _ in range(few)))
    estimate = SimpleNamespace(ballots=SimpleNamespace(total_voters=50))
    unknown = {0: "", 1: "1 voter has too few ballots to be judged.", 2: "2 voters have too few ballots to be judged."}
    more = "Those with most ballots are shown. " if count > 3 else ""
    rows = [VoterRow(f"v{k}", f"ticks 9{BREAK}% only; odd", "1,234 ballots") for k in range(min(count, 3))]
    assert voters_found(summary(estimate=estimate), flagged) == VotersCard(
        f"{count} of 50 voters {'is' if count == 1 else 'are'} flagged", rows, (more + unknown[few]).strip()
    )
    assert voters_found(summary(estimate=estimate), Flagged((), flagged.too_few)) == VotersCard(
        "None of 50 voters is flagged", [], unknown[few]
    )
    names = ", ".join(f"v{k}" for k in range(min(count, 3))) + (f" and {count - 3} more" if count > 3 else "")
    assert overview._about_voters(flagged) == [
        NextStep(
            f"Check {names} before asking them again; their ballots already count by their weights.", "voters", "Voters"
        )
    ]
    assert overview._about_voters(Flagged((), flagged.too_few)) == []


def test_voters_who_stand_for_several_count_so_often():
    flagged = Flagged((voter("a", multiplicity=3),), (voter("b", multiplicity=1000), voter("c")))
    estimate = SimpleNamespace(ballots=SimpleNamespace(total_voters=5000))
    card = voters_found(summary(estimate=estimate), flagged)
    assert card.headline == "3 of 5,000 voters are flagged"
    assert card.rest == "1,001 voters have too few ballots to be judged."
    assert card.rows[0].name == "a (x 3)"
    unrated = voters_found(summary(estimate=estimate, is_rated=False), flagged)
    assert unrated == VotersCard("Voters are not judged", [], "Majority gives every voter the same weight.")


# What to do next


def doubts(*more):
    return [Doubt(f"q{k}", 0.5, ("a",), ("b",), 0.25, 3, each) for k, each in enumerate(more)]


@pytest.mark.parametrize(
    ("count", "total", "more", "text"),
    [
        (0, 9, (), None),
        (1, 9, (1,), "Ask for more ballots on 1 instance below 95 %. About 1 further ballot should settle it."),
        (2, 9, (1, 4), "Ask for more ballots on 2 instances below 95 %. About 5 further ballots should settle them."),
        (2, 9, (1, None), "Ask for more ballots on 2 instances below 95 %. About 1 further ballot should settle 1 of them. "
         "Decide or reword the one that needs more than 64."),
        (3, 9, (None, None, 2), "Ask for more ballots on 3 instances below 95 %. About 2 further ballots should settle 1 of "
         "them. Decide or reword the 2 that need more than 64."),
        (1, 9, (None,), "Ask for more ballots on 1 instance below 95 %. Decide or reword the one that needs more than 64."),
        (9, 9, (1,) * 9, "Ask for more ballots on 9 instances below 95 %. About 9 further ballots should settle them."),
        (5, 10, (1, 2), "Ask for more ballots on 5 instances below 95 %. About 3 further ballots should settle the 2 most "
         "doubtful."),
        (6, 10, (1, 2), "Ask for more ballots on every instance: 6 of 10 sets are below 95 %. epivote plan estimates how "
         "many are needed."),
        (6, 12, (1, None), "Ask for more ballots on 6 instances below 95 %. About 1 further ballot should settle 1 of the 2 "
         "most doubtful. Decide or reword the one that needs more than 64."),
    ],
)  # fmt: skip
def test_more_ballots(count, total, more, text):
    steps = overview._about_doubts(summary(n_doubtful=count, estimated_places=range(total)), doubts(*more))
    expected = [] if text is None else [NextStep(text.replace("95 %", f"95{BREAK}%"), "instances", "Instances")]
    assert steps == expected


@pytest.mark.parametrize(
    ("instances", "asked"), [(1, "1 instance"), (3, "1 instance"), (4, "2 instances"), (39, "19 instances"),
                             (40, "20 instances"), (41, "20 instances"), (1000, "20 instances")],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["model", "halves"])
def test_gold_is_asked_for_where_there_is_none(instances, asked, kind):
    ((text, section, link),) = overview._about_trust(Trust(kind, 0, 0.5, None, "unchecked"), instances)
    assert (
        text
        == f"Answer {asked} yourself (epivote gold chooses them) and run again with --gold to calibrate the confidence."
    )
    assert (section, link) == ("confidence", "Confidence")


@pytest.mark.parametrize("kind", ["gold", "left out", "taught"])
@pytest.mark.parametrize("verdict", ["supported", "too high", "too low"])
def test_gold_kept_aside_is_to_be_learnt_from_where_confidence_is_too_high(kind, verdict):
    steps = overview._about_trust(Trust(kind, 9, 0.5, Interval(0.5, 0.4, 0.6), verdict), 30)
    text = "Run again with --gold-use learn to calibrate the confidence with the gold sets."
    expected = [NextStep(text, "confidence", "Confidence")] if (kind, verdict) == ("gold", "too high") else []
    assert steps == expected


@pytest.mark.parametrize(("times", "is_told"), [(0, False), (4, False), (5, True), (6, True)])
def test_pairs_that_are_confused_on_one_ballot_in_twenty(times, is_told):
    ballots = SimpleNamespace(alternatives=("elm", "oak"), total_ballots=100)
    found = overview._about_pairs(
        summary(estimate=SimpleNamespace(ballots=ballots)), np.array([[0, times], [min(times, 3), 0]])
    )
    told = f"Explain the difference between elm and oak: oak was approved instead of elm on {times} ballots."
    assert found == ([NextStep(told, "alternatives", "Alternatives")] if is_told else [])
    assert overview._about_pairs(summary(), None) == []


def test_the_order_of_steps():
    ballots = SimpleNamespace(alternatives=("elm", "oak"), total_ballots=10, n_instances=8)
    told = summary(estimate=SimpleNamespace(ballots=ballots), n_doubtful=1, estimated_places=range(8))
    confused, flagged = np.array([[0, 9], [0, 0]]), Flagged((voter("v"),), ())
    trust = Trust("model", 0, 0.5, None, "unchecked")
    steps = next_steps(told, doubts(3), trust, flagged, confused)
    assert [each.section for each in steps] == ["instances", "confidence", "voters", "alternatives"]
    assert [each.section for each in next_steps(told, [], None, flagged, confused)] == ["computed", "alternatives"]
    calm = Trust("gold", 9, 0.5, Interval(0.5, 0.4, 0.6), "supported")
    assert next_steps(told, [], calm, Flagged((), ()), None) == [
        NextStep("Nothing stands out: the sets can be used as they are.", "instances", "All sets")
    ]


def test_links_are_quoted():
    assert overview.link_to("a b/c#é?") == "#instance=a%20b%2Fc%23%C3%A9%3F"
    assert overview.link_to("\ud800") == "#instance=%3F"
