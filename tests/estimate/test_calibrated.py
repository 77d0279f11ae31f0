"""Confidence calibrated with gold: what is kept, what changes, what is refused."""

import math
import warnings

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    Approval,
    Ballots,
    BoundsError,
    Calibrated,
    Calibration,
    CrowdWarning,
    InputError,
    Majority,
    MaximumLikelihood,
    NotFittedError,
    load_model,
    open_packed,
    save_model,
    simulate,
    write_estimate,
    write_packed,
)
from epivote.data.calibration import Calibration as Value
from epivote.estimate import calibrated as module
from epivote.estimate.outcome import calibrated_estimate
from epivote.estimate.workload import InMemoryWorkload

BOUNDS = (1, 2)


@pytest.fixture(scope="module")
def together():
    """A crowd whose voters share mistakes."""
    return simulate(instances=240, voters=10, alternatives=5, bounds=BOUNDS, priors=0.3, shared_mistakes=0.5, seed=11)


def some_gold(crowd, count, step=7):
    names = list(crowd.gold)
    return {names[(k * step) % len(names)]: crowd.gold[names[(k * step) % len(names)]] for k in range(count)}


@pytest.fixture(scope="module")
def fitted(together):
    return Calibrated(EM(BOUNDS)).fit(together.ballots, gold=some_gold(together, 20))


def test_confidence_comes_closer_to_what_is_right(together, fitted):
    rest = [z for z, name in enumerate(together.ballots.instances) if name not in fitted.estimate_.gold]
    names = [together.ballots.instances[z] for z in rest]
    right = np.mean([fitted.truth_[name] == together.gold[name] for name in names])
    plain = EM(BOUNDS).fit(together.ballots)
    before = plain.confidence_[rest].mean()
    after = fitted.confidence_[rest].mean()
    assert before - right > 0.15, "this crowd makes the model too sure"
    assert abs(after - right) < 0.08
    assert right > np.mean([plain.truth_[name] == together.gold[name] for name in names]) - 0.05


def test_gold_sets_stay_as_given_and_are_certain(together, fitted):
    for name, names in some_gold(together, 20).items():
        assert fitted.truth_[name] == names
        assert fitted.confidence_[together.ballots.instance_index[name]] == 1.0
    assert fitted.estimate_.gold == frozenset(some_gold(together, 20))


def test_a_little_gold_does_not_teach_the_estimator(together, fitted):
    assert fitted.parameters_ == EM(BOUNDS).fit(together.ballots).parameters_
    assert fitted.estimator_.parameters_ == fitted.parameters_


@pytest.mark.parametrize(("count", "taught"), [(23, False), (24, True)])
def test_a_tenth_of_gold_teaches_the_estimator_and_is_left_out_in_turn(together, count, taught):
    found = Calibrated(MaximumLikelihood(0.7, 0.2, 0.3, BOUNDS))
    gold = some_gold(together, count)
    found.fit(together.ballots, gold=gold)
    assert (found.estimator_.estimate_.gold == frozenset(gold)) == taught
    assert len(found.gold_trial_.instances) == count


def test_what_was_learnt_from_all_gold_is_kept_although_some_was_left_out_in_turn(together, monkeypatch):
    monkeypatch.setattr(module, "STRENGTHS", module.STRENGTHS[2:3])
    gold, told = some_gold(together, 30), []
    found = Calibrated(EM(BOUNDS)).fit(together.ballots, gold=gold, progress=lambda step, _: told.append(step))
    assert found.estimator_.estimate_.gold == frozenset(gold)
    assert told == sorted(set(told)), "and only its own progress is told"


def test_the_trial_before_calibration_is_the_model_without_that_gold(together, fitted):
    plain = EM(BOUNDS).fit(together.ballots)
    trial = fitted.gold_trial_
    assert trial.instances == tuple(sorted(some_gold(together, 20)))
    for name, right, confidence in zip(trial.instances, trial.right_before, trial.confidence_before, strict=True):
        z = together.ballots.instance_index[name]
        assert right == (plain.truth_[name] == together.gold[name])
        assert confidence == pytest.approx(plain.confidence_[z], abs=1e-12)
    assert trial.confidence_after.mean() < trial.confidence_before.mean()
    assert trial.confidence_after.mean() == pytest.approx(trial.right_after.mean(), abs=0.3)


