"""What nobody may learn before the task opens or closes: names of files and instances, and gold sets."""

import re

import pytest

from in_process import at, joined, organiser, visitor
from one_moment import Clock, still_app
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
