"""Loops stay within their memory: all are run in a process whose memory is checked whenever it is given back."""

import ctypes
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

from epivote import Ballots, Parameters, SizeBounds
from epivote.estimate.workload import InMemoryWorkload
from epivote.kernels.masks import masks_of
from epivote.kernels.pairs import distances_met
from epivote.kernels.passes import CompiledPass
from epivote.model.statistics import GoldRows, PassCounts

CHECKED = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3"}  # comes with glibc from 2.34 on
WIDTHS = (1, 7, 8, 24, 40, 64, 65, 72, 88)  # those that leave no room at the end of a piece of memory are among them
BOUNDS = ((0, 0), (0, None), (1, 1), (2, 3), (0, 6))


def all_loops():
    """Call every loop over ballots, with bounds that bind from below and from above, and with and without gold."""
    for width in WIDTHS:
        rng = np.random.default_rng(width)
        for rows, voters in ((1, 1), (9, 3)):
            ballots = Ballots.from_array(rng.random((rows, voters, width)) < 0.4)
            rates = np.full(voters, 0.7), np.full(voters, 0.3), np.linspace(0.1, 0.9, width)
            gold = GoldRows(np.array([rows - 1]), np.arange(width)[None, :] < 1)
            for lower, upper in BOUNDS:
                if max(lower, upper or 0) > width:
                    continue
                for shard in InMemoryWorkload(ballots, SizeBounds(lower, upper)).shards:
                    for known in (None, gold):
                        run_passes(CompiledPass(shard, known), Parameters(*rates))
            if width <= 64:
                masks_of(ballots.approval_start, before_nothing(ballots.approved))
                distances_met(ballots)


def run_passes(compiled, parameters):
    voters, width = len(parameters.hit_rates), len(parameters.priors)
    for factor in (1, 300):
        assert np.all(compiled.set_odds(factor * compiled.margins(parameters)).inclusion <= 1)
    compiled.sets(parameters)
    compiled.hard(parameters, PassCounts.none(voters, width))
    compiled.soft(parameters, PassCounts.none(voters, width))
    shares = np.array([0.6, 0.4])
    priors = np.array([parameters.priors, parameters.priors[::-1]])
    rates = parameters.hit_rates, parameters.false_alarm_rates
    compiled.groups(Parameters.in_groups(*rates, priors, shares), voters)


def before_nothing(array):
    """A copy that ends where a page of memory does that may not even be read."""
    pages = mmap.mmap(-1, mmap.PAGESIZE * (array.nbytes // mmap.PAGESIZE + 2))
    begin = len(pages) - mmap.PAGESIZE - array.nbytes
    last = ctypes.addressof(ctypes.c_char.from_buffer(pages, len(pages) - mmap.PAGESIZE))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(last), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    copy = np.frombuffer(pages, array.dtype, array.size, begin)
    copy[:] = array
    return copy


def write_beyond():
    """What a loop must not do, so that the check is known to work."""
    array = np.zeros(5_001, np.uint8)  # numpy keeps small ones for the next time
    ctypes.memset(array.ctypes.data + array.size, 255, 1)


def is_fine(function):
    """Whether a process that calls this function of this file ends well under the check, and what it said."""
    command = [sys.executable, __file__, function]
    done = subprocess.run(command, env={**os.environ, **CHECKED}, capture_output=True, text=True, timeout=300)
    return done.returncode == 0, done.stderr


def test_loops_stay_within_their_memory():
    if sys.platform != "linux" or is_fine("write_beyond")[0]:
        pytest.skip("the C library cannot check memory; nothing has to be installed")
    assert is_fine("all_loops") == (True, "")


if __name__ == "__main__":
    {"all_loops": all_loops, "write_beyond": write_beyond}[sys.argv[1]]()
