"""Whatever takes a seed: the same seed gives the same again, another seed something else, and none means 0."""

import inspect
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pytest

import epivote
from epivote import (
    AMLE,
    EM,
    Auto,
    MaximumLikelihood,
    Parameters,
    agreement,
    calibration_error,
    check_plan,
    plan,
    reference_crowd,
    reproducibility,
    simulate,
)

SMALL = {"instances": 12, "voters": 5, "alternatives": 4, "bounds": (1, 2)}
BALLOTS = simulate(**SMALL, hit_rates=0.6, false_alarm_rates=0.4).ballots
VOTERS = Parameters(np.linspace(0.5, 0.9, 5), np.linspace(0.1, 0.4, 5), np.full(4, 0.4))
UNSURE = MaximumLikelihood(0.7, 0.3, 0.4, (1, 2)).fit(BALLOTS)


def drawn(simulation):
    return list(simulation.ballots.items()), dict(simulation.gold)


def of_drawn_pairs(**seed):
    """Pairs are drawn only where there are too many."""
    with patch("epivote.evaluate.agreement.MOST_PAIRS", 20):
        return agreement(BALLOTS, **seed)


STATED = np.linspace(0.05, 0.95, 30)
CALLS = {
    "agreement": of_drawn_pairs,
    "AMLE": lambda **seed: AMLE((1, 2), "random", max_iterations=1, **seed).fit(BALLOTS).log_likelihoods_,
    "EM": lambda **seed: EM((1, 2), groups=3, max_iterations=1, **seed).fit(BALLOTS).log_likelihoods_,
    "review": lambda **seed: UNSURE.review(0.97, **seed),
    "Auto": lambda **seed: Auto((1, 2), **seed).fit(BALLOTS).reproducibility_,
    "calibration_error": lambda **seed: calibration_error(STATED, STATED > 0.4, **seed),
    "pick_gold": lambda **seed: UNSURE.pick_gold(5, **seed),
    "reproducibility": lambda **seed: reproducibility(EM((1, 2)), BALLOTS, splits=1, **seed),
    "check_plan": lambda **seed: check_plan(UNSURE, **seed),
    "plan": lambda **seed: plan(VOTERS, (1, 2), target=0.5, instances=200, **seed),
    "reference_crowd": lambda **seed: drawn(reference_crowd(12, 5, 4, 2, **seed)),
    "simulate": lambda **seed: drawn(simulate(**SMALL, **seed)),
}

SLOW = {"Auto", "reproducibility"}
"""Those that fit dozens of simulated crowds."""


def seeded_names():
    """Public functions, classes and methods with a parameter of that name."""
    for name in epivote.__all__:
        found = getattr(epivote, name)
        parts = {name: found}
        if inspect.isclass(found):
            parts |= {part: getattr(found, part) for part in dir(found) if not part.startswith("_")}
        for part, each in parts.items():
            if callable(each):
                with suppress(ValueError):  # written in C, and without a signature
                    if "seed" in inspect.signature(each).parameters:
                        yield part


def test_every_name_that_takes_a_seed_is_called_here():
    # suggest_method draws crowds only to compare with these ballots: other draws seldom lead to another method
    assert set(seeded_names()) - {"suggest_method"} == set(CALLS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in CALLS]
)
def test_a_seed_decides_what_is_drawn(name):
    call = CALLS[name]
    assert call(seed=1) == call(seed=1)
    assert call(seed=np.random.default_rng(1)) == call(seed=np.random.default_rng(1))
    assert call(seed=1) != call(seed=2)
    assert call() == call(seed=0)
