import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import Parameters, log_likelihood
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.voters import voter_step
from strategies import draw_truths, elections

FLOOR = 1e-4


@given(elections(), st.data())
def test_rates_are_shares_of_what_each_voter_saw(election, data):
    ballots = election.as_ballots()
    truths = draw_truths(data, election)
    task = InMemoryWorkload(ballots, election.size_bounds)
    before = election.parameters(ballots)
    p, q = voter_step(task.statistics(task.tables(truths)), before, FLOOR)
    for i, voter in enumerate(ballots.voters):
        hits = winners = alarms = losers = 0
        for (who, z), ballot in election.ballots.items():
            if who == voter:
                hits += len(ballot & truths[z])
                winners += len(truths[z])
                alarms += len(ballot - truths[z])
                losers += len(set(election.menus[z]) - truths[z])
        share_p = hits / winners if winners else before.hit_rates[i]
        share_q = alarms / losers if losers else before.false_alarm_rates[i]
        assert p[i] == pytest.approx(min(max(share_p, FLOOR), 1 - FLOOR))
        assert q[i] == pytest.approx(min(max(share_q, FLOOR), 1 - FLOOR))


@given(elections(menus=False), st.data())
def test_no_other_rates_are_more_likely(election, data):
    ballots = election.as_ballots()
    truths = draw_truths(data, election)
    task = InMemoryWorkload(ballots, election.size_bounds)
    before = election.parameters(ballots)
    best = Parameters(*voter_step(task.statistics(task.tables(truths)), before, FLOOR), before.priors)
    other = Parameters(
        np.array([data.draw(st.floats(FLOOR, 1 - FLOOR)) for _ in ballots.voters]),
        np.array([data.draw(st.floats(FLOOR, 1 - FLOOR)) for _ in ballots.voters]),
        before.priors,
    )
    top = log_likelihood(ballots, truths, best, election.size_bounds)
    assert top >= log_likelihood(ballots, truths, other, election.size_bounds) - 1e-9
