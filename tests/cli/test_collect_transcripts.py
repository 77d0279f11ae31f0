"""Everything that `epivote collect ...` says and writes on a small quiz, as last accepted; nothing is really served."""

import re
import sys
from contextlib import closing

import pytest

from accepted import check_accepted
from epivote.web import serving
from epivote.web.store import Store, open_database
from epivote.web.store import store as clock
from epivote.web.store.credentials import whose_secret
from small_quiz import QUIZ, write_quiz
from transcripts import ACCEPTED, transcript

BROKEN = QUIZ.replace('size = "1..2"', 'size = "9"').replace('name = "barn"', 'name = "yard"')
MOMENT = 1_793_000_000_123_456  # microseconds since 1970: a morning of October 2026
OWN = ("api", "organiser", "picture", "question", "resume", "static")
COMMANDS = {
    "collect-new": [
        "collect new fresh.toml",
        "collect new fresh.toml",
        "collect new fresh.yaml",
        "collect new table.toml --from table.csv --alternatives 'cat| dog |'",
        "collect new bare.toml --from table.csv --size 2",
        "collect new pictures.toml --from pictures --alternatives 'cat|dog'",
        "collect check fresh.toml",
        "collect check table.toml",
        "collect check bare.toml",
        "collect check broken.toml",
        "collect check nowhere.toml",
    ],
    "collect-organisers": [
        "collect organiser quiz.toml",
        "collect organiser quiz.toml --add Omar",
        "collect organiser quiz.toml --add Maria",
        "collect key quiz.toml --revoke Maria",
        "collect organiser quiz.toml",
        "collect organiser quiz.toml --revoke Omar",
        "collect organiser quiz.toml",
    ],
    "collect-keys": [
        "collect key quiz.toml",
        "collect key quiz.toml --add robot",
        "collect key quiz.toml",
        "collect organiser quiz.toml --revoke robot",
        "collect key quiz.toml --revoke robot",
        "collect key quiz.toml",
        "collect renew quiz.toml",
        "collect renew quiz.toml --key",
    ],
    "collect-names": [
        "collect organiser quiz.toml --add Maria",
        "collect organiser quiz.toml --add Maria",
        "collect organiser quiz.toml --add ' Maria'",
        "collect organiser quiz.toml --add =1",
        "collect organiser quiz.toml --revoke Maria --add Maria",
        "collect organiser quiz.toml --revoke ''",
        "collect key quiz.toml --add ''",
    ],
    "collect-ballots": [
        "collect export quiz.toml -o ballots.csv",
        "collect export quiz.toml -o more/votes.csv --times --participants",
        "collect export quiz.toml -o times.csv",
        "collect export quiz.toml -o participants.csv",
        "collect export quiz.toml -o votes.json",
        "collect close quiz.toml",
        "collect open quiz.toml",
    ],
    "collect-invited": [
        "collect invite quiz.toml",
        "collect invite invited.toml --count 2 --database sqlite:///quiz.db",
        "collect invite invited.toml --address https://x.org/a/b --database sqlite:///quiz.db",
        "collect invite invited.toml --address x.org --database sqlite:///quiz.db",
    ],
    "collect-copied": [
        "collect backup quiz.toml -o copy.db",
        "collect backup quiz.toml -o copy.db",
        "collect export nowhere.toml -o ballots.csv",
        "collect export invited.toml -o ballots.csv",
    ],
    "collect-preview": ["collect preview quiz.toml", "collect preview quiz.toml --host 0.0.0.0 --port 9"],
    "collect-served": [
        "collect serve invited.toml",
        "collect serve invited.toml --address https://x.org/quiz1",
        "collect organiser invited.toml --add Maria",
        "collect renew invited.toml",
    ],
    "collect-addresses": [
        f"collect serve quiz.toml --address '{address}'"
        for address in (
            *(f"https://x.org/{first}/more" for first in OWN),
            "https://x.org/more/api",
            "https://x.org/a b",
            "https://x.org//a",
        )
    ],
    "collect-elsewhere": [
        "collect serve invited.toml --database sqlite:///other.db",
        "collect close invited.toml",
        "collect close invited.toml --database sqlite:///quiz.db",
    ],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clock, "now", lambda: MOMENT)
    monkeypatch.setattr("epivote.web.store.credentials.now", lambda: MOMENT)
    write_quiz(tmp_path)
    (tmp_path / "broken.toml").write_text(BROKEN)
    (tmp_path / "invited.toml").write_text(f'join = "invitation"\n{QUIZ}')
    (tmp_path / "table.csv").write_text("name,text\none,What is it?\ntwo,And this?\n")
    (tmp_path / "pictures").mkdir()
    for name in ("a.svg", "b.svg"):
        (tmp_path / "pictures" / name).write_text((tmp_path / "dot.svg").read_text())
    (tmp_path / "pictures" / "notes.txt").write_text("neither")
    return tmp_path


