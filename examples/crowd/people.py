"""How simulated people answer: what they see of the truth, and what they tick.

Each kind is a function of the truth (indices of the right alternatives), the number of alternatives and a random
generator, and returns the indices ticked; nothing ticked is "none of these", None is a skipped question.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Truth = frozenset[int]
Ticks = frozenset[int] | None
Answer = Callable[[Truth, int, np.random.Generator], Ticks]


def noticing(hit_rate: float, false_alarm_rate: float, skip: float = 0.0) -> Answer:
    """Sees each right alternative, and believes to see each wrong one, with given probabilities; sometimes skips."""

    def answer(truth: Truth, alternatives: int, rng: np.random.Generator) -> Ticks:
        if rng.random() < skip:
            return None
        rates = [hit_rate if j in truth else false_alarm_rate for j in range(alternatives)]
        return frozenset(np.flatnonzero(rng.random(alternatives) < rates).tolist())

    return answer


def one_only(truth: Truth, alternatives: int, rng: np.random.Generator) -> Ticks:
    """Ticks the first right one seen and looks no further; sees none now and then, and guesses."""
    pool = sorted(truth) if rng.random() < 0.8 else range(alternatives)
    return frozenset({int(rng.choice(pool))})


def adversary(truth: Truth, alternatives: int, rng: np.random.Generator) -> Ticks:
    """Ticks two that are wrong."""
    wrong = [j for j in range(alternatives) if j not in truth]
    return frozenset(rng.choice(wrong, 2, replace=False).tolist())


KINDS: dict[str, tuple[int, Answer]] = {  # how many of twenty, and how they answer
    "careful": (6, noticing(0.85, 0.05, skip=0.02)),
    "hasty": (6, noticing(0.6, 0.15, skip=0.05)),
    "single": (3, one_only),
    "random": (3, noticing(0.35, 0.35)),
    "everything": (1, noticing(1, 1)),
    "adversary": (1, adversary),
}


def crowd(count: int, rng: np.random.Generator) -> list[tuple[str, Answer]]:
    """Nicknames and ways to answer of so many people, the kinds mixed in their usual shares."""
    shares = [kind for kind, (share, _) in KINDS.items() for _ in range(share)]
    rounds = -(-count // len(shares))
    drawn = rng.permutation(shares * rounds).tolist()[:count]
    return [(f"{kind}-{number}", KINDS[kind][1]) for number, kind in enumerate(drawn, start=1)]
