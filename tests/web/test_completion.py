"""Consent before joining, participants whom other sites send, and what they take back."""

import csv
import io
import re

import pytest

from epivote.web.task import check_task
from in_process import hand_in, joined, organiser, token_in, visitor
from one_moment import still_app
from small_quiz import QUIZ, write_quiz

CONSENT = 'consent = "I am **over 18**."\n'
PROLIFIC = """
participant_parameter = "PROLIFIC_PID"
completion_code = "C1A2B3"
completion_link = "https://example.org/complete?cc={code}&pid={participant}"
"""
LINK = "https://example.org/complete?cc=C1A2B3&amp;pid=5f0-abc"


def join(client, path="/", **fields):
    page = client.get(path)
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    return client.post("/join", data={**form, "nickname": "ann", **fields})


def last_page(client):
    """The last page, once handed in."""
    assert hand_in(client).status_code == 303
    return client.get("/end").text


def participants(app):
    return list(csv.DictReader(io.StringIO(organiser(app).get("/organiser/export/participants.csv").text)))


def test_consent_is_asked_for_and_kept_with_its_time(tmp_path):
    with still_app(tmp_path, CONSENT + QUIZ) as app:
        client = visitor(app)
        page = client.get("/").text
        assert 'name="consent" value="yes" required' in page
        assert "<strong>over 18</strong>" in page
        refused = join(client)
        assert (refused.status_code, "please tick that you agree" in refused.text) == (422, True)
        assert 'value="ann"' in refused.text, "the nickname need not be typed again"
        assert app.state.site.store.participants() == []
        assert join(client, consent="yes").status_code == 303
        (row,) = participants(app)
        assert row["joined"][:16] == row["consented"][:16]


def test_without_a_text_nobody_is_asked_for_consent(tmp_path):
    with still_app(tmp_path) as app:
        assert "consent" not in visitor(app).get("/").text
        joined(app, "ann")
        assert set(participants(app)[0]) == {"voter", "kind", "joined", "finished", "ballots"}


def test_a_participant_of_another_site_brings_back_a_code(tmp_path):
    with still_app(tmp_path, PROLIFIC + QUIZ) as app:
        client = visitor(app)
        assert join(client, "/?PROLIFIC_PID=5f0-abc&SESSION_ID=1").status_code == 303
        before = client.get("/end").text
        assert "C1A2B3" not in before
        assert "example.org" not in before
        page = last_page(client)
        assert '<span class="code">C1A2B3</span>' in page
        assert f'href="{LINK}" rel="noopener noreferrer"' in page
        (row,) = participants(app)
        assert (row["PROLIFIC_PID"], row["completion_code"]) == ("5f0-abc", "C1A2B3")


def test_one_participant_for_one_identity(tmp_path):
    with still_app(tmp_path, PROLIFIC + QUIZ) as app:
        address = "/?PROLIFIC_PID=5f0-abc"
        assert join(visitor(app), address).status_code == 303
        again = join(visitor(app), address, nickname="bo")
        assert (again.status_code, "You take part already" in again.text) == (409, True)
        assert [each.name for each in app.state.site.store.participants()] == ["ann"], "nobody is half joined"
        assert join(visitor(app), nickname="bo").status_code == 303, "who comes without one may take part as well"
        assert join(visitor(app), nickname="cy").status_code == 303


@pytest.mark.parametrize("given", ["=cmd()", "a b", "x" * 101, "<b>", ""])
def test_identities_that_no_site_gives_are_not_kept(tmp_path, given):
    with still_app(tmp_path, PROLIFIC + QUIZ) as app:
        client = visitor(app)
        page = client.get("/", params={"PROLIFIC_PID": given}).text
        assert 'name="outside"' not in page
        sent = client.post("/join", data={"csrf": token_in(client.get("/")), "nickname": "ann", "outside": given})
        assert sent.status_code == 303
        assert participants(app)[0]["PROLIFIC_PID"] == ""


def test_a_code_of_ones_own(tmp_path):
    with still_app(tmp_path, 'completion_code = "unique"\n' + QUIZ) as app:
        pages = [last_page(joined(app, name)) for name in ("ann", "bo")]
        codes = [re.search(r'class="code">([0-9A-F]{10})<', page)[1] for page in pages]
        assert codes[0] != codes[1]
        assert [row["completion_code"] for row in participants(app)] == codes


def test_choosing_a_language_keeps_who_one_is(tmp_path):
    with still_app(tmp_path, PROLIFIC + QUIZ) as app:
        client = visitor(app)
        page = client.get("/?PROLIFIC_PID=5f0").text
        assert 'href="/language/fr?PROLIFIC_PID=5f0"' in page
        assert client.get("/language/fr?PROLIFIC_PID=5f0").headers["location"] == "/?PROLIFIC_PID=5f0"
        assert client.get("/language/fr?SESSION_ID=5f0").headers["location"] == "/"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            'participant_parameter = "a b"',
            "participant_parameter 'a b' cannot be used in an address; write PROLIFIC_PID",
        ),
        ('participant_parameter = "invitation"', "participant_parameter 'invitation' cannot be used in an address"),
        ('completion_code = "a b"', "completion_code 'a b' is not a code; use letters and digits, or 'unique'"),
        ('completion_link = "ftp://x"', "completion_link 'ftp://x' of the task is not a web address"),
        (
            'completion_link = "https://x/{cod}"',
            "completion_link has no value for {cod}; use {code} or {participant}",
        ),
        ("consent = true", "consent of the task is True; write a text in quotes"),
    ],
)
def test_mistakes_are_told(tmp_path, line, told):
    _, mistakes = check_task(write_quiz(tmp_path, f"{line}\n{QUIZ}"))
    assert [(mistake.line, told in mistake.sentence) for mistake in mistakes] == [(1, True)], mistakes
