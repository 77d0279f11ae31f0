"""Exponents, ratios, verdicts and what is kept: everything but the timing."""

import json
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from benchmarks import comparison, passes, roofline, soft_parts
from benchmarks.crowds import CROWDS, Crowd, Sets, drawn, same_sets
from benchmarks.exponents import beyond_fixed_cost, fitted_exponent
from benchmarks.growth import AXES, name_of, points_of
from benchmarks.iterations import Point
from benchmarks.measure import Run, fingerprint, further_fits, take_turns
from benchmarks.methods import Method
from benchmarks.page import page
from benchmarks.peers import sets_of_table
from benchmarks.results import Fits, Results
from benchmarks.roofline import instructions_told
from benchmarks.tables import figures, seconds, table
from benchmarks.targets import (
    above,
    at_least_faster,
    below,
    crowd_lines,
    first_fits,
    linear,
    more_exact,
    same,
    same_in_the_end,
    under_memory,
)
from epivote import SizeBounds, simulate
from experiments.store import Store, digest_of

SOME = Fits(1.0, 1.0, 7, 2.0, 0.1, [0.5], 0.4, "ab", 10, 0.01)


class Told:
    """Results made up for a test."""

    def __init__(self, **fits):
        self.known = fits

    def fits(self, _crowd, method):
        return self.known.get(method.replace("-", "_"))


# Exponents


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_power_is_found_exactly(power):
    sizes = [10, 100, 1000]
    found = fitted_exponent(sizes, [3 * size**power for size in sizes])
    assert found.value == pytest.approx(power)
    assert found.error == pytest.approx(0, abs=1e-9)
    assert (found.low, found.high) == (pytest.approx(10), pytest.approx(1000))


def test_fixed_costs_are_left_out_by_fitting_above_them():
    sizes = [1e3, 1e5, 1e7, 1e8]
    times = [size * 1e-9 + 1e-4 for size in sizes]
    assert fitted_exponent(sizes, times).value < 0.9
    assert fitted_exponent(sizes, times, at_least=1e6).value == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("power", [0.9, 1.0, 1.2])
def test_growth_beyond_a_fixed_cost_is_told_apart_from_it(power):
    sizes = [1e5, 1e6, 1e7, 1e8]
    exponent, fixed = beyond_fixed_cost(sizes, [0.4 + 1e-6 * size**power for size in sizes])
    assert exponent.value == pytest.approx(power, abs=0.01)
    assert fixed == pytest.approx(0.4, rel=0.05)
    assert beyond_fixed_cost(sizes[:3], [1, 2, 3]) is None


def test_one_point_has_no_exponent_and_two_have_no_error():
    assert fitted_exponent([1], [1]) is None
    assert fitted_exponent([5, 5], [1, 2]) is None
    assert "±" not in str(fitted_exponent([1, 10], [1, 10]))


# Verdicts


def test_a_ratio_is_met_from_its_target_on():
    slow = SOME._replace(seconds=15.0)
    assert at_least_faster(Told(amle=SOME, scipy=slow), "XL", "amle", "scipy", 15, "x").met is True
    assert at_least_faster(Told(amle=SOME, scipy=slow), "XL", "amle", "scipy", 15.1, "x").met is False
    assert at_least_faster(Told(amle=SOME), "XL", "amle", "scipy", 15, "x").met is None
    on_a_slower_machine = slow._replace(yardstick=2 * SOME.yardstick)
    line = at_least_faster(Told(amle=SOME, scipy=on_a_slower_machine), "XL", "amle", "scipy", 8, "x")
    assert line.met is False, "half of the fifteen times are the machine's"
    assert "/ 2.00 for the machine's speed" in line.measured


def test_a_quick_wrong_answer_does_not_count():
    wrong = SOME._replace(exact=0.0)
    line = at_least_faster(Told(em=wrong, scipy=SOME._replace(seconds=100.0)), "XL", "em", "scipy", 4, "x")
    assert line.met is False
    assert "0.0% exact sets against 40.0%" in line.measured


