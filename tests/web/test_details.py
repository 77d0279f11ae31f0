"""Details of participants on both databases: kept with joining or not at all, one participant per identity, one link."""

import pytest

from epivote.web.store import InvitationError, Store, invitations, open_database
from epivote.web.store.details import AlreadyHereError, Details, new_link, outside_id_of, people_of, whose_link
from epivote.web.store.invitations import invite, join_invited


@pytest.fixture
def store(database):
    opened = open_database(database)
    yield Store(opened)
    opened.close()


def test_details_are_kept_with_their_participant(store):
    kept = store.database
    ann = store.join("ann", "a", Details(7, "5f0"))
    store.join("bo", "b")
    store.join("cy", "c", Details(8))
    assert store.join("ann", "a", Details(9, "5f0")).id == ann.id, "a second press changes nothing"
    people = {name: each.details for name, each in people_of(kept).items()}
    assert people == {"ann": Details(7, "5f0"), "bo": Details(), "cy": Details(8)}
    assert [outside_id_of(kept, ann.id), outside_id_of(kept, 99)] == ["5f0", ""]
    store.forget(ann.id)
    assert set(people_of(kept)) == {"bo", "cy"}
    store.join("ann", "a", Details(7, "5f0"))


def test_an_identity_is_taken_once_and_nobody_half_joins(store):
    store.join("ann", "a", Details(None, "5f0"))
    (token,) = invite(store, 1, days=1)
    with pytest.raises(AlreadyHereError):
        store.join("bo", "b", Details(None, "5f0"))
    with pytest.raises(AlreadyHereError):
        join_invited(store, "bo", "b", token, Details(None, "5f0"))
    assert [each.name for each in store.participants()] == ["ann"]
    assert join_invited(store, "bo", "b", token, Details(None, "5f1")).name == "bo", "the invitation was not used up"


def test_an_invitation_ends_with_its_last_moment(store, monkeypatch):
    start, half_a_day = 1_800_000_000_000_000, 43_200_000_000
    monkeypatch.setattr(invitations, "now", lambda: start)
    before, at, after = invite(store, 3, days=0.5)
    monkeypatch.setattr(invitations, "now", lambda: start + half_a_day - 1)
    assert join_invited(store, "ann", "a", before).name == "ann"
    for late, token in enumerate((at, after)):
        monkeypatch.setattr(invitations, "now", lambda late=late: start + half_a_day + late)
        with pytest.raises(InvitationError, match="^expired$"):
            join_invited(store, "bo", "b", token)


def test_a_link_stands_for_one_participant_until_the_next_one(store):
    kept = store.database
    ann, bo = store.join("ann", "a", Details(7)), store.join("bo", "b")
    first, other = new_link(kept, ann.id), new_link(kept, bo.id)
    assert (whose_link(kept, first), whose_link(kept, other)) == (("ann", ann.token), ("bo", bo.token))
    second = new_link(kept, ann.id)
    assert (whose_link(kept, first), whose_link(kept, second)) == (None, ("ann", ann.token))
    assert people_of(kept)["ann"].details == Details(7), "a link changes no detail"
    assert whose_link(kept, "") is None
