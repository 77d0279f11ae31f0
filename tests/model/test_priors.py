import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from epivote import Ballots, InputError, Parameters, SizeBounds, log_likelihood
from epivote.estimate.workload import InMemoryWorkload
from epivote.model import level, size_counter, sizes
from epivote.model import priors as prior_steps
from epivote.model.level import in_box, level_is_free
from epivote.model.menu_priors import menu_objective
from epivote.model.priors import _coordinate, prior_step, prior_sweep, published_sweep, shared_prior, solved_priors
from epivote.model.size_counter import LogCounter, PlainCounter, counter_of
from strategies import FLOOR, counted, draw_truths, elections, sweeps


def prior_log_likelihood(statistics, priors):
    """By enumeration, from the definition."""
    total = 0.0
    for group, count in statistics.groups.items():
        menu = list(group.menu) or range(group.width)
        total -= count * np.log(oracles.size_mass(menu, priors, group.lower, group.upper))
    occurrences, offered = statistics.occurrences, statistics.offered
    return total + occurrences @ np.log(priors) + (offered - occurrences) @ np.log1p(-priors)


@given(elections(menus=False, max_instances=6), st.data())
def test_a_sweep_never_lowers_the_likelihood(election, data):
    ballots = election.as_ballots()
    truths = draw_truths(data, election)
    task = InMemoryWorkload(ballots, election.size_bounds)
    statistics = task.statistics(task.tables(truths))
    before = election.parameters(ballots)
    after = Parameters(before.hit_rates, before.false_alarm_rates, prior_sweep(statistics, before.priors, FLOOR))
    gained = log_likelihood(ballots, truths, after, election.size_bounds) - log_likelihood(
        ballots, truths, before, election.size_bounds
    )
    assert gained >= -1e-9


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.data())
def test_each_coordinate_is_the_maximiser_of_proposition_2(occurrences, data):
    m = len(occurrences)
    lower = data.draw(st.integers(0, m - 1))
    upper = data.draw(st.integers(lower + 1, m))
    t = np.array(data.draw(st.lists(st.floats(0.05, 0.95), min_size=m, max_size=m)))
    statistics = counted(occurrences, 9, lower, upper)
    limits = prior_steps._BoxLimits(FLOOR)
    theta = prior_steps._sweep(
        statistics.occurrences, np.log(t / (1 - t)), statistics.groups, limits, prior_steps.NO_BELIEF
    )
    swept = in_box(theta, FLOOR)
    for j in range(m):
        partly = np.concatenate([swept[: j + 1], t[j + 1 :]])
        menu, priors = range(m), dict(enumerate(partly))
        with_ = oracles.mass_with(menu, priors, lower, upper, j)
        without = oracles.mass_without(menu, priors, lower, upper, j)
        exact = occurrences[j] * without / (occurrences[j] * without + (9 - occurrences[j]) * with_)
        assert swept[j] == pytest.approx(min(max(exact, FLOOR), 1 - FLOOR), rel=1e-9)
        best = prior_log_likelihood(statistics, partly)
        for other in (0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, swept[j] * 0.99, 1 - (1 - swept[j]) * 0.99):
            moved = partly.copy()
            moved[j] = np.clip(other, FLOOR, 1 - FLOOR)
            assert prior_log_likelihood(statistics, moved) <= best + 1e-9


@given(st.lists(st.integers(1, 8), min_size=2, max_size=5), st.data())
def test_solved_priors_make_expected_frequencies_equal_to_observed_ones(occurrences, data):
    m = len(occurrences)
    lower = data.draw(st.integers(0, m - 1))
    upper = data.draw(st.integers(lower + 1, m))
    statistics = counted(occurrences, 9, lower, upper)
    t = solved_priors(statistics, np.full(m, 0.5), FLOOR)
    beta = oracles.size_mass(range(m), t, lower, upper)
    for j in range(m):
        expected = 9 * t[j] * oracles.mass_with(range(m), t, lower, upper, j) / beta
        if FLOOR * 1.001 < t[j] < 1 - FLOOR * 1.001:
            assert expected == pytest.approx(occurrences[j], abs=1e-6)
        else:
            assert (expected - occurrences[j]) * (0.5 - t[j]) >= -1e-6, "at an edge the slope points outwards"


