"""Formulas: arrays in, arrays out, nothing iterated to convergence.

In reading order:

    margins.py      log-odds of each alternative (Definitions 1 and 2)
    choose.py       the most likely set (Theorem 1)
    statistics.py   what sets say about voters and alternatives, as sums that add up
    voters.py       the most likely rates (Proposition 3); pseudo.py adds believed counts
    sizes.py        how large a random set is, and the probability of the size bounds; size_counter.py has the recursion
    priors.py       the most likely priors (Proposition 2, corrected); level.py and solve.py help,
                    menu_priors.py is for menus that differ
    likelihood.py   the objectives
    posterior.py    exact probabilities of sets and alternatives
    best_sets.py, top_sets.py, sets.py    the most probable sets, sets of highest utility, sets drawn at random
    passes.py       one pass over a shard: all of the above in one go
    kernels.py, soft_kernels.py    the same as compiled loops; compiling.py says when they pay
"""
