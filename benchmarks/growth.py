"""Part `growth`: seconds per iteration against approvals, alternatives, voters and the upper bound, one at a time."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from benchmarks.iterations import Method, Point
from benchmarks.processes import answer_of
from experiments.store import Store

BASE = Point(instances=40_000, voters=1_000, alternatives=20, upper=4, bound=4, method="amle")
APPROVALS_PER_INSTANCE = 23
APPROVALS = (10**5, 316_000, 10**6, 3_160_000, 10**7, 31_600_000, 10**8)
ON_DISK = (10**7, 31_600_000, 10**8)
METHODS: tuple[Method, ...] = ("amle", "em")


@dataclass(frozen=True)
class Axis:
    """What grows, over which points, and what is held."""

    name: str
    title: str
    unit: str
    held: str
    points: tuple[Point, ...]
    column: str | None = None
    methods: tuple[Method, ...] = METHODS

    def size(self, point: Point, result: dict[str, Any]) -> float:
        """Where a point lies on this axis."""
        return float(result["approvals"] if self.column is None else getattr(point, self.column))


def by_approvals(engine: Literal["memory", "disk"], approvals: tuple[int, ...]) -> tuple[Point, ...]:
    """More and more instances."""
    return tuple(replace(BASE, instances=number // APPROVALS_PER_INSTANCE, engine=engine) for number in approvals)


SHAPE = "1,000 voters, 20 alternatives, 1..4 right"
AXES = (
    Axis(
        "approvals",
        "approvals, in memory",
        "approvals",
        SHAPE,
        by_approvals("memory", APPROVALS),
        methods=("amle", "anew", "em"),
    ),
    Axis("approvals-disk", "approvals, from disk", "approvals", SHAPE, by_approvals("disk", ON_DISK)),
    Axis(
        "alternatives",
        "alternatives (m)",
        "alternatives",
        "40,000 instances, 1,000 voters, 1..4 right; approvals grow with m; above 64 a ballot is a list, not a mask",
        tuple(replace(BASE, alternatives=m) for m in (8, 16, 32, 64, 128, 256)),
        "alternatives",
    ),
    Axis(
        "voters",
        "voters (n)",
        "voters",
        "40,000 instances with five ballots each, 20 alternatives, 1..4 right",
        tuple(replace(BASE, voters=n) for n in (100, 1_000, 10_000, 100_000)),
        "voters",
    ),
    Axis(
        "upper",
        "upper size bound (u)",
        "upper bound",
        "the same 40,000 instances, 1,000 voters and 20 alternatives, fitted with bounds 1..u",
        tuple(replace(BASE, bound=u) for u in (1, 2, 4, 8, 16)),
        "bound",
    ),
)


def run(store: Store) -> None:
    """Measure every point of every axis, hard and soft."""
    for axis in AXES:
        for method in axis.methods:
            for point in points_of(axis, method):
                measure(store, axis, point)


def points_of(axis: Axis, method: Method) -> list[Point]:
    """The points of an axis for one method."""
    return [replace(point, method=method) for point in axis.points]


def name_of(axis: Axis, point: Point) -> str:
    """Under which its result is kept."""
    value = point.instances if axis.column is None else getattr(point, axis.column)
    return f"growth.{axis.name}.{point.method}.{value}"


def measure(store: Store, axis: Axis, point: Point) -> Any:
    """One point in a process of its own, on one thread: with more, small crowds would use fewer than large ones."""
    return store.measured(
        name_of(axis, point), asdict(point), lambda: answer_of("iterations", point.to_json(), EPIVOTE_THREADS="1")
    )
