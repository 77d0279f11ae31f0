"""Ballots read as columns: the same ballots as those built from rows, however little of them is read again."""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from test_live_values import ALL, RIGHT, crowd_rows, small_task

from epivote import Ballots
from epivote.web.estimation.collected import ballots_of, usable
from epivote.web.estimation.gathered import Reader, gather
from epivote.web.exporting import export
from epivote.web.ranking import places
from epivote.web.store import BallotRow, Store, open_database
from epivote.web.store import columns as store_columns
from epivote.web.store.columns import BallotSource, reading
from epivote.web.task import Instance

COLUMNS = ("ballot_start", "ballot_voter", "approval_start", "approved")


def fitting(rows, task):
    """Rows that a task can use, in the order in which ballots are built: written out."""
    names = list(task.by_name)
    kept = [row for row in rows if row.instance in names and set(row.ticks) <= set(task.by_name[row.instance].menu)]
    return sorted(kept, key=lambda row: names.index(row.instance))


def from_rows(rows, task):
    menus = task.menus and {row.instance: task.menus[row.instance] for row in fitting(rows, task)}
    told = {(row.voter, row.instance): row.ticks for row in fitting(rows, task)}
    return Ballots.from_mapping(told, alternatives=[each.name for each in task.alternatives], menu=menus)


def assert_same(found, expected):
    assert (found.voters, found.instances, found.alternatives) == (
        expected.voters,
        expected.instances,
        expected.alternatives,
    )
    for name in COLUMNS:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
        assert getattr(found, name).dtype == getattr(expected, name).dtype, name
    assert (found.menu is None) == (expected.menu is None)
    if found.menu is not None:
        assert np.array_equal(found.menu.start, expected.menu.start)
        assert np.array_equal(found.menu.offered, expected.menu.offered)


@pytest.mark.parametrize("has_menus", [False, True])
def test_columns_are_the_ballots_that_rows_make(has_menus):
    task = small_task()
    if has_menus:
        first = task.instances[0]
        task = replace(task, instances=(replace(first, offered=first.offered[1:]), *task.instances[1:]))
    strangers = [BallotRow("v1", True, "gone", ("owl",), 5), BallotRow("v1", True, "q9", (), 5)]
    draw = random.Random(7)
    rows = [row for row in crowd_rows(9) if draw.random() < 0.7] + strangers
    assert_same(ballots_of(usable(gather(rows), task), task), from_rows(rows, task))
    assert len(rows) - len(usable(gather(rows), task)) == len(rows) - len(fitting(rows, task)) >= 2
    assert ballots_of(usable(gather([]), task), task) is None


def test_many_alternatives_need_larger_numbers():
    many = small_task()
    alternatives = tuple(replace(many.alternatives[0], name=f"a{number}") for number in range(300))
    task = replace(many, alternatives=alternatives, instances=(Instance("q0", alternatives, many.size, text="?"),))
    rows = [BallotRow("ann", True, "q0", ("a299", "a2"), 5)]
    assert_same(ballots_of(gather(rows), task), from_rows(rows, task))


def test_agreement_is_counted_ballot_by_ballot():
    rows, task = crowd_rows(8), small_task()
    ballots, crowd = from_rows(rows, task), {name: frozenset(right) for name, right in RIGHT.items()}
    found = places(ballots, {f"v{number}" for number in range(7)}, crowd, crowd)
    assert len(found) == 7
    for voter, standing in found.items():
        own = [row for row in rows if row.voter == voter]
        assert (standing.counted, standing.agreed) == (
            len(own),
            sum(set(row.ticks) == set(RIGHT[row.instance]) for row in own),
        )
        assert standing.points == sum(set(row.ticks) >= set(RIGHT[row.instance]) for row in own)


@pytest.fixture
def store(database):
    opened = Store(open_database(database))
    yield opened
    opened.database.close()


def test_only_instances_that_changed_are_read_again(store, monkeypatch):
    task, draw, reader, asked = small_task(), random.Random(4), Reader(), []
    read = BallotSource.ballots
    monkeypatch.setattr(BallotSource, "ballots", lambda self, names: (asked.append(names), read(self, names))[1])
    people = [store.join(f"p{number}", "").id for number in range(5)]
    for voter in people:
        for name in RIGHT:
            store.answer(voter, name, [each for each in ALL if draw.random() < 0.5])

    def check():
        stamp, gathered = reader.read(store)
        assert stamp == store.stamp()
        assert_same(ballots_of(usable(gathered, task), task), from_rows(store.snapshot()[1], task))

    check()
    check()
    assert asked == [None]
    store.answer(people[2], "q3", ["ape"])
    store.answer(store.join("late", "").id, "q3", ["owl", "cat"])
    check()
    assert asked == [None, ["q3"]]
    store.skip(people[0], "q0")
    check()
    assert asked[2:] == [["q0"]]
    store.forget(people[1])
    check()
    assert asked[3:] == [None], "where most have changed, all are read"


def test_ballots_of_some_instances_are_read_a_few_names_at_a_time(store, monkeypatch):
    for number in range(2):
        voter = store.join(f"p{number}", "").id
        for name in RIGHT:
            store.answer(voter, name, ["owl"])
    with reading(store) as source:
        for at_once, wanted in product((1, 2, 3, 500), (["q4"], ["q5", "q0", "q3"], list(RIGHT), [])):
            monkeypatch.setattr(store_columns, "NAMES_AT_ONCE", at_once)
            found = source.ballots(wanted)
            names = [list(source.known.instances)[number] for number in found.instance]
            assert sorted(names) == sorted(2 * wanted)
            assert sorted(found.voter.tolist()) == sorted(np.repeat(np.unique(found.voter), len(wanted)).tolist())


def test_an_export_is_read_a_little_at_a_time_and_is_the_same(store, monkeypatch):
    task = small_task()
    for number in range(3):
        voter = store.join(f"p{2 - number}", "").id
        for name in [*RIGHT, "gone"]:
            store.answer(voter, name, ["owl"])

    def whole():
        with reading(store) as source:
            made = export(source, task)
            return "".join(made.ballots), made.left_out

    expected = "".join(f"p{2 - number},{name},owl\n" for name in RIGHT for number in range(3))
    assert whole() == (f"voter,instance,alternatives\n{expected}", 3)
    monkeypatch.setattr(store_columns, "AT_ONCE", 2)
    monkeypatch.setattr("epivote.web.exporting.LINES_AT_ONCE", 2)
    assert whole() == (f"voter,instance,alternatives\n{expected}", 3)
