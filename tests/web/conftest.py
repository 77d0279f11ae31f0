"""Databases and a served quiz for the tests of collecting ballots."""

import itertools
import os
from contextlib import ExitStack

import pytest

from asking import Visitor
from benchmarks.postgresql import NoPostgreSQLError, fresh_database, postgresql
from examples.crowd.served import serving
from small_quiz import QUIZ, write_quiz

NUMBERS = itertools.count(1)


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
    """Serves a quiz until the test ends: `serve(text, database)`."""
    with ExitStack() as stack:

        def start(text=QUIZ, database=None, *options, name="quiz"):
            quiz = write_quiz(tmp_path / name, text)
            where = () if database is None else ("--database", database)
            return stack.enter_context(serving(quiz, "--port", "0", *where, *options, log=quiz.with_suffix(".log")))

        yield start


@pytest.fixture(autouse=True)
def visits_end():
    yield
    while Visitor.everybody:
        Visitor.everybody.pop().client.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def served(request, tmp_path_factory):
    """The small quiz, served to all tests of a file, once on each database."""
    folder = tmp_path_factory.mktemp("served")
    with ExitStack() as stack:
        if request.param == "postgresql":
            server = request.getfixturevalue("postgresql_server")
            address = stack.enter_context(fresh_database(server, f"epivote_{os.getpid()}_{next(NUMBERS)}"))
        else:
            address = f"sqlite:///{folder / 'quiz.db'}"
        quiz = write_quiz(folder)
        log = folder / "log"
        yield stack.enter_context(serving(quiz, "--port", "0", "--database", address, log=log))
        assert "Traceback" not in log.read_text(), "something went wrong in the server, whatever it answered"
