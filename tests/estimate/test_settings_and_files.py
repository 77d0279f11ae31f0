"""Settings at their limits, and what is carried from one call to the next: files, copies, blocks on disk."""

import copy
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from epivote import (
    AMLE,
    EM,
    Approval,
    Ballots,
    CrowdWarning,
    FileError,
    InputError,
    Majority,
    MaximumLikelihood,
    Modal,
    NotFittedError,
    SizeBounds,
    load_model,
    open_packed,
    save_model,
    simulate,
    write_packed,
)
from epivote.estimate.maximise import prior_kind
from small import rates_of

QUIZ = Ballots.from_mapping(
    {("v", "x"): {"a"}, ("w", "x"): {"a", "b"}, ("v", "y"): {"b"}}, alternatives=["a", "b", "c"]
)


@pytest.mark.parametrize("kind", [AMLE, EM])
def test_settings_are_accepted_up_to_their_limits_and_refused_beyond(kind):
    for options in (
        *({"floor": 1e-12}, {"floor": 0.499}, {"tolerance": 0}, {"tolerance": 0.999}, {"tolerance": 0.0}),
        *({"max_iterations": 1}, {"max_iterations": np.int64(2)}),
    ):
        kind(1, **{"max_iterations": 2, **options}).fit(QUIZ)
    for options, said in (
        *(({"floor": value}, "must lie between 1e-12 and 0.5") for value in (0.5, 9e-13, 0, -1, "a", None)),
        *(({"tolerance": value}, "must be at least 0 and less than 1") for value in (1, 1.0, -1e-9, "a", None)),
        *(({"max_iterations": value}, "must be a whole number of at least 1") for value in (0, -1, 1.5, "2", None)),
    ):
        with pytest.raises(InputError, match=said):
            kind(1, **options).fit(QUIZ)


def test_shrinkage_and_starts_are_accepted_up_to_their_limits():
    for value in (0, 0.0, 0.5, 1e6, "auto"):
        EM(1, shrinkage=value, max_iterations=1).fit(QUIZ)
    for value in (-0.1, np.inf, np.nan, "none", None):
        with pytest.raises(InputError, match="must be 'auto' or a number of at least 0"):
            EM(1, shrinkage=value).fit(QUIZ)
        with pytest.raises(InputError, match="must be 'auto' or a number of at least 0"):
            EM(1, shrinkage=value).partial_fit(QUIZ)
    for value in (0, 1.5, "1"):
        with pytest.raises(InputError, match="n_starts=.* must be a whole number of at least 1"):
            AMLE(1, n_starts=value).fit(QUIZ)
    with pytest.raises(InputError, match="prior_update='published' has no formula for a shared prior"):
        AMLE(1, prior_update="published", priors="shared").fit(QUIZ)


def test_what_priors_mean_depends_on_menus_and_on_the_number_of_instances():
    menus = Ballots.from_mapping(
        dict(QUIZ.items()), alternatives=["a", "b", "c"], menu={"x": ["a", "b"], "y": ["b", "c"]}
    )
    one = QUIZ.select(instances=["x"])
    assert [prior_kind(said, QUIZ) for said in ("auto", "individual", "shared", 0.3)] == [
        *("individual", "individual", "shared", "fixed")
    ]
    assert [prior_kind(said, menus) for said in ("auto", "individual", "shared", [0.3] * 3)] == [
        *("shared", "individual", "shared", "fixed")
    ]
    assert [prior_kind(said, one) for said in ("auto", 0.3)] == ["fixed", "fixed"]
    for said in ("individual", "shared"):
        with pytest.raises(InputError, match="priors cannot be learnt from one instance"):
            prior_kind(said, one)


@pytest.mark.parametrize("floor", [0.2, 0.05])
def test_all_rates_stay_within_the_floor(floor):
    ballots = Ballots.from_mapping({(v, z): {"a"} for v in "uvw" for z in "xyz"}, alternatives=["a", "b", "c"])
    for rule in (AMLE(1, floor=floor), EM(1, floor=floor, shrinkage=0)):
        for found in rates_of(rule.fit(ballots))[:2]:
            assert min(found.values()) == pytest.approx(floor) or min(found.values()) > floor
            assert max(found.values()) == pytest.approx(1 - floor) or max(found.values()) < 1 - floor
        assert rates_of(rule)[0]["u"] == pytest.approx(1 - floor)


# From one call to the next


def test_a_fit_forgets_the_checkpoint_and_the_kind_of_table_of_the_one_before(tmp_path):
    rule = EM(1, max_iterations=2)
    table = pd.DataFrame({"voter": ["v", "w", "v"], "instance": ["x", "x", "y"], "alternatives": ["a", "a|b", "b"]})
    rule.fit(table, checkpoint=tmp_path / "kept")
    assert isinstance(rule.voters_, pd.DataFrame)
    before = (tmp_path / "kept").read_bytes()
    rule.fit(QUIZ)
    assert isinstance(rule.voters_, pl.DataFrame)
    assert (tmp_path / "kept").read_bytes() == before