@pytest.fixture
def served(monkeypatch):
    """Servers that end as soon as they are ready, at an address that is always the same, and what was printed by then."""
    asked = []

    def serve(app, listening, when_ready, *, behind_proxy):
        settings = app.state.site.settings
        asked.append((settings.root, settings.is_preview, behind_proxy))
        with closing(listening):
            when_ready()
            asked.append(sys.stdout.buffer.getvalue().decode().splitlines()[-1][:17])

    class Listening:
        def __init__(self, host, port):
            asked.append((host, port))

        def close(self):
            asked.append("closed")

    monkeypatch.setattr(serving, "listen", Listening)
    monkeypatch.setattr(serving, "serve", serve)
    addresses = ["http://127.0.0.1:8000/", "http://192.0.2.7:8000/"]
    monkeypatch.setattr("epivote.web.addresses.addresses_of", lambda _listening: addresses)
    return asked


@pytest.mark.parametrize("name", COMMANDS)
def test_everything_said_is_what_was_accepted(folder, served, name):
    with closing(open_database("sqlite:///quiz.db")) as database:
        store = Store(database)
        ann, bo = store.join("ann", ""), store.join("bo", "")
        for who, instance, ticks in ((ann, "yard", ["cat"]), (bo, "yard", ["cat", "owl"]), (bo, "gone", ["dog"])):
            store.answer(who.id, instance, ticks)
    found = transcript(COMMANDS[name], folder)
    check_accepted(
        ACCEPTED / f"{name}.txt",
        re.sub(r"(?<![\w-])[\w-]{30,}|(?<=invitation=)[\w-]+|(?<=secret=)[\w-]+", "SECRET", found),
    )


def test_every_secret_that_is_said_is_a_new_one_that_works(folder):
    open_database("sqlite:///quiz.db").close()
    lines = [
        "collect organiser quiz.toml --add a",
        "collect organiser quiz.toml --add b",
        "collect key quiz.toml --add a",
        "collect renew quiz.toml",
        "collect renew quiz.toml --key",
        "collect renew quiz.toml",
    ]
    said = re.findall(r"[\w-]{40,}", transcript(lines, folder))
    assert len(set(said)) == len(said) == 6
    with closing(open_database("sqlite:///quiz.db")) as database:
        assert [whose_secret(database, "organiser", each) is not None for each in said] == [True] * 2 + [False] * 4
        assert [whose_secret(database, "program", each) is not None for each in said] == [False] * 2 + [True] + [
            False
        ] * 3
        secrets = Store(database).secrets()
        assert (secrets.organiser, secrets.interface) == (said[5], said[4])


def test_where_and_how_it_is_served(folder, served):
    transcript([*COMMANDS["collect-preview"], *COMMANDS["collect-served"][:2]], folder)
    assert served == [
        ("127.0.0.1", 8000), ("", True, False), "Nothing is kept: ", "closed",
        ("0.0.0.0", 9), ("", True, False), "Nothing is kept: ", "closed",
        ("127.0.0.1", 8000), ("", False, False), "Stop with Ctrl-C;", "closed",
        ("127.0.0.1", 8000), ("/quiz1", False, False), "Stop with Ctrl-C;", "closed",
    ]  # fmt: skip


def test_every_accepted_text_belongs_to_a_test():
    assert {path.stem for path in ACCEPTED.glob("collect-*.txt")} == set(COMMANDS)
