"""What the model knows about voters and alternatives: three arrays of probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.names import FloatArray, frozen, listing, suggestion
from epivote.errors import RateError

RateLike: TypeAlias = float | Mapping[str, float] | Sequence[float] | FloatArray
Change: TypeAlias = Callable[[FloatArray], FloatArray]
PER_VOTER = ("hit_rates", "false_alarm_rates")
RATES = (*PER_VOTER, "priors")


def _as_they_are(rates: FloatArray) -> FloatArray:
    return rates


class Logs(NamedTuple):
    """Logarithms of p and 1 - p, of q and 1 - q, of t and 1 - t."""

    hit: FloatArray
    miss: FloatArray
    false_alarm: FloatArray
    rejection: FloatArray
    present: FloatArray
    absent: FloatArray


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
        for name in RATES:
            array = np.asarray(getattr(self, name), float)
            check_rates(array, name.replace("_", " ").replace("false alarm", "false-alarm"))
            object.__setattr__(self, name, frozen(array))
        if self.hit_rates.shape != self.false_alarm_rates.shape:
            raise RateError(
                f"{len(self.hit_rates)} hit rates and {len(self.false_alarm_rates)} false-alarm rates were given; "
                "every voter needs one of each"
            )

    def __getstate__(self) -> dict[str, Any]:
        """The rates alone: what follows from them is soon worked out again, and is several times as large to send."""
        return self.arrays()

    @classmethod
    def alike(cls, n_voters: int, hit_rate: float, false_alarm_rate: float, priors: FloatArray) -> Parameters:
        """The same rates for all voters."""
        return cls(np.full(n_voters, hit_rate), np.full(n_voters, false_alarm_rate), priors)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, ArrayLike]) -> Parameters:
        """What `arrays` gave."""
        return cls(**{name: np.array(array) for name, array in arrays.items()})

    def arrays(self) -> dict[str, FloatArray]:
        """All rates by name."""
        return {name: getattr(self, name) for name in RATES}

    def changed(self, per_voter: Change = _as_they_are, priors: Change = _as_they_are) -> Parameters:
        """Parameters whose arrays per voter, and whose priors, follow from these."""
        rates = {name: per_voter(getattr(self, name)) for name in PER_VOTER}
        return Parameters(**rates, priors=priors(self.priors))

    @cached_property
    def logs(self) -> Logs:
        """Logarithms of all probabilities and of what they leave to 1."""
        p, q, t = self.hit_rates, self.false_alarm_rates, self.priors
        return Logs(np.log(p), _log_rest(p), np.log(q), _log_rest(q), np.log(t), _log_rest(t))

    @cached_property
    def weights(self) -> FloatArray:
        """What a tick of each voter adds to the log-odds, w_i; negative for a voter worse than chance."""
        weights = self.logs.hit - self.logs.miss
        weights -= self.logs.false_alarm - self.logs.rejection
        return weights

    @cached_property
    def thresholds(self) -> FloatArray:
        """What a voter's mere presence takes from the log-odds of every alternative, ln((1 - q_i)/(1 - p_i))."""
        return self.logs.rejection - self.logs.miss

    @cached_property
    def pushes(self) -> FloatArray:
        """Weight and threshold of every voter, side by side."""
        table = np.empty((len(self.hit_rates), 2))
        table[:, 0], table[:, 1] = self.weights, self.thresholds
        return table

    @cached_property
    def largest_push(self) -> float:
        """The most that any voter's weight and threshold together can move a margin by."""
        return float((np.abs(self.weights) + np.abs(self.thresholds)).max())

    @cached_property
    def factors(self) -> FloatArray:
        """Per voter: the factor by which a tick, and a non-tick, multiplies an alternative's odds.

        Infinite or 0 where that is out of range.
        """
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.stack([self.weights - self.thresholds, -self.thresholds], axis=1))

    @cached_property
    def prior_log_odds(self) -> FloatArray:
        """Log-odds of every prior."""
        return self.logs.present - self.logs.absent

    def moves_to(self, following: Parameters) -> tuple[FloatArray, float]:
        """How far up and down a ballot of every voter, ticked or not, can move a margin when these parameters give way
        to the following, and how far a prior can. Worked out once, however many shards ask.
        """
        known = self.__dict__.get("_moves")
        if known is None or known[0] is not following:
            weight, threshold = following.weights - self.weights, following.thresholds - self.thresholds
            voters = np.empty((len(weight), 2))
            np.subtract(np.maximum(weight, 0.0), threshold, out=voters[:, 0])
            np.subtract(threshold, np.minimum(weight, 0.0), out=voters[:, 1])
            priors = np.abs(following.prior_log_odds - self.prior_log_odds).max()
            known = following, (voters, float(priors))
            object.__setattr__(self, "_moves", known)
        moves: tuple[FloatArray, float] = known[1]
        return moves

    def prepare(self, previous: Parameters | None) -> None:
        """Work out what every pass over a shard looks up, so that threads need not do so all at once."""
        _ = self.largest_push, self.prior_log_odds
        if previous is not None:
            previous.moves_to(self)

    def distance(self, other: Parameters) -> float:
        """Largest change of any parameter (the l-infinity norm)."""
        theirs = other.arrays()
        return max(float(np.max(np.abs(mine - theirs[name]), initial=0.0)) for name, mine in self.arrays().items())

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        if not isinstance(other, Parameters):
            return NotImplemented
        theirs = other.arrays()
        return all(np.array_equal(mine, theirs[name]) for name, mine in self.arrays().items())

    __hash__ = None  # type: ignore[assignment]


def _log_rest(probabilities: FloatArray) -> FloatArray:
    """ln(1 - t), entry by entry, in the memory of one array."""
    rest = np.negative(probabilities)
    return np.log1p(rest, out=rest)


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
    if not np.all((rates > 0) & (rates < 1)):
        bad = np.flatnonzero(~((rates > 0) & (rates < 1)))
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
