"""A database brought up to date step by step is the one that the tables describe: names, types, keys and indexes."""

import pytest
from sqlalchemy import create_engine, inspect, text

from epivote.web.store import open_database
from epivote.web.store.tables import METADATA


def described(engine):
    """Everything that can be seen of the tables."""
    seen, found = inspect(engine), {}
    with engine.connect() as connection:
        made = dict(map(tuple, connection.execute(text("SELECT name, sql FROM sqlite_master"))))
    for table in METADATA.tables:
        found[table] = {
            "columns": [
                (each["name"], str(each["type"]), each["nullable"], each["primary_key"])
                for each in seen.get_columns(table)
            ],
            "key": seen.get_pk_constraint(table),
            "unique": sorted(seen.get_unique_constraints(table), key=lambda each: each["name"]),
            "foreign": seen.get_foreign_keys(table),
            "indexes": sorted(seen.get_indexes(table), key=lambda each: each["name"]),
            "counts up": "AUTOINCREMENT" in made[table],
        }
    return found


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    opened = open_database(f"sqlite:///{tmp_path_factory.mktemp('quiz') / 'quiz.db'}")
    yield described(opened.engine)
    opened.close()


def test_migrations_lead_to_the_tables(migrated):
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    assert migrated == described(engine)
    engine.dispose()


def test_keys_have_names_by_which_later_versions_can_change_them(migrated):
    """SQLite keeps no name for the key of `voters`, which is its own number of rows."""
    assert {name: each["key"]["name"] for name, each in migrated.items() if name != "voters"} == {
        name: f"pk_{name}"
        for name in (
            "settings",
            "ballots",
            "counts",
            "slots",
            "skips",
            "asked",
            "invitations",
            "details",
            "credentials",
        )
    }
    for name in ("ballots", "slots", "skips", "asked", "details"):
        (foreign,) = migrated[name]["foreign"]
        assert (foreign["name"], foreign["options"]) == (f"fk_{name}_voter_id", {"ondelete": "CASCADE"})
    assert [each["name"] for each in migrated["voters"]["unique"]] == ["uq_voters_name_key", "uq_voters_token"]
    assert [name for name, each in migrated.items() if each["counts up"]] == ["voters"]
