"""Ballots to and from what other libraries use: lists of dicts, a pandas multi-index, 0/1 indicator matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epivote.data.ballots import Ballots
from epivote.data.truths import Truths
from epivote.errors import BallotError, ColumnError


def ballots_from_records(records: Iterable[Mapping[str, Any]], alternatives: Iterable[str] | None = None) -> Ballots:
    """Ballots from a list of dicts with the keys `voter`, `instance` and `alternatives`, such as `datasets` iterates.

    An empty list of alternatives is an empty ballot; None is a missing one.

    Examples
    --------
    >>> ballots_from_records([{"voter": "ann", "instance": "q1", "alternatives": ["cat", "dog"]}])
    Ballots(1 voter, 1 instance, 2 alternatives, 1 ballot, 2 approvals, 100 % answered)
    """
    cast: dict[tuple[str, str], Iterable[str]] = {}
    for number, record in enumerate(records):
        for key in ("voter", "instance", "alternatives"):
            if key not in record:
                raise ColumnError(f"record {number} has no key {key!r}; it has {', '.join(map(repr, record))}")
        _add(cast, (record["voter"], record["instance"]), record["alternatives"])
    return Ballots.from_mapping(cast, alternatives=alternatives)


def ballots_to_records(ballots: Ballots) -> list[dict[str, Any]]:
    """One dict per ballot with the keys `voter`, `instance` and `alternatives` (a list); `datasets` takes it as it is.

    Examples
    --------
    >>> ballots_to_records(Ballots.from_mapping({("ann", "q1"): {"dog", "cat"}}))
    [{'voter': 'ann', 'instance': 'q1', 'alternatives': ['cat', 'dog']}]
    """
    return [
        {"voter": voter, "instance": instance, "alternatives": sorted(ticks)}
        for (voter, instance), ticks in ballots.items()
    ]


def ballots_from_pandas(approvals: Any, alternatives: Iterable[str] | None = None) -> Ballots:
    """Ballots from a pandas Series of lists, or a DataFrame of 0 and 1, with the multi-index (voter, instance).

    Levels without names are taken in that order. In a DataFrame the columns are the alternatives. None or NaN in place
    of a list is a missing ballot.
    """
    names = list(approvals.index.names)
    order = [names.index(name) if name in names else place for place, name in enumerate(("voter", "instance"))]
    if approvals.index.nlevels != 2 or order[0] == order[1]:
        raise ColumnError(f"the index has the levels {names}; it needs two, voter and instance")
    keys = [(key[order[0]], key[order[1]]) for key in approvals.index]
    if getattr(approvals, "ndim", 1) == 2:
        voters, instances = [voter for voter, _ in keys], [instance for _, instance in keys]
        return ballots_from_indicators(approvals.to_numpy(), voters, instances, list(approvals.columns))
    cast: dict[tuple[str, str], Iterable[str]] = {}
    for key, ticks in zip(keys, approvals, strict=True):
        _add(cast, key, ticks)
    return Ballots.from_mapping(cast, alternatives=alternatives)


def ballots_to_pandas(ballots: Ballots) -> Any:
    """A pandas DataFrame of booleans, one column per alternative, with the multi-index (voter, instance)."""
    import pandas as pd

    matrix, keys = ballots_to_indicators(ballots)
    index = pd.MultiIndex.from_tuples(keys, names=["voter", "instance"])
    return pd.DataFrame(matrix.astype(bool), index=index, columns=list(ballots.alternatives))


def ballots_from_indicators(
    matrix: ArrayLike, voters: Sequence[Hashable], instances: Sequence[Hashable], alternatives: Sequence[Hashable]
) -> Ballots:
    """Ballots from a 0/1 matrix with a row per ballot and a column per alternative, as `MultiLabelBinarizer` makes it.

    `alternatives` are its `classes_`; `voters` and `instances` say whose ballot each row is, and on what.

    Examples
    --------
    >>> ballots_from_indicators([[1, 0], [1, 1]], ["ann", "bo"], ["q1", "q1"], ["cat", "dog"])
    Ballots(2 voters, 1 instance, 2 alternatives, 2 ballots, 3 approvals, 100 % answered)
    """
    ticks = np.asarray(matrix)
    shape = (len(voters), len(alternatives))
    if ticks.shape != shape or len(instances) != len(voters) or not np.isin(ticks, (0, 1)).all():
        raise BallotError(
            f"the matrix has shape {ticks.shape} for {len(voters)} voters, {len(instances)} instances and "
            f"{len(alternatives)} alternatives; it needs a row per ballot, a column per alternative, and only 0 and 1"
        )
    names = [str(name) for name in alternatives]
    cast: dict[tuple[str, str], Iterable[str]] = {}
    for voter, instance, row in zip(voters, instances, ticks.astype(bool), strict=True):
        _add(cast, (voter, instance), [names[j] for j in np.flatnonzero(row)])
    return Ballots.from_mapping(cast, alternatives=names)


def ballots_to_indicators(ballots: Ballots) -> tuple[NDArray[np.int8], list[tuple[str, str]]]:
    """A 0/1 matrix with a row per ballot and a column per alternative, and the (voter, instance) of every row."""
    cast, place = list(ballots.items()), {name: j for j, name in enumerate(ballots.alternatives)}
    matrix = np.zeros((len(cast), len(place)), np.int8)
    for row, (_, ticks) in zip(matrix, cast, strict=True):
        row[[place[name] for name in ticks]] = 1
    return matrix, [key for key, _ in cast]


def truths_to_indicators(truths: Truths, alternatives: Sequence[str] | None = None) -> NDArray[np.int8]:
    """Sets as a 0/1 matrix with a row per instance and a column per alternative: what scikit-learn's metrics take.

    Examples
    --------
    >>> truths_to_indicators(Truths.from_mapping({"q1": {"dog"}, "q2": {"cat", "dog"}})).tolist()
    [[0, 1], [1, 1]]
    """
    names = list(truths.alternatives if alternatives is None else alternatives)
    place = {name: j for j, name in enumerate(names)}
    matrix = np.zeros((len(truths), len(names)), np.int8)
    for row, (instance, members) in zip(matrix, truths.items(), strict=True):
        unknown = sorted(name for name in members if name not in place)
        if unknown:
            raise BallotError(f"instance {instance!r}: {unknown[0]!r} is not one of the alternatives given")
        row[[place[name] for name in members]] = 1
    return matrix


def _add(cast: dict[tuple[str, str], Iterable[str]], key: tuple[Hashable, Hashable], ticks: object) -> None:
    """One ballot; None and NaN are none."""
    voter, instance = str(key[0]), str(key[1])
    if ticks is None or (isinstance(ticks, float) and np.isnan(ticks)):
        return
    if isinstance(ticks, str) or not isinstance(ticks, Iterable):
        raise BallotError(f"voter {voter!r}, instance {instance!r}: {ticks!r} is not a list; write [{ticks!r}]")
    if (voter, instance) in cast:
        raise BallotError(f"voter {voter!r} has two ballots on instance {instance!r}; keep one of them")
    cast[voter, instance] = [str(name) for name in ticks]
