"""How blocks are dealt to the workers of a cluster and what happens when some are lost, with workers played by hand."""

import asyncio
import pickle
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from epivote import ClusterError, Parameters, SizeBounds, open_packed, reference_crowd, write_packed
from epivote.data import packing
from epivote.engines import dask as engine
from epivote.engines.gold import gold_by_block
from epivote.engines.local import LocalEngine
from epivote.engines.where import block_engine
from epivote.estimate.workload import InMemoryWorkload
from patience import apart

pytest.importorskip("distributed")
CROWD = reference_crowd(30, 8, 5, 2, seed=2)
BOUNDS = SizeBounds(1, 2)
PARAMETERS = Parameters(np.full(8, 0.7), np.full(8, 0.2), np.full(5, 0.3))
HERE = engine.version("epivote")
SECONDS = 20  # far more than any of these takes


class Call:
    """The answer to a call: it comes at once, never, or by an error."""

    def __init__(self, answer, troubles):
        self.answer, self.troubles = answer, troubles

    def __await__(self):
        if self.troubles:
            trouble = self.troubles.pop(0)
            if trouble == "late":
                yield from asyncio.sleep(SECONDS).__await__()
            raise trouble
        return self.answer()


class Actor:
    """An engine at a worker; troubles come before answers."""

    def __init__(self, local, lost, troubles):
        self.local, self.lost, self.troubles = local, lost, troubles

    def __getattr__(self, method):
        if self.lost:
            raise RuntimeError("the worker is lost")
        return lambda *given, **named: Call(lambda: self.answer(method, *given, **named), self.troubles)

    def answer(self, method, *given, **named):
        if method != "sums":
            return getattr(self.local, method)(*given, **named)
        kind, parameters = given
        return pickle.dumps(getattr(self.local, kind)(pickle.loads(parameters)))


class Future:
    def __init__(self, actor, status, waits):
        self.actor, self.status, self.waits = actor, status, waits

    def __await__(self):
        if self.waits:
            self.waits -= 1
            yield from asyncio.sleep(SECONDS).__await__()
        return self.actor


class Client:
    """A cluster played by hand: `plans` says what befalls the actors, in the order in which they are placed."""

    def __init__(self, threads=None, plans=(), versions=None):
        self.threads, self.plans = [threads or {"one": 1, "two": 1}], list(plans)
        self.versions, self.placed, self.current = versions or {}, [], 0

    def sync(self, work, *given):
        return apart(asyncio.run, asyncio.wait_for(work(*given), SECONDS))

    async def nthreads(self):
        return self.threads.pop(0) if len(self.threads) > 1 else self.threads[0]

    def run(self, function, *given, on_error):
        assert on_error == "return"
        return {address: self.versions.get(address, function(*given)) for address in self.threads[-1]}

    @contextmanager
    def as_current(self):
        self.current += 1
        yield

    def submit(self, make, sources, *size, actor, pure, **where):
        assert make is engine._Engine
        assert actor
        assert not pure, "the same contents twice are two actors"
        plan = self.plans.pop(0) if self.plans else {}
        self.placed.append((where, sources))
        held = Actor(LocalEngine(sources, *size, threads=1), plan.get("lost", False), list(plan.get("troubles", ())))
        return Future(held, plan.get("status", "finished"), plan.get("waits", 0))


@pytest.fixture
def packed(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 12)
    monkeypatch.setattr(engine, "POLL_SECONDS", 0.01)
    return write_packed([CROWD.ballots], tmp_path / "crowd").folder


def made(folder, client, gold=None):
    packed = open_packed(folder, client=client)
    return block_engine(packed, BOUNDS, gold_by_block(packed, gold))


def check(found):
    """The sums of an engine are those of a task in memory."""
    expected = InMemoryWorkload(CROWD.ballots, BOUNDS)
    for by_menu in (False, True):
        frame, other = found.fixed_counts(by_menu=by_menu), expected.engine.fixed_counts(by_menu=by_menu)
        np.testing.assert_array_equal(frame.ticks, other.ticks)
        assert frame.groups == other.groups
    hard, other = found.hard_sums(PARAMETERS), expected.engine.hard_sums(PARAMETERS)
    np.testing.assert_array_equal(hard.voters, other.voters)
    (soft, total), (other, expected_total) = found.soft_sums(PARAMETERS), expected.engine.soft_sums(PARAMETERS)
    np.testing.assert_allclose(soft.occurrences, other.occurrences, rtol=1e-12)
    assert total == pytest.approx(expected_total, rel=1e-12)


