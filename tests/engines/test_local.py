"""Sources worked through by threads, blocks kept in a budget of memory, and gold sets by name."""

import os
import signal
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest

from epivote import Ballots, BoundsError, InputError, Parameters, SizeBounds, open_packed, reference_crowd, write_packed
from epivote.data import packing
from epivote.data.packed import PackedBlock
from epivote.engines import disk, local
from epivote.engines.gold import gold_by_block
from epivote.engines.local import LocalEngine
from epivote.engines.where import block_engine
from epivote.estimate.workload import InMemoryWorkload, Workload

CROWD = reference_crowd(60, 10, 5, 2, seed=6)
BOUNDS = SizeBounds(1, 2)
PARAMETERS = Parameters(np.full(10, 0.7), np.full(10, 0.2), np.full(5, 0.3))
PATIENCE = 20.0  # seconds; far more than any of these takes


class Noted:
    """A pass that adds up numbers of its own and notes who worked on it."""

    def __init__(self, number, notes):
        self.number, self.notes = number, notes

    def hard(self, _parameters, counted):
        self.notes.append((self.number, threading.get_ident()))
        counted.occurrences[0] += 10.0**self.number

    def soft(self, parameters, counted):
        self.hard(parameters, counted)
        return 2.0 * 10.0**self.number


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("groups", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [1, 2, 5, 13])
def test_every_source_is_worked_through_once(count, groups, threads):
    notes = []
    sources = [lambda number=number: (Noted(number, notes),) for number in range(count)]
    engine = LocalEngine(sources, 1, 1, threads=threads, groups=groups)
    expected = float("1" * count)
    assert engine.hard_sums(PARAMETERS).occurrences.tolist() == [expected]
    assert sorted(number for number, _ in notes) == list(range(count))
    counted, total = engine.soft_sums(PARAMETERS)
    assert counted.occurrences.tolist() == [expected]
    assert total == 2 * expected
    assert len({who for _, who in notes}) <= threads


@pytest.mark.parametrize(("threads", "count", "helpers"), [(1, 5, 0), (2, 5, 1), (7, 3, 2), (3, 1, 0)])
def test_as_many_threads_help_as_there_is_work_and_no_more_than_told(monkeypatch, threads, count, helpers):
    asked = []

    class Pool:
        def submit(self, _help_out, worker):
            asked.append(worker)
            return Future()

    monkeypatch.setattr(local, "_pool", lambda _threads: Pool())
    sources = [lambda number=number: (Noted(number, []),) for number in range(count)]
    LocalEngine(sources, 1, 1, threads=threads).hard_sums(PARAMETERS)
    assert asked == list(range(1, helpers + 1))


def waiting_for_each_other(*, failing):
    """Two sources, each of which ends only once the other has begun: two threads must work on them."""
    begun = [threading.Event(), threading.Event()]

    def source(number):
        begun[number].set()
        assert begun[1 - number].wait(PATIENCE), "the other never began"
        if threading.current_thread() is not threading.main_thread() and failing:
            raise ValueError("in a thread")
        return (Noted(number, []),)

    return [lambda: source(0), lambda: source(1)]


def test_threads_work_side_by_side():
    engine = LocalEngine(waiting_for_each_other(failing=False), 1, 1, threads=2)
    assert engine.hard_sums(PARAMETERS).occurrences.tolist() == [11.0]


