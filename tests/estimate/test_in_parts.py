"""What follows a fit on packed ballots is worked out block by block: the same as in memory, in the memory of a block."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from epivote import (
    AMLE,
    Ballots,
    Calibrated,
    Majority,
    MaximumLikelihood,
    agreement,
    confusions,
    inspect_ballots,
    log_likelihood,
    marginal_log_likelihood,
    open_packed,
    rank_participants,
    reference_crowd,
    score,
    simulate,
    suggest_size,
    summarize,
    write_ballots,
    write_packed,
    write_report,
)
from epivote.data import packing
from epivote.estimate import reliability
from epivote.evaluate import looked_at
from epivote.evaluate.confusion import tick_counts
from epivote.report import anonymous, embedded
from epivote.report.counts import Counts

CROWD = reference_crowd(60, 20, 6, 2, seed=8)
FEW_GOLD = {name: CROWD.gold[name] for name in CROWD.ballots.instances[3:50:4]}


def menus():
    """Instances that offer different alternatives, one of them without ballots, and voters who stand for several."""
    rng = np.random.default_rng(2)
    menu = {f"z{z:02}": sorted(rng.choice(list("abcdefg"), rng.integers(2, 6), replace=False)) for z in range(40)}
    cast = {
        (f"v{i}", name): {each for each in names if rng.random() < 0.4}
        for name, names in menu.items()
        for i in rng.permutation(9)[: rng.integers(1, 6)]
    }
    return Ballots.from_mapping(cast, menu=menu, multiplicities={"v3": 3, "v5": 2})


BALLOTS = {"plain": CROWD.ballots, "menus": menus()}


@pytest.fixture(params=BALLOTS)
def both(request, tmp_path, monkeypatch):
    """The same ballots in memory and packed."""
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 25)
    whole = BALLOTS[request.param]
    packed = write_packed([whole], tmp_path / "packed")
    assert len(packed.blocks) > 3
    return whole, packed


def fitted(ballots, gold=None):
    return AMLE((1, 2)).fit(ballots, gold=gold)


def some_gold(ballots):
    return {name: [ballots.offered(name)[0]] for name in ballots.instances[2::5]}


@pytest.mark.parametrize("gold", [False, True])
def test_what_an_estimator_says_is_the_same(both, gold):
    whole, packed = both
    one, other = (fitted(each, some_gold(whole) if gold else None) for each in (packed, whole))
    assert one.confidence_.tolist() == pytest.approx(other.confidence_.tolist(), rel=1e-12)
    assert one.model_confidence_.tolist() == one.confidence_.tolist()
    assert one.expected_sizes_.tolist() == pytest.approx(other.expected_sizes_.tolist(), rel=1e-12)
    assert dict(one.truth_) == dict(other.truth_)
    assert (
        one.estimate_.gold_sets
        == other.estimate_.gold_sets
        == {name: frozenset(names) for name, names in (some_gold(whole) if gold else {}).items()}
    )
    for utility in ("exact", "hamming", "f1", "jaccard"):
        assert dict(one.decide(utility)) == dict(other.decide(utility))
    assert dict(one.predict(packed)) == dict(other.predict(whole)) == dict(one.predict(whole))
    assert one.pick_gold(5, seed=3) == other.pick_gold(5, seed=3)
    for doubt, same in zip(one.review(0.99, seed=1), other.review(0.99, seed=1), strict=True):
        rounded = {name: getattr(same, name) for name in ("confidence", "rival_probability")}
        assert [getattr(doubt, name) for name in rounded] == pytest.approx(list(rounded.values()), rel=1e-9)
        assert replace(doubt, **rounded) == same
    assert one.review(0.99, most=3, limit=7, seed=1) == one.review(0.99, seed=1, most=3)[:7]
    assert one.estimate_.ties == other.estimate_.ties
    assert one.estimate_.first_rows() == other.estimate_.first_rows()
    for name in whole.instances[::11]:
        assert one.explain(name) == other.explain(name)
    if gold:
        (sets, sure), (others, as_sure) = one.gold_check(), other.gold_check()
        assert dict(sets) == dict(others)
        assert sure.tolist() == pytest.approx(as_sure.tolist(), rel=1e-12)


def test_calibrated_confidence_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 25)
    packed = write_packed([CROWD.ballots], tmp_path / "packed")
    for rule in (AMLE((1, 2)), Majority((1, 2))):
        one, other = (Calibrated(rule).fit(each, gold=FEW_GOLD) for each in (packed, CROWD.ballots))
        assert one.confidence_.tolist() == pytest.approx(other.confidence_.tolist(), rel=1e-9)
        if isinstance(rule, AMLE):
            assert one.model_confidence_.tolist() == pytest.approx(other.model_confidence_.tolist(), rel=1e-9)
            assert not one.estimate_.only_shares
        else:
            assert one.model_confidence_ is other.model_confidence_ is None
            assert one.estimate_.only_shares
        name = CROWD.ballots.instances[1]
        assert one.explain(name).to_text() == other.explain(name).to_text()


def test_an_estimate_of_some_instances_is_that_of_all_at_these(both):
    whole, packed = both
    places = np.array([0, 3, 4, 17, 30, len(whole.instances) - 1])
    for estimate in (fitted(packed, some_gold(whole)).estimate_, fitted(whole, some_gold(whole)).estimate_):
        few = estimate.at(places)
        assert few.ballots == whole.select(instances=[whole.instances[z] for z in places])
        assert dict(few.truths) == {whole.instances[z]: estimate.truths[whole.instances[z]] for z in places}
        assert few.confidence.tolist() == pytest.approx(estimate.confidence[places].tolist(), rel=1e-12)
        assert few.gold == estimate.gold & set(few.ballots.instances)
        assert few.ties == tuple(name for name in estimate.ties if name in few.ballots.instance_index)
        table = few.inclusion_table()
        every = dict(zip(*(list(zip(*_columns(estimate)[:2], strict=True)), _columns(estimate)[2]), strict=True))
        pairs = zip(table["instance"], table["alternative"], strict=True)
        assert table["probability"] == pytest.approx([every[pair] for pair in pairs], rel=1e-12)
        parts = list(estimate.parts(places))
        assert [name for part in parts for name in part.truths] == list(few.truths)
        assert len(parts) == (1 if estimate.ballots.is_in_memory else len({*_blocks_of(packed, places)}))


def _columns(estimate):
    table = estimate.inclusion_table()
    return table["instance"], table["alternative"], table["probability"]


def _blocks_of(packed, places):
    return (np.searchsorted(np.cumsum(packed.sizes["instances"]), places, side="right")).tolist()


def test_what_is_measured_on_ballots_is_the_same(both):
    whole, packed = both
    truths = fitted(whole).truth_
    assert confusions(packed, truths).tolist() == confusions(whole, truths).tolist()
    for one, other in zip(tick_counts(packed, truths), tick_counts(whole, truths), strict=True):
        assert one.tolist() == other.tolist()
    assert rank_participants(packed, truths) == rank_participants(whole, truths)
    assert agreement(packed) == agreement(whole)
    assert suggest_size(packed) == suggest_size(whole)
    assert inspect_ballots(packed) == inspect_ballots(whole)
    gold = some_gold(whole)
    assert score(truths, gold, packed) == score(truths, gold, whole)
    known = fitted(whole).parameters_
    for value in (log_likelihood, marginal_log_likelihood):
        sets = (truths,) if value is log_likelihood else ()
        assert value(packed, *sets, known, (1, 2)) == pytest.approx(value(whole, *sets, known, (1, 2)), rel=1e-12)
    assert packed.cast_per_instance.tolist() == whole.cast_per_instance.tolist()
    assert packed.ballots_per_instance.tolist() == whole.ballots_per_instance.tolist()
    assert packed.total_empty == whole.total_empty
    assert list(packed.items()) == list(whole.items())
    names = [whole.instances[z] for z in (30, 2, 17)]
    for ballots in both:
        assert ballots.places([*names, "nowhere"]) == dict(zip(names, (30, 2, 17), strict=True))
        assert ballots.places([]) == {}
        assert ballots.names_at(np.array([30, 2, 17])) == names
        assert ballots.offered(names[0]) == whole.offered(names[0])
        assert ballots.ballot(whole.voters[0], names[0]) == whole.ballot(whole.voters[0], names[0])


def test_scores_against_gold_kept_aside_are_the_same(both):
    whole, packed = both
    gold = {**dict(reversed(some_gold(whole).items())), "nowhere": ["a"]}
    one, other = (summarize(fitted(each), gold) for each in (packed, whole))
    assert one.held_back == other.held_back
    assert list(one.held_back.right) == sorted(one.held_back.right)
    assert one.estimated_places.tolist() == list(range(len(whole.instances)))


def test_agreement_of_very_many_packed_ballots_is_that_of_a_sample_and_says_so(both, monkeypatch):
    whole, packed = both
    monkeypatch.setattr(looked_at, "MOST_BALLOTS", whole.n_ballots // 3)
    sample = whole.sample_instances(-(-whole.n_ballots // (whole.n_ballots // 3)))
    found = agreement(packed)
    assert found.sampled == sample.n_instances < whole.n_instances
    assert found.nominal == agreement(sample).nominal
    assert f" It is that of a sample of {sample.n_instances} instances." in found.in_words()
    assert agreement(whole).sampled is None


# Other names for voters


def test_voters_get_other_names_and_their_own_back(both):
    whole, _ = both
    order = np.random.default_rng(0).permutation(whole.n_voters)
    names = tuple(f"n{k}" for k in range(whole.n_voters))
    for ballots in both:
        renamed = ballots.with_voters(names, order)
        assert renamed == whole.with_voters(names, order)
        assert renamed.ballots_per_voter.tolist() == whole.ballots_per_voter[order].tolist()
        assert renamed.cast_per_instance.tolist() == whole.cast_per_instance.tolist()
        assert (renamed.total_approvals, renamed.total_ballots) == (whole.total_approvals, whole.total_ballots)
        assert renamed.with_voters(whole.voters, np.argsort(order)) == whole
        (voter, instance), ticks = next(iter(whole.items()))
        assert renamed.ballot(names[int(np.argsort(order)[whole.voter_index[voter]])], instance) == ticks


def test_estimates_without_names_are_the_same(both):
    one, other = (anonymous.without_voter_names(fitted(each).estimate_) for each in both)
    assert one.ballots == other.ballots
    assert one.voter_table() == other.voter_table()
    own = fitted(both[0]).estimate_.voter_table()
    rows, renamed = (sorted(zip(*list(table.values())[1:], strict=True)) for table in (own, other.voter_table()))
    assert rows == renamed, "rates, weights, ballots and multiplicities belong to the same voters"
    assert dict(one.truths) == dict(other.truths)
    few = one.at(np.arange(3))
    assert few.ballots == other.at(np.arange(3)).ballots
    assert few.ballots.voters[0] == "voter 1"
    assert few.confidence.tolist() == pytest.approx(other.confidence[:3].tolist(), rel=1e-12)
    counts = [Counts.of(each) for each in (one, other)]
    assert counts[0].ballot_sizes.tolist() == counts[1].ballot_sizes.tolist()
    assert counts[0].confused.tolist() == counts[1].confused.tolist()


# Memory

VOTERS, PER_INSTANCE, PER_BLOCK = 260, 250, 20  # of ballots on an instance, and of instances in a block
FEW, MANY = 3, 15  # blocks


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two packed crowds with blocks of the same size, one with five times as many."""
    place = tmp_path_factory.mktemp("crowds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BALLOTS_PER_BLOCK", PER_BLOCK * PER_INSTANCE)
        for count in (FEW, MANY):
            drawn = simulate(
                instances=count * PER_BLOCK,
                voters=VOTERS,
                alternatives=6,
                bounds=(1, 2),
                ballots_per_instance=PER_INSTANCE,
                seed=1,
            )
            assert len(write_packed([drawn.ballots], place / str(count)).blocks) == count
    return place


