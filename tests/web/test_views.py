"""The pages, in process."""

import re

import pytest

from in_process import (
    at,
    fields_of,
    filled_in,
    hand_in,
    joined,
    organiser,
    say,
    shown,
    store_of,
    token_in,
    visitor,
    voter_of,
)
from one_moment import estimate_now, still_app
from small_quiz import QUIZ

TEXTS = QUIZ.replace('name = "yard"', 'name = "yard"\ntext = "What is in the yard?"')


@pytest.fixture
def app(tmp_path):
    with still_app(tmp_path, TEXTS) as made:
        yield made


def test_a_way_through(app):
    ann = joined(app, "ann")
    assert at(ann) == "/question/1"
    assert say(ann, "/question/1", ticks=[0, 2]) == "/question/2"
    assert say(ann, "/question/2", "none") == "/question/3"
    assert say(ann, "/question/3", "skip") == "/question/4"
    assert at(ann) == "/question/4"
    assert say(ann, "/question/4", ticks=[1]) == "/end"
    assert at(ann) == "/end", "what was skipped is not offered again"
    end = ann.get("/end").text
    assert "You have answered 3 of 4 questions." in end
    assert end.count("skipped") >= 1
    assert say(ann, "/question/1", "skip") == "/end"
    sheet = app.state.site.store.sheet(voter_of(app, ann).token)
    assert sorted(map(len, sheet.ballots.values())) == [0, 1]


def test_an_answer_is_shown_again_and_can_be_changed(app):
    ann = joined(app, "ann")
    say(ann, "/question/1", ticks=[0, 2])
    page = ann.get("/question/1").text
    assert page.count(" checked") == 2
    assert "you can change your answer" in page
    assert say(ann, "/question/1", "none") == "/question/2"
    assert "none of these" in ann.get("/question/1").text


def test_none_of_these_is_an_empty_ballot_whatever_is_ticked(app):
    ann = joined(app, "Ann")
    say(ann, "/question/1", "none", ticks=[0])
    (ballot,) = app.state.site.store.snapshot()[1]
    assert ballot.ticks == ()


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_a_form_without_the_token_of_its_visitor_changes_nothing(app, token):
    ann = joined(app, "Ann")
    assert ann.post("/question/1", data={"csrf": token, "action": "none"}).status_code == 403
    assert app.state.site.store.snapshot()[1] == []


def test_nothing_ticked_is_no_answer(app):
    ann = joined(app, "ann")
    sent = ann.post("/question/1", data=filled_in(ann.get("/question/1")))
    assert sent.status_code == 422
    assert "Nothing is ticked." in sent.text
    assert at(ann) == "/question/1"


@pytest.mark.parametrize(
    "fields", [{"action": "answer", "tick": "3"}, {"action": "answer", "tick": "x"}, {"action": "x"}, {}]
)
def test_answers_that_make_no_sense(app, fields):
    ann = joined(app, "ann")
    form = filled_in(ann.get("/question/1"))
    sent = ann.post("/question/1", data={"csrf": form["csrf"], "shown": form["shown"], **fields})
    assert sent.status_code == 422
    assert app.state.site.store.counts() == {}


def test_everybody_has_an_order_of_their_own_which_stays(app):
    orders = set()
    for number in range(12):
        client = joined(app, f"p{number}")
        order = tuple(shown(client.get(f"/question/{position}")) for position in range(1, 5))
        assert order == tuple(shown(client.get(f"/question/{position}")) for position in range(1, 5))
        assert len(set(order)) == 4
        orders.add(order)
    assert len(orders) > 5


def test_after_handing_in_nothing_changes_and_the_place_appears(app):
    people = [joined(app, name) for name in ("ann", "bo", "cy")]
    for client in people:
        for _ in range(4):
            say(client, at(client), ticks=[0])
    ann = people[0]
    before = ann.get("/end").text
    assert 'id="ranking"' in before
    assert "appears once you have handed in" in before
    hand_in(ann)
    assert at(ann) == "/end"
    assert ann.get("/question/1").headers["location"] == "/end"
    sent = ann.post("/question/1", data={"csrf": token_in(ann.get("/leave")), "action": "none"})
    assert sent.status_code == 409
    assert "can no longer be changed" in sent.text
    estimate_now(app)
    page = ann.get("/end").text
    assert "Place 1 of 3, with 4 points." in page
    assert "On 4 of 4 questions you ticked exactly what the crowd as a whole says." in page


