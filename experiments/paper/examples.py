"""Examples 1 to 3 worked step by step, what the paper prints beside what comes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from epivote import AMLE, Ballots, MaximumLikelihood, Parameters, Truths
from experiments.page.plan import Extent, Section
from experiments.page.sheet import Sheet
from experiments.paper import formulas
from experiments.pieces import Results

COUNTS = {"a": 9, "b": 8, "c": 7, "d": 5, "e": 5}
PROFILE = {
    "1": ["a1 a4", "a1", "a3", "a1"],
    "2": ["a2", "a5", "a4", "a1"],
    "3": ["a2 a3 a4", "a2 a3 a5", "a2 a3", "a3"],
}
BOUNDS = (1, 2)
Step = tuple[str, str, str, str]
"""What, printed, ours, why they differ."""


def write(_: Results, __: Extent, sheet: Sheet) -> None:
    """Three tables."""
    sheet.write(
        "## The three examples, step by step",
        "Steps with *sums* are worked out from the paper's formulas with plain sums over sets, all others by the "
        "package. [The same as Python sessions](examples.md).",
    )
    kept: list[tuple[str, ...]] = []
    for name, steps in (
        ("Example 1: rates known", example_1()),
        ("Example 2: everything unknown", example_2()),
        ("Example 3: the Anna Karenina start", example_3()),
    ):
        sheet.write(f"### {name}")
        sheet.table(["step", "paper", "ours", "why they differ"], steps)
        kept += [(name, *step) for step in steps]
    sheet.numbers("examples", ["example", "step", "paper", "ours", "why they differ"], kept)
    sheet.write("Numbers: [examples.csv](reproduction/examples.csv).")
    sheet.found(
        "Examples 1 to 3",
        "hold, but for the priors of Example 2: one sum counts every pair twice; with the maximiser its start ends in "
        "a poorer optimum, which several starts avoid",
    )


def example_1() -> list[Step]:
    """Ten voters with p = .7 and q = .4, bounds 1..4, a prior of .6 for d."""
    ballots = Ballots.from_mapping({(f"v{i}", "z"): {a for a in COUNTS if i < COUNTS[a]} for i in range(10)})
    priors = dict.fromkeys(COUNTS, 0.5) | {"d": 0.6}
    fitted = MaximumLikelihood(0.7, 0.4, priors, bounds=(1, 4)).fit(ballots)
    weight, threshold = fitted.parameters_.weights[0], fitted.parameters_.thresholds.sum()
    scores = [log(priors[a] / (1 - priors[a])) + weight * count for a, count in COUNTS.items()]
    return [
        ("weight of a voter", "1.25", f"{weight:.4f}", ""),
        ("threshold", "6.93", f"{threshold:.4f}", ""),
        ("scores of a, b, c, d, e", "11.25 10 8.75 6.65 6.25", _row(scores, 3), "the paper rounds the weight first"),
        ("most likely set", "{a, b, c}", _set(fitted.truth_["z"]), ""),
        ("sets equally likely", "1", str(fitted.count_optimal_sets("z")), ""),
    ]


def example_2() -> list[Step]:
    """Three voters, four instances, the paper's initial rates."""
    ballots = _profile()
    start = Parameters(np.full(3, 0.5), np.array([0.44, 0.41, 0.32]), np.full(5, 0.5))
    first = AMLE(BOUNDS, start, "published", max_iterations=1).fit(ballots)
    last = AMLE(BOUNDS, start, "published").fit(ballots)
    stuck = AMLE(BOUNDS, start).fit(ballots)
    several = AMLE(BOUNDS, start, n_starts=20).fit(ballots)
    occurrences = [sum(a in names for names in first.truth_.values()) for a in ballots.alternatives]
    mass_with, mass_without = formulas.masses(0, *BOUNDS, [0.5] * 5)
    twice = _sweep(occurrences, pairs_counted_twice=True)
    by_sums = _sweep(occurrences, pairs_counted_twice=False)
    return [
        ("sets, iteration 1", "{a2, a4} {a2, a5} {a2, a3} {a1, a3}", _sets(first.truth_), ""),
        ("hit rates", ".38 .38 .88", _row(first.parameters_.hit_rates, 3), ""),
        ("false-alarm rates", ".17 .08 .17", _row(first.parameters_.false_alarm_rates, 3), ""),
        ("occurrences of a1", "1", str(occurrences[0]), ""),
        ("alpha-overline of a1 (sums)", "0.3125", f"{mass_with:.4f}", ""),
        ("alpha-underline of a1 (sums)", "1", f"{mass_without:.4f}", "(4 + 6)/16; the paper counts each pair twice"),
        ("priors with that slip (sums)", ".09 .56 .28 .14 .20", _row(twice, 2), "the slip gives the printed values"),
        ("priors as printed (sums)", "", _row(by_sums, 3), ""),
        ("priors as printed", "", _row(first.parameters_.priors, 3), ""),
        ("iterations", "5", str(last.n_iter_), ""),
        ("sets at the end", "{a2, a3} {a2, a3} {a2, a3} {a3}", _sets(last.truth_), ""),
        ("log-likelihood at the end", "", f"{last.log_likelihoods_[-1]:.2f}", ""),
        ("sets with the maximiser", "", _sets(stuck.truth_), "stays at its first sets, all of size 2"),
        ("log-likelihood there", "", f"{stuck.log_likelihoods_[-1]:.2f}", "a poorer local optimum"),
        (
            "the same, best of 20 starts",
            "",
            f"{several.log_likelihoods_[-1]:.2f}",
            "several starts find the better one",
        ),
    ]


