"""One row per ballot, names and cells still as text: the last stop before numbers.

Cells repeat: ten million ballots hold far fewer different cells. So only the different ones are split and looked up,
and every row points at its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from epivote.data.arranging import WITH_ARRAYS, Arranging
from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.build import assemble, check_known, universe
from epivote.data.lists import Lists
from epivote.data.names import IntArray, Place, smallest_integers
from epivote.errors import BallotError

FIRST_TEXTS, MANY_TEXTS = 1_000_000, 1 << 16  # different ones among the first from which hashes are faster; tried
MOST_ALIKE = 10**9 - 1  # voters with the same ballots; beyond it halves could not be drawn; a round number
Split = Callable[[pl.Series], pl.Series]
"""Turns different text cells into lists of names; cells it cannot split become null."""


def split_at(separator: str) -> Split:
    """Cells split at a separator."""
    return lambda cells: cells.str.split(separator)


@dataclass(frozen=True)
class Rows:
    """Names of voter and instance, and the ticks: text cells with a way to split them, or lists of names.

    A cell that is null or an empty text is blank. `place` puts a row into words. `multiplicity`, if there is such a
    column, says as text how many voters the voter of a row stands for; blank is 1.
    """

    voter: pl.Series
    instance: pl.Series
    ticks: pl.Series
    place: Place
    split: Split
    multiplicity: pl.Series | None = None

    @property
    def blank(self) -> pl.Series:
        """Which cells hold nothing at all; an empty list is something."""
        if isinstance(self.ticks.dtype, pl.List):
            return self.ticks.is_null()
        return (self.ticks == "").fill_null(value=True)

    def keep(self, mask: pl.Series) -> Rows:
        """The rows where `mask` holds; they keep their places."""
        numbers = np.flatnonzero(mask.to_numpy())
        place = self.place
        return Rows(
            self.voter.filter(mask),
            self.instance.filter(mask),
            self.ticks.filter(mask),
            lambda row: place(int(numbers[row])),
            self.split,
            None if self.multiplicity is None else self.multiplicity.filter(mask),
        )

    def ticked(self) -> pl.Series:
        """Every name that is ticked somewhere."""
        cells, _ = self._cells()
        return _names_in(cells).explode(empty_as_null=False).unique()

    def ballots(
        self,
        *,
        alternatives: Iterable[str] | None,
        menu: MenuLike | None,
        duplicates: Duplicates,
        merge: bool = False,
        voters: tuple[str, ...] | None = None,
    ) -> Ballots:
        """Ballots from these rows; blank ones are empty ballots. `merge` joins the ticks of a ballot's rows.

        `voters` are those the ballots shall list, if there are more than appear here.
        """
        if voters is None:
            voters, ballot_voter = _encode(self.voter, "voter", self.place)
        else:
            _check_filled(self.voter, "voter", self.place)
            ballot_voter = _numbers(self.voter, voters)
        instances, ballot_instance = _encode(self.instance, "instance", self.place)
        numbered_rows = NumberedRows(
            *(voters, ballot_voter, instances, ballot_instance, TickLists.of_cells(*self._cells())),
            place=self.place,
            multiplicities=self._multiplicities(voters, ballot_voter),
        )
        return numbered_rows.ballots(alternatives=alternatives, menu=menu, duplicates=duplicates, merge=merge)

    def _multiplicities(self, voters: tuple[str, ...], ballot_voter: IntArray) -> IntArray | None:
        """How many voters each one stands for; refuses what is no such number, and a voter with two of them."""
        if self.multiplicity is None:
            return None
        stated = self.multiplicity.cast(pl.String).str.strip_chars().fill_null("1").replace("", "1")
        numbers = stated.cast(pl.Int64, strict=False)
        odd = (~numbers.is_between(1, MOST_ALIKE)).fill_null(value=True).arg_true()
        if len(odd):
            row = int(odd[0])
            raise BallotError(f"{self.place(row)}: multiplicity {stated[row]!r} is not a whole number of at least 1")
        found: IntArray = np.ones(len(voters), np.int64)
        found[ballot_voter] = numbers.to_numpy()
        other = np.flatnonzero(found[ballot_voter] != numbers.to_numpy())
        if len(other):
            row = int(other[0])
            raise BallotError(
                f"{self.place(row)}: voter {voters[ballot_voter[row]]!r} has multiplicity {numbers[row]} here and "
                f"{found[ballot_voter[row]]} elsewhere; all ballots of a voter need the same one"
            )
        return found

    def _cells(self) -> tuple[pl.Series, IntArray]:
        """The different cells as lists of names, and which of them each row holds."""
        if isinstance(self.ticks.dtype, pl.List):
            return self.ticks.fill_null([]).rename("cell"), np.arange(len(self.ticks))
        text = self.ticks.cast(pl.String).fill_null("")
        different, number = numbered(text)
        return split_cells(different, number, self.split, self.place), number


class TickLists(NamedTuple):
    """The ticks of all rows: names in order of first appearance, and lists of their numbers.

    Row r has list `list_of_row[r]`, or list r if that is None.
    """

    names: list[str]
    lists: Lists
    list_of_row: IntArray | None

    @classmethod
    def of_cells(cls, cells: pl.Series, number: IntArray) -> TickLists:
        """Those of different cells, which are lists of names; `number` says which of them each row holds."""
        ticks = _names_in(cells)
        named = ticks.explode(empty_as_null=False)
        names = named.unique(maintain_order=True).to_list()
        values = smallest_integers(_numbers(named, names), len(names))
        return cls(names, Lists.of_lengths(ticks.list.len().to_numpy(), values), number)

    def first_row(self, name: str) -> int:
        """The first row that holds this name."""
        at = int(np.flatnonzero(self.lists.values == self.names.index(name))[0])
        number = int(np.searchsorted(self.lists.start, at, side="right")) - 1
        return number if self.list_of_row is None else int(np.flatnonzero(self.list_of_row == number)[0])


@dataclass(frozen=True)
class NumberedRows:
    """The same once names of voters, instances and ticked alternatives are numbers.

    `ballots` may reorder these columns in place, so it can be called once.
    """

    voters: tuple[str, ...]
    ballot_voter: IntArray
    instances: tuple[str, ...]
    ballot_instance: IntArray
    ticks: TickLists
    place: Place
    multiplicities: IntArray | None = None
    arranging: Arranging = WITH_ARRAYS

    def ballots(
        self,
        *,
        alternatives: Iterable[str] | None,
        menu: MenuLike | None,
        duplicates: Duplicates,
        merge: bool = False,
    ) -> Ballots:
        """See `Rows.ballots`."""
        ticked = self.ticks.names
        names = universe(alternatives, menu, ticked)
        known = {name: number for number, name in enumerate(names)}
        for name in ticked:
            if name not in known:
                check_known([name], known, self.place(self.ticks.first_row(name)))
        return assemble(
            voters=self.voters,
            instances=self.instances,
            alternatives=names,
            ballot_voter=self.ballot_voter,
            ballot_instance=self.ballot_instance,
            approvals=self.ticks.lists,
            list_of_row=self.ticks.list_of_row,
            numbers=np.array([known[name] for name in ticked], np.int64),
            menu=menu,
            multiplicities=self.multiplicities,
            duplicates=duplicates,
            merge=merge,
            place=self.place,
            arranging=self.arranging,
        )


def split_cells(different: pl.Series, number: IntArray, split: Split, place: Place) -> pl.Series:
    """Different cells as lists of names; `number` says which of them each row holds."""
    filled = different.to_frame("cell").select(pl.when(pl.col("cell") != "").then(pl.col("cell"))).to_series()
    lists = split(filled).cast(pl.List(pl.String))
    odd = (lists.is_null() & filled.is_not_null()).arg_true()
    if len(odd):
        row = int(np.flatnonzero(number == odd[0])[0])
        raise BallotError(
            f"{place(row)}: {different[int(odd[0])]!r} is not a list of alternatives; "
            'write ["a", "b"], or join names by |'
        )
    return lists.fill_null([])


def _names_in(cells: pl.Series) -> pl.Series:
    """Lists of names without blanks; columns that have none are left as they are."""
    named = cells.explode(empty_as_null=False)
    if named.null_count() == 0 and not (named == "").any():
        return cells
    return cells.list.drop_nulls().list.filter(pl.element() != "")


def _encode(column: pl.Series, kind: str, place: Place) -> tuple[tuple[str, ...], IntArray]:
    """Names in order of first appearance, and the number of each row's name."""
    _check_filled(column, kind, place)
    names, numbers = numbered(column)
    return tuple(names.to_list()), numbers


