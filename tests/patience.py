"""Waiting for others, but not for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

PATIENCE = 120
LONGEST_TEST = 300


@contextmanager
def in_time(process, seconds=PATIENCE):
    """A process that is killed if it takes too long, so that whoever reads what it writes comes to an end."""
    late = threading.Timer(seconds, process.kill)
    late.daemon = True
    late.start()
    try:
        with process:
            yield process
    finally:
        late.cancel()


def read_until(stream, wanted):
    """The first line in which something is said."""
    for line in stream:
        if wanted in line:
            return line
    raise AssertionError(f"it ended, or was ended after {PATIENCE} seconds, before it said {wanted!r}")


def apart(work, *arguments):
    """Do work in a thread of its own: a browser that is open keeps the event loop of this one."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work, *arguments).result(LONGEST_TEST)
    finally:
        pool.shutdown(wait=False)
