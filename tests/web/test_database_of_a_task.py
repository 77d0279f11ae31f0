"""Every command acts on the database that is served, and only serving makes one."""

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from epivote.cli import app
from epivote.web import serving
from epivote.web.store import Store, open_database
from epivote.web.store.belonging import database_of, remember
from small_quiz import QUIZ, write_quiz

COMMANDS = ["close", "open", "export", "invite", "backup"]


def run(*arguments):
    return CliRunner().invoke(app, ["collect", *(str(argument) for argument in arguments)])


@pytest.fixture
def quiz(tmp_path):
    return write_quiz(tmp_path / "task", f'join = "invitation"\n{QUIZ}')


@pytest.fixture
def serve(monkeypatch):
    """Serves a task for no time at all."""
    monkeypatch.setattr(serving, "serve", lambda app, listening, when_ready, **_: (when_ready(), listening.close()))

    def once(quiz, *options):
        told = run("serve", quiz, "--port", "0", *options)
        assert told.exit_code == 0, told.stderr
        return told.stdout

    return once


def do(command, quiz, *options):
    """One of the commands with what it needs."""
    needed = {"export": ("-o", quiz.parent / "out" / "ballots.csv"), "backup": ("-o", quiz.parent / "copy.db")}
    return run(command, quiz, *needed.get(command, ()), *options)


def is_closed(address):
    database = open_database(address, create=False)
    found = Store(database).is_closed()
    database.close()
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_database_that_is_not_there_is_never_made(quiz, tmp_path, command):
    """Neither the usual one nor one that is named."""
    for options in ((), ("--database", f"sqlite:///{tmp_path / 'none.db'}")):
        told = do(command, quiz, *options)
        assert told.exit_code == 1
        assert told.stderr.startswith("epivote: there is no database ")
        assert "only `epivote collect serve` makes one" in told.stderr
    assert [path.name for path in tmp_path.rglob("*.db")] == []


def test_every_command_finds_the_database_that_is_served(quiz, tmp_path, serve, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"Ballots:      {tmp_path / 'x.db'}" in serve(quiz, "--database", "sqlite:///x.db")
    for command in COMMANDS:
        told = do(command, quiz)
        assert told.exit_code == 0, told.stderr
        assert is_closed(f"sqlite:///{tmp_path / 'x.db'}") == (command == "close")
    made = {path.name for path in tmp_path.rglob("*.db")} - {"copy.db"}
    assert made == {"x.db"}


def test_served_again_without_a_word_it_is_the_same_database(quiz, tmp_path, serve):
    serve(quiz, "--database", f"sqlite:///{tmp_path / 'x.db'}")
    assert f"Ballots:      {tmp_path / 'x.db'}" in serve(quiz)
    assert f"Ballots:      {tmp_path / 'y.db'}" in serve(quiz, "--database", f"sqlite:///{tmp_path / 'y.db'}")
    assert f"Ballots: {tmp_path / 'y.db'}" in run("close", quiz).stdout
    assert not is_closed(f"sqlite:///{tmp_path / 'x.db'}")
    memory = quiz.with_suffix(".database")
    assert memory.stat().st_mode & 0o777 == 0o600, "an address may hold a password"


def test_a_task_names_its_database(quiz, tmp_path, serve):
    quiz.write_text(f'database = "sqlite:///own.db"\n{QUIZ}')
    own = quiz.parent / "own.db"
    assert f"Ballots:      {own}" in serve(quiz)
    assert f"Ballots: {own}" in run("close", quiz).stdout
    assert is_closed(f"sqlite:///{own}")
    assert run("open", quiz, "--database", f"sqlite:///{own}").exit_code == 0
    for command in ("serve", "close"):
        told = run(command, quiz, "--database", f"sqlite:///{tmp_path / 'x.db'}")
        assert told.exit_code == 1
        assert f"keeps its ballots in sqlite:///{own}, so --database cannot name another one" in told.stderr
    assert not quiz.with_suffix(".database").exists()


def test_where_nothing_can_be_remembered_serving_says_so(quiz, tmp_path, serve):
    quiz.with_suffix(".database").mkdir()
    told = serve(quiz, "--database", f"sqlite:///{tmp_path / 'x.db'}")
    assert "is not writable: give --database to close, export and the other commands too." in told
    refused = run("close", quiz)
    assert (refused.exit_code, "name the database with --database" in refused.stderr) == (1, True)


def test_an_empty_file_is_no_database(quiz):
    quiz.with_suffix(".db").touch()
    told = run("close", quiz)
    assert (told.exit_code, "has no epivote tables" in told.stderr) == (1, True)


def test_an_empty_postgresql_database_is_left_empty(quiz, postgresql_database):
    for command in ("close", "close"):
        told = run(command, quiz, "--database", postgresql_database)
        assert (told.exit_code, "has no epivote tables" in told.stderr) == (1, True), told.stderr


def test_the_database_it_was_last_served_with_is_remembered_for_its_owner_only(tmp_path):
    task, quiz = SimpleNamespace(database=None, folder=tmp_path), tmp_path / "quiz.toml"
    usual = f"sqlite:///{tmp_path / 'quiz.db'}"
    assert database_of(quiz, task, None) == usual
    for address in ("postgresql://me:secret@host/x", "sqlite:////elsewhere/y.db"):
        assert remember(quiz, address)
        assert database_of(quiz, task, None) == address
    assert [path.name for path in tmp_path.iterdir()] == ["quiz.database"]
    assert (tmp_path / "quiz.database").stat().st_mode & 0o777 == 0o600, "an address may hold a password"
    (tmp_path / "quiz.database").write_text("\n")
    assert database_of(quiz, task, None) == usual
    assert not remember(tmp_path / "none" / "quiz.toml", "sqlite:////elsewhere/y.db")
