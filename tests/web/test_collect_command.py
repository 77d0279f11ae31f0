"""`epivote collect ...`"""

import builtins
import itertools
import socket
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from epivote.cli import app
from epivote.web.store import Store, open_database
from patience import in_time
from small_quiz import QUIZ, write_quiz


def run(*arguments):
    return CliRunner().invoke(app, ["collect", *(str(argument) for argument in arguments)])


@pytest.fixture
def quiz(tmp_path):
    return write_quiz(tmp_path)


def store_of(quiz):
    return Store(open_database(f"sqlite:///{quiz.with_suffix('.db')}"))


def test_new_writes_an_example_that_is_fine(tmp_path):
    made = run("new", tmp_path / "quiz.toml")
    assert made.exit_code == 0
    assert f"epivote collect serve {tmp_path / 'quiz.toml'}" in made.stdout
    checked = run("check", tmp_path / "quiz.toml")
    assert checked.exit_code == 0
    assert "is fine: 4 instances (1 gold), 4 alternatives, sets of size 1..2." in checked.stdout
    again = run("new", tmp_path / "quiz.toml")
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)
    assert "ends in .toml" in run("new", tmp_path / "quiz.txt").stderr


def test_check_tells_every_mistake_with_its_line(tmp_path):
    quiz = write_quiz(tmp_path, QUIZ.replace('size = "1..2"', 'size = "x"\norder = 3'))
    told = run("check", quiz)
    assert told.exit_code == 1
    first, second = told.stderr.splitlines()
    assert first.startswith(f"{quiz}, line 4: size of the task: 'x' is not a size; write 2, 1..2")
    assert second == f"{quiz}, line 5: order is 3; write one of 'shuffled', 'doubtful'"
    assert run("export", quiz, "-o", tmp_path / "x.csv").exit_code == 1


def test_export_while_and_after(quiz, tmp_path):
    store = store_of(quiz)
    ann = store.join("ann", "")
    store.answer(ann.id, "yard", ["cat", "owl"])
    store.answer(ann.id, "roof", [])
    store.answer(ann.id, "gone", ["cat"])
    told = run("export", quiz, "-o", tmp_path / "out" / "ballots.csv")
    store.database.close()
    assert told.exit_code == 0, told.stderr
    assert (
        tmp_path / "out" / "ballots.csv"
    ).read_text() == "voter,instance,alternatives\nann,yard,cat|owl\nann,roof,\n"
    assert "Left out: 1 ballot that does not fit" in told.stdout
    assert "epivote aggregate ballots.csv --size 1..2 --alternatives 'cat|dog|owl' --method em" in told.stdout


def test_close_and_open(quiz):
    store_of(quiz).database.close()
    assert "is closed" in run("close", quiz).stdout
    store = store_of(quiz)
    assert store.is_closed()
    assert "is open" in run("open", quiz).stdout
    assert not store.is_closed()
    store.database.close()
    quiz.write_text(f"opens = 2999-01-01T00:00:00Z\n{QUIZ}")
    assert "opens at the time it says" in run("open", quiz).stdout
    quiz.write_text(f"closes = 2000-01-01T00:00:00Z\n{QUIZ}")
    assert "its closing time has passed" in run("open", quiz).stdout


def test_invitations(quiz):
    store_of(quiz).database.close()
    assert 'set join = "invitation"' in run("invite", quiz).stderr
    quiz.write_text(f'join = "invitation"\n{QUIZ}')
    store_of(quiz).database.close()
    links = run("invite", quiz, "--count", 3, "--address", "https://quiz.example.org").stdout.split()
    assert len(set(links)) == 3
    assert all(link.startswith("https://quiz.example.org/?invitation=") for link in links)


def test_backup(quiz, tmp_path):
    store = store_of(quiz)
    store.join("ann", "")
    told = run("backup", quiz, "-o", tmp_path / "copy.db")
    assert told.exit_code == 0, told.stderr
    store.database.close()
    copied = Store(open_database(f"sqlite:///{tmp_path / 'copy.db'}"))
    assert [each.name for each in copied.participants()] == ["ann"]
    copied.database.close()
    assert "already exists" in run("backup", quiz, "-o", tmp_path / "copy.db").stderr


def test_without_the_extra_one_sentence_says_what_to_install(quiz, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("epivote.web.store")]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def without_sqlalchemy(name, *rest, **options):
        if name.split(".")[0] == "sqlalchemy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_sqlalchemy)
    told = run("close", quiz)
    assert told.exit_code == 1
    assert told.stderr == (
        "epivote: collecting needs sqlalchemy, which is not installed; get all of it with: pip install 'epivote[collect]'\n"
    )
    assert run("check", quiz).exit_code == 0, "what needs no server works without"


def test_wrong_places(quiz, tmp_path):
    for name in ("gold.csv", "ballots.txt"):
        assert "is not a name for the ballots" in run("export", quiz, "-o", tmp_path / name).stderr
    for address in ("quiz.example.org", "ftp://x/", "https://x/y?z", "https://x//y", "https://x/a b", "https://"):
        assert "is not a web address" in run("serve", quiz, "--address", address).stderr
    told = run("serve", quiz, "--address", "https://x/organiser/").stderr
    assert "has a path that begins with one of the site's own; choose another path" in told
    assert "write sqlite:///quiz.db" in run("close", quiz, "--database", "x").stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = run("serve", quiz, "--port", taken.getsockname()[1])
    assert "Address already in use; choose another with --host and --port" in told.stderr
    assert "cannot listen on 203.0.113.1" in run("serve", quiz, "--host", "203.0.113.1").stderr


def test_serving_says_where_and_stops_quietly(quiz):
    command = [sys.executable, "-m", "epivote", "collect", "serve", str(quiz), "--port", "0"]
    addresses = []
    for _ in range(2):
        with in_time(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)) as server:
            lines = list(itertools.islice(server.stdout, 5))
            assert [line.split(":")[0] for line in lines[:4]] == ["Participants", "Organiser", "JSON key", "Ballots"]
            participants = lines[0].split()[1]
            with urllib.request.urlopen(f"{participants}health", timeout=30) as answer:
                assert answer.read() == b"ok"
            server.terminate()
            told, errors = server.communicate(timeout=30)
        assert (server.returncode, told, errors) == (0, "", "")
        addresses.append([line.split("secret=")[-1] for line in lines[1:4]])
    assert addresses[0] == addresses[1], "secrets stay the same"
