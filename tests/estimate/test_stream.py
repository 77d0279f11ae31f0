import json

import numpy as np
import pytest

from epivote import (
    AMLE,
    EM,
    Ballots,
    FileError,
    InputError,
    MaximumLikelihood,
    Parameters,
    SizeBounds,
    load_model,
    marginal_log_likelihood,
    save_model,
    simulate,
)

BOUNDS = (1, 2)


@pytest.fixture(scope="module")
def crowd():
    return simulate(
        instances=1500,
        voters=60,
        alternatives=6,
        bounds=BOUNDS,
        priors=0.3,
        ballots_per_instance=5,
        spammers=0.2,
        seed=1,
    )


@pytest.fixture(scope="module")
def optimum(crowd):
    return EM(BOUNDS).fit(crowd.ballots)


def passed_over(crowd, passes=1, size=50, seed=0, **options):
    """An estimator that saw the crowd's instances in random order, batch by batch."""
    estimator = EM(BOUNDS)
    rng = np.random.default_rng(seed)
    for _ in range(passes):
        order = rng.permutation(crowd.ballots.instances)
        for begin in range(0, len(order), size):
            estimator.partial_fit(crowd.ballots.select(instances=order[begin : begin + size]), **options)
    return estimator


def loss(crowd, optimum, estimator):
    """How far below the optimum, per instance."""
    reached = marginal_log_likelihood(crowd.ballots, estimator.model_.parameters_for(crowd.ballots), BOUNDS)
    best = marginal_log_likelihood(crowd.ballots, optimum.parameters_, BOUNDS)
    return (best - reached) / crowd.ballots.n_instances


def exact(truths, gold):
    return np.mean([truths[z] == gold[z] for z in gold])


@pytest.mark.slow
def test_one_pass_comes_close_and_several_reach_the_optimum(crowd, optimum):
    once, often = passed_over(crowd), passed_over(crowd, passes=6)
    assert loss(crowd, optimum, once) < 0.03
    assert exact(once.predict(crowd.ballots), crowd.gold) > exact(optimum.truth_, crowd.gold) - 0.01
    assert loss(crowd, optimum, often) < 0.0005
    assert often.model_.parameters_for(crowd.ballots).distance(optimum.parameters_) < 0.01


def test_order_hardly_matters(crowd, optimum):
    passed = [passed_over(crowd, seed=seed) for seed in range(3)]
    rates = [each.model_.parameters_for(crowd.ballots).hit_rates for each in passed]
    assert np.abs(np.ptp(rates, axis=0)).mean() < 0.03
    assert max(loss(crowd, optimum, each) for each in passed) < 0.03


def test_late_ballots_replace_the_share_of_their_instance(crowd):
    early, late = {}, {}
    for number, (key, ticks) in enumerate(crowd.ballots.items()):
        (early if number % 5 < 2 else late)[key] = ticks  # every instance has five ballots
    names = crowd.ballots.alternatives
    pieces = EM(BOUNDS)
    for part in (early, late):
        for begin in range(0, 1500, 100):
            chosen = set(crowd.ballots.instances[begin : begin + 100])
            batch = {key: ticks for key, ticks in part.items() if key[1] in chosen}
            pieces.partial_fit(Ballots.from_mapping(batch, alternatives=names))
    stream = pieces._stream
    assert stream.n_instances == 1500
    assert sum(stream.groups.values()) == pytest.approx(1500)
    assert stream.sums["winners_seen"].sum() + stream.sums["losers_seen"].sum() == pytest.approx(
        crowd.ballots.n_ballots * 6
    )
    assert stream.sums["hits"].sum() + stream.sums["false_alarms"].sum() == pytest.approx(crowd.ballots.n_approvals)
    assert exact(pieces.predict(crowd.ballots), crowd.gold) > 0.6


def test_a_changed_ballot_counts_once():
    first = Ballots.from_mapping({("v", "z"): {"a"}, ("w", "z"): {"b"}}, alternatives=["a", "b"])
    changed = Ballots.from_mapping({("v", "z"): {"b"}}, alternatives=["a", "b"])
    estimator = EM(1).partial_fit(first).partial_fit(changed)
    assert estimator.estimate_.ballots.ballot("v", "z") == {"b"}
    assert estimator.estimate_.ballots.ballot("w", "z") == {"b"}
    assert estimator.estimate_.ballots.n_ballots == 2


