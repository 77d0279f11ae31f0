"""Vectors of eight numbers for compiled loops: eight instances are worked on in lockstep, each in a lane of its own.

A compiler turns loops over lanes into vector instructions only where it can prove that no two arrays overlap, which it
rarely can. So these functions say it outright; the compiler splits a vector into as many registers as the processor
needs. Tables have `LANES` columns, and a vector is a whole row of a table. There are no checks: rows must exist.
"""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.extending import models, register_model

intrinsic: Any = extending.intrinsic  # typed as if it took the context, which it is given

LANES = 8  # two registers of 256 bits; 4 and 16 took longer on the reference crowd M in a first version
NUMBER_BYTES = 8  # of a float or integer of 64 bits


class Vector(types.Type):
    """A number of the same kind, float or integer of 64 bits, in every lane."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """A vector is one value of the compiler."""

    def __init__(self, manager, kind):
        element = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(element, LANES))


FLOATS = Vector(types.float64)


@intrinsic
def load(_context, table, row):
    """A row of a table."""

    def generate(context, builder, _signature, arguments):
        return builder.load(_place(context, builder, table, *arguments), align=NUMBER_BYTES)

    return Vector(table.dtype)(table, types.intp), generate


@intrinsic
def store(_context, table, row, vector):
    """Write a row of a table."""

    def generate(context, builder, _signature, arguments):
        to, at, values = arguments
        builder.store(values, _place(context, builder, table, to, at), align=NUMBER_BYTES)
        return context.get_dummy_value()

    return types.none(table, types.intp, vector), generate


@intrinsic
def gather(_context, table, column, rows, row):
    """`table[rows[row, lane], column]` in every lane, of a table with two columns; of a list if `column` is None."""
    columns = table.ndim

    def generate(context, builder, _signature, arguments):
        source, at, *where = arguments
        found = ir.Constant(context.get_value_type(Vector(table.dtype)), ir.Undefined)
        for lane, number in enumerate(_elements(context, builder, rows, *where)):
            place = builder.mul(number, number.type(columns))
            if columns > 1:
                place = builder.add(place, at)
            value = builder.load(builder.gep(_data(context, builder, table, source), [place]))
            found = builder.insert_element(found, value, _lane(lane))
        return found

    return Vector(table.dtype)(table, types.none if columns == 1 else types.intp, rows, types.intp), generate


@intrinsic
def add_pairs(_context, table, rows, row, first, second):
    """Add the two vectors, lane by lane, to the two columns of `table[rows[row, lane]]`; these may repeat."""
    pair = ir.VectorType(ir.DoubleType(), 2)

    def generate(context, builder, _signature, arguments):
        to, numbers, at, one, other = arguments
        for lane, number in enumerate(_elements(context, builder, rows, numbers, at)):
            place = builder.gep(_data(context, builder, table, to), [builder.mul(number, number.type(2))])
            place = builder.bitcast(place, pair.as_pointer())
            both = builder.shuffle_vector(one, other, _lanes(lane, LANES + lane))
            sums = builder.fadd(builder.load(place, align=NUMBER_BYTES), both)
            builder.store(sums, place, align=NUMBER_BYTES)
        return context.get_dummy_value()

    return types.none(table, rows, types.intp, FLOATS, FLOATS), generate


@intrinsic
def every(_context, number):
    """The same number in every lane."""

    def generate(_context, builder, _signature, arguments):
        nothing = ir.Constant(ir.VectorType(arguments[0].type, LANES), ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], _lane(0))
        return builder.shuffle_vector(first, nothing, _lanes(*[0] * LANES))

    number = types.unliteral(number)
    return Vector(number)(number), generate


@intrinsic
def plus(_context, one, other):
    """The sum, of floats or of integers."""
    name = "fadd" if one == FLOATS else "add"

    def generate(_context, builder, _signature, arguments):
        return getattr(builder, name)(*arguments)

    return one(one, one), generate


@intrinsic
def times(_context, one, other):
    """The product of floats."""

    def generate(_context, builder, _signature, arguments):
        return builder.fmul(*arguments)

    return FLOATS(FLOATS, FLOATS), generate


@intrinsic
def over(_context, one, other):
    """The quotient of floats."""

    def generate(_context, builder, _signature, arguments):
        return builder.fdiv(*arguments)

    return FLOATS(FLOATS, FLOATS), generate


@intrinsic
def plus_product(_context, third, one, other):
    """`third + one * other` of floats, in one instruction where there is one."""

    def generate(context, builder, _signature, arguments):
        kind = context.get_value_type(FLOATS)
        name = f"llvm.fmuladd.v{LANES}f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, [*arguments[1:], arguments[0]])

    return FLOATS(FLOATS, FLOATS, FLOATS), generate


@intrinsic
def smaller(_context, one, other):
    """The smaller of two floats; the second where one is not a number."""

    def generate(_context, builder, _signature, arguments):
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return FLOATS(FLOATS, FLOATS), generate


@intrinsic
def shifted(_context, integers, places):
    """Integers with their bits moved up by so many places."""

    def generate(_context, builder, _signature, arguments):
        return builder.shl(*arguments)

    return integers(integers, integers), generate


@intrinsic
def where_negative(_context, integers, then, otherwise):
    """Of two vectors of floats the first in lanes whose integer has its highest bit set, else the second."""

    def generate(_context, builder, _signature, arguments):
        chosen, one, other = arguments
        is_set = builder.icmp_signed("<", chosen, ir.Constant(chosen.type, [0] * LANES))
        return builder.select(is_set, one, other)

    return FLOATS(integers, FLOATS, FLOATS), generate


def _data(context, builder, kind, table):
    return context.make_array(kind)(context, builder, table).data


def _place(context, builder, kind, table, row):
    place = builder.gep(_data(context, builder, kind, table), [builder.mul(row, row.type(LANES))])
    return builder.bitcast(place, context.get_value_type(Vector(kind.dtype)).as_pointer())


def _elements(context, builder, kind, table, row):
    """The numbers in a row of a table."""
    first = builder.gep(_data(context, builder, kind, table), [builder.mul(row, row.type(LANES))])
    return [builder.load(builder.gep(first, [row.type(lane)])) for lane in range(LANES)]


def _lane(number):
    return ir.IntType(32)(number)


def _lanes(*numbers):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(numbers)), list(numbers))
