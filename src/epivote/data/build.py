"""From names and ticks in any order to sorted columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.arranging import WITH_ARRAYS, Arranged, Arranging
from epivote.data.ballots import Ballots, Duplicates, MenuLike
from epivote.data.blocks import Menu
from epivote.data.lists import Lists
from epivote.data.names import (
    IntArray,
    Place,
    as_names,
    counts_of,
    listing,
    sealed,
    smallest_integers,
    starts_of,
    suggestion,
)
from epivote.errors import BallotError


def from_mapping(
    ballots: Mapping[tuple[str, str], Iterable[str]],
    alternatives: Iterable[str] | None,
    menu: MenuLike | None,
    multiplicities: Mapping[str, int] | None = None,
) -> Ballots:
    """See `Ballots.from_mapping`."""
    for key, ticks in ballots.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise BallotError(f"ballot {key!r} must be named by a pair (voter, instance)")
        if isinstance(ticks, str):
            raise BallotError(f"ballot {key!r} is the text {ticks!r}, not a set of alternatives; write {{{ticks!r}}}")
        if not isinstance(ticks, Iterable):
            raise BallotError(f"ballot {key!r} is {ticks!r}, not a set of alternatives; leave a missing ballot out")
    voters = as_names(dict.fromkeys(str(voter) for voter, _ in ballots), "voter")
    instances = as_names(dict.fromkeys(str(instance) for _, instance in ballots), "instance")
    ticked = [[str(alternative) for alternative in ticks] for ticks in ballots.values()]
    names = universe(alternatives, menu, (alternative for ticks in ticked for alternative in ticks))
    keys = [f"ballot {key!r}" for key in ballots]
    numbers = {name: number for number, name in enumerate(names)}
    for row, ticks in enumerate(ticked):
        check_known(ticks, numbers, keys[row])
    voter_number = {name: number for number, name in enumerate(voters)}
    instance_number = {name: number for number, name in enumerate(instances)}
    return assemble(
        voters=voters,
        instances=instances,
        alternatives=names,
        ballot_voter=np.array([voter_number[str(voter)] for voter, _ in ballots], np.int64),
        ballot_instance=np.array([instance_number[str(instance)] for _, instance in ballots], np.int64),
        approvals=Lists.of_lengths(
            np.array([len(ticks) for ticks in ticked], np.int64),
            np.array([numbers[name] for ticks in ticked for name in ticks], np.int64),
        ),
        menu=menu,
        multiplicities=None if multiplicities is None else _listed(multiplicities, voter_number),
        place=keys.__getitem__,
    )


def _listed(multiplicities: Mapping[str, int], voters: Mapping[str, int]) -> IntArray:
    """How many voters each one stands for, 1 if nothing is said; refuses a name without ballots."""
    listed = dict.fromkeys(voters, 1)
    for name, times in multiplicities.items():
        if str(name) not in listed:
            raise BallotError(f"{name!r} has a multiplicity but no ballot{suggestion(name, list(voters))}")
        if isinstance(times, bool) or not isinstance(times, (int, np.integer)) or times < 1:
            raise BallotError(f"the multiplicity of {name!r} is {times!r}; it must be a whole number of at least 1")
        listed[str(name)] = int(times)
    return np.array(list(listed.values()), np.int64)


def from_array(
    array: ArrayLike,
    missing: ArrayLike | None,
    voters: Iterable[str] | None,
    instances: Iterable[str] | None,
    alternatives: Iterable[str] | None,
    menu: MenuLike | None,
) -> Ballots:
    """See `Ballots.from_array`."""
    cube = np.ma.filled(np.ma.asarray(array, float), np.nan) if np.ma.isMaskedArray(array) else np.asarray(array, float)
    if cube.ndim != 3:
        raise BallotError(f"the array has shape {cube.shape}; it needs three axes: instances, voters, alternatives")
    absent = np.isnan(cube).all(axis=2) if cube.shape[2] else np.zeros(cube.shape[:2], bool)
    if missing is not None:
        mask = np.asarray(missing, bool)
        if mask.shape != cube.shape[:2]:
            raise BallotError(f"missing has shape {mask.shape}; it needs {cube.shape[:2]}: instances, voters")
        absent = absent | mask
    wrong = ~absent[:, :, None] & (cube != 0) & (cube != 1)
    if wrong.any():
        z, i, j = (int(axis[0]) for axis in np.nonzero(wrong))
        raise BallotError(
            f"array[{z}, {i}, {j}] is {cube[z, i, j]:g}; write 1 for a tick and 0 for none, "
            "or NaN for all alternatives of a ballot that is missing"
        )
    present = ~absent
    ballot_instance, ballot_voter = np.nonzero(present)
    approval_ballot, approved = np.nonzero(cube[present] == 1)
    return assemble(
        voters=_named(voters, "voter", cube.shape[1]),
        instances=_named(instances, "instance", cube.shape[0]),
        alternatives=_named(alternatives, "alternative", cube.shape[2]),
        ballot_voter=ballot_voter,
        ballot_instance=ballot_instance,
        approvals=Lists.of_pairs(approval_ballot, approved, len(ballot_voter)),
        menu=menu,
        place=lambda row: f"array[{ballot_instance[row]}, {ballot_voter[row]}]",
    )


def assemble(
    *,
    voters: tuple[str, ...],
    instances: tuple[str, ...],
    alternatives: tuple[str, ...],
    ballot_voter: IntArray,
    ballot_instance: IntArray,
    approvals: Lists,
    list_of_row: IntArray | None = None,
    numbers: IntArray | None = None,
    menu: MenuLike | None = None,
    multiplicities: IntArray | None = None,
    duplicates: Duplicates = "error",
    merge: bool = False,
    place: Place = lambda row: f"row {row + 1}",
    arranging: Arranging = WITH_ARRAYS,
) -> Ballots:
    """Ballots from one (voter, instance) pair and one list of ticked alternatives per input row.

    With `list_of_row` there is one list per different cell, and it says which of them a row holds. With `numbers` the
    lists hold other numbers, and it says which alternative each of those stands for. Rows may come in any order; a
    repeated tick counts once. With `merge` the rows of one voter on one instance make one ballot together,
    else `duplicates` decides. `place` puts a row number into words for error messages.
    """
    if duplicates not in ("error", "first", "last"):
        raise BallotError(f"duplicates={duplicates!r} is not one of 'error', 'first', 'last'")
    numbers = np.arange(len(alternatives)) if numbers is None else numbers
    arranged: Arranged | None = None
    order: IntArray = np.zeros(0, np.int64)
    if list_of_row is None and menu is None and not merge:
        arranged = arranging.in_place(ballot_instance, ballot_voter, approvals, numbers, len(alternatives))
    if arranged is None:
        order, voter, start, has_repeats = arranging.order(ballot_instance, ballot_voter, len(instances))
        repeats = _repeats(ballot_instance[order], voter) if has_repeats else np.zeros(0, np.int64)
        if has_repeats and not merge:
            if duplicates == "error":
                first, second = int(order[repeats[0]]), int(order[repeats[0] + 1])
                raise BallotError(
                    f"{place(second)}: voter {voters[ballot_voter[second]]!r} already has a ballot on instance "
                    f"{instances[ballot_instance[second]]!r} ({place(first)}); remove one, choose which to keep "
                    "(duplicates: first or last), or read every row as one tick (format or layout ticks)"
                )
            order = np.delete(order, repeats + 1 if duplicates == "first" else repeats)
        ticks = arranging.collect(approvals, list_of_row, order, numbers, len(alternatives))
        if merge:
            order = np.delete(order, repeats + 1)
            ticks = Lists(np.delete(ticks.start, repeats + 1), ticks.values).sorted_sets(len(alternatives))
        if has_repeats:
            start, voter = starts_of(counts_of(ballot_instance[order], None, len(instances))), ballot_voter[order]
        arranged = Arranged(start, voter, ticks)
    built = Ballots(
        voters=voters,
        instances=instances,
        alternatives=alternatives,
        ballot_start=sealed(arranged.start),
        ballot_voter=sealed(arranged.voter.astype(np.int32, copy=False)),
        approval_start=sealed(arranged.sets.start),
        approved=sealed(smallest_integers(arranged.sets.values, len(alternatives))),
        menu=None if menu is None else encode_menu(menu, instances, alternatives),
        multiplicities=multiplicities,
    )
    if built.menu is not None:
        _check_menu(built, built.menu, order, place)
    return built


def expanded(ballots: Ballots) -> Ballots:
    """See `Ballots.expanded`."""
    if ballots.multiplicities is None:
        return ballots
    times, cast = ballots.multiplicities, ballots.multiplicities[ballots.ballot_voter]
    pairs = zip(ballots.voters, times.tolist(), strict=True)
    names = [[name] if k == 1 else [f"{name}.{copy}" for copy in range(1, k + 1)] for name, k in pairs]
    rows = np.repeat(np.arange(ballots.n_ballots), cast)
    number = np.arange(len(rows)) - np.repeat(starts_of(cast)[:-1], cast)
    ticks = Lists(ballots.approval_start, ballots.approved).rows(rows)
    return replace(
        ballots,
        voters=as_names((name for group in names for name in group), "voter"),
        ballot_start=starts_of(ballots.cast_per_instance),
        ballot_voter=(starts_of(times)[ballots.ballot_voter[rows]] + number).astype(np.int32),
        approval_start=ticks.start,
        approved=ticks.values,
        multiplicities=None,
    )


def without_alternative(ballots: Ballots, name: str) -> Ballots:
    """The same ballots without one alternative: ticks on it and its place in menus are gone."""
    gone = ballots.alternatives.index(name)
    renumber = np.arange(ballots.n_alternatives) - (np.arange(ballots.n_alternatives) > gone)

    def rest(start: IntArray, values: IntArray) -> Lists:
        kept = values != gone
        row = np.repeat(np.arange(len(start) - 1), np.diff(start))[kept]
        numbers = smallest_integers(renumber[values[kept]], ballots.n_alternatives)
        return Lists.of_pairs(row, numbers, len(start) - 1)

    ticks = rest(ballots.approval_start, ballots.approved)
    menu = None if ballots.menu is None else Menu(*rest(ballots.menu.start, ballots.menu.offered))
    names = tuple(each for each in ballots.alternatives if each != name)
    return replace(ballots, alternatives=names, approval_start=ticks.start, approved=ticks.values, menu=menu)


def encode_menu(menu: MenuLike, instances: tuple[str, ...], alternatives: tuple[str, ...]) -> Menu | None:
    """The menus of `instances` as columns; `None` when every one offers every alternative."""
    menu = {str(instance): offered for instance, offered in menu.items()}
    numbers = {name: number for number, name in enumerate(alternatives)}
    rows: list[list[int]] = []
    for instance in instances:
        if instance not in menu:
            raise BallotError(
                f"instance {instance!r} has ballots but no menu{suggestion(instance, list(menu))}; add its menu"
            )
        if isinstance(menu[instance], str):
            raise BallotError(f"the menu of {instance!r} is the text {menu[instance]!r}; give a set of alternatives")
        names = [str(name) for name in menu[instance]]
        check_known(names, numbers, f"menu of instance {instance!r}")
        rows.append(sorted({numbers[name] for name in names}))
    if all(len(row) == len(alternatives) for row in rows):
        return None
    offered = np.array([number for row in rows for number in row], np.int64)
    start = starts_of(np.array([len(row) for row in rows], np.int64))
    return Menu(start, smallest_integers(offered, len(alternatives)))


def universe(alternatives: Iterable[str] | None, menu: MenuLike | None, ticked: Iterable[str]) -> tuple[str, ...]:
    """The alternatives as given, or all that were offered or ticked in alphabetical order."""
    if alternatives is not None:
        if isinstance(alternatives, str):
            raise BallotError(f"alternatives is the text {alternatives!r}; give a list of names")
        return as_names(alternatives, "alternative")
    if menu is None:
        return as_names(sorted(set(ticked)), "alternative")
    if not isinstance(menu, Mapping):
        raise BallotError(f"menu is a {type(menu).__name__}; give a mapping from instance to what it offers")
    found = {str(name) for names in menu.values() for name in names}
    return as_names(sorted(found), "alternative")


def check_known(names: Iterable[str], known: Collection[str], place: str) -> None:
    """Refuse a name that is not an alternative, with the nearest one as remedy."""
    for name in names:
        if name not in known:
            hint = suggestion(name, list(known)) or f"; the alternatives are {listing(list(known))}"
            raise BallotError(f"{place}: {name!r} is not an alternative{hint}")


def _check_menu(ballots: Ballots, menu: Menu, order: IntArray, place: Place) -> None:
    width = ballots.n_alternatives
    cells = np.repeat(np.arange(ballots.n_instances), ballots.menu_sizes) * width + menu.offered
    tick_ballot = np.repeat(np.arange(ballots.n_ballots), ballots.ballot_sizes)
    ticks = ballots.ballot_instance[tick_ballot] * width + ballots.approved
    outside = np.flatnonzero(~np.isin(ticks, cells))
    if len(outside):
        b = int(tick_ballot[outside[0]])
        instance = ballots.instances[ballots.ballot_instance[b]]
        ticked = ballots.alternatives[ballots.approved[outside[0]]]
        raise BallotError(
            f"{place(int(order[b]))}: voter {ballots.voters[ballots.ballot_voter[b]]!r} ticked {ticked!r}, which the "
            f"menu of instance {instance!r} does not offer ({listing(ballots.offered(instance))}); correct the ballot "
            "or the menu"
        )


def _named(names: Iterable[str] | None, kind: str, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{kind}{number}" for number in range(1, count + 1))
    given = as_names(names, kind)
    if len(given) != count:
        raise BallotError(f"{len(given)} {kind} names were given for {count} {kind}s of the array")
    return given


def _repeats(instance: IntArray, voter: IntArray) -> IntArray:
    """Rows in order whose next one has the same instance and voter."""
    return np.flatnonzero((instance[1:] == instance[:-1]) & (voter[1:] == voter[:-1]))
