"""From files larger than memory to packed ballots.

Rows are first dealt out by instance into parts small enough to be encoded one at a time; then every part is encoded,
checked and packed by the code that reads small files. Only names of voters and alternatives are held for all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl

from epivote.data.build import universe, without_alternative
from epivote.data.columns import MULTIPLICITY_COLUMN
from epivote.data.frames import BallotTable
from epivote.data.names import IntArray, Place
from epivote.data.packed import PackedBallots
from epivote.data.packing import packing, write_packed
from epivote.data.rows import Rows, Split, split_at
from epivote.errors import BallotError, FileError, reason
from epivote.formats.canonical import settled
from epivote.formats.detect import detect, read_source
from epivote.formats.file_tables import JSON_LINES, flat_table_of
from epivote.formats.joined import SEPARATOR
from epivote.formats.reading import Format, Reading
from epivote.formats.source import SourceFile, open_source
from epivote.formats.tables import Shape, TableKind, notes_on, shape_of, with_answers

BYTES_PER_PART = 1 << 25  # 32 MB of text, which becomes one part that is sorted in memory
ROWS_PER_BATCH = 1 << 19  # read at a time; a round number
ProgressText = Callable[[str], None]


def pack_files(
    paths: Sequence[str | Path],
    folder: str | Path,
    *,
    format: Format | None = None,  # noqa: A002
    told: ProgressText = lambda _: None,
    noted: ProgressText = lambda _: None,
    **options: Any,
) -> PackedBallots:
    """Pack the ballots of one or several files into a folder, for `open_packed`.

    CSV, TSV and Parquet tables may be larger than memory, and the ballots of an instance may be spread over all of
    them; any other export must come alone and is read whole. Inputs of more than 32 MB are dealt out by name, so their
    instances change order. `told` is called with a few words on how far it is, `noted` with each assumption that was
    made; how ticks share a cell is told from the first half million rows. The other options are those of `read_export`.
    """
    target, reading = Path(folder), settled(Reading(format=format, **options))
    if target.exists():
        raise FileError(f"{target} already exists; remove it or choose another folder")
    with ExitStack() as stack:
        sources = [stack.enter_context(open_source(path, reading.encoding)) for path in paths]
        kinds = [format or detect(source, reading) for source in sources]
        other = next((n for n, kind in enumerate(kinds) if not _is_table(sources[n], kind) or kind != kinds[0]), None)
        if other is not None and len(paths) > 1:
            raise FileError(
                f"{sources[other]} was read as {kinds[other]}, which cannot be packed together with other files; pack "
                "it by itself, or convert it to CSV first (epivote convert)"
            )
        if other is not None:
            told(f"Reading {sources[0]}")
            export = read_source(sources[0], replace(reading, format=kinds[0]))
            for note in export.notes:
                noted(note)
            return write_packed([export.ballots], target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            spill = stack.enter_context(tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent))
            kind = cast("TableKind", kinds[0])
            first, *others = [shape_of(source, reading, kind) for source in sources]
            shapes = [first, *(replace(shape, split=first.split) for shape in others)]
            partitioner = Partitioner(Path(spill), sources, shapes, reading)
            partitioner.read(told)
            for note in notes_on(first, reading):
                noted(note)
            return partitioner.pack(target, told)
        except OSError as error:
            raise FileError(f"cannot write {target}: {reason(error)}; nothing was packed") from error


def _is_table(source: SourceFile, kind: str) -> bool:
    """Whether it is a table that can be dealt out in parts; multiplicities need all rows of a voter at once."""
    if kind not in get_args(TableKind) or source.suffix in (".json", *JSON_LINES):
        return False
    return MULTIPLICITY_COLUMN not in flat_table_of(source).columns


@dataclass
class Partitioner:
    """Rows of several tables, dealt out by instance into parts in a folder, and the names found in them."""

    folder: Path
    sources: list[SourceFile]
    shapes: list[Shape]
    reading: Reading
    voters: dict[str, None] = field(default_factory=dict)
    ticked: set[str] = field(default_factory=set)
    places: list[Place] = field(default_factory=list)
    split: Split = field(default_factory=lambda: split_at(SEPARATOR))
    lists: bool | None = None

    @property
    def n_parts(self) -> int:
        """How many parts keep each of them small."""
        return max(1, -(-sum(source.path.stat().st_size for source in self.sources) // BYTES_PER_PART))

    def read(self, told: ProgressText) -> None:
        """Deal out all rows."""
        seen = batch = 0
        for number, (source, shape) in enumerate(zip(self.sources, self.shapes, strict=True)):
            table = flat_table_of(source)
            self.places.append(table.place_of)
            for frame, records in table.batches(shape.columns, ROWS_PER_BATCH):
                batch_table = BallotTable(frame, _at(table.place_of, records), table.nulls)
                everyone, silent, blank = with_answers(shape, batch_table, self.reading)
                rows = everyone.keep(~(silent | blank))
                self._check_alike(rows, source)
                self.split, ticked = rows.split, rows.ticked()  # the first batch tells how cells are split
                self.voters |= dict.fromkeys(rows.voter.unique(maintain_order=True).drop_nulls().to_list())
                if shape.alternatives(self.reading) is None:
                    self.ticked.update(ticked.to_list())
                self._spill(rows, number, records[~(silent | blank).to_numpy()], f"{batch:06}.parquet")
                seen, batch = seen + len(records), batch + 1
                told(f"Reading {source}: {seen:,} rows so far")
        if not seen:
            raise BallotError(f"{self.sources[0]} holds no ballots; check that it is the file you meant")

    def _check_alike(self, rows: Rows, source: SourceFile) -> None:
        """Refuse ticks that are lists in one file and text in another."""
        lists = isinstance(rows.ticks.dtype, pl.List)
        if self.lists is None:
            self.lists = lists
        if lists != self.lists:
            kinds = ("lists", "text") if lists else ("text", "lists")
            raise FileError(
                f"{source} has {kinds[0]} of ticks where {self.sources[0]} has {kinds[1]}; convert one of them first "
                "(epivote convert)"
            )

    def _spill(self, rows: Rows, source: int, records: IntArray, name: str) -> None:
        frame = pl.DataFrame(
            {
                "voter": rows.voter,
                "instance": rows.instance,
                "ticks": rows.ticks,
                "record": records,
                "part": rows.instance.fill_null("").hash() % self.n_parts,
            }
        ).with_columns(source=pl.lit(source, pl.UInt32))
        for (part,), piece in frame.partition_by("part", as_dict=True, include_key=False).items():
            folder = self.folder / str(part)
            folder.mkdir(exist_ok=True)
            piece.write_parquet(folder / name, compression="lz4")

    def pack(self, target: Path, told: ProgressText) -> PackedBallots:
        """Encode, check and pack one part after the other."""
        reading, shape = self.reading, self.shapes[0]
        voters = tuple(name for name in self.voters if name)
        names = universe(self._stated(), reading.menus, self.ticked)
        with packing(target, voters, tuple(name for name in names if name != reading.none)) as packer:
            for number, rows in enumerate(self._parts()):
                told(f"Packing part {number + 1} of {self.n_parts}")
                part = rows.ballots(
                    alternatives=names,
                    menu=reading.menus,
                    duplicates=reading.duplicates,
                    merge=shape.layout == "ticks",
                    voters=voters,
                )
                packer.add(part if reading.none is None else without_alternative(part, reading.none))
        return PackedBallots(target)

    def _stated(self) -> Iterable[str] | None:
        """The alternatives that the user or the columns of any file state."""
        if self.reading.alternatives is None and self.shapes[0].layout == "indicators":
            return list(dict.fromkeys(name for shape in self.shapes for name in shape.ticks))
        return self.reading.alternatives

    def _parts(self) -> Iterator[Rows]:
        for number in range(self.n_parts):
            files = sorted((self.folder / str(number)).glob("*.parquet"))
            if files:
                frame = pl.concat([pl.read_parquet(file) for file in files], how="vertical_relaxed")
                place = _among(self.places, frame["source"].to_numpy(), frame["record"].to_numpy())
                yield Rows(frame["voter"], frame["instance"], frame["ticks"], place, self.split)


def _at(place: Place, records: IntArray) -> Place:
    return lambda row: place(int(records[row]))


def _among(places: Sequence[Place], source: IntArray, record: IntArray) -> Place:
    return lambda row: places[int(source[row])](int(record[row]))
