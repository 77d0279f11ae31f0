"""A quiz served by `epivote collect serve` in a process of its own, as an organiser would start it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120  # seconds a server may take to start
LINES = {"Participants:": "participants", "Organiser:": "organiser", "JSON key:": "key"}


class NotServedError(RuntimeError):
    """The command ended, or was ended because it took too long, before it listened."""


@dataclass(frozen=True)
class Served:
    """A running quiz: its addresses, its key, and the process."""

    participants: str
    organiser: str
    key: str
    process: subprocess.Popen[str]

    @property
    def address(self) -> str:
        """Of the server, without a slash at the end."""
        return self.participants.rstrip("/")

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rsplit(":", 1)[1])

    def kill(self) -> None:
        """End it as a power cut would: at once, without a word."""
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def stop(self, seconds: float = 10) -> int:
        """Ask it to stop, and insist after a while; its exit status."""
        self.process.terminate()
        try:
            self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        return self.process.returncode


def start(quiz: Path, *options: str, log: Path) -> Served:
    """Start the command and read the addresses it prints; what it logs is kept in a file."""
    command = [sys.executable, "-m", "epivote", "collect", "serve", str(quiz), *options]
    before = log.stat().st_size if log.exists() else 0
    with log.open("a") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    told: dict[str, str] = {}
    late = threading.Timer(PATIENCE, process.kill)
    late.start()
    try:
        for line in process.stdout:
            found = next((name for name in LINES if line.startswith(name)), None)
            if found is not None:
                told[LINES[found]] = line.removeprefix(found).strip()
            if len(told) == len(LINES):
                return Served(process=process, **told)
        process.communicate(timeout=PATIENCE)
    finally:
        late.cancel()
    said = log.read_bytes()[before:].decode(errors="replace").strip()
    raise NotServedError(said or f"{' '.join(command)} ended with {process.returncode}")


@contextmanager
def serving(quiz: Path, *options: str, log: Path) -> Iterator[Served]:
    """A quiz that is served as long as it is needed."""
    served = start(quiz, *options, log=log)
    try:
        yield served
    finally:
        served.stop()
