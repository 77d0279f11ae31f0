"""Krippendorff's alpha: against brute force, against two libraries, and by hand."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics import jaccard_distance, masi_distance
from nltk.metrics.agreement import AnnotationTask

import oracles
from epivote import Agreement, Ballots, agreement, inspect_ballots, reference_crowd, simulate, summarize
from epivote.estimate.em import EM
from epivote.evaluate import agreement as module
from strategies import elections


def by_unit(cast):
    values = {}
    for (_, instance), ticks in cast.items():
        values.setdefault(instance, []).append(frozenset(ticks))
    return values


def near(expected):
    return None if expected is None else pytest.approx(expected, abs=1e-12)


@settings(max_examples=60)
@given(elections(max_voters=5, max_instances=5, max_alternatives=4))
def test_every_alpha_is_that_of_all_pairs_of_ballots(election):
    found, sets = agreement(election.as_ballots()), by_unit(election.ballots)
    assert found.nominal == near(oracles.krippendorff_alpha(sets, oracles.nominal_distance))
    assert found.jaccard == near(oracles.krippendorff_alpha(sets, oracles.set_jaccard_distance))
    assert found.masi == near(oracles.krippendorff_alpha(sets, oracles.masi_distance))
    cells = {(z, name): [name in ticks for ticks in sets[z]] for z in election.instances for name in election.menus[z]}
    assert found.approvals == near(oracles.krippendorff_alpha(cells, oracles.nominal_distance))
    for name in election.alternatives:
        own = {unit: ticked for unit, ticked in cells.items() if unit[1] == name}
        assert found.alternatives[name] == near(oracles.krippendorff_alpha(own, oracles.nominal_distance))
    several = [ticks for ticks in sets.values() if len(ticks) > 1]
    assert (found.n_instances, found.n_ballots) == (len(several), sum(map(len, several)))
    assert found.drawn_pairs is None


@pytest.fixture(scope="module")
def crowd():
    return simulate(instances=40, voters=8, alternatives=5, bounds=(0, 3), coverage=0.5, seed=3).ballots


def test_the_package_krippendorff_agrees_on_sets_that_are_equal_or_not(crowd):
    kinds = {ticks: number for number, ticks in enumerate({ticks for _, ticks in crowd.items()})}
    table = np.full((crowd.n_voters, crowd.n_instances), np.nan)
    for (voter, instance), ticks in crowd.items():
        table[crowd.voter_index[voter], crowd.instance_index[instance]] = kinds[ticks]
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert agreement(crowd).nominal == pytest.approx(expected)


def test_the_package_krippendorff_agrees_on_single_alternatives(crowd):
    found = agreement(crowd).alternatives
    for name in crowd.alternatives:
        table = np.full((crowd.n_voters, crowd.n_instances), np.nan)
        for (voter, instance), ticks in crowd.items():
            table[crowd.voter_index[voter], crowd.instance_index[instance]] = name in ticks
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
        assert found[name] == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "theirs"), [("jaccard", jaccard_distance), ("masi", masi_distance)])
def test_nltk_agrees_on_distances_between_sets(crowd, kind, theirs):
    def distance(one, other):
        return theirs(one, other) if one | other else 0.0  # theirs divides by 0 if both are empty

    task = AnnotationTask([(voter, z, ticks) for (voter, z), ticks in crowd.items()], distance)
    assert any(not ticks for _, ticks in crowd.items()), "there are empty ballots"
    assert getattr(agreement(crowd), kind) == pytest.approx(task.alpha())


# By hand


def of(*instances):
    """Ballots written as text, one instance after the other: `of("a ab", "c c -")`."""
    cast = {
        (f"v{i}", f"z{z}"): set(ticks.strip("-"))
        for z, ballots in enumerate(instances)
        for i, ticks in enumerate(ballots.split())
    }
    return agreement(Ballots.from_mapping(cast, alternatives=list("abcd")))


def test_voters_who_agree_entirely_have_an_alpha_of_1():
    found = of("ab ab", "c c c", "- -")
    assert (found.nominal, found.jaccard, found.masi, found.approvals) == (1, 1, 1, 1)
    assert dict(found.alternatives) == {"a": 1, "b": 1, "c": 1, "d": None}


def test_voters_who_only_disagree_have_a_negative_alpha():
    """Two values, each three times, never together twice on an instance: 1 - 1 / (2 * 9 / 30)."""
    found = of("a b", "a b", "a b")
    assert (found.nominal, found.jaccard, found.masi) == pytest.approx((1 - 5 / 3,) * 3)


def test_distances_of_sets_that_overlap_contain_each_other_or_are_empty():
    """On two ballots of one instance alpha is 0, so each pair is measured beside a third ballot at distance 1."""
    for pair, jaccard, masi in (
        ("ab bc", 2 / 3, 8 / 9),
        ("ab a", 1 / 2, 2 / 3),
        ("a abc", 2 / 3, 7 / 9),
        ("ab ab", 0, 0),
        ("a -", 1, 1),
        ("- -", 0, 0),
        ("ab c", 1, 1),
    ):
        found = of(pair, "d d")
        across = [(4 + d) / 6 for d in (jaccard, masi)]  # four pairs at distance 1, one at 0 and the pair itself
        within = [d / 2 for d in (jaccard, masi)]
        expected = [1 - o / e for o, e in zip(within, across, strict=True)]
        assert (found.jaccard, found.masi) == pytest.approx(tuple(expected)), pair


def test_a_missing_ballot_is_no_disagreement_but_an_empty_one_is():
    assert of("a a", "b b").nominal == 1
    assert of("a a", "b b", "c").nominal == 1, "a single ballot says nothing"
    assert of("a a -", "b b").nominal < 1
    assert (of("a a", "b b", "c").n_instances, of("a a", "b b", "c").n_ballots) == (2, 4)


def test_an_alternative_that_is_not_offered_is_not_left_out():
    cast = {("v", "y"): {"a"}, ("w", "y"): {"a"}, ("v", "z"): {"b"}, ("w", "z"): set()}
    everywhere = agreement(Ballots.from_mapping(cast))
    apart = agreement(Ballots.from_mapping(cast, menu={"y": ["a"], "z": ["b"]}))
    assert everywhere.alternatives["a"] == 1
    assert apart.alternatives["a"] is None, "ticked wherever it was offered: nothing to tell apart"
    assert everywhere.approvals == pytest.approx(1 - (1 / 8 * 2) / (2 * 3 * 5 / (8 * 7)))
    assert apart.approvals == pytest.approx(1 - (1 / 4 * 2) / (2 * 3 * 1 / (4 * 3)))


def test_alpha_is_undefined_where_nothing_can_be_compared_or_all_is_equal():
    alone = agreement(Ballots.from_mapping({("v", "y"): {"a"}, ("w", "z"): {"b"}}))
    assert (alone.n_instances, alone.n_ballots) == (0, 0)
    assert {alone.nominal, alone.jaccard, alone.masi, alone.approvals, *alone.alternatives.values()} == {None}
    assert alone.in_words() == "No instance has two ballots, so agreement among voters cannot be measured."
    equal = of("a a", "a a a")
    assert (equal.nominal, equal.jaccard, equal.masi) == (None, None, None)
    assert "undefined over whole sets, undefined with Jaccard distance, undefined with MASI" in equal.in_words()
    assert equal.approvals == 1, "a is ticked, b is not"


# Many ballots


def test_where_sets_are_too_many_pairs_of_ballots_are_drawn(crowd, monkeypatch):
    exact = agreement(crowd)
    monkeypatch.setattr(module, "MOST_PAIRS", 40)
    assert agreement(crowd).drawn_pairs == 40
    drawn = [agreement(crowd, seed=seed) for seed in range(400)]
    assert {each.nominal for each in drawn} == {exact.nominal}
    assert {each.approvals for each in drawn} == {exact.approvals}
    assert len({each.masi for each in drawn}) > 300
    monkeypatch.setattr(module, "MOST_PAIRS", 10_000)
    monkeypatch.setattr(module, "pairs_in", lambda counts: 10_001)
    many = [agreement(crowd, seed=seed) for seed in range(8)]
    for kind in ("jaccard", "masi"):
        values = [getattr(each, kind) for each in many]
        error = np.std(values, ddof=1) / math.sqrt(8)
        assert np.mean(values) == pytest.approx(getattr(exact, kind), abs=4 * error)
        assert error < 0.01


def test_as_many_pairs_as_allowed_are_all_compared(crowd, monkeypatch):
    kinds = len({ticks for _, ticks in crowd.items()})
    exact = agreement(crowd)
    monkeypatch.setattr(module, "MOST_PAIRS", kinds * (kinds - 1) // 2)
    assert agreement(crowd) == exact
    monkeypatch.setattr(module, "MOST_PAIRS", kinds * (kinds - 1) // 2 - 1)
    assert agreement(crowd).drawn_pairs == kinds * (kinds - 1) // 2 - 1
    assert agreement(crowd) == agreement(crowd, seed=0)


def test_pairs_on_one_instance_may_be_too_many_as_well(monkeypatch):
    cast = {(f"v{i}", f"z{z}"): {"abcd"[i % 4]} for i in range(8) for z in range(3)}
    monkeypatch.setattr(module, "MOST_PAIRS", 17)  # six pairs of sets, but on each of three instances
    assert agreement(Ballots.from_mapping(cast)).drawn_pairs == 17
    monkeypatch.setattr(module, "MOST_PAIRS", 18)
    assert agreement(Ballots.from_mapping(cast)).drawn_pairs is None


def test_how_many_pairs_are_compared_at_a_time_changes_nothing(crowd, monkeypatch):
    whole = agreement(crowd)
    monkeypatch.setattr(module, "PAIRS_PER_CHUNK", 7)
    assert agreement(crowd).masi == pytest.approx(whole.masi, abs=1e-12)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_all_pairs_within_groups(sizes):
    one, other = module._all_pairs(np.array(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    expected = {(a, b) for a in range(sum(sizes)) for b in range(a) if group[a] == group[b]}
    assert set(zip(one.tolist(), other.tolist(), strict=True)) == expected
    assert len(one) == len(expected)


def test_more_than_64_alternatives():
    wide = reference_crowd(60, 10, 90, 4, seed=2).ballots
    sets = by_unit(dict(wide.items()))
    assert agreement(wide).masi == pytest.approx(oracles.krippendorff_alpha(sets, oracles.masi_distance))


# Words, and where they are shown


def test_in_words_and_weakest():
    found = Agreement(3, 9, 0.123, -0.2, 0.5, 0.996, {"x": 0.4, "y": None, "z": 0.1, "w": 0.2}, 1000000)
    assert found.in_words() == (
        "Agreement among voters (Krippendorff's alpha; 1 is perfect, 0 is chance): 0.12 over whole sets, -0.20 with "
        "Jaccard distance, 0.50 with MASI distance, 1.00 over single alternatives. Jaccard and MASI are estimated from "
        "1,000,000 random pairs of ballots."
    )
    assert found.weakest(2) == [("z", 0.1), ("w", 0.2)]
    assert found.weakest() == [("z", 0.1), ("w", 0.2), ("x", 0.4)]


def test_an_inspection_and_a_summary_carry_it(crowd):
    assert inspect_ballots(crowd).agreement == agreement(crowd)
    assert summarize(EM((0, 3)).fit(crowd)).agreement == agreement(crowd)


def test_more_shared_mistakes_look_like_more_agreement():
    """Why alpha is no measure of correctness: it cannot tell agreement from mistakes made together."""
    options = {"instances": 400, "voters": 6, "alternatives": 5, "bounds": (1, 2), "seed": 1}
    apart, together = (agreement(simulate(**options, shared_mistakes=s).ballots).jaccard for s in (0, 0.6))
    assert together > apart + 0.1
