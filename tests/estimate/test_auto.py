"""What is chosen by default, by which evidence, and that it is said."""

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    Auto,
    Ballots,
    Calibrated,
    CrowdWarning,
    NotFittedError,
    load_model,
    reference_crowd,
    save_model,
    simulate,
)
from epivote.estimate import auto as module
from epivote.estimate.auto import _clearly_more, best_groups
from epivote.estimate.reproducibility import mistakes_coincide
from grouped import crowd_in_groups, share_right

BOUNDS = (1, 2)


def crowd(shared=0.0, instances=80, seed=1, **options):
    return simulate(
        instances=instances,
        voters=14,
        alternatives=5,
        bounds=BOUNDS,
        priors=0.3,
        ballots_per_instance=7,
        shared_mistakes=shared,
        seed=seed,
        **options,
    )


def test_quick_is_the_plain_method():
    drawn = crowd()
    found = Auto(BOUNDS, quick=True).fit(drawn.ballots)
    plain = EM(BOUNDS).fit(drawn.ballots)
    assert (found.method_, found.reproducibility_, found.gold_trial_) == ("em", None, None)
    assert found.truth_ == plain.truth_
    assert np.array_equal(found.confidence_, plain.confidence_)
    assert found.choices_ == ("voters voted on 50 % of the instances, less than AMLE needs",)
    assert isinstance(found.estimator_, EM)


def test_where_amle_finds_the_same_sets_em_is_taken_for_its_confidence():
    dense = simulate(instances=12, voters=9, alternatives=4, bounds=1, seed=2)
    soft, hard = EM(1).fit(dense.ballots), AMLE(1).fit(dense.ballots)
    assert soft.truth_ == hard.truth_
    assert hard.confidence_.min() > soft.confidence_.min()
    found, quick = Auto(1).fit(dense.ballots), Auto(1, quick=True).fit(dense.ballots)
    assert (found.method_, quick.method_) == ("em", "em")
    assert found.truth_ == soft.truth_
    assert np.array_equal(found.model_confidence_, soft.confidence_)
    assert found.choices_[0] == "few instances, on which AMLE finds the same sets but overstates its confidence"
    assert quick.choices_ == ("few instances, and nothing shows that voters make the same mistakes",)


@pytest.mark.parametrize(
    ("cast", "bounds", "most"),
    [
        ({("u", "y"): "ab", ("v", "y"): "c"}, (1, 2), 0.5),
        ({("u", "y"): "ab", ("v", "y"): "c"}, (0, None), 0.5),
        ({("u", "y"): "a", ("v", "y"): ""}, (0, 1), 0.5),
        ({("u", "y"): "a", ("v", "y"): "b", ("u", "z"): "b", ("v", "z"): "c"}, 1, 0.5),
        ({(v, z): z for v in "uv" for z in "ab"}, 1, 0.99999),
        ({(v, z): z for v in "uvw" for z in "ab"}, (1, 2), 0.9999),
    ],
)
def test_a_few_ballots_are_not_certain(cast, bounds, most):
    """Two voters who contradict each other do not make one of them an expert; nor do three who agree know all."""
    ballots = Ballots.from_mapping({key: set(ticks) for key, ticks in cast.items()}, alternatives=list("abc"))
    found = Auto(bounds).fit(ballots)
    assert found.confidence_.max() < most


@pytest.mark.parametrize("agreed", [3, 20, 60])
def test_two_voters_cannot_show_who_is_right_where_they_disagree(agreed):
    cast = {(voter, f"z{k}"): {"abc"[k % 3]} for voter in "uv" for k in range(agreed)}
    ballots = Ballots.from_mapping({**cast, ("u", "y"): {"a"}, ("v", "y"): {"b"}}, alternatives=list("abc"))
    for found in (Auto(1).fit(ballots), Auto(1, quick=True).fit(ballots)):
        assert found.confidence_[ballots.instance_index["y"]] == pytest.approx(0.5, abs=0.01)
        assert found.confidence_[0] > 0.99, "where they agree it stays high"
        assert "both voters are taken as equally reliable" in found.choices_[1]
    known = Auto(1, quick=True).fit(ballots, gold={f"z{k}": {"abc"[k % 3]} for k in range(3)})
    assert "both voters" not in " ".join(known.choices_)


