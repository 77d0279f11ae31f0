"""Ballots on a Dask cluster: the same answers as in memory, also when workers die."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from epivote import AMLE, EM, Calibrated, ClusterError, FileError, Majority, open_packed, reference_crowd, write_packed
from epivote.data import packing
from epivote.engines import dask as dask_engine
from grouped import crowd_in_groups

distributed = pytest.importorskip("distributed")
CROWD = reference_crowd(1000, 60, 9, 3, seed=4)
IN_THREADS = {"processes": False, "protocol": "tcp://"}  # quicker than processes, and reached in the same way
PATIENCE = 300.0  # seconds for a whole test, far more than any takes
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster's own threads and sockets


@pytest.fixture(autouse=True)
def deadline():
    """Whatever a test waits for, a cluster that never answers included: it fails rather than waits for ever."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(*_):
        raise TimeoutError(f"nothing came of it in {PATIENCE:.0f} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def wait_until(condition, seconds=60.0):
    """Look again and again, but not for ever."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"it did not come true in {seconds:.0f} seconds"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BALLOTS_PER_BLOCK", 500)
        return write_packed([CROWD.ballots], tmp_path_factory.mktemp("packs") / "crowd").folder


@pytest.fixture(scope="module")
def expected():
    """What is found in memory."""
    return AMLE((1, 3)).fit(CROWD.ballots)


@pytest.fixture(scope="module")
def unharmed():
    """A cluster for all tests that leave it as it was."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def user(unharmed):
    """Its client; what it had made is released with it."""
    with distributed.Client(unharmed) as client:
        yield client


@pytest.fixture
def cluster(request):
    """A cluster to do harm to, of one worker in a process unless told otherwise."""
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None} | getattr(request, "param", {})
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def test_a_cluster_finds_the_groups_that_memory_finds(tmp_path, monkeypatch, user):
    crowd, _ = crowd_in_groups(2, instances=150)
    monkeypatch.setattr(packing, "BALLOTS_PER_BLOCK", 100)
    packed = open_packed(write_packed([crowd.ballots], tmp_path / "crowd").folder, client=user)
    gold = {name: crowd.gold[name] for name in crowd.ballots.instances[:10]}
    here, there = (EM((1, 4), groups=3).fit(ballots, gold=gold) for ballots in (crowd.ballots, packed))
    assert there.parameters_.distance(here.parameters_) < 1e-6
    assert there.truth_ == here.truth_
    assert there.groups_["group"].to_list() == here.groups_["group"].to_list()


def test_a_cluster_finds_what_memory_finds(folder, user):
    packed = open_packed(folder, client=user)
    for make in (lambda: AMLE((1, 3)), lambda: AMLE((1, 3), "uniform", n_starts=2), lambda: Majority((1, 3))):
        expected, found = make().fit(CROWD.ballots), make().fit(packed)
        assert found.parameters_ == expected.parameters_, "to the last bit"
        assert found.truth_ == expected.truth_
    gold = {name: CROWD.gold[name] for name in CROWD.ballots.instances[::500]}
    expected, found = EM((1, 3)).fit(CROWD.ballots, gold=gold), EM((1, 3)).fit(packed, gold=gold)
    assert found.truth_ == expected.truth_
    np.testing.assert_allclose(found.parameters_.hit_rates, expected.parameters_.hit_rates, rtol=1e-12)


def test_calibration_on_a_cluster_is_that_in_memory(folder, user):
    gold = {name: CROWD.gold[name] for name in CROWD.ballots.instances[:40:2]}
    here, there = (
        Calibrated(EM((1, 3))).fit(ballots, gold=gold) for ballots in (CROWD.ballots, open_packed(folder, client=user))
    )
    assert there.truth_ == here.truth_
    assert there.confidence_ == pytest.approx(here.confidence_, abs=1e-6)
    assert there.model_confidence_ == pytest.approx(here.model_confidence_, abs=1e-6)
    assert there.calibration_.scale == pytest.approx(here.calibration_.scale, abs=1e-5)
    assert not np.allclose(here.confidence_, here.model_confidence_, atol=1e-3), "there was something to calibrate"


