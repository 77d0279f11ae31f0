"""What nobody may learn before the task opens or closes: names of files and instances, and gold sets."""

import re

import pytest

from in_process import at, fields_of, joined, organiser, say, visitor
from one_moment import Clock, estimate_now, program, still_app
from small_quiz import DOT, QUIZ

TELLING = "the-answer-is-owl.svg"


@pytest.fixture
def app(tmp_path):
    (tmp_path / TELLING).write_text(DOT)
    with still_app(tmp_path, QUIZ.replace("dot.svg", TELLING)) as made:
        yield made


def test_names_of_files_are_nowhere(app):
    ann = joined(app, "ann")
    pages = [ann.get(at(ann)), *(ann.get(f"/question/{position}") for position in range(1, 5)), ann.get("/end")]
    shown = {each for page in pages for each in re.findall(r'"(/picture/[^"]*)"', page.text)}
    assert len(shown) == 1
    pages += [ann.get(each) for each in shown] + [ann.get(f"/picture/{TELLING}")]
    assert [page.status_code for page in pages[-2:]] == [200, 404]
    for page in pages:
        assert "the-answer" not in page.text + str(page.headers), page.url


def test_large_pictures_do_not_tell_their_names_either(app, tmp_path):
    (tmp_path / TELLING).write_bytes(b"x" * (1 << 21))
    sent = visitor(app).get(app.state.site.picture(TELLING))
    assert sent.status_code == 200
    assert "the-answer" not in str(sent.headers)


def test_pictures_have_other_addresses_in_another_quiz(app, tmp_path):
    with still_app(tmp_path / "other") as other:
        assert app.state.site.picture("dot.svg") != other.state.site.picture("dot.svg")


def test_pictures_are_not_served_before_the_task_opens(tmp_path, monkeypatch):
    clock = Clock(monkeypatch, "2027-03-01T08:59:59+00:00")
    with still_app(tmp_path, f"opens = 2027-03-01T09:00:00Z\n{QUIZ}") as app:
        address = app.state.site.picture("dot.svg")
        boss = organiser(app)
        assert visitor(app).get(address).status_code == 404
        assert boss.get(address).status_code == 200, "the organiser looks at them beforehand"
        clock.at("2027-03-01T09:00:00+00:00")
        assert visitor(app).get(address).status_code == 200


GOLD = QUIZ.replace('name = "barn"', 'name = "barn"\ngold = ["dog", "owl"]')


@pytest.fixture
def gold(tmp_path):
    """A task with gold, and ballots of three people who all answered otherwise."""
    with still_app(tmp_path, f"most_ballots = 3\nconfidence = 0.6\n{GOLD}") as made:
        for name in ("ann", "bo", "cy"):
            person = joined(made, name)
            while at(person) != "/end":
                say(person, at(person), ticks=[0])
        estimate_now(made)
        yield made


def test_no_program_learns_a_set_before_the_task_is_closed(gold):
    robot = program(gold)
    refused = robot.get("/api/v1/estimate")
    assert refused.status_code == 409
    assert refused.json()["error"].startswith("sets are available once the task is closed")
    boss = organiser(gold)
    assert {row["name"]: row["answer"] for row in boss.get("/organiser/live").json()["sets"]}["barn"] == ["dog", "owl"]
    boss.post("/organiser/close", data=fields_of(boss.get("/organiser/close"), "/organiser/close"))
    estimate_now(gold)
    told = {each["instance"]: each for each in robot.get("/api/v1/estimate").json()["sets"]}
    assert (told["barn"]["alternatives"], told["barn"]["confidence"]) == (["dog", "owl"], 1.0)
    boss.post("/organiser/open", data=fields_of(boss.get("/organiser"), "/organiser/open"))
    assert robot.get("/api/v1/estimate").status_code == 409, "opened again, it is secret again"


def test_no_program_learns_which_instances_are_gold(gold):
    told = program(gold).get("/api/v1/instances").json()
    assert {each["wanted"] for each in told} == {False}, "gold is asked of everybody, but programs see no difference"
    assert len({tuple(each) for each in told}) == 1
    assert "gold" not in program(gold).get("/api/v1/instances").text


def test_before_closing_people_see_what_the_crowd_says_not_gold(gold):
    late = joined(gold, "late")
    for page in (late.get("/"), late.get("/end"), late.get(at(late)), visitor(gold).get("/api/v1/openapi.json")):
        assert "gold" not in page.text


@pytest.mark.parametrize("way", ["nickname", "invitation"])
def test_the_description_names_nothing_of_the_task_to_strangers(tmp_path, way):
    with still_app(tmp_path, f'join = "{way}"\n{QUIZ}') as app:
        told = visitor(app).get("/api/v1/openapi.json").text
        for name in ("yard", "barn", "roof", "street", "cat", "dog", "Which animals"):
            assert f'"{name}' not in told, name
        assert '"yard"' in program(app).get("/api/v1/openapi.json").text
        refused = visitor(app, authorization="Bearer x").get("/api/v1/openapi.json")
        assert (refused.status_code, "yard" in refused.text) == (401, False)
