"""Gold sets: matched to blocks, and as rows of shards that keep their sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.names import listing
from epivote.data.shards import Shard
from epivote.engines.cells import tables_of
from epivote.errors import BoundsError, InputError
from epivote.model.statistics import GoldRows

Gold = Mapping[str, Iterable[str]]
"""The true sets of some instances, as they are given; some may have no ballots."""
GoldSets = Mapping[str, frozenset[str]]
"""Those that belong to the instances of one block."""


def gold_by_block(ballots: AnyBallots, gold: Gold | None) -> list[GoldSets]:
    """The gold sets of every block's instances; refuses gold that has no ballot at all."""
    if not gold:
        return [{} for _ in ballots.blocks]
    found: list[GoldSets] = [
        {name: frozenset(gold[name]) for name in block.instances if name in gold} for block in ballots.blocks
    ]
    if not any(found):
        raise InputError(
            f"none of the {len(gold):,} gold instances has a ballot; the gold ones are {listing(list(gold), 3)}, "
            f"the ballots' {listing(ballots.blocks[0].instances, 3)}"
        )
    return found


def gold_rows(gold: GoldSets, ballots: Ballots, shards: Sequence[Shard]) -> list[GoldRows | None]:
    """For every shard the rows whose sets are given; refuses a set outside the size bounds."""
    if not gold:
        return [None] * len(shards)
    is_gold = np.array([name in gold for name in ballots.instances])
    known: list[GoldRows | None] = []
    for shard, sets in zip(shards, tables_of(gold, ballots, shards), strict=True):
        rows = np.flatnonzero(is_gold[shard.instances])
        sizes = sets[rows].sum(axis=1)
        outside = rows[(sizes < shard.lower) | (sizes > shard.upper)]
        if len(outside):
            name = ballots.instances[shard.instances[outside[0]]]
            raise BoundsError(
                f"the gold set of instance {name!r} has {len(gold[name])} alternatives, outside the size "
                f"bounds {shard.lower}..{shard.upper}; correct it or widen the bounds"
            )
        known.append(GoldRows(rows, sets[rows]) if len(rows) else None)
    return known
