"""How long a database is waited for, which file it must stay, and what is said where an address is of no use."""

import threading
import time

import pytest
from sqlalchemy import URL, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from epivote import FileError, InputError
from epivote.web.store import TroubleError, database, open_database
from epivote.web.store.belonging import _absolute, database_of, remember
from epivote.web.store.database import _bounded, _not_usable, render
from epivote.web.task import read_task
from small_quiz import QUIZ, write_quiz

WANTED = "write sqlite:///quiz.db or postgresql://user@host/name"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    made = open_database(f"sqlite:///{tmp_path_factory.mktemp('quiz') / 'quiz.db'}")
    yield made
    made.close()


def pragma(connection, name):
    return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def test_connections_to_sqlite_wait_ten_seconds_and_keep_what_belongs_together(opened):
    assert opened.engine.pool._timeout == 10.0
    with opened.reading() as connection:
        assert pragma(connection, "foreign_keys") == 1
    for patience in (0.25, 3.0):
        with opened.writing(patience) as connection:
            assert 1000 * patience - 240 < pragma(connection, "busy_timeout") <= 1000 * patience
    with opened.writing() as connection:
        assert 9_000 < pragma(connection, "busy_timeout") <= 10_000


def test_connections_to_postgresql_wait_no_longer_than_that():
    usual = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "options": "-c lock_timeout=10000"}
    assert _bounded(make_url("postgresql://user@host/name")) == usual
    for name in usual:
        own = make_url(f"postgresql://user@host/name?{name}=7")
        assert _bounded(own) == {key: value for key, value in usual.items() if key != name}


def waited(opened, patience):
    """Seconds until somebody is told that another one writes."""
    began = time.monotonic()
    with pytest.raises(TroubleError) as told, opened.writing(patience):
        pass
    assert told.value.kind == "locked"
    assert str(opened.file) in str(told.value)
    return time.monotonic() - began


def test_while_a_lock_lasts_nobody_waits_for_long(opened, monkeypatch):
    monkeypatch.setattr(database, "SOON", 0.01)
    busy, go_on = threading.Event(), threading.Event()

    def hold():
        with opened.writing():
            busy.set()
            assert go_on.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert busy.wait(30)
    assert waited(opened, 0.1) >= 0.1
    opened._is_stuck = True
    assert 0.01 <= waited(opened, 20.0) < 10
    assert waited(opened, 0.0) < 10
    go_on.set()
    thread.join(30)
    with opened.writing():
        pass
    assert not opened._is_stuck, "once somebody could write, others wait as usual"


def test_soon_is_half_a_second():
    assert (database.SOON, database.PATIENCE) == (0.5, 10.0)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(PoolTimeout(), "unreachable"), (ValueError("not ours"), None), (OperationalError("x", {}, Exception()), None)],
)
def test_what_happens_inside_a_transaction_is_told_in_words(opened, error, kind):
    with pytest.raises(TroubleError if kind else type(error)) as told, opened.reading():
        raise error
    assert kind is None or told.value.kind == kind


def test_ticks_that_cannot_be_read_are_damage(opened):
    with pytest.raises(TroubleError) as told, opened.reading():
        raise database.JSONDecodeError("no", "x", 0)
    assert told.value.kind == "damaged"


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_file_that_was_replaced_is_not_written_to(tmp_path, ending):
    made = open_database(f"sqlite:///{tmp_path / 'quiz.db'}")
    own = tmp_path / f"quiz.db{ending}"
    other = tmp_path / "other"
    with made.writing() as connection:
        connection.execute(text("CREATE TABLE x (y TEXT)"))
    other.write_bytes(own.read_bytes())
    own.rename(tmp_path / "kept")
    other.rename(own)
    with pytest.raises(TroubleError) as told, made.writing():
        pytest.fail("nothing is written")
    assert told.value.kind == "lost"
    own.unlink()
    with pytest.raises(TroubleError), made.writing():
        pytest.fail("nothing is written")
    (tmp_path / "kept").rename(own)
    with made.writing():
        pass
    with pytest.raises(TroubleError), made.writing():
        own.rename(tmp_path / "kept")
    (tmp_path / "kept").rename(own)
    made.close()


@pytest.mark.parametrize(
    ("address", "kind", "told"),
    [
        ("quiz.db", InputError, f"--database, or `database` in the task, is not a database address; {WANTED}"),
        ("nosuch://x/y", InputError, f"the database nosuch://x/y is not supported; {WANTED}"),
        ("mysql://ann:secret@x/y", InputError, f"the database mysql://ann:***@x/y is not supported; {WANTED}"),
        ("sqlite://", InputError, f"the database sqlite:// is not supported; {WANTED}"),
        ("sqlite:///:memory:", InputError, f"the database sqlite:///%3Amemory%3A is not supported; {WANTED}"),
        (
            "sqlite:////none/quiz.db",
            FileError,
            "cannot use the database /none/quiz.db: its folder does not exist; create it first",
        ),
    ],
)
def test_addresses_of_no_use(address, kind, told):
    with pytest.raises(kind) as refused:
        render(address)
    assert str(refused.value) == told


