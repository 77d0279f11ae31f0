"""One participant of a quiz, asked of the views themselves, without a client: quick enough for many small cases."""

from dataclasses import replace
from types import SimpleNamespace

from starlette.datastructures import FormData
from starlette.requests import Request

from epivote.web.estimation.runner import Estimation
from epivote.web.site import Site
from epivote.web.task import read_task
from epivote.web.views import question
from epivote.web.views.question_form import seal
from epivote.web.views.visit import PARTICIPANT, Visit
from one_moment import NO_LIMITS
from small_quiz import write_quiz

QUIZ = """
title = "Shapes"
size = "1..2"
[[alternatives]]
name = "dot"
[[alternatives]]
name = "line"
[[alternatives]]
name = "ring"
[[instances]]
name = "a"
text = "Question a"
picture = "dot.svg"
[[instances]]
name = "b"
text = "Question b"
alternatives = ["ring", "dot"]
[[instances]]
name = "c"
text = "Question c"
"""


def emptied(store):
    """A store without anybody."""
    store.open_task()
    for each in store.participants():
        found = store.join(each.name, "") if each.is_person else store.program(each.name)
        store.forget(found.id)
    return store


class Quiz:
    """The quiz for one participant."""

    def __init__(self, store, folder, text=QUIZ, **settings):
        task = replace(read_task(write_quiz(folder, text)), **settings)
        self.site, self.store = Site(task, store, store.secrets(), Estimation(store, task), NO_LIMITS), store
        self.app = SimpleNamespace(state=SimpleNamespace(site=self.site))
        self.ann = store.join("ann", "")

    def visit(self, position=1, accept="text/html", **fields):
        """A request of the participant, with the fields of a form."""
        sealed = self.site.signer.seal(PARTICIPANT, self.ann.token)
        headers = [
            (b"cookie", f"{self.site.cookie(PARTICIPANT)}={sealed}".encode()),
            (b"accept", accept.encode()),
            (b"host", b"testserver"),
        ]
        scope = {"type": "http", "method": "GET", "path": f"/question/{position}", "query_string": b"", "app": self.app}
        scope |= {"headers": headers, "scheme": "http", "path_params": {"position": str(position)}}
        given = [(name, each) for name, value in fields.items() for each in (value if type(value) is list else [value])]
        return Visit(Request(scope), FormData(given))

    def place(self, name):
        """The position of a question."""
        return question._place(self.visit(), self.site.task.by_name[name])

    def say(self, name, action="answer", ticks=(), **fields):
        """Answer a question as its page would."""
        instance = self.site.task.by_name[name]
        keys = [each.key for each in self.site.task.alternatives if each.name in ticks]
        given = {"shown": seal(self.visit(), instance), "action": action, "tick": keys} | fields
        return question.answer(self.visit(self.place(name), **given))

    @property
    def sheet(self):
        return self.store.sheet(self.ann.token)
