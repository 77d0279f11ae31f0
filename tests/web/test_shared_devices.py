"""One device, several people: signing out, handing in, invitations, and questions before anything is lost."""

import pytest

from epivote.web.store.invitations import invite
from in_process import at, fields_of, hand_in, joined, say, token_in, visitor
from one_moment import still_app
from small_quiz import QUIZ


@pytest.fixture
def app(tmp_path):
    with still_app(tmp_path) as made:
        yield made


@pytest.fixture
def invited(tmp_path):
    """A task for invited people, and two invitations."""
    with still_app(tmp_path, f'join = "invitation"\n{QUIZ}') as made:
        yield made, invite(made.state.site.store, 2, 1)


def sign_out(client):
    return client.post("/leave", data=fields_of(client.get("/leave"), "/leave"))


def join(client, name, token=None):
    home = client.get("/" if token is None else f"/?invitation={token}")
    return client.post("/join", data={**fields_of(home, "/join"), "nickname": name})


def names(app):
    return [each.name for each in app.state.site.store.participants()]


def test_signing_out_asks_first_and_lets_the_next_person_in(app):
    device = joined(app, "ann")
    say(device, at(device), ticks=[0])
    assert "Not ann? Sign out" in device.get("/").text
    asked = device.get("/leave")
    assert "All answers are kept." in asked.text
    assert "first get a personal link" in asked.text
    assert "You take part as ann." in device.get("/").text, "asking changes nothing"
    assert sign_out(device).headers["location"] == "/"
    home = device.get("/").text
    assert ("ann" in home, 'id="join"' in home) == (False, True)
    assert join(device, "bea").status_code == 303
    assert "You take part as bea." in device.get("/").text
    assert len(app.state.site.store.snapshot()[1]) == 1


def test_after_signing_out_nobody_goes_on_under_the_same_name(app):
    """Before that, the same name from the same device is a double click."""
    device = joined(app, "ann")
    sign_out(device)
    taken = join(device, "ann")
    assert (taken.status_code, "Somebody is already called ann." in taken.text) == (409, True)


def test_a_page_of_whoever_signed_out_signs_nobody_else_out(app):
    device = joined(app, "ann")
    old = {path: fields_of(device.get(path), path) for path in ("/leave", "/forget")}
    sign_out(device)
    join(device, "bea")
    for path, fields in old.items():
        refused = device.post(path, data=fields)
        assert (refused.status_code, "You take part as bea now." in refused.text) == (409, True)
        assert device.post(path, data={"csrf": fields["csrf"]}).status_code == 409, "without having been asked"
    assert names(app) == ["ann", "bea"]


def test_after_handing_in_the_first_page_does_not_say_go_on(app):
    device = joined(app, "ann")
    assert "Go on" in device.get("/").text
    hand_in(device)
    home = device.get("/").text
    assert "ann has handed in on this device." in home
    assert "Go on" not in home
    assert "Let somebody else take part here" in home
    assert "Let somebody else take part here" in device.get("/end").text
    assert "personal link" not in device.get("/leave").text
    sign_out(device)
    assert join(device, "bea").status_code == 303


def test_an_invitation_opens_its_own_session(invited):
    app, (first, second) = invited
    device = visitor(app)
    assert join(device, "ann", first).status_code == 303
    page = device.get(f"/?invitation={second}").text
    assert "You take part as ann." not in page
    assert "ann is signed in on this device. When you join, ann is signed out here." in page
    wrong = join(device, "=", second)
    assert (wrong.status_code, 'id="join"' in wrong.text) == (422, True)
    assert join(device, "bea", second).status_code == 303
    assert "You take part as bea." in device.get("/").text
    assert names(app) == ["ann", "bea"]


def test_an_invitation_used_on_this_device_goes_on_as_whoever_used_it(invited):
    app, (first, second) = invited
    device = visitor(app)
    join(device, "ann", first)
    join(device, "bea", second)
    back = device.get(f"/?invitation={first}")
    assert (back.status_code, back.headers["location"]) == (303, "/")
    assert "You take part as ann." in device.get("/").text
    assert "You take part as ann." in device.get(f"/?invitation={first}").text
    elsewhere = visitor(app)
    assert "You take part" not in elsewhere.get(f"/?invitation={first}").text
    assert join(elsewhere, "eve", first).status_code == 403
    sign_out(device)
    assert join(device, "eve", first).status_code == 403, "after signing out it has been used"


def test_a_double_click_on_an_invitation_is_one_participant(invited):
    app, (first, second) = invited
    device = visitor(app)
    join(device, "ann", first)
    fields = {**fields_of(device.get(f"/?invitation={second}"), "/join"), "nickname": "bea"}
    for _ in range(2):
        assert device.post("/join", data=fields).status_code == 303
        assert "You take part as bea." in device.get("/").text
    assert names(app) == ["ann", "bea"]


def test_with_an_invitation_nobody_takes_the_name_of_whoever_was_here_before(invited):
    app, (first, second) = invited
    device = visitor(app)
    join(device, "ann", first)
    taken = join(device, "ann", second)
    assert (taken.status_code, "Somebody is already called ann." in taken.text) == (409, True)
    assert join(device, "bea", second).status_code == 303, "the invitation was not used up"


def test_deleting_asks_first(app):
    device = joined(app, "ann")
    privacy = device.get("/privacy").text
    assert ('href="/forget"' in privacy, 'action="/forget"' in privacy) == (True, False)
    asked = device.get("/forget").text
    assert "The nickname ann and all answers given under it are deleted at once." in asked
    assert "This cannot be undone." in asked
    assert names(app) == ["ann"]
    assert device.post("/forget", data={"csrf": token_in(device.get("/leave"))}).status_code == 409
    assert names(app) == ["ann"], "a form that nobody was asked about deletes nothing"
    assert device.post("/forget", data=fields_of(device.get("/forget"), "/forget")).status_code == 303
    assert names(app) == []


def test_whoever_is_not_signed_in_is_not_asked(app):
    for path in ("/leave", "/forget"):
        assert visitor(app).get(path).headers["location"] == "/"