def test_blocks_are_dealt_out_by_threads_in_turn(packed):
    client = Client({"small": 1, "large": 2, "idle": 1})
    found = made(packed, client)
    blocks = open_packed(packed).blocks
    assert len(blocks) > 8
    seats = ["small", "large", "large", "idle"]
    expected = {}
    for number, block in enumerate(blocks):
        expected.setdefault(seats[number % 4], []).append(block.path)
    dealt = {where["workers"][0]: [source.block.path for source in sources] for where, sources in client.placed}
    assert dealt == expected
    assert all(where["allow_other_workers"] for where, _ in client.placed)
    assert all(source.kept for _, sources in client.placed for source in sources), "read once"
    check(found)
    assert client.current == 3, "every actor is bound once"


def test_workers_without_a_block_are_given_nothing(packed):
    client = Client({f"w{number}": 2 for number in range(40)})
    check(made(packed, client))
    assert len(client.placed) < 40
    assert all(sources for _, sources in client.placed)


def test_gold_goes_with_its_block(packed):
    client = Client()
    gold = {name: CROWD.gold[name] for name in CROWD.ballots.instances[::7]}
    found, expected = made(packed, client, gold), InMemoryWorkload(CROWD.ballots, BOUNDS, gold)
    np.testing.assert_array_equal(found.hard_sums(PARAMETERS).voters, expected.engine.hard_sums(PARAMETERS).voters)
    for _, sources in client.placed:
        for source in sources:
            assert dict(source.gold) == {name: gold[name] for name in source.block.instances if name in gold}


def test_what_is_known_before_any_sets_is_asked_for_once(packed):
    found = made(packed, Client())
    assert found.fixed_counts(by_menu=True) is found.fixed_counts(by_menu=True)
    assert found.fixed_counts(by_menu=False) is found.fixed_counts(by_menu=False)


@pytest.mark.parametrize("method", ["hard_sums", "soft_sums"])
def test_parameters_are_pickled_once_for_all_workers(packed, method, monkeypatch):
    pickled, state = [], Parameters.__getstate__
    monkeypatch.setattr(Parameters, "__getstate__", lambda one: (pickled.append(one), state(one))[1])
    found = made(packed, Client({"one": 1, "two": 1, "three": 1}))
    getattr(found, method)(PARAMETERS)
    assert pickled == [PARAMETERS]


LOST = {
    "known to be lost": {"lost": True},
    "nobody there": {"troubles": [OSError("nobody")]},
    "never answers": {"troubles": ["late"], "status": "lost"},
}


@pytest.mark.parametrize("plan", LOST.values(), ids=LOST)
def test_a_lost_part_is_placed_again_anywhere(packed, plan):
    client = Client(plans=[plan])
    check(made(packed, client))
    assert len(client.placed) == 3
    where, sources = client.placed[2]
    assert where == {}, "on any worker"
    assert sources == client.placed[0][1], "the same blocks"


@pytest.mark.parametrize("plan", LOST.values(), ids=LOST)
def test_a_part_is_given_up_when_it_was_lost_three_times(packed, plan):
    good = Client(plans=[{}, plan, plan])
    check(made(packed, good))
    client = Client({"one": 1}, plans=[plan] * 3)
    with pytest.raises(ClusterError, match="every worker given this block"):
        made(packed, client).hard_sums(PARAMETERS)
    assert len(client.placed) == 4


def test_an_answer_that_takes_long_is_waited_for(packed):
    client = Client(plans=[{"troubles": ["late"] * 3}])
    check(made(packed, client))
    assert len(client.placed) == 2, "nothing was placed again"


def test_a_mistake_in_the_work_itself_is_told_as_it_is(packed):
    client = Client(plans=[{"troubles": [ValueError("a mistake")]}])
    with pytest.raises(ValueError, match="a mistake"):
        made(packed, client).hard_sums(PARAMETERS)


def test_a_part_that_is_long_in_coming_is_waited_for(packed):
    client = Client(plans=[{"waits": 3}])
    check(made(packed, client))
    assert len(client.placed) == 2


def test_the_first_worker_is_waited_for_but_not_for_ever(packed, monkeypatch):
    client = Client()
    client.threads[:0] = [{}, {}, {}]
    check(made(packed, client))
    monkeypatch.setattr(engine, "WORKER_TIMEOUT_SECONDS", 0.0)
    nobody = Client()
    nobody.threads = [{}]
    with pytest.raises(ClusterError, match="no workers for 0 seconds; start some and resume"):
        made(packed, nobody)
    gone = Client(plans=[{"waits": 1000}])
    found = made(packed, gone)
    gone.threads = [{}]
    with pytest.raises(ClusterError, match="no workers"):
        found.hard_sums(PARAMETERS)