def test_addresses_without_their_password():
    assert render("postgresql://ann:secret@host/name") == "postgresql+psycopg://ann:***@host/name"


def test_the_first_line_of_what_a_driver_says_is_told():
    url = URL.create("postgresql", "ann", "secret", "host", database="name")
    for said, reason in (("  no\nmore ", "no"), (" \n", "it does not answer")):
        told = _not_usable(url, DBAPIError("x", {}, Exception(said)))
        assert str(told) == f"cannot use the database postgresql://ann:***@host/name: {reason}; check --database"


def test_only_serving_makes_a_database(tmp_path):
    path = tmp_path / "quiz.db"
    serve = "only `epivote collect serve` makes one: serve the task first, or name its database with --database"
    with pytest.raises(FileError) as told:
        open_database(f"sqlite:///{path}", create=False)
    assert (str(told.value), path.exists()) == (f"there is no database {path}; {serve}", False)
    path.touch()
    with pytest.raises(FileError) as told:
        open_database(f"sqlite:///{path}", create=False)
    assert str(told.value) == f"the database {path} has no epivote tables; {serve}"


def test_paths_of_sqlite_are_seen_from_a_folder(tmp_path):
    assert _absolute("sqlite:///quiz.db", tmp_path) == f"sqlite:///{tmp_path}/quiz.db"
    assert _absolute("sqlite:////a/quiz.db", tmp_path) == "sqlite:////a/quiz.db"
    for other in ("sqlite:///", "postgresql://host/name", "quiz.db"):
        assert _absolute(other, tmp_path) == other


def test_which_database_belongs_to_a_task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quiz = write_quiz(tmp_path / "in")
    task = read_task(quiz)
    assert database_of(quiz, task, None) == f"sqlite:///{tmp_path}/in/quiz.db"
    assert database_of(quiz, task, "sqlite:///x.db") == f"sqlite:///{tmp_path}/x.db"
    assert remember(quiz, "postgresql://host/name")
    assert (tmp_path / "in" / "quiz.database").read_text() == "postgresql://host/name\n"
    assert database_of(quiz, task, None) == "postgresql://host/name"
    assert sorted(each.name for each in quiz.parent.iterdir()) == ["dot.svg", "quiz.database", "quiz.toml"]
    (tmp_path / "in" / "quiz.database").write_text(" \n")
    assert database_of(quiz, task, None) == f"sqlite:///{tmp_path}/in/quiz.db"
    (tmp_path / "in" / "quiz.database").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"quiz\.database, which says where the ballots of .*; name the database with"):
        database_of(quiz, task, None)
    named = read_task(write_quiz(tmp_path / "in", f'database = "sqlite:///own.db"\n{QUIZ}'))
    own = f"sqlite:///{tmp_path}/in/own.db"
    assert database_of(quiz, named, None) == database_of(quiz, named, own) == own
    with pytest.raises(InputError) as told:
        database_of(quiz, named, "sqlite:///own.db")
    assert str(told.value) == (
        f"{quiz} keeps its ballots in {own}, so --database cannot name another one; leave it out, or change "
        "`database` in the file"
    )
    assert not remember(tmp_path / "none" / "quiz.toml", "x")


def test_a_new_connection_waits_and_writes_as_safely_as_any(opened):
    with opened.reading():
        fresh = opened.engine.raw_connection()
        told = [
            fresh.cursor().execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("busy_timeout", "journal_mode", "synchronous", "foreign_keys")
        ]
        fresh.close()
    assert told == [10_000, "wal", 2, 1]


def test_a_database_that_cannot_be_opened_is_let_go_of(tmp_path, monkeypatch):
    closed = []
    close = database.Database.close
    monkeypatch.setattr(database.Database, "close", lambda self: (closed.append(self.file.name), close(self)))
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("no database at all, but a text that is long enough to be looked at\n" * 20)
    newer = open_database(f"sqlite:///{tmp_path / 'newer.db'}")
    with newer.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    newer.close()
    closed.clear()
    for name, told in (
        ("empty.db", "has no epivote tables"),
        ("text.db", "cannot use the database .*: file is not a database; check --database"),
        ("newer.db", "was written by a newer epivote; update epivote"),
    ):
        with pytest.raises(FileError, match=told):
            open_database(f"sqlite:///{tmp_path / name}", create=False)
    assert closed == ["empty.db", "text.db", "newer.db"]
