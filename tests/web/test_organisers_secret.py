"""The organiser's secret: exchanged for a cookie, entered in a form, replaced, and left behind; closing asks first."""

import pytest
from typer.testing import CliRunner

from epivote.cli import app as command
from in_process import fields_of, organiser, visitor
from one_moment import program, still_app


@pytest.fixture
def app(tmp_path):
    with still_app(tmp_path) as made:
        yield made


def run(*arguments):
    return CliRunner().invoke(command, ["collect", *(str(argument) for argument in arguments)])


def enter(client, secret):
    return client.post("/organiser", data={**fields_of(client.get("/organiser"), "/organiser"), "secret": secret})


def test_the_secret_can_be_entered_in_a_form(app):
    client = visitor(app)
    secret = app.state.site.organiser_secret
    asked = client.get("/organiser")
    assert (asked.status_code, "This page is for the organiser only." in asked.text) == (403, True)
    wrong = enter(client, "x")
    assert (wrong.status_code, "This secret is not valid." in wrong.text) == (403, True)
    sent = enter(client, secret)
    assert (sent.status_code, sent.headers["location"]) == (303, "/organiser")
    page = client.get("/organiser")
    assert page.status_code == 200
    assert client.post("/organiser", data={"secret": secret}).status_code == 403, "without a token of the form"


def test_after_its_first_use_the_secret_is_in_no_address_cookie_or_page(app):
    client = visitor(app)
    secret = app.state.site.organiser_secret
    sent = client.get(f"/organiser?secret={secret}")
    told = str(sent.headers) + sent.text + str(client.get("/organiser").headers) + client.get("/organiser").text
    assert secret not in told
    assert secret not in str(dict(client.cookies))


def test_signing_out(app):
    boss = organiser(app)
    assert boss.post("/organiser/leave", data={"csrf": "x"}).status_code == 403
    assert boss.get("/organiser/live").status_code == 200
    left = boss.post("/organiser/leave", data=fields_of(boss.get("/organiser"), "/organiser/leave"))
    assert (left.status_code, left.headers["location"]) == (303, "/organiser")
    assert boss.get("/organiser").status_code == 403
    assert boss.get("/organiser/live").status_code == 403


def test_a_new_secret_signs_everybody_out_while_it_is_served(app, tmp_path):
    boss, robot = organiser(app), program(app)
    old = app.state.site.organiser_secret
    app.state.site.store.remember_address("https://quiz.example.org/")
    told = run("renew", tmp_path / "quiz.toml")
    assert told.exit_code == 0, told.stderr
    link, _, secret = told.stdout.strip().partition("?secret=")
    assert link == "Organiser:    https://quiz.example.org/organiser"
    assert boss.get("/organiser").status_code == 403
    assert visitor(app).get(f"/organiser?secret={old}").status_code == 403
    assert visitor(app).get(f"/organiser?secret={secret}").status_code == 303
    assert robot.get("/api/v1/task").status_code == 200, "the key is another secret"
    key = run("renew", tmp_path / "quiz.toml", "--key").stdout.split()[-1]
    assert robot.get("/api/v1/task").status_code == 401
    assert visitor(app, authorization=f"Bearer {key}").get("/api/v1/task").status_code == 200
    assert app.state.site.store.secrets().cookies == app.state.site.secrets.cookies, "participants stay signed in"


def test_closing_asks_first(app):
    boss, store = organiser(app), app.state.site.store
    page = boss.get("/organiser").text
    assert ('href="/organiser/close"' in page, 'action="/organiser/close"' in page) == (True, False)
    asked = boss.get("/organiser/close")
    assert "Close this task?" in asked.text
    assert not store.is_closed()
    assert visitor(app).get("/organiser/close").status_code == 403
    sent = boss.post("/organiser/close", data=fields_of(asked, "/organiser/close"))
    assert (sent.status_code, store.is_closed()) == (303, True)
