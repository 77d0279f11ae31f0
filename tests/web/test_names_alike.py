"""Nicknames that cannot be seen, or that people would take for another's."""

import pytest
from sqlalchemy import create_engine, text

from epivote.web.store import NameTakenError, Store, open_database
from epivote.web.store.names import ALIKE, clean_name, name_key
from in_process import fields_of, joined, visitor
from one_moment import still_app

BLANK = {
    "a Braille cell without dots": "\u2800",
    "a Hangul filler": "\u3164",
    "a narrow Hangul filler": "\uffa0",
    "fillers of syllables": "\u115f\u1160",
    "joiners": "\u200d\u200c",
    "variants of nothing": "\ufe0f",
    "an accent alone": "\u0301",
    "a joiner of graphemes": "\u034f",
    "an empty note": "\U0001d159",
    "ideographic space": "\u3000",
}
ALIKE_PAIRS = {
    "case": ("Ann", "aNN"),
    "width": ("ann", "ａｎｎ"),
    "Cyrillic": ("Anna Sax", "Аnnа Ѕах"),
    "Cyrillic capitals": ("CTHAMKOB", "СТНАМКОВ"),
    "Greek": ("Anna", "Αnnα"),
    "Greek capitals": ("ANNA", "ΑΝΝΑ"),
    "Greek in small letters": ("ΝΙΚΗ", "νικη"),
    "an accent on another letter": ("Élan", "Е\u0301lаn"),
    "mathematical letters": ("ann", "𝐚𝗇𝕟"),
    "a digit for a letter": ("bob", "b0b"),
    "one for l": ("paul", "pau1"),
    "a letter without a dot": ("nina", "nına"),
    "a joiner inside": ("ann", "a\u200dnn"),
    "a variant inside": ("ann", "an\ufe0fn"),
    "another space": ("ann b", "ann\u2003b"),
}


@pytest.mark.parametrize("name", BLANK)
def test_names_that_nobody_sees_are_refused(name):
    assert clean_name(BLANK[name]) is None
    assert clean_name(f" {BLANK[name]}  {BLANK[name]} ") is None


@pytest.mark.parametrize("name", ["a\u3164", "ann\u2800", "\uffa0b", "a\u034fb", "a\u00adb", "\u2066ann", "a\ufeff"])
def test_names_that_hold_something_unseen_are_refused(name):
    assert clean_name(name) is None


@pytest.mark.parametrize("name", ["👩‍🔬", "❤️", "نام‌خانوادگی", "José", "Ελένη", "Иван", "张伟", "o", "1", "💙"])
def test_names_of_all_scripts_and_pictures_are_taken(name):
    assert clean_name(name) == name


@pytest.mark.parametrize("pair", ALIKE_PAIRS)
def test_names_that_look_alike_are_one(pair):
    first, second = ALIKE_PAIRS[pair]
    assert first != second
    assert name_key(first) == name_key(second)


@pytest.mark.parametrize(("first", "second"), [("Jose", "José"), ("Kai", "Kal"), ("ann b", "annb"), ("anna", "ana")])
def test_names_that_differ_are_two(first, second):
    assert name_key(first) != name_key(second)


def test_no_look_alike_stands_for_itself():
    assert all(chr(after) != chr(before) and chr(after).isascii() for before, after in ALIKE.items())


def test_a_look_alike_of_somebody_is_refused(tmp_path):
    with still_app(tmp_path) as app:
        joined(app, "Anna")
        for name, status in (("Аnnа", 409), ("\u3164", 422), ("Anna\u3164", 422), ("Änna", 303)):
            client = visitor(app)
            sent = client.post("/join", data={**fields_of(client.get("/"), "/join"), "nickname": name})
            assert sent.status_code == status, name


def test_voters_of_older_databases_get_new_keys(tmp_path):
    """Look-alikes that are there already both stay; the first one owns the name."""
    address = f"sqlite:///{tmp_path / 'old.db'}"
    store = Store(open_database(address))
    for number, name in enumerate(["ann", "bo", "cy"]):
        store.join(name, f"visit {number}")
    store.database.close()
    engine = create_engine(address)
    with engine.begin() as connection:
        for before, name, key in (("ann", "Paul", "paul"), ("bo", "Pau1", "pau1"), ("cy", "р0l", "р0l")):
            told = {"before": before, "name": name, "key": key}
            connection.execute(text("UPDATE voters SET name = :name, name_key = :key WHERE name = :before"), told)
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    engine.dispose()
    store = Store(open_database(address))
    with store.database.reading() as connection:
        keys = dict(connection.execute(text("SELECT name, name_key FROM voters")).all())
    assert keys == {"Paul": "paul", "Pau1": "paul\n2", "р0l": "pol"}
    with pytest.raises(NameTakenError):
        store.join("POL", "another visit")
    store.database.close()
