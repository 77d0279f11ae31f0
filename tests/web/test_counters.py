"""Counts that go with the ballots: always those of the ballots, also in databases made before there were any."""

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from sqlalchemy import event, text

from epivote.web.store import NotOpenError, Store, open_database
from in_process import joined, organiser, store_of
from one_moment import Clock, estimate_now, still_app
from small_quiz import QUIZ

BEFORE = """
DROP TABLE counts; DROP TABLE slots; DROP TABLE details; DROP TABLE credentials; ALTER TABLE voters DROP COLUMN ballots;
CREATE INDEX ix_ballots_changed_at ON ballots (changed_at); UPDATE alembic_version SET version_num = '0001';
"""


@pytest.fixture
def store(database):
    opened = Store(open_database(database))
    yield opened
    opened.database.close()


def counted_anew(store):
    """Ballots per instance and per voter, counted in the table of ballots itself."""
    instances, voters = {}, {each.name: 0 for each in store.participants()}
    for row in store.snapshot()[1]:
        instances[row.instance] = instances.get(row.instance, 0) + 1
        voters[row.voter] += 1
    return instances, voters


def kept(store):
    return store.counts(), {each.name: each.ballots for each in store.participants()}


def test_counts_are_those_of_the_ballots_whatever_happens(store):
    draw, names = random.Random(5), [f"q{number}" for number in range(4)]
    people = [store.join(f"p{number}", "").id for number in range(3)]
    stamps = [store.stamp()[1]]
    for _ in range(30):
        voter, name = draw.choice(people), draw.choice(names)
        act, *rest = draw.choice(
            [
                (store.answer, voter, name, draw.choice([[], ["a"]])),
                (store.answer, voter, name, ["a", "b"]),
                (store.skip, voter, name),
                (store.withdraw, voter, name),
                (store.answer_as_program, "robot", name, ["a"]),
            ]
        )
        act(*rest)
        stamps.append(store.stamp()[1])
    assert kept(store) == counted_anew(store)
    store.forget(people[0])
    assert kept(store) == counted_anew(store)
    assert stamps == sorted(stamps), "changes only ever grow"
    assert store.stamp()[1] > stamps[-1]


def test_people_who_answer_leave_and_withdraw_at_once_are_counted(store):
    people = [store.join(f"p{number}", "").id for number in range(8)]

    def act(number):
        voter, names = people[number], ("q1", "q2", "q3") if number % 2 else ("q3", "q2", "q1")
        for name in names:
            store.answer(voter, name, ["a"])
        store.skip(voter, names[0])
        if number % 4 == 0:
            store.forget(voter)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(act, range(8)))
    assert kept(store) == counted_anew(store)
    assert sum(store.counts().values()) == store.stamp()[0] == 12


def test_a_database_from_before_there_were_counts_is_counted_once(tmp_path):
    with store_of(tmp_path) as store:
        for name in ("ann", "bo"):
            voter = store.join(name, "").id
            store.answer(voter, "yard", ["cat"])
        store.answer(voter, "barn", ["cat"])
        store.join("cy", "")
    with closing(sqlite3.connect(tmp_path / "quiz.db")) as older:
        older.executescript(BEFORE)
    with store_of(tmp_path) as store:
        assert kept(store) == counted_anew(store) == ({"yard": 2, "barn": 1}, {"ann": 1, "bo": 2, "cy": 0})
        before = store.stamp()
        store.answer(voter, "roof", ["cat"])
        assert store.stamp()[0] == 4
        assert store.stamp()[1] > before[1]


def test_a_clock_that_jumps_hides_no_ballot(tmp_path, monkeypatch):
    clock = Clock(monkeypatch, "2037-01-01T00:00:00+00:00")
    with still_app(tmp_path) as app:
        store = app.state.site.store
        ann, bo = store.join("ann", "").id, store.join("bo", "").id
        store.answer(ann, "yard", ["cat"])
        store.answer(bo, "yard", ["cat"])
        estimate_now(app)
        clock.at("2027-01-01T00:00:00+00:00")
        store.answer(ann, "yard", ["dog"])
        assert app.state.site.estimation._has_changed()


