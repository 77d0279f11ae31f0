"""Brute force with sets, loops and math.log; imports nothing from the code it judges.

Ballots are {(voter, instance): set}, truths {instance: set}, rates and priors {name: number}, menus {instance: [names]},
bounds {instance: (lower, upper)}.
"""

import math
from itertools import combinations


def allowed_sets(menu, lower, upper):
    return [set(chosen) for size in range(lower, upper + 1) for chosen in combinations(menu, size)]


def prior_product(members, menu, priors):
    return math.prod(priors[a] if a in members else 1 - priors[a] for a in menu)


def size_mass(menu, priors, lower, upper):
    return math.fsum(prior_product(chosen, menu, priors) for chosen in allowed_sets(menu, lower, upper))


def mass_with(menu, priors, lower, upper, alternative):
    others = [a for a in menu if a != alternative]
    return math.fsum(
        prior_product(chosen - {alternative}, others, priors)
        for chosen in allowed_sets(menu, lower, upper)
        if alternative in chosen
    )


def mass_without(menu, priors, lower, upper, alternative):
    others = [a for a in menu if a != alternative]
    return math.fsum(
        prior_product(chosen, others, priors)
        for chosen in allowed_sets(menu, lower, upper)
        if alternative not in chosen
    )


def ballot_log_probability(ballot, members, menu, p, q):
    total = 0.0
    for alternative in menu:
        rate = p if alternative in members else q
        total += math.log(rate if alternative in ballot else 1 - rate)
    return total


def instance_log_likelihood(instance, members, ballots, menu, p, q, t, lower, upper):
    if not lower <= len(members) <= upper:
        return -math.inf
    total = math.log(prior_product(members, menu, t)) - math.log(size_mass(menu, t, lower, upper))
    for (voter, where), ballot in ballots.items():
        if where == instance:
            total += ballot_log_probability(ballot, members, menu, p[voter], q[voter])
    return total


def log_likelihood(ballots, truths, menus, p, q, t, bounds):
    return math.fsum(
        instance_log_likelihood(instance, members, ballots, menus[instance], p, q, t, *bounds[instance])
        for instance, members in truths.items()
    )


def all_log_likelihoods(instance, ballots, menu, p, q, t, lower, upper):
    """(set, log-likelihood) of every allowed set of one instance."""
    return [
        (chosen, instance_log_likelihood(instance, chosen, ballots, menu, p, q, t, lower, upper))
        for chosen in allowed_sets(menu, lower, upper)
    ]


def best_sets(instance, ballots, menu, p, q, t, lower, upper, tolerance=1e-9):
    scored = all_log_likelihoods(instance, ballots, menu, p, q, t, lower, upper)
    best = max(value for _, value in scored)
    return [chosen for chosen, value in scored if value >= best - tolerance]


def posterior(instance, ballots, menu, p, q, t, lower, upper):
    """(set, probability) of every allowed set of one instance."""
    scored = all_log_likelihoods(instance, ballots, menu, p, q, t, lower, upper)
    best = max(value for _, value in scored)
    weights = [math.exp(value - best) for _, value in scored]
    return [(chosen, weight / math.fsum(weights)) for (chosen, _), weight in zip(scored, weights, strict=True)]


def group_and_set_log_likelihoods(instance, ballots, menu, p, q, group_priors, shares, lower, upper):
    """(group, set, log-likelihood) of every group and every allowed set of one instance."""
    return [
        (group, chosen, math.log(shares[group]) + value)
        for group, priors in enumerate(group_priors)
        for chosen, value in all_log_likelihoods(instance, ballots, menu, p, q, priors, lower, upper)
    ]


def grouped_posterior(instance, ballots, menu, p, q, group_priors, shares, lower, upper, gold=None):
    """ln P(ballots, gold set) of one instance; (group, set, probability) of every group and every possible set."""
    scored = [
        each
        for each in group_and_set_log_likelihoods(instance, ballots, menu, p, q, group_priors, shares, lower, upper)
        if gold is None or each[1] == set(gold)
    ]
    best = max(value for _, _, value in scored)
    total = best + math.log(math.fsum(math.exp(value - best) for _, _, value in scored))
    return total, [(group, chosen, math.exp(value - total)) for group, chosen, value in scored]


def jaccard_distance(one, other, ballots):
    """Over all ticks on commonly answered instances; None if there is none."""
    common = {z for v, z in ballots if v == one} & {z for v, z in ballots if v == other}
    if not common:
        return None
    mine = {(z, a) for z in common for a in ballots[one, z]}
    theirs = {(z, a) for z in common for a in ballots[other, z]}
    return len(mine ^ theirs) / len(mine | theirs) if mine | theirs else 0.0


# Agreement: values are {unit: [value, ...]}


def krippendorff_alpha(values, distance):
    """1 - observed / expected distance over all ordered pairs; None where all values are equal or nobody can agree."""
    kept = {unit: found for unit, found in values.items() if len(found) > 1}
    everything = [value for found in kept.values() for value in found]
    if not everything:
        return None
    observed = math.fsum(
        distance(found[a], found[b]) / (len(found) - 1)
        for found in kept.values()
        for a in range(len(found))
        for b in range(len(found))
        if a != b
    ) / len(everything)
    expected = math.fsum(
        distance(everything[a], everything[b]) for a in range(len(everything)) for b in range(len(everything)) if a != b
    ) / (len(everything) * (len(everything) - 1))
    return 1 - observed / expected if expected else None


def nominal_distance(one, other):
    return float(one != other)


def set_jaccard_distance(one, other):
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def masi_distance(one, other):
    if one == other:
        return 0.0
    if not one & other:
        return 1.0
    nesting = 2 / 3 if one <= other or other <= one else 1 / 3
    return 1 - nesting * len(one & other) / len(one | other)
