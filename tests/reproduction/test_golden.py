"""A reduced run gives the accepted numbers: on the carried quiz everywhere, on the paper's where it is at hand."""

import re
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from experiments.beyond import crowds, promises, quiz_rules
from experiments.paper import accuracy, complexity, examples, initialisations, participants, proposition2, table1
from experiments.quiz import SOURCE, find_quiz
from experiments.reproduce import reproduce
from reduced import BIRDS

ANYWHERE = (accuracy, initialisations, complexity, participants, examples, proposition2, quiz_rules, crowds, promises)
ON_THE_QUIZ = (table1, accuracy, initialisations, participants, proposition2)


@pytest.fixture
def drawn_once(monkeypatch):
    """Pictures are drawn as SVG only; drawing every one again in dots takes as long as all measuring."""
    save = Figure.savefig

    def save_lines(figure, path, **options):
        if path.suffix == ".svg":
            save(figure, path, **options)

    monkeypatch.setattr(Figure, "savefig", save_lines)


@pytest.mark.slow
def test_a_reduced_run_on_the_carried_quiz(no_data, drawn_once, tmp_path, matches_golden):
    sheets = reproduce([module.SECTION for module in ANYWHERE], BIRDS, tmp_path, 1, "test")
    matches_golden(tmp_path, "reproduction-birds")
    assert all(sheet.text for sheet in sheets.values())
    shown = {
        name for sheet in sheets.values() for name in re.findall(r"\(reproduction/(.*)\.svg\)", "\n".join(sheet.text))
    }
    assert shown == {path.stem for path in tmp_path.glob("*.svg")}
    assert len(shown) == 13


def test_a_reduced_run_on_the_papers_quiz(tmp_path, monkeypatch, matches_golden):
    if find_quiz() is None:
        pytest.skip(SOURCE)
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)  # the carried quiz draws them all
    extent = replace(BIRDS, data="quiz", sizes=(10, 40), start_sizes=(10,))
    reproduce([module.SECTION for module in ON_THE_QUIZ], extent, tmp_path, 1, "test")
    matches_golden(tmp_path, "reproduction-quiz")