def numbered(column: pl.Series) -> tuple[pl.Series, IntArray]:
    """The different texts in order of first appearance, and which of them each row holds; no text is null.

    Files are often sorted by one of their columns: of equal texts in a row only the first is looked up.
    """
    if column.head(FIRST_TEXTS).n_unique() > MANY_TEXTS:
        found = _told_by_hash(column)
        if found is not None:
            return found
    begins = (column != column.shift(1)).fill_null(value=True)
    if 2 * int(begins.sum()) > len(column):
        return _looked_up(column)
    names, numbers = _looked_up(column.filter(begins))
    return names, _spread(numbers, begins)


def _spread(numbers: IntArray, begins: pl.Series) -> IntArray:
    """The number of every row, from those of the rows where another text begins."""
    return np.repeat(numbers, np.diff(begins.arg_true().to_numpy(), append=len(begins)))


def _looked_up(column: pl.Series) -> tuple[pl.Series, IntArray]:
    """The same, text by text; categories of their own, since those that all columns share would never be freed."""
    if len(column) == 0:
        return column, np.zeros(0, np.uint32)
    kinds: IntArray = column.cast(pl.Categorical(pl.Categories.random())).to_physical().to_numpy()
    first = np.full(int(kinds.max()) + 1, len(column))
    first[kinds[::-1]] = np.arange(len(column))[::-1]
    order = np.argsort(first)
    order = order[: np.searchsorted(first[order], len(column))]
    number = np.empty(len(first), np.uint32)
    number[order] = np.arange(len(order), dtype=np.uint32)
    return column.gather(first[order].astype(np.uint32)), number[kinds]


