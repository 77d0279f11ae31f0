"""The consensus as Label Studio predictions, for the project that the export came from or for a new one."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from epivote.atomic import write_files
from epivote.data.estimate import Estimate
from epivote.errors import FileError
from epivote.formats.export import read_json, records
from epivote.formats.label_studio import (
    KINDS,
    MODEL,
    annotations_of,
    asked_question,
    chosen,
    has_places,
    results_of,
    tick_name,
)
from epivote.formats.source import open_source

TaskRecord = dict[str, Any]


def write_predictions(estimate: Estimate, export: str | Path, path: str | Path, *, question: str | None = None) -> None:
    """Write the tasks of a Label Studio JSON export, each with its set as a prediction whose score is the confidence.

    Sent to `/api/projects/ID/import/predictions`, the file adds predictions to the tasks of the project that the export
    came from (`task` names them); imported as tasks (`data` and `predictions`), it makes new ones, which is for another
    project. Label Studio sorts tasks by the score.
    """
    with open_source(export) as source:
        tasks = records(read_json(source), source)
        asked = asked_question(tasks, source, question)
        if has_places(tasks, asked):
            raise FileError(f"{source}: {asked!r} is about regions or items; predictions are written for whole tasks")
        shape = _Shape(tasks, asked, str(source))
    posterior = estimate.posterior
    found = []
    for position, task in enumerate(tasks, start=1):
        instance = str(task.get("id", position))
        if instance not in estimate.truths.instance_index:
            continue
        z = estimate.truths.instance_index[instance]
        prediction: TaskRecord = {
            "model_version": f"{MODEL} {version('epivote')}",
            "result": shape.result(estimate.truths.listed(instance)),
        }
        if posterior is not None:
            prediction["score"] = float(posterior.set_probabilities[z])
        kept: TaskRecord = {name: task[name] for name in ("id", "data") if name in task}
        at = {"task": task["id"]} if "id" in task else {}
        found.append({**kept, "predictions": [prediction], **at, **prediction})
    text = json.dumps(found, ensure_ascii=False, indent=1)
    write_files({Path(path): lambda target: target.write_text(text, encoding="utf-8")})


class _Shape:
    """How results of a question are written: its type, what it is about, and the paths of nested choices."""

    def __init__(self, tasks: list[TaskRecord], question: str, name: str) -> None:
        self.head: TaskRecord | None = None
        self.paths: dict[str, Any] = {}
        for task in tasks:
            for annotation in annotations_of(task):
                for result in results_of(annotation):
                    if result.get("from_name") == question and result.get("type") in KINDS and result.get("to_name"):
                        self.head = self.head or {key: result[key] for key in ("from_name", "to_name", "type")}
                        self.paths |= {tick_name(choice, name): choice for choice in chosen(result)}
        if self.head is None:
            raise FileError(
                f"{name}: no annotation answers {question!r}, so its to_name is unknown; export answered tasks"
            )

    def result(self, ticks: list[str]) -> list[TaskRecord]:
        """The set as the result of a prediction."""
        assert self.head is not None
        choices = [self.paths.get(tick, tick) for tick in ticks]
        return [{"id": MODEL, **self.head, "value": {self.head["type"]: choices}}]
