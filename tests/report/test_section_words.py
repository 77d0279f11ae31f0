"""Sentences and rows of the page's sections, for none, one and many, at their limits."""

from types import SimpleNamespace

import numpy as np
import pytest

from epivote import Doubt, SizeBounds
from epivote.report import changes, content, page
from epivote.report.cards import Bar
from epivote.report.embedded import Shown
from epivote.report.numbers import Bands, Change, Voters, Weighing
from epivote.summary import FoundSet

BREAK = "\u00a0"


def summary(**given):
    usual = {"is_rated": True, "method": "Modal", "threshold": 0.95, "n_doubtful": 0, "n_own_sizes": 0}
    return SimpleNamespace(**usual | given)


# Warnings


@pytest.mark.parametrize(
    ("first", "second", "shown"), [(130, 129, 2), (130, 130, 2), (130, 131, 1), (300, 0, 1), (1, 1, 2)]
)
def test_two_warnings_are_in_sight_if_they_are_short(first, second, shown):
    assert content.warnings_in_sight(["x" * first, "y" * second, "z" * 400]) == shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("look out", "Look out."),
        ("look out!", "Look out!"),
        ("why?", "Why?"),
        ("It is so.", "It is so."),
        ("quiz.csv has 3 lines", "quiz.csv has 3 lines."),
        ("3 lines", "3 lines."),
        ("so: it is", "So: it is."),
    ],
)
def test_notes_become_sentences(words, sentence):
    assert content._sentence(words) == sentence


@pytest.mark.parametrize(
    ("status", "steps", "settling", "words"),
    [
        ("converged", 1, 0, "Converged after 1 iteration: the last one changed no rate by more than the tolerance."),
        ("converged", 9, 4, "Converged after 9 iterations (the first 4 chose the strength of shrinkage): the last one "
         "changed no rate by more than the tolerance."),
        ("iteration limit", 9, 0, "Stopped at the limit of 9 iterations before convergence; allow more iterations and run "
         "again."),
        ("interrupted", 9, 0, "Interrupted after 9 iterations; the page shows the best estimate up to then."),
    ],
)  # fmt: skip
def test_how_the_iteration_ended(status, steps, settling, words):
    estimate = SimpleNamespace(
        status=status, n_iterations=steps, settling_iterations=settling, log_likelihoods=(-1.0,) * steps
    )
    assert content.outcome(estimate) == words
    estimate.log_likelihoods = ()
    assert content.outcome(estimate) == (
        "This rule looks at every instance once and by itself, so there was nothing to iterate."
    )


# Instances


def test_rows_of_doubtful_instances_or_else_of_the_first():
    doubts = [Doubt("q1", 0.5, ("a",), ("b",), 0.25, 1234, None), Doubt("q2", 0.75, (), ("a",), 0.125, 8, 3)]
    assert content.instance_rows(summary(), doubts) == [
        ("q1", ("a",), f"50{BREAK}%", "50.0", ("b",), f"25{BREAK}%", "1,234", "more than 64"),
        ("q2", (), f"75{BREAK}%", "75.0", ("a",), f"12{BREAK}%", "8", "3"),
    ]
    asked = []

    def sets(limit):
        asked.append(limit)
        return [FoundSet("q1", ("a",), 0.5, 1234), FoundSet("q2", (), None, 8)]

    assert content.instance_rows(summary(sets=sets), []) == [
        ("q1", ("a",), f"50{BREAK}%", "50.0", None, "", "1,234", ""),
        ("q2", (), "", "0", None, "", "8", ""),
    ]
    assert asked == [20]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "Every set has a confidence of at least 95 %."),
        (1, "1 of 1,500 sets has a confidence below 95 %; it comes first. The last column estimates how many further "
         "ballots of an average voter would raise the confidence to 95 %."),
        (20, "20 of 1,500 sets have a confidence below 95 %; they come first. The last column estimates how many further "
         "ballots of an average voter would raise the confidence to 95 %."),
        (21, "21 of 1,500 sets have a confidence below 95 %; they come first. The last column estimates for the 20 most "
         "doubtful how many further ballots of an average voter would raise the confidence to 95 %."),
    ],
)  # fmt: skip
def test_doubtful_sets(count, words):
    ballots = SimpleNamespace(n_instances=1500)
    told = summary(n_doubtful=count, estimated_places=range(1500), estimate=SimpleNamespace(ballots=ballots))
    opening = " Open an instance to see its most probable sets, what every ballot contributed, and all its ballots."
    whole = Shown(np.arange(1500), 0)
    assert content.instances_in_words(told, whole) == words.replace(" %", f"{BREAK}%") + opening


