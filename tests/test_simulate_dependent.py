"""Crowds whose voters do not err independently: copies, shared mistakes, instances of different difficulty."""

import math
import zlib

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import epivote.simulation as simulation
from epivote import InputError, Truths, reference_crowd, simulate

SMALL = {"instances": 6, "voters": 5, "alternatives": 3, "bounds": (1, 2)}


def cube(crowd):
    """Ticks as instances x voters x alternatives, and the true sets as instances x alternatives."""
    ballots, gold = crowd.ballots, crowd.gold
    shape = (ballots.n_instances, ballots.n_voters, ballots.n_alternatives)
    ticks, right = np.zeros(shape, bool), np.zeros(shape[::2], bool)
    cast = np.repeat(np.arange(ballots.n_ballots), ballots.ballot_sizes)
    ticks[ballots.ballot_instance[cast], ballots.ballot_voter[cast], ballots.approved] = True
    right[np.repeat(np.arange(len(gold)), gold.sizes), gold.members] = True
    return ticks, right


def test_without_dependence_the_draws_are_those_of_earlier_versions():
    plain = simulate(**SMALL, seed=3)
    assert simulate(**SMALL, copies=0, shared_mistakes=0, difficulty=0, seed=3).ballots == plain.ballots
    assert simulate(**SMALL, copies=0.09, seed=3).copied_from == {}, "a tenth of a voter is nobody"
    full = simulate(instances=50, voters=7, alternatives=3, bounds=(1, 2), copies=0.0, seed=1).ballots
    assert zlib.crc32(full.approved.tobytes()) == 2683045039


# Copies


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.04, 0), (0.06, 1), (0.3, 3), (0.9, 9)])
@pytest.mark.parametrize("options", [{}, {"coverage": 0.5}, {"ballots_per_instance": 3}])
def test_copies_cast_the_ballots_of_the_voter_they_repeat_wherever_both_answer(share, count, options):
    crowd = simulate(instances=60, voters=10, alternatives=8, bounds=(1, 3), copies=share, seed=5, **options)
    assert len(crowd.copied_from) == count
    assert crowd.copied_from.keys().isdisjoint(crowd.copied_from.values()), "nobody repeats a copy"
    cast, compared, alone = dict(crowd.ballots.items()), 0, 0
    for copy, original in crowd.copied_from.items():
        i, k = (crowd.ballots.voters.index(name) for name in (copy, original))
        assert crowd.parameters.hit_rates[i] == crowd.parameters.hit_rates[k]
        assert crowd.parameters.false_alarm_rates[i] == crowd.parameters.false_alarm_rates[k]
        for voter, instance in cast:
            if voter == copy and (original, instance) in cast:
                assert cast[copy, instance] == cast[original, instance]
                compared += 1
            alone += voter == copy and (original, instance) not in cast
    assert (compared > 0) == (count > 0)
    assert (alone > 0) == (count > 0 and bool(options)), "everybody answers everything unless told"


def test_everybody_else_answers_on_their_own():
    crowd = simulate(instances=80, voters=12, alternatives=8, bounds=(2, 4), copies=0.25, seed=2)
    ticks, _ = cube(crowd)
    same = {(i, k) for i in range(12) for k in range(i) if np.array_equal(ticks[:, i], ticks[:, k])}
    source = {name: crowd.copied_from.get(name, name) for name in crowd.ballots.voters}
    names = crowd.ballots.voters
    assert same == {(i, k) for i in range(12) for k in range(i) if source[names[i]] == source[names[k]]}


def test_where_its_original_is_missing_a_copy_has_the_original_s_rates():
    right = Truths.from_mapping({f"z{z}": {"a", "b"} for z in range(4000)}, alternatives="abcd")
    options = {"instances": 4000, "voters": 4, "alternatives": "abcd", "bounds": 2, "truths": right}
    crowd = simulate(
        **options, hit_rates=[0.9, 0.2, 0.5, 0.7], false_alarm_rates=0.1, copies=0.5, coverage=0.5, seed=11
    )
    cast = dict(crowd.ballots.items())
    for copy, original in crowd.copied_from.items():
        rate = crowd.parameters.hit_rates[crowd.ballots.voters.index(original)]
        alone = [ticks for (i, z), ticks in cast.items() if i == copy and (original, z) not in cast]
        hits = sum(len(ticks & {"a", "b"}) for ticks in alone) / (2 * len(alone))
        assert hits == pytest.approx(rate, abs=3 * math.sqrt(rate * (1 - rate) / (2 * len(alone))))


def test_any_voter_may_be_a_copy_and_any_other_may_be_repeated():
    pairs = {pair for seed in range(60) for pair in simulate(**SMALL, copies=0.2, seed=seed).copied_from.items()}
    assert len(pairs) > 15
    assert {copy for copy, _ in pairs} == {original for _, original in pairs} == {"v1", "v2", "v3", "v4", "v5"}


# Shared mistakes


