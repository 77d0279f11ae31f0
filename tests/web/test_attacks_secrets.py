"""Secrets: the organiser's, the key of the JSON interface, invitations; guessed, replayed, expired, and never logged."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from asking import Visitor, organiser, own_name, raw, sentence
from epivote.cli import app
from epivote.web.store.database import open_database
from epivote.web.store.tables import INVITATIONS
from examples.crowd.pages import parse
from small_quiz import QUIZ, write_quiz

ORGANISER = ["", "/live", "/report", "/export/ballots.csv", "/export/participants.csv", "/export/truth.csv"]
API = [
    ("GET", "/task"),
    ("GET", "/instances"),
    ("GET", "/estimate"),
    ("GET", "/voters/ann/ballots"),
    ("GET", "/voters/ann/ballots/yard"),
    ("PUT", "/voters/ann/ballots/yard"),
    ("DELETE", "/voters/ann/ballots/yard"),
    ("DELETE", "/voters/ann"),
]


def secret_of(served) -> str:
    return served.organiser.partition("secret=")[2]


@pytest.mark.parametrize("path", ORGANISER)
def test_the_organisers_pages_need_the_secret(served, path):
    with Visitor(served) as visitor:
        assert visitor.get(f"/organiser{path}").status_code == 403
        for wrong in (
            "",
            "x",
            secret_of(served)[:-1],
            secret_of(served) + "x",
            secret_of(served).swapcase(),
            "%00",
            "é",
        ):
            assert visitor.get(f"/organiser{path}", params={"secret": wrong}).status_code in (403, 429)
        for value in ("", "1", secret_of(served)):
            visitor.client.cookies.set(own_name(served, "epivote_organiser"), value)
            assert visitor.get(f"/organiser{path}").status_code in (403, 429)


def test_the_secret_leaves_the_address_bar(served):
    with Visitor(served) as visitor:
        answered = visitor.get(served.organiser)
        assert (answered.status_code, answered.headers["location"]) == (303, "/organiser")
        assert visitor.get("/organiser").status_code == 200


def test_guessing_the_secret_is_stopped_and_the_organiser_still_gets_in(served):
    with Visitor(served) as guesser:
        statuses = [guesser.get("/organiser", params={"secret": f"guess {n}"}).status_code for n in range(100)]
        assert set(statuses) == {403, 429}
        assert statuses[-1] == 429
        assert statuses.index(429) <= 30
        refused = guesser.get("/organiser", params={"secret": "once more"})
        assert refused.headers["retry-after"].isdigit()
        assert sentence(refused)
    with organiser(served) as boss:
        assert boss.get("/organiser").status_code == 200


def test_a_made_up_sender_does_not_start_the_count_anew(served):
    with Visitor(served) as guesser:
        statuses = [
            guesser.get(
                "/organiser",
                params={"secret": f"guess {n}"},
                headers={"x-forwarded-for": f"10.0.{n}.1", "forwarded": f"for=10.1.{n}.1"},
            ).status_code
            for n in range(60)
        ]
        assert statuses[-1] == 429


def test_guessing_the_key_is_stopped(served):
    with Visitor(served) as guesser:
        statuses = [
            guesser.get("/api/v1/task", headers={"authorization": f"Bearer {n}"}).status_code for n in range(100)
        ]
        assert set(statuses) == {401, 429}
        assert statuses[-1] == 429


@pytest.mark.parametrize(("method", "path"), API)
def test_the_json_interface_needs_its_key(served, method, path):
    with Visitor(served) as visitor:
        address = f"/api/v1{path}"
        body = {"json": {"ticks": ["cat"]}} if method == "PUT" else {}
        key = served.key
        wrong = ["", "Bearer", f"Bearer {key[:-1]}", f"Basic {key}", key, f"Bearer {key} {key}", "Bearer é"]
        for told in [None, *(value.encode() for value in wrong), f"Bearer {secret_of(served)}".encode()]:
            headers = {} if told is None else {"authorization": told}
            answered = visitor.client.request(method, address, headers=headers, **body)
            assert answered.status_code in (401, 403, 429), told
            assert answered.json()["error"]
        assert visitor.client.request(method, address, params={"key": key}, **body).status_code in (401, 403, 429)
        visitor.client.cookies.set("epivote_organiser", key)
        assert visitor.client.request(method, address, **body).status_code in (401, 403, 429)


def test_the_json_interface_cannot_act_for_a_person(served_on_both):
    headers = {"authorization": f"Bearer {served_on_both.key}"}
    with Visitor(served_on_both).joined("a person") as person, Visitor(served_on_both) as program:
        person.answer(1, [0])
        for path in ("/voters/a person/ballots/yard", "/voters/a%20person/ballots/barn"):
            sent = program.client.put(f"/api/v1{path}", json={"ticks": ["owl"]}, headers=headers)
            assert sent.status_code == 409
            assert program.client.delete(f"/api/v1{path}", headers=headers).status_code == 409
        assert program.client.delete("/api/v1/voters/a person", headers=headers).status_code == 409
        assert person.ballots()[0] == (0,)


def test_a_person_cannot_take_the_name_of_a_program(served_on_both):
    headers = {"authorization": f"Bearer {served_on_both.key}"}
    with Visitor(served_on_both) as program, Visitor(served_on_both) as person:
        sent = program.client.put("/api/v1/voters/robot/ballots/yard", json={"ticks": ["owl"]}, headers=headers)
        assert sent.status_code in (200, 201, 204)
        assert person.join("robot").status_code == 409
        assert program.client.put(
            "/api/v1/voters/robot/ballots/yard", json={"ticks": []}, headers=headers
        ).status_code in (200, 201, 204)


def test_nothing_secret_is_logged(serve, tmp_path):
    running = serve(QUIZ)
    with Visitor(running).joined("logged") as visitor, organiser(running) as boss:
        visitor.answer(1, [0])
        boss.get("/organiser", params={"secret": "wrong-secret-1"})
        visitor.get("/api/v1/task", headers={"authorization": f"Bearer {running.key}"})
        visitor.get("/api/v1/task", headers={"authorization": "Bearer wrong-key-1"})
        visitor.get("/?invitation=token-of-somebody")
        visitor.post("/question/1", content=b"a" * 5_000_000)
        visitor.get("/nowhere")
        secrets = [secret_of(running), running.key, visitor.csrf("/question/1"), "wrong-secret-1", "wrong-key-1"]
        secrets += ["token-of-somebody", *visitor.client.cookies.values(), *boss.client.cookies.values()]
    running.stop()
    logged = (tmp_path / "quiz" / "quiz.log").read_text()
    assert [secret for secret in secrets if secret in logged] == []


INVITED = QUIZ.replace("ranking = true", 'join = "invitation"')


def invite(quiz, *options) -> list[str]:
    """Tokens that `epivote collect invite` makes."""
    told = CliRunner().invoke(app, ["collect", "invite", str(quiz), *options])
    assert told.exit_code == 0, told.stderr
    return re.findall(r"invitation=([^\s&]+)", told.stdout)


@pytest.fixture
def invited(database, serve_here, tmp_path):
    """A quiz for invited people only, and what makes invitations to it."""
    running = serve_here(INVITED, database)
    return running, lambda *options: invite(tmp_path / "quiz" / "quiz.toml", "--database", database, *options)


def expire_all(database):
    """As if the invitations had been made long ago."""
    with closing(open_database(database)) as opened, opened.writing() as connection:
        assert connection.execute(update(INVITATIONS).values(expires_at=0)).rowcount == 1


def accept(visitor, token, nickname):
    answered = visitor.get("/", params={"invitation": token})
    if answered.status_code != 200:
        return answered
    forms = [form for form in parse("/", answered.text).forms if form.action == "/join"]
    return visitor.post("/join", {**forms[0].fields, "nickname": nickname}) if forms else answered


def test_an_invitation_is_good_for_one_person(invited):
    running, make = invited
    first, second = make("--count", "2")
    with Visitor(running) as ann, Visitor(running) as bo, Visitor(running) as cy:
        assert accept(ann, first, "ann").status_code == 303
        assert ann.get("/question/1").status_code == 200
        replayed = accept(bo, first, "bo")
        assert replayed.status_code in (403, 409)
        assert "invitation" in sentence(replayed).lower()
        assert bo.get("/question/1").status_code in (303, 403)
        assert accept(cy, second, "cy").status_code == 303
        assert ann.get("/question/1").status_code == 200


def test_nobody_joins_without_an_invitation(invited):
    running, make = invited
    (genuine,) = make("--count", "1")
    with Visitor(running) as visitor:
        for number, token in enumerate(
            ["", "x", genuine[:-1], genuine + "x", genuine.swapcase(), "%00", "a" * 2_000, "' OR 1=1 --"]
        ):
            assert accept(visitor, token, f"uninvited {number}").status_code in (200, 400, 403, 404, 422, 429)
            token_of_form = visitor.client.get("/").text
            csrf = re.search(r'name="csrf" value="([^"]+)"', token_of_form)
            if csrf:
                sent = visitor.post("/join", {"csrf": csrf[1], "nickname": f"forced {number}", "invitation": token})
                assert sent.status_code in (400, 403, 404, 422, 429), token
        assert visitor.get("/question/1").status_code in (303, 403)
    with organiser(running) as boss:
        assert "uninvited" not in boss.get("/organiser/export/participants.csv").text


def test_an_invitation_expires(invited):
    running, make = invited
    (late,) = make("--count", "1", "--days", "0")
    with Visitor(running) as visitor:
        refused = accept(visitor, late, "too late")
        assert refused.status_code == 403
        assert "invitation" in sentence(refused).lower()
        assert visitor.get("/question/1").status_code in (303, 403)
    with organiser(running) as boss:
        assert "too late" not in boss.get("/organiser/export/participants.csv").text


def test_who_joined_before_their_invitation_expired_goes_on(invited, database):
    running, make = invited
    (short,) = make("--count", "1")
    with Visitor(running) as visitor:
        assert accept(visitor, short, "just in time").status_code == 303
        expire_all(database)
        assert visitor.answer(1, [0]).status_code == 303


def test_an_invitation_of_another_quiz_is_worth_nothing(serve_here, tmp_path):
    running = serve_here(INVITED)
    other = write_quiz(tmp_path / "other", INVITED)
    open_database(f"sqlite:///{other.with_suffix('.db')}").close()
    (foreign,) = invite(other, "--count", "1")
    with Visitor(running) as visitor:
        assert accept(visitor, foreign, "stranger").status_code in (403, 404)


def test_two_people_who_click_one_invitation_at_once_are_one(invited):
    running, make = invited
    (token,) = make("--count", "1")
    visitors = [Visitor(running) for _ in range(8)]
    forms = [visitor.get("/", params={"invitation": token}) for visitor in visitors]
    fields = [parse("/", form.text).form("/join").fields for form in forms]
    with ThreadPoolExecutor(8) as pool:
        sent = list(
            pool.map(
                lambda k: visitors[k].post("/join", {**fields[k], "nickname": f"at once {k}"}).status_code, range(8)
            )
        )
    assert sent.count(303) == 1, sent
    assert all(status in (303, 403, 409) for status in sent)


def test_raw_requests_with_the_secret_in_odd_places_are_refused(served):
    secret = secret_of(served)
    assert raw(served, "GET", f"/organiser?SECRET={secret}")[0] == 403
    assert raw(served, "GET", f"/organiser/{secret}")[0] in (403, 404)
    assert raw(served, "GET", "/organiser", [("Authorization", f"Bearer {secret}")])[0] == 403
    assert raw(served, "GET", f"/organiser?secret=x&secret={secret}")[0] in (303, 403)
