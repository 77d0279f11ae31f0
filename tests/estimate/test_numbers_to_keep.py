"""Numbers that all lines and constants of an estimator lead to, kept for one small crowd: whoever changes one sees it."""

import numpy as np
import pytest

from epivote import AMLE, EM, Auto, Calibrated, Majority, reproducibility, simulate
from epivote.estimate import reproducibility as checks

BOUNDS = (1, 2)


def crowd(seed=4, shared=0.4):
    return simulate(instances=30, voters=8, alternatives=3, bounds=BOUNDS, shared_mistakes=shared, seed=seed)


@pytest.fixture(scope="module")
def given():
    return crowd()


def near(*numbers):
    return pytest.approx(numbers, rel=1e-6)


@pytest.mark.parametrize(
    ("seed", "shared", "numbers"),
    [
        (4, 0.25, (0.666666667, 0.666666667, 0.0190207046, 0.0147478153, 0.0378623019, 0.732077316)),
        (1, 0.4, (0.777777778, 0.883333333, 0.0894272787, 0.0173173115, 0.192107427, 0.404587301)),
        (5, 0.4, (0.566666667, 0.65, 0.101110047, 0.0209795824, 0.422340513, 0.265465042)),
    ],
)
def test_halves_and_simulated_crowds(seed, shared, numbers):
    found = reproducibility(EM(BOUNDS), crowd(seed, shared).ballots, seed=5, errors=0.2)
    assert found is not None
    assert (found.agreement, found.expected_agreement, found.coincidence, found.coincidence_error) == near(*numbers[:4])
    assert (found.shared_mistakes, found.scale) == near(*numbers[4:])
    assert (found.n_instances, found.is_sample, found.is_too_sure) == (30, False, True)


@pytest.mark.parametrize(("found", "said"), [(0.97, 0.97), (0.971, 1.0)])
def test_a_scale_that_is_nearly_one_is_one(monkeypatch, found, said):
    monkeypatch.setattr(checks, "STRENGTHS", (0.0,))
    monkeypatch.setattr(checks, "_at", lambda *_: (0.1, found))
    check = reproducibility(EM(BOUNDS), crowd(4, 0.25).ballots, seed=5, errors=0.2, splits=1)
    assert check is not None
    assert (check.scale, check.is_too_sure) == (said, said < 1)


def test_expectation_maximisation(given):
    fitted = EM(BOUNDS).fit(given.ballots)
    assert fitted.n_iter_ == 8
    assert fitted.log_likelihoods_ == near(-599.168944, -599.168319, -599.168256, -599.16825)
    assert fitted.log_likelihood_ == pytest.approx(-389.467462, rel=1e-6), "of the ballots alone"
    rates = (0.858216791, 0.75220328, 0.847745018, 0.744409461, 0.688607475, 0.744139502, 0.764218651, 0.563729386)
    assert tuple(fitted.parameters_.hit_rates) == near(*rates)
    assert [each.more_ballots for each in fitted.review(0.95, seed=3)] == [7, 8, 7, 6, 6, 4, 5, 6, 3, 3]


def test_groups(given):
    two = EM(BOUNDS, groups=2, seed=1).fit(given.ballots)
    assert two.n_iter_ == 8
    assert two.log_likelihoods_ == near(-533.845519, -533.844851)
    assert two.log_likelihood_ == pytest.approx(-387.817237, rel=1e-6)
    priors = (0.270410552, 0.707481985, 0.296280613, 0.494361369, 0.385268346, 0.733671646)
    assert tuple(np.ravel(two.parameters_.group_priors)) == near(*priors)
    assert tuple(np.ravel(two.parameters_.group_shares)) == near(0.538835254, 0.461164746)
    for name in given.ballots.instances:
        assert two.truth_[name] == two.best_sets(name, 1)[0][0]
    three = EM(BOUNDS, groups=3, seed=2, shrinkage=1.5).fit(given.ballots)
    assert three.n_iter_ == 18
    assert (three.log_likelihoods_[-1], *np.ravel(three.parameters_.group_shares)) == near(
        -411.174293, 0.373157305, 0.354974129, 0.271868567
    )
    other = EM(BOUNDS, groups=3, seed=3, shrinkage=1.5).fit(given.ballots)
    assert (other.n_iter_, round(other.log_likelihoods_[-1], 3)) == (20, -411.167)


def test_a_stream_of_three_batches(given):
    fitted, names = EM(BOUNDS), given.ballots.instances
    for begin in range(0, 30, 10):
        fitted.partial_fit(given.ballots.select(instances=names[begin : begin + 10]))
    rates = (0.835819578, 0.737853706, 0.818149444, 0.743263995, 0.697888889, 0.740395511, 0.750524722, 0.595012188)
    assert tuple(fitted.model_.parameters.hit_rates) == near(*rates)
    assert tuple(fitted.model_.parameters.priors) == near(0.470349559, 0.484322471, 0.476528424)


def test_alternating_maximisation(given):
    fitted = AMLE(BOUNDS).fit(given.ballots)
    assert fitted.log_likelihoods_ == near(-388.009235, -388.001484, -388.001382, -388.001381, -388.001381)
    rates = (0.0869565217, 0.0001, 0.0652173913, 0.173913043, 0.239130435, 0.282608696, 0.260869565, 0.239130435)
    assert tuple(fitted.parameters_.false_alarm_rates) == near(*rates)


def test_calibration(given):
    gold = {name: given.gold[name] for name in given.ballots.instances[:6]}
    fitted = Calibrated(EM(BOUNDS)).fit(given.ballots, gold=gold)
    found, trial = fitted.calibration_, fitted.gold_trial_
    assert found is not None
    assert trial is not None
    weights = (found.scale, found.model_weight, found.share_weight, found.offset)
    assert weights == pytest.approx((0.984635583, 0.968987467, 0.140157879, -0.043272665), rel=1e-4)
    assert tuple(found.offsets) == pytest.approx((-1.31642099e-05, -0.0156268126, -0.00100036891), rel=1e-3, abs=1e-6)
    before = (0.998955165, 0.979169657, 0.999672758, 0.99996826, 0.999922163, 0.633055034)
    after = (0.998853953, 0.97684599, 0.999649233, 0.99995715, 0.999907094, 0.633948509)
    assert tuple(trial.confidence_before) == near(*before)
    assert tuple(trial.confidence_after) == pytest.approx(after, rel=1e-4)


def test_majority(given):
    rates = (0.948717949, 0.820512821, 0.897435897, 0.743589744, 0.717948718, 0.794871795, 0.769230769, 0.538461538)
    assert tuple(Majority(BOUNDS).fit(given.ballots).parameters_.hit_rates) == near(*rates)


def test_what_is_chosen(given):
    fitted = Auto(BOUNDS).fit(given.ballots)
    assert fitted.choices_ == (
        "few instances, where AMLE and EM find different sets on 6.7 % of them, and nothing shows that voters make the "
        "same mistakes",
    )
    assert fitted.confidence_ is not None
    assert tuple(fitted.confidence_[:5]) == near(0.998965215, 0.971309591, 0.999507273, 0.999976837, 0.999937979)
