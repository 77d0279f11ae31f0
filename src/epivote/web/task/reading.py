"""From a TOML file to a task, or to every mistake in it with its line and remedy."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from epivote import FileError, InputError, SizeBounds
from epivote.web.languages import CODES
from epivote.web.task.lines import lines_of
from epivote.web.task.model import Alternative, Instance, Join, LiveMethod, Order, Task
from epivote.web.task.tables import Kind, Mistake, Mistakes, TaskTable, close

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg")
SOUNDS = (".mp3", ".ogg", ".oga", ".opus", ".wav", ".m4a", ".flac")
VIDEOS = (".mp4", ".m4v", ".webm", ".ogv")
MOST_INSTANCES = 5_000  # of a task that a live page can show; a round number
MOST_ALTERNATIVES = 200  # that a participant can be shown at once; a round number
OWN_PARAMETERS = ("invitation", "part", "secret")  # of addresses of the pages
OWN_CODE = "unique"  # a completion code: everybody gets one of their own
TRUTH = Kind(lambda value: isinstance(value, bool), "true or false, without quotes")
TIME = Kind(
    lambda value: isinstance(value, datetime) and value.tzinfo is not None,
    "date, time and offset: 2027-03-01T09:00:00+01:00",
    lambda value: repr(str(value)),
)
SETTINGS = {  # of a task, except texts; what is not written has the value that `Task` gives it
    "show_size": TRUTH,
    "shuffle_alternatives": TRUTH,
    "ranking": TRUTH,
    "order": Kind.one_of(Order),
    "join": Kind.one_of(Join),
    "method": Kind.one_of(LiveMethod),
    # `true` is no count, although it is an int to Python.
    "most_ballots": Kind(lambda value: type(value) is int and value >= 1, "a whole number of at least 1"),
    "confidence": Kind(
        lambda value: isinstance(value, float) and 0.5 <= value < 1, "a probability such as 0.95, from 0.5 to below 1"
    ),
}
TIMES = dict.fromkeys(("opens", "closes"), TIME)
TASK_KEYS = {each.name for each in fields(Task)} - {"folder"}
ALTERNATIVE_KEYS = {each.name for each in fields(Alternative)}
INSTANCE_KEYS = {each.name for each in fields(Instance)} - {"offered"} | {"alternatives"}


def read_task(path: Path) -> Task:
    """The task in a file; an error with every mistake in it otherwise."""
    task, mistakes = check_task(path)
    if task is None:
        count = f"{len(mistakes)} mistakes" if len(mistakes) > 1 else "a mistake"
        told = "".join(f"\n  line {mistake.line}: {mistake.sentence}" for mistake in mistakes)
        raise InputError(f"{path} has {count}; correct the file and try again:{told}")
    return task


def check_task(path: Path) -> tuple[Task | None, list[Mistake]]:
    """The task, or all that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}; write one with: epivote collect new") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    text = text.replace("\r\n", "\n")
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return None, [_syntax(str(error))]
    mistakes = Mistakes(lines_of(text))
    task = _task(TaskTable(values, (), mistakes, "the task"), path.absolute().parent)
    found = mistakes.sorted()
    return (None if found else task), found


def _syntax(message: str) -> Mistake:
    place = re.search(r"\(at line (\d+), column (\d+)\)", message)
    told = re.sub(r"\s*\(at .*\)", "", message)
    line = int(place[1]) if place else 1
    return Mistake(line, f"this is not TOML: {told[:1].lower()}{told[1:]}; check quotes and brackets here and above")


