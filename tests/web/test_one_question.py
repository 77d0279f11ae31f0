"""The page of one question and what is said on it, asked of the views themselves: quickly, and one case at a time."""

import re
from contextlib import contextmanager

import pytest
from one_participant import QUIZ
from starlette.datastructures import FormData

from epivote.web.languages import language
from epivote.web.store import NotOpenError, Store, TroubleError
from epivote.web.views import question
from epivote.web.views.errors import PageError
from epivote.web.views.question_form import read_form, seal
from epivote.web.views.visit import NotJoinedError


@contextmanager
def refused(kind, *said):
    with pytest.raises(kind) as told:
        yield
    assert (told.value.args[0] if kind is NotOpenError else (told.value.status, told.value.key)) in said


def text_of(response):
    return response.body.decode()


def ticked(response):
    return re.findall(r'name="tick" value="\w+"( checked)?.*?<bdi>([^<]*)</bdi>', text_of(response), re.DOTALL)


def test_answers_are_kept_in_the_order_of_the_menu_and_lead_on(quiz):
    ann = quiz()
    order = sorted("abc", key=ann.place)
    first = ann.say(order[0], ticks=["ring", "dot"])
    assert (first.status_code, first.headers["location"]) == (303, "/question/2")
    assert ann.sheet.ballots == {order[0]: ("dot", "ring")}
    ann.say(order[1], "none", ticks=["dot"])
    assert ann.sheet.ballots[order[1]] == ()
    assert ann.say(order[1], "skip", ticks=["dot"]).headers["location"] == "/question/3"
    assert (ann.sheet.ballots, ann.sheet.skips) == ({order[0]: ("dot", "ring")}, {order[1]})
    assert ann.say(order[1], ticks=["dot"]).headers["location"] == "/question/3"
    assert (ann.sheet.ballots[order[1]], ann.sheet.skips) == (("dot",), set())
    assert ann.say(order[2], "skip").headers["location"] == "/end"
    script = ann.visit(ann.place(order[2]), "application/json", shown=seal(ann.visit(), ann.site.task.by_name["c"]))
    script.form = FormData([*script.form.multi_items(), ("action", "none")])
    assert question.answer(script).body == b'{"next":"/end"}'


@pytest.mark.parametrize("action", ["", "Answer", "other"])
def test_an_unknown_wish_is_refused_and_nothing_kept(quiz, action):
    ann = quiz()
    with refused(PageError, (422, "error.422")):
        ann.say("a", action, ticks=["dot"])
    assert ann.sheet.ballots == {}


def test_what_is_not_offered_cannot_be_ticked(quiz):
    ann = quiz()
    for action in ("answer", "none", "skip"):
        for name, tick in (("b", "line"), ("a", "gone")):
            key = next((each.key for each in ann.site.task.alternatives if each.name == tick), tick)
            with refused(PageError, (422, "error.422")):
                ann.say(name, action, tick=[key])
    assert (ann.sheet.ballots, ann.sheet.skips) == ({}, set())


def test_an_answer_without_a_tick_shows_the_question_again(quiz):
    ann = quiz()
    ann.say("a", ticks=["line"])
    told = ann.say("a")
    assert told.status_code == 422
    said = language("en")("question.nothing-ticked").replace("'", "&#39;")
    assert f'class="wrong nothing" id="wrong" role="alert">{said}</p>' in text_of(told)
    assert ticked(told) == [("", "dot"), (" checked", "line"), ("", "ring")], "what was kept before"
    usual = text_of(question.show(ann.visit(ann.place("a"))))
    assert 'class="wrong" id="wrong" role="alert" hidden></p>' in usual
    assert ann.sheet.ballots == {"a": ("line",)}


def test_trouble_keeps_the_ticks_on_the_page_and_is_known_from_then_on(quiz, monkeypatch):
    ann = quiz()
    trouble = TroubleError("full", "quiz.db")

    def fail(*_given, **_named):
        raise trouble

    monkeypatch.setattr(Store, "answer", fail)
    told = ann.say("a", ticks=["ring"])
    assert told.status_code == 503
    assert ticked(told) == [("", "dot"), ("", "line"), (" checked", "ring")]
    assert 'class="wrong nothing"' in text_of(told)
    assert ann.site.health.trouble is trouble


def test_nothing_is_taken_once_it_is_closed_or_handed_in(quiz):
    ann = quiz()
    ann.store.close_task()
    for action in ("answer", "none", "skip", "other"):
        with refused(NotOpenError, "closed"):
            ann.say("a", action, ticks=["dot"])
    assert question.show(ann.visit()).headers["location"] == "/end"
    assert question.go_on(ann.visit()).headers["location"] == "/end"
    ann.store.open_task()
    assert question.go_on(ann.visit()).headers["location"] == "/question/1"
    ann.store.finish(ann.ann.id)
    for action in ("answer", "none", "skip", "other"):
        with refused(NotOpenError, "finished"):
            ann.say("a", action, ticks=["dot"])
    assert question.show(ann.visit()).headers["location"] == "/end"
    ann.store.forget(ann.ann.id)
    with pytest.raises(NotJoinedError):
        question.show(ann.visit())


