"""Every gate of time: a moment before, at and after it, for people and programs."""

from datetime import datetime, timedelta

import pytest

from epivote.web.store import InvitationError
from epivote.web.store.invitations import invite, join_invited
from in_process import at, cookie_of, filled_in, hand_in, joined, organiser, say, visitor, voter_of, who_of
from one_moment import Clock, estimate_now, program, still_app
from small_quiz import QUIZ

OPENS, CLOSES = "2027-03-01T09:00:00+01:00", "2027-03-02T09:00:00+01:00"
A_MOMENT = timedelta(microseconds=1)
TIMED = f"opens = {OPENS}\ncloses = {CLOSES}\n{QUIZ}"
GATES = {
    "long before": (OPENS, -timedelta(days=9), "early"),
    "just before it opens": (OPENS, -A_MOMENT, "early"),
    "when it opens": (OPENS, timedelta(0), "open"),
    "just before it closes": (CLOSES, -A_MOMENT, "open"),
    "when it closes": (CLOSES, timedelta(0), "over"),
    "long after": (CLOSES, timedelta(days=9), "over"),
}


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch, "2027-03-01T12:00:00+01:00")


@pytest.fixture
def app(tmp_path, clock):
    with still_app(tmp_path, TIMED) as made:
        yield made


@pytest.fixture
def bo(app):
    """Somebody who joined and answered while it was open, as did a program."""
    client = joined(app, "bo")
    say(client, "/question/1", ticks=[0])
    program(app).put("/api/v1/voters/old/ballots/yard", json={"ticks": ["cat"]})
    return client


def at_every_gate(clock):
    for told, (moment, later, name) in GATES.items():
        clock.at(datetime.fromisoformat(moment) + later)
        yield told, name


def token_of(app, client):
    """The token of a visitor, also where no page shows a form."""
    client.get("/")
    site = app.state.site
    return site.signer.token("form", site.signer.unseal("epivote_visit", cookie_of(app, client, "epivote_visit")))


def test_people_join_and_answer_only_while_it_is_open(app, bo, clock):
    store = app.state.site.store
    for told, name in at_every_gate(clock):
        is_open = name == "open"
        before, people = store.snapshot(), len(store.participants())
        new = visitor(app)
        sent = new.post("/join", data={"csrf": token_of(app, new), "nickname": told})
        assert sent.status_code == (303 if is_open else 409), told
        assert len(store.participants()) == people + is_open, told
        shown = bo.get("/question/1")
        fields = filled_in(shown) if is_open else {"csrf": token_of(app, bo)}
        assert (shown.status_code, shown.headers.get("location")) == ((200, None) if is_open else (303, "/end")), told
        assert (at(bo) == "/end") == (not is_open), told
        for action in ("skip", "none"):
            sent = bo.post("/question/1", data={**fields, "action": action})
            assert sent.status_code == (303 if is_open else 409), told
            assert is_open or "No answers are taken at the moment." in sent.text, told
        assert (store.snapshot() == before) == (not is_open), told


def test_programs_vote_only_while_it_is_open(app, bo, clock):
    robot, store = program(app), app.state.site.store
    for told, name in at_every_gate(clock):
        assert robot.get("/api/v1/task").json()["open"] == (name == "open"), told
        before = len(store.snapshot()[1])
        for voter in ("old", told):
            sent = robot.put(f"/api/v1/voters/{voter}/ballots/roof", json={"ticks": ["dog"]})
            assert sent.status_code == (200 if name == "open" else 409), told
        assert len(store.snapshot()[1]) == before + 2 * (name == "open"), told
        assert (told in {each.name for each in store.participants()}) == (name == "open"), told
        robot.delete("/api/v1/voters/old/ballots/roof")
    assert robot.delete("/api/v1/voters/old/ballots/yard").status_code == 204, "what is one's own can always go"


def test_pages_say_whether_it_is_open(app, bo, clock):
    boss = organiser(app)
    for told, name in at_every_gate(clock):
        page, board = visitor(app).get("/").text, boss.get("/organiser/live").json()
        assert ("This opens on 2027-03-01 09:00 UTC+01:00." in page) == (name == "early"), told
        assert ("This is closed." in page) == (name == "over"), told
        assert ("Open until 2027-03-02 09:00 UTC+01:00" in page) == (name == "open"), told
        assert ('id="join"' in page) == (name == "open"), told
        assert board["gate"] == name, told
        words = {"early": "has not come", "open": "ballots are accepted", "over": "has passed"}
        assert words[name] in board["gate_words"], told
        home, end = bo.get("/").text, bo.get("/end").text
        assert ('href="/question"' in home, 'href="/end"' in home) == (name == "open", name != "open"), told
        assert ("answers can no longer be changed" in end) == (name != "open"), told
        assert ("Your answers so far" in end, "Thank you!" in end) == (name == "open", name != "open"), told
        assert ('action="/finish"' in end) == (name == "open"), told
    assert bo.post("/finish", data={"csrf": token_of(app, bo), "who": who_of(app, bo)}).status_code == 303, (
        "handing in is always possible"
    )