def test_tasks_do_not_pile_up_on_the_scheduler(folder, user):
    seen = []

    def count(_iteration, _value):
        seen.append(user.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))

    AMLE((1, 3), max_iterations=12, tolerance=0).fit(open_packed(folder, client=user), progress=count)
    assert set(seen) == {len(user.nthreads())}, "one actor per worker, and nothing else"


@pytest.mark.parametrize(
    "noticed", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["at once", "once it is known"]
)
@pytest.mark.parametrize("cluster", [{"n_workers": 2}], indirect=True, ids=["two workers"])
@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(folder, cluster, client, expected, noticed):
    killed = []

    def kill(iteration, _value):
        if iteration == 3:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)
            if noticed:
                wait_until(lambda: any(each.status != "finished" for each in client.futures.values()))

    found = AMLE((1, 3)).fit(open_packed(folder, client=client), progress=kill)
    assert killed
    assert found.parameters_ == expected.parameters_
    assert found.truth_ == expected.truth_


class Spoilt(distributed.WorkerPlugin):
    """Keeps a worker, and every worker that takes its place, from its work until it is taken away."""

    name = "spoilt"

    def __init__(self, spoil):
        self.spoil = spoil

    def setup(self, worker):  # noqa: ARG002
        self.patch = pytest.MonkeyPatch()
        self.spoil(self.patch)

    def teardown(self, worker):  # noqa: ARG002
        self.patch.undo()


def die_when_asked(patch):
    from epivote.engines.local import LocalEngine

    patch.setattr(LocalEngine, "hard_sums", lambda *_: os._exit(1))


def forget_epivote(patch):
    kept = [finder for finder in sys.meta_path if not hasattr(finder, "find_distributions")]
    patch.setattr(sys, "meta_path", kept)


def grow_old(patch):
    from importlib.metadata import distribution

    patch.setattr(type(distribution("epivote")), "version", "0.0.1")


@pytest.mark.slow
def test_workers_that_die_whatever_they_do_are_given_up_with_one_sentence(folder, client):
    client.register_plugin(Spoilt(die_when_asked))
    with pytest.raises(ClusterError, match="every worker given this block"):
        AMLE((1, 3)).fit(open_packed(folder, client=client))


@pytest.mark.parametrize(("spoil", "has"), [(forget_epivote, "no epivote"), (grow_old, "epivote 0.0.1")])
def test_workers_without_the_same_epivote_are_refused(folder, user, expected, spoil, has):
    user.register_plugin(Spoilt(spoil))
    with pytest.raises(
        ClusterError, match=rf"the worker tcp://\S+ has {has}; install epivote \d+\.\S+ on every worker"
    ):
        AMLE((1, 3)).fit(open_packed(folder, client=user))
    user.unregister_worker_plugin(Spoilt.name)
    assert AMLE((1, 3)).fit(open_packed(folder, client=user)).truth_ == expected.truth_


@pytest.mark.parametrize("cluster", [IN_THREADS], indirect=True, ids=["threads"])
def test_a_scheduler_that_closes_is_told_in_one_sentence(folder, cluster, client):
    def close(iteration, _value):
        if iteration == 2:
            cluster.close()

    with pytest.raises(ClusterError, match="connection to the cluster was lost"):
        AMLE((1, 3)).fit(open_packed(folder, client=client), progress=close)