def test_whoever_leaves_is_forgotten(app):
    ann = joined(app, "ann")
    say(ann, "/question/1", ticks=[0])
    gone = ann.post("/forget", data=fields_of(ann.get("/forget"), "/forget"))
    assert (gone.status_code, gone.headers["location"]) == (303, "/")
    assert app.state.site.store.participants() == []
    assert app.state.site.cookie("epivote") not in ann.cookies
    assert ann.get("/question").headers["location"] == "/"
    joined(app, "ann")


def test_names(app):
    joined(app, "ann")
    client = visitor(app)
    token = token_in(client.get("/"))
    taken = client.post("/join", data={"csrf": token, "nickname": " Ann"})
    assert taken.status_code == 409
    assert "Somebody is already called Ann." in taken.text
    blank = client.post("/join", data={"csrf": token, "nickname": " "})
    assert blank.status_code == 422
    assert "nickname of 1 to 40" in blank.text


def test_french(app):
    client = visitor(app, **{"accept-language": "fr-FR, en;q=0.4"})
    assert 'lang="fr"' in client.get("/").text
    back = client.get("/language/en", headers={"referer": "http://testserver/privacy?x=1"})
    assert back.headers["location"] == "/privacy"
    assert client.get("/language/en?invitation=a%26b").headers["location"] == "/?invitation=a%26b"
    assert 'lang="en"' in client.get("/privacy").text
    for elsewhere in (
        "http://evil.example/",
        "//evil.example",
        "http://testserver//evil.example",
        "http://[",
        "",
        "http://testserver/join",
    ):
        assert client.get("/language/fr", headers={"referer": elsewhere}).headers["location"] == "/"
    assert client.get("/language/xx").status_code == 404


def test_closed_and_open(app):
    ann, boss = joined(app, "ann"), organiser(app)
    boss.post("/organiser/close", data={"csrf": token_in(boss.get("/organiser"))})
    assert "This is closed." in visitor(app).get("/").text
    assert at(ann) == "/end"
    assert "answers can no longer be changed" in ann.get("/end").text
    new = visitor(app)
    boss_page = boss.get("/organiser")
    assert "Closed by you" in boss_page.text
    boss.post("/organiser/open", data={"csrf": token_in(boss_page)})
    token = token_in(new.get("/"))
    boss.post("/organiser/close", data={"csrf": token_in(boss_page)})
    assert new.post("/join", data={"csrf": token, "nickname": "bo"}).status_code == 409
    boss.post("/organiser/open", data={"csrf": token_in(boss_page)})
    assert at(ann) == "/question/1"


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ("opens = 2999-01-01T09:30:00+01:00", "This opens on 2999-01-01 09:30 UTC+01:00."),
        ("closes = 2020-01-01T00:00:00Z", "This is closed."),
        ("closes = 2999-01-01T09:30:00Z", "Open until 2999-01-01 09:30 UTC"),
    ],
)
def test_opening_times(tmp_path, times, told):
    with still_app(tmp_path, f"{times}\n{TEXTS}") as app:
        page = visitor(app).get("/")
        assert told in page.text
        assert ('id="join"' in page.text) == ("Open until" in told)


def test_invitations(tmp_path):
    from epivote.web.store.invitations import invite

    with still_app(tmp_path, f'join = "invitation"\n{TEXTS}') as app:
        (token,) = invite(app.state.site.store, 1, days=1)
        assert "you need an invitation link" in visitor(app).get("/").text
        page = visitor(app).get(f"/?invitation={token}")
        assert f'name="invitation" value="{token}"' in page.text
        client = visitor(app)
        csrf = token_in(client.get("/?invitation=x"))
        wrong = client.post("/join", data={"csrf": csrf, "nickname": "ann", "invitation": "x"})
        assert (wrong.status_code, "This invitation is not known." in wrong.text) == (403, True)
        right = client.post("/join", data={"csrf": csrf, "nickname": "ann", "invitation": token})
        assert right.status_code == 303


