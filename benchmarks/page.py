"""The page docs/benchmarks.md, from whatever is kept: verdicts first, then the figures behind them."""

from __future__ import annotations

import os
import platform
from math import prod
from pathlib import Path

import epivote
from benchmarks.comparison import NOT_RUN, methods_for, missing, version_of
from benchmarks.crowds import CROWDS, Crowd
from benchmarks.growth import APPROVALS, AXES, Axis
from benchmarks.iterations import Method
from benchmarks.methods import METHODS as MEASURED
from benchmarks.passes import TOLERANCES
from benchmarks.results import Fits, Results
from benchmarks.soft_parts import PARTS
from benchmarks.start_up import COLD
from benchmarks.tables import figures, seconds, table, times
from benchmarks.targets import Line, above, below, crowd_lines, linear, same_in_the_end

PACKAGES = ("numpy", "scipy", "polars", "distributed", "crowd-kit", "pandas", "peerannot")
IN_WORDS = {"amle": "AMLE", "anew": "AMLE, every set anew", "em": "EM"}
ONE_OF = {
    "amle": "an iteration of AMLE, which skips sets that cannot have changed,",
    "anew": "a pass of AMLE that chooses every set anew",
    "em": "an iteration of EM",
}
WELL_ABOVE_FIXED_COSTS = 900_000
GROWS = {
    "crowdkit-ds": (("instances", "alternatives"), "data frames are joined per alternative and iteration"),
    "peerannot-ds": (
        ("instances", "alternatives", "voters"),
        "every task is a dense table of all voters in a Python loop",
    ),
}
CPU = Path("/proc/cpuinfo")


def page(results: Results) -> str:
    """The whole page."""
    body = [
        verdicts(results),
        "## The same crowds for everyone\n",
        *(crowd_section(results, crowd) for crowd in CROWDS.values()),
        passes_section(results),
        growth_section(results),
        roofline_section(results),
        parts_section(results),
        start_section(results),
    ]
    return "\n".join([header(results), *body, *stale_section(results)])


def header(results: Results) -> str:
    """When, where and with what."""
    versions = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES if version_of(name))
    when = f"from {min(results.dates)} to {max(results.dates)}" if results.dates else "not yet"
    return (
        "# Benchmarks\n\n"
        "Written by `make bench`. Machines are noisy: figures are medians, and what counts are ratios within one run. "
        "Every method runs in a process of its own (fits with one and with two Dask workers share one, in turn) on "
        "the same generated ballots, five per instance (`reference_crowd`); seconds are those of one fit, without "
        "building the input, which is shown apart. "
        "CPU seconds are those of the process itself, its threads together: where a single-threaded method needs "
        "far more by the clock, the machine was not quiet. A fixed job is timed beside every method, and the "
        "ratios of the next table are corrected by how fast the machine was just then.\n\n"
        f"Measured {when} with epivote {epivote.__version__}"
        f"{f' ({results.store.commit})' if results.store.commit else ''}, "
        f"Python {platform.python_version()}, {versions}; {processor()}, {os.cpu_count()} cores, {memory()}"
        f"{platform.system()}.\n"
    )


def processor() -> str:
    """The processor's name."""
    if CPU.exists():
        for line in CPU.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def memory() -> str:
    """Installed memory, where the system tells."""
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return ""
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.0f} GB, "


def verdicts(results: Results) -> str:
    """Every requirement against what was measured."""
    rows = [line.cells() for line in lines(results)]
    return "## What must hold\n\n" + table(["what", "target", "measured", "met"], rows, left=4)


def lines(results: Results) -> list[Line]:
    """All requirements."""
    found = [*crowd_lines(results), same_in_the_end(results.passes())]
    for method in AXES[0].methods:
        what = f"growth of {ONE_OF[method]} with approvals, beyond its fixed cost"
        growing = results.growing_part(AXES[0], method)
        found.append(linear(growing and growing[0], what, APPROVALS[-1], or_less=method == "amle"))
    start, quiz = results.start(), results.quiz()
    cold = start[list(COLD)[-1]] / start["import numpy"] if start else None
    found.append(below(cold, 5, "quiz: import and one AMLE fit, cold", "under 5 times `import numpy`", "times"))
    warm = 1 / quiz[0]["seconds"] if quiz else None
    found.append(above(warm, 500, "quiz: AMLE fits in a warm process", "more than 500 a second", "a second"))
    return found


