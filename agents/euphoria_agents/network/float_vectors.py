"""Sums of rows of weights that stay in registers while they grow, for which numba has no words.

Each column is added up by itself and in a fixed order, so that the sums do not depend on the width of a processor's vectors. The
caller sees to it that all entries exist: nothing here is checked, whatever the settings of numba.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir

from euphoria_env.engine.byte_copies import aligned
from euphoria_env.engine.jit import cgutils, native, types

WIDTH = 64  # inputs at once
_WIDTHS = 128, 32, 1  # columns at once; the sums of the first fill the registers of a processor with AVX2
_FLOAT, _WORD, _NUMBER = ir.FloatType(), ir.IntType(64), ir.IntType(32)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """Returns a float32 copy that begins where a line of the cache does."""
    copy = aligned(array.shape, np.float32)
    copy[...] = array
    return copy


def _place(builder: Any, data: Any, at: Any, width: int) -> Any:
    """Returns a pointer to a vector of floats."""
    return builder.bitcast(builder.gep(data, [at]), ir.VectorType(_FLOAT, width).as_pointer())


def _times(builder: Any, factor: Any, vector: Any) -> Any:
    """Returns a number times a vector. Nothing fuses this with the sum that follows, so that all processors round alike."""
    n, zero = vector.type.count, _NUMBER(0)
    one = builder.insert_element(vector.type(ir.Undefined), factor, zero)
    return builder.fmul(builder.shuffle_vector(one, one, ir.VectorType(_NUMBER, n)([0] * n)), vector)


def _columns(builder: Any, size: Any) -> Iterator[tuple[int, Any]]:
    """Yields widths and, in a loop of the compiled code, the first of as many columns, until there were `size` in all."""
    done = _WORD(0)
    for width in _WIDTHS:
        end = builder.sub(size, builder.srem(builder.sub(size, done), _WORD(width)))
        with cgutils.for_range_slice(builder, done, end, _WORD(width), _WORD) as (column, _):
            yield width, column
        done = end


def _arrays(context: Any, builder: Any, signature: Any, arguments: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yields the data and the shape of each argument that is an array."""
    for kind, argument in zip(signature.args, arguments, strict=True):
        if isinstance(kind, types.Array):
            found = context.make_array(kind)(context, builder, argument)
            yield found.data, cgutils.unpack_tuple(builder, found.shape)


def _sum(change: str, *kinds: Any) -> Any:
    """Returns what compiles `add_rows` and its kin, for arguments of these types."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (out, (size,)), (data, (_, stride)), (index, _), *factors = _arrays(context, builder, signature, arguments)
        first, last = arguments[-2:]
        middle = builder.sub(last, builder.srem(builder.sub(last, first), _WORD(8)))
        for width, column in _columns(builder, size):

            def row(k: Any, width: int = width, column: Any = column) -> Any:
                number = context.cast(builder, builder.load(builder.gep(index, [k])), kinds[2].dtype, types.int64)
                place = _place(builder, data, builder.add(builder.mul(number, stride), column), width)
                found = builder.load(place, align=4)
                return _times(builder, builder.load(builder.gep(factors[0][0], [k])), found) if factors else found

            place = _place(builder, out, column, width)
            total = cgutils.alloca_once_value(builder, builder.load(place, align=4))
            for start, end, many in ((first, middle, 8), (middle, last, 1)):
                with cgutils.for_range_slice(builder, start, end, _WORD(many), _WORD) as (k, _):
                    more = reduce(builder.fadd, [row(builder.add(k, _WORD(j))) for j in range(many)])
                    builder.store(getattr(builder, change)(builder.load(total), more), total)
            builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.none(*kinds), generate


def _sums(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Yields what is added, one after another: the sums of eight rows each, then single rows."""
    eights = len(rows) - len(rows) % 8
    yield from (reduce(operator.add, rows[k : k + 8]) for k in range(0, eights, 8))
    yield from rows[eights:]


