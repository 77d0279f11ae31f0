"""A form answers what it showed, to whom it was shown; anything else is refused with the ticks kept, and stores nothing."""

import re

import pytest

from in_process import at, fields_of, filled_in, hand_in, joined, say, shown, token_in, visitor
from one_moment import still_app
from small_quiz import QUIZ

SHOWN = QUIZ.replace('name = "yard"\n', 'name = "yard"\ntext = "What is in the yard?"\n')
CAT_LAST = SHOWN.replace('[[alternatives]]\nname = "cat"\n', "").replace(
    "\n[[instances]]", '\n[[alternatives]]\nname = "cat"\n[[instances]]', 1
)
BARN = 'name = "barn"\n'
CHANGES = {
    "an alternative more": SHOWN.replace("[[alternatives]]\n", '[[alternatives]]\nname = "fox"\n[[alternatives]]\n', 1),
    "an alternative less": SHOWN.replace('[[alternatives]]\nname = "dog"\nhelp = "It barks."\n', ""),
    "an alternative renamed": SHOWN.replace('name = "dog"', 'name = "hound"'),
    "an alternative explained otherwise": SHOWN.replace("It barks.", "It growls."),
    "another menu": SHOWN.replace(BARN, f'{BARN}alternatives = ["cat", "owl"]\n'),
    "another text": SHOWN.replace("in the barn?", "not in the barn?"),
    "another size": SHOWN.replace(BARN, f'{BARN}size = "1"\n'),
}


@pytest.fixture
def restart(tmp_path):
    """Serves the quiz anew, changed or not: `with restart(text) as app`."""
    return lambda text=SHOWN: still_app(tmp_path, text)


def again(app, before):
    """The same browser after the server was started anew."""
    client = visitor(app)
    client.cookies = before.cookies
    return client


def barn(client):
    """The page that asks about the barn, whose place differs from participant to participant."""
    pages = [client.get(f"/question/{position}") for position in range(1, 9)]
    return next(page for page in pages if page.status_code == 200 and shown(page) == "What is in the barn?")


def ticked_names(page):
    boxes = re.findall(r'name="tick" value="\w+"( checked)?.*?<bdi>([^<]*)</bdi>', page.text, re.DOTALL)
    return {name for checked, name in boxes if checked}


def ballots_of(app):
    return {(row.voter, row.instance): row.ticks for row in app.state.site.store.snapshot()[1]}


@pytest.mark.parametrize("change", CHANGES)
def test_a_question_that_changed_is_asked_again_with_the_ticks_that_still_fit(restart, change):
    with restart() as app:
        ann = joined(app, "ann")
        form = filled_in(barn(ann), ticks=[0, 1])
    with restart(CHANGES[change]) as app:
        ann = again(app, ann)
        sent = ann.post("/question/1", data=form)
        assert (sent.status_code, ballots_of(app)) == (409, {}), sent.text
        assert "This question has changed since you opened it, so nothing was kept." in sent.text
        assert shown(sent).endswith("in the barn?")
        offered = set(app.state.site.task.by_name["barn"].menu)
        assert ticked_names(sent) == {"cat", "dog"} & offered
        again_sent = ann.post("/question/1", data=filled_in(sent, ticks=[0]))
        assert again_sent.status_code == 303
        assert ballots_of(app) == {("ann", "barn"): (app.state.site.task.by_name["barn"].menu[0],)}


def test_what_was_shown_is_answered_wherever_it_stands_now(restart):
    """New instances move all others; alternatives in another order are the same alternatives."""
    with restart() as app:
        people = {f"person {number}": joined(app, f"person {number}") for number in range(4)}
        forms = {name: filled_in(barn(client), ticks=[0]) for name, client in people.items()}
        positions = {name: at_barn(client) for name, client in people.items()}
    more = CAT_LAST + "".join(f'[[instances]]\nname = "new {k}"\ntext = "New {k}?"\n' for k in range(4))
    with restart(more) as app:
        for name, client in people.items():
            sent = again(app, client).post(positions[name], data=forms[name])
            assert sent.status_code == 303, sent.text
        assert ballots_of(app) == {(name, "barn"): ("cat",) for name in people}


