"""What one estimation finds, and how the live page and the files say it: values in, values out."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from few_rows import FewRows, written

from epivote import AMLE, EM, Flag, FlagKind, SizeBounds, VoterReport, suggest_method
from epivote.web.estimation.collected import ballots_of, gold_to_learn
from epivote.web.estimation.estimate import live
from epivote.web.estimation.gathered import gather
from epivote.web.estimation.live import Live, SetFound
from epivote.web.exporting import export, participants_table, truth_table
from epivote.web.store import BallotRow
from epivote.web.store.store import Participant
from epivote.web.task import Alternative, Instance, Task
from epivote.web.views.board import board_of

ALL = ("owl", "dog", "cat", "ape")
RIGHT = {"q0": ["owl"], "q1": ["dog", "cat"], "q2": ["cat"], "q3": ["ape"], "q4": ["owl", "ape"], "q5": ["dog"]}
SECOND = 1_000_000


def over_time(times):
    rows = [BallotRow(f"v{number}", True, "q0", ("owl",), moment) for number, moment in enumerate(times)]
    return [list(point) for point in live((1, 1), gather(rows), small_task(), is_over=False).times]


def small_task(**options):
    alternatives = tuple(map(Alternative, ALL))
    instances = tuple(Instance(name, alternatives, SizeBounds(1, 2), text="?") for name in RIGHT)
    return Task("Small", Path(), SizeBounds(1, 2), alternatives, instances, **options)


def crowd_rows(count=6):
    draw = random.Random(2)
    return [
        BallotRow(f"v{voter}", True, name, tuple(each for each in ALL if (each in right) == (draw.random() < 0.75)), 5)
        for voter in range(count)
        for name, right in RIGHT.items()
    ]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([5], [[5, 0], [5, 1]]),
        ([5, 5, 5], [[5, 0], [5, 3]]),
        ([5, 4 + SECOND], [[5, 0], [4 + SECOND, 2]]),
        ([5, 5 + SECOND], [[5, 0], [5 + SECOND, 1], [5 + SECOND, 2]]),
        (
            [7, 5 + 3 * SECOND, 5],
            [[5, 0], [5 + SECOND, 2], [5 + 2 * SECOND, 2], [5 + 3 * SECOND, 2], [5 + 3 * SECOND, 3]],
        ),
    ],
)
def test_a_step_is_at_least_a_second(times, expected):
    assert over_time(times) == expected


def test_there_are_never_more_than_sixty_steps():
    for step in (SECOND, 60 * SECOND, 3601 * SECOND):
        times = [3, *(3 + number * step for number in range(1, 60)), 2 + 60 * step]
        points = over_time(times)
        assert [moment for moment, _ in points] == [3 + number * step for number in range(60)] + [2 + 60 * step]
        assert [count for _, count in points] == [*range(60), 61]
        assert len(over_time([*times, 3 + 60 * step])) <= 61


def test_files_that_a_task_does_not_need_are_not_there():
    rows = [BallotRow("ann", True, "q0", ("owl",), 5)]
    made = export(FewRows(rows), small_task(), "mine.csv")
    assert list(written(made)) == ["mine.csv"]
    assert made.command == "epivote aggregate mine.csv --size 1..2 --alternatives 'owl|dog|cat|ape' --method em"
    assert made.left_out == 0
    assert export(FewRows(rows), small_task()).command.startswith("epivote aggregate ballots.csv ")


def test_times_in_the_table_of_participants_are_to_the_second():
    people = [
        Participant("ann", True, 1_800_000_000_999_999, 1_800_000_061_000_000, 3),
        Participant("r", False, 0, None, 0),
    ]
    assert participants_table(people) == (
        "voter,kind,joined,finished,ballots\n"
        "ann,person,2027-01-15T08:00:00+00:00,2027-01-15T08:01:01+00:00,3\n"
        "r,program,1970-01-01T00:00:00+00:00,,0\n"
    )


def test_sets_are_written_as_the_command_writes_them():
    sets = {"q, 1": SetFound(("owl", "cat"), 0.75, 3, 1, ()), "q2": SetFound((), 1.0, 1, 0, ())}
    assert truth_table(Live(sets=sets)) == 'instance,alternatives,confidence\n"q, 1",owl|cat,0.75\nq2,,1.0\n'


@pytest.mark.parametrize(
    ("more", "words"), [(0, "none"), (1, "about 1"), (64, "about 64"), (65, "more than 64"), (None, "–")]
)
def test_further_ballots_in_words(more, words):
    found = Live(method="em", sets={"q0": SetFound(("owl",), 0.9, 3, more, ("owl",))})
    assert board_of(small_task(), found, [], (), "open")["sets"][0]["more"] == words


def test_sure_is_what_the_task_says_or_95_percent():
    sets = {
        f"q{number}": SetFound(("owl",), sure, 3, 0, ("owl",)) for number, sure in enumerate((0.9, 0.949999, 0.95, 1))
    }
    for task, sure in ((small_task(), 2), (small_task(confidence=0.9), 4), (small_task(confidence=0.96), 1)):
        assert board_of(task, Live(sets=sets), [], (), "open")["tiles"][4] == [f"{sure} of 6", "sets sure, gold aside"]


def test_large_numbers_are_grouped_and_small_problems_told():
    people = [Participant(f"p{number}", True, 0, 1, 1) for number in range(1001)]
    board = board_of(small_task(), Live(left_out=1234, problem="it broke"), people, ["x"] * 1002, "closed")
    assert [value for value, _ in board["tiles"]] == ["1,001", "1,001", "0", "1,001", "0 of 6", "1,002"]
    assert board["warnings"][0].startswith("1,234 of the ballots are left out")
    assert board["problem"] == "The estimation has a problem: it broke"
    assert (board["as_of"], board["gate_words"].split(":")[0]) == ("not yet", "Closed by you")


def test_counts_add_up():
    """Those that were counted, left out and came since are together those there are."""
    people = [Participant("ann", True, 0, None, 7), Participant("bot", False, 0, None, 5)]
    sets = {name: SetFound(("owl",), 0.9, count, 0, ("owl",)) for name, count in (("q0", 6), ("q1", 1))}
    board = board_of(small_task(), Live(method="em", sets=sets, left_out=2), people, (), "open")
    assert board["tiles"][0] == ["12", "ballots"]
    assert sum(row["ballots"] for row in board["voters"]) == 12
    assert ", from 7 ballots, 2 left out, 3 newer ones not counted yet, by em in" in board["as_of"]
    found = Live(method="em", sets={"q0": SetFound(("owl",), 0.9, 1, 0, ("owl",))})
    assert ", from 1 ballot, by em" in board_of(small_task(), found, [], (), "open")["as_of"]


def test_a_flag_that_only_asks_to_wait_marks_nobody():
    def flagged(*flags):
        anything = (0.0, 1.0)
        report = VoterReport("ann", 3, 0.5, anything, 0.25, anything, 1.0, anything, flags)
        found = Live(voters=(report,))
        return board_of(small_task(), found, [Participant("ann", True, 0, None, 3)], (), "open")["voters"][0]

    too_few, guesses = Flag(FlagKind.TOO_FEW_BALLOTS, right_seen=2.0), Flag(FlagKind.GUESSING)
    assert not flagged()["flagged"]
    assert not flagged(too_few)["flagged"]
    assert flagged(guesses)["flagged"]
    assert flagged(too_few, guesses)["flagged"]
    assert flagged(guesses)["rates"] == "hit rate 50 %, false-alarm rate 25 %"


@pytest.mark.parametrize("method", ["em", "amle", "auto"])
def test_the_method_of_the_task_is_used(method):
    rows = crowd_rows()
    found = live((1, 1), gather(rows), small_task(method=method), is_over=False)
    ballots = ballots_of(gather(rows), small_task())
    used = suggest_method(ballots, SizeBounds(1, 2), quick=True)[0] if method == "auto" else method
    estimator = {"em": EM, "amle": AMLE}[used](SizeBounds(1, 2)).fit(ballots)
    assert found.method == used
    assert [each.confidence for each in found.sets.values()] == estimator.estimate_.truth_table()["confidence"]


def test_further_ballots_are_for_the_confidence_that_the_task_asks_for():
    rows = crowd_rows(3)
    usual = live((1, 1), gather(rows), small_task(), is_over=False).sets
    levels = sorted(each.confidence for each in usual.values())
    for level in (0.95, next(each for each in levels if 0.5 <= each < 1)):
        found = live((1, 1), gather(rows), small_task(confidence=level), is_over=False).sets
        estimator = EM(SizeBounds(1, 2)).fit(ballots_of(gather(rows), small_task()))
        more = {each.instance: each.more_ballots or 65 for each in estimator.review(level)}
        assert {name: each.more for name, each in found.items()} == {name: more.get(name, 0) for name in found}
        assert all((each.more == 0) == (each.confidence >= level) for each in found.values())


def test_gold_teaches_only_where_something_else_was_answered():
    task = small_task()
    gold = replace(
        task,
        instances=tuple(replace(each, gold=frozenset({"owl"})) for each in task.instances[:2]) + task.instances[2:],
    )
    one = {"q0": frozenset({"owl"})}
    assert gold_to_learn(["q0", "q2"], gold) == one
    assert gold_to_learn(["q0", "q1"], gold) is None
    assert gold_to_learn(["q0"], gold) is None
    assert gold_to_learn(["q2", "q3"], gold) is None
    assert gold_to_learn(["q0", "q1", "q5"], gold) == {**one, "q1": frozenset({"owl"})}


def test_ballots_are_taken_instance_after_instance_in_the_order_of_the_task():
    rows = crowd_rows(2)
    ballots = ballots_of(gather(rows[::-1]), small_task())
    assert list(ballots.instances) == list(RIGHT)
    assert list(ballots.alternatives) == list(ALL)
    assert {key: frozenset(ticks) for key, ticks in ballots.items()} == {
        (row.voter, row.instance): frozenset(row.ticks) for row in rows
    }
