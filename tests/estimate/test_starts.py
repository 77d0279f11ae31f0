import numpy as np
import pytest
from hypothesis import given

import oracles
from epivote import Ballots, SizeBounds, simulate
from epivote.estimate import starts
from epivote.kernels.pairs import distances_met
from strategies import elections


@given(elections(max_voters=5, menus=False, per_instance=False))
def test_distances_are_over_commonly_answered_instances(election):
    ballots = election.as_ballots()
    found = dict(zip(ballots.voters, starts.total_distances(ballots), strict=True))
    means = {}
    for one in ballots.voters:
        known = [oracles.jaccard_distance(one, other, election.ballots) for other in ballots.voters if other != one]
        known = [distance for distance in known if distance is not None]
        means[one] = sum(known) / len(known) if known else None
    others = [mean for mean in means.values() if mean is not None]
    for voter, mean in means.items():
        if mean is None:
            mean = sum(others) / len(others) if others else 1.0
        assert found[voter] == pytest.approx(mean * (ballots.n_voters - 1), abs=1e-9)


def test_blocks_and_sparse_products_give_the_same_distances(monkeypatch):
    ballots = simulate(instances=60, voters=40, alternatives=6, bounds=(1, 3), coverage=0.2, seed=1).ballots
    dense = starts.total_distances(ballots)
    monkeypatch.setattr(starts, "NUMBERS_PER_BLOCK", 7 * 40)
    np.testing.assert_allclose(starts.total_distances(ballots), dense, rtol=1e-12)
    monkeypatch.setattr(starts, "DENSE_CELLS", 0)
    np.testing.assert_allclose(starts.total_distances(ballots), dense, rtol=1e-12)


@pytest.mark.parametrize(
    "ballots",
    [
        {("v", "z"): {"a"}},
        {("v", "z"): {"a"}, ("w", "z"): {"b"}},
        {(v, "z"): {"a"} for v in "uvw"},
        {("v", "y"): {"a"}, ("w", "z"): {"a"}},
    ],
    ids=["one voter", "two voters", "identical voters", "nobody shares an instance"],
)
def test_equal_distances_give_equal_weights(ballots):
    p, q = starts.anna_karenina(Ballots.from_mapping(ballots))
    assert set(p) == {0.5}
    assert len(set(q.round(12))) == 1
    assert np.log(p * (1 - q) / (q * (1 - p))) == pytest.approx(0.5)


def test_the_closest_voter_weighs_n_times_the_farthest():
    crowd = simulate(instances=20, voters=9, alternatives=5, bounds=(1, 2), seed=4)
    p, q = starts.anna_karenina(crowd.ballots)
    weights = np.log(p * (1 - q) / (q * (1 - p)))
    assert weights.max() == pytest.approx(9 / 10)
    assert weights.max() / weights.min() == pytest.approx(9)
    assert starts.total_distances(crowd.ballots).argmin() == weights.argmax()


def test_a_voter_who_agrees_with_all_others_is_no_division_by_zero():
    weights = starts.anna_karenina_weights(np.array([0.0, 1.0, 2.0]))
    assert weights[0] == pytest.approx(0.75)
    assert np.all(np.isfinite(weights))


def test_random_starts_lie_in_the_ranges_of_the_appendix():
    ballots = simulate(instances=2, voters=500, alternatives=3, bounds=1, seed=0).ballots
    p, q = starts.random(ballots, np.random.default_rng(0))
    assert 0.5 < p.min() < 0.51
    assert 0.99 < p.max() < 1
    assert 0 < q.min() < 0.01
    assert 0.49 < q.max() < 0.5


@pytest.mark.slow
def test_twenty_thousand_voters_need_no_square_matrix():
    import resource

    ballots = simulate(instances=8000, voters=20_000, alternatives=5, bounds=(1, 2), ballots_per_instance=15).ballots
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    distances = starts.total_distances(ballots)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert len(distances) == 20_000
    assert np.isfinite(distances).all()
    assert grown < 20_000**2 * 8 / 4, "a matrix of all pairs would be 3.2 GB"


@pytest.mark.parametrize(("instances", "voters"), [(60, 30), (900, 12), (40, 200)])
def test_pairs_one_by_one_give_the_same_distances(instances, voters):
    ballots = simulate(
        instances=instances, voters=voters, alternatives=6, bounds=(1, 2), ballots_per_instance=4, seed=2
    ).ballots
    total, met = starts._by_products(ballots)
    again, met_again = starts._by_pairs(ballots)
    np.testing.assert_array_equal(met_again, met)
    np.testing.assert_allclose(again, total, rtol=1e-12)


