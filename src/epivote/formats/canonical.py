"""Reading canonical files: alternatives joined by `|`, an empty cell for an empty set, no row for a missing one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.bounds import SizeBounds
from epivote.data.columns import INSTANCE_COLUMNS, LIST_COLUMNS
from epivote.data.truths import Truths
from epivote.errors import BoundsError, InputError
from epivote.formats.joined import SEPARATOR
from epivote.formats.reading import Reading
from epivote.formats.source import PathLike, open_source
from epivote.formats.tables import read_lists
from epivote.formats.text_table import TextTable


def read_ballots(
    path: PathLike,
    *,
    alternatives: Iterable[str] | None = None,
    menu: MenuLike | PathLike | None = None,
    duplicates: Duplicates = "error",
) -> Ballots:
    """Ballots from a file with columns `voter,instance,alternatives`: CSV, TSV, Parquet, JSON or JSONL.

    `alternatives` states them when not all were ever ticked; `menu` (a mapping or a file `instance,alternatives`)
    states what was offered where.
    """
    with open_source(path) as source:
        reading = Reading(alternatives=alternatives, menu=menu, duplicates=duplicates)
        return read_lists(source, settled(reading)).ballots.in_memory()


def settled(reading: Reading) -> Reading:
    """The options as readers need them: menus read from their file, alternatives as a tuple."""
    names = None if reading.alternatives is None else tuple(reading.alternatives)
    menu = read_menu(reading.menu) if isinstance(reading.menu, (str, Path)) else reading.menu
    separator = reading.separator
    if separator is not None:
        separator = separator.replace("\\n", "\n").replace("\\t", "\t")
    return replace(reading, alternatives=names, menu=menu, separator=separator)


OPEN = "?"
"""Stands for a set that is still to be filled in."""


def read_truths(path: PathLike, *, alternatives: Iterable[str] | None = None) -> Truths:
    """Sets from a CSV file with columns `instance,alternatives`; other columns are ignored.

    Rows whose alternatives are still `?`, as `epivote gold` writes them, are left out.
    """
    found = {name: names for name, names in _read_sets(path, "set").items() if names != [OPEN]}
    if not found:
        raise InputError(
            f"no set in {path} is filled in; replace ? by alternatives joined by |, or delete it for an empty set"
        )
    return Truths.from_mapping(found, alternatives=alternatives)


def count_open(path: PathLike) -> int:
    """How many sets of such a file are still to be filled in."""
    return sum(names == [OPEN] for names in _read_sets(path, "set").values())


def read_confidence(path: PathLike) -> dict[str, float]:
    """The stated confidence of every set in such a file; nothing for sets, or files, that state none."""
    with open_source(path) as source:
        table = TextTable(source)
        if "confidence" not in table.columns:
            return {}
        stated = table.column(("confidence",)).cast(pl.Float64, strict=False)
        pairs = zip(table.column(INSTANCE_COLUMNS), stated, strict=True)
    return {instance: confidence for instance, confidence in pairs if confidence is not None}


def read_menu(path: PathLike) -> dict[str, list[str]]:
    """Menus from a CSV file with columns `instance,alternatives`."""
    return _read_sets(path, "menu")


def read_sizes(path: PathLike, usual: SizeBounds) -> SizeBounds:
    """Size bounds of single instances from a CSV file with columns `instance,size`; `usual` holds for all others."""
    own: dict[str, tuple[int, int | None]] = {}
    with open_source(path) as source:
        table = TextTable(source)
        instances, sizes = table.column(INSTANCE_COLUMNS), table.column(("size",))
        for row, (instance, size) in enumerate(zip(instances, sizes, strict=True)):
            try:
                bounds = SizeBounds.parse(size or "")
            except BoundsError as error:
                raise BoundsError(f"{table.place(row)}: {error}") from None
            if not instance or instance in own:
                raise BoundsError(
                    f"{table.place(row)}: instance {instance!r} is blank or already has a size; remove the row"
                )
            own[instance] = (bounds.lower, bounds.upper)
    return SizeBounds(usual.lower, usual.upper, own)


def _read_sets(path: PathLike, what: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with open_source(path) as source:
        table = TextTable(source)
        instances = table.column(INSTANCE_COLUMNS).to_list()
        sets = table.column(LIST_COLUMNS).str.split(SEPARATOR).to_list()
        for row, (instance, names) in enumerate(zip(instances, sets, strict=True)):
            if not instance:
                raise InputError(f"{table.place(row)}: the instance is blank; give every {what} an instance")
            if instance in found:
                raise InputError(f"{table.place(row)}: instance {instance!r} already has a {what}; remove one")
            found[instance] = [name for name in names or [] if name]
    return found
