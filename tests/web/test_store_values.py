"""The store on SQLite: whose ballots a change touches, in which order they come back, and what opening sets up."""

import sqlite3
import stat
from contextlib import closing
from itertools import pairwise

import pytest
from sqlalchemy import select, text

from epivote import FileError
from epivote.web.store import InvitationError, NameTakenError, NotOpenError, Store, open_database
from epivote.web.store.backup import copy_database
from epivote.web.store.invitations import invite, join_invited
from epivote.web.store.names import clean_name, name_key
from epivote.web.store.tables import INVITATIONS
from in_process import store_of


@pytest.fixture
def store(tmp_path):
    with store_of(tmp_path) as opened:
        yield opened


def everything(store):
    """Every row of every table of ballots, read as plain SQLite."""
    with closing(sqlite3.connect(store.database.file)) as reading:
        return {
            table: sorted(reading.execute(f"SELECT * FROM {table}").fetchall())
            for table in ("voters", "ballots", "counts", "skips", "asked")
        }


@pytest.fixture
def crowd(store):
    """Two people and a program, who have all said something on two questions."""
    people = [store.join(name, f"visit of {name}") for name in ("zoe", "ann")]
    for voter in people:
        for instance in ("q2", "q1"):
            store.answer(voter.id, instance, ["a"])
        for instance in ("q3", "q4"):
            store.skip(voter.id, instance)
        store.ask(voter.id, 2, "q1")
        store.ask(voter.id, 1, "q2")
    for instance in ("q2", "q1"):
        store.answer_as_program("robot", instance, ["b"])
    return people


def changed(store, change):
    """The tables that a change touches, with how many rows went and came."""
    before = everything(store)
    change()
    after = everything(store)
    return {
        table: (len(set(before[table]) - set(after[table])), len(set(after[table]) - set(before[table])))
        for table in before
        if before[table] != after[table]
    }


def test_every_change_touches_its_own_rows_only(store, crowd):
    zoe, _ = crowd
    robot = store.program("robot")
    came = {"ballots": (0, 1), "counts": (0, 1), "voters": (1, 1)}
    went = {"ballots": (1, 0), "counts": (1, 1), "voters": (1, 1)}
    assert changed(store, lambda: store.answer(zoe.id, "q1", ["a"])) == {}
    assert changed(store, lambda: store.answer(zoe.id, "q1", ["b"])) == {"ballots": (1, 1), "counts": (1, 1)}
    assert changed(store, lambda: store.answer(zoe.id, "q3", ["b"])) == came | {"skips": (1, 0)}
    assert changed(store, lambda: store.skip(zoe.id, "q3")) == went | {"skips": (0, 1)}
    assert changed(store, lambda: store.skip(zoe.id, "q3")) == {}
    assert changed(store, lambda: store.skip(zoe.id, "q9")) == {"skips": (0, 1)}
    assert changed(store, lambda: store.ask(zoe.id, 3, "q5")) == {"asked": (0, 1)}
    assert changed(store, lambda: store.ask(zoe.id, 3, "q6")) == {}
    assert changed(store, lambda: store.answer_as_program("Robot", "q1", ["b"])) == {}
    assert changed(store, lambda: store.answer_as_program("Robot", "q1", ["c"])) == {
        "ballots": (1, 1),
        "counts": (1, 1),
    }
    assert changed(store, lambda: store.answer_as_program("other", "q1", [])) == {
        "voters": (0, 1),
        "ballots": (0, 1),
        "counts": (1, 1),
    }
    assert changed(store, lambda: store.withdraw(robot.id, "q1")) == went
    assert changed(store, lambda: store.finish(zoe.id)) == {"voters": (1, 1)}
    assert changed(store, lambda: store.finish(zoe.id)) == {}
    gone = changed(store, lambda: store.forget(zoe.id))
    assert gone == {"voters": (1, 0), "ballots": (2, 0), "counts": (2, 2), "skips": (3, 0), "asked": (3, 0)}
    assert changed(store, lambda: store.join("ann", "visit of ann")) == {}


