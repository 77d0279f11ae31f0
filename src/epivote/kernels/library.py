"""The compiled loops as functions: which library is loaded, and what each function takes.

The sources are in the folder `loops`; installing the package compiles them (`hatch_build.py`). Without them, as on
platforms nobody has compiled for, or where they cannot be loaded, array operations do the same work.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, c_double, c_int32, c_int64, c_uint8, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import numpy.typing as npt

FOLDER = Path(__file__).with_name("loops")
ENDING = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
WORD = 8  # bytes of most numbers that loops take


class LoopShard(ctypes.Structure):
    """What the loops know about some ballots; the fields are explained in `loops/shard.hpp`."""

    _fields_ = (
        *((name, c_int64) for name in ("rows", "width", "lower", "upper", "voter_bytes", "column_bytes")),
        *((name, c_void_p) for name in ("ballot_start", "ballot_voter", "masks", "tick_start", "tick_column")),
        *((name, c_void_p) for name in ("offered", "fixed", "given", "order")),
    )


SHARD, AT, COUNT, NUMBER = POINTER(LoopShard), c_void_p, c_int64, c_double
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "hard_change": (c_int32, (SHARD, AT, AT, NUMBER, AT, NUMBER, *[AT] * 4)),
    "soft_pass": (c_int32, (SHARD, AT, AT, COUNT, COUNT, *[AT] * 6)),
    "margin_table": (c_int32, (SHARD, *[AT] * 3)),
    "weigh_table": (c_int32, (AT, *[COUNT] * 4, AT, AT)),
    "fill_masks": (None, (AT, AT, COUNT, COUNT, AT)),
    "fill_sets": (None, (AT, COUNT, COUNT, AT)),
    "sweep_priors": (c_int32, (AT, NUMBER, *[COUNT] * 3, *[NUMBER] * 3, AT)),
    "distances_met": (None, (AT, COUNT, AT, AT, COUNT, AT, COUNT, AT, AT)),
    "split_rows": (c_int64, (AT, COUNT, c_uint8, AT, COUNT, COUNT, AT, AT, AT)),
    "number_texts": (c_int64, (AT, AT, AT, COUNT, AT, COUNT, COUNT, *[AT] * 5)),
    "number_parts": (c_int64, (AT, AT, AT, COUNT, c_uint8, AT, COUNT, COUNT, *[AT] * 4)),
    "fill_slots": (None, (AT, AT, COUNT, AT, COUNT)),
    "text_hash": (c_uint64, (AT, COUNT)),
    "order_ballots": (c_int64, (AT, AT, COUNT, COUNT, AT, AT, AT)),
    "count_repeats": (c_int64, (AT, AT, COUNT, COUNT)),
    "order_in_place": (c_int64, (AT, AT, *[COUNT] * 3, AT, COUNT, COUNT, AT, AT, AT)),
    "count_values": (c_int64, (AT, AT, AT, COUNT)),
    "collect_sets": (c_int64, (AT, AT, AT, COUNT, COUNT, AT, AT, COUNT, COUNT, AT, AT)),
}
"""What each function gives and takes; arrays are handed over as the place where they begin."""


@cache
def loops() -> Any:
    """The loops compiled for the most instructions that this processor has."""
    first = _libraries()[0]
    level = loaded_from(first).processor_level()
    return loaded_from(FOLDER / f"loops_v{level}.{ENDING}" if level else first)


@cache
def loaded_from(path: Path) -> Any:
    """The loops in this file."""
    library = ctypes.CDLL(str(path))
    for name, (given, taken) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = given, taken
    return library


def has_loops() -> bool:
    """Whether this installation has compiled loops; without them arrays do the same work."""
    return why_no_loops() is None


def why_no_loops() -> str | None:
    """Why arrays do the work of the loops; None if there are loops that can be loaded."""
    return _why_not_loaded() if _libraries() else "this installation has no compiled loops"


def place(array: npt.NDArray[Any] | None, itemsize: int = WORD) -> int | None:
    """Where an array begins, for loops that expect numbers of so many bytes one after the other; None for none."""
    if array is None:
        return None
    if array.itemsize != itemsize or not array.flags.c_contiguous:
        raise ValueError(f"a loop was given an array of {array.dtype} with strides {array.strides}")
    address: int = array.__array_interface__["data"][0]
    return address


def done(enough_memory: int) -> None:
    """Raise if a loop says that there was not enough memory."""
    if not enough_memory:
        raise MemoryError("a compiled loop could not get the memory it needs")


@cache
def _libraries() -> list[Path]:
    """Those for all processors of this kind come first."""
    named = [FOLDER / f"{name}.{ENDING}" for name in ("loops", "loops_v2")]
    return [path for path in named if path.exists()]


@cache
def _why_not_loaded() -> str | None:
    try:
        loops()
    except (OSError, AttributeError) as error:  # for another platform, not to be executed, of another version
        return f"the compiled loops cannot be loaded ({error})"
    return None
