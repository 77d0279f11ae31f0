"""What the page of one question shows around its boxes: sizes in words, tiles, progress, pictures."""

import re
from dataclasses import replace

import pytest
from one_participant import QUIZ

from epivote import SizeBounds
from epivote.web.languages import language
from epivote.web.task import Alternative, Instance
from epivote.web.views import question

DATA_NEXT = 'data-next="([^"]*)"'
ENGLISH = {
    (0, 0): "Exactly 0 of these are right.",
    (1, 1): "Exactly one of these is right.",
    (2, 2): "Exactly 2 of these are right.",
    (3, 3): "Exactly 3 of these are right.",
    (0, 1): "At most one of these is right.",
    (0, 2): "At most 2 of these are right.",
    (0, 3): "",
    (0, 4): "",
    (0, None): "",
    (1, 2): "Between 1 and 2 of these are right.",
    (1, 3): "At least one of these is right.",
    (1, 4): "At least one of these is right.",
    (1, None): "At least one of these is right.",
    (2, 3): "At least 2 of these are right.",
    (2, None): "At least 2 of these are right.",
}


@pytest.mark.parametrize("bounds", ENGLISH)
def test_every_size_of_three_alternatives_in_words(bounds):
    instance = Instance("a", tuple(map(Alternative, "xyz")), SizeBounds(*bounds))
    assert question._size_in_words(language("en"), instance) == ENGLISH[bounds]


def page(ann, name="a", **settings):
    return question.show(ann.visit(ann.place(name), **settings)).body.decode()


def test_the_size_is_shown_unless_the_task_hides_it(quiz):
    assert '<p class="muted" id="size">Between 1 and 2 of these are right.\n' in page(quiz())
    assert '<p class="muted" id="size">\n' in page(quiz(show_size=False))


@pytest.mark.parametrize(
    ("alternatives", "is_tiled"),
    [
        (["picture", "picture", "picture"], True),
        (["picture", "picture", ""], False),
        (["", "", ""], False),
        (["picture", "picture help", "picture"], False),
        (["picture help", "picture help", "picture help"], False),
        (["help", "picture", "picture"], False),
    ],
)
def test_alternatives_that_are_pictures_are_shown_as_tiles(quiz, alternatives, is_tiled):
    text = QUIZ
    for name, shown in zip(("dot", "line", "ring"), alternatives, strict=True):
        lines = ['picture = "dot.svg"\n'] * ("picture" in shown) + ['help = "It is so."\n'] * ("help" in shown)
        text = text.replace(f'name = "{name}"\n', f'name = "{name}"\n{"".join(lines)}')
    assert ('<div class="boxes tiled">' in page(quiz(text), "c")) == is_tiled


def test_pictures_keep_their_place_free(quiz):
    ann = quiz()
    assert re.search('<img src="[^"]*" alt="[^"]*" width="90" height="60" decoding', page(ann, "a"))
    assert "<img" not in page(ann, "c")
    assert 'class="split"' in page(ann, "a")
    assert 'class="split"' not in page(ann, "c")
    ann = quiz(order="doubtful")
    for position, name in enumerate("cab", 1):
        ann.store.ask(ann.ann.id, position, name)
    coming = {name: re.search(DATA_NEXT, page(ann, name))[1] for name in "abc"}
    assert coming == {"c": ann.site.picture("dot.svg"), "a": "", "b": ""}, "only a has a picture, and comes after c"
    ann.say("a", "skip")
    assert re.search(DATA_NEXT, page(ann, "c"))[1] == ""


def test_progress_counts_what_was_said_and_what_is_still_asked(quiz):
    ann = quiz(most_ballots=1)

    def progress(name="c"):
        found = re.search(
            '<span class="at">([^<]*)</span></div>\\s*<progress value="(\\d+)" max="(\\d+)" aria-label="([^"]*)"',
            page(ann, name),
        )
        assert found[1] == found[4]
        return found[1], int(found[2]), int(found[3])

    assert progress() == ("0 of 3 questions done", 0, 3)
    ann.say("a", "skip")
    assert progress() == ("1 of 3 questions done", 1, 3)
    ann.store.answer_as_program("robot", "a", ["dot"])
    assert progress() == ("1 of 3 questions done", 1, 3), "what was skipped counts, though others have answered it"
    ann.store.answer_as_program("robot", "b", ["dot"])
    assert progress() == ("1 of 2 questions done", 1, 2)
    ann.say("c", "none")
    assert progress() == ("2 of 2 questions done", 2, 2)


def test_with_the_most_doubtful_first_all_questions_count(quiz):
    ann = quiz(order="doubtful")
    question.go_on(ann.visit())
    (given,) = ann.sheet.asked
    assert "0 of 3 questions done" in page(ann, given)
    ann.say(given, "none")
    assert "1 of 3 questions done" in page(ann, given)


def test_notes_on_what_was_said_before(quiz):
    ann, say = quiz(), language("en")
    note = '<p class="note">{}</p>'
    answered, none = note.format(say("question.answered")), note.format(say("question.said-none"))
    assert '<p class="note"' not in page(ann)
    ann.say("a", ticks=["dot"])
    assert answered in page(ann)
    assert none not in page(ann)
    ann.say("a", "none")
    assert none in page(ann)
    assert answered not in page(ann)
    ann.say("a", "skip")
    assert '<p class="note"' not in page(ann)


def test_boxes_come_in_the_order_of_the_task_or_in_one_of_ones_own(quiz):
    def names(ann):
        return re.findall("<bdi>([^<]*)</bdi>", page(ann, "c").partition('class="boxes')[2])

    assert names(quiz()) == ["dot", "line", "ring"]
    seen = set()
    ann = quiz(shuffle_alternatives=True)
    for number in range(12):
        ann.ann = replace(ann.store.join(f"p{number}", ""))
        seen.add(tuple(names(ann)))
        assert tuple(names(ann)) in seen
    assert len(seen) > 2
