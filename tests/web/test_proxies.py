"""The proxies of `examples/proxy`, if they are installed: pages, cookies and addresses pass through, half-sent requests do not."""

import re
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from benchmarks.postgresql import free_port
from examples.crowd.pages import parse
from patience import in_time
from small_quiz import QUIZ

FOLDER = Path(__file__).parents[2] / "examples" / "proxy"
SOON = 60
NGINX = (
    "daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ access_log off; {paths} {quiz} }}"
)
PATHS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def configured(name, port, behind, folder):
    """The example with other addresses, without encryption, and with less patience."""
    text = (FOLDER / name).read_text().replace("10s", "1s")
    for number, own in enumerate(behind, start=8000):
        text = text.replace(f"127.0.0.1:{number}", f"127.0.0.1:{own}")
    if name.startswith("Caddyfile"):
        return text.replace("quiz.example.org {", f"http://127.0.0.1:{port} {{").replace(
            "{\n\tservers", "{\n\tadmin off\n\tservers"
        )
    text = re.sub(r"\n *ssl_[^\n]*", "", text).replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    paths = " ".join(f"{each}_temp_path {folder}/{each};" for each in PATHS)
    return NGINX.format(folder=folder, paths=paths, quiz=text.replace("quiz.example.org", "localhost"))


@contextmanager
def proxy(name, behind, folder):
    """The proxy of an example in front of some ports; the port where it listens."""
    program = shutil.which("nginx" if name.startswith("nginx") else "caddy")
    if program is None:
        pytest.skip(f"no proxy for {name} here: apt-get install nginx caddy")
    port, file = free_port(), folder / name
    file.write_text(configured(name, port, behind, folder))
    run = (
        ["-c", str(file), "-p", str(folder)]
        if name.startswith("nginx")
        else ["run", "--config", str(file), "--adapter", "caddyfile"]
    )
    settings = {"HOME": str(folder), "PATH": "/usr/bin"}
    with (
        (folder / "proxy.log").open("w") as log,
        in_time(subprocess.Popen([program, *run], stdout=log, stderr=log, env=settings)) as process,
    ):
        try:
            wait_for(port, process, folder / "proxy.log")
            yield port
        finally:
            process.terminate()


def wait_for(port, process, log):
    """Until somebody listens."""
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=SOON):
            return
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on port {port}: {log.read_text()}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_a_quiz_behind_a_proxy(name, serve, tmp_path):
    served = serve(QUIZ, None, "--behind-proxy")
    with (
        proxy(name, [served.port], tmp_path) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as ann,
    ):
        assert ann.get("/health").text == "ok"
        form = parse("/", ann.get("/").text).form("/join")
        sent = ann.post("/join", data={**form.fields, "nickname": "ann"})
        assert (sent.status_code, sent.headers["location"]) == (303, "/question"), sent.text
        assert ann.get("/question", follow_redirects=True).status_code == 200
        with socket.create_connection(("127.0.0.1", port), timeout=SOON) as half:
            half.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            while half.recv(65_536):
                pass  # until it is given up


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nginx-paths.conf", "Caddyfile-paths"])
def test_two_quizzes_under_paths_of_one_host(name, serve, tmp_path):
    """One proxy passes the whole path on, the other takes it off; nobody is signed out by the other quiz."""
    ports = [free_port(), free_port()]
    quizzes = {"first": ports[0], "second": ports[1]}
    for path, port in quizzes.items():
        public = f"http://127.0.0.1/{path}/"
        serve(QUIZ, None, "--behind-proxy", "--port", str(port), "--address", public, name=path)
    with (
        proxy(name, ports, tmp_path) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, follow_redirects=True) as browser,
    ):
        for path in quizzes:
            form = parse(f"/{path}/", browser.get(f"/{path}/").text).form(f"/{path}/join")
            question = browser.post(form.action, data={**form.fields, "nickname": path})
            assert question.url.path == f"/{path}/question/1", question.text
            page = parse(question.url.path, question.text)
            fields = page.form(page.address)
            after = browser.post(page.address, data={**fields.fields, "tick": fields.values([0]), "action": "answer"})
            assert after.url.path == f"/{path}/question/2", after.text
            for address in [*filter(None, page.pictures), *re.findall(r'"(/[a-z]+/static/[^"]+)"', question.text)]:
                assert browser.get(address).status_code == 200, address
        for path in quizzes:
            assert f"You take part as {path}." in browser.get(f"/{path}/").text
            assert browser.get(f"/{path}").url.path == f"/{path}/"
