"""The command to try next, ready to be copied: the same file, read and estimated in the same way."""

from __future__ import annotations

import shlex
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any

from epivote.cli.options import Fitting
from epivote.formats.reading import Reading


@dataclass(frozen=True)
class Again:
    """A file and what was said about it."""

    ballots: Path
    fitting: Fitting
    reading: Reading

    def command(self, name: str, *arguments: str, more: str = "") -> str:
        """`epivote NAME FILE ARGUMENTS` with every option that was given, and `more` after them."""
        words = ["epivote", name, str(self.ballots), *arguments]
        for bundle in (self.fitting, self.reading):
            for each in fields(bundle):
                words += _option(each, getattr(bundle, each.name))
        return f"{shlex.join(words)} {more}".rstrip()


def _option(field: Field[Any], value: object) -> list[str]:
    """An option as it is typed; nothing if it has its default."""
    if value is None or (field.default is not MISSING and value == field.default):
        return []
    name = f"--{field.name.replace('_', '-')}"
    return [name] if value is True else [name, str(value)]