@pytest.mark.parametrize("voters", [1, 3, 12])
def test_a_single_ballot_per_instance_teaches_nothing_about_voters(voters):
    cast = {(f"v{k % voters}", f"z{k}"): {"abcd"[k % 4]} for k in range(12)}
    ballots = Ballots.from_mapping(cast, alternatives=list("abcde"))
    found = Auto((1, 2), quick=True).fit(ballots)
    assert all(found.truth_[instance] == approved for (_, instance), approved in cast.items())
    assert found.confidence_.max() < 0.5
    assert found.choices_[1] == (
        "no instance has two ballots, so every voter is assumed to have a hit rate of 70 % and a false-alarm rate of 20 %"
    )


def dense_crowd(seed, hits, alarms, **options):
    return simulate(
        instances=15,
        voters=len(hits),
        alternatives=5,
        bounds=BOUNDS,
        hit_rates=np.array(hits),
        false_alarm_rates=np.array(alarms),
        priors=0.3,
        seed=seed,
        **options,
    )


@pytest.mark.slow
def test_among_adversaries_amle_is_not_taken():
    """Half the voters tick what is wrong; AMLE's start trusts those who agree and finds hardly a set."""
    for seed in range(3):
        drawn = dense_crowd(seed, [0.1] * 5 + [0.75] * 5, [0.75] * 5 + [0.1] * 5)
        found = Auto(BOUNDS).fit(drawn.ballots)
        soft, hard = EM(BOUNDS).fit(drawn.ballots), AMLE(BOUNDS).fit(drawn.ballots)
        assert found.method_ == "em"
        assert found.truth_ == soft.truth_
        right = [sum(each.truth_[name] == drawn.gold[name] for name in drawn.gold) for each in (soft, hard)]
        assert right[0] > right[1] + 8
        assert "misled by voters who are worse than chance" in found.choices_[0]


def test_where_amle_and_em_differ_shared_mistakes_decide(monkeypatch):
    poor = [0.9] * 2 + [0.45] * 8, [0.05] * 2 + [0.35] * 8
    drawn = next(
        each
        for each in (dense_crowd(seed, *poor) for seed in range(9))
        if EM(BOUNDS).fit(each.ballots).truth_ != AMLE(BOUNDS).fit(each.ballots).truth_
    )
    checked, errors = [], []
    monkeypatch.setattr(module, "reproducibility", lambda *_, **how: checked.append(how["errors"]))
    for coincide, method, why in (
        (True, "amle", "voters make the same mistakes more often than chance explains"),
        (False, "em", "nothing shows that voters make the same mistakes"),
    ):
        monkeypatch.setattr(module, "mistakes_coincide", lambda *of, c=coincide: errors.append(of[2]) or c)
        found = Auto(BOUNDS).fit(drawn.ballots)
        assert found.method_ == method
        assert found.choices_[0].startswith("few instances, where AMLE and EM find different sets on ")
        assert found.choices_[0].endswith(why)
    assert errors == [2.0, 2.0]
    assert checked == [2.0, 3.0], "confidence is checked by the measure by which the method was chosen"
    assert Auto(BOUNDS, quick=True).fit(drawn.ballots).method_ == "em", "nothing is simulated then"
    assert len(errors) == 2


def test_mistakes_coincide_where_voters_share_them():
    alone, together = (
        EM(BOUNDS).fit(dense_crowd(3, [0.7] * 20, [0.15] * 20, shared_mistakes=shared).ballots) for shared in (0, 0.5)
    )
    assert not mistakes_coincide(alone, np.random.default_rng(0), 2.0)
    assert mistakes_coincide(together, np.random.default_rng(0), 2.0)


@pytest.mark.slow
def test_groups_are_taken_where_alternatives_go_together():
    drawn, _ = crowd_in_groups(4000, instances=250, groups=4, each=2, inside=0.8, outside=0.02, ballots=4)
    found, plain = Auto((1, 4)).fit(drawn.ballots), EM((1, 4)).fit(drawn.ballots)
    assert found.estimator_.groups == 4
    assert found.parameters_.n_groups == 4
    assert share_right(found, drawn) > share_right(plain, drawn) + 0.05
    assert found.choices_[1] == "4 groups of instances with priors of their own, which explain the ballots much better"
    again = Auto((1, 4)).fit(drawn.ballots)
    assert again.truth_ == found.truth_
    assert again.choices_ == found.choices_


