"""Writers and round trips: what is written is read back, with odd names, empty and missing ballots."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epivote import (
    AMLE,
    EM,
    Ballots,
    FileError,
    InputError,
    Majority,
    read_export,
    read_menu,
    read_truths,
    simulate,
    write_ballots,
    write_estimate,
    write_menu,
    write_predictions,
)
from epivote.data.estimate import Posterior
from epivote.data.lists import Lists
from strategies import elections

CASES = Path(__file__).parent.parent / "cases"
few = settings(max_examples=settings().max_examples // 4)
ODD = ["a", "b,c", 'd"e', " f", "g\nh", "é😀", "i;j", "[1]", "k\tl", "#m", "NaN", "0", "\u2028n", "null", "']"]
voters = st.sampled_from(["ann", 'b"o', "c,y", "é", " d", "1", "[x]"])
instances = st.sampled_from(["q1", "q,2", 'q"3', "q\n4", "7"])
ballot_mappings = st.dictionaries(
    st.tuples(voters, instances), st.sets(st.sampled_from(ODD), max_size=4), min_size=1, max_size=12
).filter(lambda ballots: any(ballots.values()))


@pytest.mark.parametrize("name", ["b.csv", "b.tsv", "b.parquet", "b.jsonl"])
@few
@given(ballot_mappings)
def test_round_trip_of_the_canonical_table(tmp_path_factory, name, ballots):
    path = tmp_path_factory.mktemp("round") / name
    write_ballots(Ballots.from_mapping(ballots), path)
    assert {key: set(ticks) for key, ticks in read_export(path, format="ballots").ballots.items()} == ballots


@few
@given(ballot_mappings)
def test_round_trip_of_crowd_kit_lists(tmp_path_factory, ballots):
    path = tmp_path_factory.mktemp("round") / "long.csv"
    write_ballots(Ballots.from_mapping(ballots), path, format="crowd-kit")
    found = read_export(path)
    assert found.format == "crowd-kit"
    assert {key: set(ticks) for key, ticks in found.ballots.items()} == ballots


@few
@given(ballot_mappings)
def test_round_trip_of_abcvoting(tmp_path_factory, ballots):
    built = Ballots.from_mapping(ballots)
    folder = tmp_path_factory.mktemp("round")
    write_ballots(built, folder / "out", format="abcvoting")
    found = read_export(folder / "out").ballots
    by_file = {
        name: [(voter, set(ticks)) for (voter, z), ticks in found.items() if z == name] for name in found.instances
    }
    written = {z: [(voter, set(ticks)) for (voter, one), ticks in built.items() if one == z] for z in built.instances}
    assert sorted(map(sorted, map(_as_lists, by_file.values()))) == sorted(
        map(sorted, map(_as_lists, written.values()))
    )
    assert set(found.alternatives) == set(built.alternatives)


def _as_lists(ballots):
    return [(voter, sorted(ticks)) for voter, ticks in ballots]


@few
@given(elections(menus=False, max_instances=1))
def test_round_trip_of_preflib_forgets_who_but_not_what(tmp_path_factory, election):
    built = election.as_ballots()
    path = tmp_path_factory.mktemp("round") / "one.cat"
    write_ballots(built, path)
    found = read_export(path).ballots.expanded()
    assert found.alternatives == built.alternatives
    assert sorted(sorted(ticks) for _, ticks in found.items()) == sorted(sorted(ticks) for _, ticks in built.items())


def test_menus_go_into_a_file_of_their_own_and_election_files_keep_them(tmp_path):
    built = read_export(CASES / "prodigy.jsonl").ballots
    write_menu(built, tmp_path / "menu.csv")
    assert read_menu(tmp_path / "menu.csv") == {name: list(built.offered(name)) for name in built.instances}
    write_ballots(built, tmp_path / "cats", format="preflib")
    again = read_export(tmp_path / "cats").ballots
    assert {name: set(again.offered(name)) for name in again.instances} == {
        name: set(built.offered(name)) for name in built.instances
    }


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    two = Ballots.from_mapping({("v", "q1"): {"a"}, ("v", "q2"): {"b"}})
    with pytest.raises(FileError, match="holds one instance, but there are 2; name a folder"):
        write_ballots(two, tmp_path / "one.cat")
    with pytest.raises(FileError, match="which a PrefLib file cannot hold"):
        write_ballots(Ballots.from_mapping({("v", "q1"): {"a\nb"}}), tmp_path / "one.cat")
    with pytest.raises(FileError, match="both be written to q_1.cat"):
        write_ballots(
            Ballots.from_mapping({("v", "q/1"): {"a"}, ("v", "q:1"): {"b"}}), tmp_path / "out", format="preflib"
        )
    with pytest.raises(InputError, match=r"contains '\|'.*write \.parquet or \.jsonl"):
        write_ballots(Ballots.from_mapping({("v", "q1"): {"a|b"}}), tmp_path / "b.csv")
    with pytest.raises(FileError, match="'excel' cannot be written; choose one of 'ballots'"):
        write_ballots(two, tmp_path / "b.xls", format="excel")
    assert list(tmp_path.iterdir()) == []
    write_ballots(Ballots.from_mapping({("v", "q1"): {"a|b"}}), tmp_path / "b.jsonl")
    assert read_export(tmp_path / "b.jsonl").ballots.alternatives == ("a|b",)


def test_preflib_lines_are_as_the_format_wants_them(tmp_path):
    ballots = {("a", "z"): {"x"}, ("b", "z"): {"x"}, ("c", "z"): set(), ("d", "z"): {"w", "x", "y"}}
    write_ballots(Ballots.from_mapping(ballots), tmp_path / "z.cat")
    lines = (tmp_path / "z.cat").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "2: 2, {1, 3}",
        "1: {}, {1, 2, 3}",
        "1: {1, 2, 3}, {}",
    ]
    assert "# NUMBER VOTERS: 4" in lines
    assert "# NUMBER UNIQUE PREFERENCES: 3" in lines
    assert "# ALTERNATIVE NAME 2: x" in lines


def test_label_studio_predictions_carry_data_set_and_score(tmp_path):
    source = CASES / "label-studio.json"
    fitted = EM(1).fit(read_export(source).ballots)
    write_predictions(fitted.estimate_, source, tmp_path / "predictions.json")
    tasks = json.loads((tmp_path / "predictions.json").read_text())
    original = {task["id"]: task for task in json.loads(source.read_text())}
    assert [task["id"] for task in tasks] == [1, 2]
    for z, task in enumerate(tasks):
        assert task["data"] == original[task["id"]]["data"]
        (prediction,) = task["predictions"]
        assert prediction["score"] == fitted.confidence_[z]
        assert prediction["model_version"].startswith("epivote ")
        (region,) = prediction["result"]
        regions = [r for a in original[1]["annotations"] for r in a["result"]]
        assert (region["from_name"], region["to_name"]) == (regions[0]["from_name"], regions[0]["to_name"])
        assert set(region["value"]["choices"]) == set(fitted.truth_[str(task["id"])])
    text = (tmp_path / "predictions.json").read_text().replace(prediction["model_version"], "m1")
    (tmp_path / "renamed.json").write_text(text)
    again = read_export(tmp_path / "renamed.json", format="label-studio", question=region["from_name"])
    assert dict(again.ballots.items()) == {("m1", name): sets for name, sets in fitted.truth_.items()}
    write_predictions(Majority(1).fit(fitted.estimate_.ballots).estimate_, source, tmp_path / "m.json")
    assert "score" not in json.loads((tmp_path / "m.json").read_text())[0]["predictions"][0]


def test_inclusion_is_the_same_in_one_block_and_in_many(tmp_path, monkeypatch):
    from epivote.formats import write

    estimate = (
        AMLE((1, 2)).fit(simulate(instances=9, voters=5, alternatives=4, bounds=(1, 2), seed=1).ballots).estimate_
    )
    write_estimate(estimate, tmp_path / "one")
    monkeypatch.setattr(write, "ROWS_PER_BLOCK", 7)
    write_estimate(estimate, tmp_path / "many")
    text = (tmp_path / "one" / "inclusion.csv").read_text()
    assert (tmp_path / "many" / "inclusion.csv").read_text() == text
    rows = [line.split(",") for line in text.splitlines()[1:]]
    table = estimate.inclusion_table()
    assert [row[:2] for row in rows] == [
        list(pair) for pair in zip(table["instance"], table["alternative"], strict=True)
    ]
    assert [float(row[2]) for row in rows] == table["probability"]


def test_sets_of_more_than_63_alternatives_are_written_too(tmp_path):
    names = [f"a{j}" for j in range(100)]
    sets = {("v", f"q{z}"): set(names[z : z + 3]) for z in range(0, 97, 9)} | {("w", "q0"): set(names[:3])}
    write_ballots(Ballots.from_mapping(sets, alternatives=names), tmp_path / "b.csv")
    assert dict(read_export(tmp_path / "b.csv").ballots.items()) == sets
    truths = Majority(3).fit(Ballots.from_mapping(sets, alternatives=names)).truth_
    write_estimate(Majority(3).fit(Ballots.from_mapping(sets, alternatives=names)).estimate_, tmp_path)
    assert dict(read_truths(tmp_path / "truth.csv")) == dict(truths)


lists = st.lists(st.sets(st.integers(0, 99), max_size=5).map(sorted), min_size=1, max_size=12)


@few
@given(lists, st.data())
def test_lists_of_numbers_do_what_lists_do(rows, data):
    import numpy as np

    built = Lists.of_lengths(np.array([len(row) for row in rows]), np.array([x for row in rows for x in row], np.uint8))

    def unpacked(found):
        return [found.values[a:b].tolist() for a, b in zip(found.start[:-1], found.start[1:], strict=True)]

    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    assert unpacked(built.rows(np.array(chosen, np.int64))) == [rows[r] for r in chosen]
    small = all(x < 50 for row in rows for x in row)
    different, number = built.unique(50 if small else 100)
    assert [unpacked(different)[k] for k in number] == rows
    assert len(different.start) - 1 == len({tuple(row) for row in rows})
    untidy = [row + row[::-1] for row in rows]
    messy = Lists.of_lengths(np.array([len(r) for r in untidy]), np.array([x for r in untidy for x in r], np.int64))
    assert unpacked(messy.sorted_sets(100)) == rows


@pytest.mark.parametrize("mark", ["", *map(chr, range(32, 127)), "\t", "\r", "\n", "é😀", "\u2028"])
def test_inclusion_has_quotes_where_polars_puts_them(tmp_path, mark):
    if mark == "|":
        return  # which no alternative may contain
    for names in ((f"a{mark}", "q"), ("a", f"q{mark}"), ("a", f"{mark}q"), ("a", f"q{mark}r")):
        ballots = Ballots.from_mapping({("v", names[1]): {names[0]}, ("w", "q0"): {names[0], "b"}})
        estimate = EM((1, 2)).fit(ballots).estimate_
        write_estimate(estimate, tmp_path)
        written = (tmp_path / "inclusion.csv").read_bytes()
        assert written == pl.DataFrame(estimate.inclusion_table()).write_csv().encode()


def test_probabilities_are_written_as_the_shortest_text_that_gives_them_back(tmp_path):
    ballots = simulate(instances=40, voters=3, alternatives=20, bounds=(1, 2), seed=2).ballots
    bits = np.random.default_rng(1).integers(0, 0x3FF0 << 48, 40 * 20).astype(np.uint64)
    bits[:4] = [0, 1, 0x3FF0 << 48, (0x3FF0 << 48) - 1]  # 0, the smallest number, 1, the largest below it
    numbers = bits.view(np.float64)
    estimate = replace(
        EM((1, 2)).fit(ballots).estimate_, compute_posterior=lambda: Posterior(numbers, np.full(40, 0.5))
    )
    write_estimate(estimate, tmp_path)
    texts = [line.split(",")[2] for line in (tmp_path / "inclusion.csv").read_text().splitlines()[1:]]
    assert [float(text) for text in texts] == numbers.tolist()
    assert texts == pl.DataFrame({"x": numbers}).write_csv(include_header=False).split()


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 1 << 20])
def test_inclusion_is_the_same_in_blocks_of_any_size_with_and_without_menus(tmp_path, monkeypatch, rows):
    from epivote.formats import write

    monkeypatch.setattr(write, "ROWS_PER_BLOCK", rows)
    cast = {(f"v{i}", f"q{z}"): {"abcd"[(i + z) % 4]} for i in range(3) for z in range(9)}
    menu = {f"q{z}": set("abcd" if z % 2 else "bcda"[: 4 - (z == 4)]) for z in range(9)}
    for offered in (None, menu):
        ballots = Ballots.from_mapping({key: ticks & menu[key[1]] for key, ticks in cast.items()}, menu=offered)
        estimate = EM((1, 2)).fit(ballots).estimate_
        write_estimate(estimate, tmp_path)
        assert (tmp_path / "inclusion.csv").read_text() == pl.DataFrame(estimate.inclusion_table()).write_csv()


def test_nothing_is_left_behind_where_inclusion_cannot_be_made(tmp_path, monkeypatch):
    from epivote.formats import write

    def interrupted(_estimate):
        yield pl.DataFrame({"instance": ["q"], "alternative": ["a"], "probability": [0.5]})
        raise KeyboardInterrupt

    estimate = EM((1, 2)).fit(simulate(instances=9, voters=5, alternatives=4, bounds=(1, 2), seed=1).ballots).estimate_
    monkeypatch.setattr(write, "inclusion_blocks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_estimate(estimate, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["b.parquet", "b.jsonl"])
@pytest.mark.parametrize("empty", [(), (0,), (5,), (2, 3), range(6)])
def test_lists_are_those_of_the_ballots_in_their_order(tmp_path, name, empty):
    sets = [set() if k in empty else {"b", "a", "c"} if k % 2 else {"b"} for k in range(6)]
    ballots = Ballots.from_mapping(
        {(f"v{k}", f"q{k // 2}"): ticks for k, ticks in enumerate(sets)}, alternatives=["c", "a", "b"]
    )
    write_ballots(ballots, tmp_path / name)
    read = pl.read_parquet if name == "b.parquet" else pl.read_ndjson
    written = read(tmp_path / name)["alternatives"].to_list()
    assert written == [[each for each in ("c", "a", "b") if each in ticks] for ticks in sets]
