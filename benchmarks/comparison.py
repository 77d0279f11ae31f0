"""Part `crowds`: every method on every crowd, each in a process of its own.

Numbers of Dask workers share a process and take turns: their ratio is near to its target, and the machine's speed must
not decide it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.crowds import CROWDS, Crowd, about
from benchmarks.methods import METHODS
from benchmarks.processes import answer_of
from experiments.store import Kept, Settings, Store

PEERS = {"crowdkit": "crowd-kit", "peerannot": "peerannot", "scipy": "scipy"}
NOT_RUN = {("M", "peerannot-ds"), ("XL", "peerannot-ds"), ("XL", "crowdkit-ds")}
FROM_DISK_ONLY = ("amle-disk", "em-disk", "amle-dask-1", "amle-dask-2", "em-dask-1", "em-dask-2")


ONCE = ("amle-disk", "em-disk")  # on 10^9 approvals


def methods_for(crowd: Crowd) -> list[str]:
    """What is run on a crowd."""
    if crowd.name == "20xXL":
        return list(ONCE)
    if not crowd.whole:
        return list(FROM_DISK_ONLY)
    return [name for name in METHODS if (crowd.name, name) not in NOT_RUN]


def settings_of(name: str, crowd: Crowd) -> Settings:
    """What a result must have been made with to be current."""
    package = PEERS.get(name.split("-")[0])
    return {"crowd": asdict(crowd), "method": name, "version": version_of(package) if package else None}


def version_of(package: str) -> str | None:
    """The installed version, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def run(store: Store, chosen: list[str]) -> None:
    """Draw the chosen crowds and measure what can be measured on them."""
    for crowd in (CROWDS[name] for name in chosen):
        store.measured(f"drawn.{crowd.name}", asdict(crowd), partial(drawn, crowd))
        for name in dict.fromkeys(map(record_of, methods_for(crowd))):
            if missing(name) is None:
                measure(store, name, crowd)


def drawn(crowd: Crowd) -> dict[str, Any]:
    """The crowd drawn and packed anew, and what is known about it."""
    answer_of("crowds", crowd.name)
    return about(crowd)


def record_of(method: str) -> str:
    """What is measured with this method: itself, or the same with other numbers of Dask workers."""
    return method.rsplit("-", 1)[0] if METHODS[method].workers else method


def measure(store: Store, record: str, crowd: Crowd) -> Any:
    """The methods of one record on one crowd; workers of a cluster use one core each."""
    names = [name for name in METHODS if record_of(name) == record]
    threads = {"EPIVOTE_THREADS": "1"} if METHODS[names[0]].workers else {}

    def results() -> dict[str, Any]:
        return dict(zip(names, answer_of("measure", crowd.name, *names, **threads), strict=True))

    return store.measured(f"crowds.{crowd.name}.{record}", settings_of(record, crowd), results)


def missing(name: str) -> str | None:
    """Why a method cannot be run here, if so."""
    package = PEERS.get(name.split("-")[0])
    return f"{package} is not installed" if package and version_of(package) is None else None


def kept(store: Store, name: str, crowd: Crowd) -> Kept | None:
    """The result of one method on one crowd."""
    record = record_of(name)
    found = store.read(f"crowds.{crowd.name}.{record}", settings_of(record, crowd))
    return replace(found, result=found.result[name]) if found and name in found.result else None
