"""What a form of a question says about itself: which question it shows, in which version, and to whom.

Nothing in it can be read or made elsewhere, so names of instances stay hidden and an old page is always noticed.
"""

from __future__ import annotations

from typing import NamedTuple

from epivote.web.security.signing import same_secret
from epivote.web.task import Instance
from epivote.web.views.visit import Visit


class QuestionForm(NamedTuple):
    """The instance that a form shows, if the task still has it, and why the form cannot be believed, if so."""

    instance: Instance | None
    problem: str


def seal(visit: Visit, instance: Instance) -> str:
    """What the form of a question carries for the participant of this visit."""
    question = visit.site.signer.token("question", instance.name)[:32]
    return f"{question}.{visit.who}.{_mark(visit, question, visit.who, instance)}"


def read_form(visit: Visit) -> QuestionForm:
    """The form that was sent; its problem is empty if the participant saw just what would be shown now."""
    question, _, rest = visit.text("shown").partition(".")
    who, _, mark = rest.partition(".")
    instance = visit.site.questions.get(question)
    if instance is None:
        return QuestionForm(None, "gone")
    if not same_secret(who, visit.who):
        return QuestionForm(instance, "other")
    return QuestionForm(instance, "" if same_secret(mark, _mark(visit, question, who, instance)) else "changed")


def _mark(visit: Visit, question: str, who: str, instance: Instance) -> str:
    return visit.site.signer.token("shown", f"{question}\n{who}\n{instance.version}")[:32]
