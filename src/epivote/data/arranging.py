"""Rows of ballots in any order put in the order of columns, and the lists of their ticks collected."""

from __future__ import annotations

import numpy as np

from epivote.data.lists import Lists
from epivote.data.names import IntArray


class Arranging:
    """How it is done with arrays; `epivote.kernels.arranging` does the same by compiled loops."""

    def order(self, instance: IntArray, voter: IntArray, n_instances: int) -> tuple[IntArray, bool]:
        """All rows by instance and then by voter, and whether some have the same of both; these keep their order."""
        del n_instances  # which loops need
        key = instance.astype(np.int64) * (int(voter.max(initial=0)) + 1) + voter
        order = np.arange(len(key)) if np.all(key[1:] >= key[:-1]) else np.argsort(key, kind="stable")
        key = key[order]
        return order, bool(np.any(key[1:] == key[:-1]))

    def gather(self, lists: Lists, list_of_row: IntArray, rows: IntArray) -> Lists:
        """The lists of these rows, in that order; row r has list `list_of_row[r]`."""
        return lists.rows(list_of_row[rows])


WITH_ARRAYS = Arranging()
