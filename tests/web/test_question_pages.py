"""The questions of one participant: what is shown, what comes next, what the last page lists."""

import re

import pytest

from epivote.web.store.invitations import invite
from epivote.web.views.visit import PARTICIPANT
from in_process import at, hand_in, joined, organiser, say, shown, token_in, visitor
from one_moment import estimate_now, still_app
from small_quiz import DOT

QUIZ = """
title = "Shapes"
instructions = "Look.\\n\\nTick."
size = "1..2"
[[alternatives]]
name = "dot"
[[alternatives]]
name = "line"
help = "It is long."
[[alternatives]]
name = "ring"
"""
NAMES = ("a", "b", "c", "d", "e")
QUIZ += "".join(f'[[instances]]\nname = "{name}"\ntext = "Question {name}"\npicture = "{name}.svg"\n' for name in NAMES)


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        (tmp_path / f"{name}.svg").write_text(DOT)
    return tmp_path


@pytest.fixture
def app(folder):
    with still_app(folder, QUIZ) as made:
        yield made


def name_at(client, position):
    page = client.get(f"/question/{position}")
    return shown(page).split()[1] if page.status_code == 200 else None


def sheet_of(app, client):
    site = app.state.site
    return site.store.sheet(site.signer.unseal(PARTICIPANT, client.cookies[site.cookie(PARTICIPANT)]))


def progress(client, position):
    """Done and in all, as words and as a bar."""
    text = client.get(f"/question/{position}").text
    words = re.search(r"<span class=\"at\">(\d+) of (\d+) questions? done</span>", text)
    bar = re.search(r'<progress value="(\d+)" max="(\d+)"', text)
    assert words.groups() == bar.groups()
    return tuple(map(int, words.groups()))


def coming(client, position):
    """The picture that is loaded ahead."""
    return re.search('data-next="([^"]*)"', client.get(f"/question/{position}").text)[1]


def questions(client):
    """Positions and states that the last page lists."""
    return [
        (int(position), state)
        for state, position in re.findall(r'<a class="(\w+)" href="/question/(\d+)">', client.get("/end").text)
    ]


def test_progress_and_the_last_page_follow_every_step(app):
    ann = joined(app, "ann")
    states = dict.fromkeys(range(1, 6), "open")
    steps = [
        (2, "answer"),
        (3, "skip"),
        (2, "skip"),
        (3, "none"),
        (1, "answer"),
        (5, "answer"),
        (4, "skip"),
        (4, "answer"),
    ]
    for position, action in steps:
        say(ann, f"/question/{position}", action, ticks=[0, 2] if action == "answer" else [])
        states[position] = "skipped" if action == "skip" else "answered"
        assert questions(ann) == list(states.items())
        done = sum(state != "open" for state in states.values())
        assert all(progress(ann, each) == (done, 5) for each in range(1, 6))
        answered = sum(state == "answered" for state in states.values())
        end = ann.get("/end").text
        assert f"You have answered {answered} of 5 questions." in end
        assert ("Go on with open questions" in end) == (done < 5)
        assert ("Thank you!" in end, "Your answers so far" in end) == (done == 5, done < 5)
        assert ("button second" in end) == (done < 5)
    kept = sheet_of(app, ann)
    order = [name_at(ann, position) for position in range(1, 6)]
    assert kept.skips == {order[1]}
    assert kept.ballots == {
        order[0]: ("dot", "ring"),
        order[2]: (),
        order[3]: ("dot", "ring"),
        order[4]: ("dot", "ring"),
    }


def test_after_an_answer_comes_the_next_open_question_then_those_before(app):
    ann = joined(app, "ann")
    assert say(ann, "/question/4", ticks=[0]) == "/question/5"
    assert say(ann, "/question/5", "skip") == "/question/1"
    assert say(ann, "/question/2", "none") == "/question/3"
    assert say(ann, "/question/5", "skip") == "/question/1"
    assert say(ann, "/question/1", ticks=[0]) == "/question/3"
    assert at(ann) == "/question/3"
    assert say(ann, "/question/4", "skip") == "/question/3", "an answer that is withdrawn leaves the others as they are"
    assert say(ann, "/question/3", "skip") == "/end", "the last one skipped is not asked again"
    assert say(ann, "/question/3", ticks=[1]) == "/end"


def test_the_picture_of_the_question_after_this_one_is_loaded_ahead(app):
    ann = joined(app, "ann")
    order = [name_at(ann, position) for position in range(1, 6)]
    addresses = [app.state.site.picture(f"{name}.svg") for name in order]
    assert [coming(ann, position) for position in range(1, 6)] == [*addresses[1:], addresses[0]]
    say(ann, "/question/2", ticks=[0])
    assert [coming(ann, position) for position in (1, 2, 5)] == [addresses[2], addresses[2], addresses[0]]
    for position in (1, 3, 4):
        say(ann, f"/question/{position}", "skip")
    assert coming(ann, 1) == addresses[4]
    assert coming(ann, 5) == "", "after the last open question comes none"


