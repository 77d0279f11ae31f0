import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from epivote import Beta, BoundsError, InputError, Truths, reference_crowd, simulate
from epivote.model.probable_sets import draw_sets


@pytest.mark.parametrize(("lower", "upper"), [(0, 3), (1, 2), (2, 2), (1, None), (0, 0), (3, 3)])
def test_sets_are_drawn_from_the_prior_under_the_bounds(lower, upper):
    t, count = np.array([0.2, 0.5, 0.8]), 20_000
    top = 3 if upper is None else upper
    members = draw_sets(np.log(t / (1 - t)), lower, top, count, np.random.default_rng(1))
    mass = oracles.size_mass(range(3), t, lower, top)
    for chosen in oracles.allowed_sets(range(3), lower, top):
        expected = oracles.prior_product(chosen, range(3), t) / mass
        seen = np.mean(np.all(members == [j in chosen for j in range(3)], axis=1))
        assert seen == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / count) + 1e-12)
    assert np.all((members.sum(axis=1) >= lower) & (members.sum(axis=1) <= top))


def test_ticks_come_at_the_stated_rates():
    crowd = simulate(
        instances=4000,
        voters=3,
        alternatives=4,
        bounds=(1, 2),
        hit_rates=[0.9, 0.6, 0.3],
        false_alarm_rates=0.1,
        seed=2,
    )
    assert crowd.parameters.hit_rates.tolist() == [0.9, 0.6, 0.3]
    winners = crowd.gold.sizes.sum()
    for i, voter in enumerate(crowd.ballots.voters):
        hits = sum(len(ticks & crowd.gold[z]) for (v, z), ticks in crowd.ballots.items() if v == voter)
        assert hits / winners == pytest.approx(crowd.parameters.hit_rates[i], abs=4 * 0.5 / np.sqrt(winners))


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 30), st.data())
def test_every_instance_gets_exactly_as_many_voters_as_asked(voters, instances, data):
    each = data.draw(st.integers(1, voters))
    ballots = simulate(instances=instances, voters=voters, alternatives=3, bounds=1, ballots_per_instance=each).ballots
    assert np.all(np.diff(ballots.ballot_start) == each)
    for begin, end in zip(ballots.ballot_start, ballots.ballot_start[1:], strict=False):
        assert len(set(ballots.ballot_voter[begin:end])) == each


def test_coverage_is_the_share_of_pairs_with_a_ballot():
    ballots = simulate(instances=300, voters=100, alternatives=3, bounds=1, coverage=0.3).ballots
    assert ballots.coverage == pytest.approx(0.3, abs=0.01)
    few = simulate(instances=3000, voters=2000, alternatives=3, bounds=1, coverage=0.01).ballots
    assert few.coverage == pytest.approx(0.01, abs=0.0005)
    assert few.n_instances == 3000


def test_voters_are_chosen_evenly():
    ballots = simulate(instances=20_000, voters=100, alternatives=2, bounds=1, ballots_per_instance=5).ballots
    assert ballots.ballots_per_voter == pytest.approx(np.full(100, 1000), abs=150)


def test_spammers_tick_right_and_wrong_alike():
    rates = simulate(instances=1, voters=50, alternatives=3, bounds=1, spammers=0.2).parameters
    spam = rates.hit_rates == rates.false_alarm_rates
    assert spam.sum() == 10
    assert np.all((rates.hit_rates[spam] >= 0.05) & (rates.hit_rates[spam] <= 0.6))
    many = simulate(instances=1, voters=1000, alternatives=3, bounds=1, spammers=1.0).parameters.hit_rates
    assert many.min() < 0.06
    assert many.max() > 0.59
    assert many.mean() == pytest.approx(0.325, abs=0.02)


def test_the_reference_crowd_is_what_it_says():
    crowd = reference_crowd(4000, 100, 10, 3, seed=1)
    assert np.bincount(crowd.gold.sizes)[1:] == pytest.approx([1333, 1333, 1333], abs=150)
    assert np.all(np.diff(crowd.ballots.ballot_start) == 5)
    assert np.sum(crowd.parameters.hit_rates == crowd.parameters.false_alarm_rates) == 20
    first, last = (np.sum(crowd.gold.members == j) for j in (0, 9))
    single = crowd.gold.members[crowd.gold.start[:-1][crowd.gold.sizes == 1]]
    assert np.mean(single == 0) / np.mean(single == 3) == pytest.approx(2, rel=0.25), "weights 1 and 1/sqrt(4)"
    assert first > 2 * last


def test_the_same_seed_draws_the_same_crowd():
    one, other = (simulate(instances=20, voters=5, alternatives=3, bounds=1, seed=7) for _ in range(2))
    assert one.ballots == other.ballots
    assert one.gold == other.gold
    assert one.ballots != simulate(instances=20, voters=5, alternatives=3, bounds=1, seed=8).ballots


def test_given_truths_are_kept():
    truths = Truths.from_mapping({"y": {"a"}, "z": {"b"}}, alternatives=["a", "b"])
    crowd = simulate(instances=2, voters=3, alternatives=["a", "b"], bounds=1, truths=truths, hit_rates=Beta(2, 2))
    assert crowd.gold == truths
    assert crowd.ballots.instances == ("y", "z")
    with pytest.raises(InputError, match="the given truths must have exactly the stated alternatives"):
        simulate(instances=3, voters=3, alternatives=["a", "b"], bounds=1, truths=truths)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"bounds": 9}, BoundsError, "3 alternatives hold no set of at least 9"),
        ({"ballots_per_instance": 6}, InputError, "ballots_per_instance=6 must lie between 1 and the 5 voters"),
        ({"coverage": 0}, InputError, "coverage=0 must be a share above 0"),
        ({"spammers": 2}, InputError, "spammers=2 must be a share between 0 and 1"),
    ],
)
def test_nonsense_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        simulate(**{"instances": 2, "voters": 5, "alternatives": 3, "bounds": 1, **options})
