"""Lets a program vote in a task that `epivote collect serve` serves, beside people, through the JSON interface.

    EPIVOTE_KEY=... python examples/vote_by_program.py http://127.0.0.1:8000 --name word-matcher

Replace `ticks_for` by your classifier or by a question to a language model: it gets what a person sees and returns
every alternative it believes right; an empty list says "none of these", `None` casts no ballot. This one only looks
for the names of alternatives in the text. Nothing but Python is needed.
"""

import argparse
import json
import os
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

PATIENCE = 5


def ticks_for(instance: dict[str, Any], task: dict[str, Any]) -> list[str] | None:
    """What to tick on one instance."""
    if not instance["text"]:
        return None
    helps = {each["name"]: each["help"] for each in task["alternatives"]}
    words = set(instance["text"].lower().split())
    return [name for name in instance["alternatives"] if words & {*name.lower().split(), *helps[name].lower().split()}]


class Interface:
    """The JSON interface of one server."""

    def __init__(self, server: str, key: str) -> None:
        self.address = f"{server.rstrip('/')}/api/v1"
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def get(self, path: str) -> Any:
        """What is there."""
        return self._send("GET", path)

    def vote(self, voter: str, instance: str, ticks: list[str]) -> Any:
        """Cast a ballot; the same one again does no harm, so it is simply repeated when something fails."""
        return self._send("PUT", f"/voters/{quote(voter, '')}/ballots/{quote(instance, '')}", {"ticks": ticks})

    def _send(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", data, self.headers, method=method)
        for attempt in range(PATIENCE):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as problem:
                with problem:
                    told = json.load(problem)["error"]
                if problem.code not in (429, 503) or attempt == PATIENCE - 1:
                    raise SystemExit(f"{method} {path}: {told}") from None
                time.sleep(float(problem.headers.get("Retry-After", 1)))
        raise AssertionError("unreachable")


def main() -> None:
    """Vote on every instance."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("server", help="the participants' address")
    arguments.add_argument(
        "key", nargs="?", default=os.environ.get("EPIVOTE_KEY"), help="the JSON key; better in EPIVOTE_KEY than here"
    )
    arguments.add_argument("--name", default="word-matcher", help="who votes")
    given = arguments.parse_args()
    if not given.key:
        arguments.error("the JSON key is missing; set EPIVOTE_KEY to what `epivote collect serve` prints")
    interface = Interface(given.server, given.key)
    task = interface.get("/task")
    cast = 0
    for instance in interface.get("/instances"):
        ticks = ticks_for(instance, task) if instance["wanted"] else None
        if ticks is not None:
            interface.vote(given.name, instance["name"], ticks)
            cast += 1
    print(f"{given.name} voted on {cast} of {task['instances']} instances of {task['title']!r}.")


if __name__ == "__main__":
    main()