@pytest.mark.parametrize("closing", ["organiser", "time"])
def test_places_count_gold_once_it_is_over(tmp_path, clock, closing):
    """The crowd says cat in the yard; the gold set is dog, which only dee said."""
    text = TIMED.replace('name = "yard"', 'name = "yard"\ngold = ["dog"]')
    with still_app(tmp_path, text) as app:
        store = app.state.site.store
        for name in ("ann", "bo", "cy", "dee"):
            voter = store.join(name, name)
            for instance in app.state.site.task.by_name:
                store.answer(voter.id, instance, ["dog"] if name == "dee" and instance == "yard" else ["cat"])
        dee = visitor(app)
        dee.cookies[app.state.site.cookie("epivote")] = app.state.site.signer.seal(
            "epivote", store.join("dee", "dee").token
        )
        store.finish(store.join("dee", "dee").id)
        before = estimate_now(app)
        assert not before.counts_gold
        assert "Place 4 of 4, with 3 points." in dee.get("/end").text
        assert "It may still change." in dee.get("/end").text
        if closing == "time":
            clock.at(CLOSES)
        else:
            store.close_task()
        assert app.state.site.estimation._has_changed(), "nobody answers any more, but places change"
        after = estimate_now(app)
        assert after.counts_gold
        assert (after.stamp, after.sets) == (before.stamp, before.sets)
        assert "Place 1 of 4, with 4 points." in dee.get("/end").text
        assert "It may still change." not in dee.get("/end").text
        assert "On 3 of 4 questions you ticked exactly" in dee.get("/end").text, "agreement is still with the crowd"
        assert not app.state.site.estimation._has_changed()
        if closing == "organiser":
            store.open_task()
            assert app.state.site.estimation._has_changed()
            assert not estimate_now(app).counts_gold


def test_a_place_is_shown_only_once_all_answers_are_in_it(app):
    ann = joined(app, "ann")
    for _ in range(3):
        say(ann, at(ann), ticks=[0])
    store = app.state.site.store
    store.answer(store.join("bo", "bo").id, "yard", ["cat"])
    estimate_now(app)
    say(ann, at(ann), ticks=[0])
    hand_in(ann)
    stale = ann.get("/end").text
    assert "Place" not in stale.replace("Your place", "")
    assert stale.count("Your last answers are still being counted.") == 2
    estimate_now(app)
    fresh = ann.get("/end").text
    assert "Place 1 of 2, with 4 points." in fresh
    assert "still being counted" not in fresh


def test_an_answer_on_a_question_that_is_gone_does_not_make_a_place_stale(app):
    ann = joined(app, "ann")
    say(ann, at(ann), ticks=[0])
    store = app.state.site.store
    store.answer(voter_of(app, ann).id, "gone", ["cat"])
    estimate_now(app)
    hand_in(ann)
    assert "Place 1 of 1, with one point." in ann.get("/end").text
    assert "You have answered 1 of 4 questions." in ann.get("/end").text


def test_an_invitation_is_good_until_its_time(app, clock):
    days = 1.5
    store, began = app.state.site.store, clock.moment
    first, second = invite(store, 2, days=days)
    clock.at(began + timedelta(days=days) - A_MOMENT)
    ann = join_invited(store, "ann", "visit", first)
    clock.at(began + timedelta(days=days))
    with pytest.raises(InvitationError, match="expired"):
        join_invited(store, "bo", "another visit", second)
    assert [each.name for each in store.participants()] == ["ann"]
    assert join_invited(store, "ann", "visit", first) == ann, "a double click, a moment too late"
    with pytest.raises(InvitationError, match="used"):
        join_invited(store, "ann", "another visit", first)


def test_times_are_kept_as_they_were(app, clock):
    store = app.state.site.store
    ann = store.join("ann", "visit")
    assert (ann.joined_at, ann.finished_at) == (clock.microseconds, None)
    cast = clock.microseconds
    store.answer(ann.id, "yard", ["cat"])
    clock.at(clock.moment + timedelta(minutes=1))
    store.answer(ann.id, "yard", ["dog"])
    (row,) = store.snapshot()[1]
    assert row.cast_at == cast, "it was cast when it was first cast"
    assert store.stamp() == (1, 2), "one ballot, which came and changed"
    store.finish(ann.id)
    finished = clock.microseconds
    clock.at(clock.moment + timedelta(minutes=1))
    store.finish(ann.id)
    assert store.sheet(ann.token).voter.finished_at == finished
    (told,) = store.participants()
    assert (told.joined_at, told.finished_at) == (cast, finished)
