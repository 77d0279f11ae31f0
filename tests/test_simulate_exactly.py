"""Every option of a simulation, found again in what was drawn."""

import zlib

import numpy as np
import pytest

import epivote.simulation as simulation
import oracles
from epivote import Beta, BoundsError, InputError, SizeBounds, Truths, reference_crowd, simulate

SMALL = {"instances": 6, "voters": 5, "alternatives": 3, "bounds": (1, 2)}


def spread(share, count):
    """Four standard deviations of a share."""
    return 4 * np.sqrt(share * (1 - share) / count)


def tables(crowd):
    """Of every ballot: its voter, its instance, its ticks and the right set, as 0/1 rows."""
    ballots, width = crowd.ballots, crowd.ballots.n_alternatives
    ticks = np.zeros((ballots.n_ballots, width), bool)
    ticks[np.repeat(np.arange(ballots.n_ballots), ballots.ballot_sizes), ballots.approved] = True
    return ballots.ballot_voter, ballots.ballot_instance, ticks, members(crowd.gold)[ballots.ballot_instance]


def members(truths):
    table = np.zeros((len(truths), len(truths.alternatives)), bool)
    table[np.repeat(np.arange(len(truths)), truths.sizes), truths.members] = True
    return table


@pytest.mark.parametrize("options", [{}, {"ballots_per_instance": 2}, {"coverage": 0.6}])
def test_every_voter_ticks_right_and_wrong_alternatives_at_their_own_rates(options):
    p, q = [0.95, 0.7, 0.4, 0.2], [0.05, 0.3, 0.6, 0.15]
    crowd = simulate(
        instances=3000, voters=4, alternatives=3, bounds=(0, 3), hit_rates=p, false_alarm_rates=q, seed=5, **options
    )
    voter, _, ticks, right = tables(crowd)
    for i in range(4):
        for j in range(3):
            for rate, kind in ((p[i], right[:, j]), (q[i], ~right[:, j])):
                seen = ticks[(voter == i) & kind, j]
                assert seen.mean() == pytest.approx(rate, abs=spread(rate, len(seen)))
    assert (crowd.parameters.hit_rates.tolist(), crowd.parameters.false_alarm_rates.tolist()) == (p, q)


def test_ticks_of_a_ballot_and_of_two_ballots_do_not_depend_on_each_other():
    crowd = simulate(instances=4000, voters=2, alternatives=2, bounds=2, hit_rates=0.6, false_alarm_rates=0.3, seed=3)
    _, _, ticks, _ = tables(crowd)
    both = np.concatenate([ticks[0::2], ticks[1::2]], axis=1)
    assert np.corrcoef(both.T) == pytest.approx(np.eye(4), abs=4 / np.sqrt(4000))


@pytest.mark.parametrize(
    "bounds", [(1, 2), (0, None), (2, 9), (3, 3), SizeBounds(0, 1, {"i1": (3, 3), "i4": (2, None)})]
)
def test_sets_keep_to_their_bounds_and_priors(bounds):
    priors = [0.7, 0.4, 0.1]
    crowd = simulate(instances=4000, voters=1, alternatives=3, bounds=bounds, priors=priors, seed=11)
    assert crowd.parameters.priors.tolist() == priors
    bounds = SizeBounds.of(bounds)
    for name, (low, high) in {**dict(bounds.per_instance)}.items():
        assert low <= len(crowd.gold[name]) <= (high or 3)
    table = np.delete(members(crowd.gold), [int(name[1:]) - 1 for name in bounds.per_instance], axis=0)
    upper = 3 if bounds.upper is None else min(bounds.upper, 3)
    mass = oracles.size_mass(range(3), priors, bounds.lower, upper)
    for chosen in oracles.allowed_sets(range(3), bounds.lower, upper):
        share = oracles.prior_product(chosen, range(3), priors) / mass
        seen = np.mean(np.all(table == [j in chosen for j in range(3)], axis=1))
        assert seen == pytest.approx(share, abs=spread(share, len(table)) + 1e-12)
    assert set(table.sum(axis=1)) <= set(range(bounds.lower, upper + 1))


