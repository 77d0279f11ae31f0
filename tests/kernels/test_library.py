"""Which loops are loaded, and when; all of them find the same, whatever instructions they were compiled for."""

import json
import subprocess
import sys

import numpy as np
import pytest

from epivote import AMLE, EM, SizeBounds, reference_crowd
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels import library, passes
from epivote.kernels.library import ENDING, FOLDER, place
from epivote.kernels.passes import CompiledPass
from epivote.model.passes import ArrayPass
from epivote.model.statistics import PassCounts


def test_small_inputs_do_not_load_the_loops_and_large_ones_do():
    code = (
        "import json, epivote\n"
        "from epivote.kernels.library import loops\n"
        "small = epivote.simulate(instances=300, voters=30, alternatives=8, bounds=(1, 3), seed=1).ballots\n"
        "epivote.Majority((1, 3)).fit(small); before = loops.cache_info().misses\n"
        "large = epivote.reference_crowd(3_000, 100, 20, 4, seed=1).ballots\n"
        "epivote.EM((1, 4), max_iterations=2).fit(large)\n"
        "print(json.dumps([before, loops.cache_info().misses]))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    shown = subprocess.run(command, capture_output=True, check=True, text=True, timeout=300).stdout
    assert json.loads(shown) == [0, 1]


def test_loops_pay_from_twenty_thousand_approvals():
    assert [library.worth_calling(20_000 + more) for more in (-1, 0, 1)] == [False, True, True]


def test_without_loops_large_inputs_are_fitted_with_arrays(monkeypatch):
    ballots = reference_crowd(1_000, 40, 10, 3, seed=2).ballots
    fitted = [AMLE((1, 3)).fit(ballots).truth_, EM((1, 3)).fit(ballots).truth_]
    library.has_loops.cache_clear()
    monkeypatch.setattr(library, "FOLDER", FOLDER / "nowhere")
    monkeypatch.setattr(passes, "loops", None)
    try:
        assert not library.worth_calling(10**9)
        assert [AMLE((1, 3)).fit(ballots).truth_, EM((1, 3)).fit(ballots).truth_] == fitted
    finally:
        library.has_loops.cache_clear()


@pytest.mark.parametrize("path", sorted(FOLDER.glob(f"*.{ENDING}")), ids=lambda path: path.stem)
def test_loops_for_all_processors_find_the_same(path, monkeypatch):
    loaded = library.loaded_from(path)
    if path.stem[-1].isdigit() and int(path.stem[-1]) > max(2, loaded.processor_level()):
        pytest.skip(f"this processor lacks instructions that {path.name} needs; nothing has to be installed")
    drawn = reference_crowd(500, 40, 21, 5, seed=7)
    parameters = drawn.parameters
    (shard,) = InMemoryWorkload(drawn.ballots, SizeBounds(1, 5)).shards
    monkeypatch.setattr(passes, "loops", lambda: loaded)
    arrays, compiled = ArrayPass(shard, None), CompiledPass(shard, None)
    np.testing.assert_array_equal(compiled.sets(parameters), arrays.sets(parameters))
    np.testing.assert_array_equal(compiled.margins(parameters), arrays.margins(parameters))
    counts, again = PassCounts.none(40, 21), PassCounts.none(40, 21)
    assert compiled.soft(parameters, counts) == pytest.approx(arrays.soft(parameters, again), rel=1e-12)
    np.testing.assert_allclose(counts.voters, again.voters, rtol=1e-12)
    np.testing.assert_allclose(counts.occurrences, again.occurrences, rtol=1e-12)
    one, other = (each.set_odds(arrays.margins(parameters)) for each in (arrays, compiled))
    np.testing.assert_allclose(other.inclusion, one.inclusion, rtol=1e-11)


@pytest.mark.parametrize("array", [np.zeros(4, np.float32), np.zeros((4, 4))[:, 0], np.zeros(4, bool)])
def test_arrays_that_loops_would_misread_are_refused(array):
    with pytest.raises(ValueError, match="a loop was given an array of"):
        place(array)


def test_an_array_of_another_size_is_taken_where_it_is_expected():
    numbers = np.zeros(4, np.float32)
    assert place(numbers, 4) == numbers.ctypes.data
    assert place(None) is None


def test_a_loop_without_memory_says_so():
    library.done(1)
    with pytest.raises(MemoryError, match="could not get the memory"):
        library.done(0)


def test_loops_that_get_no_memory_return_0():
    """Before they read or write anything, so that no arrays are needed."""
    width = 1 << 50
    shard = library.Shard(0, width, 0, 0, 4, 2, *[None] * 9)
    loops = library.loops()
    assert loops.margin_table(shard, *[None] * 3) == 0
    assert loops.hard_pass(shard, *[None] * 5) == 0
    assert loops.soft_pass(shard, None, None, 1, 1, *[None] * 6) == 0
    assert loops.weigh_table(None, 0, width, 0, 0, None, None) == 0