@pytest.mark.parametrize(("version", "said"), [("0.0.1", "epivote 0.0.1"), (ImportError("none"), "no epivote")])
def test_one_worker_with_another_version_is_enough_to_refuse(packed, version, said):
    for address in ("one", "two"):
        with pytest.raises(ClusterError, match=f"the worker {address} has {said}; install epivote {HERE} on every"):
            made(packed, Client(versions={address: version}))
    made(packed, Client(versions={"one": HERE}))


def test_a_lost_connection_is_told_in_one_sentence(packed):
    distributed = pytest.importorskip("distributed")
    lost = [OSError("gone"), distributed.CancelledError("gone"), distributed.client.ClosedClientError("gone")]
    for error in lost:
        client = Client()
        found = made(packed, client)
        client.sync = lambda *_, error=error: (_ for _ in ()).throw(error)
        with pytest.raises(ClusterError, match="the connection to the cluster was lost; resume when it is back"):
            found.hard_sums(PARAMETERS)
    killed = distributed.KilledWorker("task", None, 3)
    client.sync = lambda *_: (_ for _ in ()).throw(killed)
    with pytest.raises(ClusterError, match="every worker given this block"):
        found.hard_sums(PARAMETERS)


@pytest.fixture
def at_a_worker(monkeypatch):
    """Here is a worker with three threads."""
    import distributed

    class Worker:
        class state:  # noqa: N801
            nthreads = 3

    monkeypatch.setattr(distributed, "get_worker", Worker)


def test_an_engine_at_a_worker_has_its_threads_and_finds_the_same(packed, at_a_worker):
    client = Client({"one": 1})
    made(packed, client)
    ((_, sources),) = client.placed
    at_worker = engine._Engine(sources, 8, 5)
    assert (at_worker.local.threads, at_worker.local.groups) == (3, 3)
    expected = InMemoryWorkload(CROWD.ballots, BOUNDS).engine

    async def both():
        return [
            pickle.loads(await at_worker.sums(kind, pickle.dumps(PARAMETERS))) for kind in ("hard_sums", "soft_sums")
        ]

    hard, (soft, total) = apart(asyncio.run, asyncio.wait_for(both(), SECONDS))
    np.testing.assert_array_equal(hard.voters, expected.hard_sums(PARAMETERS).voters)
    np.testing.assert_allclose(soft.voters, expected.soft_sums(PARAMETERS)[0].voters, rtol=1e-12)
    assert total == pytest.approx(expected.soft_sums(PARAMETERS)[1], rel=1e-12)
    for by_menu in (False, True):
        assert at_worker.fixed_counts(by_menu=by_menu).groups == expected.fixed_counts(by_menu=by_menu).groups


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self, monkeypatch):
        self.now, self.slept = 1000.0, []
        monkeypatch.setattr(engine, "time", self)

    def monotonic(self):
        return self.now

    def passes(self, seconds):
        self.now += seconds

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.passes(seconds)


def test_work_that_took_a_tenth_of_a_second_is_handed_to_a_thread_the_next_time(at_a_worker, monkeypatch):
    clock = Clock(monkeypatch)
    at_worker = engine._Engine([], 1, 1)

    async def threads_used():
        found, here = [], threading.get_ident()
        for seconds in (0.0, 0.099, 0.101, 5.0, 0.099, 0.0):
            work = lambda seconds: (clock.passes(seconds), threading.get_ident() != here)[1]  # noqa: E731
            found.append(await at_worker._worked(work, seconds))
        return found

    assert apart(asyncio.run, asyncio.wait_for(threads_used(), SECONDS)) == [True, False, False, True, True, False]


def test_a_minute_without_workers_is_waited_for_with_a_look_every_two_seconds(monkeypatch):
    clock, client = Clock(monkeypatch), Client()
    monkeypatch.setattr(engine.asyncio, "sleep", clock.sleep)
    client.threads = [{}]
    with pytest.raises(ClusterError, match="has had no workers for 60 seconds"):
        client.sync(engine._workers, client)
    assert set(clock.slept) == {2.0}
    assert sum(clock.slept) == 62, "at a minute one more look is taken"