@pytest.mark.parametrize("shared", [0.05, 0.4, 1.0])
def test_every_voter_keeps_both_rates_however_strongly_mistakes_are_shared(shared):
    p, q, count = [0.95, 0.7, 0.4], [0.02, 0.3, 0.6], 6000
    crowd = simulate(
        instances=count,
        voters=3,
        alternatives=3,
        bounds=(0, 3),
        hit_rates=p,
        false_alarm_rates=q,
        shared_mistakes=shared,
        seed=7,
    )
    assert (crowd.parameters.hit_rates.tolist(), crowd.parameters.false_alarm_rates.tolist()) == (p, q)
    ticks, right = cube(crowd)
    for i in range(3):
        for rate, cells in ((p[i], right), (q[i], ~right)):
            seen = ticks[:, i][cells]  # cells are independent of each other: the common number is drawn for each
            assert seen.mean() == pytest.approx(rate, abs=3 * math.sqrt(rate * (1 - rate) / len(seen)))


@pytest.mark.parametrize("shared", [0.0, 0.2, 0.5, 0.8])
def test_two_voters_tick_together_as_often_as_two_correlated_normal_numbers_are_small(shared):
    p, q, count = [0.8, 0.6], [0.1, 0.25], 8000
    crowd = simulate(
        instances=count,
        voters=2,
        alternatives=2,
        bounds=1,
        hit_rates=p,
        false_alarm_rates=q,
        shared_mistakes=shared,
        seed=3,
    )
    ticks, right = cube(crowd)
    for rates, cells in ((p, right), (q, ~right)):
        both = (ticks[:, 0] & ticks[:, 1])[cells]
        joint = multivariate_normal(cov=[[1, shared], [shared, 1]]).cdf(norm.ppf(rates))
        assert both.mean() == pytest.approx(joint, abs=3 * math.sqrt(joint * (1 - joint) / count))


def test_mistakes_are_shared_on_an_alternative_and_not_between_alternatives_or_instances():
    crowd = simulate(instances=5000, voters=2, alternatives=2, bounds=2, hit_rates=0.6, shared_mistakes=0.6, seed=1)
    ticks, _ = cube(crowd)
    near = 4 / math.sqrt(5000)
    correlation = np.corrcoef(ticks.reshape(5000, 4).T)  # voter 1 on a1, a2; voter 2 on a1, a2
    assert correlation[0, 2] > 0.35
    assert correlation[1, 3] > 0.35
    assert [correlation[0, 1], correlation[0, 3], correlation[1, 2], correlation[2, 3]] == pytest.approx(
        [0] * 4, abs=near
    )
    assert np.corrcoef(ticks[1:, 0, 0], ticks[:-1, 1, 0])[0, 1] == pytest.approx(0, abs=near)


def test_the_correlation_of_mistakes_grows_and_at_1_equal_voters_agree_entirely():
    found = []
    for shared in (0, 0.25, 0.5, 0.75, 1):
        crowd = simulate(
            instances=1500,
            voters=2,
            alternatives=3,
            bounds=(1, 2),
            hit_rates=0.7,
            false_alarm_rates=0.2,
            shared_mistakes=shared,
            seed=4,
        )
        ticks, right = cube(crowd)
        wrong = (ticks != right[:, None]).transpose(1, 0, 2).reshape(2, -1)
        found.append(np.corrcoef(wrong)[0, 1])
    assert np.all(np.diff(found) > 0.1)
    assert found[0] == pytest.approx(0, abs=0.05)
    assert found[-1] == pytest.approx(1)


# Difficulty


def test_instances_differ_in_difficulty_as_stated():
    """Many equal voters show the rates of every instance: log-odds of hits and of false alarms, and their spread."""
    spread, p, q, voters = 0.4, 0.8, 0.3, 3000
    right = Truths.from_mapping({f"i{z}": {"a1", "a2"} for z in range(1, 301)}, alternatives=["a1", "a2", "a3", "a4"])
    crowd = simulate(
        instances=300,
        voters=voters,
        alternatives=right.alternatives,
        bounds=2,
        truths=right,
        hit_rates=p,
        false_alarm_rates=q,
        difficulty=spread,
        seed=9,
    )
    ticks, _ = cube(crowd)
    share = ticks.mean(axis=1)
    hits, alarms = (np.log(r / (1 - r)) for r in (share[:, :2].mean(axis=1), share[:, 2:].mean(axis=1)))
    usual = math.log(p / (1 - p)), math.log(q / (1 - q))
    assert (hits + alarms) / 2 == pytest.approx(np.full(300, sum(usual) / 2), abs=0.15), "both move towards their mean"
    factor = np.log((hits - alarms) / (usual[0] - usual[1]))
    assert factor.mean() == pytest.approx(0, abs=3 * spread / math.sqrt(300))
    assert factor.std() == pytest.approx(spread, rel=3 / math.sqrt(600))
    assert np.mean(factor < -spread) == pytest.approx(1 / 6, abs=3 * math.sqrt(5 / 36 / 300)), "as the docstring says"


