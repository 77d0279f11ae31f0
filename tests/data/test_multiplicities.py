"""Voters who stand for several: how ballots hold, count, select and expand them, and what is counted from them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epivote import (
    Ballots,
    EpivoteError,
    agreement,
    check_sizes,
    confusions,
    inspect_ballots,
    read_export,
    suggest_size,
    write_ballots,
    write_packed,
)
from epivote.evaluate.confusion import tick_counts
from strategies import elections

CAST = {("ann", "q1"): {"a"}, ("bo", "q1"): {"a", "b"}, ("cy", "q1"): set(), ("ann", "q2"): {"b"}, ("cy", "q2"): {"c"}}
BALLOTS = Ballots.from_mapping(CAST, multiplicities={"ann": 3, "cy": 2})
few = st.lists(st.integers(1, 4), min_size=3, max_size=3)


def both(election, times):
    """With multiplicities, and with every voter written out."""
    counted = {f"v{i}": k for i, k in enumerate(times) if any(voter == f"v{i}" for voter, _ in election.ballots)}
    menu = election.menus if election.has_menus else None
    spelt_out = {
        (f"{voter}.{k}", instance): ticks
        for (voter, instance), ticks in election.ballots.items()
        for k in range(counted[voter])
    }
    merged = Ballots.from_mapping(
        election.ballots, alternatives=election.alternatives, menu=menu, multiplicities=counted
    )
    return merged, Ballots.from_mapping(spelt_out, alternatives=election.alternatives, menu=menu)


def test_totals_count_everyone():
    assert (BALLOTS.n_voters, BALLOTS.n_ballots, BALLOTS.n_approvals) == (3, 5, 5)
    assert (BALLOTS.total_voters, BALLOTS.total_ballots, BALLOTS.total_approvals, BALLOTS.total_empty) == (6, 11, 10, 2)
    assert BALLOTS.cast_per_instance.tolist() == [6, 5]
    assert BALLOTS.ballots_per_instance.tolist() == [3, 2]
    assert BALLOTS.size_counts.tolist() == [2, 8, 1, 0]
    assert Ballots.from_mapping(CAST).size_counts.tolist() == [1, 3, 1, 0]
    assert BALLOTS.ballots_per_voter.tolist() == [2, 1, 2]
    assert BALLOTS.coverage == 11 / 12
    assert repr(BALLOTS) == (
        "Ballots(6 voters (3 different), 2 instances, 3 alternatives, 11 ballots (2 empty), 10 approvals, 92 % answered)"
    )


def test_expanded_ballots_are_of_single_voters():
    found = BALLOTS.expanded()
    names = {"ann": ["ann.1", "ann.2", "ann.3"], "bo": ["bo"], "cy": ["cy.1", "cy.2"]}
    assert dict(found.items()) == {(name, z): ticks for (v, z), ticks in CAST.items() for name in names[v]}
    assert found.multiplicities is None
    assert found.expanded() is found
    clash = Ballots.from_mapping({("a", "z"): {"x"}, ("a.1", "z"): {"x"}}, multiplicities={"a": 2})
    with pytest.raises(EpivoteError, match=r"voter 'a.1' is listed twice"):
        clash.expanded()


def test_parts_keep_them():
    assert BALLOTS.select(voters=["cy", "bo"]).multiplicities.tolist() == [1, 2]
    assert BALLOTS.select(voters=["bo"]).multiplicities is None
    assert BALLOTS.select(instances=["q2"]).multiplicities.tolist() == [3, 1, 2]
    assert BALLOTS.sample_instances(2, ["q1"]).multiplicities.tolist() == [3, 1, 2]
    assert Ballots.from_mapping(CAST) != BALLOTS
    assert Ballots.from_mapping(CAST, multiplicities={"ann": 3, "bo": 1, "cy": 2}) == BALLOTS
    assert Ballots.from_mapping(CAST, multiplicities={"ann": 1}) == Ballots.from_mapping(CAST)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"anne": 2}, "'anne' has a multiplicity but no ballot (did you mean 'ann'?)"),
        ({"ann": 0}, "the multiplicity of 'ann' is 0; it must be a whole number of at least 1"),
        ({"ann": 1.5}, "the multiplicity of 'ann' is 1.5; it must be a whole number of at least 1"),
        ({"ann": True}, "the multiplicity of 'ann' is True; it must be a whole number of at least 1"),
    ],
)
def test_what_is_no_multiplicity_is_refused(times, message):
    with pytest.raises(EpivoteError) as told:
        Ballots.from_mapping(CAST, multiplicities=times)
    assert str(told.value) == message


def test_a_column_of_a_dataframe_holds_them():
    frame = pl.DataFrame(
        {"voter": ["a", "b"], "instance": ["z", "z"], "alternatives": ["x", "y"], "multiplicity": [2, 1]}
    )
    assert Ballots.from_frame(frame).multiplicities.tolist() == [2, 1]
    marks = pl.DataFrame({"voter": ["a", "b"], "instance": ["z", "z"], "x": [1, 0], "multiplicity": [2, None]})
    found = Ballots.from_frame(marks, layout="indicators")
    assert (found.alternatives, found.multiplicities.tolist()) == (("x",), [2, 1])
    ticks = pl.DataFrame(
        {"voter": ["a", "a"], "instance": ["z", "z"], "alternative": ["x", "y"], "multiplicity": [4, 4]}
    )
    assert Ballots.from_frame(ticks, layout="ticks").total_approvals == 8


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.parquet", "b.jsonl", "b"])
def test_files_keep_them(name, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    write_ballots(BALLOTS, tmp_path / name, format="abcvoting" if name == "b" else None)
    found = read_export(tmp_path / name).ballots
    assert {key: set(ticks) for key, ticks in found.items()} == CAST
    assert dict(zip(found.voters, found.multiplicities.tolist(), strict=True)) == {"ann": 3, "bo": 1, "cy": 2}


def test_other_files_keep_them(tmp_path):
    write_ballots(BALLOTS, tmp_path / "k.csv", format="crowd-kit")
    assert read_export(tmp_path / "k.csv").ballots.total_ballots == 11
    assert write_packed([BALLOTS], tmp_path / "p").in_memory() == BALLOTS
    assert read_export(tmp_path / "p").ballots.total_approvals == 10
    write_ballots(BALLOTS, tmp_path / "c", format="preflib")
    assert read_export(tmp_path / "c").ballots.total_ballots == 11
    with pytest.raises(EpivoteError, match="the same multiplicity"):
        write_packed([BALLOTS, Ballots.from_mapping(CAST)], tmp_path / "q")


def test_a_table_with_them_is_packed_alone(tmp_path):
    from epivote import pack_files

    write_ballots(BALLOTS, tmp_path / "b.csv")
    assert pack_files([tmp_path / "b.csv"], tmp_path / "p").in_memory() == read_export(tmp_path / "b.csv").ballots
    with pytest.raises(EpivoteError, match="cannot be packed together"):
        pack_files([tmp_path / "b.csv", tmp_path / "b.csv"], tmp_path / "q")


# What is counted


@given(election=elections(max_voters=3), times=few)
def test_inspection_and_agreement_count_everyone(election, times):
    merged, spelt_out = both(election, times)
    one, other = inspect_ballots(merged), inspect_ballots(spelt_out)
    for name in ("sizes", "suggested_size", "per_instance", "per_voter"):
        assert getattr(one, name) == getattr(other, name)
    assert one.ticked == pytest.approx(other.ticked)
    mine, theirs = agreement(merged), agreement(spelt_out)
    assert (mine.n_instances, mine.n_ballots) == (theirs.n_instances, theirs.n_ballots)
    for name in ("nominal", "jaccard", "masi", "approvals", "alternatives"):
        assert getattr(mine, name) == pytest.approx(getattr(theirs, name))
    assert [odd.split(":")[0] for odd in one.odd] == [odd.split(":")[0] for odd in other.odd]
    assert suggest_size(merged) == suggest_size(spelt_out)
    assert check_sizes(merged, election.size_bounds) == check_sizes(spelt_out, election.size_bounds)


@given(election=elections(max_voters=3), times=few)
def test_confusions_count_everyone(election, times):
    merged, spelt_out = both(election, times)
    sets = {z: election.menus[z][: election.bounds[z][1]] for z in election.instances}
    assert np.array_equal(confusions(merged, sets), confusions(spelt_out, sets))
    for mine, theirs in zip(tick_counts(merged, sets), tick_counts(spelt_out, sets), strict=True):
        assert mine.tolist() == theirs.tolist()


def test_pairs_that_are_drawn_are_drawn_from_everyone(monkeypatch):
    from epivote.evaluate import agreement as module

    rng = np.random.default_rng(0)
    cast = {(f"v{i}", f"z{z}"): {a for a in "abcdef" if rng.random() < 0.5} for i in range(6) for z in range(9)}
    merged = Ballots.from_mapping(cast, multiplicities={f"v{i}": 1 + i for i in range(6)})
    monkeypatch.setattr(module, "MOST_PAIRS", 200)
    one, other = agreement(merged, seed=3), agreement(merged.expanded(), seed=3)
    assert one.drawn_pairs == 200
    assert (one.jaccard, one.masi) == pytest.approx((other.jaccard, other.masi))