def test_size_and_pictures(app):
    ann = joined(app, "ann")
    pages = "".join(ann.get(f"/question/{position}").text for position in range(1, 5))
    dot = app.state.site.picture("dot.svg")
    assert pages.count("Between 1 and 2 of these are right.") == 4
    assert pages.count(f'<img src="{dot}" alt="A yard."') == 1
    picture = ann.get(dot)
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in picture.headers["content-security-policy"]
    again = ann.get(dot, headers={"if-none-match": picture.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("show_size = false", None),
        ('size = "1"', "Exactly one of these is right."),
        ('size = "2"', "Exactly 2 of these are right."),
        ('size = "0.."', None),
        ('size = "0..3"', None),
        ('size = "0..1"', "At most one of these is right."),
        ('size = "1.."', "At least one of these is right."),
        ('size = "2..3"', "At least 2 of these are right."),
    ],
)
def test_how_the_size_is_told(tmp_path, line, told):
    text = TEXTS.replace('size = "1..2"', line if line.startswith("size") else f'size = "1..2"\n{line}')
    with still_app(tmp_path, text) as app:
        page = joined(app, "ann").get("/question/1").text
        assert bool(re.search("of these (is|are) right", page)) == (told is not None)
        assert told is None or told in page


def test_links_and_sounds_of_a_question(tmp_path):
    (tmp_path / "owl.ogg").write_bytes(b"OggS")
    one = (
        QUIZ.split("[[instances]]")[0]
        + '[[instances]]\nname = "x"\naudio = "owl.ogg"\nlink = "https://example.org/?a&b"\n'
    )
    with still_app(tmp_path, one) as app:
        ann = joined(app, "ann")
        page = ann.get("/question/1").text
        assert 'href="https://example.org/?a&amp;b" target="_blank" rel="noopener noreferrer"' in page
        owl = app.state.site.picture("owl.ogg")
        assert f'<audio controls preload="metadata" src="{owl}"' in page
        assert ann.get(owl).headers["content-type"] == "audio/ogg"


def test_menus_offer_what_they_say(tmp_path):
    with still_app(tmp_path, TEXTS.replace('name = "barn"', 'name = "barn"\nalternatives = ["owl", "cat"]')) as app:
        ann = joined(app, "ann")
        pages = {shown(page): page.text for page in (ann.get(f"/question/{n}") for n in range(1, 5))}
        assert pages["What is in the barn?"].count('name="tick"') == 2
        dog = app.state.site.task.alternatives[1].key
        assert dog not in pages["What is in the barn?"]
        number = next(n for n in range(1, 5) if "barn" in shown(ann.get(f"/question/{n}")))
        form = filled_in(ann.get(f"/question/{number}"), ticks=[0])
        sent = ann.post(f"/question/{number}", data={**form, "tick": dog})
        assert sent.status_code == 422


def test_an_instance_with_enough_ballots_is_not_asked_of_others(tmp_path):
    with still_app(tmp_path, f"most_ballots = 2\n{TEXTS}") as app:
        people = [joined(app, name) for name in ("ann", "bo", "cy")]
        for client in people[:2]:
            while at(client) != "/end":
                say(client, at(client), ticks=[0])
        assert at(people[2]) == "/end"
        assert people[2].get("/question/1").headers["location"] == "/question"
        assert people[0].get("/question/1").status_code == 200, "whoever answered may change it"
        sent = people[2].post(
            "/question/1", data={"csrf": token_in(people[2].get("/end")), "action": "answer", "tick": "0"}
        )
        assert sent.status_code == 409, "nobody had shown it"
        assert "no longer asked" in sent.text


def test_a_question_on_the_screen_is_kept_for_whoever_looks_at_it(tmp_path):
    with still_app(tmp_path, f"most_ballots = 1\n{TEXTS}") as app:
        ann, bo = joined(app, "ann"), joined(app, "bo")
        first = at(ann)
        shown_to_ann = shown(ann.get(first))
        seen = set()
        while at(bo) != "/end":
            seen.add(shown(bo.get(at(bo))))
            say(bo, at(bo), ticks=[0])
        assert (len(seen), shown_to_ann in seen) == (3, False)
        assert say(ann, first, ticks=[0]) == "/end", "an answer that was on its way is taken"
        assert set(app.state.site.store.counts().values()) == {1}