@pytest.mark.parametrize(
    ("occurrences", "total", "lower", "upper"),
    [
        ([1, 3, 2, 1, 1], 4, 1, 2),  # the paper's Example 2: every set has the largest size
        ([5, 3, 4, 5, 3], 20, 1, 3),  # every set has the smallest size
        ([10, 10, 10, 9, 1], 10, 1, 4),  # one alternative always right, every set of size 4
        (list(range(1, 51)), 425, 1, 3),  # 50 alternatives, every set of size 3
    ],
)
def test_the_common_level_does_not_crawl_when_every_set_sits_at_a_bound(occurrences, total, lower, upper, monkeypatch):
    statistics = counted(occurrences, total, lower, upper)
    t = np.full(len(occurrences), 0.5)
    for sweep in range(1, 100):
        following = prior_sweep(statistics, t, FLOOR)
        change = np.max(np.abs(following - t))
        t = following
        if change <= 1e-5:
            break
    assert sweep <= 12
    monkeypatch.setattr(prior_steps, "shift_level", lambda theta, *_: theta)
    t = np.full(len(occurrences), 0.5)
    for _ in range(sweep):
        t = prior_sweep(statistics, t, FLOOR)
    assert np.max(np.abs(prior_sweep(statistics, t, FLOOR) - t)) > 1e-5, "without the common step it still crawls"


@given(st.lists(st.integers(1, 6), min_size=3, max_size=6), st.data())
def test_with_one_allowed_size_priors_add_up_to_it_and_do_not_depend_on_the_start(occurrences, data):
    m = len(occurrences)
    size = data.draw(st.integers(1, m - 1))
    total = sum(occurrences) / size
    if max(occurrences) >= total:
        return
    statistics = counted(occurrences, total, size, size)
    starts = [np.array(data.draw(st.lists(st.floats(0.05, 0.95), min_size=m, max_size=m))) for _ in range(2)]
    one, other = (solved_priors(statistics, start, FLOOR) for start in starts)
    assert one.sum() == pytest.approx(size)
    np.testing.assert_allclose(one, other, atol=1e-7)


@given(elections(menus=True), st.data())
def test_the_shared_prior_is_the_best_one(election, data):
    ballots = election.as_ballots()
    truths = draw_truths(data, election)
    task = InMemoryWorkload(ballots, election.size_bounds)
    best = shared_prior(task.statistics(task.tables(truths)), FLOOR)
    before = election.parameters(ballots)

    def value(prior):
        shared = Parameters(before.hit_rates, before.false_alarm_rates, np.full(ballots.n_alternatives, prior))
        return log_likelihood(ballots, truths, shared, election.size_bounds)

    for other in np.clip([0, 0.01, 0.2, 0.5, 0.8, 0.99, 1, best * 0.98, 1 - (1 - best) * 0.98], FLOOR, 1 - FLOOR):
        assert value(other) <= value(best) + 1e-8


@given(elections(menus=True, min_instances=2), st.data())
def test_priors_per_alternative_with_differing_menus_rise_to_the_optimum(election, data):
    ballots = election.as_ballots()
    if ballots.menu is None:
        return
    truths = draw_truths(data, election)
    task = InMemoryWorkload(ballots, election.size_bounds)
    statistics = task.statistics(task.tables(truths), by_menu=True)
    t = election.parameters(ballots).priors
    value = prior_log_likelihood(statistics, t)
    solved = solved_priors(statistics, t, FLOOR)
    assert prior_log_likelihood(statistics, solved) >= value - 1e-9
    np.testing.assert_allclose(prior_step(statistics, solved, FLOOR), solved, atol=1e-4)
    _, slope = menu_objective(statistics, np.log(solved / (1 - solved)), prior_steps.NO_BELIEF)
    inside = (solved > FLOOR * 1.01) & (solved < 1 - FLOOR * 1.01)
    if level_is_free(statistics) and 0 < statistics.occurrences.sum() < statistics.offered.sum():
        assert solved @ statistics.offered == pytest.approx(statistics.occurrences.sum(), rel=1e-6)
    elif not level_is_free(statistics):
        np.testing.assert_allclose(slope[inside], 0, atol=1e-4)


def test_the_printed_formula_exchanges_the_masses_and_can_lower_the_likelihood():
    statistics = counted([1, 3, 2, 1, 1], 4, 1, 2)
    start = np.full(5, 0.5)
    printed = published_sweep(statistics, start, FLOOR)
    assert printed == pytest.approx([0.143, 0.652, 0.348, 0.168, 0.211], abs=5e-4)
    assert prior_log_likelihood(statistics, printed) < prior_log_likelihood(statistics, start)
    assert prior_log_likelihood(statistics, prior_sweep(statistics, start, FLOOR)) > prior_log_likelihood(
        statistics, start
    )


