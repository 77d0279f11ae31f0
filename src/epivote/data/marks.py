"""What people and programs write into a box for "ticked" and "not ticked"."""

from __future__ import annotations

import polars as pl

TICKED = frozenset({"1", "true", "yes", "y", "x", "on", "checked", "selected", "ja", "oui", "si", "sí", "✓", "✔", "☑"})
UNTICKED = frozenset({"0", "false", "no", "n", "off", "unchecked", "not selected", "nein", "non", "☐"})


def marks_of(column: pl.Series) -> pl.Series:
    """A column of text as true and false; null where it is blank or holds anything else."""
    words = column.str.strip_chars().str.to_lowercase()
    number = words.cast(pl.Float64, strict=False)
    ticked = words.is_in(list(TICKED)) | (number == 1).fill_null(value=False)
    unticked = words.is_in(list(UNTICKED)) | (number == 0).fill_null(value=False)
    return pl.select(pl.when(ticked).then(True).when(unticked).then(False)).to_series().rename(column.name)
