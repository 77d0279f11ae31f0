import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from epivote import AMLE, InputError, hamming, harmonic, read_export, zero_one
from epivote.cli import app

FORM = Path(__file__).parent.parent / "cases" / "forms.csv"
Q1, Q2 = "Which birds are on picture 1?", "Which birds are on picture 2?"


def test_a_google_form_with_its_key():
    found = read_export(FORM, format="forms", gold_row="the key")
    assert dict(found.ballots.items()) == {
        ("ann@example.org", Q1): {"robin", "wren"},
        ("ann@example.org", Q2): {"house sparrow"},
        ("bo@example.org", Q2): {"wren", "house sparrow"},
    }
    assert dict(found.gold) == {Q1: {"robin"}, Q2: {"wren"}}
    assert found.notes == (
        "a question without ticks counts as a missing ballot; --blank empty counts it as an empty one",
        f"2 questions read: {Q1!r}, {Q2!r}; --question or --instances selects others",
        "cells were split at ';' (override with --separator or --alternatives)",
    )


def test_blank_cells_are_empty_ballots_when_told():
    found = read_export(FORM, format="forms", blank="empty")
    assert found.ballots.ballot("bo@example.org", Q1) == frozenset()
    assert found.notes == (
        "a question without ticks counts as an empty ballot; --blank missing counts it as a missing one",
        f"2 questions read: {Q1!r}, {Q2!r}; --question or --instances selects others",
        "cells were split at ';' (override with --separator or --alternatives)",
    )


def test_options_with_commas_are_recognised_whole(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text('who,Q1,Q2\nann,"salt, pepper, oil","oil, vinegar"\nbo,oil,"salt, pepper"\n')
    names = ["salt, pepper", "oil", "vinegar"]
    found = read_export(path, format="forms", voter="who", alternatives=names)
    assert found.ballots.ballot("ann", "Q1") == {"salt, pepper", "oil"}
    assert found.ballots.ballot("bo", "Q2") == {"salt, pepper"}
    with pytest.raises(InputError, match=r"sheet\.csv, line 2, column 'Q1': 'salt' is not an alternative"):
        read_export(path, format="forms", voter="who", alternatives=["oil", "vinegar", "pepper"])


def test_what_cannot_be_told_is_asked_for():
    with pytest.raises(InputError, match="no row of column 'Username' is 'the kye' .did you mean 'the key'"):
        read_export(FORM, format="forms", gold_row="the kye")
    with pytest.raises(InputError, match="no column matches 'Image"):
        read_export(FORM, instances="Image*")
    with pytest.raises(InputError, match="there is no column 'Pseudo'"):
        read_export(FORM, voter="Pseudo")


def test_the_papers_quiz_straight_from_its_source(real_data):
    path = real_data / "football_quiz" / "data_quiz_foot.csv"
    teams = ["Real Madrid", "Barcelone", "Bayern Munich", "Inter Milan", "PSG"]
    found = read_export(path, voter="Pseudo", instances="Image*", gold_row="Correction987", alternatives=teams)
    truths = AMLE((1, 2)).fit(found.ballots).truth_
    scores = [metric(truths, found.gold, found.ballots) for metric in (hamming, harmonic, zero_one)]
    assert scores == pytest.approx([0.880, 0.781, 0.600], abs=5e-4)


def test_the_papers_quiz_with_one_command(real_data):
    path = real_data / "football_quiz" / "data_quiz_foot.csv"
    told = ["--voter", "Pseudo", "--instances", "Image*", "--gold-row", "Correction987", "--json"]
    for size, method, expected in (
        ("1..2", "auto", [0.880, 0.781, 0.600]),
        ("0..", "amle", [0.867, 0.737, 0.467]),
        ("1..2", "modal", [0.840, 0.708, 0.467]),
    ):
        result = CliRunner().invoke(app, ["aggregate", str(path), *told, "--size", size, "--method", method])
        scores = json.loads(result.stdout)["accuracy"]
        found = [scores[name]["mean"] for name in ("hamming", "harmonic", "zero_one")]
        assert found == pytest.approx(expected, abs=5e-4), (size, method)


def test_the_command_reads_forms():
    result = CliRunner().invoke(
        app, ["aggregate", str(FORM), "--format", "forms", "--gold-row", "the key", "--size", "1..2"]
    )
    assert result.exit_code == 0, result.stderr
    assert "Scored against gold (not used for fitting): 0 of 2 sets are exactly right" in result.stdout
