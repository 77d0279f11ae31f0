"""Makes the pictures of the quiz and its answers: pictures, shapes and gold.csv beside this file, seed 2022.

Twenty-four pictures hide one or two of six shapes; every shape is in two pictures alone and in four with another. The
noise differs from picture to picture, from easy to hard, in no order.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np

from epivote import Truths, write_truths

from .draw import SHAPES, icon, picture

SEED = 2022
NOISE = (0.05, 0.65)
APART = {
    ("circle", "hexagon"),
    ("cross", "star"),
    ("square", "triangle"),
}  # never in one picture: twelve pairs are left


def make(folder: Path) -> None:
    """Write all pictures and the answers into a folder."""
    rng = np.random.default_rng(SEED)
    hidden: list[tuple[str, ...]] = [(shape,) for shape in SHAPES for _ in range(2)]
    hidden += [pair for pair in combinations(SHAPES, 2) if pair not in APART]
    noises = rng.permutation(np.linspace(*NOISE, len(hidden)))
    order = rng.permutation(len(hidden))
    gold = {}
    for name in ("pictures", "shapes"):
        (folder / name).mkdir(exist_ok=True)
    for shape in SHAPES:
        (folder / "shapes" / f"{shape}.svg").write_text(icon(shape))
    for number, (index, noise) in enumerate(zip(order, noises, strict=True), start=1):
        drawn = picture(hidden[index], float(noise), rng)
        (folder / "pictures" / f"{number:02}.svg").write_text(drawn)
        gold[f"picture {number:02}"] = hidden[index]
    write_truths(Truths.from_mapping(gold, alternatives=SHAPES), folder / "gold.csv")


if __name__ == "__main__":
    make(Path(__file__).parent)
