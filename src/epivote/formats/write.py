"""Writing ballots, sets and estimates: canonical CSV, TSV, Parquet and JSONL, crowd-kit's lists, election files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice, pairwise, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Literal, get_args

import numpy as np
import polars as pl
from polars import selectors as cs

from epivote.atomic import Write, write_files
from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.columns import MULTIPLICITY_COLUMN
from epivote.data.estimate import Estimate, offered_everywhere
from epivote.data.lists import Lists
from epivote.data.names import IntArray, listing, starts_of
from epivote.data.parameters import Parameters
from epivote.data.truths import Truths
from epivote.errors import FileError, InputError
from epivote.formats.canonical import OPEN
from epivote.formats.elections import ABC
from epivote.formats.file_tables import JSON_LINES
from epivote.formats.joined import BRACKETS, MARKS, SEPARATOR
from epivote.formats.source import PathLike
from epivote.formats.write_elections import election_files

Output = Literal["ballots", "crowd-kit", "abcvoting", "preflib"]
Quotes = Literal["necessary", "never"]
ROWS_PER_BLOCK = 1 << 20  # cells written at a time; a round number
QUOTED = ',"\r\n'  # for each of these Polars puts a cell in quotes


def write_ballots(ballots: AnyBallots, path: PathLike, *, format: Output | None = None) -> list[Path]:  # noqa: A002
    """Write ballots and return the files; packed ones are read and written block by block.

    `ballots` is the canonical table, as CSV, TSV, Parquet or JSONL by the ending of the name; `crowd-kit` is a CSV of
    task, worker and a list of labels. `abcvoting` (`.abc.yaml`) and `preflib` (`.cat`) hold one instance per file:
    several go into a folder of that name.
    """
    path = Path(path)
    kind = output_of(path, format)
    if kind not in get_args(Output):
        raise FileError(f"{kind!r} cannot be written; choose one of {listing(get_args(Output))}")
    endings = {"ballots": (".csv", ".tsv", ".parquet", *JSON_LINES), "crowd-kit": (".csv",)}.get(kind)
    if endings is not None and path.suffix not in endings:
        raise FileError(f"{path.name}: {kind} are written to names that end in {', '.join(endings)}")
    files: dict[Path, Write]
    if kind == "abcvoting" or kind == "preflib":
        files = election_files(ballots, path, kind)
    elif kind == "crowd-kit":
        cells = partial(json.dumps, ensure_ascii=False)
        tables = (ballot_table(part, ("worker", "task", "label"), cells) for part in ballots.parts())
        columns = "task", "worker", "label", cs.by_name(MULTIPLICITY_COLUMN, require_all=False)
        files = {path: lambda target: write_csv_blocks(target, (table.select(*columns) for table in tables))}
    else:
        files = {path: _canonical(ballots, path)}
    write_files(files)
    return list(files)


def output_of(path: Path, given: Output | None) -> Output:
    """What a file is to hold: what was said, or what its name tells."""
    if given is not None:
        return given
    return "abcvoting" if path.name.endswith(ABC) else "preflib" if path.suffix == ".cat" else "ballots"


def write_truths(truths: Truths, path: PathLike) -> None:
    """Write sets as CSV with columns `instance,alternatives`."""
    write_files({Path(path): _set_table(truths).write_csv})


def write_open_sets(instances: Sequence[str], path: PathLike) -> None:
    """Write instances whose sets are to be filled in, as CSV with columns `instance,alternatives`."""
    write_files({Path(path): pl.DataFrame({"instance": instances, "alternatives": [OPEN] * len(instances)}).write_csv})


def write_menu(ballots: AnyBallots, path: PathLike) -> None:
    """Write what was offered on every instance as CSV with columns `instance,alternatives`."""
    tables = (_set_table(_menus(part)) for part in ballots.parts())
    write_files({Path(path): lambda target: write_csv_blocks(target, tables)})


def _menus(ballots: Ballots) -> Truths:
    return Truths(ballots.instances, ballots.alternatives, starts_of(ballots.menu_sizes), offered_everywhere(ballots))


def write_rates(voters: tuple[str, ...], parameters: Parameters, path: PathLike) -> None:
    """Write the rates of voters as CSV with columns `voter,hit_rate,false_alarm_rate`."""
    rates = {"hit_rate": parameters.hit_rates, "false_alarm_rate": parameters.false_alarm_rates}
    write_files({Path(path): pl.DataFrame({"voter": list(voters), **rates}).write_csv})


def write_estimate(
    estimate: Estimate, directory: PathLike, *, watch: Callable[[Estimate], None] = lambda _: None
) -> list[Path]:
    """Write `truth.csv`, `voters.csv`, `alternatives.csv` and `inclusion.csv` into a directory, all or none.

    Of packed ballots the sets are written block by block, each shown to `watch`, and `inclusion.csv` is left out.
    """
    _check_separator(estimate.ballots.alternatives)
    folder = Path(directory)
    files: dict[Path, Write] = {
        folder / "truth.csv": lambda path: write_csv_blocks(path, truth_blocks(estimate, watch)),
        folder / "voters.csv": pl.DataFrame(estimate.voter_table()).write_csv,
        folder / "alternatives.csv": pl.DataFrame(estimate.alternative_table()).write_csv,
    }
    if estimate.ballots.is_in_memory:
        quotes = quoting((*estimate.ballots.alternatives, *estimate.ballots.instances))
        files[folder / "inclusion.csv"] = lambda path: write_csv_blocks(
            path, _made_ahead(inclusion_blocks(estimate)), quotes=quotes
        )
    write_files(files)
    return list(files)


def truth_blocks(estimate: Estimate, watch: Callable[[Estimate], None] = lambda _: None) -> Iterator[pl.DataFrame]:
    """`truth.csv` in blocks, each shown to `watch` before: all sets at once, or those of one packed block at a time."""
    for part in estimate.parts():
        watch(part)
        yield truth_table(part)


def truth_table(estimate: Estimate) -> pl.DataFrame:
    """`instance,alternatives,confidence` as it is written, and `model_confidence` if the confidence is calibrated."""
    confidence = pl.Series([None] * len(estimate.truths), dtype=pl.Float64)
    if estimate.confidence is not None:
        confidence = pl.Series(estimate.confidence)
    written = _set_table(estimate.truths).with_columns(confidence=confidence)
    if estimate.calibration is None or estimate.model_confidence is None:
        return written
    return written.with_columns(model_confidence=pl.Series(estimate.model_confidence))


def ballot_table(ballots: Ballots, names: tuple[str, str, str], cell: Callable[[list[str]], object]) -> pl.DataFrame:
    """One row per ballot: voter, instance, and what `cell` makes of its ticks, under these names.

    Where voters stand for several, a column says for how many.
    """
    table = pl.DataFrame(
        [
            _names(names[0], ballots.voters, ballots.ballot_voter),
            _names(names[1], ballots.instances, ballots.ballot_instance),
            _cells(names[2], Lists(ballots.approval_start, ballots.approved), ballots.alternatives, cell),
        ]
    )
    times = ballots.ballot_multiplicities
    return table if times is None else table.with_columns(pl.Series(MULTIPLICITY_COLUMN, times))


def _canonical(ballots: AnyBallots, path: Path) -> Write:
    columns = ("voter", "instance", "alternatives")
    if path.suffix == ".parquet" or path.suffix in JSON_LINES:
        lists = (ballot_table(part, columns, list) for part in ballots.parts())
        write = _write_parquet_blocks if path.suffix == ".parquet" else _write_json_blocks
        return lambda target: write(target, lists)
    _check_separator(ballots.alternatives)
    doubtful = any(mark in name for name in ballots.alternatives for mark in (*MARKS, *BRACKETS))
    closes = doubtful and not any((part.ballot_sizes > 1).any() for part in ballots.parts())
    tables = (ballot_table(part, columns, closed if closes else joined) for part in ballots.parts())
    return lambda target: write_csv_blocks(target, tables, separator="\t" if path.suffix == ".tsv" else ",")


def _set_table(truths: Truths) -> pl.DataFrame:
    _check_separator(truths.alternatives)
    return pl.DataFrame(
        [
            pl.Series("instance", truths.instances, pl.String),
            _cells("alternatives", Lists(truths.start, truths.members), truths.alternatives, joined),
        ]
    )


def inclusion_blocks(estimate: Estimate) -> Iterator[pl.DataFrame]:
    """`instance,alternative,probability` for every offered alternative, in blocks; at least one, be it empty."""
    ballots, posterior = estimate.ballots.in_memory(), estimate.posterior
    start = starts_of(ballots.menu_sizes if posterior is not None else ballots.menu_sizes[:0])
    between = np.searchsorted(start, np.arange(ROWS_PER_BLOCK, start[-1], ROWS_PER_BLOCK))
    instances = pl.Series("instance", ballots.instances, pl.String)
    everything = _names("alternative", ballots.alternatives, _offered_by_all(ballots))
    for first, last in pairwise([0, *between.tolist(), len(start) - 1]):
        z = np.repeat(np.arange(first, last, dtype=np.uint32), ballots.menu_sizes[first:last])
        cells = slice(start[first], start[last])
        offered = everything.head(len(z))
        if ballots.menu is not None:
            offered = _names("alternative", ballots.alternatives, ballots.menu.offered[cells])
        probabilities = np.zeros(0) if posterior is None else posterior.inclusion[cells]
        yield pl.DataFrame([instances.gather(z), offered, pl.Series("probability", probabilities, pl.Float64)])


def _offered_by_all(ballots: Ballots) -> IntArray:
    """What a block of instances offers, one after the other, where all offer the same; nothing where they do not."""
    each = 0 if ballots.menu is not None else min(ROWS_PER_BLOCK // ballots.n_alternatives + 2, ballots.n_instances)
    return np.tile(np.arange(ballots.n_alternatives), each)


def quoting(names: Iterable[str]) -> Quotes:
    """`never` if no name needs quotes, which Polars then does not look for in every cell anew."""
    every = "".join(names)
    return "necessary" if any(mark in every for mark in QUOTED) else "never"


def write_csv_blocks(
    target: Path | IO[bytes], blocks: Iterable[pl.DataFrame], separator: str = ",", quotes: Quotes = "necessary"
) -> None:
    """Write tables one below the other, under the header of the first."""
    with nullcontext(target) if not isinstance(target, Path) else target.open("wb") as file:
        for number, block in enumerate(blocks):
            block.write_csv(file, include_header=number == 0, separator=separator, quote_style=quotes)


def _made_ahead(blocks: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same tables, each made by a thread while the one before is in use."""
    with ThreadPoolExecutor(1) as helper:
        coming = helper.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = helper.submit(next, blocks, None)
            yield block