def example_3() -> list[Step]:
    """Initial rates of the same three voters."""
    ballots = _profile()
    ticks = [[(z, a) for (i, z), names in ballots.items() if i == voter for a in names] for voter in PROFILE]
    distances = [sum(formulas.jaccard_distance(one, other) for other in ticks if other is not one) for one in ticks]
    weights = formulas.karenina_weights(distances)
    rates = [formulas.false_alarm_rate_for(each) for each in weights]
    by_hand = AMLE(BOUNDS, Parameters(np.full(3, 0.5), np.array(rates), np.full(5, 0.5))).fit(ballots)
    built_in = AMLE(BOUNDS, "anna_karenina").fit(ballots)
    same = by_hand.log_likelihoods_ == built_in.log_likelihoods_
    check = [formulas.weight(0.5, rate) for rate in rates]
    return [
        ("distances (sums)", "1.71 1.69 1.65", _row(distances, 3), ""),
        ("weights (sums)", ".25 .38 .75", _row(weights, 3), ""),
        ("initial p", ".5 .5 .5", ".5 .5 .5", ""),
        ("initial q (sums)", ".44 .41 .32", _row(rates, 3), ""),
        ("weights these rates give (sums)", "the same", _row(check, 3), ""),
        ("the package's start leads to the same run", "", "yes" if same else "no", ""),
    ]


def _profile() -> Ballots:
    cells = {(i, f"z{z}"): ticks.split() for i, row in PROFILE.items() for z, ticks in enumerate(row, start=1)}
    return Ballots.from_mapping(cells)


def _sweep(occurrences: Sequence[int], *, pairs_counted_twice: bool) -> list[float]:
    """One sweep of Proposition 2 as printed, from priors of 1/2."""
    priors = [0.5] * len(occurrences)
    for j, count in enumerate(occurrences):
        mass_with, mass_without = formulas.masses(j, *BOUNDS, priors)
        if pairs_counted_twice:
            mass_without += formulas.size_mass(2, 2, [*priors[:j], *priors[j + 1 :]])
        priors[j] = formulas.printed_prior(count, len(PROFILE["1"]), mass_with, mass_without)
    return priors


def _row(values: Iterable[float], places: int) -> str:
    return " ".join(f"{value:.{places}f}" for value in values)


def _set(names: Iterable[str]) -> str:
    return "{" + ", ".join(sorted(names)) + "}"


def _sets(truths: Truths) -> str:
    return " ".join(_set(names) for names in truths.values())


SECTION = Section("examples", write)