def test_what_was_ticked_is_ticked_and_numbers_are_those_of_the_task(folder):
    text = QUIZ.replace('name = "b"', 'name = "b"\nalternatives = ["ring", "dot"]')
    with still_app(folder, text) as app:
        ann = joined(app, "ann")
        place = {name_at(ann, position): position for position in range(1, 6)}
        pages = {name: f"/question/{position}" for name, position in place.items()}

        def boxes(name):
            keys = {each.key: each.name for each in app.state.site.task.alternatives}
            found = re.findall(r'name="tick" value="(\w+)"( checked)?', ann.get(pages[name]).text)
            return [(keys[key], ticked) for key, ticked in found]

        assert boxes("b") == [("dot", ""), ("ring", "")]
        say(ann, pages["b"], ticks=[1])
        say(ann, pages["a"], ticks=[2, 1])
        assert boxes("b") == [("dot", ""), ("ring", " checked")]
        assert boxes("a") == [("dot", ""), ("line", " checked"), ("ring", " checked")]
        assert boxes("c") == [("dot", ""), ("line", ""), ("ring", "")]
        assert sheet_of(app, ann).ballots == {"a": ("line", "ring"), "b": ("ring",)}
        say(ann, pages["c"], "none")
        notes = {name: "you can change your answer" in ann.get(pages[name]).text for name in NAMES}
        assert notes == {"a": True, "b": True, "c": False, "d": False, "e": False}
        empty = {name: "Your answer so far: none of these." in ann.get(pages[name]).text for name in NAMES}
        assert empty == {"a": False, "b": False, "c": True, "d": False, "e": False}


def test_there_are_only_as_many_questions_as_there_are(app):
    ann = joined(app, "ann")
    for position in ("0", "6", "01", "-1", "1.0", "x", "1000000", "999999", "%D9%A1"):
        assert ann.get(f"/question/{position}").status_code == 404, position
    assert sheet_of(app, ann).ballots == {}


def test_sizes_in_words(folder):
    sizes = {"a": "0..2", "b": "2", "c": "1..3", "d": "2..", "e": "0.."}
    text = QUIZ.replace('name = "e"', 'name = "e"\nalternatives = ["dot", "ring"]')
    for name, size in sizes.items():
        text = text.replace(f'name = "{name}"\n', f'name = "{name}"\nsize = "{size}"\n')
    text += '[[instances]]\nname = "f"\ntext = "Question f"\nalternatives = ["dot", "ring"]\n'
    with still_app(folder, text) as app:
        ann = joined(app, "ann")
        told = {}
        for position in range(1, 7):
            words = re.search(r'id="size">([^\n]*)', ann.get(f"/question/{position}").text)[1]
            told[name_at(ann, position)] = words
    assert told == {
        "a": "At most 2 of these are right.",
        "b": "Exactly 2 of these are right.",
        "c": "At least one of these is right.",
        "d": "At least 2 of these are right.",
        "e": "",
        "f": "At least one of these is right.",
    }


def test_what_others_have_settled_is_no_longer_asked_nor_counted(folder):
    with still_app(folder, f"most_ballots = 1\n{QUIZ}") as app:
        ann, store = joined(app, "ann"), app.state.site.store
        order = [name_at(ann, position) for position in range(1, 6)]
        say(ann, "/question/1", ticks=[0])
        say(ann, "/question/2", "skip")
        for name in (order[1], order[2]):
            store.answer_as_program("robot", name, ["dot"])
        assert at(ann) == "/question/4"
        assert ann.get("/question/3").headers["location"] == "/question"
        assert ann.get("/question/2").headers["location"] == "/question", "skipped, and others have said enough"
        assert progress(ann, 4) == (2, 4), "what one has said counts, though it is settled"
        assert progress(ann, 1) == (2, 4)
        assert questions(ann) == [(1, "answered"), (4, "open"), (5, "open")]
        assert coming(ann, 1) == app.state.site.picture(f"{order[3]}.svg")
        assert say(ann, "/question/1", ticks=[0]) == "/question/4"
        for position in (4, 5):
            say(ann, f"/question/{position}", ticks=[0])
        assert "Thank you!" in ann.get("/end").text
        assert "no longer asked" in organiser(app).get("/organiser").text


