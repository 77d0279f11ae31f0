"""Groups of instances with priors of their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import (
    AMLE,
    EM,
    Ballots,
    Calibrated,
    InputError,
    Parameters,
    RateError,
    SizeBounds,
    load_model,
    log_likelihood,
    marginal_log_likelihood,
    open_packed,
    reference_crowd,
    save_model,
    write_packed,
)
from epivote.data import packing
from epivote.data.calibration import Calibration
from epivote.estimate.climb import State, top
from epivote.estimate.groups import group_step, largest_first, maximise_groups
from epivote.estimate.outcome import calibrated_estimate
from epivote.estimate.workload import InMemoryWorkload
from epivote.model.pseudo import GroupBelief, PseudoCounts
from grouped import by_enumeration, crowd_in_groups, grouped_election, purity, share_right

CROWD, OF = crowd_in_groups(1)
BOUNDS = (1, 4)
GOLD = {name: CROWD.gold[name] for name in CROWD.ballots.instances[:30]}


@pytest.fixture(scope="module")
def fitted():
    return EM(BOUNDS, groups=3).fit(CROWD.ballots)


@pytest.fixture(scope="module")
def with_gold():
    return EM(BOUNDS, groups=3).fit(CROWD.ballots, gold=GOLD)


# What is found


def test_alternatives_that_go_together_are_found_and_help(fitted):
    plain = EM(BOUNDS).fit(CROWD.ballots)
    assert share_right(fitted, CROWD) > share_right(plain, CROWD) + 0.05
    assert purity(np.argmax(fitted.estimate_.groups, axis=1), OF) > 0.75
    assert fitted.converged_
    assert np.all(np.diff(fitted.log_likelihoods_) > -1e-9)
    for priors in fitted.parameters_.group_priors:
        own = np.argsort(-priors)[:4]
        assert len(set(own // 4)) == 1, "each group has learnt the alternatives of one true group"
    assert list(fitted.parameters_.group_shares) == sorted(fitted.parameters_.group_shares, reverse=True)


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_finds_about_the_same(fitted, seed):
    other = EM(BOUNDS, groups=3, seed=seed).fit(CROWD.ballots)
    assert abs(share_right(other, CROWD) - share_right(fitted, CROWD)) < 0.03
    again = EM(BOUNDS, groups=3, seed=np.random.default_rng(seed)).fit(CROWD.ballots)
    assert again.parameters_ == other.parameters_


def test_a_group_too_many_does_little_harm(fitted):
    more = EM(BOUNDS, groups=5).fit(CROWD.ballots)
    assert share_right(more, CROWD) > share_right(fitted, CROWD) - 0.03


def test_where_nothing_goes_together_little_is_lost():
    crowd = reference_crowd(300, 40, 8, 3, seed=2)
    plain, groups = (EM((1, 3), groups=k).fit(crowd.ballots) for k in (None, 2))
    assert share_right(groups, crowd) > share_right(plain, crowd) - 0.03


def test_one_group_is_none_to_the_last_bit():
    plain, one = (EM(BOUNDS, groups=k).fit(CROWD.ballots, gold=GOLD) for k in (None, 1))
    assert one.parameters_ == plain.parameters_
    assert one.parameters_.group_priors is None
    assert one.log_likelihoods_ == plain.log_likelihoods_
    assert np.array_equal(one.confidence_, plain.confidence_)
    assert one.truth_ == plain.truth_
    assert one.groups_.shape == (0, 3)
    assert one.explain("i40") == plain.explain("i40")
    assert one.explain("i40").group is None


# The iteration


@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from([0.0, 1.0, 5.0]))
@settings(max_examples=25)
def test_the_objective_never_falls(seed, groups, weight):
    election, ballots, parameters = grouped_election(seed, groups=groups, voters=3, instances=6)
    common = GroupBelief(np.full(ballots.n_alternatives, 0.4), weight)
    believed = PseudoCounts(*np.full((4, ballots.n_voters), 0.1 * weight), groups=common)
    step = group_step(InMemoryWorkload(ballots, election.size_bounds), 1e-4, tolerance=0.0)
    reached = top(State.at(parameters, believed), step, 12)
    assert np.all(np.diff(reached.objectives) > -1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_and_the_counts_are_those_of_enumeration(seed):
    election, ballots, parameters = grouped_election(seed)
    weight = 2.0
    common = GroupBelief(np.linspace(0.2, 0.6, ballots.n_alternatives), weight)
    believed = PseudoCounts(*np.zeros((4, ballots.n_voters)), groups=common)
    work = InMemoryWorkload(ballots, election.size_bounds)
    after = top(State.at(parameters, believed), group_step(work, 1e-4, tolerance=0.0), 1)
    found = [by_enumeration(election, ballots, parameters, name) for name in ballots.instances]
    value = sum(total for total, _ in found) + np.log(parameters.group_shares).sum()
    value += weight * np.sum(
        common.priors * np.log(parameters.group_priors) + (1 - common.priors) * np.log(1 - parameters.group_priors)
    )
    assert after.objectives[0] == pytest.approx(value, abs=1e-9)
    sizes = [sum(p for _, exact in found for k, _, p in exact if k == group) for group in range(3)]
    assert after.parameters.group_shares == pytest.approx((np.array(sizes) + 1) / (len(found) + 3), abs=1e-10)
    counted = work.group_step(parameters)[1]
    for group in range(3):
        for j, name in enumerate(ballots.alternatives):
            expected = sum(p for _, exact in found for k, chosen, p in exact if k == group and name in chosen)
            assert counted.occurrences[group, j] == pytest.approx(expected, abs=1e-10)
    for i, voter in enumerate(ballots.voters):
        hits = seen = 0.0
        for name, (_, exact) in zip(ballots.instances, found, strict=True):
            ballot = election.ballots.get((voter, name))
            for _, chosen, p in exact if ballot is not None else ():
                hits, seen = hits + p * len(chosen & ballot), seen + p * len(chosen)
        assert after.statistics.hits[i] == pytest.approx(hits, abs=1e-10)
        assert after.statistics.winners_seen[i] == pytest.approx(seen, abs=1e-10)


def test_groups_that_are_alike_have_the_likelihood_without_groups():
    known = CROWD.parameters
    priors = np.linspace(0.1, 0.6, 12)
    alike = Parameters.in_groups(
        known.hit_rates, known.false_alarm_rates, np.array([priors, priors]), np.array([0.25, 0.75])
    )
    alone = alike.overall()
    assert marginal_log_likelihood(CROWD.ballots, alike, BOUNDS) == pytest.approx(
        marginal_log_likelihood(CROWD.ballots, alone, BOUNDS), abs=1e-6
    )
    assert log_likelihood(CROWD.ballots, CROWD.gold, alike, BOUNDS) == pytest.approx(
        log_likelihood(CROWD.ballots, CROWD.gold, alone, BOUNDS), abs=1e-6
    )


def test_the_prior_step_climbs_to_where_seen_equals_expected():
    """At the end every group expects as many occurrences as it has seen, beliefs counted on both sides."""
    work = InMemoryWorkload(CROWD.ballots, SizeBounds(*BOUNDS))
    plain = EM(BOUNDS).fit(CROWD.ballots).parameters_
    rng = np.random.default_rng(0)
    parameters = Parameters.in_groups(
        plain.hit_rates, plain.false_alarm_rates, rng.uniform(0.1, 0.7, (2, 12)), np.array([0.4, 0.6])
    )
    believed = PseudoCounts(*np.zeros((4, 40)), groups=GroupBelief(plain.priors, 3.0))
    statistics, found = work.group_step(parameters)
    for _ in range(300):
        parameters = maximise_groups(statistics, found, parameters, 1e-4, believed)
    nothing = Ballots.from_mapping({("v", "z"): set()}, alternatives=CROWD.ballots.alternatives)
    prior_only = InMemoryWorkload(nothing, SizeBounds(*BOUNDS))
    for k, priors in enumerate(parameters.group_priors):
        nobody = Parameters(np.array([0.5]), np.array([0.5]), priors)
        expected = found.sizes[k] * prior_only.set_odds(nobody)[0].inclusion[0] + 3.0 * priors
        inside = (priors > 1.1e-4) & (priors < 1 - 1.1e-4)
        assert expected[inside] == pytest.approx((found.occurrences[k] + 3.0 * plain.priors)[inside], rel=1e-6)


# Gold, history, results


def test_gold_stays_and_tells_the_group(with_gold):
    estimate = with_gold.estimate_
    for name in GOLD:
        assert with_gold.truth_[name] == GOLD[name]
    assert np.all(with_gold.confidence_[:30] == 1)
    assert np.all(np.diff(with_gold.log_likelihoods_) > -1e-9)
    work = InMemoryWorkload(CROWD.ballots, estimate.bounds)
    ballots_alone = work.group_probabilities(with_gold.parameters_)
    assert np.array_equal(ballots_alone[30:], estimate.groups[30:])
    assert np.max(estimate.groups[:30], axis=1).mean() > np.max(ballots_alone[:30], axis=1).mean()
    found, sure = with_gold.gold_check()
    assert set(found.instances) == set(GOLD)
    assert np.all((sure > 0) & (sure <= 1))


def test_a_history_counts(fitted):
    history = {"v1": (50, 50, 0, 200)}
    known = EM(BOUNDS, groups=3).fit(CROWD.ballots, history=history)
    assert known.parameters_.hit_rates[0] > fitted.parameters_.hit_rates[0]


def test_tables_by_name(fitted):
    table = fitted.groups_
    assert table.columns == ["instance", "group", "probability"]
    assert table["instance"].to_list() == list(CROWD.ballots.instances)
    assert set(table["group"].to_list()) == {1, 2, 3}
    assert fitted.estimate_.groups.sum(axis=1) == pytest.approx(1)
    priors = fitted.alternatives_
    assert priors.columns == ["alternative", "prior", "prior_1", "prior_2", "prior_3"]
    mean = fitted.parameters_.group_shares @ fitted.parameters_.group_priors
    assert priors["prior"].to_list() == pytest.approx(mean)


@pytest.mark.parametrize("instance", ["i1", "i17", "i40", "i200"])
def test_an_explanation_adds_up_within_the_most_probable_group(with_gold, instance):
    told = with_gold.explain(instance)
    z = CROWD.ballots.instance_index[instance]
    parameters = with_gold.parameters_
    groups = InMemoryWorkload(CROWD.ballots, with_gold.estimate_.bounds).group_probabilities(parameters)[z]
    assert told.group.number == np.argmax(groups) + 1
    assert told.group.probability == pytest.approx(groups.max())
    odds = np.log(parameters.group_priors / (1 - parameters.group_priors))[told.group.number - 1]
    inclusion = dict(zip(CROWD.ballots.alternatives, inclusion_of(with_gold, z), strict=True))
    for account in told.accounts:
        j = CROWD.ballots.alternatives.index(account.alternative)
        assert account.prior == pytest.approx(odds[j])
        assert account.prior + sum(account.pushes.values()) == pytest.approx(account.margin)
        if instance not in GOLD:
            assert account.probability == pytest.approx(inclusion[account.alternative])
    assert f"group {told.group.number}" in told.to_text()
    assert told.to_dict()["group"]["probability"] == told.group.probability
    listed = {frozenset(names): p for names, p in told.runners_up}
    assert listed == pytest.approx(dict(with_gold.best_sets(instance)))


def inclusion_of(known, z):
    return known.estimate_.posterior.inclusion.reshape(-1, 12)[z]


@pytest.mark.slow
def test_an_answer_that_its_group_alone_would_not_give_says_so(fitted):
    told = [fitted.explain(name) for name in CROWD.ballots.instances]
    other = [each for each in told if set(each.answer) != set(each.group.answer)]
    assert other, "the crowd has such instances"
    for each in other:
        assert each.bound_effect.startswith(f"Within group {each.group.number} alone ")
        assert each.settled
    for each in told:
        if each not in other:
            assert "alone" not in each.bound_effect


def test_all_that_asks_for_sets_answers(fitted):
    assert fitted.expected_sizes_.shape == (300,)
    doubts = fitted.review(0.5, most=2)
    assert doubts
    for doubt in doubts[:3]:
        sets = {tuple(sorted(names)): p for names, p in fitted.best_sets(doubt.instance, 4)}
        assert sets[tuple(sorted(doubt.rival))] == pytest.approx(doubt.rival_probability)
    for utility in ("exact", "hamming", "f1"):
        assert set(fitted.decide(utility)) == set(CROWD.ballots.instances)
    assert fitted.decide("exact") == fitted.truth_
    assert fitted.reliability()
    assert fitted.estimate_.ties == ()


def test_new_ballots_are_answered_with_the_groups_learnt(fitted, tmp_path):
    fresh, _ = crowd_in_groups(1, instances=80)
    save_model(fitted, tmp_path / "m.json")
    kept = load_model(tmp_path / "m.json")
    assert kept.get_params() == fitted.get_params()
    assert kept.model_.parameters == fitted.parameters_
    assert kept.predict(fresh.ballots) == fitted.predict(fresh.ballots)
    assert fitted.predict(CROWD.ballots) == fitted.truth_
    overall = fitted.parameters_.overall()
    assert overall.n_groups == 0


def test_calibrated_log_odds_of_groups(fitted):
    estimate = fitted.estimate_
    work = InMemoryWorkload(CROWD.ballots, estimate.bounds)
    same = calibrated_estimate(work, estimate, Calibration.identity(12))
    assert same.posterior.inclusion == pytest.approx(estimate.posterior.inclusion)
    weaker = calibrated_estimate(work, estimate, Calibration.scaled(0.3, 12, "gold"))
    assert weaker.posterior.set_probabilities.mean() < estimate.posterior.set_probabilities.mean()
    assert weaker.uncalibrated.inclusion == pytest.approx(estimate.posterior.inclusion)
    assert weaker.groups.shape == (300, 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::epivote.CrowdWarning")
def test_gold_calibrates_groups(fitted):
    calibrated = Calibrated(EM(BOUNDS, groups=3)).fit(CROWD.ballots, gold=GOLD)
    assert calibrated.calibration_ is not None
    assert calibrated.parameters_.n_groups == 3
    assert share_right(calibrated, CROWD) > share_right(EM(BOUNDS).fit(CROWD.ballots), CROWD)
    told = calibrated.explain("i200")
    for account in told.accounts:
        added = account.prior + sum(account.pushes.values()) + account.calibration
        assert added == pytest.approx(account.margin)
    assert 0 < calibrated.reliability()[0].hit_rate < 1
    assert calibrated.predict(CROWD.ballots.select(instances=["i200"]))["i200"] == calibrated.truth_["i200"]


# Where the ballots are


@pytest.mark.parametrize("kept_bytes", [0, 1 << 30])
def test_packed_ballots_give_the_same(tmp_path, monkeypatch, with_gold, kept_bytes):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 200)
    folder = write_packed([CROWD.ballots], tmp_path / "packed").folder
    opened = open_packed(folder, kept_bytes=kept_bytes)
    assert len(opened.blocks) > 2
    packed = EM(BOUNDS, groups=3).fit(opened, gold=GOLD)
    assert packed.parameters_.distance(with_gold.parameters_) < 1e-6
    assert packed.log_likelihoods_ == pytest.approx(with_gold.log_likelihoods_, abs=1e-6)
    assert packed.truth_ == with_gold.truth_
    assert packed.estimate_.groups == pytest.approx(with_gold.estimate_.groups, abs=1e-4)
    assert packed.explain("i40").group.number == with_gold.explain("i40").group.number
    parts = [part.groups for part in packed.estimate_.parts()]
    assert np.array_equal(np.concatenate(parts), packed.estimate_.groups)


class CutError(Exception):
    """Ends a fit from outside."""


@pytest.mark.parametrize("count", [2, 12, 16, 20])
def test_going_on_gives_what_going_through_gives(tmp_path, with_gold, count):
    seen = []

    def progress(iteration, _value):
        seen.append(iteration)
        if len(seen) == count:
            raise CutError

    kept = tmp_path / "fit.checkpoint"
    with pytest.raises(CutError):
        EM(BOUNDS, groups=3).fit(CROWD.ballots, gold=GOLD, progress=progress, checkpoint=kept)
    resumed = EM(BOUNDS, groups=3).fit(CROWD.ballots, gold=GOLD, progress=progress, checkpoint=kept)
    assert seen == list(range(1, with_gold.n_iter_ + 1)), "one row of iterations, none twice"
    assert resumed.parameters_ == with_gold.parameters_
    assert resumed.log_likelihoods_ == with_gold.log_likelihoods_
    assert resumed.truth_ == with_gold.truth_


@pytest.mark.parametrize("after_groups_begin", [-6, 0, 1, 7])
def test_an_interrupted_fit_keeps_what_it_has(with_gold, after_groups_begin):
    without = with_gold.n_iter_ - len(with_gold.log_likelihoods_)
    count = without + after_groups_begin
    assert count > 0

    def progress(iteration, _value):
        if iteration == count:
            raise KeyboardInterrupt

    estimator = EM(BOUNDS, groups=3)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(CROWD.ballots, gold=GOLD, progress=progress)
    assert estimator.estimate_.status == "interrupted"
    assert len(estimator.truth_) == 300
    assert estimator.parameters_.n_groups == (3 if after_groups_begin > 0 else 0)


def test_a_limit_of_iterations_leaves_groups_all_the_same():
    short = EM(BOUNDS, groups=2, max_iterations=1).fit(CROWD.ballots)
    assert short.parameters_.n_groups == 2
    assert not short.converged_


# What is refused


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (0, "groups=0 must be a whole number of at least 1"),
        (-2, "groups=-2 must be a whole number of at least 1"),
        (2.5, "groups=2.5 must be a whole number of at least 1"),
        (301, "groups=301 needs at least as many instances; the ballots have 300"),
    ],
)
def test_a_number_of_groups_that_makes_no_sense(groups, message):
    with pytest.raises(InputError, match=message):
        EM(BOUNDS, groups=groups).fit(CROWD.ballots)


def test_ballots_and_settings_that_groups_cannot_be_learnt_from():
    one = CROWD.ballots.select(instances=["i1"])
    with pytest.raises(InputError, match="groups=2 needs at least as many instances; the ballots have 1"):
        EM(BOUNDS, groups=2).fit(one)
    menus = Ballots.from_mapping(
        {("v", "y"): {"a"}, ("v", "z"): {"b"}}, alternatives=["a", "b", "c"], menu={"y": ["a", "b"], "z": ["b", "c"]}
    )
    with pytest.raises(InputError, match="groups need the same alternatives on every instance"):
        EM(1, groups=2).fit(menus)
    for priors in ("shared", 0.3):
        with pytest.raises(InputError, match="groups learn priors per alternative; leave priors='auto'"):
            EM(BOUNDS, groups=2, priors=priors).fit(CROWD.ballots)
    with pytest.raises(InputError, match="partial_fit does not support groups"):
        EM(BOUNDS, groups=2).partial_fit(CROWD.ballots)


def test_a_stream_ends_where_groups_begin(fitted):
    estimator = EM(BOUNDS).fit(CROWD.ballots)
    estimator.set_params(groups=3).fit(CROWD.ballots)
    assert estimator.model_.parameters == fitted.parameters_


@pytest.mark.parametrize(
    ("group_priors", "group_shares"),
    [
        ([[0.5, 0.5]], None),
        (None, [1.0]),
        ([[0.5, 0.5]], [0.5, 0.5]),
        ([[0.5], [0.5]], [0.5, 0.5]),
        ([[0.5, 1.0]], [1.0]),
        ([[0.5, 0.5], [0.2, 0.2]], [0.5, 0.6]),
        ([[0.5, 0.5], [0.2, 0.2]], [0.0, 1.0]),
    ],
)
def test_groups_that_are_no_groups(group_priors, group_shares):
    with pytest.raises(RateError, match="group"):
        Parameters([0.5], [0.5], [0.5, 0.5], group_priors, group_shares)


def test_a_start_for_amle_leaves_the_groups_behind(fitted):
    assert AMLE(BOUNDS, start=fitted.parameters_, max_iterations=1).fit(CROWD.ballots).parameters_.n_groups == 0


def test_groups_of_equal_shares_keep_their_order():
    shares = np.repeat([1.0, 3.0, 2.0], 20) / 120
    found = largest_first(
        Parameters.in_groups(np.array([0.7]), np.array([0.2]), np.arange(1.0, 61.0)[:, None] / 100, shares)
    )
    assert found.group_shares.tolist() == sorted(shares, reverse=True)
    assert (100 * found.group_priors[:, 0]).round().astype(int).tolist() == [*range(21, 61), *range(1, 21)]
