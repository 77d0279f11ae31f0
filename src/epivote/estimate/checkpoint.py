"""Where a fit has got to, kept in a file after every iteration, so that a later run can go on from there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from epivote.atomic import write_files
from epivote.data.ballots import Ballots
from epivote.data.names import FloatArray
from epivote.data.packed import PackedBallots
from epivote.data.parameters import Parameters
from epivote.data.stored import read_all, write_arrays
from epivote.errors import FileError

RATES = ("hit_rates", "false_alarm_rates", "priors")
State = Mapping[str, FloatArray]


class Checkpoint:
    """The state of every run (one per start) by name; without a path it forgets at once."""

    def __init__(self, path: Path | None = None, made_by: str = "") -> None:
        self.path, self.made_by = path, np.frombuffer(made_by.encode(), np.uint8)
        self._runs: dict[str, State] = {}
        if path is None or not path.exists():
            return
        stored = read_all(path, "remove it to begin anew")
        if not np.array_equal(stored.pop("made_by", np.zeros(0)), self.made_by):
            raise FileError(
                f"{path} was kept by a fit of other ballots or with other settings; remove it, or name another file"
            )
        for name, array in stored.items():
            run, _, key = name.partition(".")
            self._runs[run] = {**self._runs.get(run, {}), key: array}

    def get(self, run: str) -> State | None:
        """Where a run had got to."""
        return self._runs.get(run)

    def put(self, run: str, **state: FloatArray | float | bool) -> None:
        """Keep where a run has got to; the file is always whole."""
        if self.path is None:
            return
        self._runs[run] = {key: np.atleast_1d(np.asarray(value, float)) for key, value in state.items()}
        arrays = {f"{run}.{key}": array for run, state in self._runs.items() for key, array in state.items()}
        write_files({self.path: lambda path: write_arrays(path, {"made_by": self.made_by, **arrays})})


def as_arrays(name: str, parameters: Parameters) -> dict[str, FloatArray]:
    """Parameters as arrays of a state."""
    return {f"{name}_{rate}": getattr(parameters, rate) for rate in RATES}


def parameters_in(state: State, name: str) -> Parameters:
    """The parameters kept under this name."""
    return Parameters(*(state[f"{name}_{rate}"] for rate in RATES))


def fingerprint(estimator: object, ballots: Ballots, gold: object, history: object) -> str:
    """Settings and ballots in a few words: runs that differ in any of them do not continue each other."""
    if isinstance(ballots, PackedBallots):
        columns: list[Any] = list(ballots.sizes.values())
    else:
        columns = [ballots.ballot_start, ballots.ballot_voter, ballots.approval_start, ballots.approved]
    names = repr((ballots.voters, ballots.alternatives, _sorted(gold), _sorted(history)))
    return f"{estimator!r} {[crc32(np.ascontiguousarray(column).data) for column in columns]} {crc32(names.encode())}"


def _sorted(given: Any) -> list[Any]:
    return sorted((str(name), sorted(map(str, value))) for name, value in (given or {}).items())
