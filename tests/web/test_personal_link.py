"""Going on on another device by a personal link: secret, replaced on request, and asked before it is used."""

import re

import pytest

from epivote.web.addresses import qr_inline
from epivote.web.security.limits import Limits, Rate
from epivote.web.site import Settings
from in_process import fields_of, joined, say, token_in, visitor
from one_moment import still_app


@pytest.fixture
def app(tmp_path):
    with still_app(tmp_path) as made:
        yield made


def link_of(client):
    page = client.post("/link", data={"csrf": token_in(client.get("/end"))})
    assert page.status_code == 200, page.text
    link = re.search(r'href="http://testserver(/resume/[\w-]+)"', page.text)[1]
    assert qr_inline(f"http://testserver{link}") in page.text
    return link


def resume(client, link):
    page = client.get(link)
    if page.status_code != 200:
        return page
    return client.post("/resume", data={"csrf": token_in(page), "token": link.rpartition("/")[2]})


def test_going_on_on_another_device(app):
    ann, phone = joined(app, "ann"), visitor(app)
    say(ann, "/question/1", ticks=[0])
    link = link_of(ann)
    asked = phone.get(link)
    assert "Continue as ann" in asked.text
    assert phone.get("/question").headers["location"] == "/", "opening the link changes nothing"
    assert resume(phone, link).headers["location"] == "/question"
    assert phone.get("/question").headers["location"] == "/question/2"
    assert "checked" in phone.get("/question/1").text
    assert ann.get("/question").headers["location"] == "/question/2", "the first device goes on as well"


def test_a_new_link_replaces_the_one_before(app):
    ann = joined(app, "ann")
    first, second = link_of(ann), link_of(ann)
    assert first != second
    gone = resume(visitor(app), first)
    assert (gone.status_code, "replaced by a newer one" in gone.text) == (404, True)
    assert resume(visitor(app), second).status_code == 303


def test_only_a_hash_is_kept(app):
    secret = link_of(joined(app, "ann")).rpartition("/")[2]
    with app.state.site.store.database.reading() as connection:
        kept = connection.exec_driver_sql("SELECT * FROM details").all()
    assert secret not in str(kept)
    assert len(kept) == 1


def test_a_link_ends_with_its_participant(app):
    ann = joined(app, "ann")
    link = link_of(ann)
    ann.post("/forget", data=fields_of(ann.get("/forget"), "/forget"))
    assert visitor(app).get(link).status_code == 404


def test_a_link_needs_somebody_who_takes_part(app):
    stranger = visitor(app)
    assert stranger.post("/link", data={"csrf": token_in(stranger.get("/"))}).status_code == 403


def test_wrong_links_are_not_tried_for_ever(tmp_path):
    limits = Limits(wrong_secrets=Rate(2, 0.01))
    with still_app(tmp_path, settings=Settings(limits=limits)) as app:
        link = link_of(joined(app, "ann"))
        thief = visitor(app)
        assert [thief.get(f"/resume/{n}").status_code for n in range(3)] == [404, 404, 429]
        assert thief.get(link).status_code == 200, "a right one always passes"
