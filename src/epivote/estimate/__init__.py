"""Estimators: from ballots to an estimate.

base.py                 what all share: fit, results by name, scikit-learn's habits
amle.py, em.py          the estimators that iterate: their steps
climb.py                the loop around a step; checkpoint.py keeps where it has got to
ahead.py                where the next iteration had better start
maximum_likelihood.py   rates known
baselines.py            rules that count approvals
calibrated.py           any estimator, calibrated with gold
reproducibility.py      a check of confidence without gold; imitation.py simulates crowds like the given one
size_evidence.py        whether other size bounds explain the ballots better
auto.py                 method, priors and calibration chosen by evidence
workload.py             ballots under bounds: whole steps on any engine
objectives.py           the likelihood of sets and ballots, and of ballots alone
starts.py, history.py   first guesses; what is known of voters from before
probe.py                a sample that tells which way up a crowd is
groups.py               groups of instances with priors of their own: starts and steps
maximise.py             the most likely rates and priors
outcome.py              from the last state to an estimate
model.py, saving.py     what was learnt, by name and as a file
stream.py               ballots that arrive in batches
explain.py, reliability.py, review.py   why this set; how far to trust a voter; what needs more ballots
same_mistakes.py        pairs and groups of voters who err together
flags.py                reasons to look closer at a voter
"""
