"""Ballots on disk: what goes in comes out, estimates are those of ballots in memory, damage is refused."""

import contextlib
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import (
    AMLE,
    EM,
    Approval,
    BallotError,
    FileError,
    InputError,
    Majority,
    MaximumLikelihood,
    Modal,
    PackedBallots,
    SizeBounds,
    open_packed,
    reference_crowd,
    simulate,
    write_estimate,
    write_packed,
    write_report,
)
from epivote.data import packing
from epivote.data.ballots import Ballots
from epivote.data.packed import WIDEST_MASK
from strategies import elections

CROWD = reference_crowd(700, 60, 9, 3, seed=4)


@pytest.fixture
def packed(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 300)
    return write_packed([CROWD.ballots], tmp_path / "crowd")


@given(elections(), st.integers(1, 5))
def test_packed_ballots_come_back_as_they_were(tmp_path_factory, election, per_block):
    ballots = election.as_ballots()
    folder = tmp_path_factory.mktemp("packs") / "one"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BALLOTS_PER_BLOCK", per_block)
        packed = write_packed([ballots], folder)
    assert packed.select() == ballots
    assert packed == ballots
    for name in ("n_voters", "n_instances", "n_alternatives", "n_ballots", "n_approvals", "n_pairs", "most_ballots"):
        assert getattr(packed, name) == getattr(ballots, name), name
    assert packed.has_menus == ballots.has_menus
    np.testing.assert_array_equal(packed.ballots_per_voter, ballots.ballots_per_voter)
    np.testing.assert_array_equal(packed.menu_sizes, ballots.menu_sizes)
    assert packed.sample_instances(3) == ballots.sample_instances(3)
    assert packed.sample_instances(5) == ballots.sample_instances(5)
    assert packed.sample_instances(5, ballots.instances[:4]) == ballots.sample_instances(5, ballots.instances[:4])
    assert packed.sample_instances(5) is packed.sample_instances(5)
    for instance in ballots.instances:
        assert packed.select(instances=[instance]) == ballots.select(instances=[instance])


MAKERS = (
    lambda: AMLE((1, 3)),
    lambda: AMLE((1, 3), n_starts=2, priors="shared"),
    lambda: Majority((1, 3)),
    lambda: Approval((1, 3)),
    lambda: Modal((1, 3)),
    lambda: MaximumLikelihood(0.7, 0.2, 0.2, (1, 3)),
)


@pytest.fixture(scope="module")
def in_memory():
    """What every estimator finds in memory, and EM."""
    return [make().fit(CROWD.ballots) for make in MAKERS], EM((1, 3)).fit(CROWD.ballots)


@pytest.mark.parametrize("kept_bytes", [0, 20_000, 1 << 29])
def test_every_estimator_finds_the_same_on_disk(packed, in_memory, kept_bytes):
    on_disk = open_packed(packed.folder, kept_bytes=kept_bytes)
    for make, expected in zip(MAKERS, in_memory[0], strict=True):
        found = make().fit(on_disk)
        assert found.truth_ == expected.truth_
        assert found.parameters_ == expected.parameters_, "to the last bit"
        assert found.log_likelihoods_ == expected.log_likelihoods_
        assert found.estimate_.ties == expected.estimate_.ties
    expected, found = in_memory[1], EM((1, 3)).fit(on_disk)
    assert found.truth_ == expected.truth_
    np.testing.assert_allclose(found.parameters_.hit_rates, expected.parameters_.hit_rates, rtol=1e-12)
    np.testing.assert_allclose(found.confidence_, expected.confidence_, rtol=1e-9)


def test_parts_hold_the_sets_of_their_instances_and_are_made_one_at_a_time(packed):
    fitted = EM((1, 3)).fit(packed)
    parts = list(fitted.estimate_.parts())
    assert len(parts) == len(packed.blocks) > 5
    assert {name: names for part in parts for name, names in part.truths.items()} == dict(fitted.truth_)
    np.testing.assert_allclose(np.concatenate([part.posterior.set_probabilities for part in parts]), fitted.confidence_)
    assert next(EM((1, 3)).fit(CROWD.ballots).estimate_.parts()).truths == fitted.truth_
    counted = list(Majority().fit(packed).estimate_.parts())
    assert sum(len(part.truths) for part in counted) == 700