def test_the_stamp_differs_after_every_change_of_ballots_and_only_then(store, crowd):
    zoe, ann = crowd
    robot = store.program("robot")
    stamps = [store.stamp()]
    for change in (
        lambda: store.answer(zoe.id, "q1", ["b"]),
        lambda: store.answer(zoe.id, "q5", []),
        lambda: store.skip(zoe.id, "q5"),
        lambda: store.withdraw(robot.id, "q1"),
        lambda: store.forget(ann.id),
    ):
        change()
        stamps.append(store.stamp())
        assert store.snapshot()[0] == stamps[-1]
    assert all(before != after for before, after in pairwise(stamps))
    for idle in (
        lambda: store.answer(zoe.id, "q1", ["b"]),
        lambda: store.skip(zoe.id, "q7"),
        lambda: store.finish(zoe.id),
        store.close_task,
    ):
        idle()
        assert store.stamp() == stamps[-1]


def test_an_empty_store_has_an_empty_stamp(store):
    assert store.stamp() == (0, 0)
    assert store.snapshot() == ((0, 0), [])
    assert store.counts() == {}


def test_ballots_and_people_come_first_come_first(store, crowd):
    rows = store.snapshot()[1]
    assert [(row.voter, row.instance) for row in rows] == [
        (voter, instance) for voter in ("zoe", "ann", "robot") for instance in ("q1", "q2")
    ]
    assert [row.is_person for row in rows] == [True] * 4 + [False] * 2
    assert [(each.name, each.is_person, each.ballots) for each in store.participants()] == [
        ("zoe", True, 2),
        ("ann", True, 2),
        ("robot", False, 2),
    ]
    nobody = store.join("nobody", "")
    assert store.participants()[-1].ballots == 0
    assert store.sheet(nobody.token).ballots == {}
    assert store.counts() == {"q1": 3, "q2": 3}
    assert store.sheet(crowd[0].token).asked == ("q2", "q1"), "by position, not by when they were given"
    assert store.sheet(crowd[0].token).skips == {"q3", "q4"}
    assert store.program_ballots(store.program("robot").id) == {"q1": ("b",), "q2": ("b",)}
    assert not store.sheet(crowd[0].token).is_closed


def test_tokens_tell_people_apart(store, crowd):
    zoe, ann = crowd
    assert store.sheet(ann.token).voter == ann
    assert store.sheet("x") is None
    assert store.sheet("x") is None
    assert (len(zoe.token), zoe.token != ann.token) == (32, True)
    assert [len(secret) for secret in store.secrets()] == [43, 43, 43]


def test_a_name_belongs_to_one_visit_and_one_kind(store, crowd):
    assert store.join("Zoe", "visit of zoe") == crowd[0]
    for name, visit in (("zoe", "visit of ann"), ("robot", ""), ("robot", "visit of zoe")):
        with pytest.raises(NameTakenError, match=name):
            store.join(name, visit)
    with pytest.raises(NameTakenError, match="zoe"):
        store.answer_as_program("zoe", "q1", [])
    with pytest.raises(NameTakenError, match="zoe"):
        store.program("zoe")


def test_after_finishing_or_closing_each_change_is_refused_with_its_reason(store, crowd):
    zoe, ann = crowd
    store.finish(zoe.id)
    for change in (store.answer, lambda *_: store.skip(zoe.id, "q1")):
        with pytest.raises(NotOpenError, match="finished"):
            change(zoe.id, "q1", ["c"])
    store.close_task()
    with pytest.raises(NotOpenError, match="finished"):
        store.answer(zoe.id, "q1", ["c"])
    for change in (store.answer, lambda *_: store.skip(ann.id, "q1")):
        with pytest.raises(NotOpenError, match="closed"):
            change(ann.id, "q1", ["c"])
    with pytest.raises(NotOpenError, match="closed"):
        store.answer_as_program("robot", "q1", ["c"])
    store.open_task()
    assert not store.is_closed()
    store.answer(ann.id, "q1", ["c"])


def test_the_last_address_is_remembered(store):
    assert store.address() is None
    store.remember_address("http://one/")
    store.remember_address("http://two/")
    assert store.address() == "http://two/"
    assert not store.is_closed()