def test_groups_are_not_taken_where_nothing_goes_together(monkeypatch):
    drawn = crowd(instances=60)
    assert best_groups(EM(BOUNDS).fit(drawn.ballots), drawn.ballots) == 1
    assert Auto(BOUNDS).fit(drawn.ballots).estimator_.groups is None
    asked = []
    monkeypatch.setattr(module, "best_groups", lambda *_: 2)
    monkeypatch.setattr(module, "reproducibility", lambda *_, **__: None)
    monkeypatch.setattr(module, "halves_agree", lambda estimator, *_: asked.append(estimator.groups) or np.ones(60))
    assert Auto(BOUNDS).fit(drawn.ballots).estimator_.groups == 2
    assert set(asked) == {None}, "halves see too little of what goes together, and groups of them take long"


def test_more_groups_are_tried_only_while_they_help(monkeypatch):
    explained = {None: 0.0, 2: 60.0, 4: 200.0}
    asked = []

    def explains(estimator, *_):
        asked.append(estimator.groups)
        return explained[estimator.groups]

    monkeypatch.setattr(module, "_explained", explains)
    ballots = crowd(instances=80).ballots  # five alternatives: 6 numbers for every group more, 2 each
    assert best_groups(EM(BOUNDS), ballots) == 4
    assert asked == [None, 2, 4]
    asked.clear()
    explained[2] = 11.9
    assert best_groups(EM(BOUNDS), ballots) == 1
    assert asked == [None, 2]
    explained[2] = 12.0
    assert best_groups(EM(BOUNDS), ballots) == 4
    assert best_groups(EM(BOUNDS), crowd(instances=39).ballots) == 2, "ten instances for every group"


def test_voters_who_err_together_lower_confidence_but_change_no_set():
    drawn = crowd(shared=0.5, instances=120)
    found = Auto(BOUNDS).fit(drawn.ballots)
    quick = Auto(BOUNDS, quick=True).fit(drawn.ballots)
    assert found.reproducibility_.is_too_sure
    assert found.truth_ == found.estimator_.truth_
    assert found.confidence_.mean() < quick.confidence_.mean() - 0.03
    assert found.estimate_.calibration.source == "halves"
    assert found.estimate_.calibration.scale == found.reproducibility_.scale
    assert any("confidence lowered" in each for each in found.choices_)
    assert np.array_equal(found.model_confidence_, found.estimator_.confidence_)


def test_gold_calibrates_and_the_check_is_left_out():
    drawn = crowd(shared=0.5)
    gold = {name: drawn.gold[name] for name in list(drawn.gold)[:12]}
    found = Auto(BOUNDS).fit(drawn.ballots, gold=gold)
    assert isinstance(found.estimator_, Calibrated)
    assert found.reproducibility_ is None
    assert found.estimate_.calibration.source == "gold"
    assert found.choices_[-1] == "confidence calibrated with 12 gold sets"
    assert len(found.gold_trial_.instances) == 12
    again = Calibrated(found.estimator_.estimator).fit(drawn.ballots, gold=gold)
    assert again.truth_ == found.truth_
    assert np.array_equal(again.confidence_, found.confidence_)


def test_too_little_gold_is_checked_by_halves_instead():
    drawn = crowd(shared=0.5, instances=120)
    gold = {name: drawn.gold[name] for name in list(drawn.gold)[:2]}
    with pytest.warns(CrowdWarning, match="2 gold sets cannot calibrate"):
        found = Auto(BOUNDS).fit(drawn.ballots, gold=gold)
    assert found.reproducibility_ is not None
    assert found.estimate_.calibration.source == "halves"
    assert all(found.truth_[name] == names for name, names in gold.items())