def _task(table: TaskTable, folder: Path) -> Task:
    table.check_keys(TASK_KEYS)
    if "size" not in table.values:
        table.wrong("size", 'the task has no size; write how many alternatives are right: size = "1..2"')
    size = table.size(SizeBounds(0, None))
    alternatives = _alternatives(table, folder)
    instances = _instances(table, folder, alternatives, size)
    times = table.settings(TIMES)
    if len(times) == len(TIMES) and times["closes"] <= times["opens"]:
        table.wrong("closes", "the task closes before it opens; correct one of the two times")
    return Task(
        title=table.text("title", needed=True, longest=300),
        folder=folder,
        size=size,
        alternatives=alternatives,
        instances=instances,
        instructions=table.text("instructions"),
        privacy=table.text("privacy"),
        consent=table.text("consent"),
        theme_colour=_colour(table),
        logo=_file(table, "logo", PICTURES, folder),
        **_completion(table),
        database=table.text("database", longest=500),
        languages=_languages(table),
        **times,
        **table.settings(SETTINGS),
    )


def _completion(table: TaskTable) -> dict[str, Any]:
    """How participants sent by another site are known there, and what they bring back."""
    parameter = table.text("participant_parameter", longest=40)
    if parameter and (not re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", parameter) or parameter in OWN_PARAMETERS):
        table.wrong(
            "participant_parameter",
            f"participant_parameter {parameter!r} cannot be used in an address; write PROLIFIC_PID or workerId",
        )
    code = table.text("completion_code", longest=60)
    if code and not re.fullmatch("[A-Za-z0-9_-]+", code):
        table.wrong(
            "completion_code", f"completion_code {code!r} is not a code; use letters and digits, or {OWN_CODE!r}"
        )
    link = _link(table, "completion_link")
    for blank in re.findall(r"\{(.*?)\}", link):
        if blank not in ("code", "participant"):
            table.wrong(
                "completion_link", f"completion_link has no value for {{{blank}}}; use {{code}} or {{participant}}"
            )
    return {"participant_parameter": parameter, "completion_code": code, "completion_link": link}


def _colour(table: TaskTable) -> str:
    colour = table.text("theme_colour", longest=30)
    if colour and not re.fullmatch("#[0-9A-Fa-f]{6}", colour):
        table.wrong("theme_colour", f"theme_colour {colour!r} is not a colour; write six hexadecimal digits: #8b1e3f")
        return ""
    return colour


def _languages(table: TaskTable) -> tuple[str, ...]:
    named = table.names("languages")
    for code in named or ():
        if code not in CODES:
            table.wrong("languages", f"language {code!r} is not available; choose from {', '.join(map(repr, CODES))}")
    return named or CODES


def _alternatives(task: TaskTable, folder: Path) -> tuple[Alternative, ...]:
    found = []
    for table in _tables(task, "alternatives", MOST_ALTERNATIVES):
        table.check_keys(ALTERNATIVE_KEYS)
        name = table.name()
        if "|" in name:
            table.wrong(
                "name", f"{name!r} contains |, which separates names in files of ballots; use another character"
            )
        found.append(
            Alternative(name, table.text("help"), _file(table, "picture", PICTURES, folder), table.text("picture_text"))
        )
    _check_unique(task, "alternatives", [each.name for each in found])
    return tuple(found)


def _instances(
    task: TaskTable, folder: Path, alternatives: tuple[Alternative, ...], size: SizeBounds
) -> tuple[Instance, ...]:
    found = []
    for table in _tables(task, "instances", MOST_INSTANCES):
        table.check_keys(INSTANCE_KEYS)
        offered = _offered(table, alternatives)
        own_size = table.size(size)
        if own_size.lower > len(offered):
            table.wrong(
                "size" if "size" in table.values else "alternatives",
                f"{table.called} offers {len(offered)} alternatives, but at least {own_size.lower} should be right; "
                "offer more or lower the size",
            )
        found.append(
            Instance(
                name=table.name(),
                offered=offered,
                size=own_size,
                text=table.text("text"),
                picture=_file(table, "picture", PICTURES, folder),
                picture_text=table.text("picture_text"),
                audio=_file(table, "audio", SOUNDS, folder),
                video=_file(table, "video", VIDEOS, folder),
                link=_link(table),
                gold=_gold(table, offered, own_size),
            )
        )
        if not any(table.values.get(key) for key in ("text", "picture", "audio", "video", "link")):
            table.wrong("name", f"{table.called} shows nothing; give it a text, picture, audio, video or link")
    _check_unique(task, "instances", [each.name for each in found])
    return tuple(found)


def _tables(task: TaskTable, key: str, most: int) -> list[TaskTable]:
    """The tables `[[key]]`, each called by its name."""
    one = key.removesuffix("s")
    values: Any = task.values.get(key, [])
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        task.wrong(key, f"{key} are not tables; begin every one with a line [[{key}]]")
        return []
    if not values:
        task.wrong(key, f'the task has no {key}; add some, each beginning with [[{key}]] and name = "..."')
    if len(values) > most:
        task.wrong(key, f"the task has {len(values):,} {key}; at most {most:,} are possible")
    found = []
    for number, each in enumerate(values):
        name = each.get("name")
        called = f"{one} {name!r}" if isinstance(name, str) and name.strip() else f"{one} number {number + 1}"
        found.append(TaskTable(each, (key, number), task.mistakes, called))
    return found


def _check_unique(task: TaskTable, key: str, names: list[str]) -> None:
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        if name and name in seen:
            task.mistakes.note(
                (key, number, "name"),
                f"{key.removesuffix('s')} {name!r} appears twice, first as number {seen[name] + 1}; rename one",
            )
        seen.setdefault(name, number)


def _offered(table: TaskTable, alternatives: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """The menu of an instance, in the order of the task's alternatives."""
    named = table.names("alternatives")
    if named is None:
        return alternatives
    _check_known(table, "alternatives", named, tuple(each.name for each in alternatives))
    if not named:
        table.wrong("alternatives", f"{table.called} offers nothing; name alternatives or leave the line out")
    return tuple(each for each in alternatives if each.name in named)


def _gold(table: TaskTable, offered: tuple[Alternative, ...], size: SizeBounds) -> frozenset[str] | None:
    named = table.names("gold")
    if named is None:
        return None
    known = tuple(each.name for each in offered)
    if _check_known(table, "gold", named, known):
        upper = len(known) if size.upper is None else size.upper
        if not size.lower <= len(named) <= upper:
            table.wrong("gold", f"gold of {table.called} has {len(named)} names, but its size is {size}; correct one")
    return frozenset(named)


def _check_known(table: TaskTable, key: str, named: tuple[str, ...], known: tuple[str, ...]) -> bool:
    strangers = [name for name in named if name not in known]
    for name in strangers:
        table.wrong(key, f"{name!r} in {key} of {table.called} is not offered there{close(name, known)}; correct it")
    return not strangers


def _file(table: TaskTable, key: str, endings: tuple[str, ...], folder: Path) -> str:
    """A file inside the task's folder, as it is written there."""
    name = table.text(key, longest=500)
    if not name:
        return ""
    told = f"{key} {name!r} of {table.called}"
    if "\\" in name or Path(name).is_absolute() or not is_inside(folder, name):
        table.wrong(key, f"{told} is outside the task's folder; move the file there and write its relative path with /")
    elif Path(name).suffix.lower() not in endings:
        table.wrong(key, f"{told} has an unknown file type; use {', '.join(endings)}")
    elif not (folder / name).is_file():
        table.wrong(key, f"{told} does not exist; put the file at {folder / name} or correct the path")
    return name


def is_inside(folder: Path, name: str) -> bool:
    """Whether a path stays in a folder, links followed."""
    try:
        return (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _link(table: TaskTable, key: str = "link") -> str:
    link = table.text(key, longest=2_000)
    if not link:
        return ""
    try:
        parts = urlsplit(link)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fine = False
    if not fine or re.search(r"\s", link):
        table.wrong(key, f"{key} {link!r} of {table.called} is not a web address; begin it with https://")
    return link