def test_a_prior_is_one_half_unless_told():
    crowd = simulate(instances=2000, voters=1, alternatives=2, bounds=(0, None), seed=2)
    assert members(crowd.gold).mean(axis=0) == pytest.approx([0.5, 0.5], abs=spread(0.5, 2000))
    assert crowd.parameters.priors.tolist() == [0.5, 0.5]


# Voters


@pytest.mark.parametrize(("a", "b"), [(2.0, 5.0), (7.0, 1.5)])
def test_rates_follow_their_beta_distribution(a, b):
    def of(rates):
        return rates.mean(), rates.std()

    mean, deviation = a / (a + b), np.sqrt(a * b / (a + b) ** 2 / (a + b + 1))
    near = pytest.approx((mean, deviation), abs=4 * deviation / np.sqrt(3000))
    options = {"instances": 1, "voters": 3000, "alternatives": 1, "bounds": 1}
    hits = simulate(**options, hit_rates=Beta(a, b), false_alarm_rates=0.2).parameters
    alarms = simulate(**options, hit_rates=0.7, false_alarm_rates=Beta(a, b)).parameters
    assert of(hits.hit_rates) == near
    assert of(alarms.false_alarm_rates) == near
    assert (set(hits.false_alarm_rates), set(alarms.hit_rates)) == ({0.2}, {0.7})


def test_rates_are_good_hits_and_few_false_alarms_unless_told():
    found = simulate(instances=1, voters=4000, alternatives=1, bounds=1, seed=3).parameters
    for rates, a, b in ((found.hit_rates, 6, 3), (found.false_alarm_rates, 2, 12)):
        deviation = np.sqrt(a * b / (a + b) ** 2 / (a + b + 1))
        assert (rates.mean(), rates.std()) == pytest.approx((a / (a + b), deviation), abs=4 * deviation / np.sqrt(4000))
    assert abs(np.corrcoef(found.hit_rates, found.false_alarm_rates)[0, 1]) < 4 / np.sqrt(4000)


def test_rates_at_the_edge_stay_a_ten_thousandth_away_from_never_and_always():
    found = simulate(
        instances=1, voters=40, alternatives=1, bounds=1, hit_rates=Beta(0.01, 0.01), false_alarm_rates=Beta(0.01, 0.01)
    ).parameters
    for rates in (found.hit_rates, found.false_alarm_rates):
        assert (rates.min(), rates.max()) == (1e-4, 1 - 1e-4)


@pytest.mark.parametrize(
    ("share", "count"), [(0.0, 0), (0.04, 0), (0.06, 1), (0.25, 2), (0.33, 3), (0.5, 5), (0.94, 9), (1.0, 10)]
)
def test_that_share_of_the_voters_spams_and_the_others_do_not(share, count):
    rates = simulate(
        instances=1, voters=10, alternatives=1, bounds=1, hit_rates=0.9, false_alarm_rates=0.01, spammers=share
    ).parameters
    spam = rates.hit_rates == rates.false_alarm_rates
    assert spam.sum() == count
    assert (set(rates.hit_rates[~spam]), set(rates.false_alarm_rates[~spam])) <= ({0.9}, {0.01})
    assert len(set(rates.hit_rates[spam])) == count


def test_any_voter_may_spam_at_any_rate_between_one_in_twenty_and_three_in_five():
    chosen, rates = [], []
    for seed in range(40):
        found = simulate(instances=1, voters=8, alternatives=1, bounds=1, spammers=0.5, seed=seed).parameters
        spam = found.hit_rates == found.false_alarm_rates
        chosen.append(spam)
        rates.append(found.hit_rates[spam])
    assert np.mean(chosen, axis=0) == pytest.approx(np.full(8, 0.5), abs=spread(0.5, 40))
    rates = np.concatenate(rates)
    assert 0.05 <= rates.min() < 0.07
    assert 0.58 < rates.max() <= 0.6
    assert rates.mean() == pytest.approx(0.325, abs=4 * 0.55 / np.sqrt(12 * len(rates)))


def test_rates_given_are_not_changed_by_spammers():
    mine = np.full(10, 0.9)
    simulate(instances=1, voters=10, alternatives=1, bounds=1, hit_rates=mine, false_alarm_rates=mine, spammers=1.0)
    assert set(mine) == {0.9}


