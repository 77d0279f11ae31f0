"""What `epivote collect serve` and `preview` hand to the server, and when a QR code is shown."""

import io
import sys
from contextlib import closing

import pytest

from epivote.cli import collect
from epivote.cli.collect_task import path_of, public_address
from epivote.web import serving
from said import run, said
from small_quiz import QUIZ, write_quiz


@pytest.fixture
def served(monkeypatch):
    """Apps that would have been served."""
    apps = []

    def serve(app, listening, when_ready, *, behind_proxy):
        with closing(listening):
            apps.append(app)

    monkeypatch.setattr(serving, "listen", lambda *_where: io.BytesIO())
    monkeypatch.setattr(serving, "serve", serve)
    monkeypatch.setattr("epivote.web.addresses.addresses_of", lambda _listening: ["http://127.0.0.1:8000/"])
    return apps


def test_who_is_told_when_somebody_hands_in(served, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("epivote.web.notifying.notifier_of", lambda *given: asked.append(given))
    quiz = write_quiz(tmp_path)
    said("collect", "serve", quiz, "--webhook", "https://x.org/hook", "--on-completion", "notify")
    said("collect", "serve", quiz)
    assert asked == [("https://x.org/hook", "notify"), (None, None)]


def test_the_server_gets_the_notifier(served, tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr("epivote.web.notifying.notifier_of", lambda *_given: "somebody to tell")
    monkeypatch.setattr("epivote.web.app.collect_app", lambda *arguments: given.append(arguments))
    said("collect", "serve", write_quiz(tmp_path), "--address", "https://x.org/a")
    ((task, _store, settings),) = given
    assert task.title == "Which animals?"
    assert (settings.notifier, settings.root, settings.is_preview) == ("somebody to tell", "/a", False)


@pytest.mark.parametrize("times", ["opens = 2999-01-01T00:00:00Z\n", "closes = 2000-01-01T00:00:00Z\n", ""])
def test_a_preview_is_open_now_to_everybody(served, tmp_path, monkeypatch, times):
    given = []
    monkeypatch.setattr("epivote.web.app.collect_app", lambda *arguments: given.append(arguments))
    said("collect", "preview", write_quiz(tmp_path, f'join = "invitation"\n{times}{QUIZ}'))
    ((task, _store, settings),) = given
    assert (task.opens, task.closes, task.join, settings.is_preview) == (None, None, "nickname", True)
    assert not (tmp_path / "quiz.db").exists()


# QR codes


class Terminal(io.StringIO):
    def __init__(self, encoding, *, is_terminal):
        super().__init__()
        self._encoding, self._is_terminal = encoding, is_terminal

    @property
    def encoding(self):
        return self._encoding

    def isatty(self):
        return self._is_terminal


@pytest.mark.parametrize(
    ("address", "encoding", "is_terminal", "is_shown"),
    [
        ("https://quiz.example.org/", "utf-8", True, True),
        ("https://quiz.example.org/", "utf-8", False, False),
        ("https://quiz.example.org/", "ascii", True, False),
        ("https://quiz.example.org/", None, True, False),
        ("http://127.0.0.1:8000/", "utf-8", True, False),
        ("http://127.0.0.1:8000/", "utf-8", False, False),
    ],
)
def test_a_code_is_shown_where_phones_can_use_it(address, encoding, is_terminal, is_shown, monkeypatch):
    monkeypatch.setattr("epivote.web.addresses.qr_text", lambda of: f"█▀ {of}\n")
    shown = Terminal(encoding, is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stdout", shown)
    collect._print_qr(address)
    assert shown.getvalue() == (f"\n█▀ {address}\n" if is_shown else "")


def test_without_a_code_nothing_is_shown(monkeypatch):
    monkeypatch.setattr("epivote.web.addresses.qr_text", lambda _of: "")
    shown = Terminal("utf-8", is_terminal=True)
    monkeypatch.setattr(sys, "stdout", shown)
    collect._print_qr("https://quiz.example.org/")
    assert shown.getvalue() == ""


# Addresses


@pytest.mark.parametrize(
    ("given", "address", "path"),
    [
        ("https://x.org", "https://x.org/", ""),
        ("https://x.org/", "https://x.org/", ""),
        ("http://x.org:81/a", "http://x.org:81/a/", "/a"),
        ("https://x.org/a/b-c.d_e~f/", "https://x.org/a/b-c.d_e~f/", "/a/b-c.d_e~f"),
        ("https://x.org/apis", "https://x.org/apis/", "/apis"),
        ("https://x.org/a/static/", "https://x.org/a/static/", "/a/static"),
    ],
)
def test_public_addresses_end_in_a_slash_and_paths_do_not(given, address, path):
    assert public_address(given) == address
    assert path_of(given) == path_of(address) == path
    assert public_address(None) is None


def test_an_own_database_that_cannot_be_remembered_is_told(served, tmp_path, monkeypatch):
    asked = []

    def remember(path, address):
        asked.append((path, address))
        return False

    monkeypatch.setattr("epivote.web.store.belonging.remember", remember)
    quiz, other = write_quiz(tmp_path), f"sqlite:///{tmp_path / 'other.db'}"
    told = f"{tmp_path} is not writable: give --database to close, export and the other commands too.\n"
    assert said("collect", "serve", quiz, "--database", other) == told
    assert [path for path, _ in asked] == [quiz]
    assert asked[0][1].endswith("other.db")
    assert said("collect", "serve", quiz) == "", "its usual database needs no memory"
    said("collect", "close", quiz, "--database", other)
    quiz.write_text(f'database = "{other}"\n{QUIZ}')
    assert said("collect", "serve", quiz, "--database", other) == ""
    assert len(asked) == 1


def test_without_what_collecting_needs_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "epivote.web.store", None)
    result = run("collect", "close", write_quiz(tmp_path))
    assert result.exit_code == 1
    assert result.stderr == (
        "epivote: collecting needs epivote.web.store, which is not installed; get all of it with: "
        "pip install 'epivote[collect]'\n"
    )
