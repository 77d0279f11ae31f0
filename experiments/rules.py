"""The rules that are compared, by the name they have in tables and figures."""

from __future__ import annotations

from collections.abc import Callable

from epivote import AMLE, EM, Approval, Ballots, Comparison, Majority, Modal, suggest_method

Bounds = tuple[int, int | None]
Rule = AMLE | EM | Majority | Modal | Approval

RULES: dict[str, Callable[[Bounds, int], Rule]] = {
    "Majority": lambda bounds, _: Majority(bounds),
    "Majority, plain": lambda *_: Majority(),
    "Modal": lambda bounds, _: Modal(bounds),
    "Modal, plain": lambda *_: Modal(),
    "Approval": lambda bounds, _: Approval(bounds),
    "AMLE": lambda bounds, _: AMLE(bounds),
    "AMLE, free size": lambda *_: AMLE((0, None)),
    "AMLE, uniform start": lambda bounds, _: AMLE(bounds, "uniform"),
    "AMLE, random start": lambda bounds, seed: AMLE(bounds, "random", seed=seed),
    "AMLE, soft start": lambda bounds, _: AMLE(bounds, "soft"),
    "AMLE, 10 starts": lambda bounds, seed: AMLE(bounds, n_starts=10, seed=seed),
    "AMLE as printed": lambda bounds, _: AMLE(bounds, prior_update="published"),
    "AMLE as printed, uniform start": lambda bounds, _: AMLE(bounds, "uniform", "published"),
    "AMLE as printed, random start": lambda bounds, seed: AMLE(bounds, "random", "published", seed=seed),
    "EM": lambda bounds, _: EM(bounds),
    "EM without shrinkage": lambda bounds, _: EM(bounds, shrinkage=0),
}


def chosen_by_auto(ballots: Ballots, bounds: Bounds) -> str:
    """The rule that `--method auto` takes."""
    return "AMLE" if suggest_method(ballots, bounds)[0] == "amle" else "EM"


def fit_rule(name: str, ballots: Ballots, bounds: Bounds, seed: int = 0) -> Rule:
    """The named rule, or the one `auto` takes, fitted; only random starts look at the seed."""
    return RULES[chosen_by_auto(ballots, bounds) if name == "auto" else name](bounds, seed).fit(ballots)


def in_three(found: Comparison) -> str:
    """Share of alternatives decided rightly, of sets exactly right, and mean Jaccard."""
    share = found.correct.sum() / found.widths.sum()
    return f"{share:.3f} / {found.zero_one.mean():.3f} / {found.jaccard.mean():.3f}"
