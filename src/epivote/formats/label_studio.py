"""Label Studio exports of a `<Choices>` or `<Taxonomy>` question: the full JSON.

A cancelled annotation is a skipped one: missing. An annotation with nothing chosen is an empty ballot. Choices that
belong to regions or items of a task make every such place an instance. `label_studio_min` reads JSON-MIN and CSV.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from epivote.data.names import listing, suggestion
from epivote.errors import ColumnError, FileError
from epivote.formats.export import Collector, as_name, read_json, records
from epivote.formats.reading import Reading
from epivote.formats.source import SourceFile

KINDS = ("choices", "taxonomy")
"""Types of results that hold ticks; the value has them under the same name."""
MODEL = "epivote"
"""How the model version of our own predictions begins."""
STEP = " > "
"""Between the names of a path of nested choices."""


def read_tasks(source: SourceFile, reading: Reading) -> Collector:
    """The full JSON export: one record per task, with all its annotations and predictions."""
    tasks = records(read_json(source), source)
    question = asked_question(tasks, source, reading.question)
    found = Collector(source, reading)
    emails = _emails(tasks)
    by_place = has_places(tasks, question)
    for position, task in enumerate(tasks, start=1):
        instance = task.get("id", position)
        for annotation in annotations_of(task):
            _annotation(found, instance, annotation, question, emails, by_place=by_place)
        _predictions(found, instance, task, question)
    if by_place:
        _check_places(found, question)
    return found


def annotations_of(task: dict[str, Any]) -> list[dict[str, Any]]:
    """The annotations of a task, called completions in old exports."""
    found: list[dict[str, Any]] = task.get("annotations", task.get("completions", []))
    return found


def predictions_of(task: dict[str, Any]) -> list[dict[str, Any]]:
    """The predictions of a task; mere numbers of some are ignored."""
    return [each for each in task.get("predictions") or [] if isinstance(each, dict)]


def results_of(annotation: dict[str, Any]) -> list[dict[str, Any]]:
    """All results of an annotation or prediction."""
    return annotation.get("result") or []


def asked_question(tasks: list[dict[str, Any]], source: SourceFile, given: str | None) -> str:
    """The question to read: the given one, which must be there, else the only one that was answered."""
    asked, others = _names(annotation for task in tasks for annotation in annotations_of(task))
    predicted, _ = _names(prediction for task in tasks for prediction in predictions_of(task))
    if not asked or (given is not None and given not in asked):
        asked |= predicted
    if given is not None and given not in asked:
        raise ColumnError(f"{source} has no choices for {given!r}{suggestion(given, asked)}; {_there(asked, others)}")
    if given is None and len(asked) != 1:
        if asked:
            raise ColumnError(f"{source}: choose the question to read with --question; {_there(asked, others)}")
        raise ColumnError(
            f"{source} has no choices or taxonomy, which is all that can be read; {_there(asked, others)}"
        )
    return given or next(iter(asked))


def _names(annotations: Iterable[dict[str, Any]]) -> tuple[dict[str, None], dict[str, None]]:
    """Questions that were answered with choices, and others with the kind of their answers."""
    asked, others = dict[str, None](), dict[str, None]()
    for annotation in annotations:
        for result in results_of(annotation):
            if result.get("type") in KINDS:
                asked[str(result.get("from_name"))] = None
            elif result.get("from_name"):
                others[f"{result['from_name']} ({result.get('type')})"] = None
    return asked, others


def _there(asked: dict[str, None], others: dict[str, None]) -> str:
    """Which questions there are."""
    if asked:
        return f"its questions are {listing(list(asked), 20)}"
    return f"it holds {listing(list(others), 20)}" if others else "it has no annotations"


def answers(annotation: dict[str, Any], question: str, place: str) -> dict[str, list[str]]:
    """What was chosen, by place in the task: the whole task is the place `""`."""
    found: dict[str, list[str]] = {}
    for result in _results(annotation, question):
        ticks = found.setdefault(where(result), [])
        ticks += [tick_name(choice, place) for choice in chosen(result)]
    return found


def _results(annotation: dict[str, Any], question: str) -> Iterator[dict[str, Any]]:
    for result in results_of(annotation):
        if result.get("from_name") == question and result.get("type") in KINDS:
            yield result


def chosen(result: dict[str, Any]) -> list[Any]:
    """The choices of one result: texts, or paths of nested ones."""
    value = result.get("value", {}).get(result["type"], [])
    return [value] if isinstance(value, str) else value


def where(result: dict[str, Any]) -> str:
    """The item or region of a task that a result is about, by its position; nothing for the whole task."""
    value = {name: each for name, each in result.get("value", {}).items() if name not in (*KINDS, "text", "labels")}
    if result.get("item_index") is not None:
        return f"item {result['item_index']}"
    position = [
        f"{name} {each}" for name, each in sorted(value.items(), reverse=True) if isinstance(each, (int, float, str))
    ]
    if position:
        return ", ".join(position)
    return f"region {result.get('id')}" if value else ""


def tick_name(choice: object, place: str) -> str:
    """A choice as the name of an alternative; of nested choices the whole path."""
    steps = [as_name(step) for step in (choice if isinstance(choice, list) else [choice])]
    if not steps or None in steps or "" in steps:
        raise FileError(f"{place}: {choice!r} is neither a choice nor a path of nested ones; export it again")
    return STEP.join(str(step) for step in steps)


def has_places(tasks: list[dict[str, Any]], question: str) -> bool:
    """Whether choices belong to regions or items of a task."""
    return any(
        where(result)
        for task in tasks
        for annotation in annotations_of(task)
        for result in _results(annotation, question)
    )


def _check_places(found: Collector, question: str) -> None:
    """Say that places are instances; refuse where no two ballots are about the same place."""
    if len({instance for _, instance in found.ballots}) == len(found.ballots) > 0:
        raise FileError(
            f"{found.source}: the choices for {question!r} belong to regions, and no two annotators chose for the same "
            "one, so there is nothing to compare; give all annotators the same regions, as predictions"
        )
    found.remarks[
        f"the choices for {question!r} belong to regions or items of a task, so each region or item is an instance, "
        "shared by all who marked the same place; one without a choice counts as a missing ballot"
    ] = 1


def _predictions(found: Collector, instance: object, task: dict[str, Any], question: str) -> None:
    """Predictions that answer the question are ballots of their model."""
    answering = [each for each in predictions_of(task) if any(_results(each, question))]
    if any(map(_is_ours, answering)):
        found.remark("a prediction that epivote made from these ballots was left out")
        answering = [each for each in answering if not _is_ours(each)]
    for position, prediction in enumerate(answering, start=1):
        model = prediction.get("model_version") or (f"model {position}" if len(answering) > 1 else "model")
        for key, ticks in answers(prediction, question, f"{found.source}, task {instance}").items():
            found.add(model, _instance(instance, key), ticks, f"task {instance}", "")
        found.remark("a prediction counts as the ballot of its model version")


def _is_ours(prediction: dict[str, Any]) -> bool:
    return str(prediction.get("model_version")).startswith(f"{MODEL} ")


def _annotation(
    found: Collector,
    instance: object,
    annotation: dict[str, Any],
    question: str,
    emails: dict[object, str],
    *,
    by_place: bool,
) -> None:
    place = f"task {instance}, annotation {annotation.get('id', '?')}"
    if annotation.get("was_cancelled"):
        found.remark("a cancelled annotation counts as a missing ballot")
        return
    chosen_at = answers(annotation, question, f"{found.source}, {place}")
    if not chosen_at and not by_place:
        if found.reading.blank == "missing":
            found.remark("an annotation without choices counts as a missing ballot")
            return
        found.remark("an annotation without choices counts as an empty ballot; --blank missing counts it as missing")
        chosen_at = {"": []}
    for key, ticks in chosen_at.items():
        if any(STEP in tick for tick in ticks):
            found.remarks[f"nested choices are named by their path, its steps joined by {STEP.strip()!r}"] = 1
        if annotation.get("ground_truth"):
            found.add_gold(_instance(instance, key), ticks, place)
            continue
        voter = who(annotation.get("completed_by"), emails)
        if voter is None:
            raise FileError(f"{found.source}, {place}: it does not say who made it; export it again with completed_by")
        stamp = annotation.get("updated_at") or annotation.get("created_at")
        found.add(voter, _instance(instance, key), ticks, place, stamp)


def _instance(task: object, key: str) -> object:
    return f"{task}, {key}" if key else task


def who(annotator: object, emails: dict[object, str]) -> object:
    """The e-mail address of an annotator if any record gives it, else the number."""
    if isinstance(annotator, dict):
        return annotator.get("email") or emails.get(annotator.get("id"), annotator.get("id"))
    return emails.get(annotator, annotator)


def _emails(tasks: list[dict[str, Any]]) -> dict[object, str]:
    people = [annotation.get("completed_by") for task in tasks for annotation in annotations_of(task)]
    return {who["id"]: who["email"] for who in people if isinstance(who, dict) and who.get("id") and who.get("email")}
