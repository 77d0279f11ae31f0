"""Whether stated confidence is right, with gold and without.

Run by `make confidence`; writes docs/explanation/confidence-measured.md.

Real ballots are read where they lie (EPIVOTE_DATA, or shared/data beside the project) and left out with a note where
they are not; simulated ones use the stated seeds.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from epivote import (
    EM,
    Auto,
    Ballots,
    Calibrated,
    CrowdWarning,
    Majority,
    Simulation,
    Truths,
    calibration_error,
    reference_crowd,
    simulate,
)
from experiments.real_sets import present, read_real
from experiments.rules import Bounds

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "confidence-measured.md"
GOLD_COUNTS = (10, 20, 50)
SECTIONS = ("real", "independent", "checked")
KINDS = (
    "10 alternatives, sets of 1..3, 5 or 6 ballots each, a fifth of the voters guess",
    "6 alternatives, sets of 1..3, 8 ballots each",
    "8 alternatives, one is right, 6 ballots each",
    "5 alternatives, any number is right, all 12 voters voted",
    "12 alternatives, at least one is right, a third of the voters guess",
)


class Outcome(NamedTuple):
    """Share of sets exactly right, mean confidence, calibration error."""

    right: float
    stated: float
    error: float

    def __str__(self) -> str:
        return f"{self.right:.3f} / {self.stated:.3f} / {self.error:.3f}"


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20, help="of gold, for every real set and number of gold sets")
    parser.add_argument("--crowds", type=int, default=10, help="of each kind, calibrated with gold")
    parser.add_argument("--checked", type=int, default=40, help="of each kind, checked without gold")
    parser.add_argument(
        "--only", choices=SECTIONS, nargs="+", default=SECTIONS, help="sections; others stay as they are"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore", CrowdWarning)
    measured = {
        "real": lambda: real_sets(options.draws),
        "independent": lambda: independent_crowds(options.crowds),
        "checked": lambda: checked_crowds(options.checked),
    }
    before = dict(zip(SECTIONS, _sections_so_far(), strict=False))
    parts = ["\n".join(measured[name]()) if name in options.only else before[name] for name in SECTIONS]
    PAGE.write_text("\n".join([INTRODUCTION, *parts]) + "\n", encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


def _sections_so_far() -> list[str]:
    """The sections of the page as it is."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return [f"## {each}" for each in page.removesuffix("\n").split("\n## ")[1:]]


def measured_on_real_sets() -> list[list[str]]:
    """The table of real ballots on the page as it is, row by row."""
    lines = next(iter(_sections_so_far()), "").split("\n")
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in rows if set(row[0]) != {"-"}]


INTRODUCTION = """# Confidence, measured

<!-- written by `make confidence` -->

What [the guide on confidence](confidence.md) says, measured. Every cell is *share of sets exactly right / mean stated
confidence / calibration error*: the mean distance between the confidence of sets, in ten bins, and the share of each
bin that was right. Chance alone makes the error larger than 0.
"""


def real_sets(draws: int) -> Iterator[str]:
    """Published ballots with known truth: under the model, after the check without gold, and with gold."""
    yield "## Real ballots\n"
    if not present():
        yield "No real ballots were at hand.\n"
        return
    yield (
        f"Size bounds are those of the task. With gold: mean over {draws} random draws, scored on the other\n"
        "instances. *Auto* is what `epivote aggregate` does, with gold what it does with `--gold`. *Share of\n"
        "approvals*: the same calibration of a rule that only counts approvals, as one would tune it by hand.\n"
    )
    rows, totals = [], dict[str, list[Outcome]]()
    for name in present():
        ballots, gold, bounds = read_real(name)
        _progress(f"{name}: EM")
        cells = {"EM": outcome(EM(bounds).fit(ballots), gold)}
        _progress(f"{name}: Auto")
        cells["Auto, no gold"] = outcome(Auto(bounds).fit(ballots), gold)
        for count in GOLD_COUNTS:
            _progress(f"{name}: Auto, {count} gold sets")
            cells[f"Auto, {count} gold"] = mean_over_draws(Auto(bounds), ballots, gold, count, draws)
        known = ballots.select(instances=list(gold))
        for count in GOLD_COUNTS:
            _progress(f"{name}: share of approvals, {count} gold sets")
            rule = Calibrated(Majority(bounds))
            cells[f"share of approvals, {count} gold"] = mean_over_draws(rule, known, gold, count, draws)
        for rule_name, cell in cells.items():
            totals.setdefault(rule_name, []).append(cell)
        rows.append((name, cells))
    yield _table(
        ["rule", *(name for name, _ in rows), "mean"],
        [[rule, *(str(cells[rule]) for _, cells in rows), str(_mean(totals[rule]))] for rule in totals],
    )


def independent_crowds(count: int) -> Iterator[str]:
    """Crowds drawn from the model, where there is nothing to calibrate."""
    yield "## What calibration costs where voters err independently\n"
    yield f"{count} simulated crowds of each kind, 20 gold sets drawn at random, scored on the other instances.\n"
    rows, all_before, all_after = [], list[Outcome](), list[Outcome]()
    for kind, words in enumerate(KINDS):
        _progress(f"calibrating: {words}")
        before, after = [], []
        for seed in range(count):
            crowd, bounds = draw(kind, seed)
            gold = drawn_gold(crowd.gold, 20, seed)
            others = {name: crowd.gold[name] for name in crowd.gold if name not in gold}
            before.append(outcome(EM(bounds).fit(crowd.ballots), others))
            after.append(outcome(Calibrated(EM(bounds)).fit(crowd.ballots, gold=gold), others))
        rows.append([words, str(_mean(before)), str(_mean(after))])
        all_before += before
        all_after += after
    rows.append(["**all**", str(_mean(all_before)), str(_mean(all_after))])
    yield _table(["crowd", "EM", "Calibrated(EM), 20 gold"], rows)


