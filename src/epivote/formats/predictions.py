"""The consensus as Label Studio predictions, to be imported back beside the annotations."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from epivote.atomic import write_files
from epivote.data.estimate import Estimate
from epivote.errors import FileError
from epivote.formats.export import read_json, records
from epivote.formats.label_studio import annotations_of, only_question
from epivote.formats.source import open_source


def write_predictions(estimate: Estimate, export: str | Path, path: str | Path, *, question: str | None = None) -> None:
    """Write the tasks of a Label Studio JSON export, each with its set as a prediction whose score is the confidence.

    Only `id`, `data` and `predictions` are written; Label Studio sorts tasks by the score.
    """
    with open_source(export) as source:
        tasks = records(read_json(source), source)
        asked = question or only_question(tasks, source)
        shown = _shown(tasks, asked, str(source))
    posterior = estimate.posterior
    found = []
    for position, task in enumerate(tasks, start=1):
        instance = str(task.get("id", position))
        if instance not in estimate.truths.instance_index:
            continue
        z = estimate.truths.instance_index[instance]
        value = {"choices": estimate.truths.listed(instance)}
        result = [{"id": "epivote", "from_name": asked, "to_name": shown, "type": "choices", "value": value}]
        prediction: dict[str, Any] = {"model_version": f"epivote {version('epivote')}", "result": result}
        if posterior is not None:
            prediction["score"] = float(posterior.set_probabilities[z])
        kept: dict[str, Any] = {name: task[name] for name in ("id", "data") if name in task}
        found.append({**kept, "predictions": [prediction]})
    text = json.dumps(found, ensure_ascii=False, indent=1)
    write_files({Path(path): lambda target: target.write_text(text, encoding="utf-8")})


def _shown(tasks: list[dict[str, Any]], question: str, name: str) -> str:
    """What the question is about (`to_name`), as the annotations say."""
    for task in tasks:
        for annotation in annotations_of(task):
            for region in annotation.get("result", []):
                if region.get("from_name") == question and region.get("to_name"):
                    return str(region["to_name"])
    raise FileError(f"{name}: no annotation answers {question!r}, so what it is about (to_name) cannot be told")
