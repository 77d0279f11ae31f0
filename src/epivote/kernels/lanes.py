"""Vectors of eight numbers for compiled loops: eight instances are worked on in lockstep, each in a lane of its own.

A compiler turns loops over lanes into vector instructions only where it can prove that no two arrays overlap, which it
rarely can. So these functions say it outright; the compiler splits a vector into as many registers as the processor
needs. Tables have `LANES` columns, and a vector is a row of a table. There are no checks: rows must exist.
"""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.extending import models, register_model

from epivote.kernels.arguments import LANES

intrinsic: Any = extending.intrinsic  # typed as if it took the context, which it is given

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


FLOATS, INTEGERS = Vector(types.float64), Vector(types.int64)


@intrinsic
def load(_context, table, row):
    """A row of a table."""
    kind = Vector(table.dtype)

    def generate(context, builder, _signature, arguments):
        return builder.load(_place(context, builder, table, kind, *arguments), align=NUMBER_BYTES)

    return kind(table, types.intp), generate


@intrinsic
def store(_context, table, row, vector):
    """Write a vector into a table, from this row on."""

    def generate(context, builder, _signature, arguments):
        to, at, values = arguments
        builder.store(values, _place(context, builder, table, vector, to, at), align=NUMBER_BYTES)
        return context.get_dummy_value()

    return types.none(table, types.intp, vector), generate


@intrinsic
def gather(_context, numbers, places, row):
    """The integers of a list in the places that a row of the table `places` names."""

    def generate(context, builder, _signature, arguments):
        found = ir.Constant(context.get_value_type(INTEGERS), ir.Undefined)
        for lane, number in enumerate(_numbers(context, builder, numbers, places, arguments)):
            found = builder.insert_element(found, number, _lane(lane))
        return found

    return INTEGERS(numbers, places, types.intp), generate


@intrinsic
def gather_pairs(_context, table, numbers, places, row):
    """The two columns of `table[number]` for the numbers that `gather` would give."""
    both = types.UniTuple(FLOATS, 2)

    def generate(context, builder, _signature, arguments):
        pairs = [
            builder.load(_pair(context, builder, table, arguments[0], number), align=NUMBER_BYTES)
            for number in _numbers(context, builder, numbers, places, arguments[1:])
        ]
        even, odd = _joined(builder, pairs[::2]), _joined(builder, pairs[1::2])
        firsts = [lane // 2 * 2 + lane % 2 * LANES for lane in range(LANES)]
        columns = [builder.shuffle_vector(even, odd, _lanes(*(one + column for one in firsts))) for column in (0, 1)]
        return context.make_tuple(builder, both, columns)

    return both(table, numbers, places, types.intp), generate


@intrinsic
def add_pairs(_context, table, numbers, places, row, first, second):
    """Add two vectors, lane by lane, to the columns of `table[number]` for the numbers that `gather` would give.

    Numbers may repeat.
    """

    def generate(context, builder, _signature, arguments):
        *where, one, other = arguments[1:]
        for lane, number in enumerate(_numbers(context, builder, numbers, places, where)):
            place = _pair(context, builder, table, arguments[0], number)
            both = builder.shuffle_vector(one, other, _lanes(lane, LANES + lane))
            builder.store(builder.fadd(builder.load(place, align=NUMBER_BYTES), both), place, align=NUMBER_BYTES)
        return context.get_dummy_value()

    return types.none(table, numbers, places, types.intp, FLOATS, FLOATS), generate


@intrinsic
def every(_context, number):
    """The same number in every lane."""

    def generate(_context, builder, _signature, arguments):
        return _everywhere(builder, *arguments)

    number = types.unliteral(number)
    return Vector(number)(number), generate


@intrinsic
def plus(_context, one, other):
    """The sum, of floats or of integers; the sign of a sum of 0 is left open."""

    def generate(_context, builder, _signature, arguments):
        if one.dtype == types.float64:
            return builder.fadd(*arguments, flags=("nsz",))
        return builder.add(*arguments)

    return one(one, one), generate


@intrinsic
def opposite(_context, integers):
    """All bits turned over."""

    def generate(_context, builder, _signature, arguments):
        return builder.not_(*arguments)

    return integers(integers), generate


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
def where_negative(_context, integers, then, otherwise):
    """Of two vectors the first in lanes whose integer has its highest bit set, else the second."""

    def generate(_context, builder, _signature, arguments):
        chosen, one, other = arguments
        is_set = builder.icmp_signed("<", chosen, ir.Constant(chosen.type, [0] * chosen.type.count))
        return builder.select(is_set, one, other)

    return then(integers, then, then), generate


@intrinsic
def where_apart(_context, one, other, then, otherwise):
    """Of two vectors the first in lanes whose two integers share no bit, else the second.

    Asked this way round, with 0 or 1 as the second vector, a sum or product with the result becomes a single
    instruction under a mask where the processor has those (AVX-512).
    """

    def generate(_context, builder, _signature, arguments):
        bits = builder.and_(*arguments[:2])
        return builder.select(builder.icmp_signed("==", bits, ir.Constant(bits.type, [0] * LANES)), *arguments[2:])

    return then(one, other, then, then), generate


@intrinsic
def any_at_least(_context, one, other):
    """Whether in some lane the first number is as large as the second, or larger."""

    def generate(_context, builder, _signature, arguments):
        lanes = builder.bitcast(builder.fcmp_ordered(">=", *arguments), ir.IntType(LANES))
        return builder.icmp_unsigned("!=", lanes, lanes.type(0))

    return types.boolean(one, one), generate


@intrinsic
def where_larger(_context, one, other, then, otherwise):
    """Of two vectors the first in lanes where one number is larger than the other."""

    def generate(_context, builder, _signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), *arguments[2:])

    return then(one, one, then, then), generate


def _numbers(context, builder, numbers, places, arguments):
    """The integers of a list in the places that a row of a table names, widened to 64 bits.

    Places are read one by one: cheaper than to take a vector apart.
    """
    values, table, row = arguments
    found = []
    for lane in range(LANES):
        at = builder.add(builder.mul(row, row.type(LANES)), row.type(lane))
        place = builder.load(builder.gep(_data(context, builder, places, table), [at]))
        number = builder.load(builder.gep(_data(context, builder, numbers, values), [place]))
        if number.type != place.type:
            number = (builder.sext if numbers.dtype.signed else builder.zext)(number, place.type)
        found.append(number)
    return found


def _joined(builder, vectors):
    """Vectors one after the other as one; there must be 2, 4, 8 and so on."""
    while len(vectors) > 1:
        lanes = _lanes(*range(2 * vectors[0].type.count))
        vectors = [builder.shuffle_vector(vectors[i], vectors[i + 1], lanes) for i in range(0, len(vectors), 2)]
    return vectors[0]


def _data(context, builder, kind, table):
    return context.make_array(kind)(context, builder, table).data


def _place(context, builder, kind, vector, table, row):
    place = builder.gep(_data(context, builder, kind, table), [builder.mul(row, row.type(LANES))])
    return builder.bitcast(place, context.get_value_type(vector).as_pointer())


def _pair(context, builder, kind, table, row):
    place = builder.gep(_data(context, builder, kind, table), [builder.mul(row, row.type(2))])
    return builder.bitcast(place, ir.VectorType(ir.DoubleType(), 2).as_pointer())


def _lane(number):
    return ir.IntType(32)(number)


def _lanes(*numbers):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(numbers)), list(numbers))


def _everywhere(builder, number):
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(nothing, number, _lane(0)), nothing, _lanes(*[0] * LANES))