def test_gold_and_bounds_of_single_instances_find_their_block(packed):
    names = CROWD.ballots.instances
    gold = {name: CROWD.gold[name] for name in (names[0], names[350], names[699])}
    bounds = SizeBounds(1, 3, {names[1]: (2, 2), names[600]: (0, None)})
    expected, found = AMLE(bounds).fit(CROWD.ballots, gold=gold), AMLE(bounds).fit(packed, gold=gold)
    assert found.parameters_ == expected.parameters_
    assert found.truth_ == expected.truth_
    assert len(found.truth_[names[1]]) == 2
    assert found.estimate_.gold == frozenset(gold)
    with pytest.raises(InputError, match="none of the 1 gold instances has a ballot"):
        AMLE(bounds).fit(packed, gold={"nowhere": {"a1"}})


@pytest.mark.parametrize(("alternatives", "instances"), [(12, 20), (70, 2)])
def test_menus_are_packed_too(tmp_path, alternatives, instances):
    drawn = simulate(instances=instances, voters=12, alternatives=alternatives, bounds=(1, 2), seed=3).ballots
    rng = np.random.default_rng(1)
    menu = {}
    for instance in drawn.instances:
        ticked = {name for (_, z), ticks in drawn.select(instances=[instance]).items() for name in ticks}
        menu[instance] = ticked | set(rng.choice(drawn.alternatives, 4))
    ballots = Ballots.from_mapping(dict(drawn.items()), alternatives=drawn.alternatives, menu=menu)
    assert (max(map(len, menu.values())) > WIDEST_MASK) == (alternatives == 70), "a block of masks and one of lists"
    packed = write_packed([ballots], tmp_path / "menus")
    assert packed == ballots
    for priors in ("shared", "individual"):
        found, expected = (AMLE((1, 2), priors=priors, max_iterations=2).fit(each) for each in (packed, ballots))
        assert found.parameters_ == expected.parameters_
        assert found.log_likelihoods_ == expected.log_likelihoods_
        assert found.truth_ == expected.truth_


def test_a_part_that_offers_everything_goes_with_parts_that_do_not(tmp_path):
    cast = {("v", f"z{z}"): {"a"} if z % 3 else {"a", "b"} for z in range(6)} | {
        ("w", f"z{z}"): {"b"} for z in range(6)
    }
    menu = {f"z{z}": ["a", "b", "c"] if z < 3 else ["a", "b"] for z in range(6)}
    whole = Ballots.from_mapping(cast, alternatives=["a", "b", "c"], menu=menu)
    parts = [whole.select(instances=[f"z{z}" for z in rows]) for rows in (range(3), range(3, 6))]
    full = replace(parts[0], menu=None)
    packed = write_packed([full, parts[1]], tmp_path / "mixed")
    assert packed == whole
    for priors in ("shared", "individual"):
        found, expected = (AMLE((1, 2), priors=priors).fit(each) for each in (packed, whole))
        assert found.parameters_ == expected.parameters_


def test_single_instances_are_explained_without_reading_the_others(packed):
    expected, found = EM((1, 3)).fit(CROWD.ballots), EM((1, 3)).fit(packed)
    name = CROWD.ballots.instances[444]
    assert found.explain(name).answer == expected.explain(name).answer
    assert found.best_sets(name)[0][1] == pytest.approx(expected.best_sets(name)[0][1])


def test_no_fit_reads_everything_into_memory(packed, tmp_path, monkeypatch):
    def refuse(_):
        raise AssertionError("all ballots were read into memory")

    monkeypatch.setattr(PackedBallots, "in_memory", refuse)
    monkeypatch.setattr(PackedBallots, "instances", property(refuse))
    gold = {name: CROWD.gold[name] for name in CROWD.ballots.instances[:5]}
    assert len(AMLE((1, 1)).fit(packed).voters_) == 60, "where a crowd upside down is looked for"
    for estimator in (AMLE((1, 3), "soft"), EM((1, 3)), Modal((1, 3)), MaximumLikelihood(0.7, 0.2)):
        fitted = estimator.fit(packed, gold=gold, checkpoint=None)
        write_estimate(fitted.estimate_, tmp_path / type(estimator).__name__)
        assert len(fitted.voters_) == 60
    assert len(EM((1, 3)).fit(packed).reliability()) == 60
    assert AMLE((1, 3)).fit(packed, checkpoint=tmp_path / "kept").model_.voters == packed.voters


