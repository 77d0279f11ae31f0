"""Published ballots with expert truth, read where they lie; they are not part of this project."""

from __future__ import annotations

import json
from pathlib import Path

from epivote import Ballots, read_ballots, read_truths
from experiments.quiz import data_folder
from experiments.rules import Bounds

REAL = {
    "real_imagenet": "78 raters, 155 images, menus of 2..37 labels, every rater answered all",
    "real_imagenet_full": "85 raters, 38,187 pages, 5 ballots each",
    "ecg6": "4 readers, 827 electrocardiograms, 6 abnormalities",
    "news_events": "189 workers, 200 sentences, 15 ballots each, menus of candidate events",
    "cifar10s": "248 people, 1,000 small pictures, 10 classes, about 6 ballots each",
}
RealSet = tuple[Ballots, dict[str, frozenset[str]], Bounds]


def present() -> list[str]:
    """Names of the sets that are at hand."""
    return [name for name in REAL if (data_folder() / name).is_dir()]


def read_real(name: str) -> RealSet:
    """Ballots, the sets that are known, and the bounds that the task alone tells."""
    folder: Path = data_folder() / name
    meta = json.loads((folder / "meta.json").read_text())
    menu = folder / "menu.csv" if meta["variable_menu"] else None
    ballots = read_ballots(folder / "ballots.csv", menu=menu, alternatives=meta.get("alternatives"))
    gold = read_truths(folder / "truth.csv")
    known = {name: gold[name] for name in gold if name in ballots.instance_index}
    return ballots, known, (meta["bounds_a_priori"]["l"], meta["bounds_a_priori"]["u"])