def test_one_prior_for_all_is_taken_where_halves_then_agree_more_often(monkeypatch):
    drawn = crowd(instances=40)
    asked = []

    def agreed(estimator, _ballots, _rng):
        asked.append(estimator.priors)
        return np.arange(40) < (30 if estimator.priors == "shared" else 10)

    monkeypatch.setattr(module, "halves_agree", agreed)
    monkeypatch.setattr(module, "reproducibility", lambda *_, **__: None)
    found = Auto(BOUNDS).fit(drawn.ballots)
    assert asked == ["auto"] * 3 + ["shared"] * 3, "groups are not looked for once one prior is taken"
    assert found.estimator_.priors == "shared"
    assert found.choices_[1] == (
        "one prior for all alternatives: two halves of the voters then agree on 75 % of the sets instead of 25 %"
    )
    monkeypatch.setattr(module, "halves_agree", lambda *_: np.arange(40) < 20)
    assert Auto(BOUNDS).fit(drawn.ballots).estimator_.priors == "auto"


@pytest.mark.parametrize(("more", "expected"), [(2, False), (3, True)])
def test_the_gain_must_be_worth_it(more, expected):
    gains = np.zeros(3 * 100)
    gains[: 3 * more] = 1.0
    steady = np.full(300, more / 100)
    assert _clearly_more(steady) == expected
    assert not _clearly_more(gains), "as large as chance makes it"


def test_nothing_is_known_before_fit():
    for name in ("method_", "choices_", "estimator_", "reproducibility_", "gold_trial_"):
        with pytest.raises(NotFittedError):
            getattr(Auto(BOUNDS), name)


def test_it_is_saved_with_its_calibration(tmp_path):
    drawn = crowd(shared=0.5, instances=100)
    found = Auto(BOUNDS).fit(drawn.ballots)
    save_model(found, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert repr(loaded) == repr(found) == "Auto(bounds=(1, 2))"
    assert loaded.model_.calibration == found.estimate_.calibration
    assert loaded.predict(drawn.ballots) == found.truth_


def test_instances_to_answer_are_spread_over_all_degrees_of_confidence():
    drawn = crowd(instances=60)
    found = EM(BOUNDS).fit(drawn.ballots)
    order = [drawn.ballots.instances[z] for z in np.argsort(found.confidence_, kind="stable")]
    for seed in range(5):
        picked = found.pick_gold(6, seed=seed)
        assert [order.index(name) // 10 for name in picked] == list(range(6))
    assert found.pick_gold(6, seed=1) == found.pick_gold(6, seed=1) != found.pick_gold(6, seed=2)
    assert sorted(found.pick_gold(60)) == sorted(drawn.ballots.instances)
    gold = {order[0]: drawn.gold[order[0]]}
    assert order[0] not in EM(BOUNDS).fit(drawn.ballots, gold=gold).pick_gold(59)
    assert sorted(found.pick_gold(61)) == sorted(drawn.ballots.instances), "all there are"
    for count in (0, 2.5):
        with pytest.raises(ValueError, match=f"^count={count} must be a whole number of instances, at least 1$"):
            found.pick_gold(count)
    known = EM(BOUNDS).fit(drawn.ballots, gold=drawn.gold)
    with pytest.raises(ValueError, match="^every instance has a gold set already; there is none left to choose$"):
        known.pick_gold(1)


def test_every_instance_is_as_likely_to_be_picked():
    drawn = crowd(instances=10)
    found = EM(BOUNDS).fit(drawn.ballots)
    times = dict.fromkeys(drawn.ballots.instances, 0)
    for seed in range(400):
        for name in found.pick_gold(3, seed=seed):
            times[name] += 1
    assert all(abs(count - 120) < 40 for count in times.values())


def test_groups_that_do_not_exist_are_given_up_when_nothing_is_gained(monkeypatch):
    crowd = reference_crowd(300, 40, 8, 3, seed=2)
    soon = EM((1, 3), groups=2).fit(crowd.ballots)
    monkeypatch.setattr("epivote.estimate.em.SMALLEST_GAIN", 0.0)
    late = EM((1, 3), groups=2).fit(crowd.ballots)
    assert soon.converged_
    assert soon.n_iter_ < 0.7 * late.n_iter_
    assert late.log_likelihoods_[-1] - soon.log_likelihoods_[-1] < 0.1
    assert np.mean([soon.truth_[name] == late.truth_[name] for name in soon.truth_]) > 0.97