def test_doubtful_questions_come_one_by_one_and_gone_ones_leave_no_gap(folder):
    with still_app(folder, f'order = "doubtful"\n{QUIZ}') as app:
        ann, store = joined(app, "ann"), app.state.site.store
        number = sheet_of(app, ann).voter.id
        store.ask(number, 1, "gone")
        assert at(ann) == "/question/1"
        assert at(ann) == "/question/1", "a question that was given stays until it is answered"
        first = name_at(ann, 1)
        assert sheet_of(app, ann).asked == ("gone", first)
        assert ann.get("/question/2").status_code == 404
        assert progress(ann, 1) == (0, 5)
        assert coming(ann, 1) == "", "what comes is not known yet"
        assert say(ann, "/question/1", "skip") == "/question/2"
        assert progress(ann, 2) == (1, 5)
        assert say(ann, "/question/2", ticks=[0]) == "/question/3"
        for position in (3, 4):
            assert say(ann, f"/question/{position}", "none") == f"/question/{position + 1}"
        assert say(ann, "/question/5", "none") == "/end"
        assert sorted(sheet_of(app, ann).asked[1:]) == list(NAMES)
        assert at(ann) == "/end"
        assert questions(ann) == [(1, "skipped"), *((position, "answered") for position in range(2, 6))]


def test_the_question_in_most_doubt_is_given(folder):
    with still_app(folder, f'order = "doubtful"\n{QUIZ}') as app:
        store = app.state.site.store
        for number in range(6):
            for name in NAMES:
                store.answer_as_program(
                    f"robot {number}", name, [["dot"], ["line"], ["ring"]][number % 3 if name == "c" else 0]
                )
        estimate_now(app)
        for name in ("ann", "bo", "cy"):
            client = joined(app, name)
            at(client)
            assert name_at(client, 1) == "c"


def test_whoever_takes_part_already_goes_on(app):
    ann = joined(app, "ann")
    csrf = token_in(ann.get("/leave"))
    again = ann.post("/join", data={"csrf": csrf, "nickname": "bo"})
    assert (again.status_code, again.headers["location"]) == (303, "/question")
    app.state.site.store.close_task()
    assert ann.post("/join", data={"csrf": csrf, "nickname": "bo"}).status_code == 303
    assert [each.name for each in app.state.site.store.participants()] == ["ann"]
    assert "You take part as ann." in ann.get("/").text
    assert "You take part as ann." in ann.get("/privacy").text
    assert "Nothing is kept about you at the moment." in visitor(app).get("/privacy").text
    assert "Delete my answers and leave" in ann.get("/privacy").text


def test_a_refused_name_is_shown_again_with_its_invitation(folder):
    with still_app(folder, f'join = "invitation"\n{QUIZ}') as app:
        app.state.site.store.join("Ann", "another visit")
        (token,) = invite(app.state.site.store, 1, days=1)
        client = visitor(app)
        csrf = token_in(client.get(f"/?invitation={token}"))
        for name, status in (("ann", 409), (" =x", 422)):
            page = client.post("/join", data={"csrf": csrf, "nickname": name, "invitation": token})
            assert page.status_code == status
            assert f'value="{token}"' in page.text
            assert f'name="nickname" value="{name}"' in page.text
            assert 'maxlength="40"' in page.text
            assert f"/language/fr?invitation={token}" in page.text
        sent = client.post("/join", data={"csrf": csrf, "nickname": "x" * 40, "invitation": token})
        assert sent.status_code == 303
        assert 'id="join"' not in visitor(app).get("/").text
        assert 'aria-invalid="true"' not in visitor(app).get("/?invitation=x").text


def test_the_first_page_says_what_it_is_about(app):
    page = visitor(app).get("/").text
    assert '<div class="prose"><p>Look.</p>\n<p>Tick.</p></div>' in page
    assert "<li>5 questions</li>" in page
    assert 'name="nickname" value=""' in page


def test_without_a_ranking_no_place_is_shown(app):
    ann = joined(app, "ann")
    hand_in(ann)
    page = ann.get("/end").text
    assert "Your place" not in page
    assert "There is nothing to compare with yet." in page
    assert "You have handed in." in page


def test_choosing_a_language_leads_back(app):
    for before, after in {
        "/question/123456": "/question/123456",
        "/question/1234567": "/",
        "/end": "/end",
        "/privacy?x=1#y": "/privacy",
        "/": "/",
        "/organiser": "/",
        "/question/": "/",
        "/end/x": "/",
    }.items():
        sent = visitor(app).get("/language/fr", headers={"referer": f"http://testserver{before}"})
        assert sent.headers["location"] == after
        elsewhere = visitor(app).get("/language/fr", headers={"referer": f"http://other{before}"})
        assert elsewhere.headers["location"] == "/"
