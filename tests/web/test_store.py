"""The store, on both databases: one ballot per voter and instance, whatever happens."""

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select

from epivote import FileError, InputError
from epivote.web.store import InvitationError, NameTakenError, NotOpenError, Store, open_database
from epivote.web.store.backup import copy_database
from epivote.web.store.invitations import invite, join_invited
from epivote.web.store.names import clean_name, name_key
from epivote.web.store.tables import BALLOTS, INVITATIONS, METADATA, SETTINGS


@pytest.fixture
def store(database):
    opened = Store(open_database(database))
    yield opened
    opened.database.close()


@pytest.fixture
def sqlite_store(sqlite_database):
    opened = Store(open_database(sqlite_database))
    yield opened
    opened.database.close()


def ballots_of(store):
    return {(row.voter, row.instance): row.ticks for row in store.snapshot()[1]}


def test_secrets_are_made_once_and_differ(store, database):
    first = store.secrets()
    assert len(set(first)) == 3
    assert all(len(secret) >= 43 for secret in first)
    again = Store(open_database(database))
    assert again.secrets() == first
    again.database.close()


def test_a_ballot_is_kept_changed_emptied_and_withdrawn(store):
    ann = store.join("ann", "visit")
    store.answer(ann.id, "q1", ["a", "b"])
    store.answer(ann.id, "q2", ["a"])
    assert ballots_of(store) == {("ann", "q1"): ("a", "b"), ("ann", "q2"): ("a",)}
    store.answer(ann.id, "q1", [])
    assert ballots_of(store)["ann", "q1"] == (), "an empty ballot is a ballot"
    store.skip(ann.id, "q1")
    assert ("ann", "q1") not in ballots_of(store), "a skipped question has none"
    sheet = store.sheet(ann.token)
    assert (sheet.ballots, sheet.skips) == ({"q2": ("a",)}, frozenset({"q1"}))
    store.answer(ann.id, "q1", ["b"])
    assert store.sheet(ann.token).skips == frozenset()


def test_the_same_ballot_again_changes_nothing(store):
    ann = store.join("ann", "visit")
    store.answer(ann.id, "q1", ["a"])
    stamp, rows = store.snapshot()
    store.answer(ann.id, "q1", ["a"])
    assert store.snapshot() == (stamp, rows)
    store.answer(ann.id, "q1", ["b"])
    assert store.stamp() != stamp
    assert store.snapshot()[1][0].cast_at == rows[0].cast_at, "it was cast when it was first cast"


def test_many_clicks_at_once_make_one_ballot_each(store):
    people = [store.join(f"p{number}", "visit") for number in range(8)]

    def click(number):
        store.answer(people[number % 8].id, "q1", ["a"] if number % 3 else [])

    with ThreadPoolExecutor(24) as pool:
        list(pool.map(click, range(240)))
    assert store.counts() == {"q1": 8}


def test_double_joins_are_one_participant_and_others_are_refused(store):
    first = store.join("Ann", "visit")
    assert store.join("Ann", "visit") == first
    for name in ("Ann", "ann", "ＡＮＮ"):
        with pytest.raises(NameTakenError):
            store.join(name, "another visit")
    with pytest.raises(NameTakenError):
        store.answer_as_program("ann", "q1", ["a"])
    with pytest.raises(NameTakenError):
        store.program("ANN")
    store.answer_as_program("robot", "q1", ["a"])
    with pytest.raises(NameTakenError):
        store.join("Robot", "")
    assert [each.name for each in store.participants()] == ["Ann", "robot"]


def test_joining_at_once_under_one_name_lets_one_in(store):
    def join(number):
        try:
            return store.join("ann", f"visit {number}").token
        except NameTakenError:
            return None

    with ThreadPoolExecutor(12) as pool:
        tokens = [token for token in pool.map(join, range(12)) if token]
    assert len(tokens) == 1


def test_after_the_end_nothing_changes(store):
    ann = store.join("ann", "visit")
    store.answer(ann.id, "q1", ["a"])
    store.finish(ann.id)
    for change in (lambda: store.answer(ann.id, "q1", ["b"]), lambda: store.skip(ann.id, "q1")):
        with pytest.raises(NotOpenError, match="finished"):
            change()
    assert ballots_of(store) == {("ann", "q1"): ("a",)}
    when = store.sheet(ann.token).voter.finished_at
    store.finish(ann.id)
    assert store.sheet(ann.token).voter.finished_at == when


