"""The check without gold: halves of the voters, and simulated crowds like them."""

from dataclasses import replace

import numpy as np
import pytest

from epivote import AMLE, EM, Ballots, InputError, Majority, MaximumLikelihood, reproducibility, simulate
from epivote.estimate import reproducibility as module
from epivote.estimate.imitation import coincidence, imitate
from epivote.estimate.reproducibility import (
    Reproducibility,
    _at,
    checked_sample,
    fitted_copy,
    halves_agree,
    mistakes_coincide,
)

BOUNDS = (1, 3)


def crowd(shared, seed, instances=150):
    return simulate(
        instances=instances,
        voters=24,
        alternatives=6,
        bounds=BOUNDS,
        priors=[0.5, 0.4, 0.3, 0.3, 0.2, 0.1],
        ballots_per_instance=8,
        shared_mistakes=shared,
        seed=seed,
    )


def test_voters_who_err_independently_are_not_suspected():
    found = [reproducibility(EM(BOUNDS), crowd(0.0, seed, 80).ballots, splits=1) for seed in range(2)]
    assert [each.is_too_sure for each in found] == [False] * 2
    assert [each.scale for each in found] == [1.0] * 2
    assert abs(np.mean([each.agreement - each.expected_agreement for each in found])) < 0.15
    assert "no sign that voters make the same mistakes" in str(found[0])


def test_two_crowds_are_simulated_for_every_strength(monkeypatch):
    """One alone would make the comparison half as precise."""
    drawn, rule = crowd(0.4, 0, 60), MaximumLikelihood(0.7, 0.2, 0.3, BOUNDS)
    tried, progress = [], []
    monkeypatch.setattr(module, "imitate", lambda fitted, s, rng: tried.append(s) or imitate(fitted, s, rng))
    mistakes_coincide(fitted_copy(rule, drawn.ballots), np.random.default_rng(0), 2.0)
    assert tried == [0.0, 0.0]
    tried.clear()
    reproducibility(rule, drawn.ballots, splits=1, progress=progress.append)
    assert tried == sorted([0.0, 0.1, 0.3, 0.6][: len(progress) - 1] * 2)


def test_voters_who_err_together_are_found_and_the_scale_makes_confidence_less_wrong():
    for seed in range(1):
        drawn = crowd(0.4, seed)
        found = reproducibility(EM(BOUNDS), drawn.ballots, splits=1)
        assert found.is_too_sure
        assert 0.15 < found.shared_mistakes < 0.6
        assert found.coincidence > 3 * found.coincidence_error > 0
        fitted = EM(BOUNDS).fit(drawn.ballots)
        right = np.mean([fitted.truth_[name] == drawn.gold[name] for name in drawn.gold])
        before = fitted.confidence_.mean() - right
        work = fitted.estimate_
        from epivote import Calibration
        from epivote.estimate.outcome import calibrated_estimate
        from epivote.estimate.workload import InMemoryWorkload

        scaled = calibrated_estimate(
            InMemoryWorkload(work.ballots, work.bounds), work, Calibration.scaled(found.scale, 6, "halves")
        )
        assert scaled.truths == fitted.truth_
        after = scaled.posterior.set_probabilities.mean() - right
        assert before > 0.15
        assert abs(after) < before / 2
        assert "more often than chance explains" in str(found)


