import pytest

from benchmarks.postgresql import MISSING, NoPostgreSQLError, programs


def test_a_test_that_asks_for_a_database_gets_an_empty_one(database):
    import sqlalchemy

    engine = sqlalchemy.create_engine(database)
    with engine.begin() as connection:
        assert sqlalchemy.inspect(connection).get_table_names() == []
        connection.execute(sqlalchemy.text("CREATE TABLE left_behind (name TEXT)"))
    engine.dispose()


@pytest.mark.parametrize("repeat", range(2))
def test_nothing_is_left_of_the_database_before(database, repeat):
    test_a_test_that_asks_for_a_database_gets_an_empty_one(database)


def test_without_a_server_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("pathlib.Path.glob", lambda self, pattern: [])
    with pytest.raises(NoPostgreSQLError, match="apt-get install postgresql"):
        programs()
    assert "EPIVOTE_POSTGRESQL" in MISSING
