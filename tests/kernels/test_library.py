"""Which loops are loaded, and when; all of them find the same, whatever instructions they were compiled for."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from epivote import AMLE, EM, SizeBounds, reference_crowd
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels import library, passes
from epivote.kernels.library import ENDING, FOLDER, place
from epivote.kernels.passes import CompiledPass
from epivote.model.passes import ArrayPass
from epivote.model.statistics import PassCounts


class Pretended(NamedTuple):
    """A library whose processor is said to be of some level."""

    name: str
    level: int

    def processor_level(self):
        return self.level


def test_loops_are_loaded_by_the_first_fit():
    code = (
        "import json, epivote\n"
        "from epivote.kernels.library import loops\n"
        "ballots = epivote.simulate(instances=3, voters=3, alternatives=3, bounds=1, seed=1).ballots\n"
        "before = loops.cache_info().misses\n"
        "epivote.EM(1, max_iterations=2).fit(ballots)\n"
        "print(json.dumps([before, loops.cache_info().misses]))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    shown = subprocess.run(command, capture_output=True, check=True, text=True, timeout=300).stdout
    assert json.loads(shown) == [0, 1]


def test_without_loops_arrays_find_the_same(monkeypatch, use_loops):
    ballots = reference_crowd(1_000, 40, 10, 3, seed=2).ballots
    fitted = [AMLE((1, 3)).fit(ballots).truth_, EM((1, 3)).fit(ballots).truth_]
    use_loops(False)
    monkeypatch.setattr(passes, "loops", None)
    assert not library.has_loops()
    assert [AMLE((1, 3)).fit(ballots).truth_, EM((1, 3)).fit(ballots).truth_] == fitted


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty folder in which libraries are looked for; nothing is known of those that were loaded."""
    cached = (library.loops, library.loaded_from, library._libraries, library._why_not_loaded)
    for each in cached:
        each.cache_clear()
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    yield tmp_path
    for each in cached:
        each.cache_clear()


def broken(folder, how):
    """Copies of the libraries that cannot be used."""
    for path in FOLDER.glob(f"*.{ENDING}"):
        whole = path.read_bytes()
        changed = {
            "for another processor": whole[:18] + b"\xf3\x00" + whole[20:],  # in ELF the number of RISC-V
            "not a library": b"text",
            "of another version": whole.replace(b"soft_pass", b"soft_past"),
        }[how]
        (folder / path.name).write_bytes(changed)


def test_an_installation_without_libraries_has_no_loops(elsewhere):
    assert library.why_no_loops() == "this installation has no compiled loops"
    assert not library.has_loops()


@pytest.mark.skipif(ENDING != "so", reason="bytes of an ELF file are changed; nothing has to be installed")
@pytest.mark.parametrize("how", ["for another processor", "not a library", "of another version"])
def test_libraries_that_cannot_be_loaded_leave_the_work_to_arrays(how, elsewhere):
    broken(elsewhere, how)
    reason = library.why_no_loops()
    assert reason.startswith("the compiled loops cannot be loaded (")
    assert str(elsewhere) in reason
    assert not library.has_loops()
    ballots = reference_crowd(100, 20, 8, 3, seed=2).ballots
    assert len(EM((1, 3), max_iterations=2).fit(ballots).truth_) == 100
    assert library.loops.cache_info().currsize == 0


def test_a_library_that_is_missing_for_this_processor_leaves_the_work_to_arrays(elsewhere):
    level = library.loaded_from(sorted(FOLDER.glob(f"*.{ENDING}"))[0]).processor_level()
    if level < 3:
        pytest.skip("this processor needs the first library only; nothing has to be installed")
    shutil.copy(FOLDER / f"loops_v2.{ENDING}", elsewhere)
    assert f"loops_v{level}" in library.why_no_loops()


@pytest.mark.parametrize("level", [2, 3, 4])
def test_the_library_for_the_most_instructions_that_a_processor_has_is_loaded(level, elsewhere, monkeypatch):
    """Empty files stand for the libraries, and this processor is said to be of some level."""
    for each in (2, 3, 4):
        (elsewhere / f"loops_v{each}.{ENDING}").touch()
    monkeypatch.setattr(library, "loaded_from", lambda path: Pretended(path.name, level))
    assert library.loops().name == f"loops_v{level}.{ENDING}"


def test_a_platform_with_one_library_loads_it(elsewhere, monkeypatch):
    (elsewhere / f"loops.{ENDING}").touch()
    monkeypatch.setattr(library, "loaded_from", lambda path: Pretended(path.name, 0))
    assert library.loops().name == f"loops.{ENDING}"


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="compares with what Linux says")
def test_the_level_of_this_processor_is_what_linux_says():
    flags = set(Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split())
    third = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
    fourth = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
    expected = 4 if third | fourth <= flags else 3 if third <= flags else 2
    assert library.loops().processor_level() == (expected if "lm" in flags else 0)


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
    shard = library.LoopShard(0, width, 0, 0, 4, 2, *[None] * 9)
    loops = library.loops()
    assert loops.margin_table(shard, *[None] * 3) == 0
    assert loops.hard_change(shard, None, None, 0.0, None, 0.0, *[None] * 4) == 0
    assert loops.soft_pass(shard, None, None, 1, 1, *[None] * 6) == 0
    assert loops.weigh_table(None, 0, width, 0, 0, None, None) == 0
