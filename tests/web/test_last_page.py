"""The last page of a long task: in parts, beginning where the next open question is."""

import re

import pytest

from epivote.web.questions import shuffled
from epivote.web.store.tables import SKIPS
from in_process import joined, voter_of
from one_moment import still_app
from small_quiz import QUIZ

MANY = 5_000
INSTANCES = "".join(f'[[instances]]\nname = "shot {number}"\ntext = "?"\n' for number in range(1, MANY + 1))


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    text = QUIZ[: QUIZ.index("[[instances]]")] + INSTANCES
    with still_app(tmp_path_factory.mktemp("quiz"), text) as made:
        yield made


def listed(page):
    return [int(number) for number in re.findall(r'href="/question/(\d+)"><span', page.text)]


def test_a_long_task_is_listed_in_parts(app):
    ann = joined(app, "ann")
    first = ann.get("/end")
    assert len(first.content) < 30_000
    assert listed(first) == list(range(1, 101))
    assert "Part 1 of 50" in first.text
    assert "Earlier questions" not in first.text
    middle = ann.get("/end?part=2")
    assert listed(middle) == list(range(101, 201))
    assert re.findall(r'href="(/end[^"]*)"', middle.text) == ["/end?part=1", "/end?part=3"]
    last = ann.get("/end?part=50")
    assert listed(last)[-1] == MANY
    assert "Further questions" not in last.text
    assert listed(ann.get("/end?part=999")) == listed(last)
    assert listed(ann.get("/end?part=0")) == listed(ann.get("/end?part=x")) == listed(first)


def test_it_begins_where_the_next_open_question_is(app):
    bo = joined(app, "bo")
    voter = voter_of(app, bo)
    skipped = [{"voter_id": voter.id, "instance": name} for name in shuffled(app.state.site.task, voter.token)[:150]]
    with app.state.site.store.database.writing() as connection:
        connection.execute(SKIPS.insert(), skipped)
    assert listed(bo.get("/end")) == list(range(101, 201))
    assert bo.get("/end").text.count("skipped") == 2 * 50
