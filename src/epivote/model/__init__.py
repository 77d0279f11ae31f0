"""The formulas of the paper: arrays in, arrays out, nothing iterated to convergence, nothing compiled.

In reading order, as the paper has them:

    margins.py        log-odds of each alternative (Definitions 1 and 2)
    choose.py         the most likely set (Theorem 1), and when others are as likely
    statistics.py     what sets say about voters and alternatives, as sums that add up
    voters.py         the most likely rates (Proposition 3); pseudo.py adds believed counts
    sizes.py          how large a random set is: beta
    size_counter.py   the recursion over set sizes behind it and behind everything below: both alphas
    priors.py         the most likely priors (Proposition 2, corrected); level.py moves them all together,
                      menu_priors.py is for menus that differ, solve.py finds where a function meets a target
    likelihood.py     the objectives; products.py adds up products

and what goes beyond the paper:

    posterior.py      exact probabilities of sets and alternatives
    probable_sets.py  the most probable sets of an instance, and sets drawn at random
    top_sets.py       the few most probable sets of many instances at once
    utilities.py      the set of highest expected utility
    set_odds.py       all of these for one shard, as one value; mixed_odds.py where instances fall into groups
    calibrated.py     log-odds translated by a calibration; gold_fit.py learns one from gold sets
    residuals.py      how much the mistakes of voters coincide
    groups.py         the pass over a shard of instances in groups
    passes.py         one pass over a shard: margins, then `choose` or probabilities, then sums

`epivote.kernels` has faster versions of some of these, and says when they pay.
"""