def test_each_trial_was_learnt_without_its_own_gold_set(together, monkeypatch):
    """Another gold set changes what is said of instances in other folds, and of none in its own."""
    monkeypatch.setattr(module, "STRENGTHS", module.STRENGTHS[2:3])
    monkeypatch.setattr(module, "CENTRES", [(1.0, 0.0)])
    gold = some_gold(together, 10)
    name = sorted(gold)[3]
    other = {**gold, name: next(each for each in together.gold.values() if each != gold[name])}
    one, two = (Calibrated(EM(BOUNDS)).fit(together.ballots, gold=each).gold_trial_ for each in (gold, other))
    for place in range(10):
        assert (one.confidence_after[place] == two.confidence_after[place]) == (place % 5 == 3), place


def test_the_models_number_is_that_of_the_set_returned(together, fitted):
    plain = EM(BOUNDS).fit(together.ballots)
    changed = 0
    for z, name in enumerate(together.ballots.instances):
        if name not in fitted.estimate_.gold:
            chances = dict(plain.best_sets(name, 15))
            assert fitted.model_confidence_[z] == pytest.approx(chances[fitted.truth_[name]], abs=1e-12)
            changed += plain.truth_[name] != fitted.truth_[name]
    assert changed > 0


def test_the_order_of_gold_and_of_ballots_does_not_matter(together, fitted):
    gold = dict(reversed(some_gold(together, 20).items()))
    other = Calibrated(EM(BOUNDS)).fit(together.ballots, gold=gold)
    assert other.truth_ == fitted.truth_
    assert np.allclose(other.confidence_, fitted.confidence_, rtol=0, atol=1e-9)
    turned = Ballots.from_mapping(
        dict(reversed(list(together.ballots.items()))), alternatives=together.ballots.alternatives
    )
    shuffled = Calibrated(EM(BOUNDS)).fit(turned, gold=gold)
    assert all(shuffled.truth_[name] == fitted.truth_[name] for name in fitted.truth_)
    assert shuffled.calibration_.scale == pytest.approx(fitted.calibration_.scale, abs=1e-4)


def test_a_calibration_that_changes_nothing_gives_the_model_to_the_last_bit(together):
    plain = EM(BOUNDS).fit(together.ballots)
    work = InMemoryWorkload(together.ballots, plain.estimate_.bounds)
    same = calibrated_estimate(work, plain.estimate_, Calibration.identity(5))
    assert np.array_equal(same.posterior.set_probabilities, plain.confidence_)
    assert np.array_equal(same.posterior.inclusion, plain.estimate_.posterior.inclusion)
    assert same.truths == plain.truth_
    assert np.array_equal(same.uncalibrated.set_probabilities, plain.confidence_)


def test_everything_downstream_speaks_the_calibrated_number(together, fitted):
    doubts = {each.instance: each for each in fitted.review(1.0, most=0)}
    index = together.ballots.instance_index
    name = next(each for each in together.ballots.instances if each not in fitted.estimate_.gold)
    stated = fitted.confidence_[index[name]]
    assert doubts[name].confidence == stated
    best, chance = fitted.best_sets(name, 1)[0]
    assert (best, chance) == (fitted.truth_[name], pytest.approx(stated, abs=1e-12))
    told = fitted.explain(name)
    assert told.confidence == pytest.approx(stated, abs=1e-12)
    assert fitted.decide("exact") == fitted.truth_
    for account in told.accounts:
        assert math.fsum([account.prior, *account.pushes.values(), account.calibration]) == pytest.approx(
            account.margin, abs=1e-9
        )
        c, known = fitted.calibration_, together.ballots
        ticked = len(account.ticked_by)
        share = math.log((ticked + 0.5) / (known.ballots_per_instance[index[name]] - ticked + 0.5))
        model = math.fsum([account.prior, *account.pushes.values()])
        by_hand = c.scale * (c.model_weight * model + c.share_weight * share) + c.offset
        by_hand += c.offsets[known.alternatives.index(account.alternative)]
        assert account.margin == pytest.approx(by_hand, abs=1e-9)
    assert "calibration" in told.to_text()
    inclusion = dict(
        zip(
            fitted.inclusion_["alternative"][5 * index[name] : 5 * index[name] + 5].to_list(),
            fitted.inclusion_["probability"][5 * index[name] : 5 * index[name] + 5].to_list(),
            strict=True,
        )
    )
    assert {a.alternative: a.probability for a in told.accounts} == pytest.approx(inclusion, abs=1e-12)


