import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from epivote import Ballots, Truths, confusions
from epivote.evaluate.confusion import tick_counts
from strategies import draw_truths, elections


def counted(election, truths):
    """Brute force: every ballot, every pair."""
    pairs = {(k, j): 0 for k in election.alternatives for j in election.alternatives}
    single = {(what, j): 0 for what in ("right seen", "right ticked", "wrong seen", "wrong ticked") for j in election.alternatives}  # fmt: skip
    for (_, z), ticks in election.ballots.items():
        if z not in truths:
            continue
        for j in election.menus[z]:
            side = "right" if j in truths[z] else "wrong"
            single[f"{side} seen", j] += 1
            single[f"{side} ticked", j] += j in ticks
            for k in election.menus[z]:
                pairs[k, j] += k in truths[z] and k not in ticks and j not in truths[z] and j in ticks
    return pairs, single


@given(elections(max_voters=5, max_instances=5), st.data())
def test_equals_counting_ballot_by_ballot(election, data):
    ballots = election.as_ballots()
    sets = dict(draw_truths(data, election))
    for z in data.draw(st.sets(st.sampled_from(election.instances))):
        del sets[z]
    names = data.draw(st.permutations([*election.alternatives, "never offered"]))
    truths = Truths.from_mapping(sets, alternatives=names)
    pairs, single = counted(election, truths)
    found, ticks = confusions(ballots, truths), tick_counts(ballots, truths)
    for k, first in enumerate(ballots.alternatives):
        assert [ticks[0][k], ticks[1][k]] == [single["right seen", first], single["right ticked", first]]
        assert [ticks[2][k], ticks[3][k]] == [single["wrong seen", first], single["wrong ticked", first]]
        for j, second in enumerate(ballots.alternatives):
            assert found[k, j] == pairs[first, second]


def test_what_was_not_offered_is_not_missed():
    ballots = Ballots.from_mapping({("v", "z"): {"b"}, ("v", "y"): {"a"}}, menu={"z": ["b", "c"], "y": ["a"]})
    assert confusions(ballots, {"z": {"a", "c"}}).tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert not confusions(ballots, {}).any()
    assert confusions(ballots, {}).dtype == np.int64
