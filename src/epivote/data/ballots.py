"""Ballots: who ticked what where, in columns sorted by instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.blocks import Menu
from epivote.data.html import MOST_ROWS, html_table
from epivote.data.in_columns import COLUMNS, InColumns
from epivote.data.lists import Lists
from epivote.data.names import BoolArray, IntArray, counted, frozen, row_ranges, sealed, starts_of
from epivote.data.numbers import whole_percent
from epivote.errors import BallotError

if TYPE_CHECKING:
    from epivote.data.frames import Blank, Layout

Duplicates = Literal["error", "first", "last"]
MenuLike = Mapping[str, Iterable[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Ballots(InColumns):
    """All ballots, immutable.

    `ballot_start[z] : ballot_start[z + 1]` are the ballots of instance z, `ballot_voter[b]` cast ballot b, and
    `approved[approval_start[b] : approval_start[b + 1]]` are the alternatives ticked on it.

    **An empty ballot is an answer, a missing one is not**: a voter without a row on an instance says nothing about
    it; a row without ticks speaks against every alternative offered there.

    Elections merge equal ballots: then `multiplicities[i]` says how many voters, all with the same ballots, voter i
    stands for. It is None where everyone stands for herself. Results are those of `expanded()` ballots.

    Build one with `from_mapping`, `from_array`, `from_frame` or `epivote.read_ballots`.
    """

    voters: tuple[str, ...]
    instances: tuple[str, ...]
    alternatives: tuple[str, ...]
    ballot_start: IntArray
    ballot_voter: IntArray
    approval_start: IntArray
    approved: IntArray
    menu: Menu | None = None
    multiplicities: IntArray | None = None
    is_in_memory: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse columns that do not fit together, and make them read-only."""
        for name in COLUMNS:
            object.__setattr__(self, name, frozen(getattr(self, name)))
        _check_starts(self.ballot_start, self.n_instances, self.n_ballots, "ballot_start")
        _check_starts(self.approval_start, self.n_ballots, len(self.approved), "approval_start")
        _check_numbers(self.ballot_voter, self.n_voters, "ballot_voter")
        _check_numbers(self.approved, self.n_alternatives, "approved")
        if self.menu is not None:
            _check_starts(self.menu.start, self.n_instances, len(self.menu.offered), "menu.start")
            _check_numbers(self.menu.offered, self.n_alternatives, "menu.offered")
        if self.multiplicities is not None:
            object.__setattr__(self, "multiplicities", _checked_multiplicities(self.multiplicities, self.n_voters))
        if self.n_ballots == 0:
            raise BallotError("there are no ballots at all; check that the file or selection is the one you meant")
        if self.n_alternatives == 0:
            raise BallotError("no alternative was ever ticked; state them (--alternatives, or alternatives=[...])")

    # Ways in

    @classmethod
    def from_mapping(
        cls,
        ballots: Mapping[tuple[str, str], Iterable[str]],
        *,
        alternatives: Iterable[str] | None = None,
        menu: MenuLike | None = None,
        multiplicities: Mapping[str, int] | None = None,
    ) -> Ballots:
        """Ballots from `{(voter, instance): {alternatives}}`; an empty set is an empty ballot.

        Without `alternatives` they are all that were ever ticked or offered, in alphabetical order. `multiplicities`
        says how many voters with the same ballots a voter stands for; 1 for those it does not name.

        Examples
        --------
        >>> Ballots.from_mapping({("ann", "q1"): {"a", "b"}, ("bo", "q1"): set()})
        Ballots(2 voters, 1 instance, 2 alternatives, 2 ballots (1 empty), 2 approvals, 100 % answered)
        """
        from epivote.data.build import from_mapping

        return from_mapping(ballots, alternatives, menu, multiplicities)

    @classmethod
    def from_array(
        cls,
        array: ArrayLike,
        *,
        missing: ArrayLike | None = None,
        voters: Iterable[str] | None = None,
        instances: Iterable[str] | None = None,
        alternatives: Iterable[str] | None = None,
        menu: MenuLike | None = None,
    ) -> Ballots:
        """Ballots from an array (instances, voters, alternatives) of 0 and 1.

        A ballot is missing where all its entries are NaN, or where `missing` (instances, voters) is true.
        """
        from epivote.data.build import from_array

        return from_array(array, missing, voters, instances, alternatives, menu)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        layout: Layout = "lists",
        voter: str | None = None,
        instance: str | None = None,
        approvals: str | Iterable[str] | None = None,
        alternatives: Iterable[str] | None = None,
        menu: MenuLike | None = None,
        separator: str = "|",
        blank: Blank | None = None,
        duplicates: Duplicates = "error",
    ) -> Ballots:
        """Ballots from any dataframe that narwhals knows (Polars, pandas, PyArrow, ...).

        | `layout` | a row is | `approvals` names |
        |---|---|---|
        | `lists` | one ballot: voter, instance, and a list or `separator`-joined text of ticks | that column |
        | `ticks` | one tick: voter, instance, alternative; a blank alternative makes an empty ballot | that column |
        | `indicators` | one ballot: voter, instance, and one 0/1 column per alternative | those columns |
        | `wide_instances` | one voter; a column per instance holds the ticks | the instance columns |
        | `wide_voters` | one instance; a column per voter holds the ticks | the voter columns |

        `blank` says what a cell without ticks is, an `"empty"` ballot or a `"missing"` one. By default an empty list or
        text is an empty ballot where a row is a ballot, and null (None, NaN) a missing one, of which a warning tells;
        in the wide layouts all are missing. `duplicates` says which of two ballots of one voter on one
        instance wins. Column names default to voter/instance/alternatives and the words of neighbours
        (worker/task/label, annotator/item/class). In the first three layouts a column `multiplicity` says how many
        voters with the same ballots the voter of a row stands for.
        """
        from epivote.data.frames import BallotTable, eager_frame, indicator_columns, rows_of, warn_of_nulls
        from epivote.data.rows import split_at

        table = BallotTable(eager_frame(frame))
        rows = rows_of(table, layout, voter, instance, approvals, split_at(separator), blank)
        if layout == "lists" and blank is None:
            warn_of_nulls(len(table.frame) - len(rows.ticks))
        if layout == "indicators" and alternatives is None:
            alternatives = indicator_columns(table, voter, instance, approvals)
        return rows.ballots(alternatives=alternatives, menu=menu, duplicates=duplicates, merge=layout == "ticks")

    # Blocks: the ballots themselves are the only one

    @property
    def blocks(self) -> tuple[Ballots, ...]:
        """The ballots themselves."""
        return (self,)

    def in_memory(self) -> Ballots:
        """The ballots themselves."""
        return self

    def parts(self, places: IntArray | None = None) -> Iterator[Ballots]:
        """The ballots themselves, or those of these instances, in one part."""
        if places is None:
            yield self
        elif len(places):
            yield self.rows(places)

    def rows(self, places: IntArray) -> Ballots:
        """The ballots of the instances with these numbers, ascending."""
        if len(places) == self.n_instances:
            return self
        cast = Lists(self.ballot_start, self.ballot_voter).rows(places)
        ticks = Lists(self.approval_start, self.approved).rows(row_ranges(self.ballot_start, places))
        return replace(
            self,
            instances=tuple(self.names_at(places)),
            ballot_start=sealed(cast.start),
            ballot_voter=sealed(cast.values),
            approval_start=sealed(ticks.start),
            approved=sealed(ticks.values),
            menu=None if self.menu is None else self.menu.rows(places),
        )

    def places(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of those of these instances that are there, in their order."""
        wanted = list(names)
        index = self.instance_index if wanted else {}  # which takes seconds to make where there are millions
        return {name: index[name] for name in wanted if name in index}

    def names_at(self, places: IntArray) -> list[str]:
        """The names of the instances with these numbers."""
        return [self.instances[z] for z in places.tolist()]

    def with_voters(self, names: tuple[str, ...], order: IntArray) -> Ballots:
        """The same with voters in another order, that with number `order[0]` first, and under these names."""
        voter = np.argsort(order)[self.ballot_voter]
        rows = np.lexsort((voter, self.ballot_instance))
        ticks = Lists(self.approval_start, self.approved).rows(rows)
        return replace(
            self,
            voters=names,
            ballot_voter=voter[rows].astype(self.ballot_voter.dtype),
            approval_start=ticks.start,
            approved=ticks.values,
            multiplicities=None if self.multiplicities is None else self.multiplicities[order],
        )

    def content(self) -> tuple[object, tuple[IntArray, ...]]:
        """Names of instances and lengths of columns, and the columns."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        if self.menu is not None:
            columns |= {"menu": self.menu.start, "offered": self.menu.offered}
        if self.multiplicities is not None:
            columns["multiplicities"] = self.multiplicities
        lengths = {name: len(column) for name, column in columns.items()}
        return [self.instances, lengths], tuple(columns.values())

    def in_words(self) -> str:
        """`24 voters, 24 instances, ...`."""
        empty = self.total_empty
        parts = [
            self.voters_in_words(),
            counted(self.n_instances, "instance"),
            counted(self.n_alternatives, "alternative"),
            counted(self.total_ballots, "ballot") + (f" ({empty:,} empty)" if empty else ""),
            counted(self.total_approvals, "approval"),
            f"{whole_percent(self.coverage)} answered",
        ]
        if self.menu is not None:
            parts.append(f"menus of {self.menu_sizes.min()}..{self.menu_sizes.max()}")
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        """The first ballots as a table for notebooks."""
        some = list(islice(self.items(), MOST_ROWS))
        rows = [(voter, instance, ", ".join(sorted(ticks)) or "(none)") for (voter, instance), ticks in some]
        return html_table(repr(self), ("voter", "instance", "alternatives"), rows, self.n_ballots)

    # Parts

    def select(self, *, voters: Iterable[str] | None = None, instances: Iterable[str] | None = None) -> Ballots:
        """The ballots of some voters, some instances or both; all alternatives stay, and so does every order."""
        rows: IntArray = np.arange(self.n_instances)
        if instances is not None:
            rows = np.array(sorted({self._instance_number(name) for name in instances}), np.int64)
        if voters is None:
            return self.rows(rows)
        keep_voter = np.zeros(self.n_voters, bool)
        keep_voter[[self._voter_number(name) for name in voters]] = True
        return self._part(keep_voter, rows)

    def _part(self, keep_voter: BoolArray, rows: IntArray) -> Ballots:
        in_rows = row_ranges(self.ballot_start, rows)
        kept = keep_voter[self.ballot_voter[in_rows]]
        chosen = in_rows[kept]
        row_of = np.repeat(np.arange(len(rows)), self.ballot_start[rows + 1] - self.ballot_start[rows])[kept]
        new_number = np.cumsum(keep_voter) - 1
        return Ballots(
            voters=tuple(name for name, keep in zip(self.voters, keep_voter, strict=True) if keep),
            instances=tuple(self.instances[z] for z in rows),
            alternatives=self.alternatives,
            ballot_start=starts_of(np.bincount(row_of, minlength=len(rows))),
            ballot_voter=new_number[self.ballot_voter[chosen]].astype(np.int32),
            approval_start=starts_of(self.approval_start[chosen + 1] - self.approval_start[chosen]),
            approved=self.approved[row_ranges(self.approval_start, chosen)],
            menu=None if self.menu is None else self.menu.rows(rows),
            multiplicities=None if self.multiplicities is None else self.multiplicities[keep_voter],
        )

    def expanded(self) -> Ballots:
        """The same with one voter for each: who stands for 3 becomes `name.1`, `name.2` and `name.3`."""
        from epivote.data.build import expanded

        return expanded(self)

    def sample_instances(self, every: int, include: Iterable[str] = ()) -> Ballots:
        """About one in `every` instances, chosen by name so that no order matters, and those named in `include`."""
        return self if every <= 1 else self.rows(self.sample_places(every, include))

    def sample_places(self, every: int, include: Iterable[str] = ()) -> IntArray:
        """The numbers of these instances."""
        wanted = self.instance_keys % every == 0
        wanted[list(self.places(include).values())] = True
        return np.flatnonzero(wanted) if wanted.any() else np.zeros(1, np.int64)


def _checked_multiplicities(given: IntArray, n_voters: int) -> IntArray | None:
    """One whole number of at least 1 per voter; None if all are 1."""
    numbers: IntArray = np.asarray(given)
    if numbers.shape != (n_voters,) or numbers.dtype.kind not in "iu" or np.any(numbers < 1):
        raise BallotError(f"multiplicities must be a whole number of at least 1 for each of the {n_voters:,} voters")
    return None if np.all(numbers == 1) else frozen(numbers.astype(np.int64))


def _check_starts(start: IntArray, rows: int, total: int, what: str) -> None:
    if len(start) != rows + 1 or start[0] != 0 or start[-1] != total or np.any(start[1:] < start[:-1]):
        raise BallotError(
            f"{what} must rise from 0 to {total} in {rows + 1} steps; build ballots with Ballots.from_..."
        )


def _check_numbers(numbers: IntArray, limit: int, what: str) -> None:
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= limit):
        raise BallotError(f"{what} must hold numbers from 0 to {limit - 1}; build ballots with Ballots.from_...")