def test_the_printed_formula_is_refused_where_it_is_not_defined():
    two_bounds = counted([1, 1], 2, 0, 1) + counted([1, 1], 2, 1, 2)
    with pytest.raises(InputError, match="prior_update='published' is defined for one pair of size bounds"):
        published_sweep(two_bounds, np.full(2, 0.5), FLOOR)


@given(
    st.tuples(st.floats(0.01, 1e5), st.floats(0.01, 1e5)),
    st.tuples(st.floats(-14, 14), st.floats(-14, 14)),
    st.floats(1e-6, 1 - 1e-6),
)
def test_two_groups_meet_the_occurrences_as_any_number_of_groups_does(counts, pulls, share):
    occurrences = share * sum(counts)
    theta = _coordinate(occurrences, counts, pulls, 0.0, -1e3, 1e3)
    expected = sum(count / (1 + np.exp(-(theta + pull))) for count, pull in zip(counts, pulls, strict=True))
    assert expected == pytest.approx(occurrences, rel=1e-9)


@given(
    st.lists(st.floats(-9, 9), min_size=1, max_size=9),
    st.integers(0, 9),
    st.integers(0, 9),
    st.lists(st.floats(-9, 9), min_size=9, max_size=9),
)
def test_plain_numbers_count_as_logarithms_do(theta, lower, more, new):
    lower = min(lower, len(theta))
    upper = min(lower + more, len(theta))
    plain = PlainCounter(theta, lower, upper)
    logs = LogCounter(np.array(theta), lower, upper)
    for j in range(len(theta)):
        assert plain.pull(j) == pytest.approx(logs.pull(j), rel=1e-9, abs=1e-9)
        plain.advance(new[j])
        logs.advance(new[j])


def test_many_or_extreme_alternatives_are_counted_in_logarithms():
    assert isinstance(counter_of(np.zeros(5), 1, 2, 9.0), PlainCounter)
    assert isinstance(counter_of(np.zeros(500), 1, 2, 9.0), LogCounter)
    assert isinstance(counter_of(np.full(5, 400.0), 1, 2, 9.0), LogCounter)


def in_plain_numbers_and_in_logarithms(work):
    """What work returns when plain numbers are used wherever they suffice, and when they never are."""
    with pytest.MonkeyPatch.context() as patch:
        plain = work()
        patch.setattr(size_counter, "MAX_LOG_PRODUCT", 0.0)
        patch.setattr(sizes, "MAX_LOG_PRODUCT", 0.0)
        return plain, work()


@given(sweeps(), st.booleans(), st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_sweeps_in_plain_numbers_and_in_logarithms_agree(case, believing, present, absent):
    statistics, t = case
    belief = level.Belief(present, absent) if believing else level.NO_BELIEF
    plain, logs = in_plain_numbers_and_in_logarithms(lambda: prior_sweep(statistics, t, FLOOR, belief))
    np.testing.assert_allclose(plain, logs, rtol=1e-8)


@given(sweeps())
def test_masses_in_plain_numbers_and_in_logarithms_agree(case):
    statistics, t = case
    ((lower, upper, *_),) = statistics.groups
    plain, logs = in_plain_numbers_and_in_logarithms(lambda: sizes.log_size_mass(t, lower, upper))
    assert plain == pytest.approx(logs, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("belief", [level.Belief(0.0, 2.0), level.Belief(2.0, 0.0)])
def test_a_belief_in_presence_or_in_absence_alone_counts(belief):
    parts = [[True, False, False], [True, True, False], [False, True, False], [True, False, True]]
    ballots = Ballots.from_array(np.ones((len(parts), 1, 3), bool))
    task = InMemoryWorkload(ballots, SizeBounds(1, 2))
    statistics = task.statistics([np.array(parts)])
    start = np.array([0.3, 0.4, 0.5])
    found = prior_sweep(statistics, start, FLOOR, belief)
    nearly = prior_sweep(statistics, start, FLOOR, level.Belief(belief.present + 1e-12, belief.absent + 1e-12))
    np.testing.assert_allclose(found, nearly, rtol=1e-8)
