"""Fitted estimators as one JSON file: versioned, without pickle, exact to the last bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from epivote.atomic import write_files
from epivote.data.bounds import SizeBounds
from epivote.data.calibration import Calibration
from epivote.data.estimate import VoterCounts
from epivote.data.parameters import Parameters
from epivote.errors import FileError, InputError
from epivote.estimate.amle import AMLE
from epivote.estimate.auto import Auto
from epivote.estimate.base import Estimator, RatedEstimator
from epivote.estimate.baselines import Approval, Majority, Modal
from epivote.estimate.calibrated import Calibrated
from epivote.estimate.em import EM
from epivote.estimate.maximum_likelihood import MaximumLikelihood
from epivote.estimate.model import Model
from epivote.estimate.stream import Kept, Stream
from epivote.model.statistics import Group

FORMAT = "epivote model"
VERSION = (1, 2)  # of model files: (other programs cannot read it, other programs can)
KINDS: dict[str, type[RatedEstimator]] = {
    kind.__name__: kind for kind in (AMLE, EM, MaximumLikelihood, Calibrated, Auto)
}
INSIDE: dict[str, type[Estimator]] = {**KINDS, **{kind.__name__: kind for kind in (Majority, Modal, Approval)}}
"""What `Calibrated` may wrap."""


def save_model(estimator: RatedEstimator, path: str | Path) -> None:
    """Write what an estimator has learnt, and for a stream all it needs to go on; sets are not part of it."""
    if type(estimator).__name__ not in KINDS:
        raise InputError(f"{type(estimator).__name__} learns nothing, so there is nothing to save")
    state = {
        "format": FORMAT,
        "version": ".".join(map(str, VERSION)),
        "estimator": type(estimator).__name__,
        "settings": _settings(estimator),
        "model": _model_state(estimator.model_),
        "stream": _stream_state(estimator._stream) if isinstance(estimator, EM) and estimator._stream else None,
    }
    text = json.dumps(state, indent=1, allow_nan=False)
    write_files({Path(path): lambda target: target.write_text(text, encoding="utf-8")})


def load_model(path: str | Path) -> RatedEstimator:
    """The estimator that `save_model` wrote: ready to predict, and a stream ready to go on."""
    state = _read(Path(path))
    try:
        estimator = KINDS[state["estimator"]](**_values(state["settings"]))
        model = _model(state["model"])
        if state["stream"] is not None and isinstance(estimator, EM):
            estimator._stream = _stream(state["stream"], model)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise FileError(f"{path} is damaged or not for this epivote ({error}); save the model again") from None
    estimator._model = model
    return estimator


def _read(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path} is not a saved model: {error}") from None
    if not isinstance(state, dict) or state.get("format") != FORMAT or state.get("estimator") not in KINDS:
        raise FileError(f"{path} is not a saved model of epivote; write one with save_model")
    major = str(state.get("version")).split(".")[0]
    if not major.isdigit():
        raise FileError(f"{path} does not say its version; save the model again")
    if int(major) > VERSION[0]:
        raise FileError(f"{path} was written by a newer epivote (model version {state['version']}); update epivote")
    return state


def _settings(estimator: Estimator) -> dict[str, Any]:
    return {name: _plain(value, name) for name, value in estimator.get_params(deep=False).items()}


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, Estimator):
        return {"estimator": [type(value).__name__, _settings(value)]}
    if isinstance(value, SizeBounds):
        pairs = {key: [_plain(side, name) for side in pair] for key, pair in value.per_instance.items()}
        return {"bounds": [_plain(value.lower, name), _plain(value.upper, name), pairs]}
    if isinstance(value, Parameters):
        return {"parameters": _listed(value)}
    if isinstance(value, tuple):
        return {"tuple": [_plain(each, name) for each in value]}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, np.random.Generator):
        raise InputError(
            f"{name} is a random generator, which a model file cannot hold; set it to a number before saving"
        )
    if isinstance(value, dict):
        return {"mapping": {str(key): float(rate) for key, rate in value.items()}}
    return value


def _values(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in settings.items()}


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, content), *_ = value.items()
    if kind == "estimator":
        return INSIDE[content[0]](**_values(content[1]))
    if kind == "bounds":
        return SizeBounds(content[0], content[1], {key: tuple(pair) for key, pair in content[2].items()})
    if kind == "parameters":
        return Parameters.from_arrays(content)
    return tuple(content) if kind == "tuple" else content


def _listed(parameters: Parameters) -> dict[str, list[float]]:
    return {name: array.tolist() for name, array in parameters.arrays().items()}


def _model_state(model: Model) -> dict[str, Any]:
    return {
        "voters": list(model.voters),
        "alternatives": list(model.alternatives),
        "parameters": _listed(model.parameters),
        "counts": [array.tolist() for array in model.counts],
        "calibration": None if model.calibration is None else model.calibration.state(),
        "multiplicities": None if model.multiplicities is None else model.multiplicities.tolist(),
    }


def _model(state: dict[str, Any]) -> Model:
    if len(state["voters"]) != len(state["parameters"]["hit_rates"]):
        raise ValueError("voters and rates do not match")
    return Model(
        tuple(state["voters"]),
        tuple(state["alternatives"]),
        Parameters.from_arrays(state["parameters"]),
        VoterCounts(*(np.array(array) for array in state["counts"])),
        None if state.get("calibration") is None else Calibration(**state["calibration"]),
        None if state.get("multiplicities") is None else np.array(state["multiplicities"], np.int64),
    )


def _stream_state(stream: Stream) -> dict[str, Any]:
    return {
        "sums": {name: array.tolist() for name, array in stream.sums.items()},
        "groups": [[list(group[:3]), count] for group, count in stream.groups.items()],
        "n_instances": stream.n_instances,
        "fading": stream.fading,
        "one_menu": stream.one_menu,
        "start": list(stream.start),
        "kept": {name: kept._asdict() for name, kept in stream.kept.items()},
    }


def _stream(state: dict[str, Any], model: Model) -> Stream:
    return Stream(
        voters={name: number for number, name in enumerate(model.voters)},
        alternatives={name: number for number, name in enumerate(model.alternatives)},
        sums={name: np.array(array) for name, array in state["sums"].items()},
        groups={Group(*group): count for group, count in state["groups"]},
        n_instances=state["n_instances"],
        fading=state["fading"],
        one_menu=state["one_menu"],
        start=(state["start"][0], state["start"][1]),
        kept={
            name: Kept(
                {voter: tuple(ticks) for voter, ticks in kept["ballots"].items()},
                tuple(kept["menu"]),
                (kept["bounds"][0], kept["bounds"][1]),
                None if kept["gold"] is None else tuple(kept["gold"]),
                kept["weight"],
                tuple(kept["membership"]),
            )
            for name, kept in state["kept"].items()
        },
        model=model,
    )