def checked_crowds(count: int) -> Iterator[str]:
    """Whether the check without gold finds crowds that are too sure, and only those."""
    yield "## The check without gold\n"
    yield (
        f"`Auto(bounds)` on {count} simulated crowds of each kind, without gold. *Flagged*: confidence is called\n"
        "too high. The last two columns are before and after log-odds are scaled as the check says.\n"
    )
    rows = []
    for shared in (0.0, 0.2, 0.4):
        flagged_of_all, too_sure = list[bool](), list[bool]()
        for kind, words in enumerate(KINDS):
            _progress(f"checking: {words}, shared mistakes {shared}")
            flagged, before, after = [], [], []
            for seed in range(count):
                crowd, bounds = draw(kind, 1000 + seed, shared)
                found = Auto(bounds, seed=seed).fit(crowd.ballots)
                check = found.reproducibility_
                assert check is not None
                model = found.model_confidence_
                assert model is not None
                flagged.append(check.is_too_sure)
                after.append(outcome(found, crowd.gold))
                before.append(outcome(found, crowd.gold, model))
            gaps = [each.stated - each.right >= 0.15 for each in before]
            flagged_of_all += flagged
            too_sure += [is_flagged for is_flagged, gap in zip(flagged, gaps, strict=True) if gap]
            rows.append([f"{shared:.0%}", words, f"{np.mean(flagged):.0%}", str(_mean(before)), str(_mean(after))])
        caught = f"{np.mean(too_sure):.0%} of {len(too_sure)}" if too_sure else "none"
        rows.append(
            [
                f"**{shared:.0%}**",
                f"**all**; confidence wrong by .15 or more: {caught}",
                f"{np.mean(flagged_of_all):.1%}",
                "",
                "",
            ]
        )
    yield _table(["shared mistakes", "crowd", "flagged", "before", "after"], rows)


def draw(kind: int, seed: int, shared: float = 0.0) -> tuple[Simulation, Bounds]:
    """One simulated crowd of a kind."""
    rng = np.random.default_rng([kind, seed])
    if kind == 0 and not shared:
        return reference_crowd(400, 60, 10, 3, seed=rng), (1, 3)
    bounds: Bounds = ((1, 3), (1, 3), (1, 1), (0, None), (1, None))[kind]
    options = (
        {"instances": 400, "voters": 60, "alternatives": 10, "priors": 0.2, "ballots_per_instance": 6, "spammers": 0.2},
        {
            "instances": 300,
            "voters": 30,
            "alternatives": 6,
            "priors": [0.5, 0.4, 0.3, 0.3, 0.2, 0.1],
            "ballots_per_instance": 8,
        },
        {"instances": 200, "voters": 40, "alternatives": 8, "priors": 0.2, "ballots_per_instance": 6},
        {"instances": 100, "voters": 12, "alternatives": 5, "priors": [0.6, 0.4, 0.2, 0.1, 0.05]},
        {"instances": 400, "voters": 50, "alternatives": 12, "priors": 0.2, "ballots_per_instance": 7, "spammers": 0.3},
    )[kind]
    return simulate(bounds=bounds, shared_mistakes=shared, seed=rng, **options), bounds


def mean_over_draws(
    rule: Auto | Calibrated, ballots: Ballots, gold: dict[str, frozenset[str]], count: int, draws: int
) -> Outcome:
    """What a rule finds with gold sets drawn at random, scored on the others."""
    found = []
    for number in range(draws):
        some = drawn_gold(gold, count, number)
        others = {name: right for name, right in gold.items() if name not in some}
        fitted = rule.fit(ballots, gold=some)
        if fitted.estimate_.is_rated:  # a rule that counts states nothing where gold sets are all alike
            found.append(outcome(fitted, others))
    return _mean(found)


def drawn_gold(gold: Truths | dict[str, frozenset[str]], count: int, seed: int) -> dict[str, frozenset[str]]:
    """Some of the gold sets, drawn by a seed."""
    names = np.random.default_rng([seed, count]).choice(sorted(gold), count, replace=False)
    return {name: gold[name] for name in names.tolist()}


def outcome(
    fitted: EM | Auto | Calibrated, gold: Truths | dict[str, frozenset[str]], confidence: np.ndarray | None = None
) -> Outcome:
    stated = fitted.confidence_ if confidence is None else confidence
    assert stated is not None
    truths = fitted.truth_
    places = [fitted.estimate_.ballots.instance_index[name] for name in gold]
    right = np.array([truths[name] == gold[name] for name in gold], float)
    return Outcome(
        float(right.mean()), float(stated[places].mean()), calibration_error(stated[places], right, draws=1).mean
    )


def _mean(outcomes: list[Outcome]) -> Outcome:
    return Outcome(*np.mean(outcomes, axis=0).tolist())


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n"


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
