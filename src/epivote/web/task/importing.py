"""A task made from a folder of pictures, or from a table with one instance per row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from epivote import FileError, InputError
from epivote.web.task.reading import PICTURES, SOUNDS, VIDEOS

MEDIA = {
    **dict.fromkeys(PICTURES, "picture"),
    **dict.fromkeys(SOUNDS, "audio"),
    **dict.fromkeys(VIDEOS, "video"),
}
FILES = ("picture", "audio", "video")
LISTS = ("alternatives", "gold")
COLUMNS = ("name", "text", "picture", "picture_text", "audio", "video", "link", "alternatives", "size", "gold")
ALIASES = {"instance": "name", "id": "name", "item": "name", "question": "text", "image": "picture", "label": "gold"}
SEPARATORS = ",;\t"
PLACEHOLDERS = ("first alternative", "second alternative")
HEAD = """# Made from {source}. `epivote collect new` without --from writes an example that explains every line.
title = {title}
instructions = "Tick everything that is right."
size = {size}             # how many alternatives are right: "2", "1..2", or "1.." for no upper bound
"""


@dataclass
class Imported:
    """A task as text, how many instances it has, how many files are of no use, and whether to name alternatives yet."""

    text: str = ""
    instances: int = 0
    ignored: int = 0
    needs_alternatives: bool = False


@dataclass
class _Rows:
    rows: list[dict[str, str | list[str]]] = field(default_factory=list)
    ignored: int = 0


def task_from(source: Path, target: Path, alternatives: Sequence[str] = (), size: str = "1..") -> Imported:
    """The text of a task file at `target`, with an instance for every file of a folder or every row of a table."""
    if source.is_dir():
        found = _from_folder(source, target.absolute().parent)
    elif source.is_file():
        found = _from_table(source, target.absolute().parent)
    else:
        raise FileError(f"{source} does not exist; name a folder of pictures or a CSV file")
    if not found.rows:
        raise InputError(f"{source} holds no instances; a folder needs pictures, sounds or videos, a CSV file rows")
    named = tuple(alternatives) or _all_named(found.rows)
    chosen = named or PLACEHOLDERS
    head = HEAD.format(source=source.name, title=_quoted(target.stem.replace("_", " ")), size=_quoted(size))
    parts = [head, *(_table("alternatives", {"name": name}) for name in chosen)]
    parts += [_table("instances", _shortened(row, chosen)) for row in found.rows]
    return Imported("\n".join(parts), len(found.rows), found.ignored, not named)


def _from_folder(source: Path, home: Path) -> _Rows:
    files = [each for each in source.rglob("*") if each.is_file() and not each.name.startswith(".")]
    media = sorted((each for each in files if each.suffix.lower() in MEDIA), key=_natural)
    stems = [each.stem for each in media]
    found = _Rows(ignored=len(files) - len(media))
    for each in media:
        is_unique = stems.count(each.stem) == 1
        name = each.stem if is_unique else each.relative_to(source).as_posix()
        found.rows.append({"name": name, MEDIA[each.suffix.lower()]: _relative(each, home)})
    return found


def _from_table(source: Path, home: Path) -> _Rows:
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read {source}: {error}; save it as CSV in UTF-8") from None
    first = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(SEPARATORS, key=first.count))
    columns = {column: _column(column, source) for column in reader.fieldnames or ()}
    found = _Rows()
    for number, row in enumerate(reader, start=1):
        cells = {columns[name]: (value or "").strip() for name, value in row.items() if name in columns}
        if not any(cells.values()):
            continue
        told: dict[str, str | list[str]] = {"name": cells.get("name") or f"instance {number}"}
        told |= {name: value for name, value in cells.items() if value and name != "name"}
        told |= {name: [part.strip() for part in cells[name].split("|")] for name in LISTS if cells.get(name)}
        told |= {name: _relative(source.parent / cells[name], home) for name in FILES if cells.get(name)}
        found.rows.append(told)
    return found


def _column(name: str, source: Path) -> str:
    """What a column of the table means."""
    plain = name.strip().lower().replace(" ", "_")
    meant = ALIASES.get(plain, plain)
    if meant not in COLUMNS:
        raise InputError(f"{source} has an unknown column {name!r}; use {', '.join(COLUMNS)}")
    return meant


def _relative(path: Path, home: Path) -> str:
    """A path as the task writes it: seen from its own folder."""
    try:
        return path.absolute().resolve().relative_to(home.resolve()).as_posix()
    except ValueError:
        raise InputError(f"{path} is outside {home}; move it there, or write the task beside it") from None


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """Sorts `picture 10` behind `picture 9`."""
    parts = re.split(r"(\d+)", path.as_posix().casefold())
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts if part]


def _all_named(rows: list[dict[str, str | list[str]]]) -> tuple[str, ...]:
    """Every alternative that some row names, in the order of their first appearance."""
    return tuple(dict.fromkeys(name for row in rows for key in LISTS for name in row.get(key, [])))


def _shortened(row: dict[str, str | list[str]], everything: Sequence[str]) -> dict[str, str | list[str]]:
    """A row without the alternatives where it offers all of them."""
    is_all = set(row.get("alternatives", ())) == set(everything)
    return {key: value for key, value in row.items() if key != "alternatives" or not is_all}


def _table(kind: str, values: dict[str, str | list[str]] | dict[str, str]) -> str:
    lines = [f"[[{kind}]]"]
    for key, value in values.items():
        told = _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"
        lines.append(f"{key} = {told}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as TOML writes it on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
