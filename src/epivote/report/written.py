"""How the page writes numbers: no decimals that mean nothing, and nothing is ever stated as certain."""

from __future__ import annotations

import re
from math import isnan

NO_BREAK = "\u00a0"  # between a number and its per cent sign
UNKNOWN = "–"
FINE = 0.1  # shares nearer than this to 0 or 1 get a decimal; a round number
CERTAIN = 0.001  # a probability nearer than this to 0 or 1 is written as a bound: a tenth of a per cent


def probability(value: float) -> str:
    """`62 %`, `97.4 %`, `> 99.9 %`, `< 0.1 %`; the page's scripts write the same."""
    if isnan(value):
        return UNKNOWN
    if value > 1 - CERTAIN:
        return f">{NO_BREAK}99.9{NO_BREAK}%"
    if value < CERTAIN:
        return f"<{NO_BREAK}0.1{NO_BREAK}%"
    return _percent(value)


def share(value: float) -> str:
    """As `probability`, but what was counted may be exactly `0 %` or `100 %`."""
    return whole(value) if value in (0, 1) else probability(value)


def whole(value: float) -> str:
    """`62 %`, without decimals."""
    return f"{100 * value:.0f}{NO_BREAK}%"


def weight(value: float) -> str:
    """Log-odds with their sign: `+1.25`, `−0.40`, `0.00`."""
    digits = f"{abs(value):.2f}"
    return digits if digits == "0.00" else f"{'−' if value < 0 else '+'}{digits}"


def spaced(sentence: str) -> str:
    """A sentence from elsewhere with its per cent signs set off as on the rest of the page."""
    return re.sub(r"(\d) ?%", rf"\1{NO_BREAK}%", sentence)


def _percent(value: float) -> str:
    decimals = 1 if value < FINE or value >= 1 - FINE else 0
    return f"{100 * value:.{decimals}f}{NO_BREAK}%"
