"""Where the work on packed ballots is done: on this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epivote.data.any_ballots import AnyBallots
from epivote.data.bounds import SizeBounds
from epivote.data.packed import PackedBallots
from epivote.engines.disk import disk_engine
from epivote.engines.engine import Engine
from epivote.engines.gold import GoldSets

KEPT_BYTES = 1 << 29  # half a gigabyte of blocks kept between iterations; a round number below the usual memory


@dataclass(frozen=True)
class Where:
    """On the cluster of a `distributed.Client`, or here, with so many bytes for blocks that stay in memory."""

    client: Any = None
    kept_bytes: int = KEPT_BYTES

    def __reduce__(self) -> tuple[Any, ...]:
        """A client stays where it is."""
        return Where, (None, self.kept_bytes)


def open_packed(folder: str | Path, *, client: Any = None, kept_bytes: int = KEPT_BYTES) -> PackedBallots:
    """Packed ballots, to be given to any estimator's `fit`.

    Blocks are read again in every iteration, except for as many as fit in `kept_bytes`. With `client`, a
    `distributed.Client`, they are held by the workers of a Dask cluster, which must see the same folder.
    """
    return PackedBallots(Path(folder), Where(client, kept_bytes))


def block_engine(ballots: AnyBallots, bounds: SizeBounds, gold: Sequence[GoldSets]) -> Engine:
    """An engine over the blocks of these ballots, whose gold sets are given block by block."""
    where = ballots.where or Where()
    if where.client is None:
        return disk_engine(ballots, bounds, gold, where.kept_bytes)
    from epivote.engines.dask import DaskEngine

    return DaskEngine(where.client, ballots, bounds, gold)
