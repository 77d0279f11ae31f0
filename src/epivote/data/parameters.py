"""What the model knows about voters and alternatives: arrays of probabilities."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from epivote.data.names import FloatArray, IntArray, frozen, listing, sealed, suggestion
from epivote.errors import RateError

RateLike: TypeAlias = float | Mapping[str, float] | Sequence[float] | FloatArray
Change: TypeAlias = Callable[[FloatArray], FloatArray]
PER_VOTER = ("hit_rates", "false_alarm_rates")
RATES = {"hit_rates": "hit rates", "false_alarm_rates": "false-alarm rates", "priors": "priors"}
SHARE_ROUNDING = 1e-9  # by which shares may miss 1; far above the rounding of a sum
OF_GROUPS = ("group_priors", "group_shares")


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

    Where instances fall into groups, `group_priors` has a row of priors for every group, `group_shares` says how large
    a share of the instances each group is, and `priors` are the means of all groups by share.
    """

    hit_rates: FloatArray
    false_alarm_rates: FloatArray
    priors: FloatArray
    group_priors: FloatArray | None = None
    group_shares: FloatArray | None = None

    def __post_init__(self) -> None:
        """Refuse anything that is not a probability strictly between 0 and 1."""
        shapes = np.shape(self.hit_rates), np.shape(self.false_alarm_rates), np.shape(self.priors)
        if not _are_rates(self.flat) or any(len(shape) != 1 for shape in shapes):
            for name, in_words in RATES.items():
                check_rates(np.asarray(getattr(self, name), float), in_words)
        (n_voters,), (as_many,), _ = shapes
        if n_voters != as_many:
            raise RateError(
                f"{n_voters} hit rates and {as_many} false-alarm rates were given; every voter needs one of each"
            )
        self.__dict__.update(zip(RATES, _cut(self.flat, n_voters), strict=True))
        if self.group_priors is not None or self.group_shares is not None:
            self._check_groups()

    def _check_groups(self) -> None:
        tables = [np.asarray(getattr(self, name), float) for name in OF_GROUPS if getattr(self, name) is not None]
        shapes = [table.shape for table in tables]
        if len(shapes) != 2 or shapes[0] != (*shapes[1], len(self.priors)) or not shapes[1][0]:
            raise RateError(f"group priors and shares have shapes {shapes}; give a row of priors and a share per group")
        check_rates(tables[0].ravel(), "group priors")
        if np.any(tables[1] <= 0) or abs(tables[1].sum() - 1) > SHARE_ROUNDING:
            raise RateError(f"group shares {tables[1].tolist()} must be above 0 and add up to 1")
        for name, table in zip(OF_GROUPS, tables, strict=True):
            object.__setattr__(self, name, frozen(table))

    def __getstate__(self) -> dict[str, Any]:
        """The rates alone: what follows from them is soon worked out again, and is several times as large to send."""
        return self.arrays()

    @classmethod
    def alike(cls, n_voters: int, hit_rate: float, false_alarm_rate: float, priors: FloatArray) -> Parameters:
        """The same rates for all voters."""
        return cls(np.full(n_voters, hit_rate), np.full(n_voters, false_alarm_rate), priors)

    @classmethod
    def in_groups(
        cls, hit_rates: FloatArray, false_alarm_rates: FloatArray, group_priors: FloatArray, group_shares: FloatArray
    ) -> Parameters:
        """Parameters of instances in groups, with the priors that follow."""
        priors = np.clip(group_shares @ group_priors, group_priors.min(axis=0), group_priors.max(axis=0))
        return cls(hit_rates, false_alarm_rates, priors, group_priors, group_shares)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, ArrayLike]) -> Parameters:
        """What `arrays` gave."""
        return cls(**{name: np.array(array) for name, array in arrays.items()})

    def arrays(self) -> dict[str, FloatArray]:
        """All rates by name; those of groups only where there are groups."""
        return {name: getattr(self, name) for name in (*RATES, *(OF_GROUPS if self.n_groups else ()))}

    @property
    def n_groups(self) -> int:
        """How many groups there are; 0 where all instances have the same priors."""
        return 0 if self.group_shares is None else len(self.group_shares)

    def overall(self) -> Parameters:
        """The same without groups: every instance has the mean priors."""
        return Parameters(self.hit_rates, self.false_alarm_rates, self.priors) if self.n_groups else self

    def changed(self, per_voter: Change = _as_they_are, priors: Change = _as_they_are) -> Parameters:
        """Parameters whose arrays per voter, and whose priors, follow from these."""
        rates = {name: per_voter(getattr(self, name)) for name in PER_VOTER}
        if self.group_priors is None:
            return Parameters(**rates, priors=priors(self.priors))
        of_groups = np.array([priors(row) for row in self.group_priors])
        return Parameters(**rates, priors=priors(self.priors), group_priors=of_groups, group_shares=self.group_shares)

    @cached_property
    def flat(self) -> FloatArray:
        """All hit rates, then all false-alarm rates, then all priors, read-only."""
        flat = np.concatenate([getattr(self, name) for name in RATES], axis=None, dtype=float, casting="unsafe")
        flat.flags.writeable = False
        return flat

    @cached_property
    def logs(self) -> Logs:
        """Logarithms of all probabilities and of what they leave to 1."""
        rest = np.negative(self.flat)
        p, q, t = _cut(np.log(self.flat), len(self.hit_rates))
        not_p, not_q, not_t = _cut(np.log1p(rest, out=rest), len(self.hit_rates))
        return Logs(p, not_p, q, not_q, t, not_t)

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
        """Per voter: what a tick multiplies an alternative's odds by on top of a non-tick, and what a non-tick does.

        Infinite or 0 where that is out of range.
        """
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.stack([self.weights, -self.thresholds], axis=1))

    def times(self, multiplicities: IntArray | None) -> Parameters:
        """The same rates, for voters whose ballots count so many times; worked out once, however many shards ask.

        What a ballot adds to log-odds is multiplied: weights, thresholds and all that follows from them.
        """
        if multiplicities is None:
            return self
        known = self.__dict__.get("_times")
        if known is None or known[0] is not multiplicities:
            several = Parameters(**self.arrays())
            pushes = {"weights": self.weights * multiplicities, "thresholds": self.thresholds * multiplicities}
            several.__dict__.update(pushes)
            known = multiplicities, several
            object.__setattr__(self, "_times", known)
        found: Parameters = known[1]
        return found

    @cached_property
    def prior_log_odds(self) -> FloatArray:
        """Log-odds of every prior."""
        return self.logs.present - self.logs.absent

    @cached_property
    def group_log_odds(self) -> FloatArray:
        """Log-odds of every group's priors, a row for each."""
        assert self.group_priors is not None
        return log_odds(self.group_priors)

    def moves_to(self, following: Parameters) -> tuple[FloatArray, float]:
        """How far up and down a ballot of every voter, ticked or not, can move a margin when these parameters give way
        to the following, and how far a prior can. Worked out once, however many shards ask; the following are not held,
        or those of the first iteration would hold those of all later ones.
        """
        known = self.__dict__.get("_moves")
        if known is None or known[0]() is not following:
            voters = self._voter_moves(following)
            priors = np.abs(following.prior_log_odds - self.prior_log_odds).max()
            known = weakref.ref(following), (voters, float(priors))
            object.__setattr__(self, "_moves", known)
        moves: tuple[FloatArray, float] = known[1]
        return moves

    def _voter_moves(self, following: Parameters) -> FloatArray:
        moves = np.zeros((len(self.hit_rates), 2))
        if following.weights is not self.weights:  # else only priors have changed
            weight, threshold = following.weights - self.weights, following.thresholds - self.thresholds
            np.subtract(np.maximum(weight, 0.0), threshold, out=moves[:, 0])
            np.subtract(threshold, np.minimum(weight, 0.0), out=moves[:, 1])
        return moves

    def prepare(self, previous: Parameters | None) -> None:
        """Work out what every pass over a shard looks up, so that threads need not do so all at once."""
        _ = self.largest_push, self.prior_log_odds
        if previous is not None:
            previous.moves_to(self)

    def distance(self, other: Parameters) -> float:
        """Largest change of any parameter (the l-infinity norm)."""
        largest = float(np.abs(self.flat - other.flat).max(initial=0.0))
        if self.n_groups:
            changes = (getattr(self, name) - getattr(other, name) for name in OF_GROUPS)
            largest = max(largest, *(float(np.abs(change).max(initial=0.0)) for change in changes))
        return largest

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        if not isinstance(other, Parameters):
            return NotImplemented
        theirs = other.arrays()
        mine = self.arrays()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]


