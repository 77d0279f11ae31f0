"""How far each voter's rates can be trusted, and which voters are flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epivote.data.any_ballots import AnyBallots
from epivote.data.ballots import Ballots
from epivote.data.estimate import Estimate, VoterCounts
from epivote.data.lists import Lists
from epivote.data.names import BoolArray, FloatArray, IntArray
from epivote.data.truths import Truths
from epivote.estimate.flags import Flag, FlagKind
from epivote.estimate.model import Model
from epivote.estimate.same_mistakes import Pair, joined, same_mistakes
from epivote.estimate.workload import InMemoryWorkload

FEW_ALTERNATIVES = 10  # true alternatives a voter must have seen before rates mean something; a round number
ALMOST = 0.95  # share of alternatives ticked, or of ballots shared, that counts as all; a round number
SHARED_FOR_COPY = 10  # instances two voters must share before one can look like a copy; a round number
SAME_MISTAKES = 3  # made by both, since agreement on the truth is no sign of copying; a round number
NUMBERS_PER_BLOCK = 4_000_000  # 32 MB of pairs of voters at a time
# Among which pairs of voters are compared: packed ballots, or the same mistakes; and copies in memory; round numbers.
BALLOTS_FOR_COPIES, MOST_FOR_COPIES = 200_000, 2_000_000
# Flags beside which the same mistakes are worth saying; copies, or all or nothing ticked, say more.
UNRELATED = (FlagKind.TOO_FEW_BALLOTS, FlagKind.WORSE_THAN_CHANCE, FlagKind.GUESSING)


@dataclass(frozen=True)
class VoterReport:
    """One voter: rates and weight with 0.95 intervals, and reasons to look closer.

    If `multiplicity` is more than 1, it is the report on each of so many voters with the same ballots.
    """

    voter: str
    ballots: int
    hit_rate: float
    hit_rate_interval: tuple[float, float]
    false_alarm_rate: float
    false_alarm_rate_interval: tuple[float, float]
    weight: float
    weight_interval: tuple[float, float]
    flags: tuple[Flag, ...]
    multiplicity: int = 1

    @property
    def label(self) -> str:
        """The voter's name, and how many voters it stands for if it is more than one."""
        return self.voter if self.multiplicity == 1 else f"{self.voter} (x {self.multiplicity:,})"


