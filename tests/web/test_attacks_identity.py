"""Nobody acts for another: cookies, tokens of forms, other people's ballots."""

import base64
import json

import pytest

from asking import Visitor, organiser, own_name, sentence

FORMS = [("/question/1", {"action": "none"}), ("/finish", {}), ("/forget", {}), ("/leave", {})]
ORGANISERS = ["/organiser/close", "/organiser/open"]


def cookie_of(visitor, name="epivote") -> str:
    return visitor.own_cookies[name]


def is_nobody(visitor) -> bool:
    """Whether the pages treat a visitor as somebody who never joined."""
    question = visitor.get("/question")
    posted = visitor.post("/question/1", {"csrf": "x", "action": "none"})
    return (
        question.status_code in (303, 403)
        and question.headers.get("location", "/") == "/"
        and posted.status_code == 403
    )


def forgeries(genuine: str) -> dict[str, str]:
    one = genuine[:-1] + ("A" if genuine[-1] != "A" else "B")
    head, _, signature = genuine.rpartition(".")
    guess = base64.urlsafe_b64encode(json.dumps({"participant": 1, "id": 1}).encode()).decode().rstrip("=")
    return {
        "last letter changed": one,
        "first letter changed": ("A" if genuine[0] != "A" else "B") + genuine[1:],
        "signature left out": head,
        "signature emptied": f"{head}.",
        "own payload, genuine signature": f"{guess}.{signature}",
        "own payload, none at all": guess,
        "a plain number": "1",
        "empty": "",
        "a list": "[]",
        "long": "A" * 3000,
        "letters of other alphabets": "%E2%98%83.%F0%9F%98%80.%00",
        "no algorithm": "eyJhbGciOiJub25lIn0.eyJpZCI6MX0.",
    }


@pytest.mark.parametrize("name", forgeries("a.b"))
def test_a_forged_cookie_makes_nobody(served, name):
    with Visitor(served).joined(f"forged: {name}") as genuine, Visitor(served) as forger:
        forger.client.headers["cookie"] = f"{own_name(served, 'epivote')}={forgeries(cookie_of(genuine))[name]}"
        assert is_nobody(forger)


def test_a_cookie_signed_by_another_quiz_makes_nobody(served, serve_here):
    other = serve_here()
    with Visitor(other).joined("first here") as genuine, Visitor(served) as visitor:
        Visitor(served).joined("first there")
        visitor.client.cookies.set(own_name(served, "epivote"), cookie_of(genuine))
        assert is_nobody(visitor)


def test_a_participants_cookie_is_no_organisers_and_the_other_way_round(served):
    with Visitor(served).joined("no organiser") as participant, organiser(served) as boss, Visitor(served) as visitor:
        visitor.client.cookies.set(own_name(served, "epivote_organiser"), cookie_of(participant))
        assert visitor.get("/organiser").status_code == 403
        visitor.client.cookies.clear()
        visitor.client.cookies.set(own_name(served, "epivote"), cookie_of(boss, "epivote_organiser"))
        assert is_nobody(visitor)


def test_cookies_are_out_of_reach_for_scripts_and_other_sites(served):
    with Visitor(served) as visitor:
        answered = visitor.join("cookies")
        boss = visitor.get(served.organiser)
    for cookie in [*answered.headers.get_list("set-cookie"), *boss.headers.get_list("set-cookie")]:
        told = cookie.lower()
        assert "httponly" in told
        assert "samesite=lax" in told or "samesite=strict" in told
        assert "path=/" in told


def wrong_tokens(served, visitor, path):
    """Tokens that somebody else could come by, by what they are."""
    with Visitor(served) as stranger, Visitor(served).joined(f"other {visitor.address} {path}") as other:
        return {
            "empty": "",
            "made up": "0" * 64,
            "a stranger's": stranger.csrf("/"),
            "another's": other.csrf("/question"),
        }


@pytest.mark.parametrize(("path", "fields"), FORMS)
def test_forms_without_the_own_token_are_refused(served, path, fields):
    with Visitor(served).joined(f"token {path}") as visitor:
        before_joining = Visitor(served).csrf("/")
        assert visitor.answer(1, [0, 2]).status_code == 303
        kept = visitor.ballots()
        wrong = {**wrong_tokens(served, visitor, path), "another visit's": before_joining}
        for name, token in wrong.items():
            assert visitor.post(path, {**fields, "csrf": token}).status_code == 403, name
        refused = visitor.post(path, fields)
        assert refused.status_code == 403
        assert "again" in sentence(refused)
        assert visitor.post(f"{path}?csrf={visitor.csrf('/question/1')}", fields).status_code == 403
        assert visitor.ballots() == kept


