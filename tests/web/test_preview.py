"""Trying a task out: marked on every page, open at once, and nothing is kept."""

import itertools
import os
import signal
import subprocess
import sys

import pytest

from epivote.cli import collect_preview
from epivote.web.site import Settings
from in_process import at, joined, organiser, visitor
from one_moment import still_app
from patience import in_time
from small_quiz import QUIZ, write_quiz

MARK = '<p class="preview" role="note">Preview:'


@pytest.mark.parametrize("is_preview", [True, False])
def test_every_page_of_a_preview_says_so(tmp_path, is_preview):
    with still_app(tmp_path, settings=Settings(is_preview=is_preview)) as app:
        ann = joined(app, "ann")
        for path in ("/", at(ann), "/end", "/privacy"):
            assert (MARK in ann.get(path).text) == is_preview, path
        assert (MARK in organiser(app).get("/organiser").text) == is_preview


def test_a_preview_is_open_to_everybody_and_leaves_nothing(tmp_path, monkeypatch, capsys):
    quiz = write_quiz(tmp_path, f'join = "invitation"\nopens = 2999-01-01T00:00:00Z\n{QUIZ}')
    tried = {}

    def serve(app, listening, when_ready, *, behind_proxy):
        when_ready()
        listening.close()
        tried["file"] = app.state.site.store.database.file
        tried["there"] = tried["file"].exists()
        assert 'id="join"' in visitor(app).get("/").text
        joined(app, "ann")

    monkeypatch.setattr("epivote.web.serving.serve", serve)
    collect_preview.preview(quiz, "127.0.0.1", 0)
    assert tried["there"]
    assert not tried["file"].parent.exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["dot.svg", "quiz.toml"]
    assert "Nothing is kept" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_ends_on_an_interrupt(tmp_path):
    quiz = write_quiz(tmp_path)
    command = [sys.executable, "-m", "epivote", "collect", "preview", str(quiz), "--port", "0"]
    room = os.environ | {"TMPDIR": str(tmp_path)}
    with in_time(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=room)) as run:
        lines = list(itertools.islice(run.stdout, 3))
        assert lines[0].startswith("Preview:      http://127.0.0.1:")
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["dot.svg", "quiz.toml"]
