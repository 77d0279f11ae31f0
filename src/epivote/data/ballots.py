"""Ballots: who ticked what where, in columns sorted by instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.names import BoolArray, IntArray, frozen, row_ranges, suggestion
from epivote.errors import BallotError

if TYPE_CHECKING:
    from epivote.data.frames import Blank, Layout

Duplicates = Literal["error", "first", "last"]
MenuLike = Mapping[str, Iterable[str]]


@dataclass(frozen=True, eq=False)
class Menu:
    """What was offered where: `offered[start[z] : start[z + 1]]` are the alternatives of instance z, ascending."""

    start: IntArray
    offered: IntArray

    def __post_init__(self) -> None:
        """Make the columns read-only."""
        object.__setattr__(self, "start", frozen(self.start))
        object.__setattr__(self, "offered", frozen(self.offered))


@dataclass(frozen=True, eq=False, repr=False)
class Ballots:
    """All ballots, immutable.

    `ballot_start[z] : ballot_start[z + 1]` are the ballots of instance z, `ballot_voter[b]` cast ballot b, and
    `approved[approval_start[b] : approval_start[b + 1]]` are the alternatives ticked on it.

    **An empty ballot is an answer, a missing one is not**: a voter without a row on an instance says nothing about
    it; a row without ticks speaks against every alternative offered there.

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

    def __post_init__(self) -> None:
        """Refuse columns that do not fit together, and make them read-only."""
        for name in ("ballot_start", "ballot_voter", "approval_start", "approved"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        _check_starts(self.ballot_start, self.n_instances, self.n_ballots, "ballot_start")
        _check_starts(self.approval_start, self.n_ballots, len(self.approved), "approval_start")
        _check_numbers(self.ballot_voter, self.n_voters, "ballot_voter")
        _check_numbers(self.approved, self.n_alternatives, "approved")
        if self.menu is not None:
            _check_starts(self.menu.start, self.n_instances, len(self.menu.offered), "menu.start")
            _check_numbers(self.menu.offered, self.n_alternatives, "menu.offered")
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
    ) -> Ballots:
        """Ballots from `{(voter, instance): {alternatives}}`; an empty set is an empty ballot.

        Without `alternatives` they are all that were ever ticked or offered, in alphabetical order.

        Examples
        --------
        >>> Ballots.from_mapping({("ann", "q1"): {"a", "b"}, ("bo", "q1"): set()})
        Ballots(2 voters, 1 instance, 2 alternatives, 2 ballots (1 empty), 2 approvals, 100% answered)
        """
        from epivote.data.build import from_mapping

        return from_mapping(ballots, alternatives, menu)

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

        `blank` says what an empty cell is, an `"empty"` ballot or a `"missing"` one; by default empty where a row
        is a ballot and missing in the wide layouts. `duplicates` says which of two ballots of one voter on one
        instance wins. Column names default to voter/instance/alternatives and the words of neighbours
        (worker/task/label, annotator/item/class).
        """
        from epivote.data.frames import BallotTable, eager_frame, from_table
        from epivote.data.rows import split_at

        return from_table(
            BallotTable(eager_frame(frame)),
            layout=layout,
            voter=voter,
            instance=instance,
            approvals=approvals,
            alternatives=alternatives,
            menu=menu,
            split=split_at(separator),
            blank=blank,
            duplicates=duplicates,
        )

    # Sizes

    @property
    def n_voters(self) -> int:
        """How many voters are listed (the paper's n)."""
        return len(self.voters)

    @property
    def n_instances(self) -> int:
        """How many instances are listed (the paper's L)."""
        return len(self.instances)

    @property
    def n_alternatives(self) -> int:
        """How many alternatives are listed (the paper's m)."""
        return len(self.alternatives)

    @property
    def n_ballots(self) -> int:
        """How many ballots were cast, empty ones included."""
        return len(self.ballot_voter)

    @property
    def n_approvals(self) -> int:
        """How many ticks all ballots hold together."""
        return len(self.approved)

    @property
    def coverage(self) -> float:
        """Share of all (voter, instance) pairs with a ballot."""
        return self.n_ballots / (self.n_voters * self.n_instances)

    @property
    def ballot_sizes(self) -> IntArray:
        """Number of ticks on every ballot."""
        return np.diff(self.approval_start)

    @property
    def ballots_per_voter(self) -> IntArray:
        """Number of ballots every voter cast."""
        return np.bincount(self.ballot_voter, minlength=self.n_voters)

    @property
    def ballot_instance(self) -> IntArray:
        """The instance of every ballot."""
        return np.repeat(np.arange(self.n_instances), np.diff(self.ballot_start))

    @property
    def has_menus(self) -> bool:
        """Whether instances differ in what they offer."""
        return self.menu is not None

    @cached_property
    def menu_sizes(self) -> IntArray:
        """Number of alternatives offered on every instance."""
        if self.menu is None:
            return frozen(np.full(self.n_instances, self.n_alternatives))
        return frozen(np.diff(self.menu.start))

    @property
    def cast(self) -> IntArray:
        """Number of ballots on every instance."""
        return np.diff(self.ballot_start)

    @property
    def most_ballots(self) -> int:
        """Number of ballots on the instance that has most."""
        return int(self.cast.max())

    @property
    def n_pairs(self) -> int:
        """How many pairs of ballots on the same instance there are."""
        return pairs_in(self.cast)

    @cached_property
    def instance_keys(self) -> IntArray:
        """A number for every instance that depends on its name alone."""
        return np.fromiter(map(name_key, self.instances), np.uint32, self.n_instances)

    @cached_property
    def instance_index(self) -> dict[str, int]:
        """The number of every instance by its name."""
        return {name: z for z, name in enumerate(self.instances)}

    @cached_property
    def voter_index(self) -> dict[str, int]:
        """The number of every voter by its name."""
        return {name: i for i, name in enumerate(self.voters)}

    # Looking inside

    def ballot(self, voter: str, instance: str) -> frozenset[str] | None:
        """The ticks of one ballot; an empty set if it was empty, `None` if it is missing."""
        i, z = self._voter_number(voter), self._instance_number(instance)
        begin, end = self.ballot_start[z], self.ballot_start[z + 1]
        found = np.flatnonzero(self.ballot_voter[begin:end] == i)
        if len(found) == 0:
            return None
        b = begin + found[0]
        ticks = self.approved[self.approval_start[b] : self.approval_start[b + 1]]
        return frozenset(self.alternatives[j] for j in ticks)

    def offered(self, instance: str) -> tuple[str, ...]:
        """The alternatives offered on one instance."""
        z = self._instance_number(instance)
        if self.menu is None:
            return self.alternatives
        return tuple(self.alternatives[j] for j in self.menu.offered[self.menu.start[z] : self.menu.start[z + 1]])

    def items(self) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
        """All ballots as `((voter, instance), ticks)`, instance after instance."""
        for b, (i, z) in enumerate(zip(self.ballot_voter, self.ballot_instance, strict=True)):
            ticks = self.approved[self.approval_start[b] : self.approval_start[b + 1]]
            yield (self.voters[i], self.instances[z]), frozenset(self.alternatives[j] for j in ticks)

    def select(self, *, voters: Iterable[str] | None = None, instances: Iterable[str] | None = None) -> Ballots:
        """The ballots of some voters, some instances or both; all alternatives stay, and so does every order."""
        keep_voter = np.ones(self.n_voters, bool)
        rows: IntArray = np.arange(self.n_instances)
        if voters is not None:
            keep_voter[:] = False
            keep_voter[[self._voter_number(name) for name in voters]] = True
        if instances is not None:
            rows = np.array(sorted({self._instance_number(name) for name in instances}), np.int64)
        return self._part(keep_voter, rows)

    def _part(self, keep_voter: BoolArray, rows: IntArray) -> Ballots:
        in_rows = row_ranges(self.ballot_start, rows)
        kept = keep_voter[self.ballot_voter[in_rows]]
        chosen = in_rows[kept]
        row_of = np.repeat(np.arange(len(rows)), np.diff(self.ballot_start)[rows])[kept]
        new_number = np.cumsum(keep_voter) - 1
        menu = None
        if self.menu is not None:
            cells = row_ranges(self.menu.start, rows)
            menu = Menu(_starts(np.diff(self.menu.start)[rows]), self.menu.offered[cells])
        return Ballots(
            voters=tuple(name for name, keep in zip(self.voters, keep_voter, strict=True) if keep),
            instances=tuple(self.instances[z] for z in rows),
            alternatives=self.alternatives,
            ballot_start=_starts(np.bincount(row_of, minlength=len(rows))),
            ballot_voter=new_number[self.ballot_voter[chosen]].astype(np.int32),
            approval_start=_starts(self.ballot_sizes[chosen]),
            approved=self.approved[row_ranges(self.approval_start, chosen)],
            menu=menu,
        )

    def thinned(self, step: int, also: Iterable[str] = ()) -> Ballots:
        """About every `step`-th instance, chosen by name so that no order matters, and those named in `also`."""
        if step <= 1:
            return self
        wanted = self.instance_keys % step == 0
        wanted[[self.instance_index[name] for name in also if name in self.instance_index]] = True
        rows = np.flatnonzero(wanted) if wanted.any() else np.zeros(1, np.int64)
        return self._part(np.ones(self.n_voters, bool), rows)

    def __eq__(self, other: object) -> bool:
        """Same names in the same order, same ballots, same menus."""
        if not isinstance(other, Ballots):
            return NotImplemented
        names = ("voters", "instances", "alternatives")
        columns = ("ballot_start", "ballot_voter", "approval_start", "approved")
        return (
            all(getattr(self, name) == getattr(other, name) for name in names)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in columns)
            and _same_menu(self.menu, other.menu)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Sizes at a glance."""
        return f"{type(self).__name__}({self.in_words()})"

    def in_words(self) -> str:
        """`24 voters, 24 instances, ...`."""
        empty = int(np.count_nonzero(self.ballot_sizes == 0))
        parts = [
            counted(self.n_voters, "voter"),
            counted(self.n_instances, "instance"),
            counted(self.n_alternatives, "alternative"),
            counted(self.n_ballots, "ballot") + (f" ({empty:,} empty)" if empty else ""),
            counted(self.n_approvals, "approval"),
            f"{self.coverage:.0%} answered",
        ]
        if self.menu is not None:
            parts.append(f"menus of {self.menu_sizes.min()}..{self.menu_sizes.max()}")
        return ", ".join(parts)

    def _voter_number(self, name: object) -> int:
        if str(name) not in self.voter_index:
            raise BallotError(f"{name!r} is not a voter{suggestion(name, self.voters)}")
        return self.voter_index[str(name)]

    def _instance_number(self, name: object) -> int:
        if str(name) not in self.instance_index:
            raise BallotError(f"{name!r} is not an instance{suggestion(name, self.instances)}")
        return self.instance_index[str(name)]


def name_key(name: str) -> int:
    """A number that is the same for the same name everywhere."""
    return crc32(name.encode())


def pairs_in(cast: IntArray) -> int:
    """How many pairs can be made within groups of these sizes."""
    return int((cast * (cast - 1) // 2).sum())


def _starts(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def counted(count: int, noun: str) -> str:
    """`1 voter`, `2 voters`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _same_menu(one: Menu | None, other: Menu | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one.start, other.start) and np.array_equal(one.offered, other.offered)


def _check_starts(start: IntArray, rows: int, total: int, what: str) -> None:
    if len(start) != rows + 1 or start[0] != 0 or start[-1] != total or np.any(np.diff(start) < 0):
        raise BallotError(
            f"{what} must rise from 0 to {total} in {rows + 1} steps; build ballots with Ballots.from_..."
        )


def _check_numbers(numbers: IntArray, limit: int, what: str) -> None:
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= limit):
        raise BallotError(f"{what} must hold numbers from 0 to {limit - 1}; build ballots with Ballots.from_...")
