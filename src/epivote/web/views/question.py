"""One question at a time."""

from __future__ import annotations

import re
from dataclasses import replace

from starlette.responses import Response

from epivote.web.languages import Language
from epivote.web.questions import most_doubtful, next_open, own_order, presented
from epivote.web.store import NotOpenError, TroubleError
from epivote.web.store.store import Sheet
from epivote.web.task import Instance
from epivote.web.views.errors import PageError
from epivote.web.views.measure import picture_size
from epivote.web.views.question_form import QuestionForm, read_form, seal
from epivote.web.views.visit import Visit, go_to, see


def go_on(visit: Visit) -> Response:
    """To the next open question, or to the end."""
    return see(_next(visit, visit.sheet) if visit.may_answer else "/end")


def show(visit: Visit) -> Response:
    """One question."""
    if not visit.may_answer:
        return see("/end")
    instance = _instance(visit)
    if instance.name not in visit.sheet.ballots and not _is_free(visit, instance):
        return see("/question")
    return _page(visit, instance)


def answer(visit: Visit) -> Response:
    """Keep, or withdraw, what was said about a question."""
    visit.limit("answering", visit.sheet.voter.token, visit.site.settings.limits.answering)
    if visit.gate != "open":
        raise NotOpenError("closed")
    if visit.sheet.voter.finished_at is not None:
        raise NotOpenError("finished")
    form = read_form(visit)
    if form.problem or form.instance is None:
        return _stale_page(visit, form)
    instance, action = form.instance, visit.text("action")
    ticks = _ticks(visit, instance)
    if action == "answer" and not ticks:
        return _page(visit, instance, status=422, wrong=visit.language("question.nothing-ticked"))
    if action not in ("answer", "none", "skip"):
        raise PageError(422, "error.422")
    try:
        said = _stored(visit, instance, action, ticks)
    except TroubleError as trouble:
        visit.site.health.note(trouble)
        return _page(visit, instance, status=503, wrong=visit.language("question.trouble"), ticked=ticks)
    return go_to(visit, _next(visit, said, after=_place(visit, instance)))


def _stored(visit: Visit, instance: Instance, action: str, ticks: tuple[str, ...]) -> Sheet:
    """Everything that the participant has said, once this is stored as well."""
    sheet, store = visit.sheet, visit.site.store
    if action == "skip":
        store.skip(sheet.voter.id, instance.name)
        without = {name: ticked for name, ticked in sheet.ballots.items() if name != instance.name}
        return replace(sheet, ballots=without, skips=sheet.skips | {instance.name})
    kept = ticks if action == "answer" else ()
    store.answer(sheet.voter.id, instance.name, kept, visit.site.most_ballots(instance))
    return replace(sheet, ballots={**sheet.ballots, instance.name: kept}, skips=sheet.skips - {instance.name})


def _is_free(visit: Visit, instance: Instance) -> bool:
    """Whether an unanswered question may be shown; a slot for its ballot is then kept for some time."""
    if instance.name in visit.settled:
        return False
    most = visit.site.most_ballots(instance)
    return most is None or visit.site.store.reserve(visit.sheet.voter.id, instance.name, most)


def _instance(visit: Visit) -> Instance:
    """The question at the position that was asked for."""
    order = own_order(visit.site.task, visit.sheet)
    if not 1 <= _position(visit) <= len(order):
        raise PageError(404, "error.404")
    return visit.site.task.by_name[order[_position(visit) - 1]]


def _position(visit: Visit) -> int:
    """The number in the address; 0 for what is none."""
    text: str = visit.request.path_params["position"]
    return int(text) if re.fullmatch("[1-9][0-9]{0,5}", text) else 0


def _place(visit: Visit, instance: Instance) -> int:
    """Where an instance stands in the own order, from 1; 0 where it is not asked of this participant."""
    order = own_order(visit.site.task, visit.sheet)
    return order.index(instance.name) + 1 if instance.name in order else 0


def _ticks(visit: Visit, instance: Instance) -> tuple[str, ...]:
    """The names of the ticked alternatives."""
    if not {*visit.form.getlist("tick")} <= {each.key for each in instance.offered}:
        raise PageError(422, "error.422")
    return _known_ticks(visit, instance)


def _known_ticks(visit: Visit, instance: Instance) -> tuple[str, ...]:
    """The names of those ticked alternatives that are offered."""
    given = {*visit.form.getlist("tick")}
    return tuple(each.name for each in instance.offered if each.key in given)


def _stale_page(visit: Visit, form: QuestionForm) -> Response:
    """Nothing was kept: the question as it is now, with the ticks that still fit; the first page if it is gone."""
    instance = form.instance
    if instance is None or not _place(visit, instance):
        raise PageError(409, "stale.gone")
    if instance.name not in visit.sheet.ballots and not _is_free(visit, instance):
        raise NotOpenError("enough")
    notice = visit.language(f"stale.{form.problem}", name=visit.sheet.voter.name)
    return _page(visit, instance, status=409, notice=notice, ticked=_known_ticks(visit, instance))


def _next(visit: Visit, sheet: Sheet, after: int = 0) -> str:
    """Where the next open question is; with the most doubtful first, it is chosen now."""
    site = visit.site
    closed = visit.settled
    order = own_order(site.task, sheet)
    position = next_open(order, sheet, closed, after)
    if position is None and site.task.order == "doubtful":
        chosen = most_doubtful(site.task, sheet, site.estimation.live, closed)
        if chosen is not None:
            site.store.ask(sheet.voter.id, len(sheet.asked) + 1, chosen)
            position = len(order) + 1
    return "/end" if position is None else f"/question/{position}"


def _page(
    visit: Visit,
    instance: Instance,
    *,
    status: int = 200,
    wrong: str = "",
    notice: str = "",
    ticked: tuple[str, ...] | None = None,
) -> Response:
    task, sheet = visit.site.task, visit.sheet
    order = own_order(task, sheet)
    closed = visit.settled
    position = _place(visit, instance)
    wanted = [name for name in task.by_name if name in sheet.ballots or name in sheet.skips or name not in closed]
    done = sum(name in sheet.ballots or name in sheet.skips for name in wanted)
    coming = next_open(order, replace(sheet, skips=sheet.skips | {instance.name}), closed, position)
    kept = sheet.ballots.get(instance.name)
    boxes_ticked = (kept or ()) if ticked is None else ticked
    return visit.page(
        "question.html",
        status=status,
        instance=instance,
        position=position,
        size=_size_in_words(visit.language, instance) if task.show_size else "",
        progress=visit.language.counted("question.progress", len(wanted), done=done, total=len(wanted)),
        shown=seal(visit, instance),
        boxes=[(each, each.name in boxes_ticked) for each in presented(task, instance, sheet.voter.token)],
        is_tiled=all(each.picture and not each.help for each in instance.offered),
        measured=picture_size(task.folder / instance.picture) if instance.picture else None,
        is_answered=kept is not None,
        is_empty=kept == (),
        done=done,
        total=len(wanted),
        coming=task.by_name[order[coming - 1]].picture if coming is not None else "",
        wrong=wrong,
        notice=notice,
    )


def _size_in_words(say: Language, instance: Instance) -> str:
    """How many alternatives are right; nothing where any number may be."""
    lower, upper = instance.size.lower, instance.size.upper
    if lower == upper:
        return say.counted("question.size-exactly", lower, lower=lower)
    if upper is None or upper >= len(instance.offered):
        return say.counted("question.size-at-least", lower, lower=lower) if lower else ""
    if lower == 0:
        return say.counted("question.size-at-most", upper, upper=upper)
    return say("question.size-between", lower=lower, upper=upper)
