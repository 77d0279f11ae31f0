"""Published ballots with expert truth, read where they lie."""

import json

import pytest

from epivote import EM, compare, read_ballots, read_truths


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("real_imagenet", (0.927, 0.619, 0.756)),
        ("real_imagenet_full", (0.915, 0.695, 0.773)),
        ("ecg6", (0.995, 0.975, 0.979)),
    ],
)
def test_em_with_the_bounds_known_beforehand(real_data, name, expected):
    folder = real_data / name
    meta = json.loads((folder / "meta.json").read_text())
    menu = folder / "menu.csv" if meta["variable_menu"] else None
    ballots = read_ballots(folder / "ballots.csv", menu=menu, alternatives=meta.get("alternatives"))
    gold = read_truths(folder / "truth.csv")
    known = {z: gold[z] for z in gold if z in ballots.instance_index}
    bounds = (meta["bounds_a_priori"]["l"], meta["bounds_a_priori"]["u"])
    found = compare(EM(bounds).fit(ballots).truth_, known, ballots)
    shares = (found.correct.sum() / found.widths.sum(), found.zero_one.mean(), found.jaccard.mean())
    assert shares == pytest.approx(expected, abs=6e-4)
