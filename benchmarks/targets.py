"""What the figures must show: every line with its target, what was measured, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from benchmarks.exponents import Exponent
from benchmarks.passes import CLOSE, TOLERANCES
from benchmarks.results import Fits
from benchmarks.tables import figures, seconds, times


class Line(NamedTuple):
    """One requirement; `met` is None where it was not measured."""

    what: str
    target: str
    measured: str
    met: bool | None

    def cells(self) -> list[str]:
        """The row of a table."""
        verdict = {True: "yes", False: "**no**", None: "not measured"}[self.met]
        return [self.what, self.target, self.measured, verdict]


class Measured(Protocol):
    """The results that verdicts rest on."""

    def fits(self, crowd: str, method: str) -> Fits | None:
        """The fits of a method on a crowd."""


AS_EXACT = 0.01
NOTICEABLE = 0.02


def at_least_faster(results: Measured, crowd: str, ours: str, theirs: str, least: float, what: str) -> Line:
    """Ours takes at most 1/least of the time of theirs, and finds as many exact sets: a quick wrong answer is none.

    A fixed job, timed beside each, tells how fast the machine was; the ratio is corrected by it.
    """
    one, other = results.fits(crowd, ours), results.fits(crowd, theirs)
    target = f"at least {least:,.4g} times"
    if one is None or other is None:
        return Line(what, target, "", None)
    slower = other.yardstick / one.yardstick
    ratio = other.seconds / one.seconds / slower
    told = f"{times(ratio)} times ({seconds(other.seconds)} s / {seconds(one.seconds)} s"
    told += f" / {slower:.2f} for the machine's speed)" if abs(slower - 1) > NOTICEABLE else ")"
    if one.exact < other.exact - AS_EXACT:
        return Line(what, target, f"{told}, but only {one.exact:.1%} exact sets against {other.exact:.1%}", False)
    return Line(what, target, told, ratio >= least)


def more_exact(results: Measured, crowd: str, ours: str, theirs: str, what: str) -> Line:
    """Ours finds more whole sets."""
    one, other = results.fits(crowd, ours), results.fits(crowd, theirs)
    if one is None or other is None:
        return Line(what, "more exact sets", "", None)
    return Line(what, "more exact sets", f"{one.exact:.1%} against {other.exact:.1%}", one.exact > other.exact)


def under_memory(results: Measured, crowd: str, ours: str, most: float, what: str) -> Line:
    """No process of ours holds more than so many GB."""
    one = results.fits(crowd, ours)
    if one is None:
        return Line(what, f"under {most:g} GB", "", None)
    return Line(what, f"under {most:g} GB", f"{max(one.peaks):.2f} GB", max(one.peaks) < most)


def first_fits(results: Measured, crowd: str, methods: tuple[str, ...], most: float, what: str) -> Line:
    """The first fits of some methods, each in a new process, take so many seconds in sum, loading included."""
    fits = [results.fits(crowd, method) for method in methods]
    first = [each.first for each in fits if each is not None]
    return below(sum(first) if len(first) == len(fits) else None, most, what, f"under {most:g} s", "s")


def same(results: Measured, crowd: str, one: str, other: str, what: str) -> Line:
    """Both find the same sets, all of them."""
    first, second = results.fits(crowd, one), results.fits(crowd, other)
    if first is None or second is None:
        return Line(what, "identical", "", None)
    agree = first.fingerprint == second.fingerprint
    return Line(what, "identical", "identical" if agree else "different", agree)


def linear(exponent: Exponent | None, what: str, upto: float, *, or_less: bool = False) -> Line:
    """Time grows like size itself, up to the stated size, or slower where that is good as well."""
    target = f"{'at most 1.05' if or_less else '1.00 ± .05'} up to {upto:,.0f}"
    if exponent is None or exponent.high < 0.9 * upto:
        return Line(what, target, "" if exponent is None else str(exponent), None)
    off = exponent.value - 1 if or_less else abs(exponent.value - 1)
    return Line(what, target, str(exponent), off <= 0.05)


def below(value: float | None, most: float, what: str, target: str, unit: str) -> Line:
    """A number that must stay under another."""
    if value is None:
        return Line(what, target, "", None)
    return Line(what, target, f"{figures(value)} {unit}", value < most)


def above(value: float | None, least: float, what: str, target: str, unit: str) -> Line:
    """A number that must exceed another."""
    if value is None:
        return Line(what, target, "", None)
    return Line(what, target, f"{times(value)} {unit}", value > least)


def same_in_the_end(found: dict[str, Any]) -> Line:
    """EM finds the same sets with and without acceleration, both run to the fixed point."""
    what, target = (
        "sets of EM with and without acceleration once shrinkage has settled",
        f"the same, or within {CLOSE:g} in log-odds",
    )
    ends = {name: each[-1] for name, each in found.items()}
    if not ends:
        return Line(what, target, "", None)
    differ, instances = (sum(end[part] for end in ends.values()) for part in ("differ", "instances"))
    furthest = max(end["apart"] for end in ends.values())
    told = f"{differ} of {instances:,} differ" + (f", by {furthest:.1g} at most" if differ else "")
    return Line(what, target, f"{told} ({', '.join(ends)}; tolerance {TOLERANCES[-1]:g})", furthest < CLOSE)


def crowd_lines(results: Measured) -> Iterator[Line]:
    """Speed, accuracy and memory on the reference crowds."""
    for name, method, least in (("AMLE", "amle", 1500), ("EM", "em", 700)):
        yield at_least_faster(results, "M", method, "crowdkit-ds", least, f"M: {name} against crowd-kit Dawid-Skene")
    for name, method in (("AMLE", "amle"), ("EM", "em")):
        yield more_exact(results, "M", method, "crowdkit-ds", f"M: {name} against crowd-kit Dawid-Skene")
    for name, method, least in (
        ("AMLE", "amle", 15),
        ("AMLE from the same start", "amle-uniform", 15),
        ("EM", "em", 20),
    ):
        yield at_least_faster(results, "XL", method, "scipy", least, f"XL: {name} against scipy.sparse")
    yield first_fits(results, "M", ("em", "amle"), 5.0, "M: first fits of EM and AMLE in new processes, in sum")
    yield at_least_faster(results, "S", "amle-uniform", "scipy", 1, "S: AMLE from the same start against scipy.sparse")
    for name, method in (("AMLE", "amle-disk"), ("EM", "em-disk")):
        yield under_memory(results, "XL", method, 1.0, f"XL: peak memory of {name} from packed data")
    for name, method in (("AMLE", "amle-disk"), ("EM", "em-disk")):
        yield under_memory(results, "10xXL", method, 1.5, f"10xXL: peak memory of {name} from packed data")
    for name, method in (("AMLE", "amle-disk"), ("EM", "em-disk")):
        yield under_memory(results, "20xXL", method, 2.0, f"20xXL (10^9 approvals): peak memory of {name} from disk")
    for crowd, name, method in (
        (crowd, *each) for crowd in ("XL", "10xXL") for each in (("AMLE", "amle"), ("EM", "em"))
    ):
        one, two = f"{method}-dask-1", f"{method}-dask-2"
        yield at_least_faster(results, crowd, two, one, 1.6, f"{crowd}: {name}, two Dask workers against one")
        yield same(results, crowd, two, one, f"{crowd}: sets of {name}, two Dask workers against one")
    yield same(results, "XL", "amle", "amle-disk", "XL: sets of AMLE, memory against disk")
    yield same(results, "XL", "amle-uniform", "amle-dask-2", "XL: sets of AMLE, memory against Dask")