def at_barn(client):
    addresses = [f"/question/{position}" for position in range(1, 5)]
    return next(address for address in addresses if shown(client.get(address)) == "What is in the barn?")


def test_after_an_answer_the_next_question_is_the_one_after_what_was_shown(restart):
    with restart() as app:
        ann = joined(app, "ann")
        form = filled_in(ann.get("/question/2"), ticks=[0])
        assert ann.post("/question/4", data=form).headers["location"] == "/question/3"


def test_an_instance_that_is_gone_is_not_answered(restart):
    with restart() as app:
        ann = joined(app, "ann")
        form = filled_in(barn(ann), ticks=[0])
    with restart(SHOWN.replace('name = "barn"', 'name = "shed"')) as app:
        sent = again(app, ann).post("/question/1", data=form)
        assert (sent.status_code, ballots_of(app)) == (409, {})
        assert "is no longer asked" in sent.text


def test_deleting_ones_data_and_joining_anew_makes_old_pages_stale(restart):
    with restart() as app:
        ann = joined(app, "ann")
        page, end = barn(ann), ann.get("/end")
        leave(ann)
        token = token_in(ann.get("/"))
        assert ann.post("/join", data={"csrf": token, "nickname": "bea"}).status_code == 303
        sent = ann.post("/question/1", data=filled_in(page, ticks=[1, 2]))
        assert (sent.status_code, ballots_of(app)) == (409, {})
        assert "opened for another participant, so nothing was kept. You take part as bea now." in sent.text
        assert ticked_names(sent) == {"dog", "owl"}
        refused = ann.post("/finish", data=fields_of(end, "/finish"))
        assert (refused.status_code, "You take part as bea now." in refused.text) == (409, True)
        assert app.state.site.store.participants()[0].finished_at is None
        assert hand_in(ann).status_code == 303


def leave(client):
    assert client.post("/forget", data=fields_of(client.get("/forget"), "/forget")).status_code == 303


def test_a_question_that_was_never_asked_of_the_new_participant_is_not_answered(restart):
    with restart(f'order = "doubtful"\n{SHOWN}') as app:
        ann, bea = joined(app, "ann"), joined(app, "bea")
        own = ann.get(at(ann))
        form = filled_in(own, ticks=[0])
        while shown(bea.get(at(bea))) == shown(own):
            say(bea, at(bea), "skip")
        bea.post("/question/1", data={**form, "csrf": token_in(bea.get(at(bea)))})
        assert ballots_of(app) == {}


@pytest.mark.parametrize("part", [0, 1, 2])
def test_no_part_of_a_form_can_be_made_up(restart, part):
    with restart() as app:
        ann, bea = joined(app, "ann"), joined(app, "bea")
        form = filled_in(ann.get("/question/1"), ticks=[0])
        parts = form["shown"].split(".")
        others = [filled_in(bea.get(f"/question/{position}"))["shown"].split(".") for position in (1, 2)]
        foreign = next(each for each in others if each[0] != parts[0])
        for other in (foreign[part], "", "x", parts[part][:-1], "é", "0" * 32):
            forged = ".".join([*parts[:part], other, *parts[part + 1 :]])
            assert ann.post("/question/1", data={**form, "shown": forged}).status_code == 409, other
        for forged in ("", ".", "..", form["shown"] + ".", form["shown"][:-1]):
            assert ann.post("/question/1", data={**form, "shown": forged}).status_code == 409, forged
        assert ballots_of(app) == {}


def test_forms_tell_neither_the_name_of_an_instance_nor_its_gold(restart):
    with restart(SHOWN.replace(BARN, f'{BARN}gold = ["owl"]\n')) as app:
        with_gold = app.state.site.task.by_name["barn"].version
        page = barn(joined(app, "ann"))
        assert 'value="barn' not in page.text
    with restart() as app:
        assert app.state.site.task.by_name["barn"].version == with_gold


def test_alternatives_in_another_order_have_the_same_keys(restart):
    with restart() as first, restart(CAT_LAST) as second:
        keys = [{each.name: each.key for each in app.state.site.task.alternatives} for app in (first, second)]
        assert keys[0] == keys[1]
        assert list(keys[0]) != list(keys[1])
        assert first.state.site.task.by_name["barn"].version == second.state.site.task.by_name["barn"].version
