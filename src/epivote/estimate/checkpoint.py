"""Where a fit has got to, kept in a file after every iteration, so that a later run can go on from there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from epivote.atomic import write_files
from epivote.data.any_ballots import AnyBallots
from epivote.data.names import FloatArray
from epivote.data.parameters import OF_GROUPS, RATES, Parameters
from epivote.data.stored import read_all, write_arrays
from epivote.engines.gold import Gold
from epivote.errors import FileError
from epivote.estimate.history import History

CHUNK = 1 << 20  # numbers of a column that are widened at a time: 8 MB; a round number
SavedRun = Mapping[str, FloatArray]


class Checkpoint:
    """The state of every run (one per start) by name; without a path it forgets at once."""

    def __init__(self, path: Path | None = None, made_by: str = "") -> None:
        self.path, self.made_by = path, np.frombuffer(made_by.encode(), np.uint8)
        self._runs: dict[str, SavedRun] = {}
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

    def get(self, run: str) -> SavedRun | None:
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
    return {f"{name}_{rate}": array for rate, array in parameters.arrays().items()}


def parameters_in(state: SavedRun, name: str) -> Parameters:
    """The parameters kept under this name."""
    kept = {
        rate: state[f"{name}_{rate}"] for rate in (*RATES, *OF_GROUPS) if rate in RATES or f"{name}_{rate}" in state
    }
    return Parameters.from_arrays(kept)


def fingerprint(estimator: Any, ballots: AnyBallots, gold: Gold | None, history: History | None) -> str:
    """A digest of all that a fit depends on: runs that differ in any of it do not continue each other.

    It is taken from values rather than from how they are shown or stored: long arrays are not cut short, a name cannot
    pass for two, and the type that holds a number does not matter.
    """
    content, columns = ballots.content()
    given = {name: sorted(map(str, names)) for name, names in (gold or {}).items()}
    everything = [estimator, given, history or {}, ballots.voters, ballots.alternatives, content]
    digest = sha256(json.dumps(_plain(everything), default=repr).encode())
    for column in columns:
        for begin in range(0, len(column), CHUNK):
            digest.update(column[begin : begin + CHUNK].astype("<i8").tobytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """The same in lists, texts and numbers; nothing depends on the order of a mapping."""
    if isinstance(value, np.random.Generator):
        return _plain(value.bit_generator.state)
    if hasattr(value, "get_params"):
        return _plain([type(value).__name__, value.get_params()])
    if is_dataclass(value):
        return _plain({each.name: getattr(value, each.name) for each in fields(value)})
    if isinstance(value, Mapping):
        pairs = [(str(key), _plain(each)) for key, each in value.items()]
        return {"mapping": sorted(pairs, key=itemgetter(0))}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