@pytest.mark.parametrize(
    ("doubtful", "drawn", "chosen"),
    [
        (2, 3, "the 2 most doubtful and a random sample of 3 others (seed 0)"),
        (0, 3, "a random sample of 3 (seed 0)"),
        (4, 0, "the 4 most doubtful"),
    ],
)
def test_pages_that_cannot_hold_all_instances_say_which_they_hold(doubtful, drawn, chosen):
    ballots = SimpleNamespace(n_instances=1500)
    told = summary(is_rated=False, estimate=SimpleNamespace(ballots=ballots))
    few = Shown(np.arange(doubtful + drawn), doubtful)
    assert content.instances_in_words(told, few) == (
        "Open an instance to see its approvals and ballots. Modal gives no rival sets and no reasons. The page holds "
        f"{doubtful + drawn} of 1,500 instances: {chosen}. All counts and charts are of all instances."
    )


# Voters


@pytest.mark.parametrize("drawn", [500, 1500])
@pytest.mark.parametrize("crosses", [True, False])
@pytest.mark.parametrize("rated", [True, False])
def test_how_to_read_the_map(drawn, crosses, rated):
    told = summary(is_rated=rated, estimate=SimpleNamespace(ballots=SimpleNamespace(n_voters=1500)))
    lines = f"Lines are 95{BREAK}% intervals." if crosses else f"Point at a dot to see its 95{BREAK}% intervals."
    assert content.map_in_words(told, drawn, crosses=crosses) == (
        "Both axes are in log-odds, so that the distance from the dashed line, across or up, is the voter's weight. Every "
        "dot is a voter, its area the number of ballots."
        + (f" Orange with a ring: flagged. {lines}" if rated else "")
        + (" Drawn are 500 of 1,500 voters, those with most ballots." if drawn == 500 else "")
    )


def test_flagged_voters_come_first_and_then_those_of_most_weight():
    weights = np.array([1.0, 5.0, -2.0, 3.0, 0.0, 2.0, 4.0, 1.5, 2.5, 3.5, 4.5, -1.0])
    rates = np.linspace(0.2, 0.75, 12)
    flags = tuple(("odd", "late") if i in (2, 5) else () for i in range(12))
    voters = Voters(
        tuple(f"v{i}" for i in range(12)), np.arange(12) * 1000,
        rates, rates, rates, 1 - rates, rates, rates, weights, weights, weights, flags,
    )  # fmt: skip
    rows = content.voter_rows(voters)
    assert [row[0] for row in rows] == ["v5", "v2", "v1", "v10", "v6", "v9", "v3", "v8", "v7", "v0"]
    assert rows[0] == ("v5", f"45{BREAK}%", f"55{BREAK}%", "+2.00", "5,000", "odd; late")
    assert rows[1][3] == "−2.00"


def agreement(**given):
    usual = {"n_instances": 3, "nominal": 0.5, "jaccard": -0.25, "masi": None, "approvals": 1.0, "caveats": " But."}
    return SimpleNamespace(**usual | {"alternatives": {}} | given)


def test_agreement():
    assert content.agreement_bars(agreement()) == [
        Bar("Whole sets", "0.50", "50.0"),
        Bar("Jaccard distance", "−0.25", "0.0"),
        Bar("MASI distance", "undefined", "0.0"),
        Bar("Single alternatives", "1.00", "100.0"),
    ]
    assert content.agreement_bars(agreement(n_instances=0)) == []
    assert content.agreement_in_words(agreement()).endswith("values below 0.67 unreliable. But.")
    assert content.agreement_in_words(agreement(n_instances=0)) == (
        "No instance has two ballots, so agreement among voters cannot be measured."
    )
    asked = []

    def weakest(count):
        asked.append(count)
        return [("a", 0.25)]

    two = agreement(alternatives={"a": 0.25, "b": 0.5, "c": None}, weakest=weakest)
    assert content.weakest_bars(two) == [Bar("a", "0.25", "25.0")]
    assert asked == [4]
    assert content.weakest_bars(agreement(alternatives={"a": 0.25, "c": None}, weakest=weakest)) == []


# Confidence and gold


def test_bands_in_words():
    bands = Bands((0.0, 0.5, 0.995), np.array([1000, 2, 3]), (False, False, True))
    labels = [f"below 50{BREAK}%", f"50 to 99.5{BREAK}%", f"99.5{BREAK}% and above"]
    assert content.band_labels(bands) == labels
    assert content.bands_in_words(bands) == (
        f"Number of sets by confidence: 1,000 {labels[0]}, 2 {labels[1]}, 3 {labels[2]}."
    )