def form_of(ann, name, *, who=None, mark=None):
    """What stands in the form of a question, with parts of it replaced."""
    sealed = seal(ann.visit(), ann.site.task.by_name[name]).split(".")
    return ".".join([sealed[0], who or sealed[1], mark or sealed[2]])


def test_a_form_says_which_question_it_shows_to_whom_and_in_which_version(quiz):
    ann, bo = quiz(), quiz()
    bo.ann = bo.store.join("bo", "")
    whole = form_of(ann, "a")
    assert [len(part) for part in whole.split(".")] == [32, 32, 32]
    parts = {(each, name): form_of(each, name).split(".") for each in (ann, bo) for name in "abc"}
    assert len({part[0] for part in parts.values()}) == 3
    assert len({part[1] for part in parts.values()}) == 2
    assert len({part[2] for part in parts.values()}) == 6
    found = {
        whole: ("a", ""),
        form_of(ann, "a", mark="x"): ("a", "changed"),
        form_of(ann, "a", mark=form_of(ann, "b").split(".")[2]): ("a", "changed"),
        form_of(ann, "a", who="x"): ("a", "other"),
        form_of(bo, "b"): ("b", "other"),
        f"x{whole}": (None, "gone"),
        "": (None, "gone"),
        whole.rpartition(".")[0]: ("a", "changed"),
        whole.partition(".")[0]: ("a", "other"),
    }
    for sent, (name, problem) in found.items():
        told = read_form(ann.visit(shown=sent))
        assert (told.instance and told.instance.name, told.problem) == (name, problem)


def test_a_form_that_cannot_be_believed_keeps_nothing_but_its_ticks(quiz):
    ann = quiz()
    for sent, said in (
        (form_of(ann, "b", mark="x"), "has changed"),
        (form_of(ann, "b", who="x"), "another participant"),
    ):
        told = ann.say("b", ticks=["line", "ring"], shown=sent)
        assert told.status_code == 409
        assert re.search(f'id="notice" role="alert">[^<]*{said}', text_of(told))
        assert ticked(told) == [("", "dot"), (" checked", "ring")]
    with refused(PageError, (409, "stale.gone")):
        ann.say("b", ticks=["dot"], shown="x")
    assert ann.sheet.ballots == {}


def test_an_old_form_of_a_question_with_enough_ballots(quiz):
    ann = quiz(most_ballots=1)
    old = form_of(ann, "a", mark="x")
    ann.store.answer_as_program("robot", "a", ["dot"])
    with refused(NotOpenError, "enough"):
        ann.say("a", ticks=["dot"], shown=old)
    assert question.show(ann.visit(ann.place("a"))).headers["location"] == "/question"
    ann.store.forget(ann.store.program("robot").id)
    ann.say("a", ticks=["dot"])
    assert ann.say("a", ticks=["line"], shown=old).status_code == 409, "one's own ballot may be changed"
    assert question.show(ann.visit(ann.place("a"))).status_code == 200


def test_a_question_on_another_screen_is_kept_for_whoever_looks_at_it(quiz):
    ann = quiz(most_ballots=1)
    bo = ann.store.join("bo", "")
    assert ann.store.reserve(bo.id, "a", 1)
    with refused(NotOpenError, "enough"):
        ann.say("a", ticks=["dot"], shown=form_of(ann, "a", mark="x"))
    assert question.show(ann.visit(ann.place("a"))).headers["location"] == "/question"
    assert question.show(ann.visit(ann.place("b"))).status_code == 200
    assert not ann.store.reserve(bo.id, "b", 1), "it is on our screen now"


def test_gold_questions_are_asked_of_everybody(quiz):
    ann = quiz(QUIZ.replace('name = "a"\n', 'name = "a"\ngold = ["dot"]\n'), most_ballots=1)
    for name in "ab":
        ann.store.answer_as_program("robot", name, ["dot"])
    assert question.show(ann.visit(ann.place("a"))).status_code == 200
    assert question.show(ann.visit(ann.place("b"))).status_code == 303
    assert ann.say("a", ticks=["line"]).status_code == 303


def test_a_question_that_was_not_given_to_somebody_is_gone_for_them(quiz):
    ann = quiz(order="doubtful")
    assert question.go_on(ann.visit()).headers["location"] == "/question/1"
    (given,) = ann.sheet.asked
    other = next(name for name in "abc" if name != given)
    assert (ann.place(given), ann.place(other)) == (1, 0)
    with refused(PageError, (409, "stale.gone")):
        ann.say(other, ticks=["dot"], shown=form_of(ann, other, mark="x"))
    for position in (0, 2):
        with refused(PageError, (404, "error.404")):
            question.show(ann.visit(position))
    assert ann.say(given, ticks=["dot"]).headers["location"] == "/question/2"
    assert len(ann.sheet.asked) == 2