def _write_json_blocks(path: Path, blocks: Iterable[pl.DataFrame]) -> None:
    with path.open("wb") as file:
        for block in blocks:
            block.write_ndjson(file)


def _write_parquet_blocks(path: Path, blocks: Iterable[pl.DataFrame]) -> None:
    """One table: the only block, or blocks put down beside the file and then read and written as a stream."""
    first, second = islice(chain(blocks, repeat(None)), 2)
    assert first is not None
    if second is None:
        first.write_parquet(path)
        return
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        for number, block in enumerate(chain((first, second), blocks)):
            block.write_parquet(Path(folder) / f"{number:09}.parquet")
        pl.scan_parquet(Path(folder) / "*.parquet").sink_parquet(path)


def _names(column: str, names: tuple[str, ...], numbers: IntArray) -> pl.Series:
    return pl.Series(names, dtype=pl.String).gather(numbers.astype(np.uint32)).rename(column)


def _cells(column: str, lists: Lists, names: tuple[str, ...], cell: Callable[[list[str]], object]) -> pl.Series:
    """What `cell` makes of every list of names; equal lists are made once."""
    if cell is list:
        return _list_cells(lists, names).rename(column)
    unique, number = lists.unique(len(names))
    start, values = unique.start.tolist(), unique.values.tolist()
    made = [cell([names[j] for j in values[a:b]]) for a, b in pairwise(start)]
    return pl.Series(column, made, pl.String).gather(number.astype(np.uint32))