def test_one_seed_one_answer():
    ballots = crowd(0.4, 3, instances=25).ballots
    first, again, other = (reproducibility(EM(BOUNDS), ballots, splits=1, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_too_few_to_say():
    one = Ballots.from_mapping({("v", f"z{z}"): {"a"} for z in range(20)}, alternatives=["a", "b"])
    assert reproducibility(EM((0, 2)), one) is None
    for instances, expected in ((9, False), (10, True)):
        few = simulate(instances=instances, voters=4, alternatives=3, bounds=(1, 2), seed=1).ballots
        assert (reproducibility(EM((1, 2)), few, splits=1) is not None) == expected
    apart = Ballots.from_mapping({(f"v{z}", f"z{z}"): {"a"} for z in range(20)}, alternatives=["a", "b"])
    assert reproducibility(EM((0, 2)), apart) is None
    with pytest.raises(InputError, match="Majority states no confidence"):
        reproducibility(Majority((1, 2)), one)


def test_agreement_is_that_of_two_fits_by_hand():
    ballots = crowd(0.0, 5, instances=30).ballots
    found = halves_agree(EM(BOUNDS), ballots, np.random.default_rng(4))
    order = np.random.default_rng(4).permutation(24)
    halves = [[ballots.voters[i] for i in sorted(part)] for part in (order[:12], order[12:])]
    both = [z for z in ballots.instances if all(any(ballots.ballot(v, z) is not None for v in h) for h in halves)]
    answers = [
        EM(BOUNDS, tolerance=1e-3).fit(ballots.select(voters=half).select(instances=both)).truth_ for half in halves
    ]
    assert found.tolist() == [answers[0][z] == answers[1][z] for z in both]


def test_many_ballots_are_sampled():
    small = crowd(0.0, 1).ballots
    assert checked_sample(small) is small
    many = simulate(instances=2000, voters=20, alternatives=3, bounds=1, ballots_per_instance=5, seed=2).ballots
    sample = checked_sample(many)
    assert 2500 <= sample.n_ballots <= 3500
    assert reproducibility(EM(1), many, splits=1).is_sample


def test_progress_is_told():
    told = []
    reproducibility(EM(BOUNDS), crowd(0.0, 1, instances=20).ballots, splits=1, progress=told.append)
    assert told[0] == "Checking whether two halves of the voters agree"
    assert told[1] == "Simulating crowds like this one that share 0 % of their mistakes"


def test_amle_can_be_checked_too():
    assert isinstance(reproducibility(AMLE(BOUNDS), crowd(0.0, 2, instances=20).ballots, splits=1), Reproducibility)


@pytest.mark.parametrize(
    ("observed", "expected"), [(-1.0, (0.0, 1.0)), (0.5, (0.05, 0.5**0.5)), (1.0, (0.1, 0.5)), (9.0, (0.3, 0.25))]
)
def test_what_lies_between_simulated_crowds_is_interpolated(observed, expected):
    assert _at(observed, [(0.0, 0.0, 1.0), (0.1, 1.0, 0.5), (0.3, 2.0, 0.25)]) == pytest.approx(expected)


def test_imitated_ballots_keep_voters_menus_and_rates():
    drawn = crowd(0.0, 8, instances=400)
    fitted = EM(BOUNDS).fit(drawn.ballots)
    for shared in (0.0, 0.5):
        ballots, work, truths = imitate(fitted, shared, np.random.default_rng(1))
        assert np.array_equal(ballots.ballot_voter, drawn.ballots.ballot_voter)
        assert np.array_equal(ballots.ballot_start, drawn.ballots.ballot_start)
        sets = work.truths(truths)
        hits = sum(len(ticks & sets[z]) for (_, z), ticks in ballots.items())
        seen = sum(len(sets[z]) for _, z in (key for key, _ in ballots.items()))
        expected = np.sum(
            fitted.parameters_.hit_rates[ballots.ballot_voter] * [len(sets[z]) for (_, z), _ in ballots.items()]
        )
        assert hits / seen == pytest.approx(expected / seen, abs=0.06 if shared else 0.03)
    alone, together = (
        coincidence(EM(BOUNDS).fit(imitate(fitted, s, np.random.default_rng(2))[0]))[0] for s in (0, 0.5)
    )
    assert together > alone + 0.02


def test_imitated_ballots_tick_only_what_is_offered():
    menu = {f"z{z}": ["a", "b"] if z % 2 else ["b", "c", "d"] for z in range(12)}
    cast = {(f"v{i}", z): {menu[z][i % 2]} for i in range(6) for z in menu}
    ballots = Ballots.from_mapping(cast, menu=menu)
    drawn, _, _ = imitate(EM(1).fit(ballots), 0.3, np.random.default_rng(0))
    assert all(ticks <= set(menu[z]) for (_, z), ticks in drawn.items())
    assert drawn != ballots


def test_one_ballot_each_has_no_pairs():
    ballots = Ballots.from_mapping({(f"v{z}", f"z{z}"): {"a"} for z in range(5)}, alternatives=["a", "b"])
    assert coincidence(EM((0, 2)).fit(ballots)) == (0.0, 0.0)


def test_a_scale_close_to_one_is_not_worth_saying():
    found = Reproducibility(0.8, 0.8, 0.1, 0.01, 0.02, 1.0, 50, is_sample=False)
    assert not found.is_too_sure
    assert replace(found, scale=0.9).is_too_sure


def test_which_way_up_a_crowd_is_is_asked_once_and_by_every_fit_anew(monkeypatch):
    asked = []
    monkeypatch.setattr(EM, "_seems_upside_down", lambda _, ballots, *__: asked.append(ballots.n_instances) or turned)
    drawn = simulate(instances=30, voters=6, alternatives=4, bounds=1, hit_rates=0.1, false_alarm_rates=0.75, seed=3)
    for turned, sign in ((True, -1), (False, 1)):
        asked.clear()
        fitted = fitted_copy(EM(1, max_iterations=1), drawn.ballots)
        copies = [fitted_copy(each, drawn.ballots) for each in (fitted, fitted_copy(fitted, drawn.ballots))]
        assert asked == [30]
        assert {np.sign(each.parameters_.weights.mean()) for each in (fitted, *copies)} == {sign}
        assert reproducibility(fitted, drawn.ballots, splits=1) is not None
        assert asked == [30], "halves and simulated crowds are the same way up"
    refitted = EM(1).fit(drawn.ballots)
    asked.clear()
    refitted.fit(drawn.ballots)
    assert asked == [30]
