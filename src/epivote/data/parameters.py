"""What the model knows about voters and alternatives: three arrays of probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from epivote.data.names import FloatArray, frozen, listing, suggestion
from epivote.errors import RateError

RateLike: TypeAlias = float | Mapping[str, float] | Sequence[float] | FloatArray


@dataclass(frozen=True, eq=False)
class Parameters:
    """Hit rates p_i and false-alarm rates q_i of all voters, priors t_j of all alternatives, each strictly in (0, 1).

    A prior is the probability that the alternative is right before the size bounds are taken into account.
    """

    hit_rates: FloatArray
    false_alarm_rates: FloatArray
    priors: FloatArray

    def __post_init__(self) -> None:
        """Refuse anything that is not a probability strictly between 0 and 1."""
        for name in ("hit_rates", "false_alarm_rates", "priors"):
            array = np.asarray(getattr(self, name), float)
            check_rates(array, name.replace("_", " ").replace("false alarm", "false-alarm"))
            object.__setattr__(self, name, frozen(array))
        if self.hit_rates.shape != self.false_alarm_rates.shape:
            raise RateError(
                f"{len(self.hit_rates)} hit rates and {len(self.false_alarm_rates)} false-alarm rates were given; "
                "every voter needs one of each"
            )

    @cached_property
    def weights(self) -> FloatArray:
        """What a tick of each voter adds to the log-odds, w_i; negative for a voter worse than chance."""
        return log_odds(self.hit_rates) - log_odds(self.false_alarm_rates)

    @cached_property
    def thresholds(self) -> FloatArray:
        """What a voter's mere presence takes from the log-odds of every alternative, ln((1 - q_i)/(1 - p_i))."""
        return np.log1p(-self.false_alarm_rates) - np.log1p(-self.hit_rates)

    @cached_property
    def pushes(self) -> FloatArray:
        """Weight and threshold of every voter, side by side."""
        return np.stack([self.weights, self.thresholds], axis=1)

    def distance(self, other: Parameters) -> float:
        """Largest change of any parameter (the l-infinity norm)."""
        return max(
            float(np.max(np.abs(mine - theirs), initial=0.0))
            for mine, theirs in (
                (self.hit_rates, other.hit_rates),
                (self.false_alarm_rates, other.false_alarm_rates),
                (self.priors, other.priors),
            )
        )

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        if not isinstance(other, Parameters):
            return NotImplemented
        return (
            np.array_equal(self.hit_rates, other.hit_rates)
            and np.array_equal(self.false_alarm_rates, other.false_alarm_rates)
            and np.array_equal(self.priors, other.priors)
        )

    __hash__ = None  # type: ignore[assignment]


def log_odds(probabilities: FloatArray) -> FloatArray:
    """ln(t / (1 - t)), entry by entry."""
    return np.log(probabilities) - np.log1p(-probabilities)


def from_log_odds(values: FloatArray) -> FloatArray:
    """The probability with these log-odds; never 0, however small."""
    return np.exp(-np.logaddexp(0.0, -values))


def check_rates(rates: FloatArray, what: str) -> None:
    """Refuse a rate that is not finite or not strictly between 0 and 1, with its position and value."""
    if rates.ndim != 1:
        raise RateError(f"{what} must be a row of numbers, not an array of shape {rates.shape}")
    bad = np.flatnonzero(~((rates > 0) & (rates < 1)))
    if len(bad):
        raise RateError(
            f"{what}: number {bad[0] + 1} is {rates[bad[0]]:g}; it must lie strictly between 0 and 1 "
            "(for 'never' or 'always' write something like 0.0001 or 0.9999)"
        )


def align_rates(rates: RateLike, names: Iterable[str], what: str) -> FloatArray:
    """One rate per name from a single number, a mapping (or Series) by name, or a row in the order of the names."""
    known = tuple(names)
    by_name = getattr(rates, "to_dict", None)
    if by_name is not None and set(map(str, by_name())) >= set(known):
        rates = by_name()
    if isinstance(rates, Mapping):
        rates = {str(name): rate for name, rate in rates.items()}
        for name in known:
            if name not in rates:
                raise RateError(
                    f"{what} of {name!r} is not given{suggestion(name, rates)}; given are {listing(list(rates))}"
                )
        aligned = np.array([rates[name] for name in known], float)
    elif np.ndim(rates) == 0:
        aligned = np.full(len(known), rates, float)
    else:
        aligned = np.asarray(rates, float)
        if aligned.shape != (len(known),):
            raise RateError(f"{what}: {aligned.size} numbers were given where {len(known)} are needed")
    check_rates(aligned, what)
    return aligned
