"""Any file people have, told apart by name and content."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

from epivote.data.ballots import Duplicates, MenuLike
from epivote.data.frames import Blank
from epivote.data.names import listing
from epivote.errors import EpivoteError, FileError
from epivote.formats.argilla import read_argilla
from epivote.formats.canonical import read_ballots as read_canonical
from epivote.formats.canonical import read_menu
from epivote.formats.export import Collector, Export, read_json
from epivote.formats.forms import read_forms
from epivote.formats.label_studio import read_min, read_tasks
from epivote.formats.mturk import read_mturk
from epivote.formats.prodigy import read_prodigy
from epivote.formats.text_table import first_line

Format = Literal["csv", "forms", "mturk", "label-studio", "label-studio-min", "prodigy", "argilla"]


def read_export(
    path: str | Path,
    *,
    format: Format | None = None,  # noqa: A002
    question: str | None = None,
    voter: str | None = None,
    instances: str | None = None,
    gold_row: str | None = None,
    blank: Blank = "missing",
    alternatives: Iterable[str] | None = None,
    menu: MenuLike | str | Path | None = None,
    duplicates: Duplicates = "error",
) -> Export:
    """Ballots from the export of an annotation tool, with its gold sets and remarks on what was doubtful.

    The format is told from name and content unless it is given; `question` names the question where a file has several.
    For `forms`: `voter` names the respondent's column, `instances` is a pattern for the question columns, `gold_row`
    the respondent whose row holds the right answers, and `blank` says what an empty cell is. For `mturk`: `instances`
    names the column of the item, where that is not the HIT.
    """
    path = Path(path)
    kind = format or detect(path)
    if format is None and kind == "csv" and (voter or instances or gold_row):
        kind = "forms"
    alternatives = None if alternatives is None else list(alternatives)
    if kind not in get_args(Format):
        raise FileError(f"{kind!r} is not a format; it is one of {listing(get_args(Format))}")
    menus = read_menu(menu) if isinstance(menu, (str, Path)) else menu
    if kind == "csv":
        return Export(read_canonical(path, alternatives=alternatives, menu=menus, duplicates=duplicates))
    if kind == "forms":
        options = {"voter": voter, "instances": instances, "gold_row": gold_row}
        return read_forms(path, **options, alternatives=alternatives, blank=blank).export(alternatives, menus)
    if kind == "mturk":
        return read_mturk(path, question=question, instances=instances).export(alternatives, menus)
    try:
        return _collect(path, kind, question).export(alternatives, menus)
    except EpivoteError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise FileError(f"{path} is no {kind} export as known here ({type(error).__name__}: {error})") from None


def detect(path: Path) -> Format:
    """The format of a file, from its name and what it holds."""
    if path.suffix == ".jsonl":
        return "prodigy"
    if path.suffix != ".json":
        return "mturk" if {"HITId", "WorkerId"} <= set(first_line(path).split(",")) else "csv"
    content = read_json(path)
    first: dict[str, Any] = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    if "annotations" in first or "completions" in first:
        return "label-studio"
    if "annotator" in first:
        return "label-studio-min"
    if "responses" in first or any(name.endswith(".responses") for name in first):
        return "argilla"
    raise FileError(f"{path}: this JSON is of no known tool; say which with --format ({', '.join(get_args(Format))})")


def _collect(path: Path, kind: str, question: str | None) -> Collector:
    if kind == "prodigy":
        return read_prodigy(path)
    content = read_json(path)
    if kind == "label-studio":
        return read_tasks(content, path, question)
    if kind == "label-studio-min":
        return read_min(content, path, question)
    return read_argilla(content, path, question)