# Who answers what


def shuffled_or_drawn(voters, each):
    """Few of many voters are drawn again until they differ, else all are shuffled."""
    return "drawn again" if each * each <= voters else "shuffled"


@pytest.mark.parametrize(("voters", "each"), [(12, 3), (9, 3), (8, 3), (6, 5), (4, 1), (4, 4), (1, 1)])
def test_all_voters_and_all_pairs_are_chosen_evenly(voters, each):
    count = 3000
    ballots = simulate(
        instances=count, voters=voters, alternatives=1, bounds=1, ballots_per_instance=each, seed=4
    ).ballots
    assert np.all(ballots.ballots_per_instance == each), shuffled_or_drawn(voters, each)
    chosen = np.zeros((count, voters))
    chosen[ballots.ballot_instance, ballots.ballot_voter] = 1
    share = each / voters
    assert chosen.mean(axis=0) == pytest.approx(np.full(voters, share), abs=spread(share, count) + 1e-12)
    together = chosen.T @ chosen / count
    pairs = each * (each - 1) / (voters * (voters - 1)) if voters > 1 else 0
    others = together[~np.eye(voters, dtype=bool)]
    assert others == pytest.approx(np.full(len(others), pairs), abs=spread(pairs, count) + 1e-12)


@pytest.mark.parametrize(("voters", "coverage"), [(10, 0.3), (40, 0.02), (400, 0.01), (6, 0.95)])
def test_each_voter_answers_each_instance_with_the_probability_of_the_coverage(voters, coverage):
    crowd = simulate(instances=2000, voters=voters, alternatives=1, bounds=1, coverage=coverage, seed=8)
    cast = crowd.ballots.ballots_per_instance
    assert cast.mean() == pytest.approx(voters * coverage, abs=4 * np.sqrt(voters * coverage * (1 - coverage) / 2000))
    assert cast.var() == pytest.approx(voters * coverage * (1 - coverage), rel=0.2)
    for begin, end in zip(crowd.ballots.ballot_start[:-1], crowd.ballots.ballot_start[1:], strict=True):
        assert len(set(crowd.ballots.ballot_voter[begin:end])) == end - begin
    expected = 2000 * coverage
    assert crowd.ballots.ballots_per_voter == pytest.approx(np.full(voters, expected), abs=4.5 * np.sqrt(expected))


def test_everybody_answers_everything_unless_told():
    assert simulate(**SMALL).ballots.coverage == 1
    assert simulate(**SMALL, coverage=1.0).ballots == simulate(**SMALL).ballots
    assert simulate(**SMALL, ballots_per_instance=5, coverage=0.1).ballots.coverage == 1, "the number decides"


@pytest.mark.parametrize("options", [{}, {"ballots_per_instance": 4}])
@pytest.mark.parametrize("numbers", [1, 2, 3, 7, 20])
def test_how_much_is_drawn_at_a_time_changes_nothing(monkeypatch, numbers, options):
    options = {"instances": 17, "voters": 6, "alternatives": 3, "bounds": (0, 2), "seed": 4, **options}
    whole = simulate(**options)
    monkeypatch.setattr(simulation, "NUMBERS_PER_CHUNK", numbers)
    parts = simulate(**options)
    assert parts.ballots == whole.ballots
    assert parts.gold == whole.gold


@pytest.mark.parametrize("numbers", [1, 5, 13])
def test_how_many_answer_does_not_depend_on_how_much_is_drawn_at_a_time(monkeypatch, numbers):
    options = {"instances": 40, "voters": 9, "alternatives": 2, "bounds": 1, "coverage": 0.3, "seed": 6}
    whole = simulate(**options)
    monkeypatch.setattr(simulation, "NUMBERS_PER_CHUNK", numbers)
    parts = simulate(**options)
    assert parts.ballots.ballots_per_instance.tolist() == whole.ballots.ballots_per_instance.tolist()
    assert parts.gold == whole.gold


