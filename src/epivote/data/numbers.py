"""Numbers as people read them: shares in per cent, intervals, nothing that looks more certain than it is."""

from __future__ import annotations


def percent(share: float, digits: int = 1) -> str:
    """`97.3 %`; what would be rounded to none or to all is written `< 0.1 %` or `> 99.9 %`.

    Examples
    --------
    >>> percent(0.973), percent(0.99999), percent(0.0002), percent(1.0), percent(0.5, 0)
    ('97.3 %', '> 99.9 %', '< 0.1 %', '100 %', '50 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    smallest = 10.0**-digits
    shown = f"{100 * share:.{digits}f}"
    if float(shown) >= 100:
        return f"> {100 - smallest:.{digits}f} %"
    return f"< {smallest:.{digits}f} %" if float(shown) <= 0 else f"{shown} %"


def probability(value: float, digits: int = 1) -> str:
    """The same for an estimated probability, which is never exactly 0 or 1, though it may be rounded to that."""
    return percent(min(max(value, 1e-15), 1 - 1e-15), digits)


def with_interval(mean: float, low: float, high: float) -> str:
    """`0.62 (95 % CI 0.54-0.69)`."""
    return f"{mean:.2f} (95 % CI {low:.2f}-{high:.2f})"
