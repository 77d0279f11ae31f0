"""Results kept on disk, one JSON file each, so that an interrupted run goes on where it stopped.

Both `experiments` and `benchmarks` use it. A result is current if it was made with the same settings by the same
source; others are computed again.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """A result with the commit and the date it was made; `current` says whether it still holds."""

    result: Any
    commit: str
    date: str
    current: bool


@dataclass(frozen=True)
class Store:
    """A folder of results; `source` stands for the code that makes them now, `fresh` makes all of them again."""

    folder: Path
    source: str
    commit: str
    fresh: bool = False

    def read(self, name: str, settings: Settings) -> Kept | None:
        """What is kept under this name, if anything."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return None
        kept = json.loads(path.read_text())
        if "result" not in kept:  # written by an older program
            return None
        current = kept["source"] == self.source and kept["settings"] == plain(settings)
        return Kept(kept["result"], kept["commit"], kept["date"], current)

    def measured(self, name: str, settings: Settings, work: Callable[[], Any]) -> Any:
        """The current result, or a new one from `work`, which is kept at once."""
        kept = self.read(name, settings)
        if kept is not None and kept.current and not self.fresh:
            print(f"{name}: kept from {kept.date}", file=sys.stderr)
            return kept.result
        print(f"{name}: measuring", file=sys.stderr)
        begin = time.perf_counter()
        result = work()
        self.keep(name, settings, result)
        print(f"{name}: done in {time.perf_counter() - begin:.1f} s", file=sys.stderr)
        return result

    def keep(self, name: str, settings: Settings, result: Any) -> None:
        """Write a result whole or not at all, so that an interrupt leaves no half file behind."""
        self.folder.mkdir(parents=True, exist_ok=True)
        date = datetime.datetime.now().isoformat(" ", "minutes")
        record = {"settings": settings, "source": self.source, "commit": self.commit, "date": date, "result": result}
        unfinished = self.folder / f"{name}.json.part"
        unfinished.write_text(json.dumps(record, indent=1))
        unfinished.replace(self.folder / f"{name}.json")


def plain(settings: Settings) -> Any:
    """Settings as they come back from a file."""
    return json.loads(json.dumps(settings))


def digest_of(files: Iterable[Path]) -> str:
    """One number for the contents of all these files."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def commit() -> str:
    """The commit that is checked out, marked where files were changed since; empty without a repository."""
    command = ["git", "describe", "--always", "--dirty=, changed since", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