def test_joining_needs_the_token_of_the_own_visit(served):
    with Visitor(served) as visitor, Visitor(served) as other:
        visitor.page("/")
        for token in ("", "made up", other.csrf("/")):
            assert visitor.post("/join", {"nickname": "by force", "csrf": token}).status_code == 403
        assert visitor.post("/join", {"nickname": "by force"}).status_code == 403
        assert Visitor(served).join("by force").status_code == 303


def test_a_token_from_before_joining_does_not_answer(served):
    with Visitor(served) as visitor:
        early = visitor.csrf("/")
        visitor.join("early token")
        if early != visitor.csrf("/question/1"):
            assert visitor.post("/question/1", {"csrf": early, "action": "none"}).status_code == 403


@pytest.mark.parametrize("path", ORGANISERS)
def test_the_organisers_forms_need_their_token_and_the_secret(served, path):
    with organiser(served) as boss, Visitor(served).joined(f"closing {path}") as participant:
        own = boss.csrf("/organiser")
        assert boss.post(path).status_code == 403
        assert boss.post(path, {"csrf": "made up"}).status_code == 403
        assert boss.post(path, {"csrf": participant.csrf("/question")}).status_code == 403
        assert participant.post(path, {"csrf": own}).status_code == 403
        assert participant.post(path, {"csrf": participant.csrf("/question")}).status_code == 403
        assert participant.answer(1, [1]).status_code == 303, "the quiz is still open"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_forms_of_other_sites_are_refused(served, origin):
    with Visitor(served).joined(f"cross {origin}") as visitor:
        headers = {"origin": origin, "referer": f"{origin}/page", "sec-fetch-site": "cross-site"}
        for path, fields in FORMS:
            assert visitor.post(path, fields, headers=headers).status_code == 403
            genuine = {**fields, "csrf": visitor.csrf("/question/1")}
            assert visitor.post(path, genuine, headers=headers).status_code == 403, "another site has the token"


def test_no_field_names_somebody_elses_ballot(served_on_both):
    with Visitor(served_on_both).joined("victim") as victim, Visitor(served_on_both).joined("thief") as thief:
        victim.answer(1, [0])
        before = victim.ballots()
        names = ("voter", "participant", "participant_id", "nickname", "user", "id", "epivote", "name")
        for value in ("victim", "1", "2"):
            thief.answer(1, [2], **dict.fromkeys(names, value))
            thief.post(f"/forget?nickname={value}&id={value}", dict.fromkeys(names, value))
        assert victim.ballots() == before
        with organiser(served_on_both) as boss:
            rows = boss.get("/organiser/export/ballots.csv").text.splitlines()
        assert sum(row.startswith("victim,") for row in rows) == 1


def test_a_forgotten_participants_cookie_is_worth_nothing(served_on_both):
    with Visitor(served_on_both).joined("gone") as visitor:
        visitor.answer(1, [0])
        cookie = cookie_of(visitor)
        assert visitor.post("/forget", visitor.page("/forget").form("/forget").fields).status_code == 303
        assert "epivote" not in visitor.own_cookies
        visitor.client.cookies.set(own_name(served_on_both, "epivote"), cookie)
        assert is_nobody(visitor)
        with organiser(served_on_both) as boss:
            assert "gone," not in boss.get("/organiser/export/ballots.csv").text
            assert "gone" not in boss.get("/organiser/export/participants.csv").text


def test_after_finishing_nothing_can_be_changed(served_on_both):
    with Visitor(served_on_both).joined("done") as visitor:
        visitor.answer(1, [0])
        fields = visitor.filled_in(1, [1])
        assert visitor.post("/finish", visitor.page("/end").form("/finish").fields).status_code == 303
        for action in ("answer", "none", "skip"):
            refused = visitor.post("/question/1", {**fields, "action": action})
            assert refused.status_code == 409, action
        with organiser(served_on_both) as boss:
            kept = [
                row for row in boss.get("/organiser/export/ballots.csv").text.splitlines() if row.startswith("done,")
            ]
        assert len(kept) == 1
        assert kept[0].endswith(",cat")
