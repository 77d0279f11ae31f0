"""The part of `make methods` on simulated crowds: dense, sparse, small and varied, and one instance only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from epivote import AMLE, EM, Approval, Majority, MaximumLikelihood, reference_crowd, simulate
from experiments.crowds import MIXES, adversarial, draw_crowd
from experiments.page.comparing import exact, progress, table, with_interval
from experiments.rules import Bounds, chosen_by_auto, fit_rule


def dense_crowds() -> Iterator[str]:
    """Few instances that everybody voted on: where `auto` may take AMLE."""
    yield "## Few instances that everybody voted on\n"
    yield ("Five alternatives, sizes 1..2, voters who err independently; share of sets exactly right, 20 seeds each.\n")
    mixes = {**MIXES, "half adversaries": adversarial(0.5)}
    rows = []
    for kind, mix in mixes.items():
        for voters, instances in ((10, 15), (20, 40)):
            progress(f"dense crowd: {kind}, {voters} voters, {instances} instances")
            shares: dict[str, list[float]] = {"AMLE": [], "EM": [], "auto": []}
            for seed in range(20):
                crowd = draw_crowd(mix, np.random.default_rng([seed, voters]), voters=voters, instances=instances)
                for name in ("AMLE", "EM"):
                    shares[name].append(exact(fit_rule(name, crowd.ballots, (1, 2)).truth_, crowd.gold))
                shares["auto"].append(shares[chosen_by_auto(crowd.ballots, (1, 2))][-1])
            rows.append([kind, str(voters), str(instances), *(f"{np.mean(values):.3f}" for values in shares.values())])
    yield table(["crowd", "voters", "instances", *("AMLE", "EM", "auto")], rows)


def sparse_crowds() -> Iterator[str]:
    """DESIGN's crowd M: 50,000 instances, 1,000 voters, 20 alternatives, sizes 1..4, five ballots each."""
    yield "## A large sparse crowd\n"
    yield (
        "50,000 instances, 1,000 voters (a fifth spammers), 20 alternatives, sizes 1..4, five ballots each; five "
        "seeds. *Rates known* decides with the true rates and the priors that EM found. Error is the mean distance of "
        "estimated from true hit rates.\n"
    )
    shares: dict[str, list[float]] = {name: [] for name in ("Majority", "AMLE", "EM", "rates known")}
    errors: dict[str, list[float]] = {"AMLE": [], "EM": []}
    for seed in range(5):
        progress(f"sparse crowd, seed {seed}")
        crowd = reference_crowd(50_000, 1_000, 20, 4, seed)
        bounds: Bounds = (1, 4)
        soft = EM(bounds).fit(crowd.ballots)
        true = crowd.parameters
        oracle = MaximumLikelihood(true.hit_rates, true.false_alarm_rates, soft.parameters_.priors, bounds)
        hard = AMLE(bounds).fit(crowd.ballots)
        for name, truths in (
            ("Majority", Majority(bounds).fit(crowd.ballots).truth_),
            ("AMLE", hard.truth_),
            ("EM", soft.truth_),
            ("rates known", oracle.fit(crowd.ballots).truth_),
        ):
            shares[name].append(exact(truths, crowd.gold))
        for name, parameters in (("AMLE", hard.parameters_), ("EM", soft.parameters_)):
            errors[name].append(float(np.abs(parameters.hit_rates - true.hit_rates).mean()))
    yield table(
        ["", "sets exactly right, by seed", "mean", "hit-rate error"],
        [
            [
                name,
                ", ".join(f"{value:.3f}" for value in values),
                f"{np.mean(values):.4f}",
                f"{np.mean(errors[name]):.3f}" if name in errors else "",
            ]
            for name, values in shares.items()
        ],
    )


def varied_crowds() -> Iterator[str]:
    """Small crowds that differ in size, coverage and mix."""
    yield "## Small crowds of every kind\n"
    yield (
        "Five alternatives, sizes 1..2; share of sets exactly right and, in brackets, the mean confidence stated; 25 "
        "seeds each. *Mixed*: hit rates Beta(6, 3), false-alarm rates Beta(2, 12). *Polarised*: a quarter experts, the "
        "rest poor. *Spammed*: a quarter experts, the rest tick right and wrong alike.\n"
    )
    rows = []
    for kind in ("mixed", "polarised", "spammed"):
        for voters, instances in ((5, 300), (10, 15), (10, 300), (30, 60)):
            for coverage in (1.0, 0.3):
                if voters * coverage < 2:
                    continue
                progress(f"{kind} crowd, {voters} voters, {instances} instances, coverage {coverage:.0%}")
                rows.append(
                    [kind, str(voters), str(instances), f"{coverage:.0%}", *_duel(kind, voters, instances, coverage)]
                )
    yield table(["crowd", "voters", "instances", "coverage", "Majority", "AMLE", "EM", "EM minus AMLE"], rows)


def _duel(kind: str, voters: int, instances: int, coverage: float) -> list[str]:
    shares: dict[str, list[float]] = {"Majority": [], "AMLE": [], "EM": []}
    stated: dict[str, list[float]] = {"AMLE": [], "EM": []}
    for seed in range(25):
        rng = np.random.default_rng(seed)
        crowd = draw_crowd(MIXES[kind], rng, voters=voters, instances=instances, coverage=coverage)
        for name in shares:
            rule = fit_rule(name, crowd.ballots, (1, 2))
            shares[name].append(exact(rule.truth_, crowd.gold))
            if rule.confidence_ is not None:
                stated[name].append(float(rule.confidence_.mean()))
    cells = [f"{np.mean(shares['Majority']):.3f}"]
    cells += [f"{np.mean(shares[name]):.3f} ({np.mean(stated[name]):.2f})" for name in ("AMLE", "EM")]
    return [*cells, with_interval(np.subtract(shares["EM"], shares["AMLE"]).tolist())]


def one_question() -> Iterator[str]:
    """A jury: one instance, six alternatives, two right."""
    yield "## One instance\n"
    yield "One instance, six alternatives, two right, 400 juries of each size: share right (confidence stated).\n"
    rows = []
    for voters in (5, 10, 20):
        progress(f"juries of {voters}")
        outcome: dict[str, list[tuple[bool, float]]] = {"Approval": [], "AMLE": [], "EM": []}
        for seed in range(400):
            rng = np.random.default_rng(seed)
            crowd = simulate(
                instances=1,
                voters=voters,
                alternatives=6,
                bounds=2,
                hit_rates=rng.beta(6, 3, voters),
                false_alarm_rates=rng.beta(2, 6, voters),
                seed=rng,
            )
            for name, rule in (("Approval", Approval(2)), ("AMLE", AMLE(2)), ("EM", EM(2))):
                rule.fit(crowd.ballots)
                stated = np.nan if rule.confidence_ is None else float(rule.confidence_[0])
                outcome[name].append((rule.truth_["i1"] == crowd.gold["i1"], stated))
        means = {name: np.mean(values, axis=0) for name, values in outcome.items()}
        cells = [f"{right:.3f}" + ("" if np.isnan(stated) else f" ({stated:.2f})") for right, stated in means.values()]
        rows.append([str(voters), *cells])
    yield table(["jurors", "Approval", "AMLE", "EM"], rows)