def test_final_instances_are_forgotten(crowd):
    open_, final = passed_over(crowd), passed_over(crowd, final=True)
    assert len(open_._stream.kept) == 1500
    assert final._stream.kept == {}
    assert final.model_.parameters == open_.model_.parameters, "one pass over new instances is the same either way"


def test_new_voters_instances_and_alternatives_may_appear():
    estimator = EM(1)
    estimator.partial_fit(Ballots.from_mapping({("v", "z1"): {"a"}, ("w", "z1"): {"a", "b"}}))
    estimator.partial_fit(Ballots.from_mapping({("x", "z2"): {"c"}, ("v", "z2"): {"c", "d"}}))
    assert estimator.model_.voters == ("v", "w", "x")
    assert estimator.model_.alternatives == ("a", "b", "c", "d")
    assert len(set(estimator.model_.parameters.priors)) == 1, "alternatives that come and go share their prior"
    assert estimator.truth_["z2"] == {"c"}


def test_gold_teaches_a_stream_too(crowd):
    taught = EM(BOUNDS)
    for begin in range(0, 1500, 100):
        batch = crowd.ballots.select(instances=crowd.ballots.instances[begin : begin + 100])
        taught.partial_fit(batch, gold={z: crowd.gold[z] for z in batch.instances[:50]})
    blind = passed_over(crowd, size=100)
    errors = [
        np.abs(e.model_.parameters_for(crowd.ballots).hit_rates - crowd.parameters.hit_rates).mean()
        for e in (taught, blind)
    ]
    assert errors[0] < errors[1]


def test_a_fit_after_a_stream_starts_anew(crowd, optimum):
    estimator = passed_over(crowd).fit(crowd.ballots)
    assert estimator.model_.parameters == optimum.parameters_
    with pytest.raises(InputError, match="partial_fit learns priors"):
        EM(1, priors=0.3).partial_fit(crowd.ballots)


# Saving


@pytest.mark.parametrize(
    "estimator",
    [
        EM(SizeBounds(1, 2, {"i1": (2, 2)})),
        AMLE("1..2", n_starts=2),
        AMLE((1, 2), Parameters(np.full(60, 0.7), np.full(60, 0.2), np.full(6, 0.3))),
        MaximumLikelihood(np.full(60, 0.8), 0.2, {f"a{j}": 0.3 for j in range(1, 7)}, (1, None)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_saving_and_loading_is_exact(estimator, crowd, tmp_path):
    estimator.fit(crowd.ballots)
    save_model(estimator, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert type(again) is type(estimator)
    assert again.model_.parameters == estimator.model_.parameters
    assert again.predict(crowd.ballots) == estimator.predict(crowd.ballots)
    assert again.voter_history_ == estimator.voter_history_
    assert again.fit(crowd.ballots).parameters_ == estimator.parameters_


def test_a_loaded_stream_goes_on_as_if_nothing_had_happened(crowd, tmp_path):
    straight, broken = EM(BOUNDS), EM(BOUNDS)
    for number, begin in enumerate(range(0, 600, 100)):
        batch = crowd.ballots.select(instances=crowd.ballots.instances[begin : begin + 100])
        straight.partial_fit(batch, final=number == 1)
        broken.partial_fit(batch, final=number == 1)
        save_model(broken, tmp_path / "model.json")
        broken = load_model(tmp_path / "model.json")
    late = crowd.ballots.select(instances=crowd.ballots.instances[:50])
    assert straight.partial_fit(late).model_.parameters == broken.partial_fit(late).model_.parameters


def test_files_that_are_no_models_are_refused(tmp_path, optimum):
    path = tmp_path / "model.json"
    with pytest.raises(FileError, match="does not exist"):
        load_model(path)
    path.write_text("{")
    with pytest.raises(FileError, match=r"model\.json is not a saved model"):
        load_model(path)
    path.write_text('{"format": "something else"}')
    with pytest.raises(FileError, match="is not a saved model of epivote; write one with save_model"):
        load_model(path)
    save_model(optimum, path)
    newer = json.loads(path.read_text()) | {"version": "2.0"}
    path.write_text(json.dumps(newer))
    with pytest.raises(FileError, match=r"was written by a newer epivote \(model version 2\.0\); update epivote"):
        load_model(path)
    with pytest.raises(InputError, match="seed is a random generator, which a model file cannot hold"):
        save_model(AMLE(1, seed=np.random.default_rng(0)).fit(optimum.estimate_.ballots), path)
