"""When compiled loops pay. They always win once loaded, but loading them takes as long as a fit of some size."""

import sys
from importlib.util import find_spec
from threading import Event

WORTH_LOADING = 1_000_000  # approvals in a fit from which loading numba (about a second) pays
WORTH_CALLING = 20_000  # approvals from which a compiled pass beats arrays once loaded
nobody_loads = Event()
"""Is set except while a thread loads numba."""
nobody_loads.set()


def loaded() -> bool:
    """Whether compiled loops are there already, so that calling them costs next to nothing.

    Waits for a thread that is about to load them: what is compiled must not depend on how quick it is.
    """
    nobody_loads.wait()
    return "epivote.kernels.decorators" in sys.modules


def worth_compiling(n_approvals: int) -> bool:
    """Whether passes over so many approvals should be compiled."""
    return n_approvals >= (WORTH_CALLING if loaded() else WORTH_LOADING) and can_compile()


def can_compile() -> bool:
    """Whether numba is installed; without it arrays do the same work."""
    return find_spec("numba") is not None
