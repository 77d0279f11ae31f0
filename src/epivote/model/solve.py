"""Where a rising function of one number meets a target."""

from collections.abc import Callable

MOST_STEPS = 200  # halving alone needs about 60 for a float
CLOSE = 1e-14  # relative; some fifty roundings of a float


def solve_rising(
    value_and_slope: Callable[[float], tuple[float, float]], target: float, low: float, high: float, start: float
) -> float:
    """The x in [low, high] with f(x) = target, or the end of the interval nearest to it.

    Newton's steps, halved into the bracket whenever they leave it; exact to a few units in the last place. An end is
    looked at only where a step leads there.
    """
    unseen = {low, high}
    x = min(max(start, low), high)
    for _ in range(MOST_STEPS):
        value, slope = value_and_slope(x)
        if value == target:
            break
        low, high = (x, high) if value < target else (low, x)
        following = x + (target - value) / slope if slope > 0 else low
        if not low < following < high:
            end = high if value < target else low
            if end in unseen:
                at_end = value_and_slope(end)[0]
                if at_end == target or (at_end < target) == (value < target):
                    return end
                unseen.remove(end)
            following = (low + high) / 2
        if abs(following - x) <= CLOSE * (1 + abs(x)):
            break
        x = following
    return x