def test_memory_counts_the_largest_process():
    assert under_memory(Told(amle=SOME), "XL", "amle", 1.0, "x").met is True
    assert under_memory(Told(amle=SOME._replace(peaks=[0.2, 1.2])), "XL", "amle", 1.0, "x").met is False


def test_accuracy_must_be_higher_not_equal():
    assert more_exact(Told(amle=SOME, em=SOME), "M", "amle", "em", "x").met is False
    assert more_exact(Told(amle=SOME._replace(exact=0.41), em=SOME), "M", "amle", "em", "x").met is True


def test_identical_means_the_same_fingerprint():
    assert same(Told(a=SOME, b=SOME), "XL", "a", "b", "x").met is True
    assert same(Told(a=SOME, b=SOME._replace(fingerprint="cd")), "XL", "a", "b", "x").met is False


def test_growth_is_judged_only_if_it_was_measured_far_enough():
    exponent = fitted_exponent([1e5, 1e6, 1e8], [1, 10, 1000])
    assert linear(exponent, "x", 1e8).met is True
    assert linear(exponent, "x", 1e9).met is None
    assert linear(fitted_exponent([1e5, 1e8], [1, 400]), "x", 1e8).met is False
    assert linear(None, "x", 1e8).met is None


def test_growth_may_be_slower_where_that_is_good():
    slow = fitted_exponent([1e5, 1e8], [1, 500])
    assert (linear(slow, "x", 1e8).met, linear(slow, "x", 1e8, or_less=True).met) == (False, True)
    assert linear(fitted_exponent([1e5, 1e8], [1, 1500]), "x", 1e8, or_less=True).met is False


def test_limits():
    assert [below(value, 5, "", "", "").met for value in (4.9, 5.0, None)] == [True, False, None]
    assert [above(value, 300, "", "", "").met for value in (301.0, 300.0, None)] == [True, False, None]


def test_every_line_says_what_was_not_measured():
    lines = list(crowd_lines(Told()))
    assert len(lines) > 10
    assert {line.cells()[-1] for line in lines} == {"not measured"}


def ends(**differing):
    """Passes at two tolerances of some ballots; of each how many sets differ in the end, and by how much."""
    usual = {"before": 60, "after": 20, "instances": 1000, "differ": 3, "apart": 0.1, "gain": 0.5}
    usual["differ_from_plain"] = 7
    return {
        name: [usual, {**usual, "before": 90, "after": 30, "differ": count, "apart": apart, "gain": 0.0}]
        for name, (count, apart) in differing.items()
    }


def test_sets_with_and_without_acceleration_may_differ_where_they_are_all_but_as_probable():
    assert same_in_the_end({}).met is None
    assert same_in_the_end(ends(S=(0, 0.0))).met is True
    near, far = same_in_the_end(ends(S=(0, 0.0), M=(2, 9e-7))), same_in_the_end(ends(S=(1, 2e-6), M=(2, 1e-7)))
    assert (near.met, far.met) == (True, False)
    assert near.measured == "2 of 2,000 differ, by 9e-07 at most (S, M; tolerance 1e-09)"


# What is kept


def store(folder: Path, source: str = "one") -> Store:
    return Store(folder, source, "abc")


def test_a_finished_part_is_not_measured_again(tmp_path):
    calls = []
    for _ in range(2):
        assert store(tmp_path).measured("part", {"n": (1, 2)}, lambda: calls.append(1) or {"x": 1.5}) == {"x": 1.5}
    assert len(calls) == 1


@pytest.mark.parametrize("change", ["settings", "source", "fresh"])
def test_other_settings_another_source_or_fresh_measure_again(tmp_path, change):
    store(tmp_path).measured("part", {"n": 1}, lambda: 1)
    again = replace(store(tmp_path, "two" if change == "source" else "one"), fresh=change == "fresh")
    settings = {"n": 2 if change == "settings" else 1}
    assert again.read("part", settings).current is (change == "fresh")
    assert again.measured("part", settings, lambda: 2) == 2


