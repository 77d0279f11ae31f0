"""What was measured, looked up by name; nothing where it was not."""

from __future__ import annotations

import statistics
from dataclasses import asdict
from typing import Any, NamedTuple

from benchmarks import comparison, passes, roofline, soft_parts, start_up
from benchmarks.crowds import CROWDS
from benchmarks.exponents import Exponent, beyond_fixed_cost, fitted_exponent
from benchmarks.growth import Axis, name_of, points_of
from benchmarks.iterations import Method
from experiments.store import Kept, Store


class Fits(NamedTuple):
    """One method on one crowd."""

    seconds: float
    computing: float
    runs: int
    first: float
    building: float
    peaks: list[float]
    exact: float
    fingerprint: str
    iterations: int | None
    yardstick: float


class Results:
    """Kept results, and which of them are stale."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.stale: dict[str, str] = {}
        self.dates: set[str] = set()

    def fits(self, crowd: str, method: str) -> Fits | None:
        """The fits of a method on a crowd, if they were measured."""
        kept = self._noted(f"{crowd} {method}", comparison.kept(self.store, method, CROWDS[crowd]))
        if kept is None:
            return None
        packing = self.drawn(crowd)["packing"] if "disk" in method or "dask" in method else 0.0
        return Fits(
            seconds=statistics.median(kept["fits"][1:] or kept["fits"]),
            computing=statistics.median(kept["computing"][1:] or kept["computing"]),
            runs=len(kept["fits"][1:] or kept["fits"]),
            first=kept["fits"][0],
            building=kept["building"] + packing,
            peaks=[kept["peak_with_sets"], *kept["workers"]],
            exact=kept["exact"],
            fingerprint=kept["fingerprint"],
            iterations=kept["iterations"],
            yardstick=kept["yardstick"],
        )

    def drawn(self, crowd: str) -> Any:
        """What is known about a crowd, if it was drawn."""
        return self._noted(f"{crowd} drawn", self.store.read(f"drawn.{crowd}", asdict(CROWDS[crowd])))

    def growth(self, axis: Axis, method: Method) -> list[tuple[float, dict[str, Any]]]:
        """Size and result of every measured point of an axis."""
        found = []
        for point in points_of(axis, method):
            name = name_of(axis, point)
            result = self._noted(name, self.store.read(name, asdict(point)))
            if result is not None:
                found.append((axis.size(point, result), result))
        return found

    def exponent(self, axis: Axis, method: Method, at_least: float = 0.0) -> Exponent | None:
        """How time grows along an axis."""
        found = self.growth(axis, method)
        sizes, times = [size for size, _ in found], [result["seconds"] for _, result in found]
        return fitted_exponent(sizes, times, at_least=at_least)

    def growing_part(self, axis: Axis, method: Method) -> tuple[Exponent, float] | None:
        """How time grows along an axis beyond a fixed cost, and that cost in seconds."""
        found = self.growth(axis, method)
        return beyond_fixed_cost([size for size, _ in found], [result["seconds"] for _, result in found])

    def roofline(self) -> Any:
        """Bytes and seconds."""
        return self._noted("roofline", self.store.read("roofline", roofline.SETTINGS))

    def instructions(self) -> Any:
        """Instructions per approval by method."""
        return self._noted("instructions", self.store.read("instructions", roofline.SETTINGS))

    def soft_parts(self) -> Any:
        """Seconds of an iteration of EM by part."""
        return self._noted("soft_parts", self.store.read("soft_parts", soft_parts.SETTINGS))

    def passes(self) -> dict[str, Any]:
        """Passes of EM with and without acceleration, by the name of the ballots."""
        kept = {name: self.store.read(f"passes.{name}", passes.SETTINGS) for name in passes.names()}
        found = {name: self._noted(f"passes {name}", each) for name, each in kept.items()}
        return {name: each for name, each in found.items() if each is not None}

    def start(self) -> Any:
        """Cold processes."""
        return self._noted("start", self.store.read("start", start_up.SETTINGS))

    def quiz(self) -> Any:
        """Warm fits."""
        return self._noted("quiz", self.store.read("quiz", start_up.SETTINGS))

    def _noted(self, name: str, kept: Kept | None) -> Any:
        if kept is None:
            return None
        self.dates.add(kept.date)
        if not kept.current:
            self.stale[name] = f"{kept.date}, {kept.commit or 'no commit'}"
        return kept.result