def test_difficulty_is_the_same_for_all_voters_and_leaves_spammers_alone():
    crowd = simulate(
        instances=3000,
        voters=3,
        alternatives=6,
        bounds=3,
        hit_rates=[0.8, 0.7, 0.35],
        false_alarm_rates=[0.2, 0.1, 0.35],
        difficulty=1.0,
        seed=6,
    )
    ticks, right = cube(crowd)
    mistakes = (ticks != right[:, None]).sum(axis=2)
    correlation = np.corrcoef(mistakes.T)
    assert correlation[0, 1] > 0.15
    assert [correlation[0, 2], correlation[1, 2]] == pytest.approx([0, 0], abs=4 / math.sqrt(3000))
    assert ticks[:, 2].mean() == pytest.approx(0.35, abs=4 * math.sqrt(0.35 * 0.65 / 18000))


def test_no_difficulty_is_too_much():
    crowd = simulate(instances=400, voters=2, alternatives=3, bounds=1, difficulty=50.0, hit_rates=0.9, seed=1)
    ticks, right = cube(crowd)
    perfect = np.all(ticks[:, 0] == right, axis=1).mean()
    assert 0.4 < perfect < 0.8, "half of the instances are trivial, on the others voters guess"


# All of them


@pytest.mark.parametrize("numbers", [1, 2, 7, 20])
@pytest.mark.parametrize("options", [{"shared_mistakes": 0.5}, {"difficulty": 1.0}, {"copies": 0.5}])
def test_how_much_is_drawn_at_a_time_changes_nothing(monkeypatch, numbers, options):
    options = {"instances": 17, "voters": 6, "alternatives": 3, "bounds": (0, 2), "seed": 4, **options}
    whole = simulate(**options)
    monkeypatch.setattr(simulation, "NUMBERS_PER_CHUNK", numbers)
    assert simulate(**options).ballots == whole.ballots


def test_instances_without_ballots_do_not_shift_what_is_common():
    options = {"instances": 40, "voters": 3, "alternatives": 2, "bounds": 1, "coverage": 0.2, "seed": 6}
    crowd = simulate(**options, shared_mistakes=1.0, hit_rates=0.5, false_alarm_rates=0.5)
    by_instance = {}
    for (_, instance), ticks in crowd.ballots.items():
        by_instance.setdefault(instance, set()).add(ticks)
    assert 0 < len(by_instance) < 40
    assert {len(kinds) for kinds in by_instance.values()} == {1}


def test_the_reference_crowd_takes_them_too():
    plain, copied = reference_crowd(60, 20, 5, 2, seed=1), reference_crowd(60, 20, 5, 2, seed=1, copies=0.3)
    assert plain.gold == copied.gold
    assert plain.ballots.ballot_voter.tolist() == copied.ballots.ballot_voter.tolist()
    assert len(copied.copied_from) == 6
    for options in ({"shared_mistakes": 0.5}, {"difficulty": 0.5}):
        other = reference_crowd(60, 20, 5, 2, seed=1, **options)
        assert other.gold == plain.gold
        assert other.parameters == plain.parameters
        assert other.ballots != plain.ballots


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": -0.1}, "copies=-0.1 must be a share between 0 and 1"),
        ({"copies": 1.01}, "copies=1.01 must be a share between 0 and 1"),
        ({"copies": math.nan}, "copies=nan must be a share between 0 and 1"),
        ({"copies": 1}, "copies=1 of 5 voters leaves nobody to repeat; lower it"),
        ({"copies": 0.91}, "copies=0.91 of 5 voters leaves nobody to repeat"),
        ({"shared_mistakes": -0.1}, "shared_mistakes=-0.1 must be a share between 0 and 1"),
        ({"shared_mistakes": 1.01}, "shared_mistakes=1.01 must be a share between 0 and 1"),
        ({"difficulty": -0.1}, "difficulty=-0.1 must be 0 or a positive number, such as 0.5"),
        ({"difficulty": math.inf}, "difficulty=inf must be 0 or a positive number"),
        ({"difficulty": math.nan}, "difficulty=nan must be 0 or a positive number"),
    ],
)
def test_what_is_no_dependence_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        simulate(**SMALL, **options)


def test_all_but_one_voter_may_be_copies():
    crowd = simulate(**SMALL, copies=0.89)
    assert len(crowd.copied_from) == 4
    assert len(set(crowd.copied_from.values())) == 1


@pytest.mark.parametrize("instances", [2, 5])
def test_what_is_common_to_all_voters_differs_from_instance_to_instance(instances):
    """Equal voters who share all mistakes cast equal ballots; on other instances what they share is drawn anew."""
    equal = {"hit_rates": 0.5, "false_alarm_rates": 0.5}
    found = simulate(
        instances=instances, voters=2, alternatives=60, bounds=(0, None), shared_mistakes=1, **equal
    ).ballots
    seen = {found.ballot(voter, name) for name in found.instances for voter in found.voters}
    assert len(seen) == instances
