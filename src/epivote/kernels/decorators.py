"""How loops are compiled: once per type of argument, kept on disk, and without holding up other threads.

Importing this module loads numba, which takes about a second; only large inputs should pay for it.
"""

from functools import partial
from typing import Any

from numba import njit

kept: Any = partial(njit, cache=True, nogil=True, error_model="numpy")

compiled: Any = kept()
unordered: Any = kept(fastmath={"nnan", "nsz"})
"""For comparisons of numbers that are all defined, in any order."""
inlined: Any = kept(inline="always")
"""For parts of one loop: they are compiled once with it, and not on their own as well, which takes a third less."""