def test_a_report_of_packed_ballots_may_leave_out_the_names_of_voters(packed, tmp_path):
    fitted = EM((1, 3)).fit(packed)
    named, nameless = (
        write_report(fitted, tmp_path / "report.html", anonymize=hidden).read_text(encoding="utf-8")
        for hidden in (False, True)
    )
    assert ('"v8"' in named, '"v8"' in nameless) == (True, False)
    assert ('"voter 8"' in named, '"voter 8"' in nameless) == (False, True)


def test_a_fit_of_packed_ballots_can_be_pickled(packed):
    fitted = AMLE((1, 3)).fit(packed)
    assert pickle.loads(pickle.dumps(fitted)).truth_ == fitted.truth_


# Damage


def damaged(packed, name, change):
    copy = packed.folder.parent / "damaged"
    shutil.copytree(packed.folder, copy)
    data = bytearray((copy / name).read_bytes())
    (copy / name).write_bytes(change(data))
    return copy


def flipped(at):
    def change(data):
        data[int(at * len(data))] ^= 16
        return data

    return change


@pytest.mark.parametrize("name", ["index.npz", "block-00003.npz"])
@pytest.mark.parametrize(
    "change", [flipped(0.2), flipped(0.5), flipped(0.75), lambda data: data[: len(data) // 2], lambda data: b""]
)
def test_damaged_files_are_refused_with_one_sentence(packed, name, change):
    folder = damaged(packed, name, change)
    with pytest.raises(FileError, match=rf"{name}.*(damaged|missing)") as caught:
        AMLE((1, 3)).fit(open_packed(folder)).truth_  # noqa: B018
    assert str(caught.value).count("\n") == 0


@given(st.integers(0, 10**9), st.integers(0, 7))
def test_no_flipped_bit_gives_a_wrong_answer(tmp_path_factory, at, bit):
    """A bit that nothing depends on may flip; any other is noticed."""
    folder = tmp_path_factory.mktemp("packs") / "small"
    ballots = simulate(instances=4, voters=3, alternatives=4, bounds=(1, 2), seed=at).ballots
    write_packed([ballots], folder)
    path = folder / ("block-00000.npz" if at % 2 else "index.npz")
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 1 << bit
    path.write_bytes(data)
    with contextlib.suppress(FileError):
        assert open_packed(folder).select() == ballots


def test_lost_and_exchanged_blocks_are_refused(packed, tmp_path):
    folder = tmp_path / "lost"
    shutil.copytree(packed.folder, folder)
    (folder / "block-00002.npz").unlink()
    with pytest.raises(FileError, match=r"block-00002.npz is missing"):
        EM((1, 3)).fit(open_packed(folder))
    other = write_packed([reference_crowd(50, 60, 9, 3, seed=5).ballots], tmp_path / "other")
    shutil.copy(other.folder / "block-00000.npz", folder / "block-00002.npz")
    with pytest.raises(FileError, match="does not belong"):
        EM((1, 3)).fit(open_packed(folder))
    with pytest.raises(FileError, match="holds no packed ballots"):
        open_packed(tmp_path)


def test_a_newer_format_is_refused(packed, monkeypatch):
    monkeypatch.setattr("epivote.data.packed.VERSION", 0)
    with pytest.raises(FileError, match="newer epivote"):
        open_packed(packed.folder)


def test_nothing_is_left_of_a_pack_that_fails(tmp_path):
    def parts():
        yield CROWD.ballots
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_packed(parts(), tmp_path / "half")
    with pytest.raises(BallotError, match="same voters"):
        write_packed([CROWD.ballots, reference_crowd(5, 61, 9, 3).ballots], tmp_path / "half")
    with pytest.raises(BallotError, match="no ballots"):
        write_packed([], tmp_path / "half")
    assert list(tmp_path.iterdir()) == []
    write_packed([CROWD.ballots], tmp_path / "whole")
    with pytest.raises(FileError, match="already exists"):
        write_packed([CROWD.ballots], tmp_path / "whole")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(FileError, match="cannot write .*nothing was packed"):
            write_packed([CROWD.ballots], tmp_path / "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list(tmp_path.iterdir()) == []
