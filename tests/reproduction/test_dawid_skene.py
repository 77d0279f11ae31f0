"""crowd-kit's Dawid-Skene is the same model as EM without shrinkage, once it is not stopped on its way."""

import pytest

from epivote import EM, Beta, simulate
from experiments.dawid_skene import LONG, run_on

pytest.importorskip("crowdkit", reason="crowd-kit is not installed: pip install crowd-kit")
NOISY = {"hit_rates": Beta(6, 4), "false_alarm_rates": Beta(3, 6)}


@pytest.mark.parametrize("seed", range(4))
def test_run_on_it_finds_what_em_finds(seed):
    crowd = simulate(instances=60, voters=14, alternatives=5, bounds=(0, None), priors=0.3, seed=seed, **NOISY)
    found = run_on(crowd.ballots)
    assert found.iterations == LONG
    em = EM((0, None), shrinkage=0, priors="shared").fit(crowd.ballots)
    assert found.sets == em.truth_
    assert found.sets != crowd.gold, "too easy to tell anything"
