"""The app in process: a task, a store and a client, without a server."""

import re
import time
from contextlib import contextmanager

from starlette.testclient import TestClient

from epivote.web.app import collect_app
from epivote.web.site import Settings
from epivote.web.store import Store, open_database
from epivote.web.task import read_task
from examples.crowd.pages import parse
from small_quiz import QUIZ, write_quiz


@contextmanager
def store_of(folder):
    store = Store(open_database(f"sqlite:///{folder / 'quiz.db'}"))
    yield store
    store.database.close()


@contextmanager
def app_of(folder, text=QUIZ, settings=None):
    """The app of a quiz, estimating."""
    task = read_task(write_quiz(folder, text))
    with store_of(folder) as store:
        app = collect_app(task, store, settings or Settings(estimate_every=0.05))
        with TestClient(app):
            yield app


def visitor(app, **headers):
    return TestClient(app, headers=headers, follow_redirects=False)


def cookie_of(app, client, kind="epivote"):
    """What the browser keeps of a cookie of this task."""
    return client.cookies[app.state.site.cookie(kind)]


def voter_of(app, client):
    """The participant that a visitor's cookie names."""
    site = app.state.site
    return site.store.sheet(site.signer.unseal("epivote", cookie_of(app, client))).voter


def who_of(app, client):
    """What stands for a participant in forms, also where no page shows one."""
    return app.state.site.signer.token("participant", voter_of(app, client).token)[:32]


def hand_in(client):
    """Press "Hand in" on the last page."""
    return client.post("/finish", data=fields_of(client.get("/end"), "/finish"))


def fields_of(page, action):
    """What the form of a page that is sent to an address holds."""
    return parse("", page.text).form(action).fields


def token_in(page):
    return re.search(r'name="csrf" value="([^"]+)"', page.text)[1]


def joined(app, name, **fields):
    """A visitor who takes part."""
    client = visitor(app)
    sent = client.post("/join", data={"csrf": token_in(client.get("/")), "nickname": name, **fields})
    assert (sent.status_code, sent.headers["location"]) == (303, "/question"), sent.text
    return client


def filled_in(page, action="answer", ticks=()):
    """What a browser sends for a question: the form as it is, and boxes ticked, by their places or values."""
    form = next(form for form in parse("", page.text).forms if form.name == "question")
    told = [each if isinstance(each, str) else form.values([each])[0] for each in ticks]
    return {**form.fields, "action": action, "tick": told}


def at(client):
    """The address of the next question."""
    return client.get("/question").headers["location"]


def say(client, address, action="answer", ticks=()):
    """Answer a question; where one is sent afterwards."""
    page = client.get(address)
    assert page.status_code == 200, page.headers
    sent = client.post(address, data=filled_in(page, action, ticks))
    assert sent.status_code == 303, sent.text
    return sent.headers["location"]


def shown(page):
    """The text of the question on a page, to tell which one it is."""
    return re.search(r'<div class="prose"><p>([^<]*)</p></div>', page.text)[1]


def organiser(app):
    client = visitor(app)
    secret = app.state.site.secrets.organiser
    assert client.get(f"/organiser?secret={secret}").status_code == 303
    return client


def until(condition, seconds=150.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
    return found
