"""Pure mathematics: arrays in, arrays out, nothing iterated to convergence.

Reading order: `margins` (Definitions 1 and 2), `choose` (Theorem 1), `statistics` (what a set of answers says about
voters), `voters` (Proposition 3), `sizes` and `priors` (Proposition 2, corrected), `likelihood`, `posterior`.
"""
