import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.choose import choose, count_optimal, optimal_sets, room
from strategies import elections

whole_margins = st.lists(st.integers(-2, 2), min_size=1, max_size=6)


@given(elections())
def test_the_truth_step_beats_every_allowed_set(election):
    ballots = election.as_ballots()
    task = InMemoryWorkload(ballots, election.size_bounds)
    truths = task.truths(task.truth_step(election.parameters(ballots)))
    for z in election.instances:
        best = oracles.best_sets(
            z, election.ballots, election.menus[z], election.p, election.q, election.t, *election.bounds[z]
        )
        assert set(truths[z]) in best


@given(whole_margins, st.data())
def test_equally_likely_sets_are_counted_and_listed(margins, data):
    lower = data.draw(st.integers(0, len(margins)))
    upper = data.draw(st.integers(lower, len(margins)))
    row = np.array(margins, float)
    values = {frozenset(s): sum(margins[j] for j in s) for s in oracles.allowed_sets(range(len(margins)), lower, upper)}
    best = {chosen for chosen, value in values.items() if value == max(values.values())}
    found = list(optimal_sets(row, lower, upper))
    assert {frozenset(one) for one in found} == best
    assert len(found) == len(best) == count_optimal(row, lower, upper)
    assert set(found[0]) == set(np.flatnonzero(choose(row[None, :], lower, upper)[0])), "the chosen set comes first"


@given(whole_margins, st.data())
def test_among_equals_the_largest_set_and_the_first_listed_win(margins, data):
    lower = data.draw(st.integers(0, len(margins)))
    upper = data.draw(st.integers(lower, len(margins)))
    chosen = {int(j) for j in np.flatnonzero(choose(np.array([margins], float), lower, upper)[0])}
    sets = oracles.allowed_sets(range(len(margins)), lower, upper)
    best = max(sum(margins[j] for j in s) for s in sets)
    equals = [s for s in sets if sum(margins[j] for j in s) == best]
    largest = [s for s in equals if len(s) == max(len(s) for s in equals)]
    assert chosen == min(largest, key=sorted)


def test_rounding_noise_does_not_decide_a_tie():
    margins = np.array([[0.1 + 0.2 - 0.3, 0.3 - 0.1 - 0.2, -1.0]])
    assert choose(margins, 0, 3).tolist() == [[True, True, False]]
    assert choose(margins, 1, 1).tolist() == [[True, False, False]]


def test_too_many_ties_to_list_are_still_counted():
    assert count_optimal(np.zeros(200), 0, 200) == 2**200


@given(st.lists(st.lists(st.floats(-3, 3), min_size=4, max_size=4), min_size=1, max_size=5), st.data())
def test_while_margins_move_within_their_room_the_sets_stay(rows, data):
    lower = data.draw(st.integers(0, 4))
    upper = data.draw(st.integers(lower, 4))
    margins = np.array(rows)
    chosen = choose(margins, lower, upper)
    free = room(margins, chosen)
    if free > 0:
        up_or_down = st.lists(st.sampled_from((-1.0, -0.5, 0.5, 1.0)), min_size=4, max_size=4)
        moved = margins + 0.999 * free * np.array([data.draw(up_or_down) for _ in rows])
        np.testing.assert_array_equal(choose(moved, lower, upper), chosen)


def test_the_room_ends_where_a_sign_changes_or_an_outsider_comes_level():
    assert room(np.array([[3.0, -0.25], [2.0, -4.0]]), np.array([[True, False]] * 2)) == 0.25 - 1e-9
    assert room(np.array([[3.0, 2.5, 1.0]]), np.array([[True, False, False]])) == 0.25 - 1e-9
    assert room(np.array([[3.0, 5.0]]), np.array([[True, False]])) < 0, "a given set that is not the most likely one"
    assert room(np.array([[1.0, 1.0]]), np.array([[True, False]])) < 0, "a tie"


def test_of_many_equals_those_listed_first_win():
    """More than a sort that does not keep the order of equals would leave alone."""
    margins = np.tile([-1.0, -2.0], (3, 60))
    chosen = choose(margins, 7, 7)
    assert np.flatnonzero(chosen[0]).tolist() == [0, 2, 4, 6, 8, 10, 12]
    chosen = choose(-margins, 0, 61)
    assert np.flatnonzero(chosen[2]).tolist() == [0, *range(1, 120, 2)]