def test_closed_and_open_again(store):
    ann = store.join("ann", "visit")
    store.close_task()
    store.close_task()
    assert store.is_closed()
    assert store.sheet(ann.token).is_closed
    with pytest.raises(NotOpenError, match="closed"):
        store.answer(ann.id, "q1", ["a"])
    with pytest.raises(NotOpenError, match="closed"):
        store.answer_as_program("robot", "q1", ["a"])
    assert [each.name for each in store.participants()] == ["ann"], "a refused ballot leaves no voter behind"
    store.open_task()
    store.answer(ann.id, "q1", ["a"])


def test_whoever_is_forgotten_leaves_nothing(store):
    ann, bo = store.join("ann", "visit"), store.join("bo", "visit")
    for voter in (ann, bo):
        store.answer(voter.id, "q1", ["a"])
        store.skip(voter.id, "q2")
        store.ask(voter.id, 1, "q1")
    before = store.stamp()
    store.forget(ann.id)
    assert store.sheet(ann.token) is None
    assert store.stamp() != before
    assert ballots_of(store) == {("bo", "q1"): ("a",)}
    with pytest.raises(NotOpenError):
        store.answer(ann.id, "q1", ["a"])
    again = store.join("ann", "visit")
    assert again.id not in (ann.id, bo.id), "numbers are not used twice, so an old cookie is nobody's"
    assert store.sheet(again.token).ballots == {}


def test_positions_given_stay(store):
    ann = store.join("ann", "visit")
    store.ask(ann.id, 1, "q3")
    store.ask(ann.id, 1, "q1")
    store.ask(ann.id, 2, "q3")
    store.ask(ann.id, 2, "q2")
    assert store.sheet(ann.token).asked == ("q3", "q2")


def test_programs_withdraw_and_are_deleted(store):
    store.answer_as_program("robot", "q1", ["a"])
    robot = store.program("robot")
    assert store.program_ballots(robot.id) == {"q1": ("a",)}
    assert store.withdraw(robot.id, "q1")
    assert not store.withdraw(robot.id, "q1")
    assert store.program("nobody") is None


def test_an_invitation_is_good_for_one_person(store):
    one, two, old = (*invite(store, 2, days=1), *invite(store, 1, days=0))
    ann = join_invited(store, "ann", "visit", one)
    assert join_invited(store, "ann", "visit", one) == ann, "a double click"
    with pytest.raises(InvitationError, match="used"):
        join_invited(store, "bo", "another visit", one)
    with pytest.raises(InvitationError, match="expired"):
        join_invited(store, "bo", "another visit", old)
    with pytest.raises(InvitationError, match="unknown"):
        join_invited(store, "bo", "another visit", "made up")
    with pytest.raises(NameTakenError):
        join_invited(store, "ann", "another visit", two)
    assert join_invited(store, "bo", "another visit", two).name == "bo", "the refused name did not use it up"
    with store.database.reading() as connection:
        kept = {row.token_hash for row in connection.execute(select(INVITATIONS))}
    assert not kept & {one, two, old}, "tokens themselves are not kept"


def test_one_invitation_at_once_lets_one_in(store):
    (token,) = invite(store, 1, days=1)

    def join(number):
        try:
            return join_invited(store, f"p{number}", f"visit {number}", token).name
        except InvitationError:
            return None

    with ThreadPoolExecutor(8) as pool:
        assert len([name for name in pool.map(join, range(8)) if name]) == 1


def test_a_failed_change_leaves_nothing_behind(store):
    class PowerCutError(Exception):
        pass

    def cut():
        with store.database.writing() as connection:
            store.add_person(connection, "ann", "visit")
            raise PowerCutError

    with pytest.raises(PowerCutError):
        cut()
    assert store.participants() == []


def test_whoever_reads_sees_one_moment(store):
    ann = store.join("ann", "visit")
    with store.database.reading() as connection:
        assert connection.execute(select(BALLOTS)).all() == []
        store.answer(ann.id, "q1", ["a"])
        assert connection.execute(select(BALLOTS)).all() == []
    assert store.counts() == {"q1": 1}