def test_the_models_own_number_stands_beside_it(together, fitted, tmp_path):
    write_estimate(fitted.estimate_, tmp_path)
    head, *rows = (tmp_path / "truth.csv").read_text().splitlines()
    assert head == "instance,alternatives,confidence,model_confidence"
    cells = [row.split(",") for row in rows]
    assert [float(row[2]) for row in cells] == fitted.confidence_.tolist()
    assert [float(row[3]) for row in cells] == fitted.model_confidence_.tolist()
    assert not np.array_equal(fitted.confidence_, fitted.model_confidence_)
    plain = EM(BOUNDS).fit(together.ballots)
    assert np.array_equal(plain.model_confidence_, plain.confidence_)


@pytest.mark.parametrize("rule", [Majority(BOUNDS), Approval(BOUNDS)], ids=lambda rule: type(rule).__name__)
def test_rules_that_count_are_calibrated_by_the_share_of_approvals(together, rule):
    found = Calibrated(rule).fit(together.ballots, gold=some_gold(together, 20))
    name = next(each for each in together.ballots.instances if each not in found.estimate_.gold)
    for account in found.explain(name).accounts:
        assert (account.prior, account.pushes) == (0.0, {})
        assert account.calibration == account.margin
        cast = together.ballots.ballots_per_instance[together.ballots.instance_index[name]]
        c, ticked = found.calibration_, len(account.ticked_by)
        share = c.scale * c.share_weight * math.log((ticked + 0.5) / (cast - ticked + 0.5))
        offset = c.offset + c.offsets[together.ballots.alternatives.index(account.alternative)]
        assert account.margin == pytest.approx(share + offset, abs=1e-9)
    assert found.model_confidence_ is None
    assert list(found.estimate_.truth_table()) == ["instance", "alternatives", "confidence"]


