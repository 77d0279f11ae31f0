"""How long secrets are, how much is written to see whether a ballot could be, and for how long a question is kept."""

import re

import pytest
from sqlalchemy import select

from epivote.web.security.signing import Signer, new_visit
from epivote.web.store import Store, open_database
from epivote.web.store import store as store_module
from epivote.web.store.credentials import add_credential
from epivote.web.store.details import new_link
from epivote.web.store.invitations import invite
from epivote.web.store.tables import SETTINGS, SLOTS

MINUTE = 60_000_000
START = 10**15


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(open_database(f"sqlite:///{tmp_path_factory.mktemp('quiz') / 'quiz.db'}"))
    yield opened
    opened.database.close()


@pytest.fixture
def clock(monkeypatch):
    """The time of the store, in microseconds."""
    moment = [START]
    monkeypatch.setattr(store_module, "now", lambda: moment[0])
    return moment


def test_secrets_are_too_long_to_be_guessed(store):
    """In base64, 32 bytes are 43 characters, 24 bytes 32 and 18 bytes 24."""
    voter = store.join("ann", "")
    lengths = {
        43: [*store.secrets(), store.renew_secret("organiser"), store.secret("nobody's")],
        32: [voter.token, new_link(store.database, voter.id)],
        24: [new_visit(), *invite(store, 2, days=1)],
    }
    lengths[43].append(add_credential(store.database, "program", "robot"))
    for length, made in lengths.items():
        assert [len(each) for each in made] == [length] * len(made)
        assert all(re.fullmatch("[A-Za-z0-9_-]+", each) for each in made)
        assert len(set(made)) == len(made)


def test_marks_are_as_long_as_they_need_to_be():
    signer = Signer("key")
    assert re.fullmatch("epivote_[0-9a-f]{8}", signer.cookie_name("epivote"))
    assert re.fullmatch("[0-9a-f]{32}", signer.file_key("a.png"))
    assert re.fullmatch("[0-9a-f]{64}", signer.token("kind", "value"))


def test_a_cookie_is_the_one_that_browsers_have_kept_so_far():
    """Another one after an update would sign everybody out."""
    kept = "Ingi.hkpTJptMOxagMsC1PoApBYSk_oCya8dT_GubP0r2iYo"
    assert Signer("key").seal("epivote", "x") == kept
    assert Signer("key").unseal("epivote", kept) == "x"


def test_sixteen_kilobytes_are_written_to_see_whether_a_ballot_could_be(store, clock):
    for moment in (START, START + 5):
        clock[0] = moment
        store.try_writing(1.0)
        with store.database.reading() as connection:
            told = connection.scalar(select(SETTINGS.c.value).where(SETTINGS.c.name == "tried"))
        assert told == f"{moment} {'.' * 16_384}"


def until(store, voter):
    """Until when a question is kept for somebody."""
    with store.database.reading() as connection:
        return connection.scalar(select(SLOTS.c.until).where(SLOTS.c.voter_id == voter))


def test_a_question_is_kept_for_ten_minutes(store, clock):
    bo, cy = store.join("bo", "").id, store.join("cy", "").id
    before = store.stamp()
    assert store.reserve(bo, "q", 1)
    assert store.stamp() == before, "looking at a question changes no ballot"
    assert until(store, bo) == START + 10 * MINUTE
    for later, kept in ((0, True), (9 * MINUTE, True), (10 * MINUTE - 1, True)):
        clock[0] = START + later
        assert store.reserve(cy, "q", 1) != kept
        assert store.taken(1, cy) == ({"q": 1} if kept else {})
    clock[0] = START + 10 * MINUTE
    assert store.taken(1, cy) == {}
    assert store.reserve(cy, "q", 1)
    assert not store.reserve(bo, "q", 1)


def test_whoever_looks_again_in_the_second_half_keeps_it_anew(store, clock):
    di = store.join("di", "").id
    assert store.reserve(di, "r", 1)
    for later, moved in ((MINUTE, False), (5 * MINUTE - 1, False), (5 * MINUTE, True)):
        clock[0] = START + later
        assert store.reserve(di, "r", 1)
        assert until(store, di) == (START + later if moved else START) + 10 * MINUTE


def test_a_clock_that_was_set_back_keeps_nothing_for_ever(store, clock):
    ed, flo = store.join("ed", "").id, store.join("flo", "").id
    assert store.reserve(ed, "s", 1)
    clock[0] = START - 10 * MINUTE
    assert not store.reserve(flo, "s", 1)
    clock[0] = START - 10 * MINUTE - 1
    assert store.taken(1, flo) == {}
    assert store.reserve(flo, "s", 1)
