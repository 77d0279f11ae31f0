"""Vectors of eight numbers for compiled loops: eight instances are worked on in lockstep, each in a lane of its own.

A compiler turns loops over lanes into vector instructions only where it can prove that no two arrays overlap, which it
rarely can. So these functions say it outright; the compiler splits a vector into as many registers as the processor
needs. Tables have `LANES` columns, and a vector is a row of a table, or two rows. There are no checks: rows must exist.
"""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.extending import models, register_model

from epivote.kernels.arguments import LANES, TWO

intrinsic: Any = extending.intrinsic  # typed as if it took the context, which it is given

NUMBER_BYTES = 8  # of a float or integer of 64 bits
PLACES = 64  # of a mask


class Vector(types.Type):
    """A number of the same kind, float or integer of 64 bits, in every lane of so many rows."""

    def __init__(self, dtype, rows=1):
        self.dtype, self.rows = dtype, rows
        super().__init__(name=f"Vector({dtype}, {rows})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """A vector is one value of the compiler."""

    def __init__(self, manager, kind):
        element = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(element, kind.rows * LANES))


FLOATS, INTEGERS = Vector(types.float64), Vector(types.int64)


def _loading(rows):
    """What loads so many rows of a table."""

    def load(_context, table, row):
        kind = Vector(table.dtype, rows)

        def generate(context, builder, _signature, arguments):
            return builder.load(_place(context, builder, table, kind, *arguments), align=NUMBER_BYTES)

        return kind(table, types.intp), generate

    return load


load = intrinsic(_loading(1))
"""A row of a table."""
load_two = intrinsic(_loading(TWO))
"""A row of a table and the one after it."""


@intrinsic
def store(_context, table, row, vector):
    """Write a vector into a table, from this row on."""

    def generate(context, builder, _signature, arguments):
        to, at, values = arguments
        builder.store(values, _place(context, builder, table, vector, to, at), align=NUMBER_BYTES)
        return context.get_dummy_value()

    return types.none(table, types.intp, vector), generate


@intrinsic
def gather(_context, table, column, numbers):
    """`table[number, column]` for the number in every lane; of a list if `column` is None."""
    columns, found = table.ndim, Vector(types.float64 if table.dtype == types.float64 else types.int64)

    def generate(context, builder, _signature, arguments):
        source, at, where = arguments
        values = ir.Constant(context.get_value_type(found), ir.Undefined)
        for lane in range(LANES):
            place = builder.extract_element(where, _lane(lane))
            if columns > 1:
                place = builder.add(builder.mul(place, place.type(2)), at)
            value = builder.load(builder.gep(_data(context, builder, table, source), [place]))
            if value.type != values.type.element:
                widen = builder.sext if table.dtype.signed else builder.zext
                value = widen(value, values.type.element)
            values = builder.insert_element(values, value, _lane(lane))
        return values

    return found(table, types.none if columns == 1 else types.intp, INTEGERS), generate


@intrinsic
def add_pairs(_context, table, numbers, first, second):
    """Add the two vectors, lane by lane, to the two columns of `table[number]`; numbers may repeat."""
    pair = ir.VectorType(ir.DoubleType(), 2)

    def generate(context, builder, _signature, arguments):
        to, where, one, other = arguments
        for lane in range(LANES):
            number = builder.extract_element(where, _lane(lane))
            place = builder.gep(_data(context, builder, table, to), [builder.mul(number, number.type(2))])
            place = builder.bitcast(place, pair.as_pointer())
            both = builder.shuffle_vector(one, other, _lanes(lane, LANES + lane))
            sums = builder.fadd(builder.load(place, align=NUMBER_BYTES), both)
            builder.store(sums, place, align=NUMBER_BYTES)
        return context.get_dummy_value()

    return types.none(table, INTEGERS, FLOATS, FLOATS), generate


@intrinsic
def every(_context, number):
    """The same number in every lane."""

    def generate(_context, builder, _signature, arguments):
        return _everywhere(builder, *arguments)

    number = types.unliteral(number)
    return Vector(number)(number), generate


@intrinsic
def twofold(_context, vector):
    """The same row twice."""

    def generate(_context, builder, _signature, arguments):
        return builder.shuffle_vector(arguments[0], arguments[0], _lanes(*list(range(LANES)) * TWO))

    return Vector(vector.dtype, TWO)(vector), generate


@intrinsic
def plus_two(_context, vector, two):
    """A row plus each of two rows."""

    def generate(_context, builder, _signature, arguments):
        total, rows = arguments
        for row in range(TWO):
            one = builder.shuffle_vector(rows, rows, _lanes(*range(row * LANES, (row + 1) * LANES)))
            total = builder.fadd(total, one)
        return total

    return vector(vector, two), generate


@intrinsic
def plus(_context, one, other):
    """The sum, of floats or of integers."""
    name = "fadd" if one.dtype == types.float64 else "add"

    def generate(_context, builder, _signature, arguments):
        return getattr(builder, name)(*arguments)

    return one(one, one), generate


@intrinsic
def times(_context, one, other):
    """The product of floats."""

    def generate(_context, builder, _signature, arguments):
        return builder.fmul(*arguments)

    return one(one, one), generate


@intrinsic
def over(_context, one, other):
    """The quotient of floats."""

    def generate(_context, builder, _signature, arguments):
        return builder.fdiv(*arguments)

    return one(one, one), generate


@intrinsic
def plus_product(_context, third, one, other):
    """`third + one * other` of floats, in one instruction where there is one."""

    def generate(context, builder, _signature, arguments):
        kind = context.get_value_type(third)
        name = f"llvm.fmuladd.v{kind.count}f64"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
        return builder.call(function, [*arguments[1:], arguments[0]])

    return third(third, third, third), generate


@intrinsic
def smaller(_context, one, other):
    """The smaller of two floats; the second where one is not a number."""

    def generate(_context, builder, _signature, arguments):
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return one(one, one), generate


@intrinsic
def bits_of(_context, masks, first):
    """The masks moved up until bit `first` is the highest, and in a second row the bit after it."""

    def generate(context, builder, _signature, arguments):
        mask, place = arguments
        last = builder.shl(mask, _everywhere(builder, builder.sub(place.type(PLACES - TWO), place)))
        two = builder.shuffle_vector(last, last, _lanes(*list(range(LANES)) * TWO))
        more = [TWO - 1 - lane // LANES for lane in range(TWO * LANES)]
        return builder.shl(two, ir.Constant(two.type, more))

    return Vector(masks.dtype, TWO)(masks, types.int64), generate


@intrinsic
def where_negative(_context, integers, then, otherwise):
    """Of two vectors the first in lanes whose integer has its highest bit set, else the second."""

    def generate(_context, builder, _signature, arguments):
        chosen, one, other = arguments
        is_set = builder.icmp_signed("<", chosen, ir.Constant(chosen.type, [0] * chosen.type.count))
        return builder.select(is_set, one, other)

    return then(integers, then, then), generate


@intrinsic
def where_larger(_context, one, other, then, otherwise):
    """Of two vectors the first in lanes where one number is larger than the other."""

    def generate(_context, builder, _signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), *arguments[2:])

    return then(one, one, then, then), generate


def _data(context, builder, kind, table):
    return context.make_array(kind)(context, builder, table).data


def _place(context, builder, kind, vector, table, row):
    place = builder.gep(_data(context, builder, kind, table), [builder.mul(row, row.type(LANES))])
    return builder.bitcast(place, context.get_value_type(vector).as_pointer())


def _lane(number):
    return ir.IntType(32)(number)


def _lanes(*numbers):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(numbers)), list(numbers))


def _everywhere(builder, number):
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(nothing, number, _lane(0)), nothing, _lanes(*[0] * LANES))
