"""`epivote collect ...` without a server: what is asked of it, what is said, and where things go."""

import os
import socket
from contextlib import closing
from pathlib import Path

import pytest

from epivote.web import serving
from epivote.web.store import Store, invitations, open_database
from said import run, said
from small_quiz import QUIZ, write_quiz


@pytest.fixture
def quiz(tmp_path):
    return write_quiz(tmp_path)


def store_at(address):
    return Store(open_database(address))


def collect(*arguments):
    return said("collect", *arguments)


@pytest.fixture
def served(monkeypatch):
    """What would be served where; nothing is."""
    asked = []

    def listen(host, port):
        asked.append((host, port))
        return socket.create_server(("127.0.0.1", 0))

    def serve(_app, listening, when_ready, *, behind_proxy):
        asked.append(behind_proxy)
        with closing(listening):
            asked.append(f"http://127.0.0.1:{listening.getsockname()[1]}/")
            when_ready()

    monkeypatch.setattr(serving, "listen", listen)
    monkeypatch.setattr(serving, "serve", serve)
    return asked


def test_serving_where_nothing_else_is_said(quiz, served):
    text = collect("serve", quiz)
    where, proxy, address = served
    assert (where, proxy) == (("127.0.0.1", 8000), False)
    store = store_at(f"sqlite:///{quiz.with_suffix('.db')}")
    secrets = store.secrets()
    assert store.address() == address
    store.database.close()
    assert text.splitlines() == [
        f"Participants: {address}",
        f"Organiser:    {address}organiser?secret={secrets.organiser}",
        f"JSON key:     {secrets.interface}",
        f"Ballots:      {quiz.with_suffix('.db')}",
        "Stop with Ctrl-C; ballots are kept, and the addresses stay the same.",
    ]


@pytest.mark.parametrize("address", ["https://quiz.example.org", "https://quiz.example.org/", "http://x:81"])
def test_serving_elsewhere(quiz, served, address, tmp_path):
    database = f"sqlite:///{tmp_path / 'other.db'}"
    options = ("--host", "0.0.0.0", "--port", 65535, "--address", address, "--behind-proxy", "--database", database)
    text = collect("serve", quiz, *options)
    assert served[:2] == [("0.0.0.0", 65535), True]
    assert text.startswith(f"Participants: {address.rstrip('/')}/\nOrganiser:    {address.rstrip('/')}/organiser?")
    assert (tmp_path / "other.db").exists()
    assert not quiz.with_suffix(".db").exists()


def test_ports_and_addresses_that_cannot_be(quiz, served):
    for port in (-1, 65536):
        assert run("collect", "serve", quiz, "--port", port).exit_code == 2
    collect("serve", quiz, "--port", 0)
    for address in (
        "x.org",
        "https://x.org/a path",
        "https://x.org/path?q",
        "https://x.org/?q",
        "https://x .org",
        "ftp://x.org",
    ):
        refused = run("collect", "serve", quiz, "--address", address)
        assert (refused.exit_code, "is not a web address" in refused.stderr) == (1, True)


def test_the_store_is_closed_even_if_serving_fails(quiz, served, monkeypatch):
    closed = []

    def fails(_app, listening, *_given, **_options):
        listening.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(serving, "serve", fails)
    monkeypatch.setattr("epivote.web.store.database.Database.close", lambda self: closed.append(self))
    assert run("collect", "serve", quiz).exit_code == 130
    assert len(closed) == 1


# Invitations


@pytest.fixture
def invited(quiz, monkeypatch):
    """How many links were made, and for how many days; the quiz has been served before."""
    store_at(f"sqlite:///{quiz.with_suffix('.db')}").database.close()
    asked = []

    def make(_store, count, days):
        asked.append((count, days))
        return [f"token{k}" for k in range(count)]

    monkeypatch.setattr(invitations, "invite", make)
    return asked


def test_links_lead_to_where_the_quiz_is_served(quiz, invited):
    quiz.write_text(f'join = "invitation"\n{QUIZ}')
    assert collect("invite", quiz) == "http://127.0.0.1:8000/?invitation=token0\n"
    store = store_at(f"sqlite:///{quiz.with_suffix('.db')}")
    store.remember_address("https://here.example.org/")
    store.database.close()
    assert collect("invite", quiz, "--count", 2, "--days", 2.5) == (
        "https://here.example.org/?invitation=token0\nhttps://here.example.org/?invitation=token1\n"
    )
    assert collect("invite", quiz, "--address", "https://x.org") == "https://x.org/?invitation=token0\n"
    assert invited == [(1, 30.0), (2, 2.5), (1, 30.0)]


