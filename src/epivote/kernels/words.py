"""Eight bytes at a time for compiled loops over text. There are no checks: all eight must exist.

The first byte is the lowest of the number, as on all processors that numba compiles for.
"""

from typing import Any

from llvmlite import ir
from numba import extending, types

intrinsic: Any = extending.intrinsic  # typed as if it took the context, which it is given
WORD = 8  # bytes
WORD_TYPE = ir.IntType(64)


@intrinsic
def load_word(_context, text, place):
    """The bytes `text[place : place + 8]` as one number."""

    def generate(context, builder, _signature, arguments):
        return builder.load(_place(context, builder, text, *arguments), align=1)

    return types.uint64(text, types.intp), generate


@intrinsic
def store_word(_context, text, place, word):
    """Write one number over the bytes `text[place : place + 8]`."""

    def generate(context, builder, _signature, arguments):
        to, at, value = arguments
        builder.store(value, _place(context, builder, text, to, at), align=1)
        return context.get_dummy_value()

    return types.none(text, types.intp, types.uint64), generate


def _place(context, builder, kind, array, at):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), WORD_TYPE.as_pointer())