def test_fit_predict_takes_gold_and_history():
    crowd = simulate(instances=12, voters=4, alternatives=4, bounds=1, spammers=0.5, seed=1)
    gold = {"i1": {"a1"}, "i2": {"a1"}}
    history = {"v1": (1, 30, 28, 30)}
    for rule in (EM(1), AMLE(1)):
        expected = rule.fit(crowd.ballots, gold, history).truth_
        assert expected["i1"] == expected["i2"] == {"a1"}
        assert rule.fit_predict(crowd.ballots, gold, history) == expected
        assert rule.fit_predict(crowd.ballots, history=history) == rule.fit(crowd.ballots, None, history).truth_


def test_a_crowd_upside_down_is_said_where_fit_was_called():
    ballots = simulate(instances=60, voters=6, alternatives=4, bounds=1, hit_rates=0.1, false_alarm_rates=0.7).ballots
    for call in (EM(1).fit, AMLE(1).fit, EM(1).partial_fit):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call(ballots)
        assert [(each.category, each.filename) for each in seen] == [(CrowdWarning, __file__)]


def test_strangers_get_the_mean_of_the_voters_and_alternatives_known():
    start = [0.9, 0.7, 0.6], [0.3, 0.2, 0.1], [0.2, 0.4, 0.5, 0.8]
    ballots = simulate(instances=5, voters=3, alternatives=4, bounds=1, seed=1).ballots
    fitted = MaximumLikelihood(*start, 1).fit(ballots)
    new = Ballots.from_mapping({("v3", "q"): {"a2"}, ("new", "q"): {"other"}}, alternatives=["other", "a2", "a1"])
    found = fitted.model_.parameters_for(new)
    rates = (
        dict(zip(new.voters, found.hit_rates, strict=True)),
        dict(zip(new.voters, found.false_alarm_rates, strict=True)),
    )
    assert rates[0] == pytest.approx({"v3": 0.6, "new": 2.2 / 3})
    assert rates[1] == pytest.approx({"v3": 0.1, "new": 0.2})
    assert found.priors == pytest.approx([1.9 / 4, 0.4, 0.2])


@pytest.mark.parametrize(
    "priors",
    [0.3, np.float64(0.3), [0.1, 0.2, 0.3], np.array([0.1, 0.2, 0.3]), {"a": 0.1, "b": 0.2, "c": 0.3}, "shared"],
)
def test_settings_of_every_kind_come_back_from_a_file(priors, tmp_path):
    for rule in (EM((1, None), priors=priors), AMLE("1..2", priors=priors, seed=None), AMLE(2, priors=priors)):
        save_model(rule.fit(QUIZ), tmp_path / "model.json")
        again = load_model(tmp_path / "model.json")
        assert type(again) is type(rule)
        for name, value in rule.get_params().items():
            np.testing.assert_equal(
                again.get_params()[name], value if name != "priors" else getattr(priors, "tolist", lambda: priors)()
            )
        assert again.predict(QUIZ) == rule.predict(QUIZ)
        assert again.fit(QUIZ).parameters_ == rule.parameters_


# Files


def test_files_say_their_version_and_older_ones_and_later_small_changes_are_read(tmp_path):
    path = tmp_path / "model.json"
    save_model(EM(1).fit(QUIZ), path)
    whole = json.loads(path.read_text())
    assert (whole["format"], whole["version"], whole["estimator"]) == ("epivote model", "1.2", "EM")
    for version in ("0.9", "1", "1.9", "1.10"):
        path.write_text(json.dumps({**whole, "version": version}))
        assert load_model(path).predict(QUIZ) == EM(1).fit(QUIZ).predict(QUIZ)
    for version in ("2", "2.0", "10.1"):
        path.write_text(json.dumps({**whole, "version": version}))
        with pytest.raises(
            FileError, match=f"was written by a newer epivote .model version {version}.; update epivote"
        ):
            load_model(path)
    for version in (None, "", "x.1", "-1"):
        path.write_text(json.dumps({**whole, "version": version}))
        with pytest.raises(FileError, match="does not say its version"):
            load_model(path)


def test_other_files_are_refused_by_name(tmp_path):
    path = tmp_path / "model.json"
    save_model(EM(1).fit(QUIZ), path)
    whole = json.loads(path.read_text())
    for other in ([], "text", None, {**whole, "format": "other"}, {**whole, "estimator": "Majority"}, {}):
        path.write_text(json.dumps(other))
        with pytest.raises(FileError, match="is not a saved model of epivote; write one with save_model"):
            load_model(path)
    with pytest.raises(FileError, match="is not a saved model: "):
        load_model(tmp_path)
    for key in ("settings", "model", "stream"):
        path.write_text(json.dumps({name: value for name, value in whole.items() if name != key}))
        with pytest.raises(FileError, match="is damaged or not for this epivote"):
            load_model(path)
    with pytest.raises(NotFittedError):
        save_model(EM(1), path)


