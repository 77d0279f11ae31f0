"""The comparison with other tools: ballots become yes/no questions and answers become sets, checked by brute force."""

from dataclasses import replace
from itertools import chain, combinations
from math import prod

import numpy as np
import pytest

from epivote import Ballots
from experiments import comparison
from experiments.comparison import TITLES
from experiments.page import tools
from experiments.real_sets import present
from experiments.store import Kept
from experiments.yes_no import Answers, confidence_of, per_label, questions_of, sets_of, within_bounds

BALLOTS = Ballots.from_mapping(
    {
        ("ann", "q1"): {"owl", "wren"},
        ("bob", "q1"): set(),
        ("ann", "q2"): {"owl"},
        ("cy", "q2"): {"robin"},
        ("cy", "q3"): {"wren"},
    },
    menu={"q1": ["owl", "wren"], "q2": ["owl", "robin", "wren"], "q3": ["robin", "wren"]},
)
QUESTIONS = questions_of(BALLOTS)
PROBABILITIES = np.array([0.9, 0.4, 0.6, 0.7, 0.2, 0.1, 0.3])


def answers_by_hand():
    return {
        (voter, instance, alternative): alternative in approved
        for (voter, instance), approved in BALLOTS.items()
        for alternative in BALLOTS.offered(instance)
    }


def asked():
    """Instance and alternative of every question."""
    return [(instance, name) for instance in BALLOTS.instances for name in BALLOTS.offered(instance)]


def test_every_offered_alternative_of_every_ballot_is_answered_once():
    numbered = asked()
    found = {
        (BALLOTS.voters[voter], *numbered[question]): bool(yes)
        for voter, question, yes in zip(QUESTIONS.voter, QUESTIONS.question, QUESTIONS.yes, strict=True)
    }
    assert found == answers_by_hand()
    assert len(QUESTIONS.yes) == len(found)


def test_missing_ballots_are_missing_in_the_table():
    given = answers_by_hand()
    for row, (instance, alternative) in enumerate(asked()):
        for column, voter in enumerate(BALLOTS.voters):
            cell = QUESTIONS.table[row, column]
            expected = given.get((voter, instance, alternative))
            assert np.isnan(cell) if expected is None else cell == expected


def test_one_ballot_comes_back_as_its_set():
    alone = BALLOTS.select(voters=["ann"])
    questions = questions_of(alone)
    yes = np.zeros(len(questions.alternatives), bool)
    yes[questions.question] = questions.yes == 1
    cast = {instance: approved for (voter, instance), approved in BALLOTS.items() if voter == "ann"}
    assert sets_of(questions, yes) == {instance: cast.get(instance, set()) for instance in alone.instances}


def test_per_label_asks_about_one_alternative_at_a_time():
    seen = []

    def tool(questions):
        assert len(set(questions.alternatives)) == 1
        assert len(questions.question) == 0 or questions.question.max() < len(questions.alternatives)
        about = questions.alternatives[0]
        for voter, question, yes in zip(questions.voter, questions.question, questions.yes, strict=True):
            (instance,) = (
                name
                for name, begin, end in zip(questions.instances, questions.start[:-1], questions.start[1:], strict=True)
                if begin <= question < end
            )
            seen.append(((BALLOTS.voters[voter], instance, about), bool(yes)))
        return Answers(np.full(len(questions.alternatives), about == "owl"), None)

    found = per_label(tool)(QUESTIONS)
    assert dict(seen) == answers_by_hand()
    assert sets_of(QUESTIONS, found.yes) == {"q1": {"owl"}, "q2": {"owl"}, "q3": set()}
    assert found.probability is None