def test_no_page_reads_the_ballots_of_others(tmp_path):
    """Counting them took 13 seconds where there were 2.5 million."""
    with still_app(tmp_path, f"most_ballots = 3\n{QUIZ}") as app:
        ann, boss, told = joined(app, "ann"), organiser(app), []
        engine = app.state.site.store.database.engine
        event.listen(engine, "before_cursor_execute", lambda *given: told.append(given[2]))
        for page in ("/question", "/question/1", "/end"):
            assert ann.get(page).status_code in (200, 303)
        for page in ("/organiser", "/organiser/live"):
            assert boss.get(page).status_code == 200
        assert told
        assert [each for each in told if "FROM ballots" in each and "ballots.voter_id = ?" not in each] == []


@pytest.mark.parametrize("most", [1, 3])
def test_a_slot_is_free_until_somebody_else_looks(store, most):
    people = [store.join(f"p{number}", "").id for number in range(most + 1)]
    assert all(store.reserve(voter, "q1", most) for voter in people[:most])
    assert all(store.reserve(voter, "q1", most) for voter in people[:most]), "their own are no obstacle"
    assert not store.reserve(people[most], "q1", most)
    assert store.taken(most, people[most]) == {"q1": most}
    assert store.taken(most, people[0]) == store.taken(most) == {}
    with pytest.raises(NotOpenError, match="^enough$"):
        store.answer(people[most], "q1", ["a"], most)
    for voter in people[:most]:
        store.answer(voter, "q1", ["a"], most)
    assert store.taken(most) == {"q1": most}
    store.answer(people[0], "q1", ["b"], most)
    assert store.counts() == {"q1": most}, "who has answered may change it"


@pytest.mark.parametrize("leaves", ["skip", "finish", "leave", "forget"])
def test_a_slot_is_given_back(store, leaves):
    ann, bo = store.join("ann", "").id, store.join("bo", "").id
    assert store.reserve(ann, "q1", 1)
    assert store.reserve(ann, "q2", 1)
    assert not store.reserve(bo, "q1", 1)
    if leaves == "skip":
        store.skip(ann, "q1")
    else:
        getattr(store, leaves)(ann)
    assert store.reserve(bo, "q1", 1)
    assert store.reserve(bo, "q2", 1) == (leaves != "skip")


def test_a_slot_is_given_back_after_ten_minutes_and_not_held_by_a_clock_set_back(tmp_path, monkeypatch):
    clock = Clock(monkeypatch, "2027-01-01T00:00:00+00:00")
    with store_of(tmp_path) as store:
        ann, bo = store.join("ann", "").id, store.join("bo", "").id
        assert store.reserve(ann, "q1", 1)
        clock.at("2027-01-01T00:09:59+00:00")
        assert not store.reserve(bo, "q1", 1)
        assert store.reserve(ann, "q1", 1), "looking again takes a new slot"
        clock.at("2027-01-01T00:19:58+00:00")
        assert not store.reserve(bo, "q1", 1)
        clock.at("2027-01-01T00:20:00+00:00")
        assert store.reserve(bo, "q1", 1)
        with pytest.raises(NotOpenError, match="enough"):
            store.answer(ann, "q1", ["a"], 1)
        clock.at("2026-12-31T00:00:00+00:00")
        store.answer(ann, "q1", ["a"], 1)
        assert store.counts() == {"q1": 1}


def test_a_slot_lasts_no_longer_than_twenty_minutes_by_a_clock_set_back(tmp_path, monkeypatch):
    clock = Clock(monkeypatch, "2027-01-01T01:00:00+00:00")
    with store_of(tmp_path) as store:
        ann, bo = store.join("ann", "").id, store.join("bo", "").id
        assert store.reserve(ann, "q1", 1)
        clock.at("2027-01-01T00:50:00+00:00")
        assert store.taken(1, bo) == {"q1": 1}
        assert not store.reserve(bo, "q1", 1)
        clock.at("2027-01-01T00:49:59+00:00")
        assert store.taken(1, bo) == {}
        assert store.reserve(bo, "q1", 1)


def test_forty_people_at_once_do_not_exceed_the_quota(store):
    people = [store.join(f"p{number}", "").id for number in range(40)]

    def take_part(voter):
        for name in ("q1", "q2"):
            if store.reserve(voter, name, 3):
                store.answer(voter, name, ["a"], 3)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(take_part, people))
    assert store.counts() == {"q1": 3, "q2": 3}
    with store.database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM slots")) == 0