def test_a_loaded_model_answers_until_it_is_fitted_anew(tmp_path):
    crowd = simulate(instances=20, voters=5, alternatives=4, bounds=(1, 2), spammers=0.4, seed=1).ballots
    first, second = crowd.select(instances=crowd.instances[:10]), crowd.select(instances=crowd.instances[10:])
    for rule in (EM((1, 2)), AMLE((1, 2)), MaximumLikelihood([0.9, 0.8, 0.7, 0.6, 0.5], 0.2, 0.3, (1, 2))):
        save_model(rule.fit(first), tmp_path / "model.json")
        loaded = load_model(tmp_path / "model.json")
        assert loaded.model_.parameters == rule.model_.parameters
        assert loaded.model_.voters == first.voters
        assert loaded.model_.alternatives == first.alternatives
        assert loaded.predict(second) == rule.predict(second)
        with pytest.raises(NotFittedError):
            loaded.truth_  # noqa: B018
        assert loaded.fit(second).model_.parameters == rule.fit(second).parameters_


@pytest.mark.parametrize("turned", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_of_fitted_rules_give_the_same_sets(turned):
    crowd = simulate(instances=20, voters=5, alternatives=4, bounds=(1, 2), seed=1).ballots
    for rule in (EM((1, 2)), AMLE((1, 2)), Majority((1, 2))):
        fitted = rule.fit(crowd)
        again = turned(fitted)
        assert "engine" not in vars(again.estimate_.compute_truths.args[0])
        assert again.truth_ == fitted.truth_
        assert again.parameters_ == fitted.parameters_


# Blocks on disk


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    crowd = simulate(instances=30, voters=5, alternatives=4, bounds=(1, 2), spammers=0.3, coverage=0.7, seed=1)
    parts = [crowd.ballots.select(instances=crowd.ballots.instances[a:b]) for a, b in ((0, 7), (7, 8), (8, 30))]
    return crowd, write_packed(parts, tmp_path_factory.mktemp("blocks") / "packed")


@pytest.mark.parametrize(
    "rule",
    [
        EM(SizeBounds(1, 2, {"i8": (0, 4), "i9": (2, 2)})),
        AMLE((1, 2), "uniform"),
        MaximumLikelihood(0.7, 0.3, 0.5, (1, 2)),
        Majority((1, 2)),
        Approval((1, 2)),
        Approval((1, 2), weights="jaccard"),
        Modal((1, 2)),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_results_of_several_blocks_are_those_of_the_whole(rule, packed):
    crowd, folder = packed
    gold = {name: crowd.gold[name] for name in ("i3", "i8", "i25")}
    whole = copy.deepcopy(rule).fit(crowd.ballots, gold=gold)
    blocks = rule.fit(open_packed(folder.folder), gold=gold)
    assert dict(blocks.truth_) == dict(whole.truth_)
    assert list(blocks.truth_) == list(whole.truth_)
    assert blocks.parameters_.distance(whole.parameters_) < 1e-9
    assert blocks.estimate_.gold == whole.estimate_.gold == set(gold)
    assert blocks.estimate_.ties == whole.estimate_.ties
    for one, other in zip(blocks.estimate_.counts, whole.estimate_.counts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    parts = list(blocks.estimate_.parts())
    assert [part.ballots.n_instances for part in parts] == [7, 1, 22]
    assert [name for part in parts for name in part.truths] == list(whole.truth_)
    assert all(part.truths[name] == whole.truth_[name] for part in parts for name in part.truths)
    assert len(list(whole.estimate_.parts())) == 1
    if whole.confidence_ is None:
        assert blocks.confidence_ is None
        return
    np.testing.assert_allclose(blocks.confidence_, whole.confidence_, atol=1e-6)
    np.testing.assert_allclose(blocks.expected_sizes_, whole.expected_sizes_, atol=1e-6)
    together = [value for part in parts for value in part.posterior.set_probabilities]
    np.testing.assert_allclose(together, whole.confidence_, atol=1e-6)
    assert [part.parameters for part in parts] == [blocks.parameters_] * 3
    assert [part.log_likelihoods for part in parts] == [blocks.log_likelihoods_] * 3
    assert dict(blocks.gold_check()[0]) == dict(whole.gold_check()[0])
    assert {d.instance for d in blocks.review(0.9, most=0)} == {d.instance for d in whole.review(0.9, most=0)}
