"""A voter who stands for k voters with the same ballots is as good as these k voters, for everything that is estimated.

The expanded ballots are written out here, voter by voter, without the code that is tested.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from epivote import (
    AMLE,
    EM,
    Approval,
    Auto,
    Ballots,
    InputError,
    Majority,
    MaximumLikelihood,
    Modal,
    load_model,
    marginal_log_likelihood,
    open_packed,
    save_model,
    summarize,
    write_packed,
)
from epivote.estimate import starts
from epivote.estimate.reproducibility import halves
from epivote.planning import check_plan, thin, typical_parameters
from small import small_election
from strategies import elections

TIMES = {"v0": 3, "v1": 1, "v2": 5, "v3": 2}
RULES = {
    "EM": EM,
    "EM without belief": lambda bounds: EM(bounds, shrinkage=0),
    "EM with one prior": lambda bounds: EM(bounds, priors="shared"),
    "AMLE": AMLE,
    "AMLE from equal rates": lambda bounds: AMLE(bounds, start="uniform"),
    "AMLE from EM": lambda bounds: AMLE(bounds, start="soft"),
    "Auto": lambda bounds: Auto(bounds, quick=True),
    "Majority": Majority,
    "Modal": Modal,
    "Approval": Approval,
    "Approval by size": lambda bounds: Approval(bounds, weights="jaccard"),
    "Approval, Condorcet": lambda bounds: Approval(bounds, weights="condorcet"),
}


def both(election, times=TIMES):
    """The election with multiplicities, and with every voter written out."""
    menu = election.menus if election.has_menus else None
    counted = {voter: times.get(voter, 1) for voter, _ in election.ballots}
    merged = Ballots.from_mapping(
        election.ballots, alternatives=election.alternatives, menu=menu, multiplicities=counted
    )
    spelt_out = {
        (f"{voter}.{k}", instance): ticks
        for (voter, instance), ticks in election.ballots.items()
        for k in range(counted[voter])
    }
    return merged, Ballots.from_mapping(spelt_out, alternatives=election.alternatives, menu=menu)


def rates_of(fitted):
    """Rates, weights and ballots by voter, NaN where no more than rounding was seen; copies have `.k` behind names."""
    found, counts = fitted.estimate_, fitted.estimate_.counts
    right, wrong = counts.winners_seen > 1e-9, counts.losers_seen > 1e-9
    columns = [
        np.where(right, found.parameters.hit_rates, np.nan),
        np.where(wrong, found.parameters.false_alarm_rates, np.nan),
        np.where(right & wrong, found.parameters.weights, np.nan),
        found.ballots.ballots_per_voter,
    ]
    return dict(zip(found.ballots.voters, np.array(columns).T.tolist(), strict=True))


def assert_equivalent(one, other, times=TIMES):
    """The same sets, and the same numbers up to rounding, which iterations may grow to a share of their tolerance."""
    assert dict(one.truth_) == dict(other.truth_)
    few, many = rates_of(one), rates_of(other)
    for voter, numbers in few.items():
        for k in range(times.get(voter, 1)):
            assert numbers == pytest.approx(many[f"{voter}.{k}"], rel=1e-4, abs=1e-5, nan_ok=True)
    assert one.parameters_.priors == pytest.approx(other.parameters_.priors, abs=1e-5)
    assert one.estimate_.log_likelihoods[-1:] == pytest.approx(other.estimate_.log_likelihoods[-1:], rel=1e-7, abs=1e-6)
    if one.confidence_ is not None:
        assert one.confidence_ == pytest.approx(other.confidence_, abs=1e-5)
    assert one.estimate_.ties == other.estimate_.ties


@pytest.mark.filterwarnings("ignore::epivote.CrowdWarning")
@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=settings().max_examples // 3)
@given(election=elections(max_voters=3), times=st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_every_rule_finds_the_same(rule, election, times):
    assume(rule != "EM with one prior" or len(election.instances) > 1)
    times = {f"v{i}": k for i, k in enumerate(times)}
    merged, spelt_out = both(election, times)
    assert_equivalent(
        RULES[rule](election.size_bounds).fit(merged), RULES[rule](election.size_bounds).fit(spelt_out), times
    )


@given(election=elections(max_voters=3), times=st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_known_rates_and_the_likelihood_of_the_ballots(election, times):
    times = {f"v{i}": k for i, k in enumerate(times)}
    merged, spelt_out = both(election, times)
    found = [
        MaximumLikelihood(
            {name: election.p[name.split(".")[0]] for name in ballots.voters},
            {name: election.q[name.split(".")[0]] for name in ballots.voters},
            election.t,
            election.size_bounds,
        ).fit(ballots)
        for ballots in (merged, spelt_out)
    ]
    assert_equivalent(*found, times)
    values = [marginal_log_likelihood(each.estimate_.ballots, each.parameters_, election.size_bounds) for each in found]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.filterwarnings("ignore::epivote.CrowdWarning")
@pytest.mark.parametrize("rule", ["EM", "AMLE", "AMLE from equal rates"])
@pytest.mark.parametrize("seed", range(3))
def test_compiled_loops_and_packed_blocks_find_the_same(rule, seed, tmp_path, use_loops):
    election = small_election(seed, instances=12)
    merged, spelt_out = both(election)
    expected = RULES[rule](election.size_bounds).fit(spelt_out)
    packed = write_packed([merged], tmp_path / "packed")
    assert packed == merged
    assert (packed.total_voters, packed.total_ballots, packed.total_approvals) == (
        merged.total_voters,
        merged.total_ballots,
        merged.total_approvals,
    )
    for wanted in (True, False):
        use_loops(wanted)
        for ballots in (merged, open_packed(tmp_path / "packed")):
            assert_equivalent(RULES[rule](election.size_bounds).fit(ballots), expected)


def test_groups_of_instances_are_the_same():
    election = small_election(4, instances=30, menus=False, own_bounds=False)
    merged, spelt_out = both(election)
    one, other = (EM(election.size_bounds, groups=2).fit(ballots) for ballots in (merged, spelt_out))
    assert_equivalent(one, other)
    assert one.parameters_.group_priors == pytest.approx(other.parameters_.group_priors, abs=1e-6)


def test_millions_of_voters_in_compiled_rows():
    ballots = {("a", "z"): {"x"}, ("b", "z"): {"y"}, ("c", "z"): {"x", "y"}, ("d", "z"): set()}
    times = {"a": 400_000_000, "b": 300_000_000, "c": 2, "d": 200_000_000}
    merged = Ballots.from_mapping(ballots, alternatives=["y", "x", "w"], multiplicities=times)
    for rule in (EM((1, 2)), AMLE((1, 1), start="uniform")):
        assert dict(rule.fit(merged).truth_) == {"z": {"x"}}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ways", ["_by_products", "_by_pairs"])
def test_voters_are_as_far_from_everyone(seed, ways):
    merged, spelt_out = both(small_election(seed))
    few, many = (np.stack(getattr(starts, ways)(ballots)) for ballots in (merged, spelt_out))
    for i, voter in enumerate(merged.voters):
        assert few[:, i] == pytest.approx(many[:, spelt_out.voter_index[f"{voter}.0"]])
    lonely = Ballots.from_mapping({("a", "z"): {"x"}, ("b", "z"): {"y"}, ("c", "w"): {"x"}}, multiplicities={"b": 3})
    distances = [starts.total_distances(ballots) for ballots in (lonely, lonely.expanded())]
    assert distances[0] == pytest.approx(distances[1][[0, 1, 4]])


def test_counting_rules_count_everyone():
    cast = {("a", "z"): {"x"}, ("b", "z"): {"y"}, ("c", "z"): {"y"}, ("d", "z"): {"x", "y", "w"}}
    ballots = Ballots.from_mapping(cast, multiplicities={"a": 3, "d": 2})
    assert dict(Modal().fit_predict(ballots)) == {"z": {"x"}}
    assert dict(Majority().fit_predict(ballots)) == {"z": {"x", "y"}}, "5 and 4 of 7"
    assert dict(Approval(1, weights="jaccard").fit_predict(ballots)) == {"z": {"x"}}
    assert dict(Approval(2).fit_predict(ballots)) == {"z": {"x", "y"}}


# What is said about a fit


@pytest.fixture(scope="module")
def fits():
    election = small_election(1, instances=20, menus=False)
    merged, spelt_out = both(election)
    return [EM(election.size_bounds).fit(ballots) for ballots in (merged, spelt_out)]


def test_reviews_explanations_and_reports_are_the_same(fits):
    few, many = fits
    doubts = [[(d.instance, d.answer, d.rival, d.ballots, d.more_ballots) for d in each.review(0.999)] for each in fits]
    assert doubts[0] == doubts[1]
    for instance in few.estimate_.ballots.instances:
        told, expected = (each.explain(instance) for each in fits)
        assert told.threshold == pytest.approx(expected.threshold)
        for mine, theirs in zip(told.accounts, expected.accounts, strict=True):
            assert (mine.alternative, mine.chosen) == (theirs.alternative, theirs.chosen)
            assert (mine.margin, mine.probability) == pytest.approx((theirs.margin, theirs.probability), abs=1e-6)
            assert sum(mine.pushes.values()) == pytest.approx(sum(theirs.pushes.values()), abs=1e-6)
    reports = {report.voter: report for report in many.reliability()}
    for report in few.reliability():
        assert report.multiplicity == TIMES[report.voter]
        other = reports[f"{report.voter}.0"]
        assert report.weight_interval == pytest.approx(other.weight_interval, abs=1e-6)
        assert [flag.kind for flag in report.flags] == [flag.kind for flag in other.flags]
    assert few.reliability()[0].label == "v0 (x 3)"
    sums = [summarize(each) for each in fits]
    assert [each.ballots for each in sums[0].sets()] == [each.ballots for each in sums[1].sets()]
    assert sums[0].is_upside_down == sums[1].is_upside_down


def test_new_voters_get_the_mean_of_all_voters(fits):
    new = Ballots.from_mapping({("new", "z"): {"a0"}}, alternatives=["a0", "a1", "a2", "a3"])
    rates = [each.model_.parameters_for(new).hit_rates[0] for each in fits]
    assert rates[0] == pytest.approx(rates[1], abs=1e-6)


def test_a_saved_model_remembers_them(fits, tmp_path):
    save_model(fits[0], tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.model_.multiplicities.tolist() == [TIMES[voter] for voter in loaded.model_.voters]
    with pytest.raises(InputError, match=r"ballots.expanded\(\)"):
        loaded.partial_fit(fits[1].estimate_.ballots)


def test_streams_refuse_them(fits):
    with pytest.raises(InputError, match=r"ballots.expanded\(\)"):
        EM((1, 2)).partial_fit(fits[0].estimate_.ballots)
    again = EM((1, 2)).fit(fits[0].estimate_.ballots)
    with pytest.raises(InputError, match=r"ballots.expanded\(\)"):
        again.partial_fit(fits[1].estimate_.ballots)
    again.fit(fits[1].estimate_.ballots).partial_fit(fits[1].estimate_.ballots)


def test_a_checkpoint_of_other_multiplicities_is_refused(fits, tmp_path):
    ballots = fits[0].estimate_.ballots
    EM((1, 2)).fit(ballots, checkpoint=tmp_path / "state")
    other = Ballots.from_mapping(
        dict(ballots.items()), alternatives=ballots.alternatives, multiplicities={"v0": 4, "v2": 5, "v3": 2}
    )
    with pytest.raises(Exception, match="other ballots"):
        EM((1, 2)).fit(other, checkpoint=tmp_path / "state")


# What draws voters at random


def stands_for(ballots):
    times = [1] * ballots.n_voters if ballots.multiplicities is None else ballots.multiplicities.tolist()
    return dict(zip(ballots.voters, times, strict=True))


def test_halves_share_out_those_who_are_alike(fits):
    ballots, rng = fits[0].estimate_.ballots, np.random.default_rng(0)
    total = stands_for(ballots)
    first = []
    for _ in range(200):
        parts = [stands_for(part) for part in halves(ballots, rng)]
        assert sum(parts[0].values()) == ballots.total_voters // 2
        assert {name: parts[0].get(name, 0) + parts[1].get(name, 0) for name in total} == total
        first.append(parts[0].get("v2", 0))
    assert np.mean(first) == pytest.approx(2.5, abs=0.3)


def test_thinned_ballots_are_of_single_voters():
    times = {"a": 1000, "b": 3, "c": 1}
    cast = {("a", "z"): {"x"}, ("b", "z"): {"y"}, ("c", "z"): set(), ("a", "w"): {"y"}, ("c", "w"): {"x"}}
    ballots = Ballots.from_mapping(cast, multiplicities=times)
    drawn = thin(ballots, 5, np.random.default_rng(0))
    assert drawn.multiplicities is None
    assert drawn.ballots_per_instance.tolist() == [5, 5]
    for (voter, instance), ticks in drawn.items():
        assert cast[voter.rsplit(".", 1)[0], instance] == ticks
    whole = thin(Ballots.from_mapping(cast, multiplicities={"a": 2, "b": 3}), 50, np.random.default_rng(0))
    assert sorted(whole.voters) == ["a.1", "a.2", "b.1", "b.2", "b.3", "c.1"]
    assert whole.ballots_per_instance.tolist() == [6, 3]
    shares = [
        np.mean([v.startswith("b") for (v, z), _ in thin(ballots, 20, np.random.default_rng(s)).items() if z == "z"])
        for s in range(300)
    ]
    assert np.mean(shares) == pytest.approx(3 / 1004, abs=0.002)


def test_a_plan_draws_from_all_voters(fits):
    known = typical_parameters(fits[0].estimate_)
    expected = typical_parameters(fits[1].estimate_)
    assert sorted(known.hit_rates) == pytest.approx(sorted(expected.hit_rates), abs=1e-6)
    assert check_plan(fits[0]).available == check_plan(fits[1]).available


def test_confidence_is_checked_on_single_voters():
    cast = {(f"v{i}", f"z{z}"): {"x"} if (i + z) % 3 else {"y"} for i in range(4) for z in range(12)}
    merged = Ballots.from_mapping(cast, multiplicities={"v0": 3, "v1": 2})
    found = Auto(1).fit(merged).reproducibility_
    assert found is not None
    assert not found.is_sample
    huge = Ballots.from_mapping(cast, multiplicities={"v0": 3_000_000})
    assert Auto(1).fit(huge).reproducibility_ is None
