"""What the participants' pages say, a TOML file per language; a further file here is a further language."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FOLDER = files("epivote.web.languages")
_FOUND = {file.name.removesuffix(".toml") for file in _FOLDER.iterdir() if file.name.endswith(".toml")}
CODES = ("en", *sorted(_FOUND - {"en"}))
"""The first one is for browsers that ask for none of them, unless a task names others."""


@dataclass(frozen=True)
class Language:
    """The sentences of one language by their keys."""

    code: str
    sentences: dict[str, str]

    @property
    def name(self) -> str:
        """What the language calls itself."""
        return self.sentences["language"]

    def __call__(self, key: str, /, **values: object) -> str:
        """A sentence with its blanks filled in."""
        return self.sentences[key].format(**values)

    def counted(self, key: str, number: int, /, **values: object) -> str:
        """A sentence that depends on whether a number takes the singular."""
        form = "one" if str(number) in self.sentences["singular"].split() else "many"
        return self(f"{key}.{form}", **values)


@cache
def language(code: str) -> Language:
    """The language with this code."""
    return Language(code, tomllib.loads((_FOLDER / f"{code}.toml").read_text(encoding="utf-8")))


def choose(offered: Sequence[str], wished: str | None, accepted: str) -> str:
    """The wished code if it is offered, else the best that the browser accepts, else the first one offered."""
    if wished in offered:
        return str(wished)
    ranked = []
    for position, part in enumerate(accepted[:500].split(",")):
        code, _, quality = part.strip().partition(";q=")
        try:
            weight = float(quality or 1)
        except ValueError:
            weight = 0.0
        ranked.append((-weight, position, code.split("-")[0].lower()))
    return next((code for weight, _, code in sorted(ranked) if weight < 0 and code in offered), offered[0])
