"""The alternatives of a question as a participant sees them: in an order of their own if the task wishes so."""

import re

import pytest

from in_process import at, joined, say
from one_moment import still_app
from small_quiz import QUIZ

TEXT = "shuffle_alternatives = true\n" + QUIZ.replace('size = "1..2"', 'size = "1.."').replace(
    "[[instances]]",
    "".join(f'[[alternatives]]\nname = "animal {number}"\n' for number in range(5)) + "[[instances]]",
    1,
)


def names(page):
    return re.findall(r'<span class="name"><bdi>([^<]*)</bdi>', page.text)


def orders(app, count=6):
    """The alternatives on every question of several people."""
    people = [joined(app, f"p{number}") for number in range(count)]
    return [[tuple(names(each.get(f"/question/{n}"))) for n in range(1, 5)] for each in people], people


def test_everybody_has_an_order_of_alternatives_of_their_own_which_stays(tmp_path):
    with still_app(tmp_path, TEXT) as app:
        seen, people = orders(app)
        assert all(len(set(each)) == 1 for each in seen), "the same on all questions"
        assert len({each[0] for each in seen}) > 3
        assert all(sorted(each[0]) == sorted(seen[0][0]) for each in seen)
        say(people[0], at(people[0]), "none")
        assert tuple(names(people[0].get("/question/1"))) == seen[0][0]


def test_without_the_wish_the_order_is_that_of_the_task(tmp_path):
    with still_app(tmp_path, TEXT.replace("= true", "= false", 1)) as app:
        menu = tuple(each.name for each in app.state.site.task.alternatives)
        assert {order for each in orders(app, 3)[0] for order in each} == {menu}


@pytest.mark.parametrize("place", [0, 4, 7])
def test_a_tick_belongs_to_the_name_beside_it(tmp_path, place):
    with still_app(tmp_path, TEXT) as app:
        ann = joined(app, "ann")
        page = ann.get("/question/1")
        value = re.findall(r'name="tick" value="([^"]+)"', page.text)[place]
        say(ann, "/question/1", ticks=[value])
        (ballot,) = app.state.site.store.snapshot()[1]
        assert ballot.ticks == (names(page)[place],)


def test_a_video_is_played_in_parts(tmp_path):
    (tmp_path / "owl.mp4").write_bytes(b"0123456789")
    with still_app(tmp_path, QUIZ.replace('name = "barn"', 'name = "barn"\nvideo = "owl.mp4"')) as app:
        ann = joined(app, "ann")
        address = app.state.site.picture("owl.mp4")
        pages = [ann.get(f"/question/{n}").text for n in range(1, 5)]
        assert sum(f'<video controls preload="metadata" playsinline src="{address}"' in page for page in pages) == 1
        part = ann.get(address, headers={"range": "bytes=2-4"})
        assert (part.status_code, part.headers["content-type"], part.content) == (206, "video/mp4", b"234")