def _told_by_hash(column: pl.Series) -> tuple[pl.Series, IntArray] | None:
    """The same for long columns: a hash of 64 bits per text is looked up, which takes about half the time.

    A second hash shows whether two different texts had the same first one; then there is no result.
    """
    keys = _hashes(column, 1)
    begins = (keys != keys.shift(1)).fill_null(value=True)
    in_runs = 2 * int(begins.sum()) <= len(keys)
    rows = begins.arg_true() if in_runs else pl.int_range(len(keys), dtype=pl.UInt32, eager=True)
    table = pl.LazyFrame({"key": keys.gather(rows) if in_runs else keys, "row": rows})
    by_key = table.group_by("key").agg(pl.col("row").min()).sort("row").with_row_index("number")
    firsts = by_key.collect(engine="streaming")
    found = table.select("key").join(firsts.lazy(), on="key", how="left", maintain_order="left").select("number")
    number: IntArray = found.collect()["number"].to_numpy()
    if in_runs:
        number = _spread(number, begins)
    check = _hashes(column, 2).to_numpy()
    if np.any(check[firsts["row"].to_numpy()][number] != check):
        return None
    return column.gather(firsts["row"]), number


def _hashes(column: pl.Series, seed: int) -> pl.Series:
    return column.hash(seed=seed)


def _check_filled(column: pl.Series, kind: str, place: Place) -> None:
    blank = (column == "").fill_null(value=True).arg_true()
    if len(blank):
        article = "an" if kind == "instance" else "a"
        raise BallotError(f"{place(int(blank[0]))}: the {kind} is blank; give every ballot {article} {kind}")


def _numbers(column: pl.Series, names: Iterable[str] | pl.Series) -> IntArray:
    if len(column) == 0:
        return np.zeros(0, np.uint32)
    return column.cast(pl.Enum(names)).to_physical().to_numpy()