@pytest.mark.parametrize("numbers", [1, 4, 5, 1000])
def test_few_of_many_drawn_in_parts_are_as_many_as_asked(monkeypatch, numbers):
    monkeypatch.setattr(simulation, "NUMBERS_PER_CHUNK", numbers)
    crowd = simulate(instances=50, voters=9, alternatives=2, bounds=1, ballots_per_instance=2, hit_rates=0.99, seed=1)
    assert np.all(crowd.ballots.ballots_per_instance == 2)
    voter, _, ticks, right = tables(crowd)
    assert ticks[right].mean() > 0.95, "ticks stay with their instances"
    assert set(voter) == set(range(9))


# Names, truths and seeds


def test_names_are_counted_from_one():
    crowd = simulate(**SMALL)
    assert crowd.ballots.voters == ("v1", "v2", "v3", "v4", "v5")
    assert crowd.ballots.instances == crowd.gold.instances == ("i1", "i2", "i3", "i4", "i5", "i6")
    assert crowd.ballots.alternatives == crowd.gold.alternatives == ("a1", "a2", "a3")
    named = simulate(**{**SMALL, "alternatives": ["x", "b"], "bounds": 1}, priors={"b": 0.2, "x": 0.6})
    assert named.ballots.alternatives == named.gold.alternatives == ("x", "b")
    assert named.parameters.priors.tolist() == [0.6, 0.2]


def test_ballots_are_cast_on_the_truths_given():
    truths = Truths.from_mapping({f"z{z}": {"c"} if z % 2 else {"a", "b"} for z in range(40)}, alternatives="abc")
    options = {"instances": 40, "voters": 6, "alternatives": "abc", "bounds": (1, 2), "truths": truths}
    crowd = simulate(**options, hit_rates=0.97, false_alarm_rates=0.02, priors=[0.2, 0.3, 0.4])
    assert crowd.gold is truths
    assert crowd.ballots.instances == truths.instances
    assert crowd.parameters.priors.tolist() == [0.2, 0.3, 0.4]
    _, _, ticks, right = tables(crowd)
    assert (ticks[right].mean(), ticks[~right].mean()) == pytest.approx((0.97, 0.02), abs=0.03)


def test_truths_of_other_alternatives_or_another_number_are_refused():
    truths = Truths.from_mapping({"y": {"a"}, "z": {"b"}}, alternatives=["a", "b"])
    for change in ({"alternatives": ["b", "a"]}, {"alternatives": ["a", "b", "c"]}, {"instances": 1}, {"instances": 3}):
        options = {"instances": 2, "voters": 1, "alternatives": ["a", "b"], "bounds": 1, "truths": truths, **change}
        with pytest.raises(InputError, match="must have exactly the stated alternatives and number of instances"):
            simulate(**options)