def test_migrations_make_the_tables_as_they_are_now(store):
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_a_database_of_a_newer_version_is_left_alone(store, database):
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(FileError, match="was written by a newer epivote"):
        open_database(database)


def test_names(store):
    assert clean_name("  Ann   B. ") == "Ann B."
    assert clean_name("Ame\u0301lie") == "Am\u00e9lie"
    assert clean_name("👩‍🔬") == "👩‍🔬"
    for wrong in (
        "",
        "   ",
        "\u200d",
        "a\x00b",
        "a\u202eb",
        "x" * 41,
        "\ufffd",
        "a\ud800",
        "=1+1",
        " +1",
        "-x",
        "@x",
        "＝1",
    ):
        assert clean_name(wrong) is None
    assert name_key("Straße") == name_key("STRASSE")
    assert len(name_key("\ufdfa" * 40)) < 1000
    store.join("\ufdfa" * 40, "visit")


def test_sqlite_is_durable_and_private(sqlite_store):
    path = sqlite_store.database.file
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with sqlite_store.database.reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        }
        assert pragmas == {"journal_mode": "wal", "synchronous": 2}
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_copy_while_it_is_used(sqlite_store, tmp_path):
    ann = sqlite_store.join("ann", "visit")
    sqlite_store.answer(ann.id, "q1", ["a"])
    with sqlite_store.database.writing() as connection:
        connection.execute(SETTINGS.insert().values(name="half", value="written"))
        copy_database(sqlite_store.database, tmp_path / "copy.db")
    copied = Store(open_database(f"sqlite:///{tmp_path / 'copy.db'}"))
    assert copied.snapshot() == sqlite_store.snapshot()
    with copied.database.reading() as connection:
        assert connection.scalar(select(SETTINGS.c.value).where(SETTINGS.c.name == "half")) is None
    copied.database.close()
    with pytest.raises(FileError, match="already exists"):
        copy_database(sqlite_store.database, tmp_path / "copy.db")


def test_a_copy_that_fails_leaves_nothing_behind(sqlite_store, tmp_path, monkeypatch):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is not a database" * 100)
    monkeypatch.setattr(type(sqlite_store.database), "file", broken)
    (tmp_path / "copies").mkdir()
    with pytest.raises(FileError, match=r"^cannot write .*copy.db: file is not a database; choose another place$"):
        copy_database(sqlite_store.database, tmp_path / "copies" / "copy.db")
    assert list((tmp_path / "copies").iterdir()) == []


def test_postgresql_is_backed_up_by_its_own_program(postgresql_database, tmp_path):
    opened = open_database(postgresql_database)
    with pytest.raises(InputError, match="pg_dump"):
        copy_database(opened, tmp_path / "copy.db")
    opened.close()


@pytest.mark.parametrize("address", ["nonsense", "mysql://host/name", "sqlite://", "sqlite:///:memory:", "x://y"])
def test_addresses_of_no_database(address):
    with pytest.raises(InputError, match="write sqlite:///quiz.db or postgresql://user@host/name"):
        open_database(address)


def test_databases_that_cannot_be_used(tmp_path):
    with pytest.raises(FileError, match="folder does not exist"):
        open_database(f"sqlite:///{tmp_path}/none/quiz.db")
    (tmp_path / "text.db").write_text("this is no database, but it is long enough to be looked at" * 20)
    with pytest.raises(FileError, match="file is not a database"):
        open_database(f"sqlite:///{tmp_path}/text.db")
    with pytest.raises(FileError, match="cannot use the database postgresql") as told:
        open_database("postgresql://somebody:secret@127.0.0.1:9/none")
    assert "secret" not in str(told.value)


def test_another_program_can_read_it_as_plain_sqlite(sqlite_store):
    ann = sqlite_store.join("ann", "visit")
    sqlite_store.answer(ann.id, "q1", ["Zürich", "b"])
    reading = sqlite3.connect(Path(sqlite_store.database.file))
    assert reading.execute("SELECT ticks FROM ballots").fetchall() == [('["Zürich", "b"]',)]
    reading.close()
    assert BALLOTS.primary_key.columns.keys() == ["voter_id", "instance"]