def test_an_invitation_that_was_used_lets_the_same_visit_in_again_under_its_name(store):
    (token,) = invite(store, 1, days=1)
    ann = join_invited(store, "ann", "visit", token)
    assert join_invited(store, "another name", "visit", token) == ann
    with pytest.raises(InvitationError, match="used"):
        join_invited(store, "ann", "", token)
    store.forget(ann.id)
    with pytest.raises(InvitationError, match="used"):
        join_invited(store, "ann", "visit", token)
    assert store.participants() == []


def test_using_one_invitation_leaves_the_others(store):
    tokens = invite(store, 5, days=1)
    assert len(set(tokens)) == 5
    assert {len(token) for token in tokens} == {24}
    ann = join_invited(store, "ann", "visit", tokens[2])
    with store.database.reading() as connection:
        kept = connection.execute(select(INVITATIONS)).all()
    assert [row.used_by for row in kept if row.used_at is not None] == [ann.token]
    assert len(kept) == 5
    assert join_invited(store, "bo", "other visit", tokens[3]).name == "bo"


def test_names_at_their_longest_and_signs_at_their_start():
    assert clean_name("x" * 40) == "x" * 40
    assert clean_name(f" {'x' * 40} ") == "x" * 40
    assert clean_name("x" * 41) is None
    for sign in "=+-@＝＋－＠":
        assert clean_name(f"{sign}x") is None
        assert clean_name(f"\u200d{sign}x") is None
        assert clean_name(f"x{sign}") == f"x{sign}"
    assert clean_name("a \t\n b") == "a b"
    assert name_key("a\u200cb\u200d") == name_key("AB") != name_key("a b")


def test_whoever_reads_sees_one_moment_and_whoever_writes_is_alone(store, crowd):
    zoe, _ = crowd
    with store.database.reading() as connection:
        before = connection.execute(text("SELECT count(*) FROM ballots")).scalar()
        store.answer(zoe.id, "new", ["a"])
        assert connection.execute(text("SELECT count(*) FROM ballots")).scalar() == before
    with (
        store.database.writing(),
        closing(sqlite3.connect(store.database.file, timeout=0, isolation_level=None)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("BEGIN IMMEDIATE")


def test_what_opening_sets_up(store):
    with store.database.reading() as connection:
        assert 9_000 < connection.exec_driver_sql("PRAGMA busy_timeout").scalar() <= 10_000
    pool = store.database.engine.pool
    assert (pool.size(), pool._max_overflow) == (40, 10)
    small = open_database(f"sqlite:///{store.database.file}", connections=1)
    assert small.engine.pool.size() == 1
    small.close()


def test_errors_of_the_database_do_not_tell_what_people_said(store):
    with pytest.raises(Exception, match="no such table") as told, store.database.reading() as connection:
        connection.execute(text("SELECT * FROM nowhere WHERE x = :x"), {"x": "very secret"})
    assert "very secret" not in str(told.value)


def test_a_copy_is_private_whole_and_one_file(store, crowd, tmp_path):
    target = tmp_path / "copies" / "monday.db"
    with pytest.raises(FileError, match=r"cannot write .*monday.db: .*; choose another place"):
        copy_database(store.database, target)
    target.parent.mkdir()
    secrets = store.secrets()
    copy_database(store.database, target)
    assert [path.name for path in target.parent.iterdir()] == ["monday.db"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    opened = Store(open_database(f"sqlite:///{target}"))
    assert everything(opened) == everything(store)
    assert opened.secrets() == secrets
    opened.database.close()
    with pytest.raises(FileError, match="already exists; choose another name or remove it"):
        copy_database(store.database, target)


def test_a_database_that_cannot_be_used_is_told_in_one_line(tmp_path):
    (tmp_path / "text.db").write_text("this is no database, but it is long enough to be looked at" * 20)
    with pytest.raises(FileError) as told:
        open_database(f"sqlite:///{tmp_path}/text.db")
    assert str(told.value) == (
        f"cannot use the database sqlite:///{tmp_path}/text.db: file is not a database; check --database"
    )


def test_a_relative_path_is_fine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = open_database("sqlite:///here.db")
    assert opened.file.name == "here.db"
    assert opened.is_sqlite
    opened.close()
    assert (tmp_path / "here.db").exists()
