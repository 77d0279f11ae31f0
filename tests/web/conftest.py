"""Databases and a served quiz for the tests of collecting ballots."""

import itertools
import os
from contextlib import ExitStack, contextmanager

import one_participant
import pytest

from asking import Visitor
from benchmarks.postgresql import NoPostgreSQLError, fresh_database, postgresql
from examples.crowd.served import serving
from in_process import store_of
from listening import serving_here
from small_quiz import QUIZ, write_quiz

NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def one_store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiz")
    with store_of(folder) as store:
        yield store, folder


@pytest.fixture
def quiz(one_store):
    """Makes the quiz of somebody who has just joined: `quiz(text, order="doubtful")`."""
    store, folder = one_store
    one_participant.emptied(store)
    return lambda text=one_participant.QUIZ, **settings: one_participant.Quiz(store, folder, text, **settings)


@pytest.fixture(scope="session")
def postgresql_server():
    """The address of a real server, one for each process of tests."""
    try:
        with postgresql() as address:
            yield address
    except NoPostgreSQLError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def sqlite_database(tmp_path):
    return f"sqlite:///{tmp_path / 'quiz.db'}"


@pytest.fixture
def postgresql_database(postgresql_server):
    with fresh_database(postgresql_server, f"epivote_{os.getpid()}_{next(NUMBERS)}") as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    """The address of an empty database; a test that asks for it runs on SQLite and on PostgreSQL."""
    return request.getfixturevalue(f"{request.param}_database")


@pytest.fixture
def serve(tmp_path):
    """Serves a quiz by a process of its own until the test ends: `serve(text, database)`."""
    with ExitStack() as stack:

        def start(text=QUIZ, database=None, *options, name="quiz"):
            quiz = write_quiz(tmp_path / name, text)
            where = () if database is None else ("--database", database)
            return stack.enter_context(serving(quiz, "--port", "0", *where, *options, log=quiz.with_suffix(".log")))

        yield start


@contextmanager
def nothing_fails(running):
    """A test during which nothing goes wrong in the server, whatever it answers."""
    running.failures.clear()
    yield running
    assert running.failures == [], running.failures[0]


@pytest.fixture
def serve_here(tmp_path):
    """Serves a quiz by a thread until the test ends: `serve_here(text, database)`."""
    with ExitStack() as stack:

        def start(text=QUIZ, database=None, settings=None, *, name="quiz"):
            quiz = write_quiz(tmp_path / name, text)
            address = database or f"sqlite:///{quiz.with_suffix('.db')}"
            return stack.enter_context(nothing_fails(stack.enter_context(serving_here(quiz, address, settings))))

        yield start


@pytest.fixture(autouse=True)
def visits_end():
    yield
    while Visitor.everybody:
        Visitor.everybody.pop().client.close()


@pytest.fixture(scope="session")
def served_on_sqlite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with serving_here(write_quiz(folder), f"sqlite:///{folder / 'quiz.db'}") as running:
        yield running


@pytest.fixture(scope="session")
def served_on_postgresql(tmp_path_factory, postgresql_server):
    quiz = write_quiz(tmp_path_factory.mktemp("served"))
    with (
        fresh_database(postgresql_server, f"epivote_{os.getpid()}_{next(NUMBERS)}") as address,
        serving_here(quiz, address) as running,
    ):
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def served(request):
    """The small quiz, one for all tests; the quick run asks on SQLite only what hardly depends on the database."""
    with nothing_fails(request.getfixturevalue(f"served_on_{request.param}")) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def served_on_both(request):
    """The same for what may depend on the database: what is kept, and what it would not take."""
    with nothing_fails(request.getfixturevalue(f"served_on_{request.param}")) as running:
        yield running
