"""The paper's quiz, read where it lies; Table 1 as recomputed."""

import csv

import numpy as np
import pytest

from epivote import AMLE, Auto, Ballots, Majority, Modal, hamming, harmonic, rank_participants, zero_one

TEAMS = ["Real Madrid", "Barcelone", "Bayern Munich", "Inter Milan", "PSG"]


@pytest.fixture(scope="module")
def quiz(real_data):
    with (real_data / "football_quiz" / "data_quiz_foot.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pictures = [name for name in rows[0] if name.startswith("Image")]
    (key,) = [row for row in rows if row["Pseudo"] == "Correction987"]
    ballots = {
        (f"v{number}", picture): row[picture].split(", ")
        for number, row in enumerate(rows)
        if row is not key
        for picture in pictures
    }
    gold = {picture: set(key[picture].split(", ")) for picture in pictures}
    return Ballots.from_mapping(ballots, alternatives=TEAMS), gold


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (AMLE((1, 2)), (0.880, 0.781, 0.600)),
        (AMLE((1, 2), prior_update="published"), (0.880, 0.781, 0.600)),
        (Auto((1, 2), quick=True), (0.880, 0.781, 0.600)),
        pytest.param(Auto((1, 2)), (0.880, 0.781, 0.600), marks=pytest.mark.slow),
        (AMLE((0, 5)), (0.867, 0.737, 0.467)),
        (Modal(), (0.840, 0.708, 0.467)),
        (Majority(), (0.800, 0.620, 0.267)),
        (Majority((1, 2)), (0.787, 0.606, 0.267)),
    ],
    ids=repr,
)
def test_table_1(quiz, rule, expected):
    ballots, gold = quiz
    truth = rule.fit_predict(ballots)
    found = [metric(truth, gold, ballots) for metric in (hamming, harmonic, zero_one)]
    assert found == pytest.approx(expected, abs=5e-4)


def test_two_participants_ticked_everything(quiz):
    ballots, _ = quiz
    ticks = np.bincount(np.repeat(ballots.ballot_voter, ballots.ballot_sizes), minlength=ballots.n_voters)
    assert int(np.sum(ticks == 15 * 5)) == 2


def test_nobody_beats_those_who_tick_everything_under_the_quizs_incentive(quiz):
    ballots, gold = quiz
    first, second, third = rank_participants(ballots, gold)[:3]
    assert (first.rank, first.points, first.ticks) == (second.rank, second.points, second.ticks) == (1, 15, 75)
    assert (third.rank, third.points) == (3, 14)
