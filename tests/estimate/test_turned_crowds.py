"""When a crowd is taken to be upside down."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from epivote import AMLE, EM, CrowdWarning, Parameters, SizeBounds, marginal_log_likelihood, simulate, write_packed
from epivote.estimate import amle as amle_module
from epivote.estimate import em as em_module
from epivote.estimate import probe as probe_module
from epivote.estimate import starts
from epivote.estimate.climb import State


def contrary(instances, seed=3):
    return simulate(
        instances=instances,
        voters=5,
        alternatives=4,
        bounds=1,
        hit_rates=0.1,
        false_alarm_rates=0.75,
        priors=0.25,
        seed=seed,
    ).ballots


def is_turned(rule, ballots):
    """Whether the voters' ticks were taken to speak against what they tick, on average."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CrowdWarning)
        return rule.fit(ballots).parameters_.weights.mean() < 0


def amle_gain(ballots):
    """How much more likely the end is that starts from voters who tick wrong answers."""
    mirrored = Parameters(
        np.full(ballots.n_voters, 0.2), np.full(ballots.n_voters, 0.7), np.full(ballots.n_alternatives, 0.5)
    )
    upright = next(AMLE(1)._starts(ballots, None, None))
    ends = [AMLE(1, start).fit(ballots).log_likelihoods_[-1] for start in (mirrored, upright)]
    return ends[0] - ends[1]


def test_amle_turns_a_crowd_only_if_that_is_more_likely_by_twenty():
    gains = {instances: amle_gain(contrary(instances)) for instances in (5, 6, 8, 9, 10)}
    turned = {instances: is_turned(AMLE(1), contrary(instances)) for instances in gains}
    assert turned == {instances: gain > 20 for instances, gain in gains.items()}
    assert any(10 < gain < 20 for gain in gains.values())
    assert any(20 < gain < 40 for gain in gains.values())


def em_gain(ballots):
    """How much better ten iterations from voters who tick wrong answers explain the ballots."""
    known = em_module.PseudoCounts.none(ballots.n_voters)
    task = em_module.InMemoryWorkload(ballots, SizeBounds.of(1), None)
    step = em_module.em_step(task, "individual", 1e-4, known, strength=1.0, tolerance=1e-2)
    ends = []
    for rates in ((0.2, 0.7), (0.7, 0.2)):
        start = Parameters(*(np.full(ballots.n_voters, rate) for rate in rates), np.full(ballots.n_alternatives, 0.5))
        state = State.at(start, known, settled=False)
        for _ in range(10):
            if state.status != "converged":
                state = replace(step(state), ahead=None)
        ends.append(marginal_log_likelihood(ballots, state.parameters, SizeBounds.of(1)))
    return ends[0] - ends[1]


def test_em_turns_a_crowd_only_if_that_explains_the_ballots_better_by_twenty():
    gains = {instances: em_gain(contrary(instances)) for instances in (5, 6, 8, 9, 10)}
    known = em_module.PseudoCounts.none(5)
    turned = {instances: EM(1)._seems_upside_down(contrary(instances), None, known) for instances in gains}
    assert turned == {instances: gain > 20 for instances, gain in gains.items()}
    assert any(10 < gain < 20 for gain in gains.values())
    assert any(20 < gain < 40 for gain in gains.values())


@pytest.mark.parametrize(("voters", "ballots", "instances"), [(200, 2, 60), (100, 3, 150)])
def test_voters_of_few_ballots_are_drawn_towards_the_crowd_before_it_is_turned(voters, ballots, instances):
    """Without that the first crowd would be turned and the second not."""
    sparse = simulate(
        instances=instances,
        voters=voters,
        alternatives=4,
        bounds=1,
        hit_rates=0.25,
        false_alarm_rates=0.65,
        priors=0.25,
        ballots_per_instance=ballots,
        seed=4,
    ).ballots
    gain = em_gain(sparse)
    assert 16 < gain < 24
    assert EM(1)._seems_upside_down(sparse, None, em_module.PseudoCounts.none(voters)) == (gain > 20)
    assert (gain > 20) == (voters == 100)