def crowd_section(results: Results, crowd: Crowd) -> str:
    """All methods on one crowd."""
    known = results.drawn(crowd.name)
    size = f"{known['approvals']:,} approvals; {known['packed_bytes'] / 1e6:,.0f} MB packed. " if known else ""
    rows, unmeasured = [], []
    base = results.fits(crowd.name, "amle" if crowd.whole else "amle-disk")
    for name in MEASURED if crowd.whole else methods_for(crowd):
        found = results.fits(crowd.name, name)
        if found is None:
            unmeasured.append(f"{MEASURED[name].title}: {why_not(results, name, crowd)}.")
        else:
            rows.append([MEASURED[name].title, *fit_cells(found, base)])
    columns = [
        "method",
        "fit, s",
        "CPU, s",
        "fits",
        "first fit, s",
        "iterations",
        "input, s",
        "peak, GB",
        "exact sets",
        "ratio",
    ]
    notes = "\n".join(f"- {note}" for note in unmeasured)
    return f"### {crowd}\n\n{size}\n\n{table(columns, rows) if rows else ''}\n{notes}\n"


def why_not(results: Results, name: str, crowd: Crowd) -> str:
    """What to say where there is no result; what would take too long is reckoned from a smaller crowd."""
    if (crowd.name, name) not in NOT_RUN:
        return missing(name) or "not measured yet"
    grows, reason = GROWS[name]
    for smaller in reversed(CROWDS.values()):
        found = results.fits(smaller.name, name)
        if found is not None:
            factor = prod(getattr(crowd, size) / getattr(smaller, size) for size in grows)
            return f"not run: {reason}, by its time on {smaller.name} about {found.seconds * factor / 3600:,.1f} hours"
    return f"not run: {reason}"


def fit_cells(found: Fits, base: Fits | None) -> list[str]:
    """One row after the name; the ratio is to epivote's AMLE."""
    return [
        seconds(found.seconds),
        seconds(found.computing),
        str(found.runs),
        seconds(found.first),
        "" if found.iterations is None else str(found.iterations),
        seconds(found.building),
        " + ".join(f"{peak:.2f}" for peak in found.peaks),
        f"{found.exact:.1%}",
        times(found.seconds / base.seconds) if base else "",
    ]


def passes_section(results: Results) -> str:
    """Passes of EM with and without acceleration."""
    found = results.passes()
    if not found:
        return ""
    rows = []
    for name, (usual, end) in found.items():
        cells = [f"{name} ({usual['instances']:,} instances)", str(usual["before"]), str(usual["after"])]
        cells += [times(usual["before"] / usual["after"]), str(usual["differ"]), str(usual["differ_from_plain"])]
        rows.append([*cells, str(end["before"]), str(end["after"]), str(end["differ"]), f"{end['gain']:+.1g}"])
    usual, end = (f"{tolerance:g}" for tolerance in TOLERANCES)
    columns = [
        "ballots", "passes without", "with", "ratio", "sets that differ", "sets that differ if never accelerated",
        f"to {end}: without", "with", "sets that differ", "objective higher by",
    ]  # fmt: skip
    return (
        "## Passes of EM, with and without acceleration\n\n"
        "All passes over the ballots from the same start, those in which shrinkage settles and those taken back "
        f"included, until no rate changes by more than {usual} (the usual tolerance), and until none changes by more "
        f"than {end}: at the usual tolerance both stop a little before the fixed point, so that sets which are all but "
        "as probable as others may differ. What shrinkage settles at depends on the way there, so sets are compared "
        "with those of a fit that is accelerated only until shrinkage has settled. One column compares them, at the "
        "usual tolerance, with those of a fit that is never accelerated.\n\n"
        f"{table(columns, rows)}"
    )


def growth_section(results: Results) -> str:
    """Seconds per iteration along every axis."""
    parts = [
        "## How an iteration grows\n",
        "Seconds of one iteration on one thread: a fit of few iterations taken from one of more, so that set-up "
        "cancels. An exponent of 1 is linear. Iterations of AMLE skip sets that cannot have changed; the fewer ballots "
        "voters have, the farther rates move, and the fewer sets are skipped. So passes that choose every set anew are "
        "measured beside them, without the step to new parameters.\n",
    ]
    for axis in AXES:
        rows = [row for method in axis.methods for row in growth_rows(results, axis, method)]
        if not rows:
            continue
        columns = ["method", axis.unit, "approvals", "milliseconds an iteration or pass", "nanoseconds an approval"]
        parts += [f"### Against {axis.title}\n", f"Held: {axis.held}.\n", table(columns, rows)]
        parts += [f"- {sentence}" for method in axis.methods for sentence in exponents(results, axis, method)]
        parts.append("")
    return "\n".join(parts)


def growth_rows(results: Results, axis: Axis, method: Method) -> list[list[str]]:
    """The points of one method."""
    return [
        [
            IN_WORDS[method],
            f"{size:,.0f}",
            f"{result['approvals']:,}",
            figures(result["seconds"] * 1e3),
            figures(result["seconds"] / result["approvals"] * 1e9),
        ]
        for size, result in results.growth(axis, method)
    ]


