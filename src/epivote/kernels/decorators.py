"""How loops are compiled: once per type of argument, kept on disk, and without holding up other threads.

Importing this module loads numba, which takes about a second; only large inputs should pay for it.
"""

from functools import partial
from typing import Any

from numba import njit

kept: Any = partial(njit, cache=True, nogil=True, error_model="numpy")

compiled: Any = kept()
inlined: Any = kept(inline="always")
"""For what is called once a row with so many arrays that the call itself would show."""
merged: Any = kept(forceinline=True)
"""The same for what is called once a block, merged by the compiler."""
unordered: Any = kept(fastmath={"nnan", "nsz"})
"""For comparisons of numbers that are all defined, in any order."""
