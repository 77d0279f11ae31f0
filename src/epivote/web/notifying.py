"""Telling another program that a participant has handed in: by a request to an address, or by running a command.

Both happen beside the requests of participants, who never wait for them, and are tried again for a while when they
fail; what cannot be delivered is logged.
"""

from __future__ import annotations

import json
import logging
import queue
import re
import shlex
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.error import URLError

from epivote import InputError

LOG = logging.getLogger("epivote.collect")
PAUSES = (1.0, 10.0, 60.0)  # seconds before the second, third and fourth attempt; round numbers
SECONDS_TO_ANSWER = 10.0  # for the address; a round number
SECONDS_TO_RUN = 60.0  # for the command; a round number
MOST_WAITING = 10_000  # events; more are dropped and logged
Event = Mapping[str, object]


@dataclass
class Notifier:
    """Delivers events one after the other, in a thread of its own that starts with the first one."""

    address: str = ""
    command: tuple[str, ...] = ()
    pause: Callable[[float], None] = time.sleep
    _waiting: queue.Queue[Event] = field(default_factory=lambda: queue.Queue(MOST_WAITING))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None

    @property
    def is_wished(self) -> bool:
        """Whether anybody is told anything."""
        return bool(self.address or self.command)

    def tell(self, event: Event) -> None:
        """Deliver an event soon; returns at once."""
        if not self.is_wished:
            return
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            LOG.warning("an event was dropped, because %d others are waiting to be delivered", MOST_WAITING)
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._deliver, name="notifier", daemon=True)
                self._thread.start()

    def wait_for_all(self) -> None:
        """Until everything so far is delivered or given up."""
        self._waiting.join()

    def _deliver(self) -> None:
        while True:
            body = json.dumps(self._waiting.get(), ensure_ascii=False).encode("utf-8", "replace")
            try:
                for way in (self._send, self._run):
                    self._try(way, body)
            finally:
                self._waiting.task_done()

    def _try(self, way: Callable[[bytes], None], body: bytes) -> None:
        for seconds in (*PAUSES, None):
            try:
                way(body)
            except (OSError, URLError, ValueError, subprocess.SubprocessError) as error:
                if seconds is None:
                    LOG.warning("an event could not be delivered, giving up: %s", error)
                else:
                    self.pause(seconds)
            else:
                return

    def _send(self, body: bytes) -> None:
        if self.address:
            headers = {"Content-Type": "application/json", "User-Agent": "epivote"}
            request = urllib.request.Request(self.address, body, headers)
            with urllib.request.urlopen(request, timeout=SECONDS_TO_ANSWER) as answer:
                answer.read(1)

    def _run(self, body: bytes) -> None:
        if self.command:
            subprocess.run(
                self.command,
                input=body,
                check=True,
                timeout=SECONDS_TO_RUN,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


def notifier_of(address: str | None, command: str | None) -> Notifier:
    """A notifier for what an organiser wrote; the command runs without a shell."""
    if address and not re.fullmatch(r"https?://[^/?#\s]+(/\S*)?", address):
        raise InputError(f"--webhook {address!r} is not a web address; write one such as https://example.org/hook")
    try:
        words = tuple(shlex.split(command or ""))
    except ValueError as error:
        raise InputError(f"--on-completion {command!r} cannot be read: {error}; check its quotes") from None
    if command is not None and not words:
        raise InputError("--on-completion is empty; write a command such as 'python told.py'")
    return Notifier(address or "", words)