def _list_cells(lists: Lists, names: tuple[str, ...]) -> pl.Series:
    """Every list of names as a list: grouped by Polars, since it turns lists of Python into its own one by one."""
    lengths = lists.lengths()
    (filled,) = np.nonzero(lengths)
    rows = pl.Series("row", np.repeat(np.arange(len(filled)), lengths[filled]))
    ticks = pl.DataFrame([rows, _names("names", names, lists.values)])
    made = ticks.group_by("row", maintain_order=True).agg("names")["names"]
    place = np.full(len(lengths), len(filled))  # behind all others, where the empty list is
    place[filled] = np.arange(len(filled))
    return made.append(pl.Series([[]], dtype=pl.List(pl.String))).gather(place.astype(np.uint32))


def joined(names: list[str]) -> str | None:
    """`a|b`; nothing for no names."""
    return SEPARATOR.join(names) or None


def closed(names: list[str]) -> str | None:
    """`a|`, so that a name with a comma is not taken for two where no other cell shows what separates names."""
    return f"{SEPARATOR.join(names)}{SEPARATOR}" if names else None


def _check_separator(alternatives: Iterable[str]) -> None:
    for name in alternatives:
        if SEPARATOR in name:
            raise InputError(
                f"alternative {name!r} contains {SEPARATOR!r}, which separates alternatives in the file; rename it, or "
                "write .parquet or .jsonl"
            )