def test_a_seed_decides_everything_and_a_generator_goes_on():
    one, again, other = (simulate(**SMALL, coverage=0.5, seed=seed) for seed in (1, 1, 2))
    assert (one.ballots, one.gold, one.parameters) == (again.ballots, again.gold, again.parameters)
    assert one.parameters != other.parameters
    assert simulate(**SMALL).ballots == simulate(**SMALL, seed=0).ballots
    generator = np.random.default_rng(1)
    assert simulate(**SMALL, coverage=0.5, seed=generator).ballots == one.ballots
    assert simulate(**SMALL, coverage=0.5, seed=generator).parameters != one.parameters


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"instances": 0}, InputError, "instances=0 and voters=5 must be at least 1"),
        ({"voters": 0}, InputError, "instances=6 and voters=0 must be at least 1"),
        ({"bounds": (4, None)}, BoundsError, "3 alternatives hold no set of at least 4; lower the bound"),
        ({"bounds": SizeBounds(0, 1, {"i2": 4})}, BoundsError, "3 alternatives hold no set of at least 4"),
        ({"ballots_per_instance": 0}, InputError, "ballots_per_instance=0 must lie between 1 and the 5 voters"),
        ({"coverage": -0.5}, InputError, "coverage=-0.5 must be a share above 0 and at most 1"),
        ({"coverage": 1.1}, InputError, "coverage=1.1 must be a share"),
        ({"spammers": -0.1}, InputError, "spammers=-0.1 must be a share between 0 and 1"),
        ({"spammers": 1.1}, InputError, "spammers=1.1 must be a share between 0 and 1"),
        ({"hit_rates": Beta(0, 1)}, InputError, r"Beta\(a=0, b=1\) is not a distribution; both numbers"),
        ({"false_alarm_rates": Beta(1, -1)}, InputError, r"Beta\(a=1, b=-1\) is not a distribution"),
        ({"hit_rates": [0.5, 0.5]}, InputError, "hit rates: 2 numbers were given where 5 are needed"),
        ({"false_alarm_rates": [0.5, 0.5]}, InputError, "false-alarm rates: 2 numbers were given where 5 are needed"),
        ({"priors": [0.5, 0.5]}, InputError, "priors: 2 numbers were given where 3 are needed"),
        ({"alternatives": ["a", "b", "a"]}, InputError, "alternative 'a' is listed twice"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        simulate(**{**SMALL, **options})


# The reference crowd


def test_the_reference_crowd_has_the_sizes_ranks_and_voters_it_says():
    crowd = reference_crowd(4000, 300, 6, 3, seed=1)
    assert np.bincount(crowd.gold.sizes, minlength=5)[1:] == pytest.approx([4000 / 3] * 3 + [0], abs=4 * 30)
    weights = 1 / np.sqrt(np.arange(1, 7))
    single = crowd.gold.members[crowd.gold.start[:-1][crowd.gold.sizes == 1]]
    shares = weights / weights.sum()
    found = np.bincount(single, minlength=6) / len(single)
    for share, seen in zip(shares, found, strict=True):
        assert seen == pytest.approx(share, abs=spread(share, len(single)))
    pairs = members(crowd.gold)[crowd.gold.sizes == 2]
    drawn = [sum(shares[k] * shares[j] / (1 - shares[k]) for k in range(6) if k != j) + shares[j] for j in range(6)]
    for share, seen in zip(drawn, pairs.mean(axis=0), strict=True):
        assert seen == pytest.approx(share, abs=spread(share, len(pairs)))
    rates = crowd.parameters
    spam = rates.hit_rates == rates.false_alarm_rates
    assert spam.sum() == 60
    assert rates.hit_rates[~spam].mean() == pytest.approx(2 / 3, abs=0.04)
    assert rates.false_alarm_rates[~spam].mean() == pytest.approx(1 / 7, abs=0.03)
    assert np.all(crowd.ballots.ballots_per_instance == 5)
    assert crowd.ballots.alternatives == ("a1", "a2", "a3", "a4", "a5", "a6")
    assert (crowd.ballots.instances[0], crowd.ballots.instances[-1]) == ("i1", "i4000")
    voter, _, ticks, right = tables(crowd)
    assert ticks[right].mean() == pytest.approx(rates.hit_rates[voter].mean(), abs=0.02)


def test_the_reference_crowd_depends_on_its_seed():
    one, again, other = (reference_crowd(30, 8, 4, 2, seed) for seed in (3, 3, 4))
    assert (one.ballots, one.gold) == (again.ballots, again.gold)
    assert one.gold != other.gold
    assert reference_crowd(30, 8, 4, 2).ballots == reference_crowd(30, 8, 4, 2, 0).ballots


def test_a_crowd_once_drawn_is_drawn_again_in_later_versions():
    """Figures compare only on the same crowd; five of 24 voters are shuffled, five of 25 drawn until they differ."""
    shuffled, drawn = (reference_crowd(4, voters, 4, 2, seed=1) for voters in (24, 25))
    assert shuffled.gold == drawn.gold
    assert list(map(sorted, drawn.gold.values()))[:3] == [["a1", "a3"], ["a1"], ["a2"]]
    assert shuffled.ballots.ballot_voter.tolist()[:10] == [3, 6, 15, 20, 21, 3, 5, 6, 15, 21]
    assert drawn.ballots.ballot_voter.tolist()[:10] == [1, 13, 14, 15, 16, 1, 5, 9, 10, 11]
    full = simulate(instances=50, voters=7, alternatives=3, bounds=(1, 2), seed=1).ballots
    assert zlib.crc32(full.approved.tobytes()) == 2683045039


def test_a_crowd_that_answers_nothing_is_no_crowd():
    with pytest.raises(InputError, match="coverage=1e-09 leaves no ballot at all; raise it"):
        simulate(instances=3, voters=2, alternatives=2, bounds=1, coverage=1e-9)