def test_what_an_older_program_wrote_is_measured_again(tmp_path):
    (tmp_path / "part.json").write_text(json.dumps({"made_by": {}, "columns": {}}))
    assert store(tmp_path).read("part", {}) is None
    assert store(tmp_path).measured("part", {}, lambda: 1) == 1


def test_a_part_that_fails_leaves_what_was_kept(tmp_path):
    store(tmp_path).measured("part", {}, lambda: 1)

    def fails():
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError):
        store(tmp_path, "two").measured("part", {}, fails)
    assert store(tmp_path).read("part", {}).result == 1


def test_numbers_of_workers_are_measured_in_turn_and_kept_together(tmp_path, monkeypatch):
    asked = []

    def answer(module, crowd, *names, **_):
        asked.append((module, crowd, *names))
        return [{"told of": name} for name in names]

    monkeypatch.setattr(comparison, "answer_of", answer)
    crowd = CROWDS["XL"]
    for record in ("amle", "amle-dask"):
        comparison.measure(store(tmp_path), record, crowd)
    assert asked == [("measure", "XL", "amle"), ("measure", "XL", "amle-dask-1", "amle-dask-2")]
    for name in ("amle", "amle-dask-1", "amle-dask-2"):
        assert comparison.kept(store(tmp_path), name, crowd).result == {"told of": name}
    assert comparison.kept(store(tmp_path), "em-dask-1", crowd) is None
    store(tmp_path).measured("crowds.XL.em", {}, lambda: {"fits": [1.0]})
    assert comparison.kept(store(tmp_path), "em", crowd) is None, "written by an older program"


def test_fits_that_share_a_process_take_turns():
    fitted = []
    with ExitStack() as stack:
        methods = [
            Method(name, lambda _, name=name: nullcontext(name), lambda built, _: fitted.append(built), iter)
            for name in "ab"
        ]
        take_turns([Run(method, CROWDS["S"], stack) for method in methods])
    assert fitted[:4] == ["a", "b", "a", "b"]
    assert fitted.count("a") == fitted.count("b") > 10