FROM_WEIGHTS = ("pushes", "largest_push", "factors")
"""Properties that follow from weights and thresholds alone, and are worked out once."""


def with_priors(parameters: Parameters, priors: FloatArray) -> Parameters:
    """The same voters with other priors, none of which may be 0 or 1.

    `weights` and `thresholds` are the very same arrays, and what is known to follow from them is not worked out again.
    Rates were checked when the given parameters were made.
    """
    assert not parameters.n_groups
    check_rates(priors, RATES["priors"])
    n_voters = len(parameters.hit_rates)
    flat = sealed(np.concatenate((parameters.flat[: 2 * n_voters], priors)))
    logs = Logs(*parameters.logs[:4], np.log(priors), np.log1p(-priors))
    same = object.__new__(Parameters)
    same.__dict__.update(zip(RATES, _cut(flat, n_voters), strict=True), flat=flat, logs=logs)
    same.__dict__.update(weights=parameters.weights, thresholds=parameters.thresholds)
    known = parameters.__dict__
    same.__dict__.update({name: known[name] for name in FROM_WEIGHTS if name in known})
    return same


def _cut(flat: FloatArray, n_voters: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The parts about hit rates, about false-alarm rates and about priors."""
    return flat[:n_voters], flat[n_voters : 2 * n_voters], flat[2 * n_voters :]


def log_odds(probabilities: FloatArray) -> FloatArray:
    """ln(t / (1 - t)), entry by entry."""
    return np.log(probabilities) - np.log1p(-probabilities)


def from_log_odds(values: FloatArray) -> FloatArray:
    """The probability with these log-odds; never 0, however small."""
    return np.exp(-np.logaddexp(0.0, -values))


def off_the_edges(rates: FloatArray, floor: float) -> FloatArray:
    """The same rates, kept in [floor, 1 - floor]."""
    return np.minimum(np.maximum(rates, floor), 1 - floor)


def _are_rates(numbers: FloatArray) -> bool:
    """Whether all lie strictly between 0 and 1, which NaN does not."""
    return bool(numbers.min(initial=0.5) > 0 and numbers.max(initial=0.5) < 1)


def check_rates(rates: FloatArray, what: str) -> None:
    """Refuse a rate that is not finite or not strictly between 0 and 1, with its position and value."""
    if rates.ndim != 1:
        raise RateError(f"{what} must be a row of numbers, not an array of shape {rates.shape}")
    if not _are_rates(rates):
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