@pytest.mark.slow
def test_a_killed_scheduler_is_told_in_one_sentence(folder, tmp_path):
    where = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*command, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", where])
    worker = subprocess.Popen([*command, "worker", "--scheduler-file", where, "--no-nanny", "--no-dashboard"])
    try:
        wait_until(where.exists)

        def kill(iteration, _value):
            if iteration == 2:
                scheduler.kill()
                scheduler.wait(timeout=60)

        with distributed.Client(scheduler_file=str(where), timeout=10) as client:
            packed = open_packed(folder, client=client)
            with pytest.raises(ClusterError, match="connection to the cluster was lost"):
                AMLE((1, 3)).fit(packed, progress=kill)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait(timeout=60)


def test_a_client_made_later_is_not_mistaken_for_the_one_given(folder, user, expected, monkeypatch):
    placed, place = [], dask_engine._Part._place
    monkeypatch.setattr(dask_engine._Part, "_place", lambda part, **where: (placed.append(part), place(part, **where)))
    other = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None)

    def leave(iteration, _value):
        if iteration == 2:
            other.close()

    with distributed.Client(other):
        found = AMLE((1, 3)).fit(open_packed(folder, client=user), progress=leave)
    assert found.parameters_ == expected.parameters_
    assert len(placed) == len(user.nthreads()), "nothing was lost with the other"


@pytest.mark.slow
def test_a_call_that_is_never_answered_is_made_again(folder, client, expected):
    """As when a worker comes back at the same address without what it held."""

    def forget(iteration, _value):
        if iteration == 2:
            client.run(lambda dask_worker: dask_worker.state.actors.clear())
            threading.Timer(1.0, lambda: client.restart()).start()

    found = AMLE((1, 3)).fit(open_packed(folder, client=client), progress=forget)
    assert found.parameters_ == expected.parameters_


@pytest.mark.slow
def test_workers_use_the_threads_they_were_given(folder, expected):
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=3, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        found = AMLE((1, 3)).fit(open_packed(folder, client=client))
        assert client.submit(lambda: dask_engine._Engine([], 1, 1).local.threads).result(timeout=60) == 3
    assert found.parameters_ == expected.parameters_


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up_with_one_sentence(folder, cluster, client, monkeypatch):
    monkeypatch.setattr(dask_engine, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(dask_engine, "WORKER_TIMEOUT_SECONDS", 1.0)

    def desert(iteration, _value):
        if iteration == 2:
            cluster.scale(0)
            wait_until(lambda: not cluster.workers)

    with pytest.raises(ClusterError, match="no workers for 1 seconds; start some"):
        AMLE((1, 3)).fit(open_packed(folder, client=client), progress=desert)


@pytest.mark.slow
def test_workers_that_come_back_are_waited_for(folder, cluster, client, expected):

    def leave_and_return(iteration, _value):
        if iteration == 2:
            cluster.scale(0)
            wait_until(lambda: not cluster.workers)
            threading.Timer(1.0, lambda: cluster.scale(1)).start()

    found = AMLE((1, 3)).fit(open_packed(folder, client=client), progress=leave_and_return)
    assert found.parameters_ == expected.parameters_


def test_a_damaged_block_is_refused_by_the_workers_too(folder, user, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    path = copy / "block-00004.npz"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match=r"block-00004.npz is damaged"):
        EM((1, 3)).fit(open_packed(copy, client=user))


def threads_used(short):
    """Whether an engine on a worker hands its first, second and third work to a thread."""
    patch = pytest.MonkeyPatch()
    patch.setattr(dask_engine, "INLINE_SECONDS", short)
    engine, here = dask_engine._Engine([], 1, 1), threading.get_ident()

    async def three_times():
        return [await engine._worked(lambda _: threading.get_ident(), None) for _ in range(3)]

    found = asyncio.run(asyncio.wait_for(three_times(), 60))
    patch.undo()
    return [thread != here for thread in found]


def test_only_work_that_was_short_last_time_keeps_the_worker_from_answering(user):
    assert user.submit(threads_used, float("inf")).result(timeout=60) == [True, False, False]
    assert user.submit(threads_used, 0.0).result(timeout=60) == [True, True, True]