@pytest.mark.parametrize("inner", [EM(BOUNDS), AMLE(BOUNDS, "uniform"), Majority(BOUNDS)], ids=repr)
def test_it_is_saved_and_predicts_as_before(together, inner, tmp_path):
    found = Calibrated(inner).fit(together.ballots, gold=some_gold(together, 20))
    save_model(found, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert repr(loaded) == repr(found)
    assert loaded.calibration_ == found.calibration_
    others = [name for name in together.ballots.instances if name not in found.estimate_.gold]
    sample = together.ballots.select(instances=others[:50])
    assert loaded.predict(sample) == found.predict(sample)
    assert all(loaded.predict(sample)[name] == found.truth_[name] for name in others[:50])


def test_strange_alternatives_get_no_offset_of_their_own(fitted):
    known = fitted.model_
    new = Ballots.from_mapping({("v1", "new"): {"a2", "other"}}, alternatives=["other", "a2"])
    assert known.calibration_for(new).offsets.tolist() == [0.0, fitted.calibration_.offsets[1]]
    assert len(fitted.predict(new)["new"]) in (1, 2)


def test_packed_ballots_can_be_calibrated(together, fitted, tmp_path):
    names = together.ballots.instances
    write_packed((together.ballots.select(instances=names[k : k + 70]) for k in range(0, 240, 70)), tmp_path / "packed")
    packed = Calibrated(EM(BOUNDS)).fit(open_packed(tmp_path / "packed"), gold=some_gold(together, 20))
    assert packed.truth_ == fitted.truth_
    assert np.allclose(packed.confidence_, fitted.confidence_, rtol=0, atol=1e-6)
    assert np.allclose(packed.model_confidence_, fitted.model_confidence_, rtol=0, atol=1e-6)
    parts = np.concatenate([part.posterior.set_probabilities for part in packed.estimate_.parts()])
    assert np.array_equal(parts, packed.confidence_)


def test_it_is_a_good_citizen_of_scikit_learn():
    from sklearn.base import clone

    estimator = Calibrated(EM((1, 2), shrinkage=3))
    copy = clone(estimator)
    assert repr(copy) == "Calibrated(estimator=EM(bounds=(1, 2), shrinkage=3))"
    assert copy.estimator is not estimator.estimator
    assert copy.get_params()["estimator__shrinkage"] == 3
    assert set(copy.get_params(deep=False)) == {"estimator"}
    copy.set_params(estimator__shrinkage=5, estimator__bounds=2)
    assert (copy.estimator.shrinkage, copy.bounds) == (5, 2)
    with pytest.raises(InputError, match="no parameter 'shrinkag'"):
        copy.set_params(estimator__shrinkag=5)


def test_too_little_gold_is_said_and_still_teaches(together):
    gold = some_gold(together, 2)
    with pytest.warns(CrowdWarning, match="2 gold sets cannot calibrate confidence") as told:
        found = Calibrated(EM(BOUNDS)).fit(together.ballots, gold=gold)
    assert [each.filename for each in told] == [__file__], "whoever called it is named"
    assert found.calibration_ is None
    assert found.gold_trial_ is None
    taught = EM(BOUNDS).fit(together.ballots, gold=gold)
    assert found.parameters_ == taught.parameters_
    assert np.array_equal(found.confidence_, taught.confidence_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            Calibrated(EM(BOUNDS)).fit(together.ballots, gold=some_gold(together, 3, step=10)).calibration_ is not None
        )


def test_gold_sets_that_are_all_alike_are_said_and_still_teach(together):
    same = {name: names for name, names in together.gold.items() if names == frozenset({"a1"})}
    assert len(same) >= 3
    with pytest.warns(CrowdWarning, match=f"all {len(same)} gold sets are the same"):
        assert Calibrated(EM(BOUNDS)).fit(together.ballots, gold=same).calibration_ is None


def test_gold_of_one_size_says_nothing_about_sizes(together):
    single = dict([(name, names) for name, names in together.gold.items() if len(names) == 1][:15])
    with pytest.warns(CrowdWarning, match="all gold sets have 1 alternative, although") as told:
        found = Calibrated(EM(BOUNDS)).fit(together.ballots, gold=single).calibration_
    assert [each.filename for each in told] == [__file__]
    assert abs(found.offset) < 0.2
    assert found.offsets.tolist() == [0.0] * 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Calibrated(EM(1)).fit(together.ballots, gold=single)


@pytest.fixture
def in_one_way(monkeypatch):
    """One strength and one centre of beliefs, which is quick."""
    monkeypatch.setattr(module, "STRENGTHS", module.STRENGTHS[2:3])
    monkeypatch.setattr(module, "CENTRES", [(1.0, 0.0)])


@pytest.mark.usefixtures("in_one_way")
@pytest.mark.parametrize(("most", "step"), [(20, 1), (19, 2), (10, 2), (9, 3)])
def test_very_much_gold_is_used_in_part_evenly(together, monkeypatch, most, step):
    monkeypatch.setattr(module, "MOST_GOLD", most)
    gold = some_gold(together, 20)
    found = Calibrated(MaximumLikelihood(0.7, 0.2, 0.3, BOUNDS)).fit(together.ballots, gold=gold)
    assert found.gold_trial_.instances == tuple(sorted(gold))[::step]
    assert all(found.truth_[name] == names for name, names in gold.items()), "all of it is kept as given"


@pytest.mark.usefixtures("in_one_way")
@pytest.mark.parametrize(("most", "own"), [(5, True), (4, False)])
def test_alternatives_have_offsets_of_their_own_unless_they_are_very_many(together, monkeypatch, most, own):
    monkeypatch.setattr(module, "MOST_OFFSETS", most)
    found = Calibrated(MaximumLikelihood(0.7, 0.2, 0.3, BOUNDS)).fit(together.ballots, gold=some_gold(together, 20))
    assert bool(np.any(found.calibration_.offsets != 0)) == own


def test_bad_input(together):
    with pytest.raises(InputError, match="Calibrated needs gold sets"):
        Calibrated(EM(BOUNDS)).fit(together.ballots)
    with pytest.raises(InputError, match="none of the 3 gold instances has a ballot"):
        Calibrated(EM(BOUNDS)).fit(together.ballots, gold={"x": ["a1"], "y": ["a2"], "z": ["a1"]})
    gold = {**some_gold(together, 5), together.ballots.instances[0]: {"a1", "a2", "a3"}}
    with pytest.raises(BoundsError, match="has 3 alternatives, outside the size bounds 1..2"):
        Calibrated(EM(BOUNDS)).fit(together.ballots, gold=gold)
    for wrong in (Calibrated(EM(BOUNDS)), "em", EM):
        with pytest.raises(InputError, match="Calibrated wraps an estimator"):
            Calibrated(wrong).fit(together.ballots, gold=some_gold(together, 5))
    with pytest.raises(NotFittedError):
        _ = Calibrated(EM(BOUNDS)).gold_trial_


def test_menus_share_one_offset():
    rng = np.random.default_rng(8)
    crowd = simulate(instances=60, voters=8, alternatives=6, bounds=(1, 2), priors=0.3, seed=rng)
    menu = {
        name: sorted(crowd.gold[name] | set(rng.choice(crowd.ballots.alternatives, 3).tolist()))
        for name in crowd.ballots.instances
    }
    cast = {key: ticks & set(menu[key[1]]) for key, ticks in crowd.ballots.items()}
    ballots = Ballots.from_mapping(cast, alternatives=crowd.ballots.alternatives, menu=menu)
    found = Calibrated(EM((1, 2))).fit(ballots, gold=some_gold(crowd, 15, step=1))
    assert found.calibration_.offsets.tolist() == [0.0] * 6
    assert found.calibration_ != Value.identity(6)


def test_model_confidence_is_that_of_the_posterior_under_the_model(together, fitted, tmp_path):
    known = fitted.estimate_
    stated = known.uncalibrated.set_probabilities
    assert np.array_equal(known.model_confidence, stated)
    assert {known.model_confidence[z] for z in together.ballots.places(known.gold).values()} == {1.0}
    places = np.array([0, 3, 4, 30])
    assert np.array_equal(known.at(places).model_confidence, stated[places])
    names = together.ballots.instances
    parts = (together.ballots.select(instances=some) for some in (names[:50], names[50:]))
    packed = write_packed(parts, tmp_path / "packed")
    gold = some_gold(together, 20)
    again = Calibrated(EM(BOUNDS)).fit(packed, gold=gold).estimate_
    assert np.array_equal(again.model_confidence, again.uncalibrated.set_probabilities)
    assert again.model_confidence == pytest.approx(stated, abs=1e-6)


def test_sets_that_are_kept_are_those_of_the_parameters_asked_for(together, fitted):
    known = fitted.estimate_
    work = InMemoryWorkload(together.ballots, known.bounds, known.gold_sets)
    other = EM(BOUNDS, priors=0.5).fit(together.ballots).parameters_
    asked = [(known.parameters, None), (known.parameters, known.calibration), (other, known.calibration), (other, None)]
    for parameters, calibration in (*asked, *reversed(asked)):
        fresh = InMemoryWorkload(together.ballots, known.bounds, known.gold_sets)
        found, expected = (each.best_sets(parameters, calibration) for each in (work, fresh))
        assert all(np.array_equal(one, two) for one, two in zip(found, expected, strict=True))
        assert work.best_sets(parameters, calibration) is found, "asked again, nothing is worked out"
        assert not any(sets.flags.writeable for sets in found)
