"""What errors of a database keep to themselves, how it is connected to, and tidy pages."""

import re

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from epivote.web.store import database, open_database
from in_process import visitor
from one_moment import still_app


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with still_app(tmp_path_factory.mktemp("quiz")) as made:
        yield made


@pytest.mark.parametrize("address", ["/", "/privacy"])
def test_pages_have_no_blank_lines_and_keep_their_indents(app, address):
    page = visitor(app).get(address).text
    assert not re.search(r"\n[ \t]*\n", page)
    assert not re.search(r"[ \t]\n", page)
    footer = page.partition("<footer>")[2]
    assert {len(indent) for indent in re.findall(r"^( *)<li>", footer, re.MULTILINE)} == {6}


def test_errors_of_the_database_do_not_show_what_was_said(tmp_path):
    opened = open_database(f"sqlite:///{tmp_path / 'quiz.db'}")
    with pytest.raises(DBAPIError) as failed, opened.reading() as connection:
        connection.execute(text("SELECT :ticks FROM nowhere"), {"ticks": "a secret ballot"})
    assert "a secret ballot" not in str(failed.value)
    opened.close()


def test_connections_to_postgresql_are_tried_before_they_are_used(monkeypatch):
    """After a restart of the server of the database nobody should see an error."""
    monkeypatch.setattr(database, "_upgrade", lambda _: None)
    opened = open_database("postgresql://ann@nowhere/quiz")
    assert opened.engine.url.drivername == "postgresql+psycopg"
    assert opened.engine.pool._pre_ping is True
    assert opened.engine.hide_parameters is True
    assert (opened.engine.pool.size(), opened.engine.pool._max_overflow) == (40, 10)
    assert opened.file is None
    opened.close()
    few = open_database("postgresql://ann@nowhere/quiz", connections=1)
    assert few.engine.pool.size() == 1
    few.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite:////some/quiz.db", "/some/quiz.db"),
        ("postgresql+psycopg://me:secret@host:5433/quiz", "postgresql+psycopg://me:***@host:5433/quiz"),
    ],
)
def test_messages_say_where_a_database_is_without_its_password(address, said):
    assert str(database.Database(create_engine(address))) == said