def test_a_sure_instance_is_not_asked_of_others_but_gold_is(tmp_path):
    text = f"confidence = 0.6\n{TEXTS}".replace('name = "barn"', 'name = "barn"\ngold = ["cat"]')
    with still_app(tmp_path, text) as app:
        store = app.state.site.store
        for number in range(12):
            voter = store.join(f"p{number}", "")
            for name in app.state.site.task.by_name:
                store.answer(voter.id, name, ["cat"] if name == "barn" else ["owl"])
        live = estimate_now(app)
        sure = {name for name, found in live.sets.items() if found.confidence >= 0.6}
        assert {"barn", "roof"} <= sure
        late = joined(app, "late")
        asked = [late.get(f"/question/{position}") for position in range(1, 5)]
        texts = {shown(page) for page in asked if page.status_code == 200}
        assert "What is in the barn?" in texts
        assert "What is on the roof?" not in texts


def test_most_doubtful_first(tmp_path):
    with still_app(tmp_path, f'order = "doubtful"\n{TEXTS}') as app:
        for number in range(9):
            client = joined(app, f"p{number}")
            seen = []
            while (address := at(client)) != "/end":
                page = client.get(address)
                seen.append(shown(page))
                ticks = [number % 3] if "street" in shown(page) else [2]
                say(client, address, ticks=ticks)
            assert len(set(seen)) == 4
            assert [shown(client.get(f"/question/{n}")) for n in range(1, 5)] == seen, "positions given stay"
            estimate_now(app)
        live = estimate_now(app)
        sureness = {app.state.site.task.by_name[name].text: found.confidence for name, found in live.sets.items()}
        assert sorted(sureness, key=sureness.__getitem__)[0] == "Who crosses the street?"
        late = joined(app, "late")
        assert shown(late.get(at(late))) == "Who crosses the street?"
        assert late.get("/question/2").status_code == 404


def test_scripts_and_styles_are_kept_by_browsers(app):
    client = visitor(app)
    named = re.findall(r'"(/static/[^"]+)"', client.get("/").text)
    assert len(named) == 2
    for address in named:
        assert "immutable" in client.get(address).headers["cache-control"]
    assert client.get("/static/none.js").status_code == 404


def test_what_goes_wrong_on_our_side_is_one_page_with_all_headers(tmp_path, caplog):
    with still_app(tmp_path, TEXTS) as app:
        app.state.site.store.is_closed = lambda: 1 / 0
        broken = visitor(app).get("/?invitation=very-secret")
        assert broken.status_code == 500
        assert "Your answers so far are safe." in broken.text
        assert "default-src 'none'" in broken.headers["content-security-policy"]
    assert "ZeroDivisionError" in caplog.text
    assert "very-secret" not in caplog.text


def test_a_database_that_is_gone(tmp_path):
    with still_app(tmp_path, TEXTS) as app:
        app.state.site.health.fresh = 0.0
        assert visitor(app).get("/health").text == "ok"
        with app.state.site.store.database.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE settings RENAME TO elsewhere")
        gone = visitor(app).get("/health")
        assert (gone.status_code, gone.headers["retry-after"]) == (503, "5")
        assert visitor(app).get("/api/v1/task").status_code == 401
        assert visitor(app).get("/api/v1/task", headers={"authorization": "Bearer x"}).status_code == 503
        with app.state.site.store.database.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO settings")


def test_coming_back_after_a_restart(tmp_path):
    with still_app(tmp_path, TEXTS) as app:
        ann = joined(app, "ann")
        say(ann, "/question/1", ticks=[0])
        cookies = dict(ann.cookies)
    with still_app(tmp_path, TEXTS) as app:
        back = visitor(app)
        back.cookies.update(cookies)
        assert "You take part as ann." in back.get("/").text
        assert at(back) == "/question/2"
    with store_of(tmp_path) as store:
        assert store.counts().popitem()[1] == 1
