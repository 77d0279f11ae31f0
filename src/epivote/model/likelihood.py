"""The objectives: the joint likelihood of ballots and sets, and the marginal one of ballots alone."""

from epivote.data.names import FloatArray, IntArray
from epivote.data.parameters import Parameters
from epivote.model.groups import GroupCounts
from epivote.model.products import dot
from epivote.model.sizes import log_size_mass
from epivote.model.statistics import Statistics


def log_likelihood_of(statistics: Statistics, parameters: Parameters) -> float:
    """Ln L(A, S, p, q, t) of all ballots and sets behind `statistics`.

    It needs only the sums: for every voter a binomial in p and one in q, for every alternative one in t, and for every
    group of instances the mass of its size bounds.
    """
    logs, times = parameters.logs, statistics.multiplicities
    return (
        _binomial(statistics.hits, statistics.winners_seen, logs.hit, logs.miss, times)
        + _binomial(statistics.false_alarms, statistics.losers_seen, logs.false_alarm, logs.rejection, times)
        + _binomial(statistics.occurrences, statistics.offered, logs.present, logs.absent)
        - _log_size_masses(statistics, parameters)
    )


def marginal_log_likelihood_of(statistics: Statistics, log_partition: float, parameters: Parameters) -> float:
    """Logarithm of P(ballots), the sets summed out: what EM raises.

    `log_partition` is the sum over instances of ln sum_S exp(margins in S). The margins measure every set against the
    empty one, so the rest is the likelihood of all ballots if nothing were right.
    """
    logs = parameters.logs
    return (
        log_partition
        + _if_nothing_were_right(statistics, parameters)
        + dot(statistics.offered, logs.absent)
        - _log_size_masses(statistics, parameters)
    )


def grouped_log_likelihood_of(statistics: Statistics, found: GroupCounts, parameters: Parameters) -> float:
    """The same where instances fall into groups, sets and groups summed out."""
    return found.log_likelihood + _if_nothing_were_right(statistics, parameters)


def _if_nothing_were_right(statistics: Statistics, parameters: Parameters) -> float:
    ticks = statistics.hits + statistics.false_alarms
    seen = statistics.winners_seen + statistics.losers_seen
    logs = parameters.logs
    return _binomial(ticks, seen, logs.false_alarm, logs.rejection, statistics.multiplicities)


def _log_size_masses(statistics: Statistics, parameters: Parameters) -> float:
    priors, total = parameters.priors, 0.0
    for group, count in statistics.groups.items():
        offered = priors[list(group.menu)] if group.menu else priors[: group.width]
        total += count * log_size_mass(offered, group.lower, group.upper)
    return total


def _binomial(
    successes: FloatArray,
    trials: FloatArray,
    log_rates: FloatArray,
    log_rest: FloatArray,
    times: IntArray | None = None,
) -> float:
    """Each entry counts so many times, or once if that is None."""
    if times is not None:
        successes, trials = times * successes, times * trials
    return dot(successes, log_rates) + dot(trials - successes, log_rest)