@pytest.mark.parametrize("bounds", [(0, None), (1, 1), (1, 2), (2, None), (0, 1)])
def test_the_best_set_within_bounds_beats_every_other(bounds):
    lower, upper = bounds
    chosen = within_bounds(QUESTIONS, PROBABILITIES, bounds)
    confidence = confidence_of(QUESTIONS, chosen, PROBABILITIES)
    for place, instance in enumerate(QUESTIONS.instances):
        begin, end = QUESTIONS.start[place : place + 2]
        names, chances = QUESTIONS.alternatives[begin:end], PROBABILITIES[begin:end]
        best = max(
            prod(p if j in members else 1 - p for j, p in enumerate(chances))
            for members in chain.from_iterable(combinations(range(len(names)), size) for size in range(len(names) + 1))
            if lower <= len(members) <= (len(names) if upper is None else upper)
        )
        assert confidence[place] == pytest.approx(best)
        assert lower <= len(sets_of(QUESTIONS, chosen)[instance]) <= (len(names) if upper is None else upper)


def measured(**changes):
    result = {"exact": 0.5, "jaccard": 0.6, "alternatives": 0.7, "seconds": 2.0, "load": 1.0}
    return Kept(result | changes, "abc", "2026-01-01 10:00", current=True)


def test_the_page_says_what_was_measured(monkeypatch):
    monkeypatch.setattr(tools, "REAL", {"birds": "ten birds"})
    found = {
        ("em", "birds"): measured(stated=0.8125, error=0.25, seconds=0.5),
        ("majority", "birds"): measured(exact=0.125),
        ("snorkel", "birds"): measured(**{"within bounds": 0.375, "stated": 0.9, "error": 0.4, "seconds": 3.0}),
        ("crowd-kit-glad", "birds"): replace(measured(), result={"failed": "not finished after 15 minutes"}),
    }
    page = tools.page(found)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    by_title = {row[0].removeprefix("| "): row for row in rows}
    assert by_title[TITLES["em"]][1:] == ["0.500", "-", "0.600", "0.700", "0.812", "0.250", "1.0 |"]
    assert by_title[TITLES["majority"]][1:] == ["0.125", "-", "0.600", "0.700", "-", "-", "4.0 |"]
    assert by_title[TITLES["snorkel"]][2] == "0.375"
    assert by_title[TITLES["crowd-kit-glad"]][1] == "not run: not finished after 15 minutes"
    assert page.count(f"| {TITLES['crowd-kit-glad']} |") == 1, "means are of tools that ran on every set"


def test_a_page_without_our_own_figures_has_no_means(monkeypatch):
    monkeypatch.setattr(tools, "REAL", {"birds": "ten birds"})
    page = tools.page({("snorkel", "birds"): measured()})
    assert f"| {TITLES['snorkel']} |" not in page
    assert "Not measured yet: `birds`" in page


def test_a_tool_that_hangs_is_kept_as_such(monkeypatch):
    monkeypatch.setattr(comparison, "TIME_LIMIT", 60)
    monkeypatch.setattr(comparison, "WAITING", 0.0001)
    assert comparison.in_own_process("em", "news_events")["failed"] == "not finished after 0 minutes by the clock"


@pytest.mark.skipif(
    "news_events" not in present(), reason="real ballots are not here: set EPIVOTE_DATA to their folder"
)
def test_a_tool_that_takes_too_long_is_stopped_by_its_time_on_the_processor(monkeypatch):
    monkeypatch.setattr(comparison, "TIME_LIMIT", 1)
    monkeypatch.setattr(comparison, "WAITING", 60)
    assert comparison.in_own_process("auto", "news_events")["failed"] == "not finished after 0 minutes"


def test_a_tool_that_fails_is_kept_with_its_last_line():
    failed = comparison.in_own_process("em", "no such set")["failed"]
    assert failed.startswith("FileNotFoundError")
    assert "no such set" in failed


def test_the_shortest_of_three_short_runs_counts(monkeypatch):
    moments = iter([0.0, 3.0, 3.0, 4.0, 4.0, 6.0])
    monkeypatch.setattr(comparison.time, "process_time", lambda: next(moments))
    assert comparison.timed(lambda: "found") == ("found", 1.0)


def test_a_long_run_is_not_repeated(monkeypatch):
    moments = iter([0.0, 100.0])
    monkeypatch.setattr(comparison.time, "process_time", lambda: next(moments))
    assert comparison.timed(lambda: "found") == ("found", 100.0)