def test_how_many_links_and_how_long(quiz, invited):
    quiz.write_text(f'join = "invitation"\n{QUIZ}')
    for option, value in (("--count", 0), ("--count", 10_001), ("--days", -0.1), ("--days", 3650.1)):
        assert run("collect", "invite", quiz, option, value).exit_code == 2
    for option, value in (("--count", 1), ("--count", 10_000), ("--days", 0), ("--days", 3650)):
        collect("invite", quiz, option, value)
    assert invited == [(1, 30.0), (10_000, 30.0), (1, 0.0), (1, 3650.0)]


# Databases


def test_every_command_uses_the_database_it_is_given(quiz, tmp_path):
    database = f"sqlite:///{tmp_path / 'other.db'}"
    store = store_at(database)
    ann = store.join("ann", "")
    store.answer(ann.id, "yard", ["cat"])
    assert collect("close", quiz, "--database", database) == (
        f"{quiz} is closed: no ballots are accepted until `epivote collect open {quiz}`.\n"
        f"Ballots: {tmp_path / 'other.db'}\n"
    )
    assert store.is_closed()
    assert collect("open", quiz, "--database", database) == (
        f"{quiz} is open: ballots are accepted.\nBallots: {tmp_path / 'other.db'}\n"
    )
    assert not store.is_closed()
    text = collect("export", quiz, "-o", tmp_path / "out" / "votes.csv", "--database", database)
    assert (tmp_path / "out" / "votes.csv").read_text() == "voter,instance,alternatives\nann,yard,cat\n"
    first, second, third = text.splitlines()
    assert first.endswith(f" in the folder {tmp_path / 'out'}")
    assert first.startswith("Wrote votes.csv")
    assert second == "To find the same sets as the live page, run this in that folder:"
    assert third.startswith("  epivote aggregate votes.csv --size 1..2")
    copied = collect("backup", quiz, "-o", tmp_path / "copy.db", "--database", database)
    assert copied == f"Wrote {tmp_path / 'copy.db'}; serve from it with --database sqlite:///{tmp_path / 'copy.db'}\n"
    store.database.close()
    assert not quiz.with_suffix(".db").exists()


def test_ballots_that_no_longer_fit_are_counted(quiz, tmp_path):
    store = store_at(f"sqlite:///{quiz.with_suffix('.db')}")
    ann = store.join("ann", "")
    for instance in ("yard", "gone", "went"):
        store.answer(ann.id, instance, ["cat"])
    store.database.close()
    text = collect("export", quiz, "-o", tmp_path / "b.csv")
    assert "\nLeft out: 2 ballots that do not fit the task as it is now.\n" in text


@pytest.mark.parametrize("name", ["menu.csv", "sizes.csv", "gold.csv", "votes.txt", "votes"])
def test_names_the_ballots_cannot_have(name, quiz, tmp_path):
    refused = run("collect", "export", quiz, "-o", tmp_path / name)
    assert refused.exit_code == 1
    assert refused.stderr == f"epivote: {name!r} is not a name for the ballots; use one such as ballots.csv\n"
    assert not (tmp_path / name).exists()


# Tasks


def test_a_new_task_is_written_once(tmp_path):
    path = tmp_path / "quiz.toml"
    assert collect("new", path) == (
        f"Wrote {path}. Change it, then: epivote collect check {path}, epivote collect serve {path}\n"
    )
    text = path.read_text(encoding="utf-8")
    again = run("collect", "new", path)
    assert (again.exit_code, path.read_text(encoding="utf-8")) == (1, text)
    other = run("collect", "new", tmp_path / "quiz.yaml")
    assert (other.exit_code, (tmp_path / "quiz.yaml").exists()) == (1, False)
    assert collect("check", path) == f"{path} is fine: 4 instances (1 gold), 4 alternatives, sets of size 1..2.\n"


def test_opening_times_are_said(quiz):
    own = quiz.with_suffix(".db")
    store_at(f"sqlite:///{own}").database.close()
    for when, words in (
        ("opens = 2999-01-01T00:00:00Z", "is no longer closed by you; it opens at the time it says."),
        (
            "closes = 2000-01-01T00:00:00Z",
            "is no longer closed by you, but its closing time has passed; change `closes`, serve again.",
        ),
        ("opens = 2000-01-01T00:00:00Z\ncloses = 2999-01-01T00:00:00Z", "is open: ballots are accepted."),
    ):
        quiz.write_text(f"{when}\n{QUIZ}")
        assert collect("open", quiz) == f"{quiz} {words}\nBallots: {own}\n"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux tells which files are open")
@pytest.mark.parametrize(
    "arguments", ["export -o {0}/b.csv", "close", "open", "invite", "backup -o {0}/copy.db", "backup -o {0}", "serve"]
)
def test_no_command_leaves_its_database_open_however_it_ends(quiz, served, arguments):
    name, *options = arguments.format(quiz.parent).split()
    store_at(f"sqlite:///{quiz.with_suffix('.db')}").database.close()
    run("collect", name, quiz, *options)
    open_now = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    assert [path for path in open_now if path.startswith(str(quiz.parent))] == []
