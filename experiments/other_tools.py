"""Other people's aggregators with their own settings, each asked the same yes/no questions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers import peerannot_dawid_skene
from experiments.dawid_skene import LONG, RUN_ON
from experiments.yes_no import Answers, Questions, Tool, per_label

MODULES = {
    "crowd-kit": "crowdkit.aggregation",
    "snorkel": "snorkel.labeling.model",
    "cleanlab": "cleanlab.multiannotator",
}


@dataclass(frozen=True)
class Peer:
    """A tool with the package that holds it; `per_label` says that every alternative is a task of its own."""

    package: str
    title: str
    tool: Tool
    per_label: bool = False

    def load(self) -> None:
        """Import what the tool imports when it is first used, so that a fit is timed without it."""
        if self.package == "peerannot":
            peerannot_dawid_skene()
        else:
            import_module(MODULES[self.package])


def crowd_kit(name: str, **settings: Any) -> Tool:
    """An aggregator of crowd-kit; its labels as they are, its probabilities if it has any."""

    def fit(questions: Questions) -> Answers:
        from crowdkit import aggregation

        model = getattr(aggregation, name)(**settings)
        labels = model.fit_predict(questions.frame)
        probabilities = getattr(model, "probas_", None)
        asked = np.arange(len(questions.alternatives))
        yes = labels.reindex(asked, fill_value=0).to_numpy() == 1
        if probabilities is None:
            return Answers(yes, None)
        return Answers(yes, probabilities.reindex(asked).reindex(columns=[1]).fillna(0.0)[1].to_numpy(float))

    return fit


def snorkel(with_balance: bool) -> Tool:
    """Snorkel's LabelModel with voters as labelling functions; without a class balance it takes yes and no as equal."""

    def fit(questions: Questions) -> Answers:
        from snorkel.labeling.model import LabelModel

        votes = np.nan_to_num(questions.table, nan=-1).astype(int)
        share = float(questions.yes.mean())
        balance = [1 - share, share] if with_balance and 0 < share < 1 else None
        model = LabelModel(cardinality=2, verbose=False)
        model.fit(votes, class_balance=balance, seed=0, progress_bar=False)
        probability = model.predict_proba(votes)[:, 1]
        return Answers(probability > 0.5, probability)

    return fit


def cleanlab(questions: Questions) -> Answers:
    """CROWDLAB of cleanlab; it wants a classifier's predictions, and gets the share of approvals for every question."""
    from cleanlab.multiannotator import get_label_quality_multiannotator

    share = float(questions.yes.mean())
    predictions = np.tile([1 - share, share], (len(questions.alternatives), 1))
    found = get_label_quality_multiannotator(
        questions.table, predictions, return_detailed_quality=False, return_annotator_stats=False, verbose=False
    )["label_quality"]
    yes = found["consensus_label"].to_numpy() == 1
    quality = found["consensus_quality_score"].to_numpy(float)
    return Answers(yes, np.where(yes, quality, 1 - quality))


def peerannot(questions: Questions) -> Answers:
    """Peerannot's Dawid-Skene, given {task: {worker: 0 or 1}}."""
    given: dict[int, dict[int, int]] = {}
    for voter, question, yes in zip(
        questions.voter.tolist(), questions.question.tolist(), questions.yes.tolist(), strict=True
    ):
        given.setdefault(question, {})[voter] = yes
    model = peerannot_dawid_skene()(given, n_workers=questions.n_voters, n_classes=2)
    model.run()
    probability = np.asarray(model.get_probas(), float)[:, 1]
    return Answers(probability > 0.5, probability)


POOLED = {
    "crowd-kit-majority": Peer("crowd-kit", "crowd-kit MajorityVote", crowd_kit("MajorityVote")),
    "crowd-kit-ds": Peer("crowd-kit", "crowd-kit DawidSkene", crowd_kit("DawidSkene")),
    "crowd-kit-ds-long": Peer(
        "crowd-kit", f"crowd-kit DawidSkene, {LONG} iterations", crowd_kit("DawidSkene", **RUN_ON)
    ),
    "crowd-kit-glad": Peer("crowd-kit", "crowd-kit GLAD", crowd_kit("GLAD", silent=True)),
    "crowd-kit-mmsr": Peer("crowd-kit", "crowd-kit MMSR", crowd_kit("MMSR")),
    "snorkel": Peer("snorkel", "snorkel LabelModel", snorkel(with_balance=False)),
    "snorkel-balance": Peer("snorkel", "snorkel LabelModel, class balance given", snorkel(with_balance=True)),
    "cleanlab": Peer("cleanlab", "cleanlab CROWDLAB, no classifier", cleanlab),
    "peerannot-ds": Peer("peerannot", "peerannot DawidSkene", peerannot),
}
"""All questions in one model: a voter is equally reliable on all alternatives."""
PER_LABEL = {
    f"{name}-per-label": Peer(peer.package, f"{peer.title}, per label", per_label(peer.tool), per_label=True)
    for name, peer in POOLED.items()
    if name in ("crowd-kit-ds", "snorkel", "snorkel-balance", "cleanlab", "peerannot-ds")
}
PEERS = POOLED | PER_LABEL