def test_the_source_is_known_by_the_contents_of_its_files(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("1")
    one = digest_of([file])
    assert digest_of([file]) == one
    file.write_text("2")
    assert digest_of([file]) != one


def test_stale_and_missing_results_are_told_on_the_page(tmp_path):
    empty = page(Results(store(tmp_path)))
    assert "not measured" in empty
    assert "before the last change" not in empty
    axis = AXES[0]
    for method in ("amle", "em"):
        for point in points_of(axis, method):
            size = point.instances * 23
            (tmp_path / f"{name_of(axis, point)}.json").write_text(
                json.dumps(
                    {
                        "settings": vars(point),
                        "source": "one" if method == "amle" else "older",
                        "commit": "abc",
                        "date": "2020-01-01 10:00",
                        "result": {"approvals": size, "ballots": size, "seconds": size * 2e-9, "peak": 1.0},
                    }
                )
            )
    told = page(Results(store(tmp_path)))
    assert "exponent 1.00" in told
    stale = told.split("before the last change")[1]
    assert "growth.approvals.em" in stale
    assert "growth.approvals.amle" not in stale


def test_parts_of_an_iteration_are_told_beside_what_they_leave_to_the_whole(tmp_path):
    spent = dict(zip(soft_parts.PARTS, (0.002, 0.003, 0.002), strict=True))
    spent |= {"whole pass": 0.01, "rates and priors": 0.0005}
    told = {"seconds": spent, "bytes": {"odds multiplied": 10**6}, "approvals": 10**6}
    kept = store(tmp_path)
    kept.measured("soft_parts", soft_parts.SETTINGS, lambda: told)
    machine = {"bandwidth": {"one core": 1e9, "all cores": 2e9}, "seconds": {}, "bytes": {}}
    kept.measured("roofline", roofline.SETTINGS, lambda: machine)
    lines = page(Results(kept)).split("## Where an iteration of EM spends its time")[1].splitlines()
    assert "| odds multiplied | 2.00 | 2.00 | 20% | 50.0% |" in lines
    assert "| rest of the pass | 3.00 | 3.00 | 30% | - |" in lines


def test_first_fits_are_added_up_where_all_were_measured():
    told = Told(em=SOME._replace(first=0.5), amle=SOME._replace(first=0.25))
    assert first_fits(told, "M", ("em", "amle"), 5.0, "x").cells() == ["x", "under 5 s", "0.750 s", "yes"]
    assert first_fits(told, "M", ("em", "amle"), 0.7, "x").met is False
    assert first_fits(Told(em=SOME), "M", ("em", "amle"), 5.0, "x").met is None


# Small things


def test_passes_are_told_with_and_without_acceleration(tmp_path, monkeypatch):
    monkeypatch.setattr(passes, "names", lambda: ["S", "quiz"])
    kept = store(tmp_path)
    kept.measured("passes.S", passes.SETTINGS, lambda: ends(S=(0, 0.0))["S"])
    text = page(Results(kept))
    assert "| S (1,000 instances) | 60 | 20 | 3.00 | 3 | 7 | 90 | 30 | 0 | +0 |" in text
    assert "0 of 1,000 differ (S; tolerance 1e-09) | yes |" in text
    assert "quiz (" not in text


def test_passes_that_were_taken_back_count_and_acceleration_can_be_left_out():
    ballots = simulate(instances=200, voters=20, alternatives=6, bounds=(1, 2), ballots_per_instance=4, seed=5).ballots
    found = {kind: passes.fitted(ballots, SizeBounds(1, 2), 1e-9, kind) for kind in get_args(passes.Accelerated)}
    (before, plain), (between, settled), (after, ahead) = found.values()
    assert before == plain.n_iter_ > between > after >= ahead.n_iter_
    assert between >= settled.n_iter_
    assert settled.truth_ == ahead.truth_
    assert settled.parameters_.distance(ahead.parameters_) < 1e-7 < plain.parameters_.distance(ahead.parameters_)
    assert passes.differing(settled, ahead).tolist() == []


def test_sets_are_compared_one_by_one_and_fingerprints_ignore_blocks():
    one = sets_of_table(np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0]], bool))
    other = sets_of_table(np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0]], bool))
    assert same_sets(one, other, 3).tolist() == [True, False, True]
    blocks = [Sets(one.start[:2], one.members[:2]), Sets(one.start[1:] - 2, one.members[2:])]
    assert fingerprint(blocks) == fingerprint([one]) != fingerprint([other])


def test_blocks_of_a_large_crowd_share_their_voters_and_name_their_instances_on(monkeypatch):
    monkeypatch.setattr("benchmarks.crowds.LARGEST_WHOLE", 10)
    monkeypatch.setattr("benchmarks.crowds.BLOCK", 40)
    blocks = list(drawn(Crowd("x", 100, 20, 6, 2)))
    assert [block.ballots.n_instances for block in blocks] == [40, 40, 20]
    assert [name for block in blocks for name in block.ballots.instances] == [f"i{z}" for z in range(1, 101)]
    assert all(block.ballots.voters == blocks[0].ballots.voters for block in blocks)
    assert all(np.array_equal(b.parameters.hit_rates, blocks[0].parameters.hit_rates) for b in blocks)
    assert not np.array_equal(blocks[0].ballots.approved, blocks[1].ballots.approved)


def test_slow_fits_are_repeated_less():
    assert [further_fits(seconds) for seconds in ([], [0.1], [1.0], [30.0], [200.0])] == [1, 15, 7, 2, 0]


def test_perf_is_understood():
    assert instructions_told("1234567,,instructions:u,100,100.00,,\n") == 1234567
    assert instructions_told("<not supported>,,instructions:u,0,100.00,,\n") is None
    assert instructions_told("") is None


def test_points_travel_as_json():
    point = Point(10, 20, 5, 2, 2, "em", "disk")
    assert Point.from_json(point.to_json()) == point


def test_numbers_are_written_out():
    assert [figures(value) for value in (0, 0.001234, 1.5, 1234.5)] == ["0", "0.00123", "1.50", "1,234"]
    assert seconds(226.4) == "226"
    assert table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"
