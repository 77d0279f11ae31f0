"""On which line of a TOML file a key stands; Python's own reader does not tell."""

from __future__ import annotations

import re
from collections.abc import Mapping

TomlKey = tuple[str | int, ...]

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")
_TOKEN = re.compile(
    r"#[^\n]*"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'''.*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|[\[\]{}\n]",
    re.DOTALL,
)


def lines_of(text: str) -> dict[TomlKey, int]:
    """Lines of all tables and keys: `("title",)`, `("instances", 2)`, `("instances", 2, "name")`, counted from 1."""
    found: dict[TomlKey, int] = {}
    counts: dict[str, int] = {}
    table: TomlKey = ()
    inside = _continued(text)
    for number, line in enumerate(text.split("\n"), start=1):
        if number in inside:
            continue
        if header := _HEADER.match(line):
            name = header[1]
            table = (name,)
            if line.lstrip().startswith("[["):
                counts[name] = counts.get(name, -1) + 1
                found.setdefault(table, number)
                table = (name, counts[name])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, key[1] or key[2] or key[3]), number)
    return found


def line_of(lines: Mapping[TomlKey, int], where: TomlKey) -> int:
    """The line of a place, or of the nearest one around it that has a line; the first one for what stands nowhere."""
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where, 1)


def _continued(text: str) -> set[int]:
    """Numbers of lines that begin inside a text, a list or an inline table."""
    found: set[int] = set()
    depth, number = 0, 1
    for token in _TOKEN.finditer(text):
        piece = token[0]
        if piece == "\n":
            number += 1
            if depth > 0:
                found.add(number)
        elif piece in "[{":
            depth += 1
        elif piece in "]}":
            depth = max(0, depth - 1)
        else:
            found.update(range(number + 1, number + piece.count("\n") + 1))
            number += piece.count("\n")
    return found