@native(lambda _, x, table, index, first, last: _sum("fadd", x, table, index, types.int64, types.int64))
def add_rows(x: Any, table: Any, index: Any, first: int, last: int) -> None:
    """Adds rows index[first] to index[last - 1] of a table to x, both float32."""
    for one in _sums(table[index[first:last], : len(x)]):
        x += one


@native(lambda _, x, table, index, first, last: _sum("fsub", x, table, index, types.int64, types.int64))
def subtract_rows(x: Any, table: Any, index: Any, first: int, last: int) -> None:
    """Subtracts rows index[first] to index[last - 1] of a table from x."""
    for one in _sums(table[index[first:last], : len(x)]):
        x -= one


@native(lambda _, x, table, index, factors, first, last: _sum("fadd", x, table, index, factors, types.int64, types.int64))
def add_weighted_rows(x: Any, table: Any, index: Any, factors: Any, first: int, last: int) -> None:
    """Adds rows index[first] to index[last - 1] of a table to x, each times its factor."""
    for one in _sums(factors[first:last, None] * table[index[first:last], : len(x)]):
        x += one


def _positives(builder: Any, data: Any, at: Any, size: Any) -> Any:
    """Returns what `positives` does."""
    bits = cgutils.alloca_once_value(builder, _WORD(0))
    end = builder.add(at, _WORD(WIDTH))
    with builder.if_else(builder.icmp_signed("<=", end, size)) as (whole, part):
        with whole:
            found = builder.load(_place(builder, data, at, WIDTH), align=4)
            builder.store(builder.bitcast(builder.fcmp_ordered(">", found, found.type([0.0] * WIDTH)), _WORD), bits)
        with part, cgutils.for_range(builder, builder.sub(size, at)) as loop:
            one = builder.fcmp_ordered(">", builder.load(builder.gep(data, [builder.add(at, loop.index)])), _FLOAT(0.0))
            builder.store(builder.or_(builder.load(bits), builder.shl(builder.zext(one, _WORD), loop.index)), bits)
    return builder.load(bits)


def _find_positives(typing_context: Any, x: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ((data, (size,)),) = _arrays(context, builder, signature, arguments)
        return _positives(builder, data, arguments[1], size)

    return types.int64(x, types.int64), generate


@native(_find_positives)
def positives(x: Any, at: int) -> int:
    """Returns which of up to 64 entries of x, float32, from `at` on, are positive, as a set of bits."""
    return sum(1 << k for k in np.flatnonzero(x[at : at + WIDTH] > 0).tolist())


def _multiply(typing_context: Any, out: Any, weights: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (sums, (size,)), (data, _), (inputs, (many,)) = _arrays(context, builder, signature, arguments)
        for width, column in _columns(builder, size):
            place = _place(builder, sums, column, width)
            total = cgutils.alloca_once_value(builder, builder.load(place, align=4))
            with cgutils.for_range_slice(builder, _WORD(0), many, _WORD(WIDTH), _WORD) as (at, _):
                left = cgutils.alloca_once_value(builder, _positives(builder, inputs, at, many))
                with cgutils.for_range(builder, builder.ctpop(builder.load(left))):
                    bits = builder.load(left)
                    builder.store(builder.and_(bits, builder.sub(bits, _WORD(1))), left)
                    i = builder.add(at, builder.cttz(bits, ir.IntType(1)(1)))
                    row = builder.load(_place(builder, data, builder.add(builder.mul(i, size), column), width), align=4)
                    product = _times(builder, builder.load(builder.gep(inputs, [i])), row)
                    builder.store(builder.fadd(builder.load(total), product), total)
            builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.none(out, weights, x), generate


@native(_multiply)
def add_products(out: Any, weights: Any, x: Any) -> None:
    """Adds each positive entry of x times its row of the weights to `out`; a row is as long as `out`, all float32."""
    for i in np.flatnonzero(x > 0):
        out += x[i] * weights[i * len(out) : (i + 1) * len(out)]