def known(ballots):
    return MaximumLikelihood(0.6, 0.3, 0.4, (1, 2)).fit(ballots)


USES = {
    "inspect": lambda ballots, _: inspect_ballots(ballots),
    "convert": lambda ballots, out: write_ballots(ballots, out / "b.csv"),
    "convert to Parquet": lambda ballots, out: write_ballots(ballots, out / "b.parquet"),
    "review": lambda ballots, _: known(ballots).review(1.0, most=2),
    "decide": lambda ballots, _: known(ballots).decide("f1"),
    "gold": lambda ballots, _: known(ballots).pick_gold(5),
    "explain": lambda ballots, _: known(ballots).explain(ballots.blocks[1].instances[0]),
    "score": lambda ballots, _: summarize(known(ballots), known(ballots).truth_).held_back,
    "report": lambda ballots, out: write_report(known(ballots), out / "r.html"),
    "report without names": lambda ballots, out: write_report(known(ballots), out / "r.html", anonymize=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", USES)
def test_memory_does_not_grow_with_the_number_of_blocks(folders, tmp_path, monkeypatch, name):
    for module, limit, most in (
        (looked_at, "MOST_BALLOTS", 1000),
        (reliability, "BALLOTS_FOR_COPIES", 1000),
        (embedded, "MOST_INSTANCES", 4),
    ):
        monkeypatch.setattr(module, limit, most)
    peaks = []
    for count in (FEW, FEW, MANY):  # the first time modules are loaded as well
        ballots = open_packed(folders / str(count), kept_bytes=0)
        tracemalloc.start()
        USES[name](ballots, tmp_path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    block = PER_BLOCK * PER_INSTANCE * 12  # bytes; 12 more such blocks are there
    per_instance = 600  # bytes: names, numbers and sets
    assert peaks[2] - peaks[1] < block + per_instance * (MANY - FEW) * PER_BLOCK
