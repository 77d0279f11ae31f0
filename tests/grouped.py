"""Instances in groups: small ones for brute force, and crowds whose alternatives go together."""

import numpy as np

import oracles
from epivote import Parameters, Truths, simulate
from small import small_election


def grouped_election(seed, groups=3, *, menus=False, **how):
    """An election, and parameters whose groups have priors of their own."""
    election = small_election(seed, menus=menus, **how)
    ballots = election.as_ballots()
    rng = np.random.default_rng(seed)
    known = election.parameters(ballots)
    priors = rng.uniform(0.05, 0.95, (groups, ballots.n_alternatives))
    return (
        election,
        ballots,
        Parameters.in_groups(known.hit_rates, known.false_alarm_rates, priors, shares(rng, groups)),
    )


def shares(rng, groups):
    drawn = rng.uniform(0.2, 1, groups)
    return drawn / drawn.sum()


def by_enumeration(election, ballots, parameters, instance, gold=None):
    """ln P(ballots) of one instance, and (group, set, probability) of all groups and sets."""
    names = ballots.alternatives
    priors = [dict(zip(names, row, strict=True)) for row in parameters.group_priors.tolist()]
    return oracles.grouped_posterior(
        instance,
        election.ballots,
        election.menus[instance],
        dict(zip(ballots.voters, parameters.hit_rates.tolist(), strict=True)),
        dict(zip(ballots.voters, parameters.false_alarm_rates.tolist(), strict=True)),
        priors,
        parameters.group_shares.tolist(),
        *election.bounds[instance],
        gold,
    )


def crowd_in_groups(seed, *, instances=300, groups=3, each=4, inside=0.6, outside=0.04, ballots=3):
    """A crowd, and the group of every instance: every group has `each` alternatives of its own, which go together."""
    rng = np.random.default_rng(seed)
    names = [f"a{j}" for j in range(groups * each)]
    of = rng.integers(groups, size=instances)
    truths = {}
    for group in range(groups):
        priors = np.full(len(names), outside)
        priors[group * each : group * each + each] = inside
        drawn = simulate(
            instances=instances, voters=1, alternatives=names, bounds=(1, 4), priors=priors, seed=rng.spawn(1)[0]
        ).gold
        truths |= {f"i{z + 1}": drawn[f"i{z + 1}"] for z in np.flatnonzero(of == group)}
    gold = Truths.from_mapping({f"i{z + 1}": truths[f"i{z + 1}"] for z in range(instances)}, alternatives=names)
    crowd = simulate(
        instances=instances,
        voters=40,
        alternatives=names,
        bounds=(1, 4),
        truths=gold,
        ballots_per_instance=ballots,
        spammers=0.2,
        seed=seed,
    )
    return crowd, of


def share_right(fitted, crowd):
    return np.mean([fitted.truth_[name] == crowd.gold[name] for name in crowd.ballots.instances])


def purity(found, of):
    """How many instances are in the true group that most of their found group are in."""
    return sum(np.bincount(of[found == group]).max() for group in np.unique(found)) / len(of)
