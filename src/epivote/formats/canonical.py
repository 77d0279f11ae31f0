"""The canonical files: CSV, alternatives joined by `|`, an empty cell for an empty set, no row for a missing one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from epivote.atomic import write_files
from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.bounds import SizeBounds
from epivote.data.estimate import Estimate
from epivote.data.frames import INSTANCE_COLUMNS, LIST_COLUMNS, VOTER_COLUMNS, Rows, from_rows, split
from epivote.data.truths import Truths
from epivote.errors import BoundsError, InputError
from epivote.formats.text_table import TextTable

SEPARATOR = "|"
PathLike = str | Path


def read_ballots(
    path: PathLike,
    *,
    alternatives: Iterable[str] | None = None,
    menu: MenuLike | PathLike | None = None,
    duplicates: Duplicates = "error",
) -> Ballots:
    """Ballots from a CSV file with columns `voter,instance,alternatives`.

    `alternatives` states them when not all were ever ticked; `menu` (a mapping or a file `instance,alternatives`)
    states what was offered where.
    """
    table = TextTable(Path(path))
    rows = Rows(
        table.column(VOTER_COLUMNS),
        table.column(INSTANCE_COLUMNS),
        split(table.column(LIST_COLUMNS), SEPARATOR),
        table.place,
    )
    menus = read_menu(menu) if isinstance(menu, (str, Path)) else menu
    return from_rows(rows, alternatives=alternatives, menu=menus, duplicates=duplicates)


def read_truths(path: PathLike, *, alternatives: Iterable[str] | None = None) -> Truths:
    """Sets from a CSV file with columns `instance,alternatives`; other columns are passed over."""
    return Truths.from_mapping(_read_sets(path, "set"), alternatives=alternatives)


def read_confidence(path: PathLike) -> dict[str, float]:
    """The stated confidence of every set in such a file; nothing for sets, or files, that state none."""
    table = TextTable(Path(path))
    if "confidence" not in table.columns:
        return {}
    pairs = zip(
        table.column(INSTANCE_COLUMNS), table.column(("confidence",)).cast(pl.Float64, strict=False), strict=True
    )
    return {instance: confidence for instance, confidence in pairs if confidence is not None}


def read_menu(path: PathLike) -> dict[str, list[str]]:
    """Menus from a CSV file with columns `instance,alternatives`."""
    return _read_sets(path, "menu")


def read_sizes(path: PathLike, usual: SizeBounds) -> SizeBounds:
    """Size bounds of single instances from a CSV file with columns `instance,size`; `usual` holds for all others."""
    table = TextTable(Path(path))
    instances, sizes = table.column(INSTANCE_COLUMNS), table.column(("size",))
    own: dict[str, tuple[int, int | None]] = {}
    for row, (instance, size) in enumerate(zip(instances, sizes, strict=True)):
        try:
            bounds = SizeBounds.parse(size or "")
        except BoundsError as error:
            raise BoundsError(f"{table.place(row)}: {error}") from None
        own[instance] = (bounds.lower, bounds.upper)
    return SizeBounds(usual.lower, usual.upper, own)


def write_ballots(ballots: Ballots, path: PathLike) -> None:
    """Write ballots as CSV with columns `voter,instance,alternatives`."""
    _check_separator(ballots.alternatives)
    names = pl.Series("name", ballots.alternatives, pl.String)
    ticks = pl.DataFrame(
        {
            "ballot": np.repeat(np.arange(ballots.n_ballots), ballots.ballot_sizes),
            "alternatives": names.gather(ballots.approved.astype(np.uint32)),
        }
    )
    joined = ticks.group_by("ballot", maintain_order=True).agg(pl.col("alternatives").str.join(SEPARATOR))
    table = pl.DataFrame(
        {
            "ballot": np.arange(ballots.n_ballots),
            "voter": pl.Series(ballots.voters, dtype=pl.String).gather(ballots.ballot_voter.astype(np.uint32)),
            "instance": pl.Series(ballots.instances, dtype=pl.String).gather(ballots.ballot_instance.astype(np.uint32)),
        }
    ).join(joined, on="ballot", how="left", maintain_order="left")
    write_files({Path(path): table.drop("ballot").write_csv})


def write_truths(truths: Truths, path: PathLike) -> None:
    """Write sets as CSV with columns `instance,alternatives`."""
    _check_separator(truths.alternatives)
    sets = [_joined(truths.listed(instance)) for instance in truths]
    table = pl.DataFrame(
        {"instance": list(truths), "alternatives": sets}, {"instance": pl.String, "alternatives": pl.String}
    )
    write_files({Path(path): table.write_csv})


def write_estimate(estimate: Estimate, directory: PathLike) -> list[Path]:
    """Write `truth.csv`, `voters.csv`, `alternatives.csv` and `inclusion.csv` into a directory, all or none."""
    _check_separator(estimate.ballots.alternatives)
    truth = estimate.truth_table()
    truth["alternatives"] = [_joined(names) for names in truth["alternatives"]]  # type: ignore[arg-type]
    tables = {
        "truth.csv": pl.DataFrame(truth, {"instance": pl.String, "alternatives": pl.String, "confidence": pl.Float64}),
        "voters.csv": pl.DataFrame(estimate.voter_table()),
        "alternatives.csv": pl.DataFrame(estimate.alternative_table()),
        "inclusion.csv": pl.DataFrame(
            estimate.inclusion_table(), {"instance": pl.String, "alternative": pl.String, "probability": pl.Float64}
        ),
    }
    folder = Path(directory)
    write_files({folder / name: table.write_csv for name, table in tables.items()})
    return [folder / name for name in tables]


def _read_sets(path: PathLike, what: str) -> dict[str, list[str]]:
    table = TextTable(Path(path))
    instances = table.column(INSTANCE_COLUMNS).to_list()
    sets = split(table.column(LIST_COLUMNS), SEPARATOR).to_list()
    found: dict[str, list[str]] = {}
    for row, (instance, names) in enumerate(zip(instances, sets, strict=True)):
        if not instance:
            raise InputError(f"{table.place(row)}: the instance is blank; give every {what} an instance")
        if instance in found:
            raise InputError(f"{table.place(row)}: instance {instance!r} has a {what} already; remove one")
        found[instance] = [name for name in names or [] if name]
    return found


def _joined(names: list[str]) -> str | None:
    return SEPARATOR.join(names) or None


def _check_separator(alternatives: Iterable[str]) -> None:
    for name in alternatives:
        if SEPARATOR in name:
            raise InputError(
                f"alternative {name!r} contains {SEPARATOR!r}, which separates alternatives in the file; rename it"
            )
