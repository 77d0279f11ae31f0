"""Small elections drawn by seed, for comparing with brute force."""

import random

import oracles
from epivote import MaximumLikelihood, SizeBounds
from strategies import Election


def small_election(seed, *, voters=4, instances=5, alternatives=4, menus=None, own_bounds=True, least=0):
    """An election like those of `strategies.elections`, quicker to draw; `menus` says whether instances have menus."""
    rng = random.Random(seed)
    has_menus = rng.random() < 0.5 if menus is None else menus
    names = [f"v{i}" for i in range(voters)]
    places = [f"z{z}" for z in range(instances)]
    choices = [f"a{j}" for j in range(alternatives)]
    offered = {
        z: sorted(rng.sample(choices, rng.randint(2, alternatives))) if has_menus else list(choices) for z in places
    }
    ballots = {}
    for z in places:
        who = sorted(rng.sample(names, rng.randint(1, voters)))
        for v in who:
            ballots[v, z] = {a for a in offered[z] if rng.random() < 0.45}
    smallest = min(map(len, offered.values()))
    lower = rng.randint(least, smallest - 1)
    upper = rng.randint(lower, alternatives)
    own = {}
    for z in places if own_bounds else ():
        if rng.random() < 0.4:
            low = rng.randint(least, len(offered[z]))
            own[z] = (low, rng.randint(low, len(offered[z])))
    pairs = {z: own.get(z, (lower, upper)) for z in places}
    return Election(
        voters=names,
        instances=places,
        alternatives=choices,
        ballots=ballots,
        menus=offered,
        bounds={z: (low, min(high, len(offered[z]))) for z, (low, high) in pairs.items()},
        p={v: rng.uniform(0.05, 0.95) for v in names},
        q={v: rng.uniform(0.05, 0.95) for v in names},
        t={a: rng.uniform(0.1, 0.9) for a in choices},
        has_menus=has_menus,
        size_bounds=SizeBounds(lower, upper, own),
    )


def with_known_rates(election):
    """The rule that is told the election's rates."""
    return MaximumLikelihood(election.p, election.q, election.t, election.size_bounds)


def rates_of(fitted):
    """Hit rates, false-alarm rates and priors by name."""
    ballots, found = fitted.estimate_.ballots, fitted.parameters_
    return (
        dict(zip(ballots.voters, found.hit_rates.tolist(), strict=True)),
        dict(zip(ballots.voters, found.false_alarm_rates.tolist(), strict=True)),
        dict(zip(ballots.alternatives, found.priors.tolist(), strict=True)),
    )


def posterior_of(election, fitted, instance):
    """Every allowed set of one instance with its probability under the rates found, by enumeration."""
    return oracles.posterior(
        instance, election.ballots, election.menus[instance], *rates_of(fitted), *election.bounds[instance]
    )