def test_of_very_many_pairs_a_part_chosen_by_name_makes_the_start(monkeypatch):
    ballots = simulate(
        instances=4000, voters=20, alternatives=6, bounds=(1, 2), ballots_per_instance=5, spammers=0.3, seed=2
    ).ballots
    _, whole = starts.anna_karenina(ballots)
    monkeypatch.setattr(starts, "ENOUGH_PAIRS", 8000)
    _, few = starts.anna_karenina(ballots)
    assert not np.array_equal(few, whole)
    assert np.corrcoef(few, whole)[0, 1] > 0.9
    backwards = {(voter, instance): ticks for (voter, instance), ticks in reversed(list(ballots.items()))}
    reordered = Ballots.from_mapping(backwards, alternatives=ballots.alternatives)
    _, again = starts.anna_karenina(reordered)
    by_name = dict(zip(reordered.voters, again, strict=True))
    np.testing.assert_allclose([by_name[voter] for voter in ballots.voters], few, rtol=1e-12)


@pytest.mark.parametrize("upper", [0, 1, 2, 4, 5, None])
def test_ticks_are_too_many_if_clearly_more_than_can_be_right(upper):
    ballots = Ballots.from_mapping(
        {("v", "x"): set("abc"), ("v", "y"): set(), ("w", "x"): set("abcd")}, alternatives=list("abcd")
    )
    most = 3 * min(4, 4 if upper is None else upper)
    assert starts.tick_too_much(ballots, SizeBounds(0, upper)) == (1.1 * most < 7)
    everywhere = SizeBounds(0, upper, per_instance={"x": (0, upper), "nowhere": (1, 1)})
    assert starts.tick_too_much(ballots, everywhere) == (1.1 * most < 7)


def test_a_thinned_part_is_chosen_by_name_and_holds_what_is_wanted():
    ballots = simulate(instances=500, voters=9, alternatives=4, bounds=(1, 2), seed=2).ballots
    part = ballots.sample_instances(10, include=[ballots.instances[3], "no such instance"])
    assert ballots.sample_instances(1) is ballots
    assert ballots.instances[3] in part.instances
    assert 20 < part.n_instances < 90
    assert part == ballots.select(instances=part.instances)
    fewer = ballots.select(instances=ballots.instances[250:]).sample_instances(10)
    assert set(fewer.instances) == set(ballots.sample_instances(10).instances) & set(ballots.instances[250:])


def test_large_sparse_crowds_start_from_pairs(monkeypatch):
    monkeypatch.setattr(starts, "DENSE_CELLS", 100)
    ballots = simulate(instances=50, voters=9, alternatives=6, bounds=(1, 2), ballots_per_instance=4, seed=2).ballots
    expected = starts.total_distances(ballots)
    monkeypatch.setattr(starts, "FEW_BALLOTS", 0)
    np.testing.assert_allclose(starts.total_distances(ballots), expected, rtol=1e-12)


def test_distances_of_pairs_are_the_same_to_the_last_bit_by_compiled_loops_and_by_sorting():
    ballots = simulate(
        instances=60, voters=9, alternatives=6, bounds=(1, 2), ballots_per_instance=4, spammers=0.3, seed=2
    ).ballots
    cast = {**dict(ballots.items()), ("met only", "both empty"): (), ("by her", "both empty"): ()}
    ballots = Ballots.from_mapping(cast, alternatives=ballots.alternatives)
    for compiled, by_sorting in zip(distances_met(ballots), starts._met_sorted(ballots), strict=True):
        np.testing.assert_array_equal(compiled, by_sorting)


@pytest.mark.parametrize("instances", [511, 512, 1100])
def test_voters_who_meet_on_very_many_ticks_are_counted_in_full(instances):
    ticks = np.ones((instances, 3, 64))
    ticks[:, 2, 40:] = 0
    ballots = Ballots.from_array(ticks)
    total, met = distances_met(ballots)
    np.testing.assert_allclose(total.sum(axis=0), [1 - 40 / 64, 1 - 40 / 64, 2 - 80 / 64])
    np.testing.assert_array_equal(met.sum(axis=0), [2, 2, 2])


def test_random_starts_are_drawn_voter_by_voter_first_hit_rates_then_false_alarm_rates():
    ballots = simulate(instances=2, voters=9, alternatives=3, bounds=1, seed=0).ballots
    p, q = starts.random(ballots, np.random.default_rng(5))
    drawn = np.random.default_rng(5).random(18)
    np.testing.assert_allclose(p, 0.5 + drawn[:9] * (0.5 - 1e-4), rtol=1e-12)
    np.testing.assert_allclose(q, 1e-4 + drawn[9:] * (0.5 - 1e-4), rtol=1e-12)


