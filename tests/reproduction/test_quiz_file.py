"""Where the quiz is looked for, and what is said when it is not there."""

import shutil

import pytest

from experiments import quiz
from experiments.reproduce import main


def test_without_the_file_it_says_where_to_get_it(no_data):
    with pytest.raises(SystemExit, match=r"(?s)github.com/taharallouche.*6c6d34ba4b.*sha256 7db54c6f.*EPIVOTE_DATA"):
        main(["--only", "table1"])


def test_another_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / quiz.FILE
    path.parent.mkdir()
    path.write_text("Pseudo\n")
    monkeypatch.setenv("EPIVOTE_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match="it is not the file the figures are about"):
        quiz.find_quiz()


def test_option_before_environment_before_the_folder_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(quiz, "BESIDE", tmp_path / "beside")
    monkeypatch.delenv("EPIVOTE_DATA", raising=False)
    assert quiz.data_folder() == tmp_path / "beside"
    monkeypatch.setenv("EPIVOTE_DATA", "somewhere")
    assert str(quiz.data_folder()) == "somewhere"
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path / "given"), "--only", "table1"])
    assert quiz.data_folder() == tmp_path / "given"


def test_the_file_itself_can_be_given(tmp_path, monkeypatch):
    path = quiz.find_quiz()
    if path is None:
        pytest.skip(quiz.SOURCE)
    shutil.copyfile(path, tmp_path / "renamed.csv")
    monkeypatch.setenv("EPIVOTE_DATA", str(tmp_path / "renamed.csv"))
    ballots, gold = quiz.read_quiz(quiz.require_quiz())
    assert (ballots.n_voters, ballots.n_instances, len(gold)) == (76, 15, 15)
