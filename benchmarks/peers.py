"""Other people's aggregators on the same ballots: crowd-kit label by label, and peerannot's Dawid-Skene likewise.

Both see a ballot as one yes-or-no answer per alternative, and know nothing of size bounds.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.crowds import Crowd, Sets

Columns = dict[str, npt.NDArray[Any]]


def ballot_frame(numbers: Columns) -> Any:
    """One row per ballot with a list of labels, as crowd-kit's BinaryRelevance reads them; crowd-kit is loaded too."""
    import pandas as pd
    from crowdkit import aggregation  # noqa: F401

    instances = np.arange(len(numbers["ballot_start"]) - 1)
    ticks, ends = numbers["approved"].tolist(), numbers["approval_start"].tolist()
    return pd.DataFrame(
        {
            "task": np.repeat(instances, np.diff(numbers["ballot_start"])),
            "worker": numbers["ballot_voter"],
            "label": [ticks[begin:end] for begin, end in pairwise(ends)],
        }
    )


class Labelled(NamedTuple):
    """crowd-kit's series of label lists, and the most iterations that it gave any label before it stopped by itself."""

    labels: Any
    n_iterations: int | None


def crowd_kit(frame: Any, base: Literal["MajorityVote", "DawidSkene"]) -> Labelled:
    """BinaryRelevance over the named aggregator with its usual settings."""
    from crowdkit import aggregation

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = aggregation.BinaryRelevance(getattr(aggregation, base)()).fit(frame)
    histories = [getattr(each, "loss_history_", ()) for each in fitted.aggregators_.values()]
    return Labelled(fitted.labels_, max(map(len, histories), default=0) or None)


def sets_of_series(found: Labelled) -> Sets:
    """Sets from crowd-kit's series of label lists."""
    lists = [sorted(labels) for labels in found.labels.sort_index()]
    start = np.concatenate([[0], np.cumsum([len(labels) for labels in lists])])
    return Sets(start, np.array([label for labels in lists for label in labels], np.int64))


def peerannot_models(numbers: Columns, crowd: Crowd) -> list[Any]:
    """One Dawid-Skene model per alternative, given {task: {worker: 0 or 1}}."""
    model = peerannot_dawid_skene()
    instance = np.repeat(np.arange(crowd.instances), np.diff(numbers["ballot_start"]))
    ticked = np.zeros((len(instance), crowd.alternatives), int)
    ticked[np.repeat(np.arange(len(instance)), np.diff(numbers["approval_start"])), numbers["approved"]] = 1
    models = []
    for j in range(crowd.alternatives):
        answers: dict[int, dict[int, int]] = {}
        for task, worker, label in zip(instance.tolist(), numbers["ballot_voter"].tolist(), ticked[:, j], strict=True):
            answers.setdefault(task, {})[worker] = int(label)
        models.append(model(answers, n_workers=crowd.voters, n_classes=2))
    return models


def run_peerannot(models: list[Any]) -> list[Any]:
    """Every model run with its usual settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            model.run()
    return models


def sets_of_models(models: list[Any]) -> Sets:
    """Sets from the more probable answer of every model."""
    chosen = np.stack([np.asarray(model.get_probas()).argmax(axis=1) == 1 for model in models], axis=1)
    return sets_of_table(chosen)


def sets_of_table(chosen: npt.NDArray[np.bool_]) -> Sets:
    """Sets from a table of members."""
    return Sets(np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]), np.nonzero(chosen)[1])


def peerannot_dawid_skene() -> Any:
    """Its class without its package of models, which loads a deep-learning framework that Dawid-Skene does not need."""
    spec = importlib.util.find_spec("peerannot")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("peerannot is not installed; run make bench")
    models = ModuleType("peerannot.models")
    models.__path__ = [str(Path(spec.origin).parent / "models")]
    sys.modules.setdefault("peerannot.models", models)
    from peerannot.models.aggregation.dawid_skene import DawidSkene

    return DawidSkene
