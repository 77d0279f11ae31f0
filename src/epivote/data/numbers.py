"""Numbers as people read them: shares in per cent, intervals, nothing that looks more certain than it is."""

from __future__ import annotations

FINE = 0.1  # shares nearer than this to 0 or 1 get a decimal; a round number
CERTAIN = 0.001  # a share nearer than this to 0 or 1 is written as a bound: a tenth of a per cent


def percent(share: float) -> str:
    """`72 %`, `97.3 %`; what would be rounded to none or to all is written `< 0.1 %` or `> 99.9 %`.

    Examples
    --------
    >>> percent(0.723), percent(0.973), percent(0.99999), percent(0.0002), percent(1.0)
    ('72 %', '97.3 %', '> 99.9 %', '< 0.1 %', '100 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if share > 1 - CERTAIN:
        return "> 99.9 %"
    if share < CERTAIN:
        return "< 0.1 %"
    return f"{100 * share:.{1 if share < FINE or share >= 1 - FINE else 0}f} %"


def in_percent(probability: float) -> str:
    """A probability as the command, the report and the pages write it; an estimated one is never exactly 0 or 1.

    Examples
    --------
    >>> in_percent(0.723), in_percent(0.973), in_percent(1.0), in_percent(0.0)
    ('72 %', '97.3 %', '> 99.9 %', '< 0.1 %')
    """
    return percent(min(max(probability, 1e-15), 1 - 1e-15))


def whole_percent(share: float) -> str:
    """A share without decimals, for what need not be exact: `92 %`, `> 99 %`, `< 1 %`."""
    if share not in (0, 1) and not 1 <= round(100 * share) <= 99:
        return "< 1 %" if share < 0.5 else "> 99 %"
    return f"{100 * share:.0f} %"


def chosen_percent(share: float) -> str:
    """A share that somebody chose, such as a threshold, as it is: `95 %`, `99.5 %`."""
    return f"{round(100 * share, 6):g} %"


def with_interval(mean: float, low: float, high: float) -> str:
    """`0.62 (95 % CI 0.54-0.69)`."""
    return f"{mean:.2f} (95 % CI {low:.2f}-{high:.2f})"