def exponents(results: Results, axis: Axis, method: Method) -> list[str]:
    """How time grows, over all points and where fixed costs no longer show."""
    found = [results.exponent(axis, method)]
    if axis.name == "approvals":
        found.append(results.exponent(axis, method, WELL_ABOVE_FIXED_COSTS))
    told = [f"{IN_WORDS[method]}: exponent {exponent}" for exponent in found if exponent is not None]
    growing = results.growing_part(axis, method) if axis.name == "approvals" else None
    if growing is not None:
        exponent, fixed = growing
        told.append(f"{IN_WORDS[method]}: beyond a fixed cost of {figures(fixed * 1e3)} ms, exponent {exponent}")
    return told


def roofline_section(results: Results) -> str:
    """Bytes per second against what the machine can read."""
    found, counted = results.roofline(), results.instructions()
    if found is None:
        return ""
    most = max(found["bandwidth"].values())
    rows = []
    for method, spent in found["seconds"].items():
        read = found["bytes"][method]
        rate = read / spent
        told = (counted or {}).get(method, "not measured")
        cells = [IN_WORDS[method], f"{spent * 1e3:,.0f}", f"{read / 1e6:,.0f}", f"{rate / 1e9:.2f}"]
        rows.append([*cells, f"{rate / most:.1%}", figures(told) if isinstance(told, float) else "-"])
    columns = ["XL", "ms an iteration", "MB it reads", "GB/s", "of read bandwidth", "instructions an approval"]
    reasons = sorted({told for told in (counted or {}).values() if isinstance(told, str)})
    return (
        "## Against the memory of the machine\n\n"
        f"Read bandwidth: {found['bandwidth']['one core'] / 1e9:.1f} GB/s on one core, "
        f"{found['bandwidth']['all cores'] / 1e9:.1f} on all. "
        "An iteration must read at least the voter of every ballot and the start of every instance. EM also reads the "
        "approvals of every ballot, as a mask; AMLE reads them only for instances whose set may change.\n\n"
        f"{table(columns, rows)}" + "".join(f"\nInstructions: {reason}.\n" for reason in reasons)
    )


def parts_section(results: Results) -> str:
    """Where the time of an iteration of EM goes."""
    found, machine = results.soft_parts(), results.roofline()
    if found is None:
        return ""
    spent = found["seconds"]
    whole = spent["whole pass"]
    parts = {name: spent[name] for name in PARTS}
    parts["rest of the pass"] = whole - sum(parts.values())
    parts["rates and priors (after the pass)"] = spent["rates and priors"]
    bandwidth = machine["bandwidth"]["one core"] if machine else None
    rows = []
    for name, each in parts.items():
        rate = found["bytes"][name] / each if name in found["bytes"] else None
        cells = [name, figures(each * 1e3), figures(each / found["approvals"] * 1e9), f"{each / whole:.0%}"]
        rows.append([*cells, f"{rate / bandwidth:.1%}" if rate and bandwidth else "-"])
    columns = ["M, one thread", "ms", "nanoseconds an approval", "of the pass", "of read bandwidth"]
    return (
        "## Where an iteration of EM spends its time\n\n"
        f"The whole pass takes {figures(whole * 1e3)} ms of computing, "
        f"{figures(whole / found['approvals'] * 1e9)} ns an approval. "
        "Parts are added one after the other, and the fastest of several runs counts; those without bandwidth work on "
        "numbers in the first cache.\n\n"
        f"{table(columns, rows)}"
    )


def start_section(results: Results) -> str:
    """Cold processes and warm small fits."""
    start, quiz = results.start(), results.quiz()
    parts = ["## Starting, and small crowds\n"]
    if start:
        bare = start["import numpy"]
        rows = [[f"`{name}`", f"{spent * 1e3:.0f}", f"{spent / bare:.2f}"] for name, spent in start.items()]
        parts.append(table(["from a cold process", "milliseconds", "times `import numpy`"], rows))
    if quiz:
        rows = [[q["quiz"], q["update"], f"{q['seconds'] * 1e3:.2f}", f"{1 / q['seconds']:.0f}"] for q in quiz]
        parts.append(table(["AMLE, bounds 1..2", "prior update", "milliseconds a fit", "fits a second"], rows))
    return "\n".join(parts)


def stale_section(results: Results) -> list[str]:
    """What another state of the source measured."""
    if not results.stale:
        return []
    told = "\n".join(f"- {name}: {made}" for name, made in sorted(results.stale.items()))
    return [f"\n## Measured before the last change\n\n{told}\n"]
