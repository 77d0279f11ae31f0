"""How the page writes numbers: no decimals that mean nothing, and nothing is ever stated as certain."""

from __future__ import annotations

import re
from math import isnan

from epivote.data.numbers import chosen_percent, in_percent, percent

NO_BREAK = "\u00a0"  # between a number and its per cent sign
UNKNOWN = "–"


def probability(value: float) -> str:
    """`62 %`, `97.4 %`, `> 99.9 %`, `< 0.1 %`; the page's scripts write the same."""
    return UNKNOWN if isnan(value) else _unbroken(in_percent(value))


def share(value: float) -> str:
    """As `probability`, but what was counted may be exactly `0 %` or `100 %`."""
    return UNKNOWN if isnan(value) else _unbroken(percent(value))


def whole(value: float) -> str:
    """`62 %`, without decimals."""
    return f"{100 * value:.0f}{NO_BREAK}%"


def chosen(value: float) -> str:
    """`95 %`, `99.5 %`: a value that somebody chose, as it is."""
    return _unbroken(chosen_percent(value))


def weight(value: float) -> str:
    """Log-odds with their sign: `+1.25`, `−0.40`, `0.00`."""
    digits = f"{abs(value):.2f}"
    return digits if digits == "0.00" else f"{'−' if value < 0 else '+'}{digits}"


def spaced(sentence: str) -> str:
    """A sentence from elsewhere with its per cent signs set off as on the rest of the page."""
    return re.sub(r"(\d) ?%", rf"\1{NO_BREAK}%", sentence)


def _unbroken(words: str) -> str:
    return words.replace(" ", NO_BREAK)
