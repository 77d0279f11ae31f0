"""Telling other programs who has handed in."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO

import pytest

from epivote import InputError
from epivote.web.notifying import MOST_WAITING, Notifier, notifier_of
from epivote.web.site import Settings
from in_process import fields_of, hand_in, joined, say, visitor
from one_moment import still_app
from small_quiz import QUIZ

EVENT = {"event": "handed in", "voter": "Ännchen"}


class Told(BaseHTTPRequestHandler):
    """Refuses as often as it should, then listens."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refuses = self.server.refusals > 0
        self.server.refusals -= refuses
        if not refuses:
            self.server.told.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(503 if refuses else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook():
    server = HTTPServer(("127.0.0.1", 0), Told)
    server.told, server.refusals = [], 0
    server.address = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join(30)
    server.server_close()


def test_an_address_is_told_and_tried_again(hook):
    hook.refusals, pauses = 2, []
    notifier = Notifier(hook.address, pause=pauses.append)
    notifier.tell(EVENT)
    notifier.tell({**EVENT, "voter": "bo"})
    notifier.wait_for_all()
    assert [event["voter"] for _, _, event in hook.told] == ["Ännchen", "bo"]
    assert hook.told[0][:2] == ("/hook", "application/json")
    assert pauses == [1.0, 10.0]


def test_what_cannot_be_delivered_is_given_up_and_logged(hook, caplog):
    hook.refusals, pauses = 99, []
    notifier = Notifier(hook.address, pause=pauses.append)
    notifier.tell(EVENT)
    notifier.wait_for_all()
    assert pauses == [1.0, 10.0, 60.0]
    assert "could not be delivered, giving up: HTTP Error 503" in caplog.text


def test_a_command_is_run_without_a_shell(tmp_path):
    script = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"
    notifier = notifier_of(None, f"{sys.executable} -c '{script}' '{tmp_path}/told; exit'")
    notifier.tell(EVENT)
    notifier.wait_for_all()
    assert json.loads((tmp_path / "told; exit").read_bytes()) == EVENT


def test_a_command_that_fails_does_not_stop_the_next(caplog):
    notifier = Notifier(command=("false",), pause=lambda _: None)
    notifier.tell(EVENT)
    notifier.tell(EVENT)
    notifier.wait_for_all()
    assert caplog.text.count("giving up") == 2


def test_without_a_wish_nothing_is_started():
    notifier = Notifier()
    notifier.tell(EVENT)
    assert notifier._thread is None


def test_a_flood_is_dropped_and_logged(caplog):
    go_on = threading.Event()
    notifier = Notifier(command=("false",), pause=lambda _: go_on.wait(30))
    for _ in range(MOST_WAITING + 2):
        notifier.tell(EVENT)
    assert "an event was dropped" in caplog.text
    notifier.command = ()
    go_on.set()
    notifier.wait_for_all()


def test_handing_in_tells_once(tmp_path):
    class Kept(Notifier):
        def tell(self, event):
            told.append(event)

    told = []
    text = 'completion_code = "C1"\nparticipant_parameter = "pid"\n'
    with still_app(tmp_path, text + QUIZ, Settings(notifier=Kept())) as app:
        ann = joined(app, "ann", outside="5f0")
        say(ann, "/question/1", ticks=[0])
        assert told == []
        page = ann.get("/end")
        hand_in(ann)
        ann.post("/finish", data=fields_of(page, "/finish"))
    assert len(told) == 1
    assert told[0]["at"][:2] == "20"
    assert {key: value for key, value in told[0].items() if key != "at"} == {
        "event": "handed in",
        "task": "Which animals?",
        "voter": "ann",
        "participant": "5f0",
        "completion_code": "C1",
        "ballots": 1,
    }


@pytest.mark.parametrize("is_wished", [True, False])
def test_the_privacy_page_says_whether_anybody_is_told(tmp_path, is_wished):
    notifier = Notifier("https://example.org/hook" if is_wished else "")
    text = f'consent = "Yes."\nparticipant_parameter = "pid"\n{QUIZ}' if is_wished else QUIZ
    with still_app(tmp_path, text, Settings(notifier=notifier)) as app:
        page = visitor(app).get("/privacy").text
    assert ("another program of whoever runs this is told so" in page) == is_wished
    assert ("nobody else is told that you were here" in page) == (not is_wished)
    assert ("when you gave your consent" in page) == is_wished
    assert ("The site that sent you here tells us" in page) == is_wished


@pytest.mark.parametrize(
    ("address", "command", "told"),
    [
        ("example.org", None, "--webhook 'example.org' is not a web address; write one such as https://"),
        ("file:///etc/passwd", None, "is not a web address"),
        (None, "echo 'x", "cannot be read: No closing quotation; check its quotes"),
        (None, " ", "--on-completion is empty"),
    ],
)
def test_wishes_that_cannot_be_met(address, command, told):
    with pytest.raises(InputError, match=told):
        notifier_of(address, command)


def test_whoever_is_told_has_some_time_to_answer(monkeypatch):
    given = []
    monkeypatch.setattr("urllib.request.urlopen", lambda request, *, timeout: given.append(timeout) or BytesIO(b"x"))
    monkeypatch.setattr("subprocess.run", lambda *_, timeout, **__: given.append(timeout))
    told = Notifier("http://127.0.0.1/hook", ("python", "told.py"))
    told.tell(EVENT)
    told.wait_for_all()
    assert given == [10.0, 60.0], "seconds for the address, and for the command"