def voter_reports(estimate: Estimate, model: Model | None = None) -> list[VoterReport]:
    """A report on every voter of an estimate, or of the stream that learnt `model`.

    Of many ballots a sample of instances is looked at: for the same mistakes, and for near-copies.
    """
    model, ballots = model or Model.of(estimate), estimate.ballots
    if ballots.is_in_memory and ballots.n_ballots <= BALLOTS_FOR_COPIES:
        assert estimate.posterior is not None
        work, inclusion = InMemoryWorkload(ballots.in_memory(), estimate.bounds), estimate.posterior.inclusion
    else:
        sample = ballots.sample_instances(-(-ballots.n_ballots // BALLOTS_FOR_COPIES))
        work, parameters = InMemoryWorkload(sample, estimate.bounds), model.parameters_for(sample)
        inclusion = work.posterior(parameters, work.best_sets(parameters)).inclusion
    together = same_mistakes(work, inclusion, model.parameters_for(work.ballots))
    if ballots.is_in_memory:
        some, every = estimate, -(-ballots.n_ballots // MOST_FOR_COPIES)
        if every > 1:
            some = estimate.at(ballots.in_memory().sample_places(every))
        return reliability(model, ballots, some.ballots.in_memory(), some.truths, together)
    truths = work.truths(work.best_sets(model.parameters_for(work.ballots)))
    return reliability(model, ballots, work.ballots, truths, together)


def reliability(
    model: Model, ballots: AnyBallots, sample: Ballots, truths: Truths, together: Sequence[Pair] = ()
) -> list[VoterReport]:
    """A report on every voter of the model; copies are looked for in a sample of the ballots, with its sets.

    `together` are pairs who make the same mistakes.

    Intervals treat the (fractional) counts as binomial with half a count added on each side (Jeffreys), so they speak
    of the rates given the sets; doubt about the sets comes on top. Where shrinkage drew a rate beyond its interval the
    interval is stretched to hold it.
    """
    counts, rates = model.counts, model.parameters
    p_low, p_high = _beta_interval(counts.hits, counts.winners_seen)
    q_low, q_high = _beta_interval(counts.false_alarms, counts.losers_seen)
    low, high = _weight_intervals(counts)
    times = dict(zip(ballots.voters, _times(ballots).tolist(), strict=True))
    shared = {ballots.voters[i]: flag for i, flag in _same_mistakes(together, ballots.voters).items()}
    copies = {ballots.voters[i]: found for i, found in near_copies(sample, truths).items()}
    cast = dict(zip(ballots.voters, ballots.ballots_per_voter.tolist(), strict=True))
    reports = []
    for i, voter in enumerate(model.voters):
        p, q, weight = float(rates.hit_rates[i]), float(rates.false_alarm_rates[i]), float(rates.weights[i])
        interval = _holding(weight, low[i], high[i])
        ticks = counts.hits[i] + counts.false_alarms[i]
        seen = counts.winners_seen[i] + counts.losers_seen[i]
        flags = _flags(ticks, seen, counts.winners_seen[i], interval, copies.get(voter), ballots.voters)
        if voter in shared and all(flag.kind in UNRELATED for flag in flags):
            flags = (*flags, shared[voter])
        reports.append(
            VoterReport(
                voter,
                cast.get(voter, 0),
                p,
                _holding(p, p_low[i], p_high[i]),
                q,
                _holding(q, q_low[i], q_high[i]),
                weight,
                interval,
                flags,
                times.get(voter, 1),
            )
        )
    return reports


def _times(ballots: AnyBallots) -> IntArray:
    """How many voters each one stands for."""
    return np.ones(ballots.n_voters, np.int64) if ballots.multiplicities is None else ballots.multiplicities


def _holding(value: float, low: float, high: float) -> tuple[float, float]:
    return min(value, float(low)), max(value, float(high))


def _weight_intervals(counts: VoterCounts) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end of every voter's weight, from the counts with half a count added on each side."""
    hit, hit_variance = _log_odds(counts.hits, counts.winners_seen)
    alarm, alarm_variance = _log_odds(counts.false_alarms, counts.losers_seen)
    half = 1.96 * np.sqrt(hit_variance + alarm_variance)
    return hit - alarm - half, hit - alarm + half


def worse_than_chance(counts: VoterCounts) -> BoolArray:
    """Which voters are clearly worse than chance: their approvals count against an alternative."""
    return _weight_intervals(counts)[1] < 0


def upside_down(counts: VoterCounts, multiplicities: IntArray | None = None) -> bool:
    """Whether voters who are surely worse than chance make up most of the crowd, or the crowd as a whole is."""
    times = 1.0 if multiplicities is None else multiplicities
    table = np.array(counts)
    pooled = (times * table).sum(axis=1, keepdims=True)
    is_worse = worse_than_chance(VoterCounts(*np.concatenate((table, pooled), axis=1)))
    seen = times * (counts.winners_seen + counts.losers_seen)
    return bool(is_worse[-1] or seen[is_worse[:-1]].sum() > seen.sum() / 2)


def _flags(
    ticks: float,
    seen: float,
    winners: float,
    weight: tuple[float, float],
    copy: tuple[int, int, int] | None,
    voters: tuple[str, ...],
) -> tuple[Flag, ...]:
    flags = []
    if seen and ticks >= ALMOST * seen:
        flags.append(Flag(FlagKind.TICKS_EVERYTHING))
    elif seen and ticks <= (1 - ALMOST) / 5 * seen:
        flags.append(Flag(FlagKind.TICKS_NOTHING))
    same_ticks_everywhere = bool(flags)  # two such voters are alike, but neither copies the other
    if winners < FEW_ALTERNATIVES:
        flags.append(Flag(FlagKind.TOO_FEW_BALLOTS, right_seen=float(winners)))
    elif weight[1] < 0:
        flags.append(Flag(FlagKind.WORSE_THAN_CHANCE))
    elif weight[0] < 0 < weight[1]:
        flags.append(Flag(FlagKind.GUESSING))
    if copy is not None and not same_ticks_everywhere:
        other, identical, common = copy
        flags.append(Flag(FlagKind.NEAR_COPY, other=voters[other], identical=identical, common=common))
    return tuple(flags)


def _same_mistakes(pairs: Sequence[Pair], voters: tuple[str, ...]) -> dict[int, Flag]:
    """The flag of every voter in a group, which names the voter with whom the coincidence is most striking."""
    flags: dict[int, Flag] = {}
    for group in joined(pair[:2] for pair in pairs):
        for i in group:
            one, two, found, expected = next(pair for pair in pairs if i in pair[:2])
            other = two if i == one else one
            others = (voters[other], *(voters[k] for k in group if k not in (i, other)))
            flags[i] = Flag(FlagKind.SAME_MISTAKES, other=voters[other], others=others, same=found, expected=expected)
    return flags


def near_copies(ballots: Ballots, truths: Truths) -> dict[int, tuple[int, int, int]]:
    """For voters who answer almost exactly like another one: whom, on how many ballots, of how many in common.

    Two good voters agree because both are right; a copy also repeats mistakes, so identical ballots that differ from
    the returned set are asked for as well. Pairs are worked through in blocks, and most voters
    have no ballot like another's often enough to be looked at further: two who cast a and b ballots on n instances
    share at least a + b - n of them. A voter who stands for several is a copy of herself.
    """
    kinds, wrong = _ballot_kinds(ballots, truths)
    from scipy.sparse import csr_array

    n, alone = ballots.n_voters, _times(ballots) == 1
    ones = np.ones(ballots.n_ballots, np.int32)
    same_kind = csr_array((ones, (ballots.ballot_voter, kinds)), (n, int(kinds.max()) + 1))
    mistakes = csr_array((wrong.astype(np.int32), (ballots.ballot_voter, kinds)), same_kind.shape)
    answered = csr_array((ones, (ballots.ballot_voter, ballots.ballot_instance)), (n, ballots.n_instances))
    by_kind, by_mistake, by_instance = (table.T.tocsr() for table in (same_kind, mistakes, answered))
    found: dict[int, tuple[int, int, int]] = {}
    cast, step = np.bincount(ballots.ballot_voter, minlength=n), max(1, NUMBERS_PER_BLOCK // n)
    for begin in range(0, n, step):
        alike = same_kind[begin : begin + step] @ by_kind
        alike.setdiag(np.where(alone[begin : begin + step], 0, alike.diagonal(begin)), begin)
        pairs = alike.tocoo()
        one, two = begin + pairs.row, pairs.col
        least_shared = np.maximum(SHARED_FOR_COPY, cast[one] + cast[two] - ballots.n_instances)
        rows = np.unique(one[pairs.data >= ALMOST * least_shared])
        same = alike[rows - begin].toarray()
        shared, errors = (
            (table[rows] @ turned).toarray() for table, turned in ((answered, by_instance), (mistakes, by_mistake))
        )
        suspect = (shared >= SHARED_FOR_COPY) & (same >= ALMOST * shared) & (errors >= SAME_MISTAKES)
        suspect[np.arange(len(rows)), rows] &= ~alone[rows]
        for row in np.flatnonzero(suspect.any(axis=1)):
            other = int(np.argmax(np.where(suspect[row], same[row], -1)))
            found[int(rows[row])] = (other, int(same[row, other]), int(shared[row, other]))
    return found


def _ballot_kinds(ballots: Ballots, truths: Truths) -> tuple[IntArray, BoolArray]:
    """A number per distinct (instance, ticks), and whether the ballot differs from the returned set."""
    both = Lists.of_lengths(
        np.concatenate([truths.sizes, ballots.ballot_sizes]),
        np.concatenate([truths.members.astype(ballots.approved.dtype), ballots.approved]),
    )
    _, number = both.unique(ballots.n_alternatives)
    right, cast = number[: ballots.n_instances], number[ballots.n_instances :]
    cells = ballots.ballot_instance * (int(number.max()) + 1) + cast
    return np.unique(cells, return_inverse=True)[1].astype(np.int32), cast != right[ballots.ballot_instance]


def _beta_interval(successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
    from scipy.special import betaincinv

    a, b = successes + 0.5, np.maximum(trials - successes, 0.0) + 0.5
    return betaincinv(a, b, 0.025), betaincinv(a, b, 0.975)


def _log_odds(successes: FloatArray, trials: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log-odds of a rate and their variance."""
    yes, no = successes + 0.5, np.maximum(trials - successes, 0.0) + 0.5
    return np.log(yes / no), 1 / yes + 1 / no