@pytest.mark.parametrize(
    ("most_ballots", "n_pairs", "n_ballots", "n_voters", "step"),
    [
        (50, 1_000_000, 10**9, 3, 1),
        (50, 1_000_001, 10**9, 3, 2),
        (50, 2_000_000, 10**9, 3, 2),
        (50, 2_000_001, 10**9, 3, 3),
        (50, 2_000_000, 10**9, 20_000, 1),
        (50, 2_000_001, 10**9, 20_000, 2),
        (51, 10**9, 20_000_000, 3, 1),
        (51, 10**9, 20_000_001, 3, 2),
        (51, 10**9, 40_000_001, 3, 3),
    ],
)
def test_a_part_is_taken_of_a_million_pairs_or_of_twenty_million_ballots(
    most_ballots, n_pairs, n_ballots, n_voters, step
):
    small = simulate(instances=4, voters=3, alternatives=3, bounds=1, seed=0).ballots
    asked = []

    class Many:
        def sample_instances(self, step):
            asked.append(step)
            return small

    for name, value in (
        *(
            ("most_ballots", most_ballots),
            ("n_pairs", n_pairs),
            ("n_ballots", n_ballots),
            ("n_voters", n_voters),
            ("total_voters", n_voters),
        ),
    ):
        setattr(Many, name, value)
    starts.anna_karenina(Many())
    assert asked == [step]


@pytest.mark.parametrize("width", [63, 64, 65, 66])
@pytest.mark.parametrize("compiled", [False, True])
def test_pairs_of_voters_on_wide_menus_are_as_far_apart_as_brute_force_says(width, compiled, monkeypatch, use_loops):
    rng = np.random.default_rng(width)
    names = [f"a{j:02}" for j in range(width)]
    cast = {
        (f"v{v}", f"z{z}"): {name for name in names if rng.random() < 0.3} | {names[-1]}
        for z in range(6)
        for v in rng.choice(5, 3, replace=False)
    }
    ballots = Ballots.from_mapping(cast, alternatives=names)
    monkeypatch.setattr(starts, "DENSE_CELLS", 0)
    use_loops(compiled)
    found = dict(zip(ballots.voters, starts.total_distances(ballots), strict=True))
    for one in ballots.voters:
        pairs = [oracles.jaccard_distance(one, other, cast) for other in ballots.voters if other != one]
        known = [distance for distance in pairs if distance is not None]
        assert found[one] == pytest.approx(sum(known) / len(known) * (ballots.n_voters - 1), abs=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("cast", "expected"),
    [
        ({("v", "x"): {"a"}, ("w", "y"): {"a"}}, [1, 1]),
        ({("v", "x"): {"a"}, ("w", "x"): {"a", "b"}, ("u", "y"): {"a"}}, [1, 1, 1]),
        ({("v", "x"): set(), ("w", "x"): set()}, [0, 0]),
        ({("v", "x"): {"a"}, ("w", "x"): {"b"}, ("v", "y"): {"a"}, ("w", "y"): {"a"}}, [2 / 3, 2 / 3]),
    ],
)
def test_pairs_that_never_meet_or_never_tick_have_a_distance(cast, expected, compiled, monkeypatch, use_loops):
    ballots = Ballots.from_mapping(cast, alternatives=["a", "b"])
    dense = starts.total_distances(ballots)
    np.testing.assert_allclose(dense, expected)
    monkeypatch.setattr(starts, "DENSE_CELLS", 0)
    use_loops(compiled)
    np.testing.assert_allclose(starts.total_distances(ballots), dense, rtol=1e-12)


@pytest.mark.parametrize("voters", [1, 2, 3, 9])
def test_blocks_of_any_number_of_voters_give_the_same_distances(voters, monkeypatch):
    ballots = simulate(instances=12, voters=9, alternatives=4, bounds=(1, 3), coverage=0.5, seed=1).ballots
    whole = starts.total_distances(ballots)
    monkeypatch.setattr(starts, "NUMBERS_PER_BLOCK", voters * 9)
    np.testing.assert_allclose(starts.total_distances(ballots), whole, rtol=1e-12)


@pytest.mark.parametrize("spread", [0.0, 1e-13, 1e-9])
def test_weights_differ_as_soon_as_distances_do_beyond_rounding(spread):
    weights = starts.anna_karenina_weights(np.array([1.0, 1.0, 1.0 + spread]))
    if spread < 1e-12:
        assert set(weights) == {0.5}
    else:
        assert weights == pytest.approx([0.75, 0.75, 0.25])


def test_weights_run_evenly_with_closeness():
    weights = starts.anna_karenina_weights(np.array([1.0, 2.0, 4.0]))
    assert weights == pytest.approx([0.75, 0.25 + 0.5 / 3, 0.25])
