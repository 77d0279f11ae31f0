"""Loops made ready by a thread: exactly those of a fit, and a thread that fails changes nothing."""

import json
import subprocess
import sys
import threading

import pytest

from epivote.kernels import compiling, warm
from patience import PATIENCE

COMPILED_BY_A_FIT = """
import json, sys
import epivote
from epivote.kernels import warm

method, path = sys.argv[1:]
from epivote.formats import plain_text

plain_text.WORTH_COMPILING = 0
epivote.write_ballots(epivote.reference_crowd(3000, 1000, 20, 4, seed=1).ballots, path)
warm.warm_up(soft=method == "em", text=True).join(120)

def signatures():
    loops = [each for name, module in sys.modules.items() if name.startswith("epivote.kernels.")
             for each in vars(module).values() if hasattr(each, "signatures")]
    return {f"{each.py_func.__name__}{types}" for each in loops for types in each.signatures}

ready = signatures()
ballots = epivote.read_ballots(path)
fitted = (epivote.EM if method == "em" else epivote.AMLE)((1, 4)).fit(ballots)
fitted.confidence_, fitted.truth_
print(json.dumps([len(ready), sorted(signatures() - ready)]))
"""


@pytest.mark.parametrize("method", ["em", "amle"])
def test_a_fit_finds_all_its_loops_ready(method, tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", COMPILED_BY_A_FIT, method, tmp_path / "ballots.csv"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE)
    count, compiled_by_the_fit = json.loads(done.stdout)
    assert compiled_by_the_fit == []
    assert count >= 8


@pytest.fixture
def nothing_loaded(monkeypatch):
    """As in a process that has not used compiled loops; what threads could not handle is listed."""
    unhandled = []
    monkeypatch.setitem(
        sys.modules, "epivote.kernels.decorators", sys
    )  # so that what a test puts there is gone after it
    del sys.modules["epivote.kernels.decorators"]
    monkeypatch.setattr(threading, "excepthook", unhandled.append)
    return unhandled


def refuse(*_given, **_named):
    raise ImportError("numba is damaged")


def test_a_thread_that_cannot_load_numba_leaves_it_to_the_fit(nothing_loaded, monkeypatch):
    monkeypatch.setattr(warm, "import_module", refuse)
    warm.warm_up(soft=True).join(PATIENCE)
    assert not compiling.loaded()
    assert nothing_loaded == []


def test_a_thread_that_cannot_compile_leaves_it_to_the_fit(nothing_loaded, monkeypatch):
    monkeypatch.setattr(warm, "import_module", lambda name: sys.modules.setdefault(name, sys))
    monkeypatch.setattr(warm, "use_all", refuse)
    warm.warm_up(soft=True).join(PATIENCE)
    assert compiling.loaded()
    assert nothing_loaded == []


def test_whoever_asks_whether_loops_are_there_waits_for_the_thread_that_loads_them(nothing_loaded, monkeypatch):
    may_load, answers = threading.Event(), []

    def load(name):
        assert may_load.wait(PATIENCE)
        monkeypatch.setitem(sys.modules, name, sys)

    monkeypatch.setattr(warm, "import_module", load)
    monkeypatch.setattr(warm, "use_all", lambda *_given, **_named: None)
    loading = warm.warm_up(soft=True)
    asking = threading.Thread(target=lambda: answers.append(compiling.loaded()))
    asking.start()
    asking.join(0.05)
    assert answers == []
    may_load.set()
    for thread in (asking, loading):
        thread.join(PATIENCE)
    assert answers == [True]
    assert nothing_loaded == []


def test_nothing_is_begun_twice_or_without_numba(nothing_loaded, monkeypatch):
    monkeypatch.setattr(compiling, "find_spec", lambda _: None)
    assert warm.warm_up(soft=True) is None
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "epivote.kernels.decorators", sys)
    assert warm.warm_up(soft=True) is None
    assert nothing_loaded == []