@pytest.mark.parametrize("kind", [AMLE, EM])
def test_of_many_instances_a_sample_tells_which_way_up_the_crowd_is(kind, monkeypatch):
    monkeypatch.setattr(probe_module, "SAMPLE_INSTANCES", 20)
    sizes = []
    original = probe_module.sampled

    def noted(ballots, gold):
        found = original(ballots, gold)
        sizes.append(found[0].n_instances)
        return found

    module = amle_module if kind is AMLE else em_module
    monkeypatch.setattr(module, "sampled", noted)
    upright = simulate(
        instances=120, voters=5, alternatives=4, bounds=1, hit_rates=0.7, false_alarm_rates=0.55, priors=0.25, seed=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", CrowdWarning)
        assert kind(1).fit(upright.ballots).parameters_.weights.mean() > 0
    with pytest.warns(CrowdWarning, match="upside down"):
        assert kind(1).fit(contrary(120)).parameters_.weights.mean() < 0
    assert len(sizes) == 2
    assert all(5 < size < 60 for size in sizes)


def test_a_sample_holds_gold_and_its_sets():
    ballots = contrary(50)
    gold = {name: {"a1"} for name in (*ballots.instances[::2], "elsewhere")}
    sample, known = probe_module.sampled(ballots, gold)
    assert sample is ballots
    assert known == {name: {"a1"} for name in ballots.instances[::2]}
    assert probe_module.sampled(ballots, None)[1] is None
    assert probe_module.sampled(ballots, {"elsewhere": {"a1"}})[1] is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probe_module, "SAMPLE_INSTANCES", 5)
        sample, known = probe_module.sampled(ballots, gold)
        assert list(known) == list(gold)[:5]
        assert set(known) <= set(sample.instances)
        assert set(sample.instances) == {*ballots.sample_instances(10).instances, *known}
    for count, step in ((1999, 1), (2000, 2), (3000, 3)):
        asked = []

        class Many:
            n_instances, instance_index = count, {}

            def sample_instances(self, step, also, asked=asked):
                asked.append((step, also))
                return self

        probe_module.sampled(Many(), {f"g{k}": {"a"} for k in range(1001)})
        assert asked == [(step, [f"g{k}" for k in range(1000)])]


def test_given_rates_are_never_turned():
    ballots = contrary(10)
    start = next(AMLE(1)._starts(ballots, None, None))
    assert is_turned(AMLE(1), ballots)
    assert not is_turned(AMLE(1, start), ballots)


def test_a_turned_crowd_ends_where_voters_who_tick_wrong_answers_lead():
    ballots = contrary(10)
    mirrored = Parameters(np.full(5, 0.2), np.full(5, 0.7), np.full(4, 0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CrowdWarning)
        found, expected = AMLE(1).fit(ballots), AMLE(1, mirrored).fit(ballots)
        assert found.log_likelihoods_ == expected.log_likelihoods_
        assert found.parameters_ == expected.parameters_
        soft = EM(1, max_iterations=1).fit(ballots)
    start = Parameters(np.full(5, 0.2), np.full(5, 0.7), np.full(4, 0.5))
    assert EM(1)._start(ballots, mirrored=True) == start
    assert soft.parameters_.weights.mean() < 0


def test_ticks_are_counted_against_bounds_over_all_blocks(tmp_path):
    crowd = simulate(instances=30, voters=4, alternatives=5, bounds=(1, 3), priors=0.4, seed=1).ballots
    parts = [crowd.select(instances=crowd.instances[begin : begin + 10]) for begin in (0, 10, 20)]
    packed = write_packed(parts, tmp_path / "packed")
    cast = dict(zip(crowd.instances, crowd.ballots_per_instance.tolist(), strict=True))
    answers = []
    for silent in range(0, 30, 3):
        own = {name: (0, 0 if place < silent else 1 + place % 3) for place, name in enumerate(crowd.instances)}
        most = sum(cast[name] * upper for name, (_, upper) in own.items())
        answers.append(crowd.n_approvals > 1.1 * most)
        for ballots in (crowd, packed):
            assert starts.tick_too_much(ballots, SizeBounds(0, 3, own)) == answers[-1]
    assert set(answers) == {True, False}