def test_what_fails_in_a_thread_is_told():
    engine = LocalEngine(waiting_for_each_other(failing=True), 1, 1, threads=2)
    with pytest.raises(ValueError, match="in a thread"):
        engine.hard_sums(PARAMETERS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads, which is what is tested
def test_a_forked_process_makes_threads_of_its_own():
    before = local._pool(2)
    assert before is local._pool(2), "shared by all engines"
    child = os.fork()
    if child == 0:
        os._exit(0 if local._pool(2) is not before else 1)
    ended = (0, 0)
    until = time.monotonic() + PATIENCE
    while not ended[0] and time.monotonic() < until:
        ended = os.waitpid(child, os.WNOHANG)
        time.sleep(0.005)
    if not ended[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended[0] == child
    assert os.waitstatus_to_exitcode(ended[1]) == 0


def test_one_thread_per_core_unless_told_otherwise(monkeypatch, use_loops):
    monkeypatch.delenv("EPIVOTE_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 3, 5} if process == 0 else set(), raising=False)
    assert local.threads() == 3
    monkeypatch.setenv("EPIVOTE_THREADS", "7")
    assert local.threads() == 7
    monkeypatch.setenv("EPIVOTE_THREADS", "0")
    assert local.threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert local.threads() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert local.threads() == 1
    monkeypatch.setenv("EPIVOTE_THREADS", "7")
    use_loops(False)
    assert local.threads() == 1, "only compiled loops run side by side"


def test_compiled_engines_get_the_threads_and_others_one(tmp_path, monkeypatch, use_loops):
    monkeypatch.setenv("EPIVOTE_THREADS", "6")
    packed = write_packed([CROWD.ballots], tmp_path / "crowd")
    for compiled, threads in ((True, 6), (False, 1)):
        use_loops(compiled)
        assert InMemoryWorkload(CROWD.ballots, BOUNDS).engine.threads == threads
        assert Workload(packed, BOUNDS, None).engine.threads == threads


def test_what_is_known_before_any_sets_is_worked_out_once():
    engine = InMemoryWorkload(CROWD.ballots, BOUNDS).engine
    assert engine.fixed_counts(by_menu=False) is engine.fixed_counts(by_menu=False)
    assert engine.fixed_counts(by_menu=True) is not engine.fixed_counts(by_menu=False)


def test_parameters_are_prepared_for_threads_only(monkeypatch):
    """Each with those before, so that threads need not work out at once what they share."""
    prepared = []
    monkeypatch.setattr(Parameters, "prepare", lambda self, previous: prepared.append((self, previous)))
    first, second = PARAMETERS, Parameters(np.full(10, 0.6), np.full(10, 0.2), np.full(5, 0.3))
    for threads in (1, 2):
        engine = LocalEngine([lambda: (Noted(0, []),)] * 2, 1, 1, threads=threads)
        for each in (first, second):
            engine.hard_sums(each)
    assert [tuple(map(id, pair)) for pair in prepared] == [(id(first), id(None)), (id(second), id(first))]


# Blocks kept in memory


@pytest.fixture
def packed(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 40)
    return write_packed([CROWD.ballots], tmp_path / "crowd").folder


def bytes_of(block, shards):
    """What a kept block takes: ballots, instances, and sums for every voter and shard."""
    return 12 * block.n_ballots + 32 * block.n_instances + 16 * 10 * shards


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("cells", [1 << 21, 40, 41])
def test_as_many_blocks_are_kept_as_fit_in_the_budget(packed, cells, compiled, monkeypatch, use_loops):
    use_loops(compiled)
    monkeypatch.setattr(disk, "CELLS_PER_COMPILED_SHARD" if compiled else "CELLS_PER_SHARD", cells)
    monkeypatch.setattr(disk, "CELLS_PER_SHARD" if compiled else "CELLS_PER_COMPILED_SHARD", 1)
    blocks = open_packed(packed).blocks
    assert len(blocks) > 4
    needed = [bytes_of(block, 1 + block.n_instances * 5 // cells) for block in blocks]
    nothing = [{} for _ in blocks]
    for kept in range(len(blocks) + 1):
        room = sum(needed[:kept])
        exactly = block_engine(open_packed(packed, kept_bytes=room), BOUNDS, nothing)
        assert [source.kept for source in exactly.sources] == [k < kept for k in range(len(blocks))]
        if kept:
            less = block_engine(open_packed(packed, kept_bytes=room - 1), BOUNDS, nothing)
            assert sum(source.kept for source in less.sources) == kept - 1, "one byte too few"


def test_kept_blocks_are_read_once_and_others_every_time(packed, monkeypatch):
    read, columns = [], PackedBlock.columns

    def noted(block):
        read.append(block.path.name)
        return columns(block)

    monkeypatch.setattr(PackedBlock, "columns", noted)
    blocks = open_packed(packed).blocks
    engine = block_engine(
        open_packed(packed, kept_bytes=sum(bytes_of(block, 1) for block in blocks[:2])), BOUNDS, [{} for _ in blocks]
    )
    for _ in range(3):
        engine.hard_sums(PARAMETERS)
    assert [read.count(block.path.name) for block in blocks] == [1, 1, *[3] * (len(blocks) - 2)]


@pytest.mark.parametrize("compiled", [False, True])
def test_blocks_are_cut_into_shards_of_the_right_size(packed, compiled, monkeypatch, use_loops):
    use_loops(compiled)
    monkeypatch.setattr(disk, "CELLS_PER_COMPILED_SHARD" if compiled else "CELLS_PER_SHARD", 5 * 4)
    engine = block_engine(open_packed(packed), BOUNDS, [{} for _ in open_packed(packed).blocks])
    for source in engine.sources:
        shards = [one.shard for one in source()]
        assert [len(shard.instances) for shard in shards][:-1] == [4] * (len(shards) - 1)
        assert 1 <= len(shards[-1].instances) <= 4
        assert sum(len(shard.instances) for shard in shards) == source.block.n_instances


def test_gold_is_found_in_its_block_only(packed):
    names = CROWD.ballots.instances
    on_disk = open_packed(packed)
    gold = {name: frozenset(CROWD.gold[name]) for name in (names[0], names[20], names[59])}
    found = gold_by_block(on_disk, {**gold, "elsewhere": frozenset({"a1"})})
    assert len(found) == len(on_disk.blocks)
    for block, known in zip(on_disk.blocks, found, strict=True):
        assert known == {name: gold[name] for name in block.instances if name in gold}
    assert gold_by_block(on_disk, None) == gold_by_block(on_disk, {}) == [{} for _ in on_disk.blocks]
    with pytest.raises(InputError, match=r"none of the 5 gold instances.* 'e0', 'e1', 'e2' and 2 more, the ballots'"):
        gold_by_block(on_disk, {f"e{k}": frozenset() for k in range(5)})


# Gold sets


def small():
    cast = {(f"v{i}", f"z{z}"): {"a", "b"} for i in range(2) for z in range(4)}
    return Ballots.from_mapping(cast, alternatives=["a", "b", "c"])


@pytest.mark.parametrize("bounds", [(1, 2), (2, 2), (0, 1)])
def test_gold_sets_may_be_as_small_and_as_large_as_the_bounds_allow(bounds):
    lower, upper = bounds
    for size in range(4):
        gold = {"z1": set("abc"[:size])}
        if lower <= size <= upper:
            task = InMemoryWorkload(small(), SizeBounds(lower, upper), gold)
            parameters = Parameters(np.full(2, 0.5), np.full(2, 0.5), np.full(3, 0.4))
            assert task.truths(task.truth_step(parameters))["z1"] == gold["z1"]
        else:
            said = f"'z1' has {size} alternatives, outside the size bounds {lower}..{upper}; correct it"
            with pytest.raises(BoundsError, match=said):
                InMemoryWorkload(small(), SizeBounds(lower, upper), gold)


def test_the_first_gold_set_outside_the_bounds_is_named():
    gold = {"z3": {"a", "b", "c"}, "z2": set(), "z0": {"a"}}
    with pytest.raises(BoundsError, match="the gold set of instance 'z2' has 0 alternatives"):
        InMemoryWorkload(small(), SizeBounds(1, 2), gold)


def test_a_set_with_a_name_that_is_not_offered_is_refused_by_the_menu_of_its_instance():
    cast = {("v", f"z{z}"): {"a"} for z in range(3)}
    ballots = Ballots.from_mapping(cast, menu={"z0": ["a", "b"], "z1": ["a", "c"], "z2": ["a", "b", "c"]})
    for instance, name, offered in (("z0", "c", "'a', 'b'"), ("z1", "b", "'a', 'c'")):
        said = rf"the set of instance '{instance}' has '{name}', which is not offered there \({offered}\)"
        with pytest.raises(InputError, match=said):
            InMemoryWorkload(ballots, SizeBounds(0, 3), {instance: {name}})
    task = InMemoryWorkload(ballots, SizeBounds(0, 3))
    wanted = {"z0": {"b"}, "z1": {"c"}, "z2": {"c"}}
    assert dict(task.truths(task.tables(wanted)).items()) == wanted
    assert task.truths(task.tables({"z2": {"b"}}))["z1"] == set(), "instances without a set are left empty"