@pytest.mark.parametrize(
    ("gold", "places", "comparable", "words"),
    [
        (5, 5, 5, ""),
        (6, 5, 5, " 1 gold set was left out because the instance has no ballots."),
        (7, 5, 5, " 2 gold sets were left out because the instance has no ballots."),
        (5, 5, 4, " 1 gold set was left out because the estimate learnt from them."),
        (8, 6, 4, " 2 gold sets were left out because the instance has no ballots. 2 gold sets were left out because the "
         "estimate learnt from them."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("right", [0, 1, 2])
def test_gold_that_was_left_out_is_told(gold, places, comparable, words, right):
    check = SimpleNamespace(scores=SimpleNamespace(rows=lambda: ("rows",)), n_right=right, n_instances=4, bins=())
    told = summary(gold=range(gold), places=range(places), comparable=range(comparable), held_back=check)
    found = content.held_back(told)
    assert found.sentence == f"{right} of 4 sets with gold {'is' if right == 1 else 'are'} exactly right.{words}"
    assert (found.heading, found.rows) == ("Scored against gold (not used for fitting)", ("rows",))
    told.held_back = None
    assert content.held_back(told).sentence == f"None of the gold sets could be compared.{words}"
    told.gold = None
    assert content.held_back(told) is None


# The rest


def test_twelve_pairs_are_listed():
    confused = np.arange(25).reshape(5, 5)[::-1] * 100
    pairs = content.pairs_in_words("abcde", confused)
    assert len(pairs) == 12
    assert pairs[0] == ("a", "e", "2,400 ballots")
    assert pairs[-1] == ("c", "d", "1,300 ballots")


@pytest.mark.parametrize("letters", [599, 600, 601])
def test_long_settings_are_cut(letters, monkeypatch):
    monkeypatch.setattr(content, "how_computed", lambda *_given: [("Long", "x" * letters), ("Estimator", "EM(x)")])
    rows = page._settings(summary(), {}, anonymize=False)
    shown = "x" * letters if letters <= 600 else f"{'x' * 600} … (cut)"
    assert rows == [("Long", shown), ("Estimator", "EM(x)")]
    assert page._settings(summary(), {}, anonymize=True)[1] == ("Estimator", "Modal")


def test_how_it_was_computed():
    estimate = SimpleNamespace(
        log_likelihoods=(-1.0,), bounds=SizeBounds(1, 2), gold=range(1200), n_iterations=1500, status="converged",
        log_likelihood=-1234.5678, ballots=SimpleNamespace(in_words=lambda: "3 ballots, 100 % answered"),
    )  # fmt: skip
    told = summary(estimate=estimate, fitted="EM()")
    assert content.how_computed(told, {"File": "x.csv"}, "1.2") == [
        ("File", "x.csv"),
        ("Estimator", "'EM()'"),
        ("Size bounds", "1..2 (1 to 2 alternatives in a set)"),
        ("Ballots", f"3 ballots, 100{BREAK}% answered"),
        ("Gold sets used for fitting", "1,200"),
        ("Iterations", "1,500"),
        ("Status", "converged"),
        ("Log-likelihood", "-1,234.568"),
        ("epivote", "version 1.2"),
    ]
    estimate.log_likelihood, estimate.log_likelihoods = None, ()
    rows = dict(content.how_computed(told, {}, "1.2"))
    assert (rows["Iterations"], rows["Log-likelihood"]) == ("none needed", "–")


def test_words_about_the_objective():
    assert content.convergence_in_words(np.array([-1234.5, -7.0, -3.25])) == (
        "Objective from -1,234.50 to -3.25 in 3 iterations."
    )


# Against a majority


@pytest.mark.parametrize("count", [0, 1, 10, 11, 1200])
def test_how_many_sets_differ_from_those_of_a_majority(count):
    told = summary(estimate=SimpleNamespace(ballots=SimpleNamespace(n_instances=1500)))
    rule = "(alternatives approved on more than half of the ballots, within the same size bounds)"
    if count == 0:
        words = f"On all 1,500 instances the set is that of a majority {rule}: here, weighing voters changed nothing."
    else:
        most = " These are the 10 with the highest confidence." if count > 10 else ""
        words = (
            f"On {count:,} of 1,500 instances the set differs from that of a majority {rule}.{most} The reasons add up the "
            "evidence in log-odds: positive values speak for an alternative, negative ones against it."
        )
    assert changes.majority_in_words(told, count) == words


@pytest.mark.parametrize(
    ("weighing", "words"),
    [
        (Weighing("a", True, 1, 3, 0.5, 1.25, -2.0, 0.25, 0.0),
         "a is in: 1 approval +1.25, 2 ballots without it −2.00, prior +0.50, calibration +0.25, in all 0.00"),
        (Weighing("a", False, 2, 3, 0.0, 1.25, -2.0, 0.0, -0.75),
         "a is out: 2 approvals +1.25, 1 ballot without it −2.00, in all −0.75"),
        (Weighing("a", False, 0, 3, 1.0, 0.0, 0.0, 0.0, 1.0),
         "a is out: prior +1.00, in all +1.00; the size bounds or the other alternatives decide"),
        (Weighing("a", False, 0, 3, 1.0, 0.0, 0.0, 0.0, 0.0),
         "a is out: prior +1.00, in all 0.00; the size bounds or the other alternatives decide"),
        (Weighing("a", True, 0, 3, -1.0, 0.0, 0.0, 0.0, -1.0),
         "a is in: prior −1.00, in all −1.00; the size bounds or the other alternatives decide"),
    ],
)  # fmt: skip
def test_reasons_add_up(weighing, words):
    (row,) = changes.change_rows([Change("q 1", ("a",), ("b",), 0.625, (weighing,))])
    assert row == ("q 1", "#instance=q%201", ("a",), ("b",), f"62{BREAK}%", "62.5", (words,))
